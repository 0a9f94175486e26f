"""The environment variables by which `parallel-compat run` speaks to the processes of the user's script."""

from __future__ import annotations

import json
import os
from typing import Any

# What `settings` returns, as JSON; for child processes also folder, where they hand in what they used.
SETTINGS = "PARALLEL_COMPAT_RUN"
# Set for the script's own process alone, which takes it away: the one that reports.
MAIN = "PARALLEL_COMPAT_RUN_MAIN"


def settings(
    *,
    also: list[str],
    era: str | None,
    replicas: int | None = None,
    resume: str | None = None,
    every: int | None = None,
    report: str | None = None,
    quiet: bool = False,
    lambdas: bool = False,
    startup_log: bool = True,
    workers: bool = False,
) -> dict[str, Any]:
    """Return what the processes of the script are told, each with a name of its own."""
    return dict(locals())


def allows_lambdas() -> bool:
    """Say whether `--allow-lambdas` was given."""
    return bool(json.loads(os.environ.get(SETTINGS) or "{}").get("lambdas"))


def startup_folder() -> str:
    """Return the folder on PYTHONPATH in which Python finds what turns legacy names on."""
    return os.path.join(os.path.dirname(os.path.abspath(__file__)), "startup")
