"""The parallel model: looks like the one that `multi_gpu_model` returned, trains on replicas, saves the template."""

from __future__ import annotations

import contextlib
import copy
import os
import warnings
from typing import TYPE_CHECKING, Any

import keras
import tensorflow as tf

from parallel_compat import template_files
from parallel_compat.backend import keras3
from parallel_compat.batches import generator_methods
from parallel_compat.batches.generator_methods import Feed
from parallel_compat.batches.reader import is_sequence
from parallel_compat.recover import optimizer_state
from parallel_compat.recover.errors import CheckpointError
from parallel_compat.recover.keras_archive import look_over_archive
from parallel_compat.recover.loading import load_template_weights
from parallel_compat.recover.reader import look_over
from parallel_compat.template import (
    check_template,
    check_trained_by_fit,
    output_names_of,
    symbolic_call,
    unique_names,
)
from parallel_compat.training.added_losses import how_they_merge, merge_added_losses
from parallel_compat.training.layer_state import LayerState
from parallel_compat.training.losses import MERGE, NotMerged, Placement
from parallel_compat.training.replica_pass import ReplicaPass, forward
from parallel_compat.training.replicas import Replicas, ReplicaSlice, add, replica_number
from parallel_compat.training.trainable_flags import TrainableFlags

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from parallel_compat.recover.loading import LoadedWeights
    from parallel_compat.training.layer_state import ReplicaState


class MergedOutput(keras.layers.Layer):  # type: ignore[misc]  # Keras carries no types
    """One output of the parallel model; stands where `multi_gpu_model` had a `Concatenate`."""

    def __init__(self, name: str) -> None:
        super().__init__(name=name, autocast=False)
        self.supports_masking = True

    def call(self, inputs: Any) -> Any:
        return inputs

    def compute_output_shape(self, input_shape: Any) -> Any:
        return input_shape


