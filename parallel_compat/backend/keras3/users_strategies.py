"""Models that the user's code makes under a `tf.distribute` strategy of its own, on several replicas. Keras 3.15.1."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import keras
import tensorflow as tf

if TYPE_CHECKING:
    from collections.abc import Iterator

    from parallel_compat.backend.keras3.patch_points import Point


def has_replicas(model: keras.Model) -> bool:
    """Whether a model was made under a strategy of several replicas (`Trainer._distribute_strategy`)."""
    strategy = getattr(model, "_distribute_strategy", None)
    return strategy is not None and strategy.num_replicas_in_sync > 1


def results_of_all_replicas(model: keras.Model) -> dict[str, Any] | None:
    """Return the results of a model's metrics over what the replicas of the user's `tf.distribute` strategy counted.

    Each replica counts in variables of its own, and Keras takes the mean of their results, whatever their samples.

    Args:
        model: a compiled model.

    Returns:
        By name; None where there is one replica, or no strategy.
    """
    if not has_replicas(model):
        return None
    variables = [variable for metric in model.metrics for variable in metric.variables]
    with keras.StatelessScope(state_mapping=[(each, _sum_of_replicas(model, each)) for each in variables]):
        results: dict[str, Any] = model.get_metrics_result()
    return results


def count_of_all_replicas(model: keras.Model, metric: Any) -> float:
    """Return what a metric that is a mean was weighted by, on all replicas (`Mean.count`)."""
    count = _sum_of_replicas(model, metric.count) if has_replicas(model) else metric.count
    return float(keras.ops.convert_to_numpy(count))


def divided_among_replicas(model: keras.Model, batch: Any) -> Any:
    """Return a batch of `train_on_batch` in parts for the replicas of the user's strategy, each of which took it all.

    They are as large as those of a data set that a strategy divides: what is left is the last one's.

    Args:
        model: the model.
        batch: a structure of arrays.
    """
    if not has_replicas(model):
        return batch
    strategy = model._distribute_strategy

    def divided(leaf: Any) -> Any:
        if leaf is None:
            return None
        size = -(-len(leaf) // strategy.num_replicas_in_sync)

        def part(context: Any) -> Any:
            start = context.replica_id_in_sync_group * size
            return tf.convert_to_tensor(leaf[start : start + size])

        return strategy.experimental_distribute_values_from_function(part)

    return keras.tree.map_structure(divided, batch)


def of_symbolic_builds() -> Iterator[Point]:
    """Yield where a model under a strategy is built with its first batch (`TensorFlowTrainer._maybe_symbolic_build`).

    Keras takes the mean of the data over the replicas, which fails where these have other numbers of samples: the part
    of the first one has the shapes as well.
    """
    from keras.src.backend.tensorflow.trainer import TensorFlowTrainer

    def wrap(original: Any) -> Any:
        def _maybe_symbolic_build(self: Any, iterator: Any = None, data_batch: Any = None) -> Any:
            if iterator is not None and has_replicas(self):
                batch = next(next(each for _, _, each in iterator))
                parts = self._distribute_strategy.experimental_local_results
                iterator, data_batch = None, keras.tree.map_structure(lambda value: parts(value)[0], batch)
            return original(self, iterator, data_batch)

        return _maybe_symbolic_build

    yield TensorFlowTrainer, "_maybe_symbolic_build", wrap


def _sum_of_replicas(model: keras.Model, variable: Any) -> Any:
    parts = model._distribute_strategy.experimental_local_results(variable._value)
    return keras.ops.sum(keras.ops.stack([keras.ops.convert_to_tensor(each) for each in parts]), axis=0)
