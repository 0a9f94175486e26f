# -*- coding: utf-8 -*-
"""Run a Keras script, unmodified, and write down what it computes.

    python record_keras.py [--steps N] [--out recording.h5] [--no-dropout] [--masks] train.py ARGS...

One file without dependencies beyond numpy and h5py, for Python 2.7 to 3.13: standalone Keras 1.2 to 2.3, tf.keras of
TensorFlow 1.13 to 1.15 and 2.2 to 2.15, tf_keras, and Keras 3 on TensorFlow. For each model that is trained it writes
the configuration, the initial weights, and for the first N steps the batch, what the model put out, loss and metrics,
gradients, weights and optimizer state after the step; then the history, and what `evaluate` and `predict` returned. It
draws no random number and changes no result, but for one thing: on TensorFlow 1 weights and the step's counter are
written after everything in a step has read them, which was left to chance. What it cannot write down it names.

With `--masks` Dropout and noise layers draw from numpy, by the number of the model, the layer and the step, so that
another run draws the same: results are then those of other draws.

The recording is an HDF5 file of plain numbers, one array for each type and one of the JSON text that cuts them up.
`parallel-compat compare recording.h5 train.py` runs the script on today's TensorFlow, from the recorded weights and on
the recorded batches, and says what differs.
"""

from __future__ import print_function

import argparse
import functools
import json
import os
import random
import runpy
import sys
import types
import zlib

import numpy as np

VERSION = 1
COMPILES = 64  # models that are compiled, whose weights are kept
MODELS = 32  # more than that are not written down
PREDICTED = 64  # samples of a prediction that are kept
RESULTS = 200  # epochs, evaluations and predictions of a model that are kept
CURVE = 100  # steps of each model whose loss, and what tells their batches from others, are kept
SPARE = 64000000  # bytes of batches beyond the first steps
ORDERS = 200  # epochs whose order of samples is kept
STATES = 300  # calls before which the states of Python's and numpy's random numbers are kept

NOISE = ("GaussianNoise",)
MASKED = ("Dropout", "SpatialDropout1D", "SpatialDropout2D", "SpatialDropout3D", "GaussianDropout") + NOISE
RANDOM = MASKED + ("AlphaDropout",)  # whose draws cannot be handed over
RECURRENT = ("SimpleRNN", "LSTM", "GRU", "ConvLSTM2D")
DROPOUTS = ("dropout", "recurrent_dropout", "dropout_W", "dropout_U")


# --- what is written ------------------------------------------------------------------------------------------------


class Recording(object):
    """What was seen, in memory until the script ends.

    Args:
        path: where it is written.
        most: how many bytes of arrays are kept.
    """

    def __init__(self, path, most):
        self.path = path
        self.left = most
        self.sections = []
        self.facts = {"version": VERSION, "python": sys.version.split()[0], "models": [], "notes": []}

    def put(self, section, arrays):
        """Keep a list of arrays under a name."""
        kept = [self._plain(array) for array in arrays]
        if any(array is None for array in kept):
            self.note("%s: not written, it contains more than plain numbers" % section)
            return False
        size = sum(array.nbytes for array in kept)
        if size > self.left:
            self.note("%s: not written, %d bytes are more than --max-mb still allows" % (section, size))
            return False
        self.left -= size
        self.sections.append((section, kept))
        return True

    def note(self, text):
        """Say once what could not be written down."""
        if text not in self.facts["notes"]:
            self.facts["notes"].append(text)

    def write(self):
        """Write the file: whole, or not at all."""
        import h5py

        temporary = "%s.%d.tmp" % (self.path, os.getpid())
        try:
            with h5py.File(temporary, "w") as file:
                flat = {}  # HDF5 needs 500 bytes for an array of one number: all of one type are one array
                self.facts["sections"] = []
                for name, arrays in self.sections:
                    rows = [[array.dtype.name, list(array.shape)] for array in arrays]
                    self.facts["sections"].append([name, rows])
                    for array in arrays:
                        flat.setdefault(array.dtype.name, []).append(array.ravel())
                file.attrs["layer_names"] = np.array([b"arrays"], dtype="S")
                file.attrs["backend"] = b"parallel-compat recording"
                file.attrs["keras_version"] = str(self.facts.get("keras", "?")).encode("utf-8")
                found = {name: np.concatenate(flat[name]) for name in flat}
                found["json"] = np.frombuffer(json.dumps(self.facts, sort_keys=True).encode("utf-8"), dtype="uint8")
                group = file.create_group("arrays")
                group.attrs["weight_names"] = np.array([name.encode("utf-8") for name in sorted(found)], dtype="S")
                for name in sorted(found):
                    group.create_dataset(name, data=found[name], compression="gzip", shuffle=True)
            if os.name == "nt" and os.path.exists(self.path):
                os.remove(self.path)
            os.rename(temporary, self.path)
        finally:
            if os.path.exists(temporary):
                os.remove(temporary)

    @staticmethod
    def _plain(array):
        array = np.array(array)
        array = array.astype("uint8") if array.dtype.kind == "b" else array
        return array if array.dtype.kind in "fiu" and array.dtype.itemsize <= 8 else None


class Replay(object):
    """A recording whose weights and batches are put in here, for `parallel-compat compare`."""

    def __init__(self, path):
        import h5py

        self.arrays = {}
        with h5py.File(path, "r") as file:
            flat = {name: np.array(file["arrays"][name]) for name in file["arrays"]}
        self.facts = json.loads(flat["json"].tobytes().decode("utf-8"))
        for name, rows in self.facts["sections"]:
            self.arrays[name] = []
            for kind, shape in rows:
                size = int(np.prod(shape, dtype="int64"))
                self.arrays[name].append(flat[kind][:size].reshape(shape))
                flat[kind] = flat[kind][size:]


# --- values ---------------------------------------------------------------------------------------------------------


def listed(value):
    """Return a value as a list."""
    return list(value) if isinstance(value, (list, tuple)) else [] if value is None else [value]


def flat(value):
    """Return the leaves of lists, tuples and dicts, these in the order of their keys."""
    if isinstance(value, dict):
        return [leaf for key in sorted(value) for leaf in flat(value[key])]
    if isinstance(value, (list, tuple)):
        return [leaf for part in value for leaf in flat(part)]
    return [] if value is None else [value]


