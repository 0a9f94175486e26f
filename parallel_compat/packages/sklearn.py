"""Arguments and defaults of scikit-learn that changed."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

from parallel_compat.names import old_packages
from parallel_compat.packages import notes
from parallel_compat.packages.arguments import accept, default, member, parameters
from parallel_compat.packages.notes import note

# Where a function or a class has the new argument and not the old one.
_RENAMED = {
    "affinity": "metric",
    "base_estimator": "estimator",
    "fit_params": "params",
    "n_iter": "max_iter",
    "probas_pred": "y_score",
    "sparse": "sparse_output",
    "y_prob": "y_proba",
}
# Defaults that decide numbers: until scikit-learn 1.3, and until 0.21.
_DEFAULTS: dict[str, dict[str, Any]] = {
    "KMeans": {"n_init": 10},
    "MiniBatchKMeans": {"n_init": 3},
    "TSNE": {"init": "random", "learning_rate": 200.0},
}
_OF_2018: dict[str, dict[str, Any]] = {
    "ExtraTreesClassifier": {"n_estimators": 10},
    "ExtraTreesRegressor": {"n_estimators": 10},
    "GridSearchCV": {"cv": 3},
    "KFold": {"n_splits": 3},
    "LogisticRegression": {"solver": "liblinear"},
    "RandomForestClassifier": {"n_estimators": 10},
    "RandomForestRegressor": {"n_estimators": 10},
    "RandomizedSearchCV": {"cv": 3},
    "SVC": {"gamma": "auto"},
    "SVR": {"gamma": "auto"},
    "StratifiedKFold": {"n_splits": 3},
    "cross_val_predict": {"cv": 3},
    "cross_val_score": {"cv": 3},
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


def _tags(module: Any) -> None:
    """Take estimators that are no BaseEstimator, such as old Keras's wrappers, since 1.6 asks each for its tags."""
    original = module.get_tags

    @functools.wraps(original)
    def get_tags(estimator: Any) -> Any:
        if hasattr(estimator, "__sklearn_tags__"):
            return original(estimator)
        note(type(estimator).__name__, "an estimator without scikit-learn's tags, which has the default ones")
        kind = getattr(estimator, "_estimator_type", None)
        # A pipeline asks whether its last step was fitted: nobody asked then.
        return module.Tags(estimator_type=kind, target_tags=module.TargetTags(required=False), requires_fit=False)

    module.get_tags = get_tags


CHANGES: dict[str, Callable[[Any], None]] = {
    **dict.fromkeys(old_packages.modules_with_positions(), _change),
    "sklearn.feature_extraction.text": _text,
    "sklearn.utils._tags": _tags,
}
