"""What `run` puts on Keras so that its numbers are those of an object's era."""

from __future__ import annotations

import contextlib
import functools
import inspect
import random
import sys
from typing import TYPE_CHECKING, Any

from parallel_compat.backend.keras3 import (
    alpha_dropouts,
    batch_first,
    in_stateless_scope,
    noise_shape,
    operation_seeds,
    optimizer_steps,
    patch_points,
)
from parallel_compat.backend.keras3.batch_normalization import moments_differentiable_twice, of_moments
from parallel_compat.backend.keras3.call_context import in_step, phase_of_call
from parallel_compat.backend.keras3.layers import count_seed
from parallel_compat.backend.keras3.symbolic_values import values_in_use
from parallel_compat.backend.patches import TENSORFLOW
from parallel_compat.names import lookup
from parallel_compat.names.eras import Era
from parallel_compat.run import callers, object_eras
from parallel_compat.run.patches.members import is_kept_from_steps
from parallel_compat.run.patches.wrapping import looking_alike

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType

    from parallel_compat.backend.patches import Patches


def put_on(patches: Patches, keras: Any) -> None:
    """Put everything on the classes and functions."""
    from parallel_compat.legacy.numbers import (
        assigned_numbers,
        closest_thresholds,
        steps_without_batch,
        unfolded_training,
    )

    layers, optimizer = keras.layers, keras.optimizers.Optimizer
    for owner, name, wrap in patch_points.of_convolutions():
        patches.wrap(owner, name, wrap, why="channels first on any CPU, as in Keras 2.2.4")
    for owner, name, wrap in patch_points.of_steps(in_step_of):
        patches.wrap(owner, name, wrap, why="losses, metrics and regularizers know whether the model trains")
    for owner, name, wrap in batch_first.of_made_functions():
        patches.wrap(owner, name, wrap, why="no step is counted that has no batch")
    for owner, name, wrap in steps_without_batch.points():
        patches.wrap(owner, name, wrap, why="but for what TensorFlow 2.2 did without one")
    for owner, name, wrap in unfolded_training.points():
        patches.wrap(owner, name, wrap, why="constants stay where they are written in training", read_in=TENSORFLOW)
    for owner, name, wrap in assigned_numbers.points():
        patches.wrap(
            owner, name, wrap, why="a number that is assigned to the optimizer later is in no step of Keras 2.2.4"
        )
    owner, name, wrap = patch_points.names_of_dtypes()
    patches.wrap(owner, name, wrap, why='`dtype="float"`, as TensorFlow calls it')
    for owner, name, wrap in patch_points.of_additions():
        patches.wrap(owner, name, wrap, why="a bias of channels that come first is added to channels")
    for owner, name, wrap in patch_points.of_cross_entropies(_cross_entropy):
        patches.wrap(owner, name, looking_alike(wrap), why="cross-entropies from what the era computed them from")
    for owner, name, wrap in patch_points.of_smoothed_labels(_smoothed_labels):
        patches.wrap(owner, name, wrap, why="labels smoothed by the size of the second axis, as in tf.keras")
    for owner, name, wrap in patch_points.of_symbolic_cross_entropies(_symbolic_logits):
        patches.wrap(owner, name, wrap, why="cross-entropies of symbolic tensors from what TensorFlow 2.2 took")
    patches.wrap(keras.losses.Loss, "__call__", looking_alike(_loss_by_hand), why="a loss called by hand as in the era")
    for owner, name, wrap in patch_points.of_added_losses(_shows_means):
        patches.wrap(owner, name, looking_alike(wrap), why="TensorFlow 2.2 showed the mean of an added loss")
    for owner, name, wrap in patch_points.of_labels_of_hinges(_labels_of_hinge):
        patches.wrap(owner, name, wrap, why="hinges of the labels as they are, and of symbolic labels")
    for owner, name, wrap in patch_points.of_ranks_of_losses(_ranks_of_losses):
        patches.wrap(owner, name, wrap, why="a loss that the user's code calls spreads (n,) over (n, 1)")
    statistics = "moving statistics, and what a frozen layer does, as in the era"
    patches.wrap(layers.BatchNormalization, "call", looking_alike(_batch_normalization), why=statistics)
    for owner, name, wrap in of_moments():
        patches.wrap(owner, name, wrap, why="gradients of a variance have gradients, where the era's kernel had them")
    patches.wrap(
        layers.LayerNormalization, "call", looking_alike(_layer_normalization), why="gradients of its gradients, too"
    )
    # Not looking alike: a layer's `build` is wrapped once more, and hands the signature of the method on as its own.
    patches.wrap(layers.BatchNormalization, "build", _batch_normalization_build, why=statistics)
    patches.wrap(layers.UpSampling2D, "call", looking_alike(_upsampling), why="bilinear interpolation as in the era")
    for name, wrap in (
        ("adapt", _adapt),
        ("finalize_state", _finalize_state),
        ("call", looking_alike(_normalization)),
        ("set_weights", _set_weights_of_normalization),
    ):
        patches.wrap(layers.Normalization, name, wrap, why="statistics as TensorFlow 2.2 took and kept them")
    patches.wrap(
        keras.initializers.Identity, "__call__", looking_alike(_identity), why="several identity matrices side by side"
    )
    each = "a mean of the user's counts each number, not each row"
    patches.wrap(keras.metrics.Mean, "update_state", looking_alike(_mean), why=each)
    patches.wrap(
        patch_points.metric_of_function(),
        "update_state",
        looking_alike(_as_floats),
        why="metrics counted in floats, of targets and predictions of one rank",
    )
    patches.wrap(
        patch_points.metrics_of_output(),
        "update_state",
        looking_alike(_where_there_are_targets),
        why="metrics of an output without targets were 0",
    )
    patches.wrap(
        keras.metrics.TruePositives.__mro__[1],
        "result",
        looking_alike(_counts),
        why="counts at several thresholds are numbers, not the variable that goes on counting",
    )
    patches.set(keras.metrics.Metric, "stateful", True, why="an attribute of the metrics of tf.keras")
    for metric, (asked, given) in closest_thresholds.RATES.items():
        at = functools.partial(_at_closest, closest_thresholds.result_of(asked, given))
        patches.wrap(metric, "result", looking_alike(at), why="the rate at the threshold that the era took")
    whole = "a configuration has all arguments, so that a loaded model computes the same"
    for kind in (
        keras.losses.Huber,
        keras.losses.CosineSimilarity,
        keras.losses.SparseCategoricalCrossentropy,
        keras.metrics.CosineSimilarity,
        keras.initializers.Identity,
    ):
        patches.wrap(kind, "get_config", looking_alike(_whole_config), why=whole)
    patches.wrap(
        keras.metrics.MeanMetricWrapper,
        "get_config",
        looking_alike(_config_without_function),
        why="a metric of the user's that takes no `fn` is made again of its config",
    )
    for kind in ("RandomUniform", "RandomNormal", "TruncatedNormal", "VarianceScaling", "Orthogonal"):
        draw = functools.partial(_initial_weights, kind)
        owner = getattr(keras.initializers, kind)
        patches.wrap(owner, "__call__", looking_alike(draw), why="initial weights follow from the seeds of the era")
    for kind in (layers.Dropout, layers.SpatialDropout1D.__mro__[1]):
        patches.wrap(kind, "call", looking_alike(_dropping_out), why="masks follow from the seeds of the era")
    for kind in (layers.GaussianNoise, layers.GaussianDropout, *alpha_dropouts()):
        patches.wrap(kind, "call", looking_alike(_making_noise), why="noise follows from the seeds of the era")
    of_parts = (layers.RNN, layers.TimeDistributed, layers.Bidirectional)
    for kind in (*of_parts, layers.Flatten):
        patches.wrap(kind, "call", looking_alike(_drawing(_same)), why="masks took seeds where `call` was called")
    for kind in (*of_parts, layers.SimpleRNN, layers.LSTM, layers.GRU, layers.ConvLSTM2D.__mro__[1]):
        patches.wrap(kind, "call", looking_alike(_in_phase_of_graph), why="`layer.call(x)` trains where the model does")
    _datasets(patches)
    for owner, name, wrap in patch_points.of_default_seeds(_default_seed):
        patches.wrap(owner, name, wrap, why="`random` is the user's: Keras 2 drew nothing from it")
    patches.wrap(
        keras.Layer, "symbolic_call", looking_alike(_symbolic_call), why="layers that draw took seeds from `np.random`"
    )
    for owner, name, wrap in patch_points.of_weight_regularization(_regularization):
        patches.wrap(owner, name, wrap, why="a loss counts the regularizers of frozen layers as well")
    patches.wrap(
        layers.Softmax, "call", looking_alike(_softmax), why="its logits are those of an operation; masks pass it by"
    )
    means = "a mean of masked steps as in the era, gradients of 0 / 0 included"
    patches.wrap(layers.GlobalAveragePooling1D, "call", looking_alike(_averaging_steps), why=means)
    for owner, name, wrap in patch_points.of_schedules(_of_tf_keras):
        patches.wrap(owner, name, looking_alike(wrap), why="schedules of users compute with the step, a float")
    for name in ("momentum", "rho", "beta_1", "beta_2", "decay"):
        patches.set(optimizer, name, NumberForUsers(name), why="a variable, which callbacks set")
    patches.set(optimizer, "initial_decay", 0.0, why="callbacks ask it before they compute the rate of a step")
    for owner, name, wrap in optimizer_steps.of_unknown_variables(_of_tf_keras):
        patches.wrap(owner, name, wrap, why="one optimizer stepped the variables of several models")
    patches.wrap(optimizer, "iterations", _iterations_to_set, why="it could be set to a variable of the user's")
    patches.wrap(optimizer, "variables", _optimizer_variables, why="a method in tf.keras, for the user's code")
    patches.wrap(optimizer, "set_weights", looking_alike(_set_optimizer_weights), why="the order of the era")