def unflat(like, leaves):
    """Put leaves into the structure of another value, as tensors."""
    import tensorflow as tf

    leaves = iter(leaves)

    def build(value):
        if isinstance(value, dict):
            built = {key: build(value[key]) for key in sorted(value)}
            return {key: built[key] for key in value}
        if isinstance(value, (list, tuple)):
            return type(value)([build(part) for part in value])
        return None if value is None else tf.convert_to_tensor(next(leaves))

    return build(like)


def plain(value):
    """Return a value as JSON has it: numbers for numbers of numpy, names for functions and objects."""

    def known(each):
        return float(each) if hasattr(each, "dtype") else getattr(each, "__name__", type(each).__name__)

    try:
        return json.loads(json.dumps(value, default=known))
    except (TypeError, ValueError):
        return str(value)


def tried(compute, otherwise=None):
    """Return what a function returns; something else where it cannot."""
    try:
        return compute()
    except Exception:
        return otherwise


def digest(data):
    """Return what tells the data of one call from those of another: sums of the arrays; None where it has none."""
    arrays = [data[key] for key in sorted(data)] if isinstance(data, dict) else listed(data)
    if not arrays or not all(isinstance(each, np.ndarray) and each.dtype.kind in "fiub" for each in arrays):
        return None
    return [[float(np.sum(each)), float(np.sum(np.abs(each.astype("float64"))))] for each in arrays]


def checksums(batch):
    """Return what tells the inputs and targets of a batch from others, whatever their types and shapes."""

    def added(sums, array):
        return zlib.crc32(np.ascontiguousarray(array, dtype="float32").tobytes(), sums) & 0xFFFFFFFF

    return [functools.reduce(added, batch.get(kind, ()), 0) for kind in "xy"]


def array_of(value):
    """Return a part of a batch as an array: one of scipy's sparse matrices and TensorFlow's sparse tensors, too."""
    if hasattr(value, "dense_shape"):
        import tensorflow as tf

        value = tf.sparse.to_dense(value)
    return value.toarray() if hasattr(value, "toarray") else np.asarray(value)


def like(array, own):
    """Return a recorded array in the shape and the form of the script's own."""
    array = array.reshape(np.shape(own))
    return type(own)(array) if hasattr(own, "toarray") else array


def dense(gradient):
    """Return a gradient as a tensor: that of an Embedding is its rows."""
    if hasattr(gradient, "indices"):
        import tensorflow as tf

        return tf.convert_to_tensor(gradient)
    return gradient


# --- models ---------------------------------------------------------------------------------------------------------


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


