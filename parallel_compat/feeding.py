"""Batches from python generators and Sequences: each used once, in order, and drawn ahead only as far as asked.

Keras 3 feeds a python generator through `tf.data`, which draws on its own account, wants one fixed structure and
refuses lists. Here a generator is drawn by one thread, and a Sequence by as many workers as asked, into a queue
that training takes from.
"""

from __future__ import annotations

import multiprocessing
import pickle
import random
import tempfile
import threading
from collections import deque
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

# How long `close` waits for a generator that is in the middle of making a batch, in seconds.
PATIENCE = 30.0


def is_generator(data: Any) -> bool:
    """Whether `data` is drawn from with `next`, as a python generator is."""
    return hasattr(data, "__next__") and hasattr(data, "__iter__")


def is_sequence(data: Any) -> bool:
    """Whether `data` is a `keras.utils.Sequence`, today `PyDataset`, also one without `super().__init__()`."""
    import keras

    return isinstance(data, keras.utils.PyDataset)


class Source:
    """Batches one after the other, over the epochs of one call of `fit`.

    Args:
        max_queue_size: how many batches may be ready before training needs them; 0 draws each when it is needed.
    """

    # The number of batches of one pass, None where it is not known.
    batches_per_pass: int | None = None

    def __init__(self, max_queue_size: int) -> None:
        self.max_queue_size = max_queue_size
        self.given = 0

    def one_pass(self) -> Iterator[Any]:
        """Iterate over the batches until the source ends; a second pass goes on where the first one stopped."""
        raise NotImplementedError

    def close(self) -> None:
        """End the threads and processes of this source."""


class GeneratorSource(Source):
    """A python generator, drawn by one thread.

    Args:
        generator: the generator; it is not restarted or closed.
        max_queue_size: see `Source`.
        needed: how many batches training will take in all, None if that is not known; no more are drawn.
    """

    def __init__(self, generator: Iterator[Any], max_queue_size: int = 10, needed: int | None = None) -> None:
        super().__init__(max_queue_size)
        self._generator = generator
        self._left = needed
        self._ready: deque[tuple[bool, Any]] = deque()
        self._changed = threading.Condition()
        self._closed = False
        self._thread: threading.Thread | None = None

    def one_pass(self) -> Iterator[Any]:
        while True:
            try:
                batch = self._take()
            except StopIteration:
                return
            self.given += 1
            yield batch

    def _take(self) -> Any:
        if self.max_queue_size == 0:
            return next(self._generator)
        if self._thread is None:
            self._thread = threading.Thread(target=self._draw, name="parallel_compat generator", daemon=True)
            self._thread.start()
        with self._changed:
            self._changed.wait_for(lambda: bool(self._ready))
            good, value = self._ready[0]
            if good:
                self._ready.popleft()
                self._changed.notify_all()
                return value
        # What the generator raised comes out as it is, with its own traceback; StopIteration ends the pass.
        raise value

    def _draw(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._closed or len(self._ready) < self.max_queue_size)
                if self._closed or self._left == 0:
                    if self._left == 0:
                        self._ready.append((False, StopIteration()))
                        self._changed.notify_all()
                    return
            try:
                item = (True, next(self._generator))
            except BaseException as error:
                item = (False, error)
            with self._changed:
                self._ready.append(item)
                self._left = self._left and self._left - 1
                self._changed.notify_all()
            if not item[0]:
                return

    def close(self) -> None:
        with self._changed:
            self._closed = True
            self._changed.notify_all()
        if self._thread is not None:
            self._thread.join(PATIENCE)


class SequenceSource(Source):
    """A Keras Sequence, drawn by workers in parallel and given in order.

    Args:
        sequence: has `__len__`, `__getitem__` and perhaps `on_epoch_end`.
        workers: how many threads or processes; 0 draws in the training thread.
        use_multiprocessing: whether workers are processes; the sequence is then pickled, and started by "spawn".
        max_queue_size: see `Source`.
        shuffle: whether each pass has an order of its own.
        needed: how many batches training will take in all, None if that is not known.
    """

    def __init__(
        self,
        sequence: Any,
        workers: int = 1,
        use_multiprocessing: bool = False,
        max_queue_size: int = 10,
        shuffle: bool = False,
        needed: int | None = None,
    ) -> None:
        super().__init__(max_queue_size)
        self._sequence = sequence
        self._workers = workers if max_queue_size else 0
        self._processes = use_multiprocessing
        self._shuffle = shuffle
        self._left = needed
        self._executor: Executor | None = None
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        self._waiting: deque[Future[Any]] = deque()
        self._order: Iterator[int] = iter(())
        self._undrawn = 0

    @property
    def batches_per_pass(self) -> int:  # type: ignore[override]
        return len(self._sequence)

    def one_pass(self) -> Iterator[Any]:
        while True:
            if not self._undrawn and not self._waiting:
                self._begin()
            while self._undrawn or self._waiting:
                batch = self._next()
                self.given += 1
                ended = not self._undrawn and not self._waiting
                if ended:
                    self._end()
                yield batch
                if ended:
                    return

    def _begin(self) -> None:
        order = list(range(len(self._sequence)))
        if self._shuffle:
            random.shuffle(order)
        self._order, self._undrawn = iter(order), len(order)
        if not order:
            raise ValueError("Expected a Sequence with at least one batch. Received: one of length 0.")
        if self._workers and self._executor is None:
            self._executor = self._make_executor()
        if self._processes and self._folder is not None:
            path = Path(self._folder.name) / f"{self.given}.pickle"
            path.write_bytes(pickle.dumps(self._sequence))
            self._draw: Callable[[int], Future[Any]] = lambda i: self._submit(_get_in_process, str(path), i)
        else:
            self._draw = lambda i: self._submit(self._sequence.__getitem__, i)

    def _end(self) -> None:
        if hasattr(self._sequence, "on_epoch_end"):
            self._sequence.on_epoch_end()

    def _make_executor(self) -> Executor:
        if not self._processes:
            return ThreadPoolExecutor(self._workers, thread_name_prefix="parallel_compat sequence")
        self._folder = tempfile.TemporaryDirectory(prefix="parallel_compat-")
        return ProcessPoolExecutor(self._workers, multiprocessing.get_context("spawn"))

    def _submit(self, function: Callable[..., Any], *arguments: Any) -> Future[Any]:
        assert self._executor is not None
        return self._executor.submit(function, *arguments)

    def _next(self) -> Any:
        if self._executor is None:
            self._undrawn -= 1
            return self._sequence[next(self._order)]
        self._fill()
        batch = self._waiting.popleft().result()
        self._fill()
        return batch

    def _fill(self) -> None:
        while self._undrawn and len(self._waiting) < self.max_queue_size and self._left != 0:
            self._waiting.append(self._draw(next(self._order)))
            self._undrawn -= 1
            self._left = self._left and self._left - 1

    def close(self) -> None:
        for future in self._waiting:
            future.cancel()
        if self._executor is not None:
            self._executor.shutdown(wait=True, cancel_futures=True)
        if self._folder is not None:
            self._folder.cleanup()


_sequences: dict[str, Any] = {}


def _get_in_process(path: str, index: int) -> Any:
    """Get a batch in a worker process, which loads the sequence once for each pass."""
    if path not in _sequences:
        _sequences.clear()
        _sequences[path] = pickle.loads(Path(path).read_bytes())
    return _sequences[path][index]
