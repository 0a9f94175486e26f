"""`sklearn.cross_validation` until scikit-learn 0.19: splits that know their data's size, to be iterated over."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn import model_selection
from sklearn.model_selection import cross_val_predict, cross_val_score, permutation_test_score, train_test_split

__all__ = [
    "KFold", "LabelKFold", "LabelShuffleSplit", "LeaveOneLabelOut", "LeaveOneOut", "LeavePLabelOut", "LeavePOut",
    "PredefinedSplit", "ShuffleSplit", "StratifiedKFold", "StratifiedShuffleSplit", "check_cv", "cross_val_predict",
    "cross_val_score", "permutation_test_score", "train_test_split",
]  # fmt: skip


class _Splits:
    """Pairs of indices, as today's splitter makes them."""

    def __init__(self, splitter: Any, n: int, y: Any = None, labels: Any = None) -> None:
        self.splitter, self.of = splitter, (np.zeros(n), y, labels)

    def __iter__(self) -> Iterator[tuple[Any, Any]]:
        return iter(self.splitter.split(*self.of))

    def __len__(self) -> int:
        return int(self.splitter.get_n_splits(*self.of))


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


class LeavePOut(_Splits):
    """Each `p` of `n` samples once."""

    def __init__(self, n: int, p: int) -> None:
        super().__init__(model_selection.LeavePOut(p), n)


class LabelKFold(_Splits):
    """Folds in which no label is in two."""

    def __init__(self, labels: Any, n_folds: int = 3) -> None:
        super().__init__(model_selection.GroupKFold(n_folds), len(labels), None, labels)


class LeaveOneLabelOut(_Splits):
    """The samples of each label once."""

    def __init__(self, labels: Any) -> None:
        super().__init__(model_selection.LeaveOneGroupOut(), len(labels), None, labels)


class LeavePLabelOut(_Splits):
    """The samples of each `p` labels once."""

    def __init__(self, labels: Any, p: int) -> None:
        super().__init__(model_selection.LeavePGroupsOut(p), len(labels), None, labels)


class LabelShuffleSplit(_Splits):
    """Random splits in which no label is in both parts."""

    def __init__(
        self, labels: Any, n_iter: int = 5, test_size: Any = 0.2, train_size: Any = None, random_state: Any = None
    ) -> None:
        splitter = _random(model_selection.GroupShuffleSplit, n_iter, test_size, train_size, random_state)
        super().__init__(splitter, len(labels), None, labels)


class PredefinedSplit(_Splits):
    """The folds that `test_fold` says; -1 is never tested."""

    def __init__(self, test_fold: Any) -> None:
        super().__init__(model_selection.PredefinedSplit(test_fold), len(test_fold))


class ShuffleSplit(_Splits):
    """Random splits of `n` samples."""

    def __init__(
        self, n: int, n_iter: int = 10, test_size: Any = 0.1, train_size: Any = None, random_state: Any = None
    ) -> None:
        super().__init__(_random(model_selection.ShuffleSplit, n_iter, test_size, train_size, random_state), n)


class StratifiedShuffleSplit(_Splits):
    """Random splits with the classes of `y` in equal parts."""

    def __init__(
        self, y: Any, n_iter: int = 10, test_size: Any = 0.1, train_size: Any = None, random_state: Any = None
    ) -> None:
        splitter = _random(model_selection.StratifiedShuffleSplit, n_iter, test_size, train_size, random_state)
        super().__init__(splitter, len(y), y)


def _folds(kind: Any, n_folds: int, shuffle: bool, random_state: Any) -> Any:
    return kind(n_folds, shuffle=shuffle, random_state=random_state if shuffle else None)


def _random(kind: Any, n_iter: int, test_size: Any, train_size: Any, random_state: Any) -> Any:
    return kind(n_iter, test_size=test_size, train_size=train_size, random_state=random_state)


def check_cv(cv: Any, X: Any = None, y: Any = None, classifier: bool = False) -> Any:
    """Return splits: of a number of folds, or what is one already."""
    if cv is not None and not isinstance(cv, int):
        return cv
    splitter = model_selection.check_cv(cv or 3, y, classifier=classifier)
    return _Splits(splitter, len(X if X is not None else y), y)
