"""`sklearn.cross_validation` until scikit-learn 0.19: splits that know their data's size, to be iterated over."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn import model_selection
from sklearn.model_selection import cross_val_predict, cross_val_score, permutation_test_score, train_test_split

__all__ = [
    "KFold",
    "LeaveOneOut",
    "ShuffleSplit",
    "StratifiedKFold",
    "StratifiedShuffleSplit",
    "cross_val_predict",
    "cross_val_score",
    "permutation_test_score",
    "train_test_split",
]


class _Splits:
    """Pairs of indices, as today's splitter makes them."""

    def __init__(self, splitter: Any, n: int, y: Any = None) -> None:
        self.splitter, self.n, self.y = splitter, n, y

    def __iter__(self) -> Iterator[tuple[Any, Any]]:
        return iter(self.splitter.split(np.zeros(self.n), self.y))

    def __len__(self) -> int:
        return int(self.splitter.get_n_splits(np.zeros(self.n), self.y))


class KFold(_Splits):
    """Consecutive or shuffled folds of `n` samples."""

    def __init__(self, n: int, n_folds: int = 3, shuffle: bool = False, random_state: Any = None) -> None:
        super().__init__(_folds(model_selection.KFold, n_folds, shuffle, random_state), n)


class StratifiedKFold(_Splits):
    """Folds with the classes of `y` in equal parts."""

    def __init__(self, y: Any, n_folds: int = 3, shuffle: bool = False, random_state: Any = None) -> None:
        super().__init__(_folds(model_selection.StratifiedKFold, n_folds, shuffle, random_state), len(y), y)


class LeaveOneOut(_Splits):
    """Each of `n` samples once."""

    def __init__(self, n: int) -> None:
        super().__init__(model_selection.LeaveOneOut(), n)


class ShuffleSplit(_Splits):
    """Random splits of `n` samples."""

    def __init__(
        self, n: int, n_iter: int = 10, test_size: Any = 0.1, train_size: Any = None, random_state: Any = None
    ) -> None:
        splitter = model_selection.ShuffleSplit(
            n_iter, test_size=test_size, train_size=train_size, random_state=random_state
        )
        super().__init__(splitter, n)


class StratifiedShuffleSplit(_Splits):
    """Random splits with the classes of `y` in equal parts."""

    def __init__(
        self, y: Any, n_iter: int = 10, test_size: Any = 0.1, train_size: Any = None, random_state: Any = None
    ) -> None:
        splitter = model_selection.StratifiedShuffleSplit(
            n_iter, test_size=test_size, train_size=train_size, random_state=random_state
        )
        super().__init__(splitter, len(y), y)


def _folds(kind: Any, n_folds: int, shuffle: bool, random_state: Any) -> Any:
    return kind(n_folds, shuffle=shuffle, random_state=random_state if shuffle else None)