def _datasets(patches: Patches) -> None:
    """Let data sets be shuffled as in the era of the code that makes them."""
    import tensorflow as tf

    for owner, name, wrap in patch_points.of_iterators_of_epochs(_is_dataset_of_tf_keras):
        patches.wrap(owner, name, wrap, why="each iterator of a data set that is shuffled has another order")
    anew = "each iterator of TensorFlow 1 began the order of its elements anew"
    patches.wrap(tf.data.Dataset, "shuffle", looking_alike(_shuffle), why=anew, read_in=TENSORFLOW)
    read = "no element is read before it is asked for, and orders of TensorFlow 1 begin anew"
    patches.wrap(tf.data.Dataset, "__iter__", _reading_as_asked_for, why=read, read_in=TENSORFLOW)
    fused = "one operation shuffled and repeated, and drew on from pass to pass"
    patches.wrap(tf.data.Dataset, "repeat", looking_alike(_repeat), why=fused, read_in=TENSORFLOW)
    patches.wrap(
        tf.data.experimental, "shuffle_and_repeat", looking_alike(_shuffle_and_repeat), why=fused, read_in=TENSORFLOW
    )


def _of_tf_keras(optimizer: Any) -> bool:
    return object_eras.era_of_object(optimizer).is_tf_keras


def _cross_entropy(name: str, original: Any, *given: Any, **keywords: Any) -> Any:
    from parallel_compat.legacy.numbers import cross_entropies

    era = cross_entropies.current() or callers.era_of_caller()
    return cross_entropies.FORMULAS[name](original, era, *given, **keywords)


