"""The queues that Keras 2 drew batches through, for code that uses them by itself."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from parallel_compat.batches.sources import GeneratorSource, SequenceSource, Source


class SequenceEnqueuer:
    """What both queues share.

    Args:
        sequence: what is drawn from.
        use_multiprocessing: whether workers are processes.
    """

    def __init__(self, sequence: Any, use_multiprocessing: bool = False) -> None:
        self.sequence = sequence
        self.use_multiprocessing = use_multiprocessing
        self._source: Source | None = None

    def is_running(self) -> bool:
        """Return whether it was started, and not stopped."""
        return self._source is not None

    def start(self, workers: int = 1, max_queue_size: int = 10) -> None:
        """Begin to draw.

        Args:
            workers: how many threads or processes.
            max_queue_size: how many batches may be ready.
        """
        self._source = self._open(max(workers, 1), max_queue_size)

    def _open(self, workers: int, max_queue_size: int) -> Source:
        raise NotImplementedError

    def stop(self, timeout: float | None = None) -> None:
        """End the workers."""
        source, self._source = self._source, None
        if source is not None:
            source.close()

    def get(self) -> Iterator[Any]:
        """Yield what was drawn, until `stop` or the end of a finite generator."""
        while (source := self._source) is not None:
            try:
                batch = source.draw()
            except StopIteration:
                return
            if batch is not None:
                yield batch


class OrderedEnqueuer(SequenceEnqueuer):
    """Draws from a Sequence, in its order, pass after pass.

    >>> import keras
    >>> class Squares(keras.utils.PyDataset):
    ...     def __len__(self):
    ...         return 3
    ...     def __getitem__(self, i):
    ...         return i * i
    >>> queue = OrderedEnqueuer(Squares())
    >>> queue.start(workers=2)
    >>> batches = queue.get()
    >>> [next(batches) for _ in range(4)]
    [0, 1, 4, 0]
    >>> queue.stop()

    Args:
        sequence: a `keras.utils.Sequence`, today `PyDataset`.
        use_multiprocessing: whether workers are processes.
        shuffle: whether each pass has an order of its own.
    """

    def __init__(self, sequence: Any, use_multiprocessing: bool = False, shuffle: bool = False) -> None:
        super().__init__(sequence, use_multiprocessing)
        self.shuffle = shuffle

    def _open(self, workers: int, max_queue_size: int) -> Source:
        return SequenceSource(
            self.sequence, _as_it_is, workers, self.use_multiprocessing, max_queue_size, shuffle=self.shuffle
        )


class GeneratorEnqueuer(SequenceEnqueuer):
    """Draws from a generator, by one thread whatever `workers` says: a generator cannot be shared.

    Args:
        generator: what is drawn from.
        use_multiprocessing: not used; copies of a generator would each give the same batches.
        wait_time: not used.
        random_seed: not used, there are no processes to seed.
    """

    def __init__(
        self,
        generator: Any,
        use_multiprocessing: bool = False,
        wait_time: float | None = None,
        random_seed: int | None = None,
    ) -> None:
        super().__init__(generator, use_multiprocessing)

    def _open(self, workers: int, max_queue_size: int) -> Source:
        return GeneratorSource(self.sequence, _as_it_is, max_queue_size)


def _as_it_is(batch: Any, _number: int) -> Any:
    return batch
