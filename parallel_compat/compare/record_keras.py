# -*- coding: utf-8 -*-
"""Run a Keras script, unmodified, and write down what it computes.

    python record_keras.py [--steps N] [--out recording.h5] [--no-dropout] [--masks] train.py ARGS...

One file without dependencies beyond numpy and h5py, for Python 2.7 to 3.13: standalone Keras 1.2 to 2.3, tf.keras of
TensorFlow 1.13 to 2.15, tf_keras, and Keras 3 on TensorFlow. For each model that is trained it writes
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
ORDERS = 200  # epochs whose order of samples is kept
STATES = 300  # calls before which the states of Python's and numpy's random numbers are kept
GRAPH_CLASSES = (
    "keras.engine.training",
    "tensorflow.python.keras.engine.training",
    "tensorflow_core.python.keras.engine.training",
    "tensorflow.python.keras.engine.training_v1",
    "keras.engine.training_v1",
    "keras.src.engine.training_v1",
    "tf_keras.src.engine.training_v1",
)
EAGER_CLASSES = (
    "tensorflow.python.keras.engine.training",
    "keras.engine.training",
    "keras.src.engine.training",
    "tf_keras.src.engine.training",
    "keras.src.backend.tensorflow.trainer",
    "parallel_compat.training.trainer",
)
# The training of TensorFlow 2.0 and 2.1 is in functions.
FUNCTIONS = (
    "tensorflow.python.keras.engine.training_v2_utils",
    "tensorflow_core.python.keras.engine.training_v2_utils",
)
CLASSES = ("TensorFlowTrainer", "ParallelTrainer", "Model")
BUILDING = tuple(
    (start + end, kind, entry)
    for start in ("keras.", "tensorflow.python.keras.", "tensorflow_core.python.keras.", "keras.src.", "tf_keras.src.")
    for end, kind, entry in (
        ("engine.topology", "Layer", "__call__"),
        ("engine.base_layer", "Layer", "__call__"),
        ("layers.layer", "Layer", "__call__"),
        ("models", "Sequential", "add"),
        ("engine.sequential", "Sequential", "add"),
        ("models.sequential", "Sequential", "add"),
    )
)
ENTRIES = ("fit", "fit_generator", "train_on_batch")
LAYERS = (
    "keras.layers",
    "tensorflow.keras.layers",
    "tensorflow.python.keras.layers",
    "tensorflow_core.python.keras.layers",
    "tf_keras.layers",
)
MASKS = "masks"
RANDOM = (
    "Dropout",
    "SpatialDropout1D",
    "SpatialDropout2D",
    "SpatialDropout3D",
    "GaussianDropout",
    "GaussianNoise",
    "AlphaDropout",
)
MASKED = tuple(name for name in RANDOM if name != "AlphaDropout")  # whose draws can be handed over
RECURRENT = ("SimpleRNN", "LSTM", "GRU", "ConvLSTM2D")


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
            self.note("%s: not written, it holds something else than plain numbers" % section)
            return False
        size = sum(array.nbytes for array in kept)
        if size > self.left:
            self.note("%s: not written, %d bytes are more than what is left (--max-mb)" % (section, size))
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
        places = dict.fromkeys(flat, 0)
        for name, rows in self.facts["sections"]:
            self.arrays[name] = []
            for kind, shape in rows:
                size = int(np.prod(shape, dtype="int64"))
                self.arrays[name].append(flat[kind][places[kind] : places[kind] + size].reshape(shape))
                places[kind] += size


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


def set_weights_of(model, arrays):
    """Set a model's weights, in the order of `weights_of`."""
    arrays = list(arrays)
    for layer in layers_with_weights(model):
        count = len(layer.get_weights())
        layer.set_weights(arrays[:count])
        arrays = arrays[count:]


def trained_weights(model):
    """Return the weights that a model's steps move, once it has made one: what `compile` settled, in most versions."""
    collected = getattr(model, "_collected_trainable_weights", None)
    if collected:
        return collected
    optimizer = getattr(model, "optimizer", None)
    built = getattr(optimizer, "_trainable_variables", None)
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


def digest(data):
    """Return what tells the data of one call from those of another: sums of the arrays; None where it has none."""
    arrays = [data[key] for key in sorted(data)] if isinstance(data, dict) else listed(data)
    if not arrays or not all(isinstance(each, np.ndarray) and each.dtype.kind in "fiub" for each in arrays):
        return None
    return [[float(np.sum(each)), float(np.sum(np.abs(each.astype("float64"))))] for each in arrays]


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
        rates = [getattr(layer, name, 0) for name in ("rate", "p", "stddev", "sigma")] if kind in RANDOM else []
        if kind in RECURRENT:
            rates = [getattr(layer, name, 0) for name in ("dropout", "recurrent_dropout", "dropout_W", "dropout_U")]
        known = getattr(layer, "_record_keras_silent", False)
        if known is (MASKS if masked else False) and any(isinstance(r, (int, float)) and r > 0 for r in rates):
            found += [] if layer in found else [layer]
    return found


def tensors_of_layers(model):
    """Return pairs of a layer's name and its first output in a functional model, from the inputs on."""
    graph = getattr(model, "_functional", None) or getattr(model, "model", None) or model
    nodes = getattr(graph, "_nodes_by_depth", None) or getattr(graph, "nodes_by_depth", None) or {}
    first = {}
    for depth in sorted(nodes, reverse=True):
        for node in nodes[depth]:
            layer = (
                getattr(node, "operation", None)
                or getattr(node, "outbound_layer", None)
                or getattr(node, "layer", None)
            )
            outputs = getattr(node, "output_tensors", None)
            if outputs is None:
                outputs = node.outputs
            flat = list(outputs) if isinstance(outputs, (list, tuple)) else [outputs]
            first.setdefault(id(layer), flat[0])
    found = []
    for layer in model.layers:
        if id(layer) in first and type(layer).__name__ != "InputLayer":
            found.append((layer.name, first[id(layer)]))
    return found


def listed(value):
    """Return a value as a list."""
    return list(value) if isinstance(value, (list, tuple)) else [] if value is None else [value]


