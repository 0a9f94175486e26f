from __future__ import annotations

import functools
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests import scripts

if TYPE_CHECKING:
    from collections.abc import Callable

PROJECT = Path(__file__).parents[2]


@pytest.fixture
def run(tmp_path: Path) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Return a function that runs `parallel-compat run ARGS...` in `tmp_path`."""

    def call(*arguments: str, stdin: str | None = None, **environment: str) -> subprocess.CompletedProcess[str]:
        return started([sys.executable, "-m", "parallel_compat", "run", *arguments], tmp_path, stdin, environment)

    return call


@pytest.fixture
def python(tmp_path: Path) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Return a function that runs `python ARGS...` in `tmp_path`."""

    def call(*arguments: str, stdin: str | None = None, **environment: str) -> subprocess.CompletedProcess[str]:
        return started([sys.executable, *arguments], tmp_path, stdin, environment)

    return call


@pytest.fixture
def forked(tmp_path: Path) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Return `run` for what does not test the start of a process: TensorFlow is imported already."""
    return functools.partial(scripts.run, folder=tmp_path)


def started(
    command: list[str], folder: Path, stdin: str | None, environment: dict[str, str]
) -> subprocess.CompletedProcess[str]:
    settings = {
        **os.environ,
        "TF_CPP_MIN_LOG_LEVEL": "3",
        "PYTHONPATH": str(PROJECT),
        **environment,
    }
    return subprocess.run(
        command, cwd=folder, input=stdin, capture_output=True, text=True, timeout=300, env=settings, check=False
    )