class ParallelModel(keras.Model):  # type: ignore[misc]  # Keras carries no types
    """A Keras model that splits each batch over replicas of a template. Made by `parallelize`.

    It owns no weights: template, parallel model and every model that shares layers with the template use the
    same variables at every moment. Everything that saves or loads acts on the template.

    Args:
        template: the built model to run on each replica.
        strategy: a `tf.distribute` strategy, one replica per device.
        merge: where losses and metrics are computed, see `parallelize`.
    """

    def __init__(self, template: keras.Model, strategy: tf.distribute.Strategy, merge: str | Mapping[str, str]) -> None:
        check_template(template)
        inputs, outputs = symbolic_call(template)
        names = unique_names(output_names_of(template, outputs))
        taken = {template.name, *(keras3.operation_of(tensor).name for tensor in keras.tree.flatten(inputs))}
        layers = [MergedOutput(name if name not in taken else f"{name}_merged") for name in names]
        flat = [layer(tensor) for layer, tensor in zip(layers, keras.tree.flatten(outputs), strict=True)]
        check_merge(merge, names)
        super().__init__(inputs, keras.tree.pack_sequence_as(outputs, flat))
        with keras3.untracked():
            self.output_names = names
            self.dtype_policy = template.dtype_policy
            self._template = template
            self._replicas = Replicas(strategy)
            # Sums of samples would have to be collected from other workers one by one; outputs are collected anyway.
            self._merge = "always" if self._replicas.several_workers else merge
            self._global_seeds = keras3.global_seeds()
            self._outputs_of = layers
            self._states: dict[int, ReplicaState] = {}  # of the replicas of a custom loop, while they call the model
            self._ready = True
        self._replicas.take_from_chief([*template.variables, self._global_seeds.state])

    @property
    def is_chief(self) -> bool:
        """Whether this process should write files; False on all workers but one of `MultiWorkerMirroredStrategy`."""
        return self._replicas.is_chief

    @property
    def template(self) -> keras.Model:
        """The model that runs on each replica, and that is saved."""
        return self._template

    @property
    def strategy(self) -> tf.distribute.Strategy:
        """The `tf.distribute` strategy, one replica per device."""
        return self._replicas.strategy

    def __setattr__(self, name: str, value: Any) -> None:
        # What users hang on it (`callback_model`, `template_model`) is not a part of it: Keras would count the
        # weights of a model that is set as an attribute.
        with keras3.untracked() if "_ready" in self.__dict__ else contextlib.nullcontext():
            super().__setattr__(name, value)

    optimizer: Any

    # Custom training loops.

    def distribute(self, dataset: tf.data.Dataset) -> Any:
        """Return `dataset` with each batch split over the replicas, `strategy.experimental_distribute_dataset`.

        >>> import keras, numpy as np, parallel_compat, tensorflow as tf
        >>> _ = parallel_compat.simulate_devices(4)
        >>> template = keras.Sequential([keras.Input((8,)), keras.layers.Dense(1)])
        >>> parallel = parallel_compat.parallelize(template, gpus=2)
        >>> optimizer = keras.optimizers.SGD(0.1)
        >>> def step(x, y):
        ...     with tf.GradientTape() as tape:
        ...         loss = tf.reduce_sum((parallel(x, training=True) - y) ** 2) / 32
        ...     gradients = tape.gradient(loss, parallel.trainable_variables)
        ...     optimizer.apply_gradients(zip(gradients, parallel.trainable_variables))
        ...     return loss
        >>> samples = np.ones((64, 8), "float32"), np.ones((64, 1), "float32")
        >>> data = tf.data.Dataset.from_tensor_slices(samples).batch(32)
        >>> for x, y in parallel.distribute(data):
        ...     loss = parallel.reduce("sum", parallel.run(step, args=(x, y)))

        Args:
            dataset: a batched `tf.data.Dataset`; its batches are the global ones.

        Returns:
            A distributed dataset, for the `args` of `run`.
        """
        return self.strategy.experimental_distribute_dataset(dataset)

    def run(self, step: Callable[..., Any], args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None) -> Any:
        """Call `step` on each replica, `strategy.run`.

        Gradients that `step` gives to an optimizer are added up over the replicas and applied once, to the one set of
        weights. Where `step` calls the parallel model (rather than the template), its random layers draw differently
        on each replica and its moving statistics are averaged.

        Args:
            step: a function of tensors.
            args: its arguments, tensors or values of `distribute`.
            kwargs: its keyword arguments.

        Returns:
            What `step` returned, a value per replica, for `reduce`.
        """
        return self.strategy.run(step, args=args, kwargs=kwargs)

    def reduce(self, operation: str, value: Any, axis: int | None = None) -> Any:
        """Reduce a value per replica to one tensor, `strategy.reduce`.

        Args:
            operation: "sum" or "mean".
            value: what `run` returned.
            axis: None to reduce over replicas only, 0 to reduce over the samples too.

        Returns:
            A tensor.
        """
        return self.strategy.reduce(operation.upper(), value, axis=axis)

    def call(self, inputs: Any, training: bool | None = None, mask: Any = None, **kwargs: Any) -> Any:
        """Run the template; in a custom loop, on this replica's part of the layer state."""
        context = tf.distribute.get_replica_context()
        if context is None or context.num_replicas_in_sync == 1 or keras3.in_stateless_scope():
            return self._run_template(inputs, training, mask, kwargs)
        state = LayerState(self, self._global_seeds)
        replica = replica_number()
        with (own := state.of_replica(replica)).used() as scope:
            outputs = self._run_template(inputs, training, mask, kwargs)
        written = [variable.path for variable in state.trainable if own.written(variable)]
        if written:
            raise ValueError(
                "Expected layers that write no trainable variable while they are called, in a step that differentiates "
                f"by itself. Received: {written} are written (SpectralNormalization does so). Train with `fit` or "
                "`train_on_batch`."
            )
        self._states[replica] = own
        context.merge_call(lambda _: state.merge(*equal_parts(self._states)))
        keras3.set_added_losses(self, scope.losses)
        return outputs

    def _run_template(self, inputs: Any, training: bool | None, mask: Any, kwargs: dict[str, Any]) -> Any:
        # Called itself, not through the graph of its symbolic call, the template gets the inputs as they are: nothing
        # says of which dtype those of a subclassed template were.
        if mask is not None:
            for tensor, own in zip(keras.tree.flatten(inputs), keras.tree.flatten(mask), strict=True):
                if own is not None:
                    keras3.set_mask(tensor, own)
        outputs = self._template(inputs, training=training, **kwargs)
        flat = [output(tensor) for output, tensor in zip(self._outputs_of, keras.tree.flatten(outputs), strict=True)]
        return keras.tree.pack_sequence_as(outputs, flat)

    # Training on the global batch.

    def compile(self, *args: Any, **kwargs: Any) -> None:
        """Compile as `keras.Model.compile`; XLA (`jit_compile=True`) is refused.

        Raises:
            ValueError: for `jit_compile=True`: a step spans devices, and XLA compiles for one.
        """
        check_trained_by_fit(self.template)
        bound = keras3.bind("compile", args, kwargs)
        if bound.get("jit_compile") is True:
            raise ValueError(
                "Expected `jit_compile` to be False or 'auto': a step of a parallel model spans several devices, and "
                "XLA compiles for one. Received: jit_compile=True. Leave it out, or compile the template alone with it."
            )
        super().compile(**{**bound, "jit_compile": False})
        self._compiled_parts = keras3.Compiled(self)
        self._trainable_flags = TrainableFlags(self)
        self._placement: Placement | None = None
        self._added_loss_kinds: dict[bool, list[str]] = {}

    def make_train_function(self, force: bool = False) -> Any:
        self._take_seeds(self.train_function is None or force)
        return super().make_train_function(force)

    def make_test_function(self, force: bool = False) -> Any:
        self._take_seeds(self.test_function is None or force)
        return super().make_test_function(force)

    def make_predict_function(self, force: bool = False) -> Any:
        self._take_seeds(self.predict_function is None or force)
        return super().make_predict_function(force)

    def _take_seeds(self, new: bool) -> None:
        """Draw from Keras's global generator of this moment: a trace cannot make a new one, another thread has none."""
        if new:
            self._global_seeds = keras3.global_seeds()

    def train_step(self, data: Any) -> dict[str, Any]:
        """Train on one global batch; called by `fit` and `train_on_batch`."""
        with self._trainable_flags.restored():
            return self._train_step(data)

    def _train_step(self, data: Any) -> dict[str, Any]:
        batch = self._batch(data)
        result = self._forward(batch, training=True, differentiate=True)
        variables = list(self.trainable_variables)
        with tf.GradientTape() as tape:
            for source in keras.tree.flatten(result.sources):
                tape.watch(source)
            loss = self._loss(result, batch, training=True)
            scaled = self.optimizer.scale_loss(loss) if self.optimizer is not None else loss
        if variables:
            outer = tape.gradient(scaled, {"replicas": result.sources, "here": variables})
            of_replicas = result.backward(outer["replicas"], variables)
            gradients = [add(parts) for parts in zip(of_replicas, outer["here"], strict=True)]
            self.optimizer = keras3.optimizer_for(self.optimizer, variables)
            self.optimizer.apply_gradients(zip(gradients, variables, strict=True))
        else:
            warnings.warn("The model does not have any trainable weights.", stacklevel=2)
        return self._finish(result, batch, loss)

    def test_step(self, data: Any) -> dict[str, Any]:
        """Evaluate one global batch; called by `evaluate` and `test_on_batch`."""
        batch = self._batch(data)
        with self._trainable_flags.restored():
            result = self._forward(batch, training=False)
            return self._finish(result, batch, self._loss(result, batch, training=False))

    def predict_step(self, data: Any) -> Any:
        """Predict one global batch; called by `predict` and `predict_on_batch`."""
        x, _, _ = self._batch(data)
        layer_state = LayerState(self, self._global_seeds)
        result = forward(self, layer_state, self._replicas, self._replicas.samples(x), (x, None, None), training=False)
        result.write_state()
        flat = [result.merged_output(i) for i in range(len(result.outputs[0]))]
        return keras.tree.pack_sequence_as(result.structure, flat)

    def _batch(self, data: Any) -> tuple[Any, Any, Any]:
        x, y, sample_weight = keras.utils.unpack_x_y_sample_weight(data)
        batch: tuple[Any, Any, Any] = keras.tree.map_structure(as_tensor, (x, y, sample_weight))
        return batch

    def _forward(self, batch: tuple[Any, Any, Any], training: bool, differentiate: bool = False) -> ReplicaPass:
        x = batch[0]
        samples = self._replicas.samples(x)
        placement = self._placement or self._place(batch)
        placement.start(samples)
        layer_state = LayerState(self, self._global_seeds)
        result = forward(
            self, layer_state, self._replicas, samples, batch, training, placement.on_samples, differentiate
        )
        result.write_state()
        if result.added_losses[0] and training not in self._added_loss_kinds:
            chosen = "auto" if isinstance(self._merge, str) else self._merge.get("add_loss", "auto")
            count = len(result.added_losses[0])
            kinds = [chosen] * count if chosen != "auto" else how_they_merge(self, result.layer_state, x, training)
            self._added_loss_kinds[training] = kinds
        return result

    def _loss(self, result: ReplicaPass, batch: tuple[Any, Any, Any], training: bool) -> Any:
        """Compute the loss of the global batch, from the replicas' outputs and sums."""
        _, y, sample_weight = batch
        compiled = self._compiled_parts.loss(y, self._merged_outputs(result), sample_weight)
        losses = [] if compiled is None else [compiled]
        if result.added_losses[0]:
            losses += merge_added_losses(result.added_losses, self._added_loss_kinds[training], result.samples)
        losses += keras3.weight_regularization(self)
        if not losses:
            raise ValueError("No loss to compute. Provide a `loss` argument in `compile()`.")
        return losses[0] if len(losses) == 1 else keras.ops.sum(losses)

    def _finish(self, result: ReplicaPass, batch: tuple[Any, Any, Any], loss: Any) -> dict[str, Any]:
        """Update the metrics, and return them."""
        _, y, sample_weight = batch
        self._compiled_parts.track_loss(loss, result.sample_count)
        self._compiled_parts.update_metrics(y, self._merged_outputs(result), sample_weight)
        metrics: dict[str, Any] = self.get_metrics_result()
        return metrics

    def _merged_outputs(self, result: ReplicaPass) -> Any:
        """Merge the outputs that a loss or a metric of the whole batch needs; the others have stand-ins."""
        assert self._placement is not None
        needed = self._placement.merged_outputs()
        stand_ins = self._stand_ins(result.sample_count)
        flat = [result.merged_output(i) if i in needed else stand_in for i, stand_in in enumerate(stand_ins)]
        return keras.tree.pack_sequence_as(result.structure, flat)

    def _stand_ins(self, samples: Any) -> list[NotMerged]:
        static = samples if isinstance(samples, int) else None
        return [NotMerged(i, (static, *t.shape[1:]), tf.as_dtype(t.dtype)) for i, t in enumerate(self.outputs)]

    def _place(self, batch: tuple[Any, Any, Any]) -> Placement:
        """Build the compiled losses and metrics on the first batch, and decide where each is computed."""
        x, y, sample_weight = batch
        stand_ins = keras.tree.pack_sequence_as(self.output, self._stand_ins(None))
        if not self._compiled_parts.built:
            predictions = self.predict_step((x,)) if tf.executing_eagerly() else stand_ins
            self._compiled_parts.build(y, predictions, sample_weight)
        placement = Placement(self._compiled_parts, self.output_names, self._merge)
        placement.decide(y, stand_ins, sample_weight)
        self._placement = placement
        return placement

    @property
    def merge_choices(self) -> dict[str, dict[str, Any]]:
        """Where the loss and the metrics of each output are computed: on the replicas' "samples" or "merged".

        Returns:
            For each output name, `{"loss": "samples", "merged" or None, "metrics": {name: "samples" or "merged"}}`.

        Raises:
            ValueError: before the first batch.
        """
        if self._placement is None:
            raise ValueError(
                "Expected `merge_choices` after the first batch: where a loss is computed depends on the targets. "
                "Call `train_on_batch` or `test_on_batch` once."
            )
        return self._placement.choices()

    # The template is what callbacks may be given, and what is saved and loaded.

    def fit(self, *args: Any, **kwargs: Any) -> keras.callbacks.History:
        """Train as `keras.Model.fit`; `callback_model`, if set, is the model that the callbacks get."""
        drawing = {name: kwargs.pop(name) for name in generator_methods.DRAWING if name in kwargs}
        bound = keras3.bind("fit", args, kwargs)
        target, callbacks = self._callback_model(), bound.get("callbacks")
        if target is not None and not isinstance(callbacks, keras.callbacks.CallbackList):
            own = keras.tree.flatten(callbacks or [])
            bound["callbacks"] = [CallbackModel(target, own), *own]
        with keras3.in_fit(self, self.template, bound):
            return generator_methods.fit(self, self._feed_of(bound.get("x"), drawing), bound, super().fit)

    def evaluate(self, x: Any = None, *args: Any, **kwargs: Any) -> Any:
        """Evaluate as `keras.Model.evaluate`."""
        feed = self._feed_of(x, {name: kwargs.pop(name) for name in generator_methods.DRAWING if name in kwargs})
        bound = keras3.bind("evaluate", (x, *args), kwargs)
        generator_methods.check_data_comes_alone(x, bound)
        with feed.open():
            return super().evaluate(**{**bound, "x": feed.adapter(x, "validation", bound.get("steps"))})

    def predict(self, x: Any, *args: Any, **kwargs: Any) -> Any:
        """Predict as `keras.Model.predict`."""
        feed = self._feed_of(x, {name: kwargs.pop(name) for name in generator_methods.DRAWING if name in kwargs})
        bound = keras3.bind("predict", (x, *args), kwargs)
        with feed.open():
            return super().predict(**{**bound, "x": feed.adapter(x, "prediction", bound.get("steps"))})

    def train_on_batch(self, *args: Any, **kwargs: Any) -> Any:
        """Train on one batch as `keras.Model.train_on_batch`, and return what this batch gave.

        Before Keras 3.13 the metrics went on from batch to batch.
        """
        self.reset_metrics()
        return super().train_on_batch(*args, **kwargs)

    def test_on_batch(self, *args: Any, **kwargs: Any) -> Any:
        """Evaluate one batch as `keras.Model.test_on_batch`, and return what this batch gave."""
        self.reset_metrics()
        return super().test_on_batch(*args, **kwargs)

    def fit_generator(self, generator: Any, *args: Any, **kwargs: Any) -> keras.callbacks.History:
        """Train on a generator or Sequence, see `parallel_compat.fit_generator`."""
        return generator_methods.fit_generator(self, generator, *args, **kwargs)

    def evaluate_generator(self, generator: Any, *args: Any, **kwargs: Any) -> Any:
        """Evaluate on a generator or Sequence, see `parallel_compat.evaluate_generator`."""
        return generator_methods.evaluate_generator(self, generator, *args, **kwargs)

    def predict_generator(self, generator: Any, *args: Any, **kwargs: Any) -> Any:
        """Predict on a generator or Sequence, see `parallel_compat.predict_generator`."""
        return generator_methods.predict_generator(self, generator, *args, **kwargs)

    def _feed_of(self, data: Any, drawing: dict[str, Any]) -> Feed:
        """A Sequence says by itself how it wants to be drawn, if it calls `super().__init__`."""
        own = keras3.settings_of_sequence(data, generator_methods.DRAWING) if is_sequence(data) else {}
        return Feed(self, **{**own, **drawing})

    def _callback_model(self) -> keras.Model | None:
        return getattr(self, "callback_model", None)

    @property
    def stop_training(self) -> bool:
        """Whether a callback asked to stop, on this model or on the `callback_model`."""
        return self._stop_training or getattr(self._callback_model(), "stop_training", False)

    @stop_training.setter
    def stop_training(self, value: bool) -> None:
        self._stop_training = value
        target = self._callback_model()
        if target is not None:
            target.stop_training = value

    def save_weights(self, filepath: Any, *args: Any, **kwargs: Any) -> None:
        """Save the template's weights, and the optimizer's state as `keras.Model.save_weights` does."""
        with template_files.template_to_save(self) as template:
            template.save_weights(filepath, *args, **kwargs)

    def load_weights(self, filepath: Any, *args: Any, **kwargs: Any) -> LoadedWeights | None:
        """Load the template's weights from a file that the template or any parallel model wrote.

        A file in today's formats (`.weights.h5`, `.keras`) is read by `keras.Model.load_weights`, and the optimizer's
        state with it; one of Keras 2, or of a parallel model of that time, by `load_template_weights`.

        Args:
            filepath: the file.
            *args: those of `keras.Model.load_weights`, which then reads the file.
            **kwargs: the same, such as `by_name` and `skip_mismatch`.

        Returns:
            What was found in a file of Keras 2; a line is printed if a parallel model wrote it.

        Raises:
            CheckpointError: a `ValueError`, if the file would load nothing, does not fit, or is hostile.
        """
        if os.path.exists(filepath):  # Keras would make room for whatever a file says that it holds
            if str(filepath).endswith((".h5", ".hdf5")):
                look_over(filepath)
            elif str(filepath).endswith(".keras"):
                look_over_archive(filepath)
        if not args and not kwargs and template_files.is_hdf5_of_keras_2(filepath):
            found = load_template_weights(self.template, filepath)
            if found.parallel:
                print(found, flush=True)
            return found
        if self.compiled and self.optimizer is not None and not self.optimizer.built:
            self.optimizer.build(self.trainable_variables)
        with template_files.template_to_save(self) as template:
            try:
                template.load_weights(filepath, *args, **kwargs)
            except (ValueError, KeyError, OSError) as error:
                if isinstance(error, FileNotFoundError):
                    raise
                raise CheckpointError(f"{filepath}: {error}") from error
        return None

    def export(self, filepath: Any, *args: Any, **kwargs: Any) -> None:
        """Export the template for inference, see `keras.Model.export`."""
        self.template.export(filepath, *args, **kwargs)

    def get_config(self) -> dict[str, Any]:
        """Return the template's config."""
        config: dict[str, Any] = self.template.get_config()
        return config

    @classmethod
    def from_config(cls, config: dict[str, Any], custom_objects: dict[str, Any] | None = None) -> keras.Model:
        """Make a fresh template from a template's config."""
        return template_files.from_config(config, custom_objects)

    def to_json(self, **kwargs: Any) -> str:
        """Return the template's config as JSON, see `keras.Model.to_json`."""
        text: str = self.template.to_json(**kwargs)
        return text

    def __reduce__(self) -> Any:
        with template_files.template_to_save(self) as template:
            return template.__reduce__()

    def __deepcopy__(self, memo: dict[int, Any]) -> keras.Model:
        return copy.deepcopy(self.template, memo)


