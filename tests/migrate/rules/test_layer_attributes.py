from __future__ import annotations

import pytest

from parallel_compat.migrate.engine import Options, analyse
from tests.migrate.check import check_noop, check_transformed, found, rewritten

HEAD = "from keras.models import Model\nmodel = Model(x, y)\n"
AFTER = "from keras.models import Model\nfrom parallel_compat.legacy.layers import {}\nmodel = Model(x, y)\n"


@pytest.mark.parametrize(
    ("before", "name", "after"),
    [
        ("s = model.layers[3].output_shape[1:]", "output_shape", "s = output_shape(model.layers[3])[1:]"),
        ("s = model.get_layer('a').input_shape", "input_shape", "s = input_shape(model.get_layer('a'))"),
        ("f = Model(model.layers[0].input, z)", "input_tensor", "f = Model(input_tensor(model.layers[0]), z)"),
        (
            "for one in model.layers:\n    print(one.output_shape)",
            "output_shape",
            "for one in model.layers:\n    print(output_shape(one))",
        ),
    ],
)
def test_becomes_a_function(before, name, after):
    check_transformed(HEAD + before + "\n", AFTER.format(name) + after + "\n")


def test_tensors_of_a_sequential_are_its_own():
    """Keras 3 stops at `model.output` before a call, and after one gives what the model made of another tensor."""
    head = "from keras import backend as K\nfrom keras.models import Model, Sequential\nmodel = Sequential()\n"
    use = "f = Model(model.{}, model.layers[1].output)\ng = Model(Model(x, y).input, model.{})\n"
    after = head.replace("from keras import", "from parallel_compat.legacy import")
    check_transformed(head + use.format("input", "output"), after + use.format("inputs[0]", "outputs[0]"))


def test_a_sequential_of_another_file_is_one_as_well(tmp_path):
    (tmp_path / "net.py").write_text(
        "from keras.models import Sequential\ndef make():\n    model = Sequential()\n    return model\n"
    )
    source = (
        "from keras.models import Model\nfrom net import make\nclass Net:\n    def __init__(self):\n"
        "        self.part = make()\n        self.whole = Model(self.part.input, self.part.get_layer('a').output)\n"
        "        self.other = self.whole.input\n"
    )
    text = rewritten(analyse(source, Options(), str(tmp_path / "main.py")))
    assert text == source.replace("self.part.input", "self.part.inputs[0]")


def test_an_unknown_layer_is_reported():
    assert found("import keras\nprint(net.layers[0].output_shape)\n", "layer-attributes") == [(2, "unsafe")]


@pytest.mark.parametrize(
    "source",
    [
        HEAD + "model.output_shape\n",
        HEAD + "f = Model(model.layers[1].input, z)\n",
        "from keras.layers import Layer\nclass L(Layer):\n    def f(self):\n        return self.output_shape\n",
        "import keras\narray.output_shape\n",
    ],
)
def test_leaves_alone(source):
    check_noop(source, rule="layer-attributes")


def test_what_cannot_be_assigned_to_is_reported():
    source = """\
from keras.layers import Layer
from keras.models import Model
model = Model(x, y)
model.outputs = [y]
class Mine(Layer):
    def build(self, shape):
        self.trainable_weights = [self.kernel]
        self.outputs = 3
"""
    assert found(source, "layer-attributes") == [(4, "attention"), (7, "attention")]


@pytest.mark.parametrize(
    ("base", "attribute"),
    [("Conv2D", "kernel"), ("Dense", "kernel"), ("Embedding", "embeddings"), ("Layer", "dtype"), ("Layer", "path")],
)
def test_what_a_class_of_a_layer_cannot_assign_is_reported(base, attribute):
    """Keras 3 stops: "property 'kernel' of 'Mine' object has no setter"."""
    head = f"from keras.layers import {base}\nclass Own({base}): pass\nclass Mine(Own):\n    def build(self, shape):\n"
    assert found(f"{head}        self.{attribute} = 3\n", "layer-attributes") == [(5, "attention")]
    check_noop(f"{head}        self.other = self.{attribute}\n", rule="layer-attributes")


def test_a_class_of_a_layer_may_assign_what_keras_does_not_compute():
    text = "from keras.layers import Layer\nclass Mine(Layer):\n    def build(self, shape):\n        self.kernel = 3\n"
    check_noop(text, rule="layer-attributes")