class Model(object):
    """One model that is trained.

    Args:
        recorder: the recorder.
        number: which of the script's models, in the order in which they were first trained.
        model: the model.
    """

    def __init__(self, recorder, number, model):
        self.recorder = recorder
        self.recording = recorder.recording
        self.number = number
        self.model = model
        self.steps = 0  # that are written down
        self.size = 0  # of the last one, in bytes
        self.made = 0
        self.orders = 0
        self.after = []
        self.facts = {
            "name": getattr(model, "name", None),
            "class": type(model).__name__,
            "keras": version_of(model),
            "loss": plain(getattr(model, "loss", None)),
        }
        for name in ("steps", "history", "evaluate", "predict", "losses", "batches"):
            self.facts[name] = []
        self.describe()
        self.recording.facts["models"].append(self.facts)
        self.recording.facts.setdefault("keras", self.facts["keras"])

    def describe(self):
        """Write down what the model is made of."""
        model, optimizer = self.model, getattr(self.model, "optimizer", None)
        masked = random_layers(model, masked=True)
        self.places = {id(layer): place for place, layer in enumerate(masked)}
        self.facts.update(
            layers=[
                {"name": layer.name, "class": type(layer).__name__, "weights": [w.name for w in layer.weights]}
                for layer in layers_with_weights(model)
            ],
            optimizer=type(optimizer).__name__,
            optimizer_config=tried(lambda: plain(optimizer.get_config())),
            random_layers=[layer.name for layer in random_layers(model)],
            masked_layers=[layer.name for layer in masked],
            config=tried(model.to_json),
        )

    @property
    def wanted(self):
        """Whether its next step is written down: if a replay has it, else if there is room for one like the last."""
        if self.recorded is not None and self.steps >= len(self.recorded["steps"]):
            return False
        return self.steps < self.recorder.steps and (self.recorded is not None or self.recording.left >= self.size)

    @property
    def watched(self):
        """Whether its next step's loss and batch are written down."""
        return self.wanted or self.made < CURVE

    @property
    def recorded(self):
        """What a replay has of it, or None."""
        models = self.recorder.replay.facts["models"] if self.recorder.replay is not None else []
        return models[self.number] if self.number < len(models) else None

    def section(self, name):
        """Return the name of a section of the recording."""
        return "model%d/%s" % (self.number, name)

    # Before a step: its weights, and its batch.

    def begin(self):
        """Before a step that is written down: write its weights down, if they have changed since the last one (the
        other models of a GAN), and put recorded ones in."""
        if self.steps:
            self.before("step%d/before" % self.steps)
            return
        if self.recorded is not None:
            self.facts["weights_put_in"] = self._put_in() or True
        self.recording.put(self.section("initial"), weights_of(self.model))

    def before(self, name):
        """Before a later step or call, likewise."""
        arrays = weights_of(self.model)
        if any(not np.array_equal(a, b) for a, b in zip(arrays, self.after)):
            self.recording.put(self.section(name), arrays)
        self._set(name)

    def _set(self, name):
        """Put recorded weights in, if there are any of this name: each step stands for itself."""
        if self.facts.get("weights_put_in") is True and not self.recorder.free:
            arrays = self.recorder.replay.arrays.get(self.section(name))
            for layer, own in by_layer(self.model, arrays) if arrays is not None else ():
                layer.set_weights(own)

    def _put_in(self):
        """Put the recorded initial weights in; return why they could not be."""
        layers, rows = layers_with_weights(self.model), self.recorded["layers"]
        expected = "expected %s, as recorded. Received: %s"
        if len(layers) != len(rows):
            return expected % ("%d layers with weights" % len(rows), len(layers))
        arrays = list(self.recorder.replay.arrays.get(self.section("initial"), []))
        for layer, row in zip(layers, rows):
            given, arrays = arrays[: len(row["weights"])], arrays[len(row["weights"]) :]
            shapes, own = ([tuple(each.shape) for each in of] for of in (given, layer.get_weights()))
            if own != shapes:
                return "layer %s: %s" % (layer.name, expected % ("weights of the shapes %s" % shapes, own))
            self.recorder.hand_over(layer, given)
        return None

    def other_batch(self, own):
        """Return the recorded batch in place of the script's own; None where they are the same, or of other shapes."""
        if self.recorded is None:
            return None
        sections = [(kind, self.section("step%d/%s" % (self.made, kind))) for kind in "xyw"]
        arrays = self.recorder.replay.arrays
        recorded = {kind: arrays[section] for kind, section in sections if section in arrays}
        known = self.recorded.get("batches", [])[self.made : self.made + 1]
        if not recorded or known == [checksums(own)]:
            return None
        for kind in sorted(own):
            leaves = recorded.get(kind)
            if leaves is None:
                continue
            if len(own[kind]) != len(leaves) or any(np.size(a) != np.size(b) for a, b in zip(own[kind], leaves)):
                self.not_fed(kind, leaves, own[kind])
                return None
        self.facts.setdefault("fed", []).append(self.made)
        return recorded

    def not_fed(self, kind, recorded, own):
        """Write down that a recorded part of the batch could not be put in."""
        shapes = [[list(each.shape) for each in arrays] for arrays in (recorded, own)]
        self.facts.setdefault("not_fed", []).append([self.made, kind] + shapes)

    # After it.

    def step(self, batch, values, logs):
        """Write down a step that was made.

        Args:
            batch: {"x", "y", "w"}, the script's own.
            values: {"outputs", "gradients", "layers"}, lists of arrays; of layers pairs of a name and an array, of
                gradients None where a weight has none.
            logs: loss and metrics, pairs of a name and a number.
        """
        section, self.size = self.section("step%d/" % self.steps), self.recording.left
        facts = {"names": [name for name, _ in logs], "logs": [value for _, value in logs]}
        for kind in sorted(batch):
            if self.recording.put(section + kind, batch[kind]):
                facts[kind] = len(batch[kind])
        gradients, layers = values.pop("gradients", []), values.pop("layers", [])
        if any(value is not None for value in gradients):
            facts["gradient_of"] = [i for i, value in enumerate(gradients) if value is not None]
            values["gradients"] = [value for value in gradients if value is not None]
        if layers and not self.steps:
            facts["layer_names"] = [name for name, _ in layers]
            values["layers"] = [value for _, value in layers]
        for kind in sorted(values):
            self.recording.put(section + kind, values[kind])
        self.recording.put(section + "weights", weights_of(self.model))
        self._set("step%d/weights" % self.steps)
        self.after = weights_of(self.model)
        state = tried(lambda: state_of(self.model.optimizer), [])  # it may have none, or be a custom one
        self.facts["state_names"] = [name for name, _ in state]
        if state:
            self.recording.put(section + "state", [array for _, array in state])
        weights = [id(weight) for layer in layers_with_weights(self.model) for weight in layer.weights]
        places = {weight: place for place, weight in enumerate(weights)}
        self.facts["trainable"] = [places.get(id(weight), -1) for weight in trained_weights(self.model)]
        self.facts["steps"].append(facts)
        self.size -= self.recording.left
        self.steps += 1
        if not self.wanted:
            print("record_keras: model %d: %d steps recorded" % (self.number, self.steps), file=sys.stderr)

    def ended(self, batch, logs):
        """Write down the loss of any step, and what tells its batch from others."""
        self.facts["losses"].append(logs[0][1] if logs else 0.0)
        self.facts["batches"].append(checksums(batch))
        if self.made >= self.steps and self.recorder.replay is None:
            for kind in sorted(batch):
                self.recorder.spare(self.section("step%d/%s" % (self.made, kind)), batch[kind])

    def count(self):
        """Count a step, also one of which nothing is written down."""
        self.made += 1
        self.recorder.made += 1
        if self.recorder.most is not None and self.recorder.made >= self.recorder.most:
            raise SystemExit(0)

    def epoch(self, logs):
        """Write down the logs of an epoch."""
        if len(self.facts["history"]) < RESULTS:
            found = {str(k): plain(v) for k, v in (logs or {}).items() if np.ndim(v) == 0}
            self.facts["history"].append({"logs": found, "steps": self.made})

    def call(self, kind, data, compute):
        """Write down what `evaluate` or `predict` returns.

        Args:
            kind: which of them.
            data: what it was given.
            compute: calls it.
        """
        number = len(self.facts[kind])
        wanted = number < self.recorder.steps and self.steps > 0
        if wanted:
            self.before("%s%d/before" % (kind, number))
        result = compute()
        if number >= RESULTS:
            return result
        values = list(result.values()) if isinstance(result, dict) else listed(result)
        facts = {"weights": wanted, "data": digest(data)}
        if kind == "evaluate":
            facts["names"] = [str(name) for name in getattr(self.model, "metrics_names", [])]
            facts["values"] = [float(value) for value in values]
            rows = listed(list(data.values()) if isinstance(data, dict) else data) if facts["data"] else []
            facts["samples"] = len(rows[0]) if rows and np.ndim(rows[0]) else 0
        else:
            facts["shapes"] = [list(np.shape(value)) for value in values]
            self.recording.put(self.section("predict%d" % number), [np.asarray(v)[:PREDICTED] for v in values])
        self.facts[kind].append(facts)
        return result


# --- the steps: graphs of Keras 1 to 2.3 and TensorFlow 1, functions of TensorFlow 2 and Keras 3 ----------------------


class Step(object):
    """A model's train function; the first calls are written down.

    Args:
        recorder: the recorder.
        model: the model.
        function: the train function.

    Attributes:
        running: whether the loss that it returns is the mean since the epoch began.
    """

    running = False

    def __init__(self, recorder, model, function):
        self._recorder = recorder
        self._model = model
        self._function = function

    def __getattr__(self, name):
        return getattr(self._function, name)

    def __call__(self, given):
        """Make a step."""
        kept = self._recorder.current = self._recorder.model(self._model)
        if kept is None or not kept.watched or not self._can(kept, given):
            result = self._function(given)
            if kept is not None:
                kept.count()
            return result
        given = self._read(given)
        if not kept.made and not all(getattr(layer, "built", True) for layer in all_layers(self._model)):
            self._build(given)
            kept.describe()
        own = self._parts(given)
        if kept.wanted:
            kept.begin()
        recorded = kept.other_batch(own)
        fed = given if recorded is None else self._replaced(kept, given, own, recorded)
        sums = self.running or kept.wanted
        before = counted(self._model) if sums else {}
        result, logs, values = self._make(kept, fed)
        logs = of_batch(logs, before, counted(self._model) if sums else {})
        if kept.wanted:
            kept.step(own, values, logs)
        kept.ended(own, logs)
        kept.count()
        return result

    def _can(self, kept, given):
        """Say whether steps of this kind are written down."""
        return True

    def _read(self, given):
        """Return the batch."""
        return given

    def _build(self, given):
        """Make the weights of a model that makes them when it is first called."""


