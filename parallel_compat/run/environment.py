"""The environment variables that pass settings from `parallel-compat run` to the processes of the script."""

from __future__ import annotations

import os
import sys
from typing import Any

# What `settings` returns, as JSON.
SETTINGS = "PARALLEL_COMPAT_RUN"
# Set for the script's own process alone, which takes it away: the one that reports.
MAIN = "PARALLEL_COMPAT_RUN_MAIN"


def settings(
    *,
    era: str,
    why: str,
    certain: bool = True,
    hint: str = "",
    tensorflow: int = 1,
    script: str = "",
    command: str = "",
    replicas: int | None = None,
    resume: str | None = None,
    every: int | None = None,
    report: str | None = None,
    quiet: bool = False,
    allow_lambdas: bool = False,
    startup_log: bool = True,
    workers: bool = False,
) -> dict[str, Any]:
    """Return what the processes of the script get.

    Args:
        tensorflow: the TensorFlow that the script was written for, 1 or 2.
        script: the script, as the user named it; "" for code without a file.
        command: the whole command, for the report.
        every: after how many batches the state is kept, too.
    """
    return {**locals(), "prefix": sys.prefix}


def startup_folder() -> str:
    """Return the folder on PYTHONPATH whose `sitecustomize` prepares the process."""
    return os.path.join(os.path.dirname(os.path.abspath(__file__)), "startup")
