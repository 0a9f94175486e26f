from __future__ import annotations

import numpy as np
import pytest

from parallel_compat.command import main
from tests.migrate.check import found, migrated

CLASS = "class Scale(Layer):\n    def call(self, x):\n        return 2 * x[..., :1]\n"
OF_KERAS = "from keras.layers.core import Layer\nfrom keras.layers import TimeDistributed\n"
OF_TF_KERAS = "import tensorflow as tf\nfrom tensorflow.keras.layers import Layer, TimeDistributed\nK = tf.Session\n"


@pytest.mark.parametrize(("imports", "width"), [(OF_KERAS, 3), (OF_TF_KERAS, 1)])
def test_the_shape_is_that_of_then(imports, width):
    source = migrated(f"{imports}{CLASS}wrapped = TimeDistributed(Scale())\n")
    names: dict = {}
    exec(source, names)
    assert names["wrapped"].compute_output_shape((4, 5, 3)) == (4, 5, width)


def test_a_wrapped_layer_trains():
    import keras

    source = migrated(f"{OF_KERAS}{CLASS.replace('[..., :1]', '')}x = TimeDistributed(Scale())(x)\n")
    given = keras.Input((5, 3))
    names: dict = {"x": given}
    exec(source, names)
    model = keras.Model(given, names["x"])
    assert np.allclose(model.predict(np.ones((2, 5, 3)), verbose=0), 2)


def test_it_is_wrapped_in_another_file(tmp_path):
    (tmp_path / "layers.py").write_text(f"from keras.layers.core import Layer\n\n\n{CLASS.replace('    ', chr(9))}")
    (tmp_path / "net.py").write_text("import layers\nx = TimeDistributed(layers.Scale(), name='scale')(x)\n")
    main(["migrate", "--write", str(tmp_path)])
    added = "\n\n\tdef compute_output_shape(self, input_shape):\n\t\treturn input_shape\n"
    assert (tmp_path / "layers.py").read_text().endswith(f"return 2 * x[..., :1]{added}")


@pytest.mark.parametrize(
    "source",
    [
        f"{CLASS}    def compute_output_shape(self, shape):\n        return shape\nTimeDistributed(Scale())\n",
        f"{CLASS}Scale()\n",
        f"{CLASS.replace('call', 'run')}TimeDistributed(Scale())\n",
    ],
)
def test_others_stay(source):
    source = f"from keras.layers import Layer, TimeDistributed\n{source}"
    assert found(source, "wrapped-layers") == []
