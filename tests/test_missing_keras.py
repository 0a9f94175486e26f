"""Why Keras cannot be imported is said: absent, another backend, or broken, and then its own reason."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.metadata import PackageNotFoundError
from pathlib import Path

import keras
import pytest

from parallel_compat import missing_keras
from parallel_compat.backend.keras3 import which_backend

PROJECT = Path(__file__).parents[1]


def asked(tmp_path: Path, source: str | None, **environment: str) -> str:
    """Ask for a function of this package where `keras` is what `source` says."""
    if source is not None:
        (tmp_path / "keras").mkdir()
        (tmp_path / "keras" / "__init__.py").write_text(source)
    done = subprocess.run(
        [sys.executable, "-c", "import parallel_compat; parallel_compat.multi_gpu_model"],
        capture_output=True,
        text=True,
        env={
            **os.environ,
            "PYTHONPATH": f"{tmp_path}{os.pathsep}{PROJECT}",
            "KERAS_HOME": str(tmp_path),
            **environment,
        },
        timeout=300,
        check=False,
    )
    return done.stderr.splitlines()[-1]


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("raise ImportError('a library is broken')", "importing it fails: ImportError: a library is broken. Install"),
        ("import nothing_there", "No module named 'nothing_there'. Install it with `pip install nothing_there`"),
        ("raise ModuleNotFoundError('gone', name='keras.src')", "importing it fails: ModuleNotFoundError: gone"),
    ],
)
def test_keras_is_there_and_fails(tmp_path, source, said):
    line = asked(tmp_path, source)
    assert "`parallel_compat.multi_gpu_model`: keras is installed" in line
    assert said in line
    assert "to be installed" not in line


def test_another_backend_by_variable_or_by_file(tmp_path):
    line = asked(tmp_path, None, KERAS_BACKEND="jax")
    assert "Received: jax, from KERAS_BACKEND. Set KERAS_BACKEND=tensorflow" in line
    (tmp_path / "keras.json").write_text('{"backend": "torch"}')
    line = asked(tmp_path, None)
    assert f"Received: torch, from {tmp_path / 'keras.json'}. Set KERAS_BACKEND=tensorflow" in line


def test_what_old_keras_needs_is_named_before_it_starts(monkeypatch):
    assert missing_keras.missing_of_old_keras() is None
    there = missing_keras.is_installed
    monkeypatch.setattr(missing_keras, "is_installed", lambda name: name != "yaml" and there(name))
    said = missing_keras.missing_of_old_keras()
    assert said == "Old Keras needs pyyaml, which is not installed here. Run: pip install pyyaml"


def test_a_backend_that_is_installed_is_refused_too(monkeypatch):
    which_backend.refuse_others()
    monkeypatch.setattr(keras.config, "backend", lambda: "torch")
    with pytest.raises(ImportError, match="Received: torch"):
        which_backend.refuse_others()


def test_the_version_of_a_package_that_is_installed_by_another_name(monkeypatch):
    """As `tensorflow-cpu` and `keras-nightly` are: bug reports and files that `recover` writes named neither."""
    there = {"keras-nightly": "3.16.0.dev1", "tensorflow-cpu": "2.21.0", "numpy": "2.4.6"}

    def version(name):
        if name not in there:
            raise PackageNotFoundError(name)
        return there[name]

    monkeypatch.setattr(missing_keras, "version", version)
    packages = ("keras", "tensorflow", "numpy", "h5py")
    assert [missing_keras.installed_version(name) for name in packages] == ["3.16.0.dev1", "2.21.0", "2.4.6", None]
