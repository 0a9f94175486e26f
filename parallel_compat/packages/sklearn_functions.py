"""Functions and classes that scikit-learn had."""

from __future__ import annotations

from typing import Any

import numpy as np


def linear_assignment(X: Any) -> Any:
    """Return the pairs of rows and columns of the smallest sum, sorted by row."""
    from scipy.optimize import linear_sum_assignment

    return np.array(linear_sum_assignment(X)).T


def jaccard_similarity_score(y_true: Any, y_pred: Any, normalize: bool = True, sample_weight: Any = None) -> Any:
    """Return the accuracy; of several labels a sample, the mean of the samples' Jaccard scores."""
    from sklearn.metrics import accuracy_score, jaccard_score
    from sklearn.utils.multiclass import type_of_target

    if not type_of_target(y_true).startswith("multilabel"):
        return accuracy_score(y_true, y_pred, normalize=normalize, sample_weight=sample_weight)
    scores = [
        jaccard_score(true, predicted, zero_division=1)
        for true, predicted in zip(np.asarray(y_true), np.asarray(y_pred), strict=True)
    ]
    return np.average(scores, weights=sample_weight) if normalize else np.dot(scores, np.ones(len(scores)))


class Imputer:
    """Fills missing values of columns, or of rows, by `SimpleImputer`.

    Args:
        missing_values: what is missing; "NaN" for `numpy.nan`.
    """

    def __init__(
        self, missing_values: Any = "NaN", strategy: str = "mean", axis: int = 0, verbose: int = 0, copy: bool = True
    ) -> None:
        from sklearn.impute import SimpleImputer

        missing = np.nan if isinstance(missing_values, str) else missing_values
        self.imputer = SimpleImputer(missing_values=missing, strategy=strategy, copy=copy)
        self.axis = axis

    def fit(self, X: Any, y: Any = None) -> Imputer:
        """Learn the columns' values."""
        if self.axis == 0:
            self.imputer.fit(np.asarray(X, dtype=float))
            self.statistics_ = self.imputer.statistics_
        return self

    def transform(self, X: Any) -> Any:
        """Fill the missing values."""
        X = np.asarray(X, dtype=float)
        return self.imputer.transform(X) if self.axis == 0 else self.imputer.fit_transform(X.T).T

    def fit_transform(self, X: Any, y: Any = None) -> Any:
        """Learn and fill."""
        return self.fit(X).transform(X)
