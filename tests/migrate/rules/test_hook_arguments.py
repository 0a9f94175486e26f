from __future__ import annotations

from typing import Any

import keras
import pytest

from tests.migrate.check import check_noop, check_transformed, found

HEAD = "from keras.callbacks import Callback, LambdaCallback\n"
CLASS = HEAD + "class Own(Callback):\n"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("lambda i, l: print(l, [l for l in x])", "lambda i, logs: print(logs, [l for l in x])"),
        ("lambda i, _: print(i)", "lambda i, logs: print(i)"),
        ("lambda i, logs: print(logs)", "lambda i, logs: print(logs)"),
        ("lambda *args: print(args)", "lambda *args: print(args)"),
        ("lambda i, **l: print(l)", "lambda i, **l: print(l)"),
    ],
)
def test_functions_for_hooks(before, after):
    made = HEAD + "LambdaCallback(on_train_batch_end={})\n"
    check_transformed(made.format(before), made.format(after))
    of_epochs = HEAD + f"LambdaCallback(on_epoch_end={before})\n"  # by position
    check_noop(of_epochs, rule="hook-arguments")


def test_a_function_with_a_name():
    check_transformed(
        HEAD + "def show(batch, info=None):\n    info = info or {}\n    return lambda: info\n"
        "LambdaCallback(on_train_batch_begin=show, on_train_batch_end=show)\n",
        HEAD + "def show(batch, logs=None):\n    logs = logs or {}\n    return lambda: logs\n"
        "LambdaCallback(on_train_batch_begin=show, on_train_batch_end=show)\n",
    )


@pytest.mark.parametrize("hook", ["on_batch_begin", "on_train_batch_end", "on_test_batch_end"])
def test_methods(hook):
    before = CLASS + f"    def {hook}(self, batch, log={{}}):\n        print(log)\n"
    check_transformed(before, before.replace("log", "logs"))


@pytest.mark.parametrize(
    "source",
    [
        CLASS + "    def on_epoch_end(self, epoch, log):\n        print(log)\n",
        CLASS + "    def on_batch_end(self, batch, log, **more):\n        print(log)\n",
        CLASS + "    def on_batch_end(self, batch):\n        pass\n",
        HEAD + "class Own:\n    def on_batch_end(self, batch, log):\n        pass\n",
    ],
)
def test_leaves_alone(source):
    check_noop(source, rule="hook-arguments")


def test_another_thing_of_that_name():
    source = CLASS + "    def on_batch_end(self, batch, log):\n        logs = [log]\n"
    check_noop(source)
    assert found(source, "hook-arguments") == [(3, "attention")]


def test_what_the_logs_of_a_batch_no_longer_have():
    source = (
        "from keras.callbacks import Callback, LambdaCallback\nclass Tell(Callback):\n"
        "    def on_batch_end(self, batch, logs=None):\n        print(logs['size'], logs.get('batch'), logs['loss'])\n"
        "    def on_epoch_end(self, epoch, logs=None):\n        print(logs['size'])\n"
        "LambdaCallback(on_batch_begin=lambda batch, l: print(l['size']))\n"
    )
    assert found(source, "hook-arguments") == [(4, "attention"), (4, "attention"), (7, "rewritten"), (7, "attention")]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("inputs=None, batch_size=None, dtype=None", 'inputs=None, batch_size=None, dtype="float32"'),
        ("inputs, batch_size, dtype", 'inputs=None, batch_size=None, dtype="float32"'),
        ("batch_size=None", "batch_size=None"),
        ("inputs", "inputs"),
    ],
)
def test_the_initial_state_of_a_cell(before, after):
    source = "import tensorflow as tf\nfrom parallel_compat import parallelize\nclass Cell(tf.keras.layers.Layer):\n"
    source += "    def get_initial_state(self, {}):\n        return tf.ones([batch_size, 2], dtype)\n"
    check_transformed(source.format(before), source.format(after))


RECURRENT = """\
from keras.layers import RNN
class Mine(RNN):
    def call(self, {0}, mask=None, training=None, initial_state=None):
        return super().call({0}, mask=mask, training=training, initial_state=initial_state)
"""


def test_the_inputs_of_a_recurrent_layer_s_subclass_are_sequences():
    check_transformed(RECURRENT.format("inputs"), RECURRENT.format("sequences"))
    space: dict[str, Any] = {"__name__": "script"}
    exec(RECURRENT.format("sequences"), space)
    layer = space["Mine"](keras.layers.LSTMCell(4), return_sequences=True)
    assert layer(keras.Input((3, 2))).shape == (None, 3, 4)


@pytest.mark.parametrize("base", ["Layer", "keras.layers.Wrapper"])
def test_the_inputs_of_other_layers_keep_their_name(base):
    check_noop(f"import keras\nfrom keras.layers import Layer\nclass One({base}):\n    def call(self, inputs): pass\n")


DENSE = "from keras.layers import Dense\nfrom keras.initializers import Initializer\n"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("Dense(2, kernel_initializer=lambda s: f(s))", "Dense(2, kernel_initializer=lambda s, dtype=None: f(s))"),
        (
            "Dense(2, bias_initializer=lambda s, name: 1)",
            "Dense(2, bias_initializer=lambda s, name=None, dtype=None: 1)",
        ),
        (
            "def small(shape, name, scale=(0.1)):\n    pass\nDense(2, kernel_initializer=small)",
            "def small(shape, name=None, scale=(0.1), dtype=None):\n    pass\nDense(2, kernel_initializer=small)",
        ),
        (
            "class Own(Initializer):\n    def __call__(self, shape):\n        pass",
            "class Own(Initializer):\n    def __call__(self, shape, dtype=None):\n        pass",
        ),
    ],
)
def test_an_initializer_takes_the_type(before, after):
    check_transformed(f"{DENSE}{before}\n", f"{DENSE}{after}\n")


@pytest.mark.parametrize("function", ["lambda shape, dtype: 1", "lambda shape, **more: 1", "'zeros'", "Own()"])
def test_an_initializer_that_takes_it_is_left(function):
    check_noop(f"{DENSE}Dense(2, kernel_initializer={function})\n", rule="hook-arguments")


def test_an_initializer_with_other_arguments_is_reported():
    source = f"{DENSE}Dense(2, kernel_initializer=lambda *shape, scale: 1)\n"
    assert found(source.replace("*shape", "shape, *more"), "hook-arguments") == [(3, "attention")]