def _loss_by_hand(original: Any) -> Any:
    def __call__(self: Any, y_true: Any, y_pred: Any, sample_weight: Any = None) -> Any:
        era = object_eras.era_of_object(self)
        if era is Era.TODAY or callers.user_frame(sys._getframe(1)) is None:  # what is compiled has a place of its own
            return original(self, y_true, y_pred, sample_weight=sample_weight)
        from parallel_compat.legacy.numbers import weighted_losses

        return weighted_losses.called_by_hand(self, era, y_true, y_pred, sample_weight)

    return __call__


def _same(original: Any) -> Any:
    return original


def _shows_means(model: Any) -> bool:
    return object_eras.era_of_object(model) is Era.TF_KERAS_2_2


def in_step_of(kind: str) -> Callable[[Any], Any]:
    """Return what wraps a step of a model, so that its losses know whether it trains, and what draws that it is traced.

    Args:
        kind: "train", "test" or "predict".
    """

    def wrap(original: Any) -> Any:
        @functools.wraps(original)
        def step(self: Any, *given: Any, **keywords: Any) -> Any:
            from parallel_compat.legacy import learning_phase, metrics_updates, pending_updates
            from parallel_compat.legacy.numbers import draws_of_functions
            from parallel_compat.parallelize_model import template_of

            if object_eras.era_of_object(self).is_standalone and (kind == "train" or not template_of(self).built):
                data = given[0]
                learning_phase.look_at_output(template_of(self), data[0] if isinstance(data, tuple) else data)
            phase = None if kind == "predict" else learning_phase.phase_of_step(self, kind == "train")
            is_traced = object_eras.era_of_training(self) is Era.TF_KERAS_2_2
            traced = draws_of_functions.traced(self, kind) if is_traced else contextlib.nullcontext()
            updates = metrics_updates.run_with_step(self, kind)
            with in_step(phase, kind == "train"), traced, updates, pending_updates.assigned_after(self):
                return original(self, *given, **keywords)

        return step

    return wrap


def _labels_of_hinge(original: Any) -> Any:
    def labels(y_true: Any) -> Any:
        if callers.era_of_caller() is Era.KERAS_2_2_4:
            return y_true
        ops, symbolic = sys.modules["keras"].ops, isinstance(y_true, sys.modules["keras"].KerasTensor)
        if not symbolic or values_in_use() is not None:
            return original(y_true)
        # Keras 3 asks by `cond`, whose functions hold the symbolic tensor itself.
        binary = ops.all(ops.logical_or(ops.equal(y_true, 0), ops.equal(y_true, 1)))
        return ops.where(binary, 2.0 * y_true - 1.0, y_true)

    return labels


# What stands between a function of Keras and the user's code that calls it.
_BETWEEN = ("tensorflow.", "parallel_compat.legacy.losses", "parallel_compat.legacy.metrics")


