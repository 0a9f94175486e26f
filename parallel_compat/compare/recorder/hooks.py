"""Where each Keras has what is watched."""

from __future__ import print_function

import functools
import sys
import types

import numpy as np

from parallel_compat.compare.recorder.draws import (
    Numpy,
    Random,
    mask_of,
    masked_call,
    shuffled,
    silent_call,
    without_dropout,
)
from parallel_compat.compare.recorder.models import MASKED, RANDOM, RECURRENT, by_layer, weights_of
from parallel_compat.compare.recorder.steps import make_eager_step, make_graph_step
from parallel_compat.compare.recorder.values import around, tried
from parallel_compat.compare.recorder.watched_model import Model


def entered(recorder, module, name, original, given, keywords):
    """Call a method before and after which the states of random numbers are written down, or put in."""
    model, fitted = given[0], recorder.fitted
    if name in ("fit", "fit_generator", "train_on_batch"):
        recorder.fitted = model
    recorder.entered += 1
    try:
        if recorder.entered == 1:
            recorder.random.at("before " + name)
        result = original(*given, **keywords)
        if recorder.entered == 1:
            recorder.random.at("after " + name)
    finally:
        recorder.fitted = fitted
        recorder.entered -= 1
    if name == "compile":
        recorder.compiled(model)
    return result


def called(recorder, module, name, original, given, keywords):
    """Call `evaluate` or `predict` of a trained model, but for the validation in `fit`."""
    kept = recorder.models.get(id(given[0]))
    frame = sys._getframe(1)
    while frame.f_code.co_filename == called.__code__.co_filename:
        frame = frame.f_back
    if kept is None or recorder.calling:
        return original(*given, **keywords)
    recorder.calling = True  # also in the validation: a parallel model's own `evaluate` calls that of Keras
    try:
        if frame.f_code.co_name in ("fit", "fit_generator"):
            return original(*given, **keywords)
        data = given[1] if len(given) > 1 else keywords.get("x")
        return kept.call(name.split("_")[0], data, lambda: original(*given, **keywords))
    finally:
        recorder.calling = False


def epoch_ended(recorder, module, name, original, given, keywords):
    """Write down the logs of an epoch."""
    result, callback = original(*given, **keywords), given[0]
    inner = getattr(callback.model, "model", None)  # what a Sequential trained before Keras 2.2
    found = recorder.models.get(id(callback.model)) or recorder.models.get(id(inner))
    if found is not None:
        found.epoch(given[2] if len(given) > 2 else keywords.get("logs"))
    return result


COMPILES = 64  # models that are compiled, whose weights are kept
MODELS = 32  # more than that are not written down
SPARE = 64000000  # bytes of batches beyond the first steps
ORDERS = 200  # epochs whose order of samples is kept

STARTS = ("keras.", "keras.src.", "tf_keras.src.", "tensorflow.python.keras.", "tensorflow_core.python.keras.")
TRAINING = ("engine.training", "engine.training_v1", "backend.tensorflow.trainer")
TRAINED = ("Model", "TensorFlowTrainer", "Trainer")  # the last since Keras 3.16
COMPILING = ("engine.training", "engine.training_v1", "trainers.trainer")
COMPILED = ("Model", "Trainer", "BaseTrainer")  # likewise
# The ends of modules; classes, or none where functions are of the module; functions, and what they are called by.
HOOKS = (
    (TRAINING, TRAINED, ("fit", "fit_generator", "train_on_batch"), entered),
    (COMPILING, COMPILED, ("compile",), entered),
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
        of_tensorflow = getattr(tensorflow, "random", None)
        self._hook(of_tensorflow, (), ("shuffle",), shuffled)
        self._hook(getattr(of_tensorflow, "experimental", None), (), ("stateless_shuffle",), shuffled)  # Keras 3.16
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
                around(kind, name, lambda original, given, _: original(*given) if eagerly() else True)

    def _hook(self, module, classes, names, replacement):
        own = getattr(module, "__dict__", {})
        for owner in [own[kind] for kind in classes if isinstance(own.get(kind), type)] if classes else [module]:
            for name in names:
                around(owner, name, functools.partial(replacement, self, module, name))
