"""`uninstall` puts back everything: modules, classes, import hooks."""

from __future__ import annotations

import inspect
import subprocess
import sys
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import parallel_compat
from parallel_compat.run import install


def snapshot() -> dict[str, Any]:
    modules = {name: module for name, module in sys.modules.items() if name.split(".")[0] in ("keras", "tensorflow")}
    classes = {
        value
        for name, module in modules.items()
        if name.split(".")[0] == "keras" and isinstance(module, ModuleType)
        for value in vars(module).values()
        if inspect.isclass(value) and value.__module__.startswith("keras")
    }
    return {
        "modules": {name: id(module) for name, module in modules.items()},
        "kinds": {name: type(module) for name, module in modules.items()},
        "contents": {
            name: {key: id(value) for key, value in vars(module).items()}
            for name, module in modules.items()
            if name.split(".")[0] == "keras" and isinstance(module, ModuleType)
        },
        "classes": {kind: {key: id(value) for key, value in vars(kind).items()} for kind in classes},
        "meta_path": list(sys.meta_path),
        "path_hooks": list(sys.path_hooks),
        "path": list(sys.path),
    }


def use_everything() -> None:
    from keras import backend as K
    from keras.layers.core import Dense
    from keras.models import Sequential
    from keras.optimizers import SGD
    from keras.utils import np_utils

    model = Sequential([Dense(output_dim=2, input_dim=3, activation="softmax")])
    model.compile(SGD(lr=0.1, decay=0.1), "categorical_crossentropy", ["accuracy"])
    history = model.fit(np.ones((4, 3)), np_utils.to_categorical([0, 1, 0, 1], 2), nb_epoch=1, verbose=0)
    assert history.history["acc"]
    assert K.get_value(model.optimizer.lr) == pytest.approx(0.1)


def test_a_snapshot_before_and_after_is_the_same():
    use = use_everything
    with parallel_compat.legacy_names():
        use()  # imports what is imported lazily
    before = snapshot()
    with parallel_compat.legacy_names():
        use()
        during = snapshot()
    after = snapshot()
    assert during != before
    for part, value in before.items():
        assert after[part] == value, part


def test_the_names_are_gone_afterwards():
    with parallel_compat.legacy_names():
        import keras.layers.core
    assert "keras.layers.core" not in sys.modules
    assert not hasattr(keras.layers, "core")
    assert not hasattr(keras.Model, "predict_classes")
    with pytest.raises(ImportError):
        from keras.layers.core import Dense  # noqa: F401


def test_installing_twice_is_installing_once():
    before = snapshot()
    parallel_compat.install()
    once = snapshot()
    parallel_compat.install()
    with parallel_compat.legacy_names():
        assert snapshot() == once
    assert snapshot() == once, "a block inside turned the names off"
    parallel_compat.uninstall()
    parallel_compat.uninstall()
    assert snapshot() == before


def test_an_error_in_the_block_turns_them_off_as_well():
    def fail() -> None:
        with parallel_compat.legacy_names():
            raise KeyError("x")

    with pytest.raises(KeyError):
        fail()
    assert install._modules is None


@pytest.mark.slow
def test_importing_the_pytest_plugin_turns_nothing_on():
    code = (
        "import sys, keras, parallel_compat.pytest\n"
        "from parallel_compat.run import install\n"
        "assert install._modules is None and not hasattr(keras.Model, 'predict_classes')\n"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=600, check=False)
    assert result.returncode == 0, result.stderr


def test_the_chosen_era_is_forgotten():
    from parallel_compat.run import callers

    before = callers.era_of_process()
    with parallel_compat.legacy_names(era="tf.keras-1.15"):
        assert callers.era_of_process() == "tf.keras-1.15"
    assert callers.era_of_process() == before


@pytest.mark.slow
def test_where_keras_is_not_imported_nothing_of_it_is():
    code = (
        "import sys, parallel_compat\n"
        "parallel_compat.install, parallel_compat.uninstall\n"
        "before, path = dict(sys.modules), list(sys.meta_path)\n"
        "parallel_compat.install()\n"
        "assert not {'keras', 'tensorflow', 'numpy', 'libcst'} & set(sys.modules), 'imported'\n"
        "parallel_compat.uninstall()\n"
        "assert sys.modules == before and sys.meta_path == path\n"
        "parallel_compat.install()\n"
        "import keras\n"
        "from keras.utils import np_utils\n"
        "parallel_compat.uninstall()\n"
        "assert not [m for m in sys.modules if m == 'keras.utils.np_utils']\n"
        "assert type(keras).__mro__ == type(sys).__mro__ and type(sys.modules['tensorflow']) is type(sys)\n"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=600, check=False)
    assert result.returncode == 0, result.stderr