class GraphStep(Step):
    """A train function of a graph; with `recording`, one that also puts out what is recorded.

    Args:
        recording: that function.
        count: how many results the script's own has.
        more: what the other puts out beyond them, by kind.
        layer_names: whose outputs are among it.
    """

    def __init__(self, recorder, model, function, recording, count, more, layer_names):
        Step.__init__(self, recorder, model, function)
        self._recording = recording
        self._count = count
        self._more = more
        self._layer_names = layer_names

    def _can(self, kept, given):
        return isinstance(given, (list, tuple))

    def _parts(self, given):
        return {kind: [array_of(each) for each in part if each is not None] for kind, part in self._by_kind(given)[:3]}

    def _by_kind(self, given):
        found, at = [], 0
        for kind, name in zip("xyw", ("inputs", "targets", "sample_weights")):
            fed = getattr(self._model, "_feed_" + name, getattr(self._model, name, []))
            found.append((kind, list(given[at : at + len(listed(fed))])))
            at += len(listed(fed))
        return found + [("rest", list(given[at:]))]

    def _replaced(self, kept, given, own, recorded):
        found = []
        for kind, part in self._by_kind(given):
            if len(recorded.get(kind, ())) == len(part):
                part = [a if b is None else like(a, b) for a, b in zip(recorded.get(kind, ()), part)]
            found += part
        return found

    def _make(self, kept, given):
        found = list((self._recording if kept.wanted else self._function)(given))
        result, found = found[: self._count], found[self._count :]
        values = {}
        for kind in sorted(self._more) if found else ():
            values[kind], found = found[: len(self._more[kind])], found[len(self._more[kind]) :]
        if values:
            values["layers"] = list(zip(self._layer_names, values["layers"]))
        return result, list(zip(self._model.metrics_names, result)), values


def make_graph_step(recorder, module, name, original, model, *given, **keywords):
    """Make the train function of a graph, and one that also puts out what is recorded."""
    kept_as = "_fit_function" if "fit" in name else "train_function"  # TensorFlow 1.13 has one for `fit`
    if getattr(model, kept_as, None) is not None:
        return original(model, *given, **keywords)
    backend, optimizer, gradients, late = module.K, model.optimizer, [], []
    function, update, update_add = backend.function, backend.update, backend.update_add
    get_gradients = optimizer.get_gradients

    def updated_together(x, new):
        return (x, new)  # as `in_order` wants it

    def counted_last(x, increment):
        if x is not getattr(optimizer, "iterations", None):
            return update_add(x, increment)
        late.append((x, increment))
        return None

    def gradients_seen(loss, params):
        gradients[:] = get_gradients(loss, params)
        return list(gradients)

    # `parallel-compat run` has them in order by itself; both together counted the steps of Keras 2.3 once.
    in_order_anyway = "parallel_compat.originals.mends.order_of_updates" in sys.modules

    def with_more(inputs, outputs, updates=None, **kw):
        if not in_order_anyway:
            updates = in_order(updates, late, list(outputs) + list(model.outputs))
        layers = tensors_of_layers(model)
        more = {
            "outputs": list(model.outputs),
            "gradients": [dense(gradient) for gradient in gradients if gradient is not None],
            "layers": [tensor for _, tensor in layers],
        }
        every = [tensor for kind in sorted(more) for tensor in more[kind]]
        own = function(inputs, outputs, updates=updates, **kw)
        recording = function(inputs, list(outputs) + every, updates=updates, **kw)
        return GraphStep(recorder, model, own, recording, len(outputs), more, [name for name, _ in layers])

    backend.function = with_more
    if not in_order_anyway:
        backend.update, backend.update_add = updated_together, counted_last
    optimizer.get_gradients = gradients_seen
    try:
        return original(model, *given, **keywords)
    finally:
        backend.function, backend.update, backend.update_add = function, update, update_add
        del optimizer.get_gradients


def in_order(updates, counts, outputs):
    """Return the updates of a step as operations, which begin when all that they write has been read.

    Keras 2 wrote the counter, and Nadam's schedule, while other operations of the step read them: by chance a weight
    was updated as in the next step. Before TensorFlow 1.13 weights were written while the backward pass read them.
    """
    import tensorflow as tf

    updates = [each for each in updates or [] if each is not None]
    operations = [each for each in updates if not isinstance(each, tuple)]
    pairs = [each for each in updates if isinstance(each, tuple)]
    values = [tf.convert_to_tensor(value) for _, value in pairs]
    with tf.control_dependencies(operations + values + list(outputs)):
        assigned = [variable.assign(tf.identity(value)) for variable, value in pairs]
        return operations + assigned + [variable.assign_add(by) for variable, by in counts]


