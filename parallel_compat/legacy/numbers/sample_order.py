"""The order of samples that `fit(shuffle=...)` drew from `np.random`, so that `np.random.seed` repeats a run.

Keras 2.2.4 shuffled one permutation on and on, epoch by epoch (`training_arrays.fit_loop`); TensorFlow 1.15 began each
epoch anew, and did not reorder a single batch (`training_arrays.model_iteration`). For TensorFlow 2.2 see
`draws_of_tensorflow`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import keras
import numpy as np

if TYPE_CHECKING:
    from parallel_compat.names.eras import Era


class drawn:
    """A function that draws the order of an epoch's samples, given their number and the batch size.

    >>> from parallel_compat.names.eras import Era
    >>> np.random.seed(1)
    >>> draw = drawn(Era.KERAS_2_2_4, True)
    >>> draw(4, 2), draw(4, 2)
    (array([3, 2, 0, 1]), array([3, 0, 2, 1]))

    Args:
        era: the era, one with graphs, whose `fit` drew from `np.random`.
        shuffle: True, False, or "batch" to shuffle the batches.
    """

    def __init__(self, era: Era, shuffle: Any) -> None:
        self._era = era
        self._shuffle = shuffle
        self._order = np.arange(0)

    def __call__(self, samples: int, batch_size: int) -> Any:
        if not self._era.is_standalone or len(self._order) != samples:
            self._order = np.arange(samples)
        if isinstance(self._shuffle, str) and self._shuffle == "batch":
            self._order = _batches_shuffled(self._order, batch_size)
        elif self._shuffle:
            np.random.shuffle(self._order)
        if not self._era.is_standalone and samples <= batch_size:
            return np.arange(samples)
        return self._order.copy()

    def state_of_draws(self) -> Any:
        """What the next order is made from, besides `np.random`."""
        return self._order

    def draw_on_from(self, state: Any) -> None:
        """Draw on from what `state_of_draws` returned."""
        self._order = state


def _batches_shuffled(order: Any, batch_size: int) -> Any:
    whole = len(order) // batch_size * batch_size
    batches = order[:whole].reshape(-1, batch_size).copy()
    np.random.shuffle(batches)
    return np.append(batches.flatten(), order[whole:])


class DrawsForValidation(keras.callbacks.Callback):  # type: ignore[misc]  # Keras carries no types
    """Draws from `np.random` at each validation of `fit`, as TensorFlow 1.15 did: it shuffled what it validated on.

    Args:
        samples: how many are held out.
    """

    def __init__(self, samples: int) -> None:
        super().__init__()
        self._samples = samples

    def on_test_begin(self, logs: dict[str, Any] | None = None) -> None:
        np.random.shuffle(np.arange(self._samples))
