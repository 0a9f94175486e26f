"""Arguments and defaults of scikit-learn that changed."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from parallel_compat.names import old_packages
from parallel_compat.packages import notes
from parallel_compat.packages.arguments import accept, around, default, member, parameters
from parallel_compat.packages.notes import note

# Where a function or a class has the new argument and not the old one.
_RENAMED = {
    "affinity": "metric", "base_estimator": "estimator", "fit_params": "params", "n_iter": "max_iter",
    "probas_pred": "y_score", "sparse": "sparse_output", "y_prob": "y_proba",
}  # fmt: skip
# Defaults that decide numbers: until scikit-learn 1.3, and until 0.21.
_DEFAULTS: dict[str, dict[str, Any]] = {
    "KMeans": {"n_init": 10},
    "MiniBatchKMeans": {"n_init": 3},
    "TSNE": {"init": "random", "learning_rate": 200.0},
}
_FORESTS = ("ExtraTreesClassifier", "ExtraTreesRegressor", "RandomForestClassifier", "RandomForestRegressor")
_VALIDATIONS = ("GridSearchCV", "RandomizedSearchCV", "cross_val_predict", "cross_val_score")
_OF_2018: dict[str, dict[str, Any]] = {
    **{name: {"n_estimators": 10} for name in _FORESTS},
    **{name: {"cv": 3} for name in _VALIDATIONS},
    **{name: {"n_splits": 3} for name in ("KFold", "StratifiedKFold")},
    **{name: {"gamma": "auto"} for name in ("SVC", "SVR")},
    "LogisticRegression": {"solver": "liblinear"},
}


def _change(module: Any) -> None:
    defaults = {**_DEFAULTS, **(_OF_2018 if notes.is_of_2018 else {})}
    for name in getattr(module, "__all__", list(vars(module))):
        value = vars(module).get(name)
        if not callable(value) or not getattr(value, "__module__", "").startswith("sklearn."):
            continue
        known = parameters(value) or {}
        gone: dict[str, Any] = {old: new for old, new in _RENAMED.items() if new in known and old not in known}
        is_class = inspect.isclass(value)
        owner, function = (value, "__init__") if is_class else (module, name)
        agreeing, names = old_packages.positions(f"{module.__name__}.{name}") or (0, ())
        order = [*[*known][:agreeing], *[each.lstrip("-!") for each in names]]
        gone |= {each[1:]: None for each in names if each.startswith("-")}
        gone |= {"normalize": _not_normalized} if "!normalize" in names else {}
        accept(owner, function, order=order, agreeing=agreeing, **gone)
        default(owner, function, **defaults.get(name, {}))


def _not_normalized(options: dict[str, Any], value: Any) -> None:
    if value:
        raise TypeError(
            "scikit-learn 1.1 was the last to take normalize=True: subtract the mean of each column of x, and divide "
            "the column by its norm, before fit"
        )


def _text(module: Any) -> None:
    _change(module)
    kinds = [getattr(module, name) for name in ("CountVectorizer", "TfidfVectorizer", "HashingVectorizer")]
    member(kinds[:2], get_feature_names=lambda self: self.get_feature_names_out().tolist())


def _selection(module: Any) -> None:
    """Fold classes as before 0.22; `import *` leaves out what is experimental."""
    from sklearn.utils import check_random_state

    _change(module)
    module.__all__ = [name for name in module.__all__ if name in vars(module)]

    def make_folds(original: Any, self: Any, X: Any, y: Any = None) -> Any:
        shuffle, self.shuffle = self.shuffle, False
        try:
            folds = original(self, X, y)  # which checks y, and draws nothing
        finally:
            self.shuffle = shuffle
        note("StratifiedKFold", "folds as before scikit-learn 0.22")
        random = check_random_state(self.random_state) if shuffle else None
        for of_class in (np.ravel(y) == each for each in np.unique(y)):
            count = int(of_class.sum())
            parts = module.KFold(self.n_splits, shuffle=shuffle, random_state=random)
            numbered = np.empty(max(count, self.n_splits), int)
            for fold, (_, tested) in enumerate(parts.split(numbered)):
                numbered[tested] = fold
            folds[of_class] = numbered[:count]
        return folds

    if notes.is_of_2018:
        around(module.StratifiedKFold, "_make_test_folds", make_folds)


def _flip(original: Any, u: Any, v: Any, u_based_decision: bool = True) -> Any:
    """Give components the signs that they had before 1.5: the largest value of each new column is positive."""
    note("sklearn.decomposition", "solvers and signs of components as before scikit-learn 1.5")
    return original(u, v, u_based_decision=u is not None)


def _fit_components(original: Any, self: Any, X: Any) -> Any:
    """Let PCA choose its solver as before 1.5, which knew no covariance: it decides what is drawn, too."""
    shape = np.shape(X)
    if self.svd_solver != "auto" or len(shape) != 2:
        return original(self, X)
    number = min(shape) if self.n_components is None else self.n_components
    is_small = number == "mle" or max(shape) <= 500 or not 1 <= number < 0.8 * min(shape)
    self.svd_solver = "full" if is_small else "randomized"
    try:
        return original(self, X)
    finally:
        self.svd_solver = "auto"


def _components(module: Any) -> None:
    around(module, "svd_flip", _flip)
    around(module.PCA, "_fit", _fit_components)


def _regression(module: Any) -> None:
    """Let the solver that was the default take more than two classes: each against the rest."""
    _change(module)
    from sklearn.base import clone

    def fit_each(fit: Any, self: Any, X: Any, y: Any, sample_weight: Any = None) -> Any:
        classes = np.unique(y)
        self._one_to_rest = self.solver == "liblinear" and len(classes) > 2
        if not self._one_to_rest:
            return fit(self, X, y, sample_weight)
        note("LogisticRegression", "liblinear takes more than two classes: each against the rest")
        of_each = [fit(clone(self), X, np.ravel(y) == each, sample_weight) for each in classes]
        for name in ("coef_", "intercept_", "n_iter_"):
            setattr(self, name, np.concatenate([getattr(each, name) for each in of_each]))
        self.classes_, self.n_features_in_ = classes, self.coef_.shape[1]
        return self

    def predict(probabilities: Any, self: Any, X: Any) -> Any:
        if not getattr(self, "_one_to_rest", False):
            return probabilities(self, X)
        each = 1 / (1 + np.exp(-self.decision_function(X)))
        return each / each.sum(axis=1, keepdims=True)

    around(module.LogisticRegression, "fit", fit_each)
    around(module.LogisticRegression, "predict_proba", predict)


def _get_tags(module: Any, original: Any, estimator: Any) -> Any:
    """Take estimators that are no BaseEstimator, such as old Keras's wrappers, since 1.6 asks each for its tags."""
    if hasattr(estimator, "__sklearn_tags__"):
        return original(estimator)
    note(type(estimator).__name__, "an estimator without scikit-learn's tags, which has the default ones")
    kind = getattr(estimator, "_estimator_type", None)
    # A pipeline asks whether its last step was fitted: nobody asked then.
    return module.Tags(estimator_type=kind, target_tags=module.TargetTags(required=False), requires_fit=False)


CHANGES: dict[str, Callable[[Any], None]] = {
    **dict.fromkeys(old_packages.modules_with_positions(), _change),
    "sklearn.decomposition._pca": _components,
    "sklearn.decomposition._truncated_svd": lambda module: around(module, "svd_flip", _flip),
    "sklearn.feature_extraction.text": _text,
    "sklearn.linear_model": _regression,
    "sklearn.model_selection": _selection,
    "sklearn.utils._tags": lambda module: around(module, "get_tags", functools.partial(_get_tags, module)),
}
