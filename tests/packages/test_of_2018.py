"""Scripts of 2018 get from today's packages what those of 2018 gave them: `tests/data/packages/record.py` ran there."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

DATA = Path(__file__).parents[1] / "data" / "packages"
RECORDED = np.load(DATA / "of_2018.npz")
PACKAGES = sorted({name.partition("_")[0] for name in RECORDED.files})
ANSWERED = """
import runpy, sys
from parallel_compat import packages
packages.answer()
sys.argv = sys.argv[1:]
runpy.run_path(sys.argv[0], run_name="__main__")
print(*packages.answered(), sep="\\n")
"""


@pytest.mark.parametrize("package", PACKAGES)
def test_values_are_those_of_then(package, tmp_path):
    if package != "python" and importlib.util.find_spec(package) is None:
        pytest.skip(f"{package} is not installed")
    command = [sys.executable, "-c", ANSWERED, str(DATA / "record.py"), str(tmp_path / "now.npz"), package]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    now = np.load(tmp_path / "now.npz")
    expected = [name for name in RECORDED.files if name.startswith(f"{package}_")]
    assert expected
    for name in expected:
        assert name in now.files, {key: str(now[key]) for key in now.files if key.startswith(name[:-3])}
        was, value = RECORDED[name], now[name]
        assert value.shape == was.shape, (name, value)
        if was.dtype.kind in "fc":
            np.testing.assert_allclose(value, was, rtol=1e-6, atol=1e-9, err_msg=name)
        else:
            np.testing.assert_array_equal(value, was, err_msg=name)
        assert was.dtype.kind in "US" or value.dtype == was.dtype, name
    assert done.stdout.strip(), "nothing was noted"
