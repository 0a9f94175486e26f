"""What a model of any Keras is made of."""

from __future__ import print_function

import sys

import numpy as np

from parallel_compat.compare.recorder.values import listed

MASKED = ("Dropout", "SpatialDropout1D", "SpatialDropout2D", "SpatialDropout3D", "GaussianDropout", "GaussianNoise")
RANDOM = MASKED + ("AlphaDropout",)  # whose draws cannot be handed over
RECURRENT = ("SimpleRNN", "LSTM", "GRU", "ConvLSTM2D")
DROPOUTS = ("dropout", "recurrent_dropout", "dropout_W", "dropout_U")


def layers_with_weights(model, seen=None):
    """Return a model's layers that have weights, those of models inside it in their place."""
    seen = set() if seen is None else seen
    found = []
    for layer in model.layers:
        if id(layer) in seen:
            continue
        seen.add(id(layer))
        if hasattr(layer, "layers") and hasattr(layer, "predict"):
            found += layers_with_weights(layer, seen)
        elif layer.weights:
            found.append(layer)
    return found


def weights_of(model):
    """Return a model's weights, layer by layer."""
    return [np.array(value) for layer in layers_with_weights(model) for value in layer.get_weights()]


def by_layer(model, arrays):
    """Return pairs of a layer and its part of arrays that are in the order of `weights_of`."""
    arrays, found = list(arrays), []
    for layer in layers_with_weights(model):
        count = len(layer.get_weights())
        found.append((layer, arrays[:count]))
        arrays = arrays[count:]
    return found


def trained_weights(model):
    """Return the weights that a model's steps move, once it has made one: what `compile` settled, in most versions."""
    collected = getattr(model, "_collected_trainable_weights", None)
    if collected:
        return collected
    built = getattr(getattr(model, "optimizer", None), "_trainable_variables", None)
    return built if isinstance(built, (list, tuple)) and built else model.trainable_weights


def state_of(optimizer):
    """Return an optimizer's state as pairs of a name, None where there is none, and an array."""
    variables = getattr(optimizer, "variables", None)
    of_keras3 = isinstance(variables, (list, tuple)) and variables and all(hasattr(each, "path") for each in variables)
    if not of_keras3 and hasattr(optimizer, "get_weights"):
        return [(None, value) for value in optimizer.get_weights()]
    if callable(variables):
        variables = variables()
    return [(getattr(each, "path", None) or each.name, np.asarray(each.numpy())) for each in variables or []]


def all_layers(model):
    """Return a model's layers, those of models and wrappers inside it as well."""
    found = []
    for layer in model.layers:
        found.append(layer)
        if hasattr(layer, "layers") and hasattr(layer, "predict"):
            found += all_layers(layer)
        inner = getattr(layer, "layer", None)
        if inner is not None and hasattr(inner, "get_config"):
            found += [inner] + (all_layers(inner) if hasattr(inner, "predict") else [])
    return found


def random_layers(model, masked=False):
    """Return the layers that draw random numbers in training: those of which nothing is known, or those with masks."""
    found = []
    for layer in all_layers(model):
        kind = type(layer).__name__
        names = ("rate", "p", "stddev", "sigma") if kind in RANDOM else DROPOUTS if kind in RECURRENT else ()
        rates = [getattr(layer, name, 0) for name in names]
        known = getattr(layer, "_record_keras_draws", None)
        if known == ("masks" if masked else None) and any(isinstance(r, (int, float)) and r > 0 for r in rates):
            found += [] if layer in found else [layer]
    return found


def tensors_of_layers(model):
    """Return pairs of a layer's name and its first output in a functional model, from the inputs on."""
    graph = getattr(model, "_functional", None) or getattr(model, "model", None) or model
    nodes = getattr(graph, "_nodes_by_depth", None) or getattr(graph, "nodes_by_depth", None) or {}
    first = {}
    for depth in sorted(nodes, reverse=True):
        for node in nodes[depth]:
            names = ("operation", "outbound_layer", "layer")
            layer = next((getattr(node, name) for name in names if getattr(node, name, None)), None)
            outputs = getattr(node, "output_tensors", None)
            first.setdefault(id(layer), listed(node.outputs if outputs is None else outputs)[0])
    layers = [layer for layer in model.layers if id(layer) in first and type(layer).__name__ != "InputLayer"]
    return [(layer.name, first[id(layer)]) for layer in layers]


def names_of(model, kind):
    """Return what a model calls its inputs ("x") or outputs, in their order: dicts are given by these names."""
    names = getattr(model, "input_names" if kind == "x" else "output_names", None)
    if kind == "x" and not names:
        names = [str(getattr(each, "name", None)) for each in listed(getattr(model, "inputs", None))]
    return listed(names)


def package_of(model):
    """Return the Keras of a model: keras, tf_keras, or that of TensorFlow."""
    packages = [kind.__module__.split(".")[0] for kind in type(model).__mro__]
    return next((each for each in packages if each in ("keras", "tf_keras", "tensorflow", "tensorflow_core")), None)


def version_of(model):
    """Return the Keras of a model, by name and version."""
    package = package_of(model)
    name = "tf.keras" if str(package).startswith("tensorflow") else package
    module = sys.modules.get("tensorflow" if name == "tf.keras" else package)
    return "?" if module is None else "%s %s" % (name, getattr(module, "__version__", "?"))


def counted(model):
    """Return the sums of the metrics that are means, as they stand: (total, count) by name."""
    metrics = listed(getattr(model, "metrics", None)) + listed(getattr(model, "_output_loss_metrics", None))
    metrics += [getattr(model, "_loss_tracker", None)]  # of Keras 3
    metrics += listed(getattr(getattr(model, "_compile_loss", None), "metrics", None))
    pairs = [(metric.name, metric) for metric in metrics if hasattr(metric, "name")]  # Keras 2 has their names there
    compiled = getattr(model, "_compile_metrics", None)
    for name in ("_flat_metrics", "_flat_weighted_metrics"):
        for of_output in getattr(compiled, name, None) or []:
            start = getattr(of_output, "output_name", None)
            for metric in getattr(of_output, "metrics", None) or []:
                pairs.append(("%s_%s" % (start, metric.name) if start else metric.name, metric))
    means = [(name, metric) for name, metric in pairs if hasattr(metric, "total") and hasattr(metric, "count")]
    return {name: (number_of(metric.total), number_of(metric.count)) for name, metric in means}


def number_of(variable):
    """Return the value of a variable that is one number."""
    try:
        return float(np.asarray(variable.numpy()))
    except Exception:  # a graph
        for name in ("tensorflow.python.keras.backend", "tensorflow_core.python.keras.backend"):
            if name in sys.modules:
                return float(sys.modules[name].get_value(variable))
        raise


def of_batch(logs, before, after):
    """Return logs of one batch, where a metric went on from the batches before: from its sums."""
    found = []
    for name, value in logs:
        start, end = before.get(name), after.get(name)
        if start is not None and end is not None and start != end and start[1] > 0 < end[1]:
            on = end[1] > start[1]  # else it began anew with this batch
            value = (end[0] - start[0]) / (end[1] - start[1]) if on else end[0] / end[1]
        found.append((str(name), float(np.asarray(value))))
    return found
