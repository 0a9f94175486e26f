from __future__ import annotations

import pytest

from parallel_compat.migrate import project_facts
from parallel_compat.migrate.engine import Options, analyse
from tests.migrate.check import check_noop, migrated, rewritten

PROGRAM = """
import keras, numpy as np
from keras.engine import Model
from keras.layers import Dense, Input, Lambda
def net(by):
    x = Input((3,))
    def scaled(tensor):
        return tensor * by
    return Model(x, Dense(2)(Lambda(scaled)(x)))
model = net(3.0)
x = np.ones((2, 3), "float32")
expected = model.predict(x, verbose=0)
"""


def test_a_file_of_the_model_is_read_again(tmp_path):
    from parallel_compat.legacy.models import load_model

    names: dict = {}
    exec(compile(migrated(PROGRAM, unsafe=True), "program", "exec"), names)
    for name in ("model.h5", "model.keras"):
        names["model"].save(tmp_path / name)
        read = load_model(str(tmp_path / name), compile=False)
        assert abs(read.predict(names["x"], verbose=0) - names["expected"]).max() < 1e-6


@pytest.mark.parametrize(
    "source",
    [
        "import keras\ndef halve(x):\n    return x / 2\nkeras.layers.Lambda(halve)\n",
        "import keras\ndef f():\n    keras.layers.Lambda(lambda x: x)\n",
        "import keras\ndef f():\n    @known\n    def g(x):\n        return x\n    keras.layers.Lambda(g)\n",
        "import keras\ndef f():\n    def g(x):\n        return x\n    Other(g)\n",
    ],
)
def test_leaves_alone(source):
    check_noop(source, rule="lambda-functions")


HALVE = "def halve(x):\n    return x / 2\n"
REGISTERED = f"@keras.utils.register_keras_serializable()\n{HALVE}"


def test_a_function_of_the_module_is_registered_where_models_are_read():
    """Keras 3: "Could not locate function 'halve'", also for a clone."""
    source = (
        f"import keras\nfrom keras.engine import Layer\n{HALVE}keras.models.clone_model(keras.layers.Lambda({{}}))\n"
    )
    assert migrated(source.format("halve")).count(REGISTERED) == 1
    assert migrated(source.format("len, output_shape=halve")).count(REGISTERED) == 1


def test_a_function_of_another_file_is_registered(tmp_path):
    (tmp_path / "net.py").write_text("import keras\nfrom losses import halve\nkeras.layers.Lambda(halve)\n")
    (tmp_path / "use.py").write_text("import keras\nkeras.models.load_model(path)\n")
    own = tmp_path / "losses.py"
    own.write_text(f"import keras\nfrom keras.engine import Layer\n{HALVE}")
    project = project_facts.read(map(str, tmp_path.glob("*.py")))
    text = rewritten(analyse(own.read_text(), Options(project=project), str(own)))
    assert text.endswith(REGISTERED)


def test_tf_keras_has_the_name():
    import tensorflow as tf

    source = f"from tensorflow import keras\n{HALVE}keras.layers.Lambda(halve)\nkeras.models.load_model('a.h5')\n"
    assert "@keras.utils.register_keras_serializable()" in migrated(source)
    assert tf.keras.utils.register_keras_serializable
