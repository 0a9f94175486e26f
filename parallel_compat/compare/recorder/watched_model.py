"""A model that is trained: what is written down of each of its steps."""

from __future__ import print_function

import sys

import numpy as np

from parallel_compat.compare.recorder.models import (
    by_layer,
    layers_with_weights,
    random_layers,
    state_of,
    trained_weights,
    version_of,
    weights_of,
)
from parallel_compat.compare.recorder.values import checksums, digest, listed, plain, tried

PREDICTED = 64  # samples of a prediction that are kept
RESULTS = 200  # epochs, evaluations and predictions of a model that are kept
CURVE = 100  # steps of each model whose loss, and what tells their batches from others, are kept


class Model(object):
    """One model that is trained; models are numbered in the order in which they were first trained."""

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
        }
        for name in ("steps", "history", "evaluate", "predict", "losses", "batches"):
            self.facts[name] = []
        self.describe()
        self.recording.facts["models"].append(self.facts)
        self.recording.facts.setdefault("keras", self.facts["keras"])

    def describe(self):
        """Write down what the model is made of."""
        model = self.model
        masked = random_layers(model, masked=True)
        self.places = {id(layer): place for place, layer in enumerate(masked)}
        self.facts.update(
            layers=[
                {"name": layer.name, "class": type(layer).__name__, "weights": [w.name for w in layer.weights]}
                for layer in layers_with_weights(model)
            ],
            random_layers=[layer.name for layer in random_layers(model)],
            masked_layers=[layer.name for layer in masked],
            config=tried(model.to_json),
        )
        self.facts.update(self._compiled())

    def _compiled(self):
        """Return what `compile` was given."""
        self._optimizer = optimizer = getattr(self.model, "optimizer", None)
        return {
            "loss": plain(getattr(self.model, "loss", None)),
            "optimizer": type(optimizer).__name__,
            "optimizer_config": tried(lambda: plain(optimizer.get_config())),
        }

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
        facts["trainable"] = [places.get(id(weight), -1) for weight in trained_weights(self.model)]
        self.facts["trainable"] = facts["trainable"]
        self.facts["steps"].append(facts)
        self.size -= self.recording.left
        self.steps += 1
        if not self.wanted:
            print("record_keras: model %d: %d steps recorded" % (self.number, self.steps), file=sys.stderr)

    def ended(self, batch, logs):
        """Write down the loss of any step, and what tells its batch from others."""
        if getattr(self.model, "optimizer", None) is not self._optimizer:
            self.facts.setdefault("compiled", []).append(dict(self._compiled(), at=self.made))
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
        """Write down what `evaluate` or `predict` returns."""
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
