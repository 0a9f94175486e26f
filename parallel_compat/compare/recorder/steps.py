"""The steps: graphs of Keras 1 to 2.3 and TensorFlow 1, functions of TensorFlow 2 and Keras 3."""

from __future__ import print_function

import functools
import sys

import numpy as np

from parallel_compat.compare.recorder.models import (
    all_layers,
    counted,
    names_of,
    of_batch,
    package_of,
    tensors_of_layers,
    trained_weights,
)
from parallel_compat.compare.recorder.values import around, array_of, dense, flat, like, listed, tried, unflat


class Step(object):
    """A model's train function; the first calls are written down."""

    running = False  # whether the loss that it returns is the mean since the epoch began

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
        session: returns the session of the graph.
    """

    def __init__(self, recorder, model, function, recording, count, more, layer_names, session):
        Step.__init__(self, recorder, model, function)
        self._recording = recording
        self._count = count
        self._more = more
        self._layer_names = layer_names
        self._session = session

    def _can(self, kept, given):
        return isinstance(given, (list, tuple))

    def _read(self, given):
        """Return the batch; what an iterator of `tf.data` gives is read at once, so that all are of one batch."""
        tensors = [each for each in given if hasattr(each, "graph")]
        values = iter(self._session().run(tensors) if tensors else ())
        return [next(values) if hasattr(each, "graph") else each for each in given]

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


def make_graph_step(recorder, module, name, original, given, keywords):
    """Make the train function of a graph, and one that also puts out what is recorded."""
    model = given[0]
    kept_as = "_fit_function" if "fit" in name else "train_function"  # TensorFlow 1.13 has one for `fit`
    if getattr(model, kept_as, None) is not None:
        return original(*given, **keywords)
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
        names = [name for name, _ in layers]
        return GraphStep(recorder, model, own, recording, len(outputs), more, names, backend.get_session)

    backend.function = with_more
    if not in_order_anyway:
        backend.update, backend.update_add = updated_together, counted_last
    optimizer.get_gradients = gradients_seen
    try:
        return original(*given, **keywords)
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
        pairs = [(kind, part) for kind, part in zip("xyw", parts) if part is not None]
        return {kind: [array_of(leaf) for leaf in flat(part, names_of(self._model, kind))] for kind, part in pairs}

    def _replaced(self, kept, given, own, recorded):
        replaced = []
        for kind, part in zip("xyw", given if isinstance(given, tuple) else (given,)):
            if part is not None and kind in recorded:
                pairs = zip(recorded[kind], own[kind])
                leaves = [a.reshape(b.shape).astype(b.dtype) for a, b in pairs]
                part = unflat(part, leaves, names_of(self._model, kind))
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
        return logs, sorted(each_log(logs), key=lambda pair: pair[0] != "loss"), values

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
            variables += [each for each in flat(getattr(layer, "states", None)) if hasattr(each, "assign")]
            for kept_by in list(vars(layer).values()):
                # Dicts that Keras tracks sort their keys when they are asked for variables.
                if not isinstance(kept_by, (dict, list, tuple)) and not hasattr(kept_by, "call"):
                    found = getattr(kept_by, "variables", None)
                    variables += found if isinstance(found, (list, tuple)) else []
        saved = [np.copy(v.numpy() if hasattr(v, "numpy") else np.asarray(v)) for v in variables]

        def restore():
            for variable, value in zip(variables, saved):
                variable.assign(value)

        values, called = {}, vars(model).get("_parallel_compat_as_compiled", lambda function, *given: function(*given))
        try:
            x = [tf.convert_to_tensor(leaf) for leaf in x]
            x = x[0] if len(x) == 1 else x
            values["outputs"] = [np.asarray(leaf) for leaf in flat(called(train(model), x))]
            restore()  # the states of a stateful layer
            pairs = tensors_of_layers(model) if not kept.steps and not on_replicas else []
            if pairs:
                package = sys.modules.get(package_of(model))
                kind = package.Model if hasattr(package, "Model") else tf.keras.Model
                whole = kind(model.inputs, [tensor for _, tensor in pairs], name="record_keras")
                found = flat(called(train(whole), x))
                values["layers"] = list(zip([name for name, _ in pairs], [np.asarray(leaf) for leaf in found]))
        except Exception as error:  # a model that is called otherwise
            kept.recording.note("model %d: outputs are not recorded (%s)" % (kept.number, str(error)[:200]))
        finally:
            restore()
        return values


def each_log(logs):
    """Return pairs of a name and a value; Keras 3 gives the metrics of `compile` as one, a dict."""
    return [pair for name, log in logs.items() for pair in (each_log(log) if isinstance(log, dict) else [(name, log)])]


def train(model):
    """Return what calls a model in training."""
    return functools.partial(model, training=True)


def make_eager_step(recorder, module, name, original, given, keywords):
    """Make the train function, whose first steps are written down."""
    made, model = original(*given, **keywords), given[0]
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

    def _applied(self, name, original, given, keywords):
        import tensorflow as tf

        optimizer, of_keras_3 = given[0], name == "apply"
        grads = list(given[1] if len(given) > 1 else keywords.pop("grads" if of_keras_3 else "grads_and_vars"))
        if of_keras_3:
            variables = given[2] if len(given) > 2 else keywords.get("trainable_variables")
            variables = list(optimizer._trainable_variables if variables is None else variables)
            one = tf.distribute.get_replica_context() and tf.distribute.get_strategy().num_replicas_in_sync == 1
            pairs = list(zip(grads, variables)) if one else []
        else:
            pairs = grads
        for gradient, variable in pairs:
            if gradient is not None:
                self._keep(gradient, variable)
        return original(optimizer, grads, *given[2:], **keywords)


GRADIENTS = Gradients()