@pytest.mark.parametrize(
    "base", ["keras.legacy.layers import Recurrent", "keras.layers.local import LocallyConnected1D"]
)
def test_a_class_of_a_layer_that_this_package_provides_is_a_layer(base):
    name = base.rpartition(" ")[2]
    source = f"from {base}\nclass Mine({name}):\n    def build(self, shape):\n        self.trainable_weights = []\n"
    assert found(source, "layer-attributes") == [(4, "attention")]


def test_weights_of_a_layer_that_a_layer_holds_need_no_assignment():
    before = """
        from keras.layers import Layer
        class Around(Layer):
            def build(self, shape):
                self.net.build(shape)
                self.trainable_weights = self.net.trainable_weights
        """
    after = """
        from keras.layers import Layer
        class Around(Layer):
            def build(self, shape):
                self.net.build(shape)
        """
    check_transformed(before, after, unsafe=True)


@pytest.mark.parametrize(("unsafe", "target"), [(False, "model"), (False, "model.layers[1]"), (True, "self.model")])
def test_the_private_name_becomes_the_name(unsafe, target):
    head = "from tensorflow.keras.models import Model\nmodel = Model(x, y)\n"
    check_transformed(
        f"{head}{target}._name = 'g'\nprint({target}._name)\n",
        f"{head}{target}.name = 'g'\nprint({target}.name)\n",
        unsafe=unsafe,
    )


def test_a_private_name_of_keras_2_stays():
    check_noop("from keras.models import Model\nmodel = Model(x, y)\nmodel._name = 'g'\n", rule="layer-attributes")


def test_a_private_name_of_something_else_stays():
    check_noop("from tensorflow.keras.models import Model\nclass A:\n    def f(self):\n        self._name = 1\n")


def test_the_input_of_a_model_that_may_be_a_sequential():
    head = "from keras.models import load_model\n"
    given = (
        "from parallel_compat.legacy.models import load_model\nfrom parallel_compat.legacy.layers import input_tensor\n"
    )
    use = "model = load_model('a.h5')\nx = {}\n"
    check_transformed(head + use.format("model.input"), given + use.format("input_tensor(model)"))
    passed = "from keras.models import Sequential\ndef f(model):\n    return model.output\n"
    assert found(passed, "layer-attributes") == [(3, "unsafe")]
    check_noop("from keras.models import Model\ndef f(model):\n    return model.output\n", rule="layer-attributes")
    check_transformed(
        "from keras.models import Sequential\nmodel = Sequential()\nx = model.output_names\n",
        "from keras.models import Sequential\nfrom parallel_compat.legacy.models import output_names\n"
        "model = Sequential()\nx = output_names(model)\n",
    )


def test_a_wrapper_cannot_replace_the_kernel_of_its_layer():
    head = "from keras.layers import Wrapper\nclass Spectral(Wrapper):\n    def call(self, x):\n"
    assert found(f"{head}        self.layer.kernel = self.w / s\n", "layer-attributes") == [(4, "attention")]
    check_noop(f"{head}        w = self.layer.kernel\n", rule="layer-attributes")


def test_a_layer_that_a_layer_holds_has_its_shape_by_a_function():
    source = "from keras.layers import Layer\nclass Tied(Layer):\n    def build(self, shape):\n        {}\n"
    assert found(source.format("self.add_weight(shape=self.dense.input_shape[-1:])"), "layer-attributes") == [
        (4, "unsafe")
    ]
    assert found(source.format("self._trainable_weights = [self.w]"), "layer-attributes") == [(4, "attention")]
    assert found(source.replace("(Layer)", "").format("self.dense.input_shape"), "layer-attributes") == []


CELL = """\
from keras.layers import Layer
class Cell(Layer):
{}    def call(self, inputs, {}):
        return inputs, states
"""
BUILD = "    def build(self, shape):\n        self.built = True\n"


def test_the_input_spec_of_a_cell_goes():
    """Keras 2 called `cell.call`; the attention cell of LSTM-FCN wants three axes there and gets two."""
    spec = "        self.input_spec = [InputSpec(ndim=3)]\n"
    check_transformed(CELL.format(BUILD + spec, "states"), CELL.format(BUILD, "states"))
    check_noop(CELL.format(BUILD + spec, "mask"))
    check_noop(CELL.format(BUILD + spec + "        print(self.input_spec)\n", "states"))


def test_a_property_that_every_layer_sets_gets_a_setter():
    part = "    @property\n    def activity_regularizer(self):\n        return self.cell.regularizer\n"
    setter = "\n    @activity_regularizer.setter\n    def activity_regularizer(self, value):\n        pass\n"
    check_transformed(CELL.format(part, "mask"), CELL.format(part + setter, "mask"))
