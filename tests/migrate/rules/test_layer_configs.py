from __future__ import annotations

import keras
import pytest

from tests.migrate.check import check_noop, check_transformed, migrated, without_line

HEAD = "from keras.layers import Layer, Dense\n"
CONFIG = "\n\n    def get_config(self):\n        return super().get_config()\n"


@pytest.mark.parametrize(
    "body",
    [
        "    def __init__(self, n, **kwargs):\n        super(A, self).__init__(**kwargs)\n        self.n = n",
        "    def __init__(self, n):\n        self.n = n\n        super(A, self).__init__()\n\n    def call(self, x):\n"
        "        return x  # of another",
    ],
)
def test_it_gets_the_config_that_it_had(body):
    before = f"{HEAD}class A(Layer):\n{body}"
    check_transformed(f"{before}\n", f"{before}{CONFIG}")
    check_transformed(f"{before}\n\nA(2)\n", f"{before}{CONFIG}\nA(2)\n")


def test_line_ends_stay():
    before = f"{HEAD}class A(Layer):\n    def __init__(self, n):\n        pass\n".replace("\n", "\r\n")
    assert "\n" not in without_line(migrated(before)).replace("\r\n", "")


def test_a_model_with_such_a_layer_is_saved(tmp_path):
    source = (
        f"{HEAD}from keras import regularizers\nclass Margin(Layer):\n"
        "    def __init__(self, margin=0.5, regularizer=None, **kwargs):\n"
        "        super(Margin, self).__init__(**kwargs)\n        self.margin = margin\n"
        "    def call(self, x):\n        return x * self.margin\n"
    )
    for text, saves in ((source, False), (migrated(source), True)):
        names: dict[str, object] = {}
        exec(text, names)
        margin, l2 = names["Margin"], keras.regularizers.L2(0.1)
        model = keras.Sequential([keras.Input((2,)), margin(regularizer=l2), keras.layers.Dense(1)])
        if saves:
            model.save(tmp_path / "m.keras")
        else:
            with pytest.raises(NotImplementedError):
                model.save(tmp_path / "m.keras")


@pytest.mark.parametrize(
    "source",
    [
        f"{HEAD}class A(Layer):\n    def __init__(self, **kwargs):\n        super(A, self).__init__(**kwargs)\n",
        f"{HEAD}class A(Dense):\n    def __init__(self, n, **kwargs):\n        super(A, self).__init__(n, **kwargs)\n",
        f"{HEAD}class A(Layer):\n    def __init__(self, n):\n        self.n = n\n    def get_config(self):\n"
        "        return {'n': self.n}\n",
        "import layers\nclass A(layers.Layer):\n    def __init__(self, n):\n        self.n = n\n",
        "from tensorflow.keras.layers import Layer\nclass A(Layer):\n    def __init__(self, n):\n        self.n = n\n",
    ],
)
def test_left_alone(source):
    check_noop(source, rule="layer-configs")


def test_a_source_with_tabs_keeps_them():
    source = f"{HEAD}class A(Layer):\n\tdef __init__(self, n):\n\t\tself.n = n\n"
    assert migrated(source).endswith("\n\n\tdef get_config(self):\n\t\treturn super().get_config()\n")