class EagerStep(Step):
    """A train function that takes an iterator of batches."""

    running = True

    def _can(self, kept, given):
        strategy = getattr(self._model, "distribute_strategy", None)
        steps = getattr(self._model, "steps_per_execution", getattr(self._model, "_steps_per_execution", 1))
        why = None
        if strategy is not None and strategy.num_replicas_in_sync > 1:
            why = "it trains under a strategy"
        elif steps is not None and int(steps) != 1:
            why = "steps_per_execution is not 1"
        if why:
            kept.recording.note("model %d: not recorded, %s" % (kept.number, why))
        return why is None

    def _read(self, given):
        self._iterator = given
        return next(given)

    def _build(self, given):
        tried(lambda: self._model(given[0] if isinstance(given, tuple) else given))  # else its first step does

    def _parts(self, given):
        parts = given if isinstance(given, tuple) else (given,)
        return {kind: [array_of(leaf) for leaf in flat(part)] for kind, part in zip("xyw", parts) if part is not None}

    def _replaced(self, kept, given, own, recorded):
        replaced = []
        for kind, part in zip("xyw", given if isinstance(given, tuple) else (given,)):
            if part is not None and kind in recorded:
                pairs = zip(recorded[kind], own[kind])
                part = unflat(part, [a.reshape(b.shape).astype(b.dtype) for a, b in pairs])
            replaced.append(part)
        if len(replaced) < 3 and any(np.any(w != 1) for w in recorded.get("w", ())):
            kept.not_fed("w", recorded["w"], [])
        return tuple(replaced) if isinstance(given, tuple) else replaced[0]

    def _make(self, kept, given):
        values = self._forward(kept, self._parts(given)["x"]) if kept.wanted else {}
        logs = self._function(self._of_one(given))
        if hasattr(logs, "read"):
            logs = logs.read()
        if kept.wanted:
            values["gradients"] = [GRADIENTS.of(variable) for variable in trained_weights(self._model)]
        return logs, sorted(logs.items(), key=lambda pair: pair[0] != "loss"), values

    def _of_one(self, batch):
        """Return an iterator of one batch."""
        import tensorflow as tf

        parts = batch if isinstance(batch, tuple) else (batch,)
        if not any(part is None for part in parts) and hasattr(self._iterator, "element_spec"):
            return iter(tf.data.Dataset.from_tensors(batch))
        return iter([batch])

    def _forward(self, kept, x):
        """Compute what the model puts out in training, and put everything back that this changes."""
        model = self._model
        on_replicas = getattr(getattr(model, "strategy", None), "num_replicas_in_sync", 1) > 1
        if kept.facts["random_layers"] or (on_replicas and kept.facts["masked_layers"]):
            return {}  # outside of a step replicas draw for the whole batch
        import tensorflow as tf

        variables = list(getattr(model, "variables", model.weights))
        for layer in all_layers(model):  # and what a layer keeps in objects of its own
            for kept_by in list(vars(layer).values()):
                # Dicts that Keras tracks sort their keys when they are asked for variables.
                if not isinstance(kept_by, (dict, list, tuple)) and not hasattr(kept_by, "call"):
                    found = getattr(kept_by, "variables", None)
                    variables += found if isinstance(found, (list, tuple)) else []
        saved = [np.copy(v.numpy() if hasattr(v, "numpy") else np.asarray(v)) for v in variables]
        values = {}
        try:
            x = [tf.convert_to_tensor(leaf) for leaf in x]
            x = x[0] if len(x) == 1 else x
            values["outputs"] = [np.asarray(leaf) for leaf in flat(model(x, training=True))]
            pairs = tensors_of_layers(model) if not kept.steps and not on_replicas else []
            if pairs:
                package = sys.modules.get(package_of(model))
                kind = package.Model if hasattr(package, "Model") else tf.keras.Model
                whole = kind(model.inputs, [tensor for _, tensor in pairs], name="record_keras")
                found = flat(whole(x, training=True))
                values["layers"] = list(zip([name for name, _ in pairs], [np.asarray(leaf) for leaf in found]))
        except Exception as error:  # a model that is called otherwise
            kept.recording.note("model %d: outputs are not recorded (%s)" % (kept.number, str(error)[:200]))
        finally:
            for variable, value in zip(variables, saved):
                variable.assign(value)
        return values


def make_eager_step(recorder, module, name, original, model, *given, **keywords):
    """Make the train function, whose first steps are written down."""
    made = original(model, *given, **keywords)
    function = model.train_function if made is None else made
    if not isinstance(function, EagerStep):
        GRADIENTS.watch(getattr(model, "optimizer", None))
        model.train_function = EagerStep(recorder, model, function)
    return None if made is None else model.train_function


class Gradients(object):
    """The gradients that optimizers are given, in variables that can be read after the step."""

    def __init__(self):
        self._kept = {}
        self._watched = []

    def of(self, variable):
        """Return a weight's gradient, or None."""
        kept = self._kept.get(self._key(variable))
        if kept is None and hasattr(variable, "value") and not callable(variable.value):
            kept = self._kept.get(self._key(variable.value))
        return None if kept is None else kept.numpy()

    @staticmethod
    def _key(variable):
        return id(variable), getattr(variable, "path", None) or getattr(variable, "name", None)

    def _keep(self, gradient, variable):
        import tensorflow as tf

        with tf.init_scope():
            key = self._key(variable)
            if key not in self._kept:
                self._kept[key] = tf.Variable(tf.zeros(variable.shape), trainable=False)
        self._kept[key].assign(tf.cast(tf.convert_to_tensor(gradient), tf.float32))

    def watch(self, optimizer):
        """Let the class of an optimizer keep the gradients that it is given."""
        for kind in type(optimizer).__mro__:
            for name in ("apply", "apply_gradients"):
                if name in vars(kind):
                    around(kind, name, functools.partial(self._applied, name))
                    return

    def _applied(self, name, original, optimizer, grads, *given, **keywords):
        import tensorflow as tf

        grads, variables = list(grads), []
        if name == "apply":  # of Keras 3
            variables = given[0] if given else keywords.get("trainable_variables")
            variables = list(optimizer._trainable_variables if variables is None else variables)
            one = tf.distribute.get_replica_context() and tf.distribute.get_strategy().num_replicas_in_sync == 1
            pairs = list(zip(grads, variables)) if one else []
        else:
            pairs = grads
        for gradient, variable in pairs:
            if gradient is not None:
                self._keep(gradient, variable)
        return original(optimizer, grads, *given, **keywords)


GRADIENTS = Gradients()


# --- what a script draws: the states of random numbers, the order of samples, the masks of Dropout --------------------


class Random(object):
    """The states of Python's and numpy's random numbers, which a replay takes over at the same calls.

    A model that is built draws from numpy in Keras 2, and not in Keras 3: what a script draws then follows.
    """

    def __init__(self, recording, replay):
        self._recording = recording
        self._replay = replay
        self._calls = {}
        self._states = 0
        self._last = None

    def at(self, place):
        """Write the states down at a place, or put the recorded ones in."""
        number = self._calls[place] = self._calls.get(place, -1) + 1
        if self._replay is None:
            self._write(place, number)
            return
        recorded = self._replay.facts.get("random", {}).get(place, ())
        if number < len(recorded):
            keys, places, cached, python = self._replay.arrays["random%d" % recorded[number]]
            np.random.set_state(("MT19937", keys, int(places[0]), int(places[1]), float(cached[0])))
            random.setstate((3, tuple(int(each) for each in python), None))

    def _write(self, place, number):
        _, keys, place_in_keys, gauss, cached = np.random.get_state()
        python = np.array(random.getstate()[1], dtype="uint32")
        state = [np.array(keys), np.array([place_in_keys, gauss]), np.array([cached]), python]
        rows = self._recording.facts.setdefault("random", {}).setdefault(place, [])
        if self._last is None or any(not np.array_equal(a, b) for a, b in zip(state, self._last)):
            if self._states >= STATES or not self._recording.put("random%d" % self._states, state):
                return
            self._last, self._states = state, self._states + 1
        if number == len(rows) < STATES:
            rows.append(self._states - 1)