def name_of(value):
    """Return what stands for a loss, a metric or an optimizer in JSON."""
    if value is None or isinstance(value, (str, int, float, bool)):
        return value
    if isinstance(value, dict):
        return {str(key): name_of(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [name_of(each) for each in value]
    if hasattr(value, "__name__"):
        return value.__name__
    return type(value).__name__


def plain(value):
    """Return a value as JSON has it; what it has not by its name."""
    try:
        return json.loads(json.dumps(value, default=lambda each: float(each) if hasattr(each, "dtype") else str(each)))
    except (TypeError, ValueError):
        return str(value)


class Model(object):
    """One model that is trained.

    Args:
        recorder: the recorder.
        number: which of the script's models, in the order in which they were first trained.
        model: the model.
    """

    def __init__(self, recorder, number, model):
        self.recorder = recorder
        self.number = number
        self.model = model
        self.steps = 0
        self.made = 0
        self.after = []
        self.calling = False
        layers = layers_with_weights(model)
        optimizer = getattr(model, "optimizer", None)
        self.facts = {
            "name": getattr(model, "name", None),
            "class": type(model).__name__,
            "keras": recorder.version_of(model),
            "layers": [
                {"name": layer.name, "class": type(layer).__name__, "weights": [w.name for w in layer.weights]}
                for layer in layers
            ],
            "optimizer": type(optimizer).__name__,
            "optimizer_config": self._config_of(optimizer),
            "loss": name_of(getattr(model, "loss", None)),
            "random_layers": [layer.name for layer in random_layers(model)],
            "masked_layers": [layer.name for layer in random_layers(model, masked=True)],
            "config": self._config(),
            "steps": [],
            "history": [],
            "evaluate": [],
            "predict": [],
            "losses": [],
            "batches": [],
        }
        self.orders = 0
        self.places = {id(layer): place for place, layer in enumerate(random_layers(model, masked=True))}
        recorder.recording.facts["models"].append(self.facts)
        recorder.recording.facts.setdefault("keras", self.facts["keras"])
        for name in ("evaluate", "evaluate_generator", "predict", "predict_generator"):
            if hasattr(model, name):
                self._watch(name, name.split("_")[0])

    @property
    def wanted(self):
        """Whether its next step is written down."""
        return self.steps < self.recorder.steps

    @property
    def watched(self):
        """Whether its next step's loss and batch are written down."""
        return self.made < self.recorder.curve

    def section(self, name):
        """Return the name of a section of the recording."""
        return "model%d/%s" % (self.number, name)

    def begin(self):
        """Before its first step: put the recorded weights in, and write down what it begins with."""
        if self.recorder.replay is not None:
            self._put_in(self.recorder.replay)
        self._put_weights("initial")

    def resume(self):
        """Before a later step: write the weights down, and on a replay put the recorded ones in, if they have changed
        since the step before (the other models of a GAN)."""
        self._before("step%d/before" % self.steps)

    def _before(self, name):
        arrays = weights_of(self.model)
        if any(not np.array_equal(a, b) for a, b in zip(arrays, self.after)):
            self.recorder.recording.put(self.section(name), arrays)
        self._set(name)

    def _set(self, name):
        """Put recorded weights in, if there are any of this name: each step stands for itself."""
        if self.facts.get("weights_put_in") is True and not self.recorder.free:
            arrays = self.recorder.replay.arrays.get(self.section(name))
            if arrays is not None:
                set_weights_of(self.model, arrays)

    def _put_in(self, replay):
        models = replay.facts["models"]
        if self.number >= len(models):
            return
        layers = layers_with_weights(self.model)
        recorded = models[self.number]["layers"]
        arrays = list(replay.arrays.get(self.section("initial"), []))
        if len(layers) != len(recorded):
            self.facts["weights_put_in"] = "expected %d layers with weights, as recorded. Received: %d" % (
                len(recorded),
                len(layers),
            )
            return
        for layer, row in zip(layers, recorded):
            own = [tuple(w.shape) for w in layer.get_weights()]
            given, arrays = arrays[: len(row["weights"])], arrays[len(row["weights"]) :]
            if own != [tuple(array.shape) for array in given]:
                self.facts["weights_put_in"] = (
                    "layer %s: expected weights of the shapes %s, as recorded. Received: %s"
                    % (
                        layer.name,
                        [tuple(array.shape) for array in given],
                        own,
                    )
                )
                return
            self.recorder.hand_over(layer, given)
        self.facts["weights_put_in"] = True

    def recorded_batch(self):
        """Return the recorded batch of this step as {"x", "y", "w"}, or None."""
        replay = self.recorder.replay
        if replay is None or self.number >= len(replay.facts["models"]):
            return None
        found = {}
        for kind in ("x", "y", "w"):
            arrays = replay.arrays.get(self.section("step%d/%s" % (self.made, kind)))
            if arrays is not None:
                found[kind] = arrays
        return found or None

    def step(self, batch, values, logs):
        """Write down a step that was made.

        Args:
            batch: {"x", "y", "w"}, the script's own.
            values: {"outputs", "gradients", "layers"}, lists of arrays.
            logs: loss and metrics, pairs of a name and a number.
        """
        number = self.steps
        logs = list(logs)
        facts = {"names": [str(name) for name, _ in logs], "logs": [float(value) for _, value in logs]}
        for kind in sorted(batch):
            if self.recorder.recording.put(self.section("step%d/%s" % (number, kind)), batch[kind]):
                facts[kind] = len(batch[kind])
        for kind in sorted(values):
            found = values[kind]
            if kind == "layers":
                facts["layer_names"] = [name for name, _ in found]
                found = [value for _, value in found]
            if kind == "gradients":
                facts["gradient_of"] = [i for i, value in enumerate(found) if value is not None]
                found = [value for value in found if value is not None]
            self.recorder.recording.put(self.section("step%d/%s" % (number, kind)), found)
        self._put_weights("step%d/weights" % number)
        self._set("step%d/weights" % number)
        self.after = weights_of(self.model)
        try:
            state = state_of(self.model.optimizer)
        except Exception:  # an optimizer without state, or a custom one
            state = []
        self.facts["state_names"] = [name for name, _ in state]
        if state:
            self.recorder.recording.put(self.section("step%d/state" % number), [array for _, array in state])
        places = {}
        for layer in layers_with_weights(self.model):
            for weight in layer.weights:
                places[id(weight)] = len(places)
        self.facts["trainable"] = [places.get(id(weight), -1) for weight in trained_weights(self.model)]
        self.facts["steps"].append(facts)
        self.steps += 1
        self.ended(batch, facts["logs"][0] if facts["logs"] else 0.0)
        if not self.wanted:
            print("record_keras: model %d: %d steps recorded" % (self.number, self.steps), file=sys.stderr)

    def ended(self, batch, loss):
        """Write down the loss of any step, and what tells its batch from others."""
        if self.watched:
            self.facts["losses"].append(float(np.asarray(loss)))
            self.facts["batches"].append([checksum(batch.get(kind, ())) for kind in "xy"])
            if self.made >= self.recorder.steps and self.recorder.replay is None:
                for kind in sorted(batch):
                    self.recorder.spare(self.section("step%d/%s" % (self.made, kind)), batch[kind])
        self.made += 1
        self.recorder.made += 1
        if self.recorder.most is not None and self.recorder.made >= self.recorder.most:
            raise SystemExit(0)

    def other_batch(self, own):
        """Return the recorded batch in place of the script's own; None where they are the same, or of other shapes."""
        recorded = self.recorded_batch()
        known = self.recorder.known_batches(self.number)
        if recorded is None or (
            len(known) > self.made and known[self.made] == [checksum(own.get(k, ())) for k in "xy"]
        ):
            return None
        for kind in sorted(own):
            leaves = recorded.get(kind)
            if leaves is None:
                continue
            if len(own[kind]) != len(leaves) or any(np.size(a) != np.size(b) for a, b in zip(own[kind], leaves)):
                shapes = [[list(a.shape) for a in arrays] for arrays in (leaves, own[kind])]
                self.facts.setdefault("not_fed", []).append([self.made, kind] + shapes)
                return None
        self.facts.setdefault("fed", []).append(self.made)
        return recorded

    def epoch(self, logs):
        """Write down the logs of an epoch."""
        if len(self.facts["history"]) < RESULTS:
            found = {str(k): plain(v) for k, v in (logs or {}).items() if np.ndim(v) == 0}
            self.facts["history"].append({"logs": found, "steps": self.made})

    def _put_weights(self, name):
        self.recorder.recording.put(self.section(name), weights_of(self.model))

    def _watch(self, name, kind):
        method = getattr(self.model, name)

        def watched(*given, **keywords):
            if self.calling or sys._getframe(1).f_code.co_name in ("fit", "fit_generator"):  # its validation
                return method(*given, **keywords)
            number = len(self.facts[kind])
            wanted = number < self.recorder.steps and self.steps > 0
            if wanted:
                self._before("%s%d/before" % (kind, number))
            self.calling = True
            try:
                result = method(*given, **keywords)
            finally:
                self.calling = False
            if number < RESULTS:
                self._called(kind, number, wanted, digest(given[0] if given else keywords.get("x")), result)
            return result

        watched.__name__ = name
        watched.__doc__ = getattr(method, "__doc__", None)
        try:
            object.__setattr__(self.model, name, watched)
        except Exception as error:
            self.recorder.recording.note("model %d: %s is not recorded (%s)" % (self.number, name, error))

    def _called(self, kind, number, wanted, data, result):
        values = list(result.values()) if isinstance(result, dict) else listed(result)
        facts = {"weights": wanted, "data": data}
        if kind == "evaluate":
            facts["names"] = [str(name) for name in getattr(self.model, "metrics_names", [])]
            facts["values"] = [float(value) for value in values]
        else:
            facts["shapes"] = [list(np.shape(value)) for value in values]
            self.recorder.recording.put(self.section("predict%d" % number), [np.asarray(v)[:PREDICTED] for v in values])
        self.facts[kind].append(facts)

    def _config(self):
        try:
            return self.model.to_json()
        except Exception as error:
            self.recorder.recording.note("model %d: no configuration (%s)" % (self.number, error))
            return None

    @staticmethod
    def _config_of(optimizer):
        try:
            return plain(optimizer.get_config())
        except Exception:
            return None


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
    """

    def __init__(self, recording, steps, replay=None, silent=False, masks=False, free=False, nudge=False, most=None):
        self.recording = recording
        self.steps = steps
        self.curve = CURVE
        self.replay = replay
        self.silent = silent
        self.masks = masks
        self.free = free
        self.most = most
        self.made = 0
        self.models = {}
        self.compiles = 0
        self.current = None
        self._hooked = set()
        self._handed_over = []
        self._rng = np.random.RandomState(0) if nudge else None
        self._left_for_batches = 64000000
        self._entered = 0
        self._fitted = None
        self._states = 0
        self._state = None
        self._calls = {}

    def hand_over(self, layer, arrays):
        """Set a layer's weights to recorded ones; where each model goes on by itself, only once."""
        if self.free and any(each is layer for each in self._handed_over):
            return
        self._handed_over.append(layer)
        if self._rng is not None:
            arrays = [self._nudged(each) for each in arrays]
        layer.set_weights(arrays)

    def _nudged(self, array):
        if array.dtype.kind != "f":
            return array
        ends = np.where(self._rng.uniform(size=array.shape) < 0.5, -np.inf, np.inf).astype(array.dtype)
        return np.where(array == 0, array, np.nextafter(array, ends))

    def known_batches(self, number):
        """Return what tells the batches of a recorded model from others."""
        models = self.replay.facts["models"] if self.replay is not None else []
        return models[number].get("batches", []) if number < len(models) else []

    def spare(self, section, arrays):
        """Keep the batch of a step beyond the first ones, as long as there is room for such."""
        size = sum(np.asarray(each).nbytes for each in arrays)
        if size <= self._left_for_batches and self.recording.put(section, arrays):
            self._left_for_batches -= size

    # What a script draws: the states of the random numbers, the order of samples, the masks of Dropout.

    def entering(self, original, name):
        """Return a method before and after which the states of random numbers are written down, or put in."""

        def method(model, *given, **keywords):
            fitted = self._fitted
            if name in ENTRIES:
                self._fitted = model
            self._entered += 1
            try:
                if self._entered == 1:
                    self.put_states("before " + name)
                result = original(model, *given, **keywords)
                if self._entered == 1:
                    self.put_states("after " + name)
                return result
            finally:
                self._fitted = fitted
                self._entered -= 1

        for each in ("__name__", "__qualname__", "__doc__", "__module__"):
            if getattr(original, each, None):
                setattr(method, each, getattr(original, each))
        method.__wrapped__ = original  # `inspect.signature` asks for it
        return method

    def put_states(self, place):
        """A model that is built draws from numpy in Keras 2, and not in Keras 3: what a script draws then follows."""
        number = self._calls[place] = self._calls.get(place, -1) + 1
        if self.replay is not None:
            recorded = self.replay.facts.get("random", {}).get(place, ())
            if number < len(recorded):
                keys, places, cached, python = self.replay.arrays["random%d" % recorded[number]]
                np.random.set_state(("MT19937", keys, int(places[0]), int(places[1]), float(cached[0])))
                random.setstate((3, tuple(int(each) for each in python), None))
            return
        _, keys, place_in_keys, gauss, cached = np.random.get_state()
        python = np.array(random.getstate()[1], dtype="uint32")
        state = [np.array(keys), np.array([place_in_keys, gauss]), np.array([cached]), python]
        rows = self.recording.facts.setdefault("random", {}).setdefault(place, [])
        if self._state is None or any(not np.array_equal(a, b) for a, b in zip(state, self._state)):
            if self._states >= STATES or not self.recording.put("random%d" % self._states, state):
                return
            self._state, self._states = state, self._states + 1
        if number == len(rows) < STATES:
            rows.append(self._states - 1)

    def ordered(self, order, model=None):
        """Return the order of samples of an epoch: the recorded one on a replay."""
        fitted = self._fitted if model is None else model
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

    def watch_shuffling(self):
        """Let those who shuffle samples ask for the order: numpy in Keras 1 and 2, TensorFlow since tf.keras 2."""
        for name in ("keras.engine", "tensorflow.python.keras.engine", "tensorflow_core.python.keras.engine"):
            module = sys.modules.get(name + ".training_arrays")
            if module is not None and not isinstance(module.np, Numpy):
                module.np = Numpy(self)
        public = getattr(sys.modules.get("tensorflow"), "random", None)
        operations = sys.modules.get("tensorflow.python.ops.random_ops")
        for module, function in ((public, "shuffle"), (operations, "random_shuffle")):
            if hasattr(module, function) and function not in self._hooked:
                self._hooked.add(function)
                setattr(module, function, self._shuffling(getattr(module, function)))

    def _shuffling(self, original):
        def shuffle(value, seed=None, name=None):
            shuffled = original(value, seed=seed, name=name)
            model = self._fitted
            if model is None or shuffled.dtype.name not in ("int32", "int64") or shuffled.shape.ndims != 1:
                return shuffled
            import tensorflow as tf

            found = tf.numpy_function(lambda order: self.ordered(order, model), [shuffled], shuffled.dtype)
            found.set_shape(shuffled.shape)
            return found

        return shuffle

    def mask(self, layer, shape):
        """Return what a layer draws in the step that is made: the same in any run."""
        kept = self.current
        number, place, step = (0, 0, 0) if kept is None else (kept.number, kept.places.get(id(layer), 0), kept.made)
        rng = np.random.RandomState(zlib.crc32(("%d %d %d" % (number, place, step)).encode("ascii")) & 0xFFFFFFFF)
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

    def model(self, model):
        """Return what is kept of a model; None beyond the first models."""
        found = self.models.get(id(model))
        if found is None:
            if len(self.models) >= MODELS:
                self.recording.note("more than %d models: the others are not recorded" % MODELS)
                return None
            found = self.models[id(model)] = Model(self, len(self.models), model)
        return found

    @staticmethod
    def version_of(model):
        """Return the Keras of a model, by name and version."""
        for kind in type(model).__mro__:
            package = kind.__module__.split(".")[0]
            if package in ("keras", "tf_keras"):
                return "%s %s" % (package, getattr(sys.modules[package], "__version__", "?"))
            if package in ("tensorflow", "tensorflow_core"):
                import tensorflow

                return "tf.keras %s" % tensorflow.__version__
        return "?"

    def compiled(self, model):
        """Write down, or put in, the weights of a compiled model: scripts use models before they train them."""
        number = self.compiles
        try:
            layers = layers_with_weights(model)
        except Exception:  # a model that is not built
            layers = []
        if number >= COMPILES or not layers:
            return
        self.compiles += 1
        section = "compile%d" % number
        given = self.replay.arrays.get(section) if self.replay is not None else None
        if given is not None and [w.shape for w in weights_of(model)] == [array.shape for array in given]:
            for layer in layers:
                count = len(layer.get_weights())
                self.hand_over(layer, given[:count])
                given = given[count:]
        self.recording.put(section, weights_of(model))

    # How the classes are found: after each import of the script, as nothing may be imported before it asks.

    def watch_imports(self):
        """Hook the training methods of each Keras as soon as the script has imported it."""
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
        modules = sys.modules
        if "tensorflow" in modules and "tensorflow" not in self._hooked:
            self._hooked.add("tensorflow")
            # TensorFlow 1 wrote weights while the backward pass read them. With resource variables, which came with
            # 1.13, it does not.
            tensorflow = modules["tensorflow"]
            enable = getattr(getattr(tensorflow, "compat", None), "v1", tensorflow)
            if tensorflow.__version__.startswith("1.") and hasattr(enable, "enable_resource_variables"):
                enable.enable_resource_variables()
        for name in GRAPH_CLASSES + EAGER_CLASSES:
            module = modules.get(name)
            if module is None or name in self._hooked:
                continue
            kind = next((vars(module)[each] for each in CLASSES if each in vars(module)), None)
            if not isinstance(kind, type):
                continue
            self._hooked.add(name)
            if "compile" in vars(kind) or name.startswith("keras.src.backend"):
                whole = sys.modules["keras"].Model if name.startswith("keras.src.backend") else kind
                whole.compile = compile_method(self, self.entering(whole.compile, "compile"))
            for entry in ENTRIES:
                if isinstance(vars(kind).get(entry), types.FunctionType):
                    setattr(kind, entry, self.entering(vars(kind)[entry], entry))
            of_graph, eager = (vars(kind).get(each) for each in ("_make_train_function", "make_train_function"))
            if isinstance(of_graph, types.FunctionType):
                kind._make_train_function = graph_method(self, of_graph, module)
            of_fit = vars(kind).get("_make_fit_function")  # of TensorFlow 1.13, whose `fit` had one of its own
            if isinstance(of_fit, types.FunctionType):
                kind._make_fit_function = graph_method(self, of_fit, module, "_fit_function")
            if isinstance(eager, types.FunctionType):
                kind.make_train_function = eager_method(self, eager)
        for name in FUNCTIONS:
            module = modules.get(name)
            if hasattr(module, "train_on_batch") and name not in self._hooked:
                self._hooked.add(name)
                module._make_execution_function = loop_function(self, module._make_execution_function)
                module.train_on_batch = on_batch_function(self, module.train_on_batch)
        for name, found, entry in BUILDING:
            kind = getattr(modules.get(name), found, None)
            if isinstance(vars(kind).get(entry) if kind else None, types.FunctionType) and kind not in self._hooked:
                self._hooked.add(kind)
                setattr(kind, entry, self.entering(vars(kind)[entry], entry))
        self.watch_shuffling()
        for name in LAYERS:
            self._silence(name)
        for name in ("keras.callbacks", "tensorflow.python.keras.callbacks", "tensorflow_core.python.keras.callbacks"):
            self._watch_history(name)
        for name in ("tf_keras.src.callbacks", "keras.src.callbacks", "keras.src.callbacks.history"):
            self._watch_history(name)

    def _watch_history(self, name):
        module = sys.modules.get(name)
        kind = getattr(module, "__dict__", {}).get("History")
        if kind is None or getattr(kind, "_record_keras", False) or "on_epoch_end" not in vars(kind):
            return
        kind._record_keras = True
        original = kind.on_epoch_end

        def on_epoch_end(callback, epoch, logs=None):
            result = original(callback, epoch, logs)
            trained = callback.model
            inner = getattr(trained, "model", None)  # what a Sequential trained before Keras 2.2
            found = self.models.get(id(trained)) or self.models.get(id(inner))
            if found is not None:
                found.epoch(logs)
            return result

        kind.on_epoch_end = on_epoch_end

    def _silence(self, name):
        module = sys.modules.get(name)
        if module is None:
            return
        for kind in MASKED if self.masks else ():
            found = getattr(module, "__dict__", {}).get(kind)
            if isinstance(found, type) and not vars(found).get("_record_keras_silent"):
                found._record_keras_silent = MASKS
                found.supports_jit = False  # of Keras 3
                found.call = masked_call(self, sys.modules[found.__module__])
        for kind in RANDOM if self.silent else ():
            found = getattr(module, "__dict__", {}).get(kind)
            if isinstance(found, type) and not vars(found).get("_record_keras_silent"):
                found._record_keras_silent = True
                found.call = _identity
        for kind in RECURRENT if self.silent else ():
            found = getattr(module, "__dict__", {}).get(kind)
            if isinstance(found, type) and not vars(found).get("_record_keras_silent"):
                found._record_keras_silent = True
                found.__init__ = _without_dropout(found.__init__)


def _identity(self, inputs, training=None, **keywords):
    return inputs


def masked_call(recorder, module):
    """Return `call` of a layer of a module that draws from numpy, in training."""
    backend = getattr(module, "K", None)

    def call(self, inputs, training=None):
        def noisy():
            import tensorflow as tf

            draw = next(getattr(tf, name) for name in ("numpy_function", "py_func") if hasattr(tf, name))
            mask = draw(lambda shape: recorder.mask(self, shape), [tf.shape(inputs)], tf.float32)
            mask = tf.cast(mask, inputs.dtype)
            found = inputs + mask if hasattr(self, "stddev") or hasattr(self, "sigma") else inputs * mask
            found.set_shape(inputs.shape)
            return found

        if backend is not None and hasattr(backend, "in_train_phase"):
            return backend.in_train_phase(noisy, inputs, training=training)
        return noisy() if training else inputs

    return call


class Numpy(object):
    """numpy for a module that shuffles samples."""

    def __init__(self, recorder, module=np):
        self._recorder = recorder
        self._module = module

    def __getattr__(self, name):
        if name == "random" and self._module is np:
            return Numpy(self._recorder, np.random)
        if name == "shuffle":
            return self._shuffle
        return getattr(self._module, name)

    def _shuffle(self, array):
        np.random.shuffle(array)
        array[...] = self._recorder.ordered(array)


def checksum(arrays):
    """Return what tells the arrays of a batch from others, whatever their types and shapes."""
    found = 0
    for array in arrays:
        found = zlib.crc32(np.ascontiguousarray(array, dtype="float32").tobytes(), found)
    return found & 0xFFFFFFFF


def _without_dropout(original):
    def __init__(self, *given, **keywords):
        for name in ("dropout", "recurrent_dropout", "dropout_W", "dropout_U"):
            keywords.pop(name, None)
        original(self, *given, **keywords)

    __init__.__doc__ = original.__doc__
    return __init__


def compile_method(recorder, original):
    """Return `compile` after which the weights are written down."""

    def compile(self, *given, **keywords):
        result = original(self, *given, **keywords)
        recorder.compiled(self)
        return result

    compile.__doc__ = getattr(original, "__doc__", None)
    compile.__wrapped__ = original  # `inspect.signature` asks for it
    return compile


# --- graphs: Keras 1 to 2.3, tf.keras of TensorFlow 1 ---------------------------------------------------------------


def graph_method(recorder, original, module, kept_as="train_function"):
    """Return `_make_train_function` that makes a function which also puts out what is recorded."""

    def _make_train_function(self, *given, **keywords):
        if getattr(self, kept_as, None) is not None:
            return original(self, *given, **keywords)
        backend, seen = module.K, {"late": []}
        function, get_gradients = backend.function, self.optimizer.get_gradients
        update, update_add = backend.update, backend.update_add

        def updated_together(x, new):
            return (x, new)  # as `_in_order` wants it

        def counted_last(x, increment):
            if x is not getattr(self.optimizer, "iterations", None):
                return update_add(x, increment)
            seen["late"].append((x, increment))
            return None

        def gradients_seen(loss, params):
            found = get_gradients(loss, params)
            seen["gradients"] = list(found)
            return found

        def with_more(inputs, outputs, updates=None, **kw):
            updates = _in_order(updates, seen["late"], list(outputs) + list(self.outputs))
            plain_function = function(inputs, outputs, updates=updates, **kw)
            layers = tensors_of_layers(self)
            more = {
                "outputs": list(self.outputs),
                "gradients": [_dense(g) for g in seen.get("gradients", []) if g is not None],
                "layers": [tensor for _, tensor in layers],
            }
            flat = [tensor for kind in sorted(more) for tensor in more[kind]]
            recording_function = function(inputs, list(outputs) + flat, updates=updates, **kw)
            seen["made"] = GraphFunction(
                recorder, self, plain_function, recording_function, len(outputs), more, [name for name, _ in layers]
            )
            return seen["made"]

        backend.function = with_more
        backend.update, backend.update_add = updated_together, counted_last
        self.optimizer.get_gradients = gradients_seen
        try:
            return original(self, *given, **keywords)
        finally:
            backend.function = function
            backend.update, backend.update_add = update, update_add
            del self.optimizer.get_gradients

    return _make_train_function


def _in_order(updates, counts, outputs):
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


def _dense(gradient):
    if hasattr(gradient, "indices"):
        import tensorflow as tf

        return tf.convert_to_tensor(gradient)
    return gradient


class GraphFunction(object):
    """A model's train function; the first calls also put out what is recorded."""

    def __init__(self, recorder, model, plain_function, recording_function, count, more, layer_names):
        self._recorder = recorder
        self._model = model
        self._plain = plain_function
        self._recording = recording_function
        self._count = count
        self._more = more
        self._layer_names = layer_names

    def __getattr__(self, name):
        return getattr(self._plain, name)

    def __call__(self, inputs):
        """Make a step."""
        kept = self._recorder.current = self._recorder.model(self._model)
        if kept is None or not isinstance(inputs, (list, tuple)):
            return self._plain(inputs)
        own = self._batch(inputs)
        if kept.wanted:
            kept.resume() if kept.steps else kept.begin()
        inputs = self._fed(kept, inputs, own)
        if not kept.wanted:
            results = self._plain(inputs)
            kept.ended(own, results[0])
            return results
        before = counted(self._model)
        found = list(self._recording(inputs))
        results, found = found[: self._count], found[self._count :]
        values = {}
        for kind in sorted(self._more):
            values[kind], found = found[: len(self._more[kind])], found[len(self._more[kind]) :]
        values["layers"] = list(zip(self._layer_names, values["layers"]))
        if kept.steps:
            del values["layers"]
        logs = zip(self._model.metrics_names, results)
        kept.step(own, values, of_batch(logs, before, counted(self._model)))
        return results

    def _fed(self, kept, inputs, own):
        recorded = kept.other_batch(own)
        if recorded is None:
            return inputs
        inputs, at = list(inputs), 0
        for kind, count in zip("xyw", self._counts()):
            if kind in recorded and len(recorded[kind]) == count:
                own = inputs[at : at + count]
                inputs[at : at + count] = [
                    a if b is None else a.reshape(np.shape(b)) for a, b in zip(recorded[kind], own)
                ]
            at += count
        return inputs

    def _counts(self):
        model = self._model
        return [
            len(listed(getattr(model, "_feed_inputs", getattr(model, "inputs", [])))),
            len(listed(getattr(model, "_feed_targets", getattr(model, "targets", [])))),
            len(listed(getattr(model, "_feed_sample_weights", getattr(model, "sample_weights", [])))),
        ]

    def _batch(self, inputs):
        found, at = {}, 0
        for kind, count in zip("xyw", self._counts()):
            found[kind] = [np.asarray(value) for value in inputs[at : at + count] if value is not None]
            at += count
        return found


# --- TensorFlow 2, and Keras 3 --------------------------------------------------------------------------------------


GRADIENTS = {}


def keep_gradient(gradient, variable):
    """Keep a gradient in a variable that can be read after the step."""
    import tensorflow as tf

    with tf.init_scope():
        key = (id(variable), getattr(variable, "path", None) or variable.name)
        kept = GRADIENTS.get(key)
        if kept is None:
            kept = GRADIENTS[key] = tf.Variable(tf.zeros(variable.shape), trainable=False)
    kept.assign(tf.cast(tf.convert_to_tensor(gradient), tf.float32))


def watch_optimizer(optimizer):
    """Let the class of an optimizer keep the gradients that it is given."""
    for kind in type(optimizer).__mro__:
        found = [name for name in ("apply", "apply_gradients") if isinstance(vars(kind).get(name), types.FunctionType)]
        if not found or vars(kind).get("_record_keras"):
            continue
        kind._record_keras = True
        if "apply" in found:
            kind.apply = watching_apply(kind.apply)
        else:
            kind.apply_gradients = watching_apply_gradients(kind.apply_gradients)
        return


def watching_apply(original):
    """Return `apply` of Keras 3 that also keeps the gradients."""

    def apply(self, grads, trainable_variables=None):
        import tensorflow as tf

        grads = list(grads)
        variables = list(self._trainable_variables if trainable_variables is None else trainable_variables)
        if tf.distribute.get_replica_context() is not None and tf.distribute.get_strategy().num_replicas_in_sync == 1:
            for gradient, variable in zip(grads, variables):
                if gradient is not None:
                    keep_gradient(gradient, variable)
        return original(self, grads, trainable_variables)

    return apply


def watching_apply_gradients(original):
    """Return `apply_gradients` of tf.keras that also keeps the gradients."""

    def apply_gradients(self, grads_and_vars, *given, **keywords):
        pairs = list(grads_and_vars)
        for gradient, variable in pairs:
            if gradient is not None:
                keep_gradient(gradient, variable)
        return original(self, pairs, *given, **keywords)

    return apply_gradients


def eager_method(recorder, original):
    """Return `make_train_function` whose function writes its first steps down."""

    def make_train_function(self, *given, **keywords):
        made = original(self, *given, **keywords)
        function = self.train_function if made is None else made
        if isinstance(function, EagerFunction):
            return made
        if getattr(self, "optimizer", None) is not None:
            watch_optimizer(self.optimizer)
        self.train_function = EagerFunction(recorder, self, function)
        return None if made is None else self.train_function

    return make_train_function


class EagerFunction(object):
    """A model's train function; the first calls are written down."""

    takes_batches = True  # by which `parallel-compat run` tells it from a program's own, which takes lists

    def __init__(self, recorder, model, function):
        self._recorder = recorder
        self._model = model
        self._function = function

    def __getattr__(self, name):
        return getattr(self._function, name)

    def __call__(self, iterator):
        """Make a step with the iterator's next batch."""
        kept = self._recorder.current = self._recorder.model(self._model)
        if kept is None or not (kept.watched or kept.wanted) or not self._can(kept):
            logs = self._function(iterator)
            if kept is not None:
                kept.ended({}, 0.0)
            return logs
        data = next(iterator)
        if kept.wanted:
            kept.resume() if kept.steps else kept.begin()
        own = self._parts(data)
        fed = self._fed(kept, data, own)
        values = self._forward(kept, self._parts(fed)) if kept.wanted else {}
        before = counted(self._model)
        logs = self._function(self._iterator(iterator, fed))
        if hasattr(logs, "read"):
            logs = logs.read()
        if kept.wanted:
            self._write(kept, own, values, before, logs)
        else:
            named = [pair for pair in self._named(logs) if pair[0] == "loss"]
            found = of_batch(named, before, counted(self._model))
            kept.ended(own, found[0][1] if found else 0.0)
        return logs

    def _write(self, kept, own, values, before, logs):
        named = self._named(logs)
        pairs = sorted(of_batch(named, before, counted(self._model)), key=lambda pair: pair[0] != "loss")
        values["gradients"] = self._gradients()
        if not any(gradient is not None for gradient in values["gradients"]):
            del values["gradients"]
        kept.step(own, values, pairs)

    def _named(self, logs):
        return list(logs.items())

    def _can(self, kept):
        strategy = getattr(self._model, "distribute_strategy", None)
        steps = getattr(self._model, "steps_per_execution", getattr(self._model, "_steps_per_execution", 1))
        if strategy is not None and strategy.num_replicas_in_sync > 1:
            kept.recorder.recording.note("model %d: not recorded, it trains under a strategy" % kept.number)
        elif steps is not None and int(steps) != 1:
            kept.recorder.recording.note("model %d: not recorded, steps_per_execution is not 1" % kept.number)
        else:
            return True
        return False

    def _iterator(self, like, data):
        import tensorflow as tf

        parts = data if isinstance(data, tuple) else (data,)
        if not any(part is None for part in parts) and hasattr(like, "element_spec"):
            return iter(tf.data.Dataset.from_tensors(data))
        return iter([data])

    @staticmethod
    def _parts(data):
        parts = data if isinstance(data, tuple) else (data,)
        found = {}
        for kind, part in zip("xyw", parts):
            if part is not None:
                found[kind] = [np.asarray(leaf) for leaf in flat(part)]
        return found

    def _fed(self, kept, data, own):
        recorded = kept.other_batch(own)
        if recorded is None:
            return data
        replaced = []
        for kind, part in zip("xyw", data if isinstance(data, tuple) else (data,)):
            leaves = recorded.get(kind)
            if part is None or leaves is None:
                replaced.append(part)
                continue
            mine = own[kind]
            replaced.append(unflat(part, [a.reshape(b.shape).astype(b.dtype) for a, b in zip(leaves, mine)]))
        if recorded.get("w") and len(replaced) < 3 and any(np.any(w != 1) for w in recorded["w"]):
            kept.facts.setdefault("not_fed", []).append([kept.made, "w", [list(w.shape) for w in recorded["w"]], []])
        return tuple(replaced) if isinstance(data, tuple) else replaced[0]

    def _forward(self, kept, batch):
        """Compute what the model puts out in training, and put everything back that this changes."""
        model = self._model
        on_replicas = getattr(getattr(model, "strategy", None), "num_replicas_in_sync", 1) > 1
        if kept.facts["random_layers"] or (on_replicas and kept.facts["masked_layers"]):
            return {}  # outside of a step replicas draw for the whole batch
        import tensorflow as tf

        variables = list(getattr(model, "variables", model.weights))
        for layer in all_layers(model):  # and what a layer keeps in objects of its own
            for kept_by in list(vars(layer).values()):
                if not isinstance(kept_by, (dict, list, tuple)) and not hasattr(kept_by, "call"):
                    found = getattr(kept_by, "variables", None)
                    variables += found if isinstance(found, (list, tuple)) else []
        saved = [np.copy(v.numpy() if hasattr(v, "numpy") else np.asarray(v)) for v in variables]
        values = {}
        try:
            x = [tf.convert_to_tensor(leaf) for leaf in batch["x"]]
            x = x[0] if len(x) == 1 else x
            values["outputs"] = [np.asarray(leaf) for leaf in flat(model(x, training=True))]
            if not kept.steps and not on_replicas:
                pairs = tensors_of_layers(model)
                if pairs:
                    whole = type_of_models(model)(model.inputs, [tensor for _, tensor in pairs], name="record_keras")
                    found = flat(whole(x, training=True))
                    values["layers"] = list(zip([name for name, _ in pairs], [np.asarray(leaf) for leaf in found]))
        except Exception as error:  # a model that is called otherwise
            kept.recorder.recording.note("model %d: outputs are not recorded (%s)" % (kept.number, str(error)[:200]))
        finally:
            for variable, value in zip(variables, saved):
                variable.assign(value)
        return values

    def _gradients(self):
        found = []
        for variable in trained_weights(self._model):
            key = variable.path if hasattr(variable, "path") else variable.name
            kept = GRADIENTS.get((id(variable), key))
            if kept is None and hasattr(variable, "value") and not callable(variable.value):
                kept = GRADIENTS.get((id(variable.value), getattr(variable.value, "name", None)))
            found.append(None if kept is None else kept.numpy())
        return found


# --- TensorFlow 2.0 and 2.1 -----------------------------------------------------------------------------------------


class LoopFunction(EagerFunction):
    """A train function of TensorFlow 2.0 and 2.1, whose results have no names."""

    def _named(self, logs):
        found = [value for kind in ("total_loss", "output_losses", "metrics") for value in listed(logs[kind])]
        return list(zip(self._model.metrics_names, found))

    def on_batch(self, original, parts, given, keywords):
        """Make a step of `train_on_batch`.

        Args:
            original: the function that makes it.
            parts: the data, the targets and the weights as the model takes them.
            given: the function's arguments by position.
            keywords: those by name.
        """
        kept = self._recorder.current = self._recorder.model(self._model)
        kept.resume() if kept.steps else kept.begin()
        own = {kind: [np.asarray(leaf) for leaf in flat(part)] for kind, part in zip("xyw", parts) if flat(part)}
        values = self._forward(kept, own)
        before = counted(self._model)
        logs = original(*given, **keywords)
        self._write(kept, own, values, before, logs)
        return logs


def loop_function(recorder, original):
    """Return what makes the function that `fit` calls for each batch."""

    def _make_execution_function(model, mode):
        function = original(model, mode)
        if str(mode) != "train":
            return function
        watch_optimizer(model.optimizer)
        return LoopFunction(recorder, model, function)

    return _make_execution_function


def on_batch_function(recorder, original):
    """Return what `Model.train_on_batch` calls; as a part of `fit` it is left alone."""

    def train_on_batch(model, x, y=None, sample_weight=None, class_weight=None, *given, **keywords):
        rest = (x, y, sample_weight, class_weight) + given
        alone = keywords.get("standalone", len(given) > 1 and given[1])
        kept = recorder.model(model) if alone else None
        if kept is None or not kept.wanted:
            if kept is not None:
                kept.ended({}, 0.0)
            return original(model, *rest, **keywords)
        watch_optimizer(model.optimizer)
        parts = model._standardize_user_data(
            x, y, sample_weight=sample_weight, class_weight=class_weight, extract_tensors_from_dataset=True
        )
        return LoopFunction(recorder, model, None).on_batch(original, parts, (model,) + rest, keywords)

    return train_on_batch


def type_of_models(model):
    """Return the class of functional models of a model's Keras."""
    for kind in type(model).__mro__:
        package = kind.__module__.split(".")[0]
        if package in ("keras", "tf_keras"):
            return sys.modules[package].Model
    import tensorflow as tf

    return tf.keras.Model


def counted(model):
    """Return the sums of the metrics that are means, as they stand: (total, count) by name."""
    metrics = list(getattr(model, "metrics", None) or []) + list(getattr(model, "_output_loss_metrics", None) or [])
    # of Keras 3, whose `metrics` are spelled as older ones were under `parallel-compat run`
    metrics += [getattr(model, "_loss_tracker", None)]
    metrics += list(getattr(getattr(model, "_compile_loss", None), "metrics", None) or [])
    pairs = [(metric.name, metric) for metric in metrics if hasattr(metric, "name")]  # Keras 2 has their names there
    compiled = getattr(model, "_compile_metrics", None)
    for name in ("_flat_metrics", "_flat_weighted_metrics"):
        for of_output in getattr(compiled, name, None) or []:
            start = getattr(of_output, "output_name", None)
            for metric in getattr(of_output, "metrics", None) or []:
                pairs.append(("%s_%s" % (start, metric.name) if start else metric.name, metric))
    found = {}
    for name, metric in pairs:
        if hasattr(metric, "total") and hasattr(metric, "count"):
            found[name] = (number_of(metric.total), number_of(metric.count))
    return found


def number_of(variable):
    """Return the value of a variable that is one number."""
    if hasattr(variable, "numpy") and not hasattr(variable, "eval"):
        return float(variable.numpy())
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
        found.append((name, float(np.asarray(value))))
    return found


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
    try:
        gpus = sys.modules["tensorflow"].config.list_logical_devices("GPU")
    except Exception:  # before TensorFlow 2
        gpus = []
    return found + (["%d GPUs" % len(gpus)] if gpus else ["CPU"])


def main(arguments=None):
    """Run the script, and write the recording when it ends."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--steps", type=int, default=5, help="how many steps of each model (default: 5)")
    parser.add_argument("--out", default="recording.h5", help="where to write (default: recording.h5)")
    parser.add_argument("--max-mb", type=int, default=256, help="how many MB of arrays at most (default: 256)")
    parser.add_argument("--no-dropout", action="store_true", help="let Dropout and noise layers return their input")
    parser.add_argument("--masks", action="store_true", help="let Dropout and noise layers draw what others can repeat")
    parser.add_argument("--replay", help=argparse.SUPPRESS)
    parser.add_argument("--free", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--nudge", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--most", type=int, help=argparse.SUPPRESS)
    parser.add_argument("script", help="the script")
    parser.add_argument("arguments", nargs=argparse.REMAINDER, help="its arguments")
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
    replay = Replay(given.replay) if given.replay else None
    recorder = Recorder(
        recording, given.steps, replay, given.no_dropout, given.masks, given.free, given.nudge, given.most
    )
    unwatch = recorder.watch_imports()
    sys.argv = [given.script] + given.arguments
    sys.path[0] = os.path.dirname(os.path.abspath(given.script))
    recorder.look()
    recorder.put_states("start")
    try:
        runpy.run_path(given.script, run_name="__main__")
    finally:
        unwatch()
        if recording.facts["models"]:
            recording.facts["machine"] = machine()
            recording.write()
            print("record_keras: %s written" % given.out, file=sys.stderr)
            for note in recording.facts["notes"]:
                print("record_keras: %s" % note, file=sys.stderr)
        else:
            print("record_keras: no model was trained; nothing is written", file=sys.stderr)


if __name__ == "__main__":
    main()
