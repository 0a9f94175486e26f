"""Layers of one's own that derive from `Recurrent`, and what they compute: `recurrent_numbers()`.

`tests/data/legacy/recurrent_keras_2_2_4.json` has the numbers of Keras 2.2.4 on TensorFlow 1.15.5, which this file runs
on as well: `python recurrent_program.py OUT.json`.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile

import numpy as np
from keras import activations
from keras import backend as K
from keras.callbacks import BaseLogger
from keras.engine import InputSpec
from keras.layers import Dense, Input, Masking
from keras.legacy.layers import Recurrent
from keras.models import Model, Sequential, load_model

K.manual_variable_initialization(False)


class Attends(Recurrent):
    """A decoder that looks at the whole sequence in each step."""

    def __init__(self, units, **kwargs):
        self.units = units
        super().__init__(**kwargs)
        self.return_sequences = True

    def build(self, input_shape):
        self.batch_size, self.steps, self.dim = input_shape
        self.states = [None, None]
        self.U, self.Wo, self.Ws = (
            self.add_weight(shape=(self.dim, self.units), name=name, initializer="ones") for name in ("U", "Wo", "Ws")
        )
        self.W = self.add_weight(shape=(self.units, self.units), name="W", initializer="ones")
        self.V = self.add_weight(shape=(self.units,), name="V", initializer="ones")
        self.input_spec = [InputSpec(shape=(self.batch_size, self.steps, self.dim))]
        self.built = True

    def call(self, x):
        self.seq = x
        self.projected = K.dot(x, self.U)
        return super().call(x)

    def get_initial_state(self, inputs):
        first = activations.tanh(K.dot(inputs[:, 0], self.Ws))
        zero = K.tile(K.expand_dims(K.sum(K.zeros_like(inputs), axis=(1, 2))), [1, self.units])
        return [zero, first]

    def step(self, x, states):
        before, state = states
        energy = K.dot(K.repeat(state, self.steps), self.W) + self.projected
        energy = K.dot(activations.tanh(energy), K.expand_dims(self.V))
        weights = K.exp(energy)
        weights /= K.repeat(K.sum(weights, axis=1), self.steps)
        context = K.squeeze(K.batch_dot(weights, self.seq, axes=1), axis=1)
        new = activations.tanh(K.dot(context, self.Wo) + state * 0.5 + before)
        return new, [new, new]

    def compute_output_shape(self, input_shape):
        return (None, self.steps, self.units)

    def get_config(self):
        return dict(super().get_config(), units=self.units)


class Sums(Recurrent):
    """A step with a constant, and the state before it."""

    def __init__(self, units, **kwargs):
        super().__init__(**kwargs)
        self.units = units

    def build(self, input_shape):
        if isinstance(input_shape, list):
            input_shape = input_shape[0]
        self.input_spec[0] = InputSpec(shape=(input_shape[0] if self.stateful else None, None, input_shape[2]))
        self.state_spec = InputSpec(shape=(None, self.units))
        self.states = [None]
        if self.stateful:
            self.reset_states()
        self.kernel = self.add_weight("kernel", (input_shape[2], self.units), initializer="ones")
        self.built = True

    def preprocess_input(self, inputs, training=None):
        return inputs * 2.0

    def get_constants(self, inputs, training=None):
        return [K.ones((1, self.units)) * 0.25]

    def step(self, inputs, states):
        new = K.tanh(K.dot(inputs, self.kernel) * states[1] + 0.5 * states[0])
        return new, [new]


class Monitor(BaseLogger):
    """Most callbacks that plot a training in tutorials of those years derive from this one."""

    def on_train_begin(self, logs=None):
        self.seen_logs = []

    def on_epoch_end(self, epoch, logs=None):
        before = dict(logs)
        super().on_epoch_end(epoch, logs)
        self.seen_logs.append([float(before["loss"]), float(logs["loss"])])


def recurrent_numbers():
    """Return numbers by name."""
    random = np.random.RandomState(0)

    def with_weights(model):
        model.set_weights([0.3 * random.uniform(-1, 1, weight.shape) for weight in model.get_weights()])
        return model

    x = random.uniform(-0.5, 0.5, (4, 3, 2)).astype("float32")
    x[1, 1:] = 0
    x[2, 0] = 0
    found = {}
    model = with_weights(Sequential([Attends(2, input_shape=(3, 2))]))
    model.compile("sgd", "mse")
    found["attends"] = model.predict(x)
    monitor = Monitor()
    history = model.fit(x, x, epochs=3, batch_size=3, shuffle=False, verbose=0, callbacks=[monitor]).history
    found["losses"], found["logs"] = history["loss"], monitor.seen_logs
    with tempfile.TemporaryDirectory() as folder:
        model.save(os.path.join(folder, "m.h5"))
        again = load_model(os.path.join(folder, "m.h5"), custom_objects={"Attends": Attends})
    found["loaded"] = again.predict(x)

    sequence, state = Input((3, 2)), Input((2,))
    masked = Masking()(sequence)
    outputs = [Sums(2, return_sequences=True)(masked), Sums(2, unroll=True)(sequence, initial_state=state)]
    outputs += Sums(2, go_backwards=True, return_state=True)(masked)
    model = with_weights(Model([sequence, state], outputs))
    found["sums"] = [value.ravel().tolist() for value in model.predict([x, x[:, 0]])]

    model = with_weights(Sequential([Sums(2, stateful=True, batch_input_shape=(4, 3, 2)), Dense(1)]))
    model.compile("sgd", "mse")
    found["stateful"] = [model.predict(x, batch_size=4).ravel().tolist() for _ in range(2)]
    model.reset_states()
    found["reset"] = model.predict(x, batch_size=4)
    history = model.fit(x, x[:, 0, :1], epochs=3, batch_size=4, verbose=0, shuffle=False)
    found["stateful losses"] = history.history["loss"]
    return {name: value.tolist() if hasattr(value, "tolist") else value for name, value in found.items()}


if __name__ == "__main__":
    with open(sys.argv[1], "w") as file:
        json.dump(recurrent_numbers(), file, default=float, separators=(",", ":"))
