"""`run --resume`: each `fit` of the script saves its state, and continues from it when the script runs again."""

from __future__ import annotations

import atexit
import sys
from typing import Any

from parallel_compat.backend.patches import Patches

_PATCHES = Patches("run --resume")


def keep(directory: str, every: int | None = None) -> None:
    """Give each `fit` a `Resume`, numbered in the order in which the script calls them.

    Args:
        every: after how many batches, besides the ends of epochs.
    """
    import keras

    from parallel_compat.resume import Resume

    trainings = 0
    Resume.is_made = True  # from the first step that is traced

    def with_resume(
        original: Any, self: Any, callbacks: Any = None, add_history: bool = False, *given: Any, **keywords: Any
    ) -> None:
        nonlocal trainings
        original(self, callbacks, add_history, *given, **keywords)
        if add_history:  # of `fit` alone
            trainings += 1
            resume = Resume(directory, first=trainings, every=every)
            resume.set_params(self.params)
            resume.set_model(self.model)
            self.callbacks.append(resume)

    def report_unused() -> None:
        if not trainings and sys.stderr is not None:
            print(
                f"parallel-compat run: --resume {directory} saved nothing: the script did not call `fit`.",
                file=sys.stderr,
            )

    atexit.register(report_unused)
    _PATCHES.around(keras.callbacks.CallbackList, "__init__", with_resume, why="each `fit` continues (`--resume`)")
    _say_that_loops_are_not_kept()


def _say_that_loops_are_not_kept() -> None:
    """Warn at the first `train_on_batch`: a process that is killed cannot warn later."""
    from parallel_compat.training import in_memory

    warned = False

    def call(original: Any, name: str, *given: Any, **keywords: Any) -> Any:
        nonlocal warned
        if name == "train_on_batch" and not warned and sys.stderr is not None:
            warned = True
            print(
                "parallel-compat run: --resume saves the state of `fit` only. Received: a loop of `train_on_batch`. It "
                "starts again when the command runs again.",
                file=sys.stderr,
                flush=True,
            )
        return original(name, *given, **keywords)

    _PATCHES.around(in_memory, "call", call, why="`--resume` says that loops of `train_on_batch` are not kept")
