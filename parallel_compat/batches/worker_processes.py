"""Processes that compute the batches of a Sequence.

They are spawned, not forked: TensorFlow's threads do not survive a fork. So the Sequence is sent to them pickled,
through a file, at the start of a pass if `on_epoch_end` has changed it.
"""

from __future__ import annotations

import multiprocessing
import os
import pickle
import signal
import tempfile
import threading
import traceback
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from typing import Any


class ProcessPool:
    """A pool of processes for one Sequence."""

    def __init__(self, workers: int) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="parallel_compat-")
        self._sent = b""
        self._path = ""
        self._executor = ProcessPoolExecutor(
            workers, mp_context=multiprocessing.get_context("spawn"), initializer=_start_worker
        )

    def send(self, sequence: Any) -> None:
        """Have the processes work on `sequence` as it is now."""
        try:
            pickled = pickle.dumps(sequence)
        except Exception as error:
            raise ValueError(
                "Expected a Sequence that can be pickled, for `use_multiprocessing=True`. Received: "
                f"{type(sequence).__name__}, with {type(error).__name__}: {error}. Leave open files, locks and lambdas "
                "out of it, or draw in threads: `workers=n, use_multiprocessing=False`."
            ) from error
        if pickled != self._sent:
            self._sent = pickled
            self._path = tempfile.mkstemp(suffix=".pickle", dir=self._folder.name)[1]
            Path(self._path).write_bytes(pickled)

    def submit(self, index: int) -> Future[Any]:
        """Have a batch computed."""
        result: Future[Any] = Future()
        try:
            computed = self._executor.submit(_compute, self._path, index)
        except BrokenProcessPool as error:
            raise _ended() from error
        computed.add_done_callback(lambda done: _forward_result(done, result))
        return result

    def shutdown(self, wait: bool = True, cancel_futures: bool = True) -> None:
        """End the processes; a batch that is being computed is waited for."""
        self._executor.shutdown(wait=wait, cancel_futures=cancel_futures)
        self._folder.cleanup()


def _forward_result(done: Future[Any], result: Future[Any]) -> None:
    if done.cancelled() or not result.set_running_or_notify_cancel():
        return
    error = done.exception()
    if error is not None:
        result.set_exception(_ended() if isinstance(error, BrokenProcessPool) else error)
        return
    batch, failure = done.result()
    if failure is None:
        result.set_result(batch)
    else:
        result.set_exception(_error_of_worker(*failure))


def _ended() -> RuntimeError:
    return RuntimeError(
        "A worker process ended before it gave its batch. With `use_multiprocessing=True` each worker imports the main "
        'script: its training must stand under `if __name__ == "__main__":`. Or draw in threads: '
        "`workers=n, use_multiprocessing=False`."
    )


def _error_of_worker(pickled: bytes | None, text: str) -> BaseException:
    """Return the error, with the worker's traceback as a note, which Python shows from 3.11 on."""
    if pickled is None:
        return RuntimeError(f"A worker process failed:\n{text}")
    error: BaseException = pickle.loads(pickled)
    if hasattr(error, "add_note"):
        error.add_note(f"In a worker process:\n{text}")
    return error


# In the worker processes.

_sequences: dict[str, Any] = {}


def _start_worker() -> None:
    # Ctrl-C reaches the whole process group; the main process answers it, and ends the workers.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_exit_with_parent, daemon=True).start()


def _exit_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _compute(path: str, index: int) -> tuple[Any, tuple[bytes | None, str] | None]:
    try:
        if path not in _sequences:
            _sequences.clear()
            _sequences[path] = pickle.loads(Path(path).read_bytes())
        return _sequences[path][index], None
    except Exception as error:
        text = traceback.format_exc()
        try:
            pickled = pickle.dumps(error)
            pickle.loads(pickled)
        except Exception:  # an error whose class cannot be pickled is passed on as its text
            return None, (None, text)
        return None, (pickled, text)
