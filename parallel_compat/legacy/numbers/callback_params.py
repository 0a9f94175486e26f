"""What callbacks knew of a training in Keras 2, and do not in Keras 3: fields of `params`, of a batch's logs."""

from __future__ import annotations

from typing import Any


class Params(dict[str, Any]):
    """A callback's `params` with what Keras 2.2.4 had in it (`keras/engine/training_arrays.py`).

    >>> params = Params({"epochs": 2, "steps": 4}, callback=None, do_validation=False, batch_size=3, samples=10)
    >>> params["samples"], params.size_of_batch(0), params.size_of_batch(3)
    (10, 3, 1)

    `metrics` is found out when it is asked for: Keras 3 knows the names after the first batch.

    Args:
        params: those of Keras 3.
        callback: whose model has the metrics.
        do_validation: whether there is validation data.
        **of_arrays: `batch_size` and `samples`, where the data is arrays.
    """

    def __init__(self, params: dict[str, Any], callback: Any, *, do_validation: bool, **of_arrays: int) -> None:
        super().__init__(params, do_validation=do_validation, **of_arrays)
        self._callback = callback

    def __missing__(self, name: str) -> Any:
        if name != "metrics":
            raise KeyError(name)
        from parallel_compat.legacy import models

        names = models.metrics_names(self._callback.model)
        return names + [f"val_{each}" for each in names] if self["do_validation"] else names

    def get(self, name: str, default: Any = None) -> Any:
        return self[name] if name == "metrics" else super().get(name, default)

    def size_of_batch(self, number: int) -> int | None:
        """Return the samples of a batch, counted from 0; None where the data is no arrays."""
        if "samples" not in self:
            return None
        return int(min(self["batch_size"], self["samples"] - number * self["batch_size"]))


def extend(callback: Any, **added: Any) -> None:
    """Let a callback's next `set_params` add these arguments of `Params`."""
    vars(callback)["_parallel_compat_params"] = added


def set_params(callback: Any, params: dict[str, Any]) -> None:
    """Set a callback's `params` (`Callback.set_params`)."""
    added = vars(callback).get("_parallel_compat_params")
    callback.params = params if added is None else Params(params, callback, **added)


def of_batch(callback: Any, number: int, logs: dict[str, Any] | None) -> dict[str, Any]:
    """Add `batch` and `size` to the logs that `on_batch_begin` and `on_batch_end` get, where they are not there."""
    if logs and "batch" in logs:
        return logs
    size = callback.params.size_of_batch(number) if isinstance(callback.params, Params) else None
    place = {"batch": number} if size is None else {"batch": number, "size": size}
    return type(logs or {})({**place, **(logs or {})})
