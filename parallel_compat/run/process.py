"""What `parallel-compat run` does in the processes of the user's script: legacy names on, the report at the end."""

from __future__ import annotations

import atexit
import json
import os
import sys
import tempfile
from typing import Any, ClassVar

from parallel_compat import startup_log
from parallel_compat.run import install, tracebacks, usage
from parallel_compat.run.environment import MAIN, SETTINGS


def start(given: str) -> None:
    """Turn the legacy names on, with the options of `parallel-compat run`.

    Args:
        given: the JSON object in the environment variable `environment.SETTINGS`.
    """
    settings: dict[str, Any] = json.loads(given)
    if not settings.get("startup_log", True):
        startup_log.leave_out_of_import()
    main = os.environ.pop(MAIN, None) is not None
    if main and settings["workers"]:
        from parallel_compat.run import workers

        workers.seed()
    install.install(
        also=settings["also"],
        replicas=settings["replicas"],
        era=settings["era"],
        # Processes that the script starts would write the same files, and are no workers of their own.
        resume=settings["resume"] if main else None,
        every=settings["every"],
        workers=main and settings["workers"],
    )
    if main:
        settings["folder"] = tempfile.mkdtemp(prefix="parallel-compat-")
        os.environ[SETTINGS] = json.dumps(settings)
    pid = os.getpid()
    tracebacks.hide_our_frames(lambda: _finish(settings, pid, main))
    atexit.register(_finish, settings, pid, main)
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=lambda: _after_fork(settings))


def _finish(settings: dict[str, Any], pid: int, main: bool) -> None:
    if os.getpid() != pid:
        return
    if main:
        _report(settings)
    else:
        _hand_in(settings)


def _after_fork(settings: dict[str, Any]) -> None:
    # What the parent used stays the parent's. `multiprocessing` ends a forked child without `atexit`, but runs its
    # own finalizers, which it clears once after the fork and before these.
    usage.forget()
    util = sys.modules.get("multiprocessing.util")
    if util is not None:
        util.register_after_fork(
            _Holder(settings), lambda holder: util.Finalize(None, _hand_in, (holder.settings,), exitpriority=0)
        )


class _Holder:
    """Something that `multiprocessing.util` can hold a weak reference to."""

    alive: ClassVar[list[Any]] = []

    def __init__(self, settings: dict[str, Any]) -> None:
        self.settings = settings
        self.alive.append(self)


def _hand_in(settings: dict[str, Any]) -> None:
    seen = usage.seen()
    if any(seen.values()) and os.path.isdir(settings["folder"]):
        with open(os.path.join(settings["folder"], f"{os.getpid()}.json"), "w", encoding="utf-8") as file:
            json.dump(seen, file)


def _report(settings: dict[str, Any]) -> None:
    if settings.get("reported"):  # before the error that ended the script
        return
    settings["reported"] = True
    _collect(settings["folder"])
    workers = sys.modules.get("parallel_compat.workers")
    if workers is not None and not workers.is_chief():
        return  # the same once more
    if settings["report"]:
        _write(settings["report"])
    text = "" if settings["quiet"] else usage.summary()
    if text and sys.stderr is not None:
        print(text, file=sys.stderr, flush=True)


def _write(path: str) -> None:
    if not path.lower().endswith((".html", ".htm")):
        usage.write(path)
        return
    from parallel_compat.atomic_file import replacing
    from parallel_compat.run import html

    with replacing(path) as temporary:
        temporary.write_text(html.page(usage.uses(), usage.eras()), "utf-8")


def _collect(folder: str) -> None:
    for name in sorted(os.listdir(folder)) if os.path.isdir(folder) else ():
        path = os.path.join(folder, name)
        with open(path, encoding="utf-8") as file:
            usage.add(json.load(file))
        os.unlink(path)
    if os.path.isdir(folder):
        os.rmdir(folder)