def _ranks_of_losses(original: Any) -> Any:
    """Leave ranks as they are in a function that the user's code calls: the eras computed by the rules of arrays."""

    def squeeze_or_expand_to_same_rank(x1: Any, x2: Any, *rest: Any, **keywords: Any) -> Any:
        frame = sys._getframe(1).f_back  # of what calls the loss
        while frame is not None and frame.f_globals.get("__name__", "").startswith(_BETWEEN):
            frame = frame.f_back
        if frame is not None and callers.is_users(frame) and callers.era_of(frame) is not Era.TODAY:
            return x1, x2
        return original(x1, x2, *rest, **keywords)

    return squeeze_or_expand_to_same_rank


def _smoothed_labels(target: Any, output: Any, smoothing: float) -> Any:
    from parallel_compat.legacy.numbers import cross_entropies

    era = cross_entropies.current() or callers.era_of_caller()
    return cross_entropies.smoothed_labels(era, target, output, smoothing)


def _symbolic_logits(output: Any, cross_entropy: str) -> Any:
    from parallel_compat.legacy.numbers import cross_entropies, symbolic_cross_entropies

    if (cross_entropies.current() or callers.era_of_caller()) is not Era.TF_KERAS_2_2 or values_in_use() is not None:
        return None
    return symbolic_cross_entropies.logits_of(output, cross_entropy)


