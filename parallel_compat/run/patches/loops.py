"""How the loops over arrays and Sequences count epochs: as the time of a model did."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from parallel_compat.batches.sources import AT_ONCE, BEFORE_THE_NEXT, NEVER, Passes
from parallel_compat.names.eras import Era
from parallel_compat.run import object_eras

if TYPE_CHECKING:
    from parallel_compat.backend.patches import Patches


def put_on(patches: Patches) -> None:
    """Let the loops over arrays and Sequences count epochs as the time of a model did."""
    from parallel_compat.batches import generator_methods
    from parallel_compat.training import in_memory

    patches.set(
        in_memory, "order_of_validation", _order_of_validation, why="tf.keras 1.15 shuffled what it validated on"
    )
    patches.set(in_memory, "epoch_logs", _epoch_logs, why="epochs are counted as in the era of the model")
    patches.set(
        in_memory, "goes_on", _goes_on, why="the first `train_on_batch` after `fit` of tf.keras goes on from it"
    )
    patches.set(
        generator_methods,
        "passes_of",
        _passes_of,
        why="`steps_per_epoch` of a Sequence: TensorFlow 2.2 began it again in each epoch, 1.15 in each validation; "
        "and when they called its `on_epoch_end`",
    )
    patches.set(
        generator_methods, "of_dataset", _of_dataset, why="a data set went on from epoch to epoch, and ended training"
    )
    patches.set(generator_methods, "data_ended", _data_ended, why="so did a generator")
    patches.set(
        generator_methods,
        "first_targets",
        _first_targets,
        why="TensorFlow 2.2 did not know the last axis of labels that were drawn when it chose what accuracy is; "
        "1.15 and Keras 2.2.4 refused those of another shape than their output's",
    )
    patches.set(
        generator_methods,
        "first_weights",
        _first_weights,
        why="a loss of TensorFlow 1.15 had places for weights while batches had some",
    )
    patches.set(
        generator_methods,
        "combines_weights",
        _combines_weights,
        why="Keras 2.2.4 left out `class_weight` where a generator yielded weights of samples",
    )
    patches.set(
        generator_methods,
        "check_classes",
        _check_classes,
        why="a class of a batch without a weight was refused before TensorFlow 2",
    )


def _order_of_validation(model: Any) -> Any:
    era = object_eras.era_of_training(model)
    if era is not Era.TF_KERAS_1_15:
        return False
    from parallel_compat.legacy import execution
    from parallel_compat.legacy.numbers import sample_order

    if execution.is_eager():
        return False

    return sample_order.drawn(era, True)


def _goes_on(model: Any) -> bool:
    from parallel_compat.legacy.numbers import batch_logs

    return batch_logs.goes_on(model)


def _passes_of(model: Any, what: str, workers: int, is_validated: bool, in_steps: bool) -> Passes:
    """Return how a Sequence was passed through in the era of a model.

    Before TensorFlow 2 it was the workers that called `on_epoch_end`, who looked ten times a second whether a pass was
    over: after the last one, training was over first, unless there was a validation. Keras 2.3 waited for them where an
    epoch was a pass, and called it itself where there were none.
    """
    era = object_eras.era_of_training(model)
    if era is Era.TF_KERAS_2_2:  # that of training, asked for once in all, is in `fit`
        return Passes(again=True, first_twice=what != "training", runs_out=True)
    if not era.has_graphs:
        return Passes()
    again = era is Era.TF_KERAS_1_15 and what == "validation"
    anew = era is Era.KERAS_2_3
    if anew and what == "training" and not (in_steps and workers):
        return Passes(ends=AT_ONCE, anew=True)
    if not workers:
        return Passes(again, ends=NEVER, anew=anew)
    return Passes(again, ends=AT_ONCE if what == "training" and is_validated else BEFORE_THE_NEXT, anew=anew)


def _of_dataset(model: Any, data: Any, what: str, steps: int | None, class_weight: Any) -> Any:
    from parallel_compat.legacy.numbers import ends_of_data

    return ends_of_data.dataset_of(model, data, what, steps, class_weight)


def _data_ended(model: Any, what: str, steps: int | None, batches: int) -> bool:
    from parallel_compat.legacy.numbers import ends_of_data

    return ends_of_data.ended(model, what, steps, batches)


def _combines_weights(model: Any) -> bool:
    return object_eras.era_of_training(model) is not Era.KERAS_2_2_4  # `standardize_weights`


def _check_classes(model: Any, class_weight: Any, targets: Any) -> None:
    from parallel_compat.run import given_weights

    given_weights.check_classes(class_weight, targets, object_eras.era_of_training(model))


def _first_targets(model: Any, targets: Any) -> None:
    from parallel_compat.legacy import compiled_metrics, target_shapes

    target_shapes.check(model, targets)
    compiled_metrics.of_drawn_targets(model, targets)


def _first_weights(model: Any, what: str, weighted: bool) -> None:
    from parallel_compat.legacy.numbers import made_functions

    if object_eras.era_of_training(model) is Era.TF_KERAS_1_15:
        made_functions.heeds_weights(model, "train" if what == "training" else "test", weighted)


def _epoch_logs(model: Any, data: Any) -> Any:
    from parallel_compat.legacy.numbers import epoch_logs

    return epoch_logs.of_model(model, data, object_eras.era_of_training(model))
