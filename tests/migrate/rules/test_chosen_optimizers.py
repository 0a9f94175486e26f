from __future__ import annotations

import pytest

from tests.migrate.check import check_noop, check_transformed

OURS = "import parallel_compat.legacy.optimizers\n"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            "import keras\nopt = getattr(keras.optimizers, name)(lr=0.1)\n",
            f"import keras\n{OURS}opt = getattr(parallel_compat.legacy.optimizers, name)(lr=0.1)\n",
        ),
        (
            "from keras import optimizers\n"
            "kind = getattr(optimizers, 'Adam')\nopt = kind(lr=0.1)\nother = kind(decay=0.1)\n",
            f"from keras import optimizers\n{OURS}"
            "kind = getattr(parallel_compat.legacy.optimizers, 'Adam')\nopt = kind(lr=0.1)\nother = kind(decay=0.1)\n",
        ),
        (
            "from keras.optimizers import SGD, Adam\nopt = {'sgd': SGD, 'adam': Adam, 'own': Own}.get(name)(lr=0.1)\n",
            "from parallel_compat.legacy.optimizers import SGD, Adam\n"
            "opt = {'sgd': SGD, 'adam': Adam, 'own': Own}.get(name)(lr=0.1)\n",
        ),
        (
            "from keras.optimizers import SGD, Adam\nkind = SGD if plain else Adam\nopt = kind(lr=0.1)\n",
            "from parallel_compat.legacy.optimizers import SGD, Adam\n"
            "kind = SGD if plain else Adam\nopt = kind(lr=0.1)\n",
        ),
    ],
)
def test_classes_come_from_this_package(before, after):
    check_transformed(before, after)


@pytest.mark.parametrize(
    "source",
    [
        "from keras import optimizers\nopt = getattr(optimizers, name)(learning_rate=0.1)\n",
        "from keras import layers\nopt = getattr(layers, name)(lr=0.1)\n",
        "from keras.optimizers import Adam\nkinds = {'adam': Adam}\nopt = kinds['adam'](0.1)\n",
        "import keras\nopt = make(lr=0.1)\n",
    ],
)
def test_leaves_alone(source):
    check_noop(source, rule="chosen-optimizers")