class Numpy(object):
    """numpy for a module that shuffles samples."""

    def __init__(self, recorder, module=np):
        self._recorder = recorder
        self._module = module

    def __getattr__(self, name):
        if name == "random" and self._module is np:
            return Numpy(self._recorder, np.random)
        return self._shuffle if name == "shuffle" else getattr(self._module, name)

    def _shuffle(self, array):
        np.random.shuffle(array)
        array[...] = self._recorder.ordered(array)


def shuffled(recorder, module, name, original, value, *given, **keywords):
    """Shuffle samples in TensorFlow, as tf.keras 2 and Keras 3 do."""
    result, model = original(value, *given, **keywords), recorder.fitted
    if model is None or result.dtype.name not in ("int32", "int64") or result.shape.ndims != 1:
        return result
    import tensorflow as tf

    found = tf.numpy_function(lambda order: recorder.ordered(order, model), [result], result.dtype)
    found.set_shape(result.shape)
    return found


def mask_of(layer, shape, seed):
    """Return what a layer draws: what its inputs are multiplied by, or, of noise, what is added to them."""
    rng = np.random.RandomState(zlib.crc32(seed.encode("ascii")) & 0xFFFFFFFF)
    names = [kind.__name__ for kind in type(layer).__mro__]
    rate = getattr(layer, "rate", getattr(layer, "p", 0.0))
    if "GaussianNoise" in names:
        return (rng.normal(size=shape) * getattr(layer, "stddev", getattr(layer, "sigma", 0.0))).astype("float32")
    if "GaussianDropout" in names:
        return rng.normal(1.0, np.sqrt(rate / (1.0 - rate)), size=shape).astype("float32")
    size = [int(each) for each in shape]
    if any(name.startswith("SpatialDropout") for name in names):
        first = getattr(layer, "data_format", None) in ("channels_first", "th")
        size[(2 if first else 1) : (None if first else -1)] = [1] * (len(size) - 2)
    given = getattr(layer, "noise_shape", None)
    if given is not None:
        size = [own if each is None else int(each) for own, each in zip(size, given)]
    return ((rng.uniform(size=size) >= rate) / (1.0 - rate)).astype("float32")


def masked_call(recorder, module, name, original, layer, inputs, training=None):
    """Call a layer that draws from numpy, in training."""
    backend = getattr(module, "K", None)

    def noisy():
        import tensorflow as tf

        draw = next(getattr(tf, each) for each in ("numpy_function", "py_func") if hasattr(tf, each))
        mask = draw(lambda shape: recorder.mask(layer, shape), [tf.shape(inputs)], tf.float32)
        mask = tf.cast(mask, inputs.dtype)
        found = inputs + mask if hasattr(layer, "stddev") or hasattr(layer, "sigma") else inputs * mask
        found.set_shape(inputs.shape)
        return found

    if backend is not None and hasattr(backend, "in_train_phase"):
        return backend.in_train_phase(noisy, inputs, training=training)
    return noisy() if training else inputs


def silent_call(recorder, module, name, original, layer, inputs, *given, **keywords):
    """Call a random layer that returns its input."""
    return inputs


def without_dropout(recorder, module, name, original, layer, *given, **keywords):
    """Make a recurrent layer without its dropout."""
    return original(layer, *given, **{key: value for key, value in keywords.items() if key not in DROPOUTS})


# --- where each Keras has what is watched -----------------------------------------------------------------------------


def around(owner, name, replacement):
    """Let a function of a class or module be called by another, which is given it first; once."""
    original = getattr(owner, name, None)
    original = getattr(original, "__func__", original)  # of Python 2
    if not isinstance(original, types.FunctionType) or hasattr(original, "_record_keras"):
        return False

    def method(*given, **keywords):
        return replacement(original, *given, **keywords)

    for each in (
        "__name__",
        "__qualname__",
        "__doc__",
    ):  # by `__module__` a parallel model sees that its step is watched
        if getattr(original, each, None):
            setattr(method, each, getattr(original, each))
    method.__wrapped__ = original  # `inspect.signature` asks for it
    method._record_keras = True
    setattr(owner, name, method)
    return True


def entered(recorder, module, name, original, model, *given, **keywords):
    """Call a method before and after which the states of random numbers are written down, or put in."""
    fitted = recorder.fitted
    if name in ("fit", "fit_generator", "train_on_batch"):
        recorder.fitted = model
    recorder.entered += 1
    try:
        if recorder.entered == 1:
            recorder.random.at("before " + name)
        result = original(model, *given, **keywords)
        if recorder.entered == 1:
            recorder.random.at("after " + name)
    finally:
        recorder.fitted = fitted
        recorder.entered -= 1
    if name == "compile":
        recorder.compiled(model)
    return result


def called(recorder, module, name, original, model, *given, **keywords):
    """Call `evaluate` or `predict` of a trained model, but for the validation in `fit`."""
    kept = recorder.models.get(id(model))
    frame = sys._getframe(1)
    while frame.f_code.co_filename == called.__code__.co_filename:
        frame = frame.f_back
    if kept is None or recorder.calling or frame.f_code.co_name in ("fit", "fit_generator"):
        return original(model, *given, **keywords)
    recorder.calling = True
    try:
        data = given[0] if given else keywords.get("x")
        return kept.call(name.split("_")[0], data, lambda: original(model, *given, **keywords))
    finally:
        recorder.calling = False


def epoch_ended(recorder, module, name, original, callback, epoch, logs=None):
    """Write down the logs of an epoch."""
    result = original(callback, epoch, logs)
    inner = getattr(callback.model, "model", None)  # what a Sequential trained before Keras 2.2
    found = recorder.models.get(id(callback.model)) or recorder.models.get(id(inner))
    if found is not None:
        found.epoch(logs)
    return result


