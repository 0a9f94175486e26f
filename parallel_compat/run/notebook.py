"""`%load_ext parallel_compat`: old Keras in the cells of a notebook.

`%legacy_names` prints the report; `%legacy_names --era tf.keras-1.15 --replicas 2`, before the first import, chooses
the era, and pretends GPUs.
"""

from __future__ import annotations

import sys
from types import FrameType
from typing import Any

from parallel_compat import startup_log
from parallel_compat.names.eras import Era
from parallel_compat.names.project_era import Decision, era_of_project
from parallel_compat.originals import activate
from parallel_compat.originals.settings import Settings
from parallel_compat.run import remedies, report, today
from parallel_compat.run.environment import settings

_REPLICAS = "`%legacy_names --replicas {}` before the first import, after a restart of the kernel"

_chosen: Era | None = None
_replicas: int | None = None
_decision: Decision | None = None


def load_ipython_extension(shell: Any) -> None:
    """Give the notebook its original Keras, from its first import on.

    Raises:
        RuntimeError: TensorFlow or Keras is imported already.
    """
    loaded = [name for name in ("tensorflow", "keras") if name in sys.modules]
    if loaded and activate.active() is None:
        raise RuntimeError(
            f"Expected `%load_ext parallel_compat` before the first import of Keras. Received: {loaded[0]} is "
            "imported. Restart the kernel, and run the cell with `%load_ext` first."
        )
    startup_log.leave_out()
    activate.activate_at_import(lambda: _decide(shell))
    shell.register_magic_function(legacy_names, "line", "legacy_names")
    shell.events.register("post_run_cell", _say_what_to_do)


def _say_what_to_do(result: Any) -> None:
    """Print one line of advice below an error."""
    line = remedies.remedy(result.error_in_exec, _REPLICAS)
    if line is not None:
        print(line, file=sys.stderr)


def _decide(shell: Any) -> Settings | None:
    """Decide by the chosen era, else by the cells that were run so far."""
    global _decision
    if _chosen is not None:
        _decision = Decision(_chosen, frozenset(), 0, f"%legacy_names --era {_chosen.value}", True, "")
    else:
        cells = [*shell.user_ns.get("In", []), shell.history_manager.input_hist_parsed[-1], _running(shell)]
        _decision = era_of_project(code="\n".join(each for each in cells if each))
    if _decision.era is not Era.TODAY:
        return Settings(_decision.era, _replicas, tensorflow=_decision.tensorflow)
    today.prepare(replicas=_replicas, resume=None, every=None, workers=False)
    return None


def _running(shell: Any) -> str:
    """Return the source of the cell that is running, which is not in the history yet."""
    frame: FrameType | None = sys._getframe()
    while frame is not None:
        if frame.f_code.co_name == "run_cell" and "raw_cell" in frame.f_locals:
            return str(frame.f_locals["raw_cell"])
        frame = frame.f_back
    return ""


def legacy_names(line: str = "") -> None:
    """Print the report, or choose an era and a number of simulated GPUs.

    Args:
        line: "", or `--era NAME`, `--replicas N` or both.

    Raises:
        ValueError: it is something else, there is no such era, or it comes after the first import.
    """
    global _chosen, _replicas
    if not line.strip():
        if _decision is None:
            print("parallel-compat: neither Keras nor TensorFlow is imported yet")
            return
        process_settings = settings(
            era=_decision.era.value, why=_decision.reason, certain=_decision.certain, hint=_decision.hint
        )
        print(report.summary(report.make(process_settings)) or "parallel-compat: no old Keras")
        return
    words = line.replace("=", " ").split()
    given = dict(zip(words[::2], words[1::2], strict=False))
    if len(words) % 2 or not given.keys() <= {"--era", "--replicas"}:
        raise ValueError(
            f"Expected nothing, `--era NAME` or `--replicas N` after `%legacy_names`. Received: {line.strip()}"
        )
    expected = ", ".join(era.value for era in Era)
    if "--era" in given and given["--era"] not in {era.value for era in Era}:
        raise ValueError(f"Expected one of {expected}. Received: {given['--era']}")
    if not given.get("--replicas", "1").isdecimal():
        raise ValueError(f"Expected a whole number from 1 after `--replicas`. Received: {given['--replicas']}")
    if _decision is not None:
        raise ValueError(
            f"Expected `%legacy_names {line.strip()}` before the first import. Received: {_decision.era.value} runs "
            "already. Restart the kernel, and choose first."
        )
    _chosen = Era(given["--era"]) if "--era" in given else _chosen
    _replicas = int(given["--replicas"]) if "--replicas" in given else _replicas
