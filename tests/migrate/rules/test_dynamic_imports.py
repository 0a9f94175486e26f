from __future__ import annotations

import pytest

from tests.migrate.check import check_noop, found


@pytest.mark.parametrize(
    "line",
    [
        "m = importlib.import_module('keras.utils.np_utils')",
        "m = __import__('keras.layers.core')",
        "m = importlib.import_module('keras.backend')",
        "f = getattr(keras.utils, 'multi_gpu_model', None)",
        "ok = hasattr(keras.utils, 'multi_gpu_model')",
    ],
)
def test_reports(line):
    source = f"import importlib\nimport keras\n{line}\n"
    check_noop(source)
    assert found(source, "dynamic-imports") == [(3, "attention")]


@pytest.mark.parametrize(
    "line",
    [
        "m = importlib.import_module('keras.layers')",
        "m = __import__('numpy')",
        "f = getattr(keras.utils, 'to_categorical')",
        "m = importlib.import_module(name)",
    ],
)
def test_leaves_alone(line):
    check_noop(f"import importlib\nimport keras\n{line}\n", rule="dynamic-imports")
