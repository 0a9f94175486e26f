"""The 30 whole-model files of the real stacks: plain Keras 3 loads what is recovered, and it is the
same model."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from parallel_compat.recover.recovering import recover
from recover.old_files import in_every_format

ORACLE = Path(__file__).parent.parent / "data" / "oracle" / "h5"
FILES = sorted([*ORACLE.glob("*.parallel.h5"), *ORACLE.glob("*.template.h5")])


def test_there_are_thirty() -> None:
    assert len(FILES) == 30


def always(path: Path, suffix: str) -> bool:
    """All to `.h5`; by default the others for some: `.hdf5` is `.h5` by another name, two are of the same model."""
    return (
        suffix == ".h5"
        or (suffix == ".keras" and ".parallel." in path.name)
        or path.name.startswith(("sgd_even", "siamese", "tf22_lstm"))
    )


@pytest.mark.one_in(6)
@pytest.mark.parametrize(("source", "suffix"), in_every_format(FILES, always, ".h5", ".keras", ".hdf5", ".weights.h5"))
def test_recovered_file_predicts_as_recorded(source: Path, suffix: str, tmp_path: Path) -> None:
    import keras

    out = tmp_path / f"out{suffix}"
    found = recover(source, out)
    assert bool(found.template.wrappers) == (".parallel." in source.name)
    if suffix == ".weights.h5":
        recover(source, tmp_path / "whole.keras")
        model = keras.models.load_model(tmp_path / "whole.keras", compile=False)
        for variable in model.weights:
            variable.assign(np.zeros(variable.shape))
        model.load_weights(out)
    else:
        model = keras.models.load_model(out)
    case = source.name.split(".")[0]
    recorded = np.load(ORACLE / f"{case}.npz")
    inputs = [recorded[key] for key in sorted(recorded.files) if key.startswith("x_")] or [recorded["x"]]
    expected = [recorded[key] for key in sorted(recorded.files) if key.startswith("predict")]
    predicted = model.predict(inputs if len(inputs) > 1 else inputs[0], verbose=0)
    predicted = predicted if isinstance(predicted, list) else [predicted]
    assert len(predicted) == len(expected)
    for ours, theirs in zip(predicted, expected, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-6)
