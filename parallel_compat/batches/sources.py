"""Batches from python generators and Sequences: each used once, in order, and drawn ahead only as far as asked.

Keras 3 feeds a python generator through `tf.data`, which draws on its own account, wants one fixed structure and
refuses lists. Here a generator is drawn by one thread, and a Sequence by as many workers as asked, into a queue
that training takes from.
"""

from __future__ import annotations

import itertools
import random
import threading
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

from parallel_compat.batches.worker_processes import ProcessPool

# Turns what was drawn, and its number from 1 on, into a batch.
Reader = Callable[[Any, int], Any]

# How long `close` waits for a generator that is in the middle of making a batch, in seconds.
PATIENCE = 30.0


def is_generator(data: Any) -> bool:
    """Whether `data` is drawn from with `next`, as a python generator is."""
    return hasattr(data, "__next__") and not isinstance(data, type)


def is_sequence(data: Any) -> bool:
    """Whether `data` is a `keras.utils.Sequence`, today `PyDataset`, also one without `super().__init__()`."""
    if type(data).__module__ == "numpy":  # asked at each call
        return False
    import keras

    return isinstance(data, keras.utils.PyDataset)


class Source:
    """Batches one after the other, over the epochs of one call of `fit`.

    Args:
        read: turns what is drawn into a batch, at once: what was drawn may change afterwards.
        max_queue_size: how many batches may be ready before training needs them; 0 draws each when it is needed.
    """

    # The number of batches of one pass, None where it is not known.
    batches_per_pass: int | None = None

    def __init__(self, read: Reader, max_queue_size: int) -> None:
        self._read = read
        self.max_queue_size = max_queue_size
        self.given = 0

    def draw(self) -> Any:
        """Return the next batch; raises StopIteration when there is none, or what the user's code raised."""
        raise NotImplementedError

    def close(self) -> None:
        """End the threads and processes of this source."""


class GeneratorSource(Source):
    """A python generator, drawn by one thread.

    Args:
        generator: the generator; it is not restarted or closed.
        needed: how many batches training will take in all, None if that is not known; no more are drawn.
    """

    def __init__(
        self, generator: Iterator[Any], read: Reader, max_queue_size: int = 10, needed: int | None = None
    ) -> None:
        super().__init__(read, max_queue_size)
        self._generator = generator
        self._left = needed
        self._drawn = 0
        self._ready: deque[tuple[bool, Any]] = deque()
        self._changed = threading.Condition()
        self._closed = False
        self._thread: threading.Thread | None = None

    def draw(self) -> Any:
        batch = self._take()
        self.given += 1
        return batch

    def _next(self) -> Any:
        drawn = next(self._generator)
        self._drawn += 1
        return self._read(drawn, self._drawn)

    def _take(self) -> Any:
        if self.max_queue_size == 0:
            return self._next()
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
                item = (True, self._next())
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
        sequence: has `__len__` or `num_batches`, `__getitem__` and perhaps `on_epoch_begin` and `on_epoch_end`.
        workers: how many threads or processes; 0 draws in the training thread.
        use_multiprocessing: whether workers are processes; the sequence is then pickled, and started by "spawn".
        shuffle: whether each pass has an order of its own: that of the pass before,
            shuffled by Python's `random`, as in Keras 2.
        needed: how many batches training will take in all, None if that is not known.
    """

    def __init__(
        self,
        sequence: Any,
        read: Reader,
        workers: int = 1,
        use_multiprocessing: bool = False,
        max_queue_size: int = 10,
        shuffle: bool = False,
        needed: int | None = None,
    ) -> None:
        super().__init__(read, max_queue_size)
        self._sequence = sequence
        self._workers = workers if max_queue_size else 0
        self._processes = use_multiprocessing
        self._shuffle = shuffle
        self._left = needed
        self._pool: ThreadPoolExecutor | ProcessPool | None = None
        self._waiting: deque[Future[Any]] = deque()
        self._order: list[int] = []
        self._undrawn: Iterator[int] = iter(())
        self._left_of_pass: float = 0
        self._drawn = 0

    @property
    def batches_per_pass(self) -> int | None:  # type: ignore[override]
        """The length; None for an endless `PyDataset`, whose `num_batches` is None."""
        length = getattr(self._sequence, "num_batches", None) if not hasattr(self._sequence, "__len__") else None
        if hasattr(self._sequence, "__len__"):
            length = len(self._sequence)
        return None if length is None else int(length)

    def draw(self) -> Any:
        if not self._left_of_pass and not self._waiting:
            self._begin()
        batch = self._next()
        self.given += 1
        if not self._left_of_pass and not self._waiting:
            self._call("on_epoch_end")
        return batch

    def _begin(self) -> None:
        length = self.batches_per_pass
        if length == 0:
            raise ValueError("Expected a Sequence with at least one batch. Received: one of length 0.")
        self._call("on_epoch_begin")
        if length is None:
            self._undrawn, self._left_of_pass = itertools.count(self._drawn), float("inf")
        else:
            if len(self._order) != length:
                self._order = list(range(length))
            if self._shuffle:
                random.shuffle(self._order)
            self._undrawn, self._left_of_pass = iter(self._order), length
        if self._workers and self._processes:
            processes = self._pool if isinstance(self._pool, ProcessPool) else ProcessPool(self._workers)
            self._pool = processes
            processes.send(self._sequence)
        elif self._workers and self._pool is None:
            self._pool = ThreadPoolExecutor(self._workers, thread_name_prefix="parallel_compat sequence")

    def _call(self, method: str) -> None:
        if hasattr(self._sequence, method):
            getattr(self._sequence, method)()

    def _next(self) -> Any:
        if self._pool is None:
            return self._get(*self._following())
        # One for now, and the queue; no more than training needs, unless it asks for more than it said.
        while (
            self._left_of_pass and len(self._waiting) <= self.max_queue_size and (self._left != 0 or not self._waiting)
        ):
            index, number = self._following()
            if isinstance(self._pool, ProcessPool):
                self._waiting.append(self._pool.submit(index))
            else:
                self._waiting.append(self._pool.submit(self._get, index, number))
            self._left = self._left and self._left - 1
        drawn = self._waiting.popleft().result()
        return self._read(drawn, self.given + 1) if isinstance(self._pool, ProcessPool) else drawn

    def _following(self) -> tuple[int, int]:
        self._left_of_pass -= 1
        self._drawn += 1
        return next(self._undrawn), self._drawn

    def _get(self, index: int, number: int) -> Any:
        return self._read(self._sequence[index], number)

    def close(self) -> None:
        for future in self._waiting:
            future.cancel()
        if self._pool is not None:
            self._pool.shutdown(wait=True, cancel_futures=True)
