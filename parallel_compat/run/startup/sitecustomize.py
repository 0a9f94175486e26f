"""Python imports this before the user's script, because `parallel-compat run` puts this folder on PYTHONPATH.

It turns the legacy names on, takes its folder off `sys.path`, and hands over to the `sitecustomize` that would have
been imported without it. Where it finds nothing to do (another Python started by the script, say), it does nothing.
Any other error ends the process: the script must not run with another Keras than it was written for.
"""

from __future__ import annotations

import os
import sys


def _hand_over() -> None:
    folder = os.path.dirname(os.path.abspath(__file__))
    sys.path[:] = [entry for entry in sys.path if not os.path.isabs(entry) or os.path.abspath(entry) != folder]
    ours = sys.modules.pop("sitecustomize")
    try:
        import sitecustomize  # type: ignore[import-not-found]  # noqa: F401
    except ImportError as error:
        if error.name != "sitecustomize":
            raise
        sys.modules["sitecustomize"] = ours  # the import system expects what it has just loaded


def _start() -> None:
    settings = os.environ.get("PARALLEL_COMPAT_RUN")
    if not settings or sys.version_info < (3, 10):
        return
    parent = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
    sys.path.insert(0, parent)
    try:
        from parallel_compat.run import process

        process.start(settings)
    except Exception as error:
        if f'"prefix": "{sys.prefix}"' not in settings and isinstance(error, ImportError):
            return  # another Python that the script started, without what this package needs
        # Python would print the error and run the script all the same: with another Keras than it was written for.
        import traceback

        traceback.print_exc()
        sys.stderr.flush()
        os._exit(1)
    finally:
        sys.path.remove(parent)


_hand_over()
_start()
