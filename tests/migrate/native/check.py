"""What tests of the native target say: this source becomes that one, and runs without this package."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from textwrap import dedent
from typing import TYPE_CHECKING

from parallel_compat.migrate.engine import Options
from parallel_compat.migrate.findings import Status
from parallel_compat.migrate.native import process

if TYPE_CHECKING:
    from parallel_compat.migrate.native.process import Rewriting

ALONE = Path(__file__).with_name("alone.py")


def rewriting(source: str, *, unsafe: bool = False, keep: bool = False) -> Rewriting:
    """Return what becomes of a source."""
    options = Options(unsafe=unsafe, target="native", keep_parallel=keep)
    return process.rewrite(dedent(source), options, None, hints=True)


def check_native(before: str, after: str, *, unsafe: bool = False) -> None:
    """Check that `before` becomes `after`, and that a second run changes nothing and has nothing to do."""
    assert rewriting(before, unsafe=unsafe).text == dedent(after)
    again = rewriting(after, unsafe=unsafe)
    assert again.text == dedent(after)
    assert [one.message for one in again.findings if one.status is Status.REWRITTEN] == []


def questions(source: str, *, unsafe: bool = False) -> list[str]:
    """Return what is left to do, each with its rule."""
    found = rewriting(source, unsafe=unsafe).findings
    return [f"{one.rule}: {one.message}" for one in found if one.status is not Status.REWRITTEN]


def run_alone(folder: Path, replicas: int, *arguments: str) -> str:
    """Run a script where there is no parallel_compat, and return what it prints."""
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    done = subprocess.run(
        [sys.executable, str(ALONE), str(replicas), *arguments],
        cwd=folder, capture_output=True, text=True, timeout=1800, check=False,
        env={**environment, "TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": ""},
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-1000:] + done.stderr[-3000:]
    return done.stdout