STARTS = ("keras.", "keras.src.", "tf_keras.src.", "tensorflow.python.keras.", "tensorflow_core.python.keras.")
TRAINING = ("engine.training", "engine.training_v1", "backend.tensorflow.trainer")
TRAINED = ("Model", "TensorFlowTrainer")
# The ends of modules; classes, or none where functions are of the module; functions, and what they are called by.
HOOKS = (
    (TRAINING, TRAINED, ("fit", "fit_generator", "train_on_batch"), entered),
    (("engine.training", "engine.training_v1", "trainers.trainer"), ("Model", "Trainer"), ("compile",), entered),
    (("engine.topology", "engine.base_layer", "layers.layer"), ("Layer",), ("__call__",), entered),
    (("models", "engine.sequential", "models.sequential"), ("Sequential",), ("add",), entered),
    (TRAINING, TRAINED, ("evaluate", "evaluate_generator", "predict", "predict_generator"), called),
    (TRAINING, TRAINED, ("_make_train_function", "_make_fit_function"), make_graph_step),
    (TRAINING, TRAINED, ("make_train_function",), make_eager_step),
    (("callbacks", "callbacks.history"), ("History",), ("on_epoch_end",), epoch_ended),
)
WITH_LAYERS = ("keras.layers", "tensorflow.keras.layers", "tf_keras.layers")
WITH_LAYERS += ("tensorflow.python.keras.layers", "tensorflow_core.python.keras.layers")


class Recorder(object):
    """Watches the models of a script.

    Args:
        recording: what is written.
        steps: how many steps of each model.
        replay: a recording whose weights and batches are put in, or None.
        silent: whether random layers are the identity.
        masks: whether random layers draw from numpy.
        free: whether only the first weights are put in, not those of each step.
        nudge: whether the first weights are moved by their last digit.
        most: after how many steps of all models the script is ended; None for never.
        seed: whether TensorFlow 2 is seeded. A loss that is added to a model of tf.keras 2.2 keeps constants of its
            first weights, which cannot be handed over.
    """

    def __init__(
        self, recording, steps, replay=None, silent=False, masks=False, free=False, nudge=False, most=None, seed=False
    ):
        self.recording = recording
        self.steps = steps
        self.replay = replay
        self.free = free
        self.most = most
        self.random = Random(recording, replay)
        self.models = {}
        self.current = None  # whose step is made
        self.fitted = None  # the model that trains
        self.entered = 0
        self.calling = False
        self.made = 0
        self._silent, self._masks, self._seed = silent, masks, seed
        self._compiles = 0
        self._resources = False  # whether variables are resources
        self._handed_over = []
        self._rng = np.random.RandomState(0) if nudge else None
        self._left = SPARE

    def model(self, model):
        """Return what is kept of a model; None beyond the first models."""
        found = self.models.get(id(model))
        if found is None:
            if len(self.models) >= MODELS:
                self.recording.note("more than %d models: the others are not recorded" % MODELS)
                return None
            found = self.models[id(model)] = Model(self, len(self.models), model)
        return found

    def compiled(self, model):
        """Write down, or put in, the weights of a compiled model: scripts use models before they train them."""
        weights = tried(lambda: weights_of(model))  # it may not be built
        if self._compiles >= COMPILES or not weights:
            return
        section, self._compiles = "compile%d" % self._compiles, self._compiles + 1
        given = self.replay.arrays.get(section) if self.replay is not None else None
        if given is not None and [w.shape for w in weights] == [array.shape for array in given]:
            for layer, own in by_layer(model, given):
                self.hand_over(layer, own)
        self.recording.put(section, weights_of(model))

    def hand_over(self, layer, arrays):
        """Set a layer's weights to recorded ones; where each model goes on by itself, only once."""
        if self.free and any(each is layer for each in self._handed_over):
            return
        self._handed_over.append(layer)
        layer.set_weights([self._nudged(each) for each in arrays])

    def _nudged(self, array):
        if self._rng is None or array.dtype.kind != "f":
            return array
        ends = np.where(self._rng.uniform(size=array.shape) < 0.5, -np.inf, np.inf).astype(array.dtype)
        return np.where(array == 0, array, np.nextafter(array, ends))

    def spare(self, section, arrays):
        """Keep the batch of a step beyond the first ones, as long as there is room for such."""
        size = sum(np.asarray(each).nbytes for each in arrays)
        if size <= min(self._left, self.recording.left) and self.recording.put(section, arrays):
            self._left -= size

    def ordered(self, order, model=None):
        """Return the order of samples of an epoch: the recorded one on a replay."""
        fitted = self.fitted if model is None else model
        kept = None if fitted is None else self.model(fitted)
        if kept is None or kept.orders >= ORDERS or np.ndim(order) != 1:
            return order
        section, kept.orders = kept.section("order%d" % kept.orders), kept.orders + 1
        if self.replay is None:
            self.recording.put(section, [np.array(order, dtype="int32")])
            return order
        recorded = self.replay.arrays.get(section, [order])[0]
        if len(recorded) != len(order):
            return order
        if not np.array_equal(recorded, order):
            kept.facts["order_handed_over"] = True
        return np.asarray(recorded, dtype=order.dtype)

    def mask(self, layer, shape):
        """Return what a layer draws in the step that is made: the same in any run."""
        kept = self.current
        places = (0, 0, 0) if kept is None else (kept.number, kept.places.get(id(layer), 0), kept.made)
        return mask_of(layer, shape, "%d %d %d" % places)

    # How the classes are found: after each import of the script, as nothing may be imported before it asks.

    def watch_imports(self):
        """Hook what is watched as soon as the script has imported it; return what ends that."""
        try:
            import builtins
        except ImportError:  # Python 2
            import __builtin__ as builtins
        original, depth = builtins.__import__, [0]

        def watched(*given, **keywords):
            depth[0] += 1
            try:
                module = original(*given, **keywords)
            finally:
                depth[0] -= 1
            if not depth[0]:  # what is being imported may still be changed by others
                self.look()
            return module

        builtins.__import__ = watched
        return lambda: setattr(builtins, "__import__", original)

    def look(self):
        """Hook what has been imported since the last look."""
        tensorflow = sys.modules.get("tensorflow")
        if not self._resources and str(getattr(tensorflow, "__version__", "")).startswith("1."):
            self._resources = True
            # TensorFlow 1 wrote weights while the backward pass read them. With resource variables, which came with
            # 1.13, it does not.
            enable = getattr(getattr(tensorflow, "compat", None), "v1", tensorflow)
            getattr(enable, "enable_resource_variables", lambda: None)()
            self._true_variables(getattr(enable, "executing_eagerly", lambda: False))
        if self._seed and hasattr(getattr(tensorflow, "random", None), "set_seed"):
            self._seed = False
            tensorflow.random.set_seed(0)
        for ends, classes, names, replacement in HOOKS:
            for end in ends:
                for start in STARTS:
                    self._hook(sys.modules.get(start + end), classes, names, replacement)
        own = sys.modules.get("parallel_compat.training.trainer")
        for ends, _, names, replacement in HOOKS:
            if ends is TRAINING:
                self._hook(own, ("ParallelTrainer",), names, replacement)
        self._hook(getattr(tensorflow, "random", None), (), ("shuffle",), shuffled)
        self._hook(sys.modules.get("tensorflow.python.ops.random_ops"), (), ("random_shuffle",), shuffled)
        for start in STARTS:
            module = sys.modules.get(start + "engine.training_arrays")
            if isinstance(getattr(module, "np", None), types.ModuleType):
                module.np = Numpy(self)
        for name in WITH_LAYERS:
            layers = getattr(sys.modules.get(name), "__dict__", {})
            for kinds, wanted, draws, method, replacement in (
                (MASKED, self._masks, "masks", "call", masked_call),
                (RANDOM, self._silent, "nothing", "call", silent_call),
                (RECURRENT, self._silent, "nothing", "__init__", without_dropout),
            ):
                for kind in [layers[each] for each in kinds if wanted and isinstance(layers.get(each), type)]:
                    module = sys.modules[kind.__module__]
                    if around(kind, method, functools.partial(replacement, self, module, method)):
                        kind._record_keras_draws = draws
                        kind.supports_jit = False  # of Keras 3

    @staticmethod
    def _true_variables(eagerly):
        """Let a variable of a graph be true, as one that is no resource (`if self.bias:` in a layer)."""
        for start in ("tensorflow", "tensorflow_core"):
            module = sys.modules.get(start + ".python.ops.resource_variable_ops")
            kind = getattr(module, "BaseResourceVariable", getattr(module, "ResourceVariable", None))
            for name in ("__bool__", "__nonzero__") if hasattr(kind, "__bool__") else ():
                around(kind, name, lambda original, variable: original(variable) if eagerly() else True)

    def _hook(self, module, classes, names, replacement):
        own = getattr(module, "__dict__", {})
        for owner in [own[kind] for kind in classes if isinstance(own.get(kind), type)] if classes else [module]:
            for name in names:
                around(owner, name, functools.partial(replacement, self, module, name))