keras3.act_on_template(ParallelModel, template_files.template_to_save)
keras3.restore_optimizers_from_hdf5(optimizer_state.restore_of_keras3)
keras3.update_once_for_all_replicas()
keras3.let_callbacks_set_their_model()
keras3.let_callbacks_ask_the_model_that_trains()


class CallbackModel(keras.callbacks.Callback):  # type: ignore[misc]  # Keras carries no types
    """Gives the callbacks of a `fit` the model that the user set as `callback_model`, as Keras 2.2.4's `fit` did.

    Args:
        target: the model for the callbacks.
        callbacks: the callbacks of the user.
    """

    def __init__(self, target: keras.Model, callbacks: Sequence[keras.callbacks.Callback]) -> None:
        super().__init__()
        self.target = target
        self.callbacks = callbacks

    def on_train_begin(self, logs: dict[str, Any] | None = None) -> None:
        for callback in (*self.callbacks, self.model.history):
            callback.set_model(self.target)


def equal_parts(states: dict[int, ReplicaState]) -> tuple[list[ReplicaState], list[ReplicaSlice]]:
    """Give each replica of a custom loop the same weight: how many samples a step gave to which is not known."""
    return [states[replica] for replica in sorted(states)], [ReplicaSlice(0, 1, 1)] * len(states)


def as_tensor(value: Any) -> Any:
    """Convert a leaf of a batch to a tensor."""
    if value is None or tf.is_tensor(value) or isinstance(value, (tf.RaggedTensor, tf.SparseTensor)):
        return value
    return tf.convert_to_tensor(value)


def check_merge(merge: str | Mapping[str, str], names: list[str]) -> None:
    """Refuse an argument `merge` that `parallelize` does not know.

    Raises:
        ValueError: for an unknown word or output name.
    """
    by_name = dict.fromkeys(names, merge) if isinstance(merge, str) else dict(merge)
    added = by_name.pop("add_loss", "auto")
    unknown = sorted(set(by_name) - set(names))
    if unknown or not set(by_name.values()) <= set(MERGE) or added not in ("auto", "mean", "sum"):
        raise ValueError(
            f"Expected `merge` to be one of {MERGE}, or a dict of them by output name (the outputs are {names}), "
            f"with 'add_loss' as 'auto', 'mean' or 'sum'. Received: merge={merge!r}"
        )
