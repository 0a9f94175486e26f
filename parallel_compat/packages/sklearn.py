"""Arguments and defaults of scikit-learn that changed."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

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
# Arguments without a meaning today, and who had them.
_DROPPED = {
    "algorithm": ("AdaBoostClassifier",),
    "iid": ("GridSearchCV", "RandomizedSearchCV"),
    "min_impurity_split": (
        *("RandomForestClassifier", "RandomForestRegressor", "ExtraTreesClassifier", "ExtraTreesRegressor"),
        *("GradientBoostingClassifier", "GradientBoostingRegressor"),
    ),
    "multi_class": ("LogisticRegression", "LogisticRegressionCV"),
    "n_jobs": ("KMeans",),
    "precompute_distances": ("KMeans",),
    "presort": ("GradientBoostingClassifier", "GradientBoostingRegressor"),
    "reorder": ("auc",),
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
# How many leading arguments have the places of scikit-learn 0.20 today, where it is not all of them.
_PLACES = {
    0: "MLPRegressor OneHotEncoder",
    1: "BernoulliNB ComplementNB Isomap LassoCV LinearRegression LogisticRegression LogisticRegressionCV MDS "
    "MultiTaskLassoCV MultinomialNB TheilSenRegressor make_scorer",
    2: "ElasticNetCV Lars Lasso MultiTaskElasticNetCV MultiTaskLasso OrthogonalMatchingPursuitCV Perceptron Ridge "
    "RidgeCV RidgeClassifier RidgeClassifierCV SpectralClustering auc fowlkes_mallows_score hamming_loss log_loss",
    3: "AdaBoostClassifier ElasticNet GridSearchCV LarsCV LassoLars LassoLarsCV LassoLarsIC MultiTaskElasticNet "
    "OrthogonalMatchingPursuit TruncatedSVD",
    4: "Birch FunctionTransformer RandomizedSearchCV k_means pairwise_distances_argmin pairwise_distances_argmin_min",
    5: "KMeans SpectralEmbedding",
    6: "AgglomerativeClustering BayesianRidge IsolationForest PCA SpectralCoclustering",
    7: "FactorAnalysis NMF RandomTreesEmbedding",
    8: "FastICA TSNE ridge_regression",
    9: "ARDRegression ExtraTreeRegressor ExtraTreesClassifier ExtraTreesRegressor RandomForestClassifier "
    "RandomForestRegressor SpectralBiclustering fastica",
    10: "DecisionTreeClassifier DecisionTreeRegressor ExtraTreeClassifier GradientBoostingClassifier "
    "GradientBoostingRegressor OneClassSVM non_negative_factorization",
    11: "DictionaryLearning KernelPCA MiniBatchSparsePCA SparsePCA",
    12: "cross_validate dict_learning_online",
    13: "NuSVC SVC",
}


def _change(module: Any) -> None:
    defaults = {**_DEFAULTS, **(_OF_2018 if notes.is_of_2018 else {})}
    places = {name: count for count, names in _PLACES.items() for name in names.split()}
    for name in getattr(module, "__all__", list(vars(module))):
        value = vars(module).get(name)
        if not callable(value) or not getattr(value, "__module__", "").startswith("sklearn."):
            continue
        known = parameters(value) or {}
        gone: dict[str, Any] = {old: new for old, new in _RENAMED.items() if new in known and old not in known}
        gone |= {old: None for old, names in _DROPPED.items() if name in names}
        is_class = inspect.isclass(value)
        owner, function = (value, "__init__") if is_class else (module, name)
        order = [each.name for each in known.values() if each.kind is not inspect.Parameter.VAR_KEYWORD]
        accept(owner, function, order=order[: places.get(name)], **gone)
        default(owner, function, **defaults.get(name, {}))


def _text(module: Any) -> None:
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


_MODULES = (
    "cluster decomposition ensemble linear_model manifold metrics model_selection naive_bayes neighbors neural_network "
    "preprocessing svm tree utils.class_weight"
)
CHANGES: dict[str, Callable[[Any], None]] = {
    **{f"sklearn.{name}": _change for name in _MODULES.split()},
    "sklearn.feature_extraction.text": _text,
    "sklearn.utils._tags": _tags,
}
