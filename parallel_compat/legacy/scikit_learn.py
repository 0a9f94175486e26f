"""Keras models as estimators of scikit-learn: `keras.wrappers.scikit_learn` of Keras 2.

scikit-learn itself is needed only where its functions take the estimator.
"""

from __future__ import annotations

import copy
import inspect
from collections.abc import Callable
from typing import Any

import keras
import numpy as np

from parallel_compat.legacy.utils import has_arg, to_list

try:
    from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
except ImportError:  # the estimators work by themselves
    names = ("BaseEstimator", "ClassifierMixin", "RegressorMixin")
    BaseEstimator, ClassifierMixin, RegressorMixin = (type(name, (), {}) for name in names)

# What the methods of Keras 2's models took; today's take other arguments.
_OF_METHODS = {
    "fit": "x y batch_size epochs nb_epoch verbose callbacks validation_split validation_data shuffle class_weight "
    "sample_weight initial_epoch steps_per_epoch validation_steps",
    "predict": "x batch_size verbose steps",
    "evaluate": "x y batch_size verbose sample_weight steps",
}


class BaseWrapper(BaseEstimator):  # type: ignore[misc]
    """What `KerasClassifier` and `KerasRegressor` share.

    Args:
        build_fn: makes and compiles a model: a function, an object with `__call__`, or None for a subclass that has
            `__call__` itself.
        **sk_params: arguments of `build_fn`, and of `fit`, `predict` and `evaluate`.
    """

    def __init__(self, build_fn: Callable[..., Any] | None = None, **sk_params: Any) -> None:
        self.build_fn = build_fn
        self.sk_params = sk_params
        self.check_params(sk_params)

    def __sklearn_is_fitted__(self) -> bool:
        """Whether there is a trained model: a pipeline asks for it."""
        return hasattr(self, "model")

    def _maker(self) -> Callable[..., Any]:
        if self.build_fn is None:
            return self.__call__  # type: ignore[no-any-return]
        if inspect.isroutine(self.build_fn):
            return self.build_fn
        call: Callable[..., Any] = type(self.build_fn).__call__.__get__(self.build_fn)
        return call

    def check_params(self, params: dict[str, Any]) -> None:
        """Refuse arguments that neither `build_fn` nor a method of models takes.

        Raises:
            ValueError: there is one.
        """
        known = " ".join(_OF_METHODS.values()).split()
        for name in params:
            if name not in known and not has_arg(self._maker(), name):
                raise ValueError(
                    "Expected arguments of `build_fn` or of a model's `fit`, `predict` and `evaluate`. Received: "
                    f"{name} is not a legal parameter"
                )

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return `build_fn` and copies of the other arguments, as scikit-learn asks for them."""
        return {**copy.deepcopy(self.sk_params), "build_fn": self.build_fn}

    def set_params(self, **params: Any) -> Any:
        """Change arguments."""
        self.check_params(params)
        self.sk_params.update(params)
        return self

    def fit(self, x: Any, y: Any, **kwargs: Any) -> Any:
        """Make a model and train it.

        Args:
            x: the samples.
            y: the targets; class numbers become vectors where the loss is `categorical_crossentropy`.
            **kwargs: those of `model.fit`.

        Returns:
            What `model.fit` returns.
        """
        maker = self._maker()
        self.model = maker(**self.filter_sk_params(maker))
        arguments = {**copy.deepcopy(self.filter_sk_params("fit")), **kwargs}
        epochs = arguments.pop("nb_epoch", None)
        if epochs is not None:
            arguments["epochs"] = epochs
        return self.model.fit(x, self._for_loss(y), **arguments)

    def filter_sk_params(self, fn: Any, override: dict[str, Any] | None = None) -> dict[str, Any]:
        """Return those arguments that a function, or a method of models, takes.

        Args:
            fn: a function, or a method or the name of one: `"fit"`.
            override: arguments that are added, or come instead.
        """
        names = _OF_METHODS.get(fn if isinstance(fn, str) else "", "").split()
        taken = {
            name: value for name, value in self.sk_params.items() if (name in names if names else has_arg(fn, name))
        }
        return {**taken, **(override or {})}

    def _for_loss(self, y: Any) -> Any:
        loss = getattr(self.model.loss, "__name__", self.model.loss)
        if loss == "categorical_crossentropy" and len(np.shape(y)) != 2:
            return keras.utils.to_categorical(y)
        return y

    def _evaluate(self, x: Any, y: Any, kwargs: dict[str, Any]) -> dict[str, Any]:
        arguments = {"verbose": 0, **self.filter_sk_params("evaluate", kwargs)}
        results: dict[str, Any] = self.model.evaluate(x, y, return_dict=True, **arguments)
        return results


class KerasClassifier(ClassifierMixin, BaseWrapper):  # type: ignore[misc]
    """A Keras model as a classifier of scikit-learn."""

    def __sklearn_tags__(self) -> Any:
        """Return scikit-learn's tags: a classifier once it is trained.

        Keras 2's estimator was no classifier to scikit-learn, so searches and cross-validations, which get an untrained
        one, cut the samples into plain folds (`KFold`). Metrics of probabilities get a trained one, and need a
        classifier today. Scripts set `_estimator_type = "classifier"` for stratified folds.
        """
        tags = super().__sklearn_tags__()
        if "_estimator_type" not in vars(self) and not hasattr(self, "classes_"):
            tags.estimator_type = None
        return tags

    def fit(self, x: Any, y: Any, sample_weight: Any = None, **kwargs: Any) -> Any:
        """Make a model and train it; `classes_` are the labels found in `y`.

        Args:
            x: the samples.
            y: a label each, or vectors.
            sample_weight: a weight each.
            **kwargs: those of `model.fit`.
        """
        y = np.array(y)
        if y.ndim == 2 and y.shape[1] > 1:
            self.classes_ = np.arange(y.shape[1])
        elif y.ndim == 1 or (y.ndim == 2 and y.shape[1] == 1):
            self.classes_ = np.unique(y)
            y = np.searchsorted(self.classes_, y)
        else:
            raise ValueError(f"Expected labels of rank 1 or 2. Received: Invalid shape for y: {y.shape}")
        self.n_classes_ = len(self.classes_)
        if sample_weight is not None:
            kwargs["sample_weight"] = sample_weight
        return super().fit(x, y, **kwargs)

    def predict(self, x: Any, **kwargs: Any) -> Any:
        """Return the label of each sample."""
        probabilities = self._probabilities(x, kwargs)
        if probabilities.shape[-1] > 1:
            return self.classes_[probabilities.argmax(axis=-1)]
        return self.classes_[(probabilities > 0.5).astype("int32")]

    def predict_proba(self, x: Any, **kwargs: Any) -> Any:
        """Return the probability of each class; of two where the model has one output."""
        probabilities = self._probabilities(x, kwargs)
        if probabilities.shape[1] == 1:
            return np.hstack([1 - probabilities, probabilities])
        return probabilities

    def _probabilities(self, x: Any, kwargs: dict[str, Any]) -> Any:
        return self.model.predict(x, **{"verbose": 0, **self.filter_sk_params("predict", kwargs)})

    def score(self, x: Any, y: Any, **kwargs: Any) -> float:
        """Return the accuracy.

        Raises:
            ValueError: the model was compiled without it.
        """
        y = self._for_loss(np.searchsorted(self.classes_, y))
        for name, value in self._evaluate(x, y, kwargs).items():
            if name in ("acc", "accuracy"):
                return float(value)
        raise ValueError(
            'The model is not configured to compute accuracy. You should pass `metrics=["accuracy"]` to the '
            "`model.compile()` method."
        )


class KerasRegressor(RegressorMixin, BaseWrapper):  # type: ignore[misc]
    """A Keras model as a regressor of scikit-learn."""

    def predict(self, x: Any, **kwargs: Any) -> Any:
        """Return the prediction of each sample."""
        return np.squeeze(self.model.predict(x, **{"verbose": 0, **self.filter_sk_params("predict", kwargs)}))

    def score(self, x: Any, y: Any, **kwargs: Any) -> float:
        """Return the loss times -1: more is better."""
        return -float(self._evaluate(x, y, kwargs)["loss"])


__all__ = ["BaseWrapper", "KerasClassifier", "KerasRegressor", "has_arg", "to_list"]