# --- the command ----------------------------------------------------------------------------------------------------


def installed(name):
    """Return the version of a package: under `parallel-compat run` TensorFlow says that it is an older one."""
    try:
        from importlib.metadata import version

        return version(name)
    except Exception:  # an older Python, or tensorflow-cpu
        return getattr(sys.modules[name], "__version__", "?")


def machine():
    """Return the versions of the packages that compute, and the GPUs that TensorFlow sees."""
    found = ["%s %s" % (name, installed(name)) for name in ("tensorflow", "numpy", "h5py") if name in sys.modules]
    gpus = tried(lambda: sys.modules["tensorflow"].config.list_logical_devices("GPU"))
    return found + (["%d GPUs" % len(gpus)] if gpus else ["CPU"])


def files_of_modules(before):
    """Return the sources of modules that were imported since, but for those of Python and of installed packages."""
    modules = [sys.modules[name] for name in list(sys.modules) if name not in before]
    files = {os.path.realpath(getattr(each, "__file__", None) or "") for each in modules}
    starts = tuple(os.path.realpath(each) + os.sep for each in (sys.prefix, getattr(sys, "base_prefix", sys.prefix)))
    own = [each for each in files if each.endswith(".py") and not each.startswith(starts)]
    return sorted(each for each in own if "-packages" + os.sep not in each)  # site-packages, dist-packages


def main(arguments=None):
    """Run the script, and write the recording when it ends."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    add = parser.add_argument
    add("--steps", type=int, default=5, help="how many steps of each model (default: 5)")
    add("--out", default="recording.h5", help="where to write (default: recording.h5)")
    add("--max-mb", type=int, default=256, help="how many MB of arrays at most (default: 256)")
    add("--no-dropout", action="store_true", help="let Dropout and noise layers return their input")
    add("--masks", action="store_true", help="let Dropout and noise layers draw what others can repeat")
    add("--replay", type=Replay, help=argparse.SUPPRESS)
    add("--free", action="store_true", help=argparse.SUPPRESS)
    add("--nudge", action="store_true", help=argparse.SUPPRESS)
    add("--most", type=int, help=argparse.SUPPRESS)
    add("--seed", action="store_true", help=argparse.SUPPRESS)
    add("script", help="the script")
    add("arguments", nargs=argparse.REMAINDER, help="its arguments")
    given = parser.parse_args(arguments)
    if given.steps < 1:
        parser.error("argument --steps: expected a whole number from 1. Received: %d" % given.steps)
    if not os.path.isfile(given.script):
        parser.error("expected a script. Received: %s, which is no file" % given.script)
    out = os.path.abspath(given.out)
    if not os.access(os.path.dirname(out), os.W_OK):
        parser.error("argument --out: expected a place that can be written. Received: %s" % given.out)
    recording = Recording(out, given.max_mb * 1000000)
    recording.facts["no_dropout"] = given.no_dropout
    recording.facts["masks"] = given.masks
    recorder = Recorder(
        recording,
        given.steps,
        given.replay,
        given.no_dropout,
        given.masks,
        given.free,
        given.nudge,
        given.most,
        given.seed,
    )
    before = set(sys.modules)
    unwatch = recorder.watch_imports()
    sys.argv = [given.script] + given.arguments
    sys.path[0] = os.path.dirname(os.path.abspath(given.script))
    recorder.look()
    recorder.random.at("start")
    try:
        runpy.run_path(given.script, run_name="__main__")
    finally:
        unwatch()
        if recording.facts["models"]:
            recording.facts["machine"] = machine()
            if given.free:  # of the same machine: a recording names no folder
                recording.facts["files"] = files_of_modules(before)
            recording.write()
            print("record_keras: %s written" % given.out, file=sys.stderr)
            for note in recording.facts["notes"]:
                print("record_keras: %s" % note, file=sys.stderr)
        else:
            print("record_keras: no model was trained; nothing is written", file=sys.stderr)


if __name__ == "__main__":
    main()
