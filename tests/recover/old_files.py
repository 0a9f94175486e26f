"""The files in tests/data/old, and what a test needs to know of them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

OLD = Path(__file__).parent.parent / "data" / "old"
WHOLE = sorted([*OLD.glob("*.parallel.h5"), *OLD.glob("*.template.h5")])
WEIGHTS = sorted([*OLD.glob("*.parallel_weights.h5"), *OLD.glob("*.template_weights.h5")])


def in_every_format(files: list[Path], always: Callable[[Path, str], bool], *suffixes: str) -> list[Any]:
    """Pair files with formats for `parametrize`; pairs that are not `always` tried are marked slow."""
    return [
        pytest.param(
            path, suffix, id=f"{path.name}-{suffix}", marks=() if always(path, suffix) else (pytest.mark.slow,)
        )
        for path in files
        for suffix in suffixes
    ]


def case_of(path: Path) -> str:
    return path.name.split(".")[0]


def recorded(path: Path) -> tuple[Any, list[Any]]:
    """Return the inputs and the old stack's predictions."""
    arrays = np.load(OLD / f"{case_of(path)}.npz")
    inputs = [arrays[key] for key in sorted(arrays.files) if key.startswith("x_")]
    outputs = [arrays[key] for key in sorted(arrays.files) if key.startswith("predict_")]
    return inputs if len(inputs) > 1 else inputs[0], outputs


def custom_objects() -> dict[str, Any]:
    import keras

    class Scale(keras.layers.Layer):
        def __init__(self, factor: float = 1.0, **kwargs: Any) -> None:
            super().__init__(**kwargs)
            self.factor = factor

        def build(self, input_shape: Any) -> None:
            self.gain = self.add_weight(name="gain", shape=(input_shape[-1],), initializer="ones")

        def call(self, inputs: Any) -> Any:
            return inputs * self.gain * self.factor

        def get_config(self) -> dict[str, Any]:
            return {**super().get_config(), "factor": self.factor}

    return {"Scale": Scale}


def skip_without_masks(model: Any) -> None:
    """Skip where plain Keras itself drops a mask (a nightly of 3.16): no file can make it compute the old numbers."""
    from parallel_compat.recover.keras_models import notes_on_masks

    if notes := notes_on_masks(model):
        pytest.skip(notes[0])


def assert_predicts(model: Any, path: Path) -> None:
    skip_without_masks(model)
    inputs, expected = recorded(path)
    predicted = model.predict(inputs, verbose=0)
    predicted = predicted if isinstance(predicted, list) else [predicted]
    assert len(predicted) == len(expected)
    for ours, theirs in zip(predicted, expected, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-6)
