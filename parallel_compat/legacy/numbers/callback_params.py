"""What callbacks knew of a training in Keras 2, and do not in Keras 3: the fields of `params`."""

from __future__ import annotations

from typing import Any

from parallel_compat.legacy import compiled_metrics
from parallel_compat.names.eras import Era
from parallel_compat.run import object_eras

_ORDER = ("batch_size", "epochs", "steps", "samples", "verbose", "do_validation")


class Params(dict[str, Any]):
    """A callback's `params` with what Keras 2.2.4 had in it (`keras/engine/training_arrays.py`), and TensorFlow 1.15.

    >>> params = Params({"epochs": 2, "steps": 4}, callback=None, do_validation=False, batch_size=3, samples=10)
    >>> params["samples"], params.size_of_batch(0), params.size_of_batch(3)
    (10, 3, 1)

    `metrics` is found out when it is asked for, where the names are not known before the first batch. With arrays and
    without `steps_per_epoch` there are samples and no `steps`.

    Args:
        params: those of Keras 3.
        callback: whose model has the metrics.
        do_validation: whether there is validation data.
        **of_arrays: `batch_size`, `samples` and perhaps `steps`, where the data is arrays.
    """

    def __init__(self, params: dict[str, Any], callback: Any, *, do_validation: bool, **of_arrays: Any) -> None:
        era = object_eras.era_of_training(getattr(callback, "model", None))
        if era is Era.TF_KERAS_1_15 and "samples" not in of_arrays:  # which counted steps where there are no arrays
            of_arrays = {"batch_size": None, "samples": params.get("steps"), **of_arrays}
        known = {**params, "do_validation": do_validation, **of_arrays}
        super().__init__(sorted(known.items(), key=lambda item: _ORDER.index(item[0]) if item[0] in _ORDER else 0))
        self._callback = callback
        # `fit_generator` of Keras 2.2.4 named the metrics of a validation where there was none as well.
        self._names_validation = do_validation or (era.is_standalone and "samples" not in of_arrays)
        if compiled_metrics.order_of(getattr(callback, "model", None)) is not None:
            self["metrics"] = self._metrics()

    def __missing__(self, name: str) -> Any:
        if name != "metrics":
            raise KeyError(name)
        return self._metrics()

    def _metrics(self) -> list[str]:
        names = compiled_metrics.metrics_names(self._callback.model)
        return names + [f"val_{each}" for each in names] if self._names_validation else names

    def get(self, name: str, default: Any = None) -> Any:
        return self[name] if name == "metrics" else super().get(name, default)

    def validates(self) -> None:
        """A validation begins, which in TensorFlow 1.15's training on arrays shared this dict, and said nothing."""
        era = object_eras.era_of_training(getattr(self._callback, "model", None))
        if era is Era.TF_KERAS_1_15 and self.get("batch_size") is not None:
            self["verbose"] = 0

    def size_of_batch(self, number: int) -> int | None:
        """Return the samples of a batch, counted from 0; None where the data is no arrays."""
        if self.get("batch_size") is None:
            return None
        return int(min(self["batch_size"], self["samples"] - number * self["batch_size"]))


def extend(callback: Any, **added: Any) -> None:
    """Let a callback's next `set_params` add these arguments of `Params`."""
    vars(callback)["_parallel_compat_params"] = added


def complete(history: Any, **added: Any) -> None:
    """Add these arguments of `Params` to the `params` of what `fit` returned."""
    extend(history, **added)
    set_params(history, history.params)


def set_params(callback: Any, params: dict[str, Any]) -> None:
    """Set a callback's `params` (`Callback.set_params`)."""
    if params and params.get("verbose") == "auto":  # today's default, which is 1
        params = {**params, "verbose": 1}
    added = vars(callback).get("_parallel_compat_params")
    is_plain = added is None or object_eras.era_of_training(getattr(callback, "model", None)) is Era.TF_KERAS_2_2
    callback.params = params if is_plain else Params(params, callback, **added)