def _noting_phase(wrap: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Let what `call` gives in Keras 2.2.4 say that it depends on the learning phase, where nobody says which it is."""

    def noting(original: Any) -> Any:
        computed = wrap(original)

        def call(self: Any, inputs: Any, training: Any = None, **keywords: Any) -> Any:
            outputs = computed(self, inputs, training=training, **keywords)
            if training is not None or not object_eras.era_of_object(self).is_standalone:
                return outputs
            from parallel_compat.legacy import learning_phase

            return learning_phase.noting(self, outputs)

        return call

    return noting


@_noting_phase
def _batch_normalization(original: Any) -> Any:
    def call(self: Any, inputs: Any, training: bool | None = None, mask: Any = None) -> Any:
        from parallel_compat.legacy.numbers import batch_normalization

        era = object_eras.era_of_object(self)
        if era is not Era.TODAY:
            training = batch_normalization.known_training(_in_phase(training, era))
        phase = phase_of_call() if era is not Era.TODAY else None
        lags = phase is not None and phase.trains and not phase.fixed and era.is_standalone  # see below
        if not (training or lags) or era is Era.TODAY or getattr(self, "renorm", False):
            return original(self, inputs, training=training, mask=mask)
        if batch_normalization.predicts_always(self, era):
            return original(self, inputs, training=False, mask=None)
        from parallel_compat.backend.keras3 import batch_normalization as keras3
        from parallel_compat.backend.keras3 import layers
        from parallel_compat.legacy.numbers import collected_updates
        from parallel_compat.training import trainable_flags

        twice = batch_normalization.is_of_images(era, self)
        collected = collected_updates.are_collected(self) if era.is_standalone else None
        if self.trainable or collected:
            debiased = keras3.debiased_of(self)
            moving = functools.partial(batch_normalization.moving_statistics, era, self, debiased=debiased)
            stay = layers.is_left_out(self)  # nor were its updates
            if collected is False or (era.has_graphs and collected_updates.is_outside(self)):
                stay = True
            if collected is None and era.is_standalone and trainable_flags.frozen_before_first_step(self):
                stay = True  # the updates were collected of what was trainable when the first step was made
            if era.is_tf_keras and batch_normalization.is_in_frozen(self):
                stay = True  # a layer around it is frozen: it normalises as if it were trained
            if phase is not None and not phase.trains:
                stay = True  # the phase is fixed: a batch to predict is normalised as one to train on
            if not lags:
                return keras3.call_in_training(self, inputs, None if stay else moving, twice)
            # Where the phase was fixed at 0, Keras 2.2.4 went on updating what it normalised by.
            outputs = original(self, inputs, training=False, mask=None)
            if not stay:
                keras3.call_in_training(self, inputs, moving)
            return outputs
        if batch_normalization.normalises_frozen_batches(self, era) and not lags:
            return keras3.call_in_training(self, inputs, None, twice)
        return original(self, inputs, training=training, mask=None)

    return call


def _layer_normalization(original: Any) -> Any:
    def call(self: Any, inputs: Any) -> Any:
        from parallel_compat.legacy.numbers import batch_normalization

        in_era = object_eras.era_of_object(self) is Era.TF_KERAS_2_2
        by_kernel = in_era and batch_normalization.normalizes_by_kernel(self, inputs)
        with moments_differentiable_twice() if by_kernel else contextlib.nullcontext():
            return original(self, inputs)

    return call


def _batch_normalization_build(original: Any) -> Any:
    def build(self: Any, input_shape: Any) -> None:
        original(self, input_shape)
        era = object_eras.era_of_object(self)
        if era is Era.TODAY:
            return
        from parallel_compat.backend.keras3 import batch_normalization as keras3

        if era is Era.KERAS_2_2_4:
            keras3.keep_debiased(self)
        if era is Era.TF_KERAS_2_2:
            keras3.average_over_replicas(self)

    return build


def _regularization(original: Any) -> Any:
    def _get_regularization_losses(self: Any) -> list[Any]:
        losses: list[Any] = original(self)
        if object_eras.era_of_object(self) is Era.TODAY:
            return losses
        from parallel_compat.backend import keras3

        return losses + keras3.regularization_of_frozen(self)

    return _get_regularization_losses


def _upsampling(original: Any) -> Any:
    def call(self: Any, inputs: Any) -> Any:
        if self.interpolation != "bilinear" or not object_eras.era_of_object(self).is_standalone:
            return original(self, inputs)
        from parallel_compat.legacy.numbers import upsampling

        return upsampling.bilinear(inputs, self.size, self.data_format)

    return call


def _where_there_are_targets(original: Any) -> Any:
    def update_state(self: Any, y_true: Any, y_pred: Any, sample_weight: Any = None) -> None:
        if y_true is None and self.metrics and object_eras.era_of_object(self.metrics[0]) is Era.TF_KERAS_2_2:
            return
        original(self, y_true, y_pred, sample_weight)

    return update_state


def _keeps_statistics(layer: Any) -> bool:
    from parallel_compat.legacy.numbers import normalization

    return object_eras.era_of_object(layer) is Era.TF_KERAS_2_2 and normalization.has_statistics(layer)


def _adapt(original: Any) -> Any:
    def adapt(self: Any, data: Any, *given: Any, **keywords: Any) -> None:
        if not _keeps_statistics(self):
            original(self, data, *given, **keywords)
            return
        from parallel_compat.legacy.numbers import normalization

        normalization.adapt(self, data, *given, **keywords)

    return adapt


def _finalize_state(original: Any) -> Any:
    def finalize_state(self: Any) -> None:
        original(self)
        if self.built and _keeps_statistics(self):
            from parallel_compat.legacy.numbers import normalization

            normalization.show_weights(self)

    return finalize_state


def _normalization(original: Any) -> Any:
    def call(self: Any, inputs: Any) -> Any:
        if not _keeps_statistics(self):
            return original(self, inputs)
        from parallel_compat.legacy.numbers import normalization

        return normalization.call(self, inputs)

    return call


def _set_weights_of_normalization(original: Any) -> Any:
    def set_weights(self: Any, weights: Any) -> None:
        if _keeps_statistics(self):
            from parallel_compat.legacy.numbers import normalization

            weights = normalization.with_count(self, weights)
        original(self, weights)

    return set_weights


def _initial_weights(kind: str, original: Any) -> Any:
    def __call__(self: Any, shape: Any, dtype: Any = None, **keywords: Any) -> Any:
        era = callers.era_of_caller()
        if in_stateless_scope():  # a value to find shapes with, before the weight is made
            return original(self, shape, dtype=dtype, **keywords)
        if era is Era.TF_KERAS_2_2 and self.get_config().get("seed") is None:
            from parallel_compat.legacy.numbers import draws_of_tensorflow

            return draws_of_tensorflow.initial_weights(kind, self, shape, dtype)
        if era is Era.TF_KERAS_1_15 and isinstance(seed := self.get_config().get("seed"), int):
            from parallel_compat.legacy.numbers import draws_of_tensorflow

            return draws_of_tensorflow.initial_weights(kind, self, shape, dtype, seed)
        if not era.is_standalone or _is_made_by_generator(self):
            return original(self, shape, dtype=dtype, **keywords)
        from parallel_compat.legacy.numbers import initial_weights

        values = initial_weights.drawn(kind, self, shape, dtype)
        if era is Era.KERAS_2_3:
            count_seed(self)  # each weight of one initializer with a seed has values of its own
        return _as_array(values) if kind == "Orthogonal" else values

    return __call__


def _symbolic_call(original: Any) -> Any:
    def symbolic_call(self: Any, *given: Any, **keywords: Any) -> Any:
        era = callers.era_of_caller()
        if era is Era.TODAY:
            return original(self, *given, **keywords)
        from parallel_compat.backend.keras3 import call_context
        from parallel_compat.backend.keras3.layers import call_on_specs, is_of_graph
        from parallel_compat.legacy import learning_phase
        from parallel_compat.legacy.numbers import initial_weights, operations_that_draw

        # A model without values, which a config is tried with first; a Sequential that TensorFlow 2.2 built in a step.
        if in_stateless_scope() or (not era.has_graphs and call_context.is_in_step()):
            with initial_weights.drawing_nothing():
                return original(self, *given, **keywords)
        never = learning_phase.never_trains(keywords.get("training"))
        of_model = is_of_graph(self)
        by_itself = of_model or type(self).__module__.startswith("parallel_compat.")
        with operations_that_draw.being_built(never or by_itself, of_model) as graph:
            result = original(self, *given, **keywords)
            if not graph.seeds and not graph.masks and operations_that_draw.may_draw(self, era):
                call_on_specs(self, *given, **keywords)  # the function was called, whatever the shape
            makes_operations = operations_that_draw.note_call(self, graph, given, era)
            initial_weights.draw_for_shape(self, graph.seeds, graph.masks, era, graph.variables)
        if makes_operations and not graph.masks:
            initial_weights.draw_seeds_of(self, era, masks=not never)
        return result

    return symbolic_call


def _is_made_by_generator(initializer: Any) -> bool:
    """Whether an initializer draws from a generator of Keras 3, which Keras 2 had not."""
    seed = initializer.get_config().get("seed")
    return seed is not None and not isinstance(seed, int)


def _in_phase(training: Any, era: Era) -> Any:
    """Return whether a layer trains whose `call` a layer of the user's has called: in a graph by the learning phase."""
    if training is not None or not era.has_graphs:
        return training
    from parallel_compat.backend.keras3.call_context import PHASE
    from parallel_compat.legacy import learning_phase

    phase = learning_phase.of_pass()
    return None if phase is PHASE else bool(phase)


def _in_phase_of_graph(original: Any) -> Any:
    """Let a layer whose parts drop something train by the phase, where a layer of the user's calls its `call`."""

    def call(self: Any, *given: Any, **keywords: Any) -> Any:
        era = object_eras.era_of_object(self)
        if not era.has_graphs or len(given) > 1 or keywords.get("training") is not None:
            return original(self, *given, **keywords)
        from parallel_compat.legacy import learning_phase

        phase = _in_phase(None, era)
        outputs = original(self, *given, **keywords if phase is None else {**keywords, "training": phase})
        return learning_phase.noting(self, outputs) if era.is_standalone else outputs

    return call


def _drawing(wrap: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Let a layer draw its seeds where its `call` is called while a graph is built."""

    def drawing(original: Any) -> Any:
        computed = wrap(original)

        def call(self: Any, *given: Any, **keywords: Any) -> Any:
            era = object_eras.era_of_object(self)
            if era is Era.TODAY:
                return computed(self, *given, **keywords)
            from parallel_compat.legacy.numbers import operations_that_draw

            with operations_that_draw.called_in_graph(self, era):
                return computed(self, *given, **keywords)

        return call

    return drawing


@_drawing
@_noting_phase
def _dropping_out(original: Any) -> Any:
    def call(self: Any, inputs: Any, training: Any = None) -> Any:
        era = object_eras.era_of_object(self)
        training = _in_phase(training, era)
        if not training or not self.rate or era is Era.TODAY:
            return original(self, inputs, training)
        from parallel_compat.legacy.numbers import draws_of_functions, draws_of_tensorflow, initial_weights
        from parallel_compat.resume import Resume

        shape = noise_shape(self, inputs)
        if not Resume.is_made and era.has_graphs:
            dropped = initial_weights.dropout(self, inputs, shape)
            if dropped is not None:
                return dropped
        elif not Resume.is_made and (self.seed is not None or operation_seeds() is not None):
            stream = draws_of_functions.stream_of_tensorflow(self.seed)
            return draws_of_tensorflow.dropout(inputs, self.rate, shape, self.seed, stream)
        if shape is self.noise_shape:
            return original(self, inputs, training)
        # A class of the user's may say the shape by a method, which Keras 3 asks in layers of its own alone.
        import keras

        return keras.random.dropout(inputs, self.rate, shape, seed=self.seed_generator)

    return call


@_drawing
@_noting_phase
def _making_noise(original: Any) -> Any:
    def call(self: Any, inputs: Any, training: Any = None) -> Any:
        era = object_eras.era_of_object(self)
        training = _in_phase(training, era)
        if training and era is not Era.TODAY:
            if not 0 < getattr(self, "rate", 0.5) < 1:
                return inputs
            from parallel_compat.legacy.numbers import draws_of_functions, initial_weights, operations_that_draw
            from parallel_compat.resume import Resume

            shape, drawn = getattr(self, "noise_shape", None), None if era.has_graphs else draws_of_functions.drawn
            # In a graph that is built the layer has drawn, and nobody looks at its values.
            nothing = initial_weights.drawing_nothing() if operations_that_draw.is_built() else contextlib.nullcontext()
            with nothing:
                noisy = None if Resume.is_made else initial_weights.noise(self, inputs, shape, drawn)
            if noisy is not None:
                return noisy
        return original(self, inputs, training)

    return call


def _is_dataset_of_tf_keras(dataset: Any) -> bool:
    import tensorflow as tf

    return isinstance(dataset, tf.data.Dataset) and object_eras.era_of_object(dataset).is_tf_keras


def _shuffle(original: Any) -> Any:
    def shuffle(
        self: Any,
        buffer_size: Any,
        seed: Any = None,
        reshuffle_each_iteration: bool | None = None,
        name: str | None = None,
    ) -> Any:
        from parallel_compat.legacy.numbers import shuffled_datasets

        again = reshuffle_each_iteration in (None, True)
        era = callers.era_of_caller()
        if shuffled_datasets.begins_anew(era):
            found = shuffled_datasets.shuffled(self, buffer_size, seed, again)
            if found is not None:
                return found
        return original(shuffled_datasets.read_to_the_end(self, era), buffer_size, seed, again, name)

    return shuffle


def _reading_as_asked_for(original: Any) -> Any:
    @functools.wraps(original)
    def __iter__(self: Any) -> Any:
        from parallel_compat.backend.keras3 import shuffled_datasets

        is_old = object_eras.era_of_object(self) is not Era.TODAY
        return original(shuffled_datasets.as_asked_for(self) if is_old else self)

    return __iter__


def _repeat(original: Any) -> Any:
    def repeat(self: Any, count: Any = None, name: str | None = None) -> Any:
        from parallel_compat.legacy.numbers import shuffled_datasets

        found = shuffled_datasets.repeated(self, count, callers.era_of_caller(), original)
        return original(self, count, name) if found is None else found

    return repeat


def _shuffle_and_repeat(original: Any) -> Any:
    def shuffle_and_repeat(buffer_size: Any, count: Any = None, seed: Any = None) -> Any:
        if not callers.era_of_caller().is_tf_keras:
            return original(buffer_size, count, seed)
        from parallel_compat.legacy.numbers import shuffled_datasets

        def apply(dataset: Any) -> Any:
            found = shuffled_datasets.shuffled_and_repeated(dataset, buffer_size, count, seed)
            return original(buffer_size, count, seed)(dataset) if found is None else found

        return apply

    return shuffle_and_repeat


def _default_seed(original: Any) -> Any:
    """Draw seeds that nobody gave from the state of `random`, and leave it as it was."""
    own = random.Random()
    seen: list[Any] = [None]

    def make_default_seed() -> Any:
        if callers.era_of_caller() is Era.TODAY:
            return original()
        state = random.getstate()
        if state != seen[0]:  # the user seeded it, or drew from it
            own.setstate(state)
            seen[0] = state
        return own.randint(1, int(1e9))

    return make_default_seed


def _as_floats(original: Any) -> Any:
    """`MeanMetricWrapper` of tf.keras gave its function labels and predictions of its own dtype, and of one rank."""

    def update_state(self: Any, y_true: Any, y_pred: Any, sample_weight: Any = None) -> None:
        era = vars(self).get(object_eras.MARK)
        if era is not None and era.is_tf_keras:
            if _is_called_by_hand(self, sys._getframe(1)):
                from parallel_compat.legacy.numbers import weighted_losses

                y_pred = weighted_losses.unmasked(y_pred)
            from parallel_compat.legacy.numbers import metrics

            y_true, y_pred = metrics.of_same_rank(_in_dtype(y_true, self.dtype), _in_dtype(y_pred, self.dtype))
        original(self, y_true, y_pred, sample_weight=sample_weight)

    return update_state


def _is_called_by_hand(metric: Any, frame: FrameType | None) -> bool:
    """Whether a metric is updated by the user's code (by `metric(...)`, too), where masks counted for nothing."""
    while frame is not None and frame.f_code.co_name == "__call__" and frame.f_locals.get("self") is metric:
        frame = frame.f_back
    return callers.user_frame(frame) is not None


def _in_dtype(values: Any, dtype: str) -> Any:
    import numpy as np
    import tensorflow as tf

    if isinstance(values, (list, tuple)):
        return tf.cast(values, dtype)
    of_values = tf.as_dtype(values.dtype) if isinstance(values, np.ndarray) or tf.is_tensor(values) else None
    has_no_floats = of_values is not None and (of_values.is_integer or of_values.is_bool)
    return tf.cast(values, dtype) if has_no_floats else values


def _mean(original: Any) -> Any:
    def update_state(self: Any, values: Any, sample_weight: Any = None) -> None:
        from parallel_compat.backend import keras3
        from parallel_compat.legacy.numbers import metrics

        era = vars(self).get(object_eras.MARK)  # what Keras makes for itself is of no era
        if era is None or not era.is_tf_keras or keras3.get_mask(values) is not None:
            original(self, values, sample_weight=sample_weight)
        else:
            metrics.update_mean(self, values, sample_weight)

    return update_state


def _counts(original: Any) -> Any:
    def result(self: Any) -> Any:
        import tensorflow as tf

        return tf.convert_to_tensor(original(self))

    return result


def _at_closest(of_era: Any, original: Any) -> Any:
    def result(self: Any) -> Any:
        return original(self) if object_eras.era_of_object(self) is Era.TODAY else of_era(self)

    return result


def _whole_config(original: Any) -> Any:
    """Keras 3 leaves out `delta` of Huber, `axis` of losses, and `gain` of Identity."""

    def get_config(self: Any) -> dict[str, Any]:
        from parallel_compat.backend import keras3

        left_out = {"gain": self.gain} if hasattr(self, "gain") else keras3.arguments_of_function(self)
        return {**left_out, **original(self)}

    return get_config


def _config_without_function(original: Any) -> Any:
    """`MeanMetricWrapper` of tf.keras wrote its function down itself, but not for a class derived from it."""

    def get_config(self: Any) -> dict[str, Any]:
        from parallel_compat.backend import keras3

        takes_function = "fn" in inspect.signature(type(self)).parameters
        if takes_function or not object_eras.era_of_object(self).is_tf_keras:
            return original(self)  # type: ignore[no-any-return]
        keras = sys.modules["keras"]
        return {**keras.metrics.Metric.get_config(self), **keras3.arguments_of_function(self)}

    return get_config


def _identity(original: Any) -> Any:
    def __call__(self: Any, shape: Any, dtype: Any = None) -> Any:
        if len(shape) != 2 or callers.era_of_caller() is not Era.KERAS_2_2_4:
            return original(self, shape, dtype)
        from parallel_compat.legacy import initializers

        return _as_array(initializers.tiled_identity(shape, self.gain, dtype))

    return __call__


def _as_array(values: Any) -> Any:
    """Return what Keras 2.2.4 computed with numpy as an array, but in a function that is traced."""
    return values.numpy() if hasattr(values, "numpy") else values


def _softmax(original: Any) -> Any:
    def call(self: Any, inputs: Any, mask: Any = None) -> Any:
        from parallel_compat.backend import keras3

        era = object_eras.era_of_object(self)
        if era.is_standalone:
            outputs = lookup.fetch("parallel_compat.legacy.activations.softmax")(inputs, self.axis)
        else:
            outputs = original(self, inputs, mask if era is Era.TODAY else None)  # which passed over masks
        if keras3.get_logits(outputs) is not None and era is not Era.KERAS_2_3:
            keras3.say_made_by_operation(outputs)
        return outputs

    return call


def _averaging_steps(original: Any) -> Any:
    """A sample all steps of which are masked has 0 / 0 for a mean, then in the gradients as well."""

    def call(self: Any, inputs: Any, mask: Any = None) -> Any:
        import keras

        if mask is None or object_eras.era_of_object(self) is Era.TODAY:
            return original(self, inputs, mask=mask)
        steps = 1 if self.data_format == "channels_last" else 2
        weights = keras.ops.expand_dims(keras.ops.cast(mask, inputs.dtype), 3 - steps)
        summed = keras.ops.sum(inputs * weights, axis=steps, keepdims=self.keepdims)
        return summed / keras.ops.sum(weights, axis=steps, keepdims=self.keepdims)

    return call


class NumberForUsers:
    """A number of an optimizer that was a variable: for the user's old code it is one.

    Args:
        name: the attribute.
    """

    def __init__(self, name: str) -> None:
        self._name = name

    def __get__(self, instance: Any, owner: Any) -> Any:
        if instance is None or (self._name not in vars(instance) and self._name != "decay"):
            raise AttributeError(f"{owner.__name__!r} object has no attribute {self._name!r}")
        frame = callers.user_frame(sys._getframe(1))
        if frame is None or callers.era_of(frame) is Era.TODAY:
            return vars(instance)[self._name]
        from parallel_compat.legacy.numbers import assigned_numbers

        assigned = assigned_numbers.kept_from_steps(instance)
        if self._name in assigned:
            return assigned[self._name]
        return optimizer_steps.number_variable(instance, self._name)

    def __set__(self, instance: Any, value: Any) -> None:
        if not is_kept_from_steps(instance, self._name, value, sys._getframe(1)):
            optimizer_steps.set_number(instance, self._name, value)


def _iterations_to_set(original: Any) -> property:
    return property(original.fget, optimizer_steps.count_with, doc=original.__doc__)


def _optimizer_variables(original: Any) -> property:
    def get(self: Any) -> Any:
        frame = callers.user_frame(sys._getframe(1))
        if frame is None or not callers.era_of(frame).is_tf_keras:
            return original.__get__(self, type(self))
        from parallel_compat.legacy import optimizers

        return optimizers.variables(self)

    return property(get)


def _set_optimizer_weights(original: Any) -> Any:
    def set_weights(self: Any, weights: Any) -> None:
        from parallel_compat.legacy import optimizers

        frame = callers.user_frame(sys._getframe(1))
        if frame is None or callers.era_of(frame) is Era.TODAY:
            original(self, weights)
        else:
            optimizers.set_weights(self, weights)

    return set_weights
