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
    """Prepare a process of the script."""
    process_settings: dict[str, Any] = json.loads(given)
    main = os.environ.pop(MAIN, None) is not None
    era = Era(process_settings["era"])
    if not process_settings["startup_log"]:
        startup_log.leave_out_of_import()
    if era is Era.TODAY:
        today.prepare(
            replicas=process_settings["replicas"],
            # Processes that the script starts would write the same files, and are no workers of their own.
            resume=process_settings["resume"] if main else None,
            every=process_settings["every"],
            workers=main and process_settings["workers"],
        )
    else:
        packages.answer(era)
        resume = process_settings["resume"] if main else None
        activate.activate(
            Settings(
                era,
                process_settings["replicas"],
                process_settings["allow_lambdas"],
                resume,
                process_settings["tensorflow"],
            )
        )
    tracebacks.hide_our_frames((lambda: _report(process_settings, os.getpid())) if main else None)
    if main:
        atexit.register(_report, process_settings, os.getpid())


def _report(process_settings: dict[str, Any], pid: int) -> None:
    if os.getpid() != pid or process_settings.get(
        "reported"
    ):  # a fork; or it came before the error that ended the script
        return
    process_settings["reported"] = True
    made = report.make(process_settings)
    if process_settings["report"]:
        report_file.write(made, process_settings["report"])
    text = "" if process_settings["quiet"] else report.summary(made)
    if text and sys.stderr is not None:
        print(text, file=sys.stderr, flush=True)
