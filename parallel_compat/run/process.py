"""What `parallel-compat run` does in the processes of the user's script: the original first, the report last."""

from __future__ import annotations

import atexit
import json
import os
import sys
from typing import Any

from parallel_compat import packages, startup_log
from parallel_compat.names.eras import Era
from parallel_compat.originals import activate
from parallel_compat.originals.settings import Settings
from parallel_compat.run import report, report_file, today, tracebacks
from parallel_compat.run.environment import MAIN


def start(given: str) -> None:
    """Prepare a process of the script.

    Args:
        given: the JSON object in the environment variable `environment.SETTINGS`.
    """
    told: dict[str, Any] = json.loads(given)
    main = os.environ.pop(MAIN, None) is not None
    era = Era(told["era"])
    if not told["startup_log"]:
        startup_log.leave_out_of_import()
    if era is Era.TODAY:
        today.prepare(
            replicas=told["replicas"],
            # Processes that the script starts would write the same files, and are no workers of their own.
            resume=told["resume"] if main else None,
            every=told["every"],
            workers=main and told["workers"],
        )
    else:
        packages.answer(era)
        resume = told["resume"] if main else None
        activate.activate(Settings(era, told["replicas"], told["allow_lambdas"], resume, told["tensorflow"]))
    tracebacks.hide_our_frames((lambda: _report(told, os.getpid())) if main else None)
    if main:
        atexit.register(_report, told, os.getpid())


def _report(told: dict[str, Any], pid: int) -> None:
    if os.getpid() != pid or told.get("reported"):  # a fork; or it came before the error that ended the script
        return
    told["reported"] = True
    made = report.make(told)
    if told["report"]:
        report_file.write(made, told["report"])
    text = "" if told["quiet"] else report.summary(made)
    if text and sys.stderr is not None:
        print(text, file=sys.stderr, flush=True)
