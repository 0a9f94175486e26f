"""The parallel model: looks like the one that `multi_gpu_model` returned, trains on replicas, saves the template."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import keras

from parallel_compat import template_files
from parallel_compat.backend import keras3
from parallel_compat.backend.keras3 import batch_normalization
from parallel_compat.devices import short_name
from parallel_compat.template import check_template, check_trained_by_fit, output_names_of, symbolic_call, unique_names
from parallel_compat.training.custom_loops import ReplicaCalls, in_replica_context
from parallel_compat.training.global_step import GlobalStep
from parallel_compat.training.losses import check_merge
from parallel_compat.training.replicas import Replicas
from parallel_compat.training.trainer import ParallelTrainer

if TYPE_CHECKING:
    import tensorflow as tf

    from parallel_compat.recover.loading import LoadedWeights


class MergedOutput(keras.layers.Layer):  # type: ignore[misc]  # Keras carries no types
    """One output of the parallel model; stands where `multi_gpu_model` had a `Concatenate`."""

    def __init__(self, name: str) -> None:
        super().__init__(name=name, autocast=False)
        self.supports_masking = True

    def call(self, inputs: Any) -> Any:
        return inputs

    def compute_output_shape(self, input_shape: Any) -> Any:
        return input_shape


def _for_each_output(metrics: Any, outputs: int) -> Any:
    """Give every output a flat list of metrics that Keras 3 refuses, as the old function's models did."""
    flat = isinstance(metrics, (list, tuple)) and not any(isinstance(one, (list, tuple, dict)) for one in metrics)
    return [list(metrics) for _ in range(outputs)] if flat and metrics and len(metrics) != outputs > 1 else metrics


class ParallelModel(ParallelTrainer):
    """A Keras model that splits each batch over replicas of a template. Made by `parallelize`.

    It owns no weights: template, parallel model and every model that shares layers with the template use the same
    variables. Saving and loading act on the template.

    Args:
        template: the built model that runs on each replica.
        strategy: a `tf.distribute` strategy, one replica per device.
        merge: where losses and metrics are computed, see `parallelize`.
        weights: how the weights reach the devices, see `parallelize`.
    """

    def __init__(
        self,
        template: keras.Model,
        strategy: tf.distribute.Strategy,
        merge: str | Mapping[str, str],
        weights: str = "auto",
    ) -> None:
        check_template(template)
        inputs, outputs = symbolic_call(template)
        names = unique_names(output_names_of(template, outputs))
        taken = {template.name, *(keras3.layers.operation_of(tensor).name for tensor in keras.tree.flatten(inputs))}
        layers = [MergedOutput(name if name not in taken else f"{name}_merged") for name in names]
        flat = [layer(tensor) for layer, tensor in zip(layers, keras.tree.flatten(outputs), strict=True)]
        check_merge(merge, names)
        super().__init__(inputs, keras.tree.pack_sequence_as(outputs, flat))
        # From here on what is set is no part of the model.
        self.__dict__.update(_ready=True, output_names=names)  # a list, not the wrapper that TensorFlow makes of it
        self.dtype_policy = template.dtype_policy
        self._template = template
        self._replicas = Replicas(strategy, weights)
        self._merge = merge
        self._outputs_of = layers
        self._replica_calls = ReplicaCalls()
        self._step = GlobalStep(self, self._replicas, merge)
        self._replicas.take_from_chief([*template.variables, self._step.seeds.state])

    @property
    def is_chief(self) -> bool:
        """Whether this process should write files; False on all workers but one."""
        return self._replicas.is_chief

    @property
    def template(self) -> keras.Model:
        """The model that runs on each replica and that is saved."""
        return self._template

    @property
    def strategy(self) -> tf.distribute.Strategy:
        """The `tf.distribute` strategy, one replica per device."""
        return self._replicas.strategy

    def __repr__(self) -> str:
        devices = [short_name(device) for device in self.strategy.extended.worker_devices]
        mirrored = ", weights='mirrored'" if self._replicas.weights == "mirrored" else ""
        return (
            f"<ParallelModel name={self.name}, template={self._template.name}, "
            f"{self.strategy.num_replicas_in_sync} replicas on {', '.join(devices)}{mirrored}>"
        )

    def __setattr__(self, name: str, value: Any) -> None:
        if "_ready" not in self.__dict__:
            super().__setattr__(name, value)
            return
        # What users hang on it (`callback_model`, `template_model`) is not a part of it: Keras would count the
        # weights of a model that is set as an attribute.
        super(keras.Layer, self).__setattr__(name, value)

    optimizer: Any

    # Custom training loops.

    def distribute(self, dataset: tf.data.Dataset) -> Any:
        """Split each batch of `dataset` over the replicas, as `strategy.experimental_distribute_dataset` does.

        Examples:
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
            dataset: a batched `tf.data.Dataset` of global batches.

        Returns:
            A distributed dataset, for the `args` of `run`.
        """
        return self.strategy.experimental_distribute_dataset(dataset)

    def run(self, step: Callable[..., Any], args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None) -> Any:
        """Call `step` on each replica, as `strategy.run` does.

        The optimizer adds up the gradients of all replicas and updates the one set of weights once. Call the parallel
        model in `step`, not the template: then random layers draw differently on each replica, and moving statistics
        are averaged.

        Args:
            step: a function of tensors.
            args: its arguments, tensors or values of `distribute`.
            kwargs: its keyword arguments.

        Returns:
            The results of `step`, one per replica, for `reduce`.
        """
        return self.strategy.run(step, args=args, kwargs=kwargs)

    def reduce(self, operation: str, value: Any, axis: int | None = None) -> Any:
        """Reduce one value per replica to one tensor, as `strategy.reduce` does.

        Args:
            operation: "sum" or "mean".
            value: the result of `run`.
            axis: None to reduce over the replicas only, 0 to reduce over the samples, too.

        Returns:
            A tensor.
        """
        return self.strategy.reduce(operation.upper(), value, axis=axis)

    def call(self, inputs: Any, training: bool | None = None, mask: Any = None, **kwargs: Any) -> Any:
        """Run the template; in a custom loop, with this replica's layer state."""
        if not in_replica_context():
            return self._run_template(inputs, training, mask, kwargs)
        return self._replica_calls.call(
            self, self._step.seeds, lambda: self._run_template(inputs, training, mask, kwargs)
        )

    def _run_template(self, inputs: Any, training: bool | None, mask: Any, kwargs: dict[str, Any]) -> Any:
        # Called itself, not through the graph of its symbolic call, the template gets the inputs as they are: nothing
        # says of which dtype those of a subclassed template were.
        if mask is not None:
            for tensor, own in zip(keras.tree.flatten(inputs), keras.tree.flatten(mask), strict=True):
                if own is not None:
                    keras3.layers.set_mask(tensor, own)
        outputs = self._template(inputs, training=training, **kwargs)
        flat = [output(tensor) for output, tensor in zip(self._outputs_of, keras.tree.flatten(outputs), strict=True)]
        return keras.tree.pack_sequence_as(outputs, flat)

    # Training on the global batch.

    def compile(self, *args: Any, **kwargs: Any) -> None:
        """Compile, with the arguments of `keras.Model.compile`.

        Raises:
            ValueError: for `jit_compile=True`: a step spans several devices, and XLA compiles for one.
        """
        check_trained_by_fit(self.template)
        bound = keras3.compiled.bind("compile", args, kwargs)
        if bound.get("jit_compile") is True:
            raise ValueError(
                "Expected `jit_compile` to be False or 'auto': a step of a parallel model spans several devices, and "
                "XLA compiles for one. Received: jit_compile=True. Leave it out, or compile the template alone with it."
            )
        for name in ("metrics", "weighted_metrics"):
            bound[name] = _for_each_output(bound.get(name), len(self.output_names))
        super().compile(**{**bound, "jit_compile": False})
        self._step = GlobalStep(self, self._replicas, self._merge)

    @property
    def merge_choices(self) -> dict[str, dict[str, Any]]:
        """Where the loss and the metrics of each output are computed: per sample on the replicas, or merged.

        Returns:
            For each output name, `{"loss": "samples", "merged" or None, "metrics": {name: "samples" or "merged"}}`.

        Raises:
            ValueError: before the first batch.
        """
        if self._step.placement is None:
            raise ValueError(
                "Expected `merge_choices` after the first batch: where a loss is computed depends on the targets. "
                "Call `train_on_batch` or `test_on_batch` once."
            )
        return self._step.placement.choices()

    # The template is what is saved and loaded.

    def save_weights(self, filepath: Any, *args: Any, **kwargs: Any) -> None:
        """Save the template's weights, with the optimizer's state as `keras.Model.save_weights` does."""
        with template_files.template_to_save(self) as template:
            template.save_weights(filepath, *args, **kwargs)

    def load_weights(self, filepath: Any, *args: Any, **kwargs: Any) -> LoadedWeights | None:
        """Load the template's weights from a file of the template or of any parallel model.

        `keras.Model.load_weights` reads Keras 3's formats (`.weights.h5`, `.keras`), with the optimizer's state.
        `load_template_weights` reads files of Keras 2, also those of parallel models.

        Args:
            filepath: the file.
            *args: passed to `keras.Model.load_weights`.
            **kwargs: passed to `keras.Model.load_weights`, such as `by_name` and `skip_mismatch`.

        Returns:
            For a file of Keras 2, a record of what was loaded. A line is printed if a parallel model wrote the file.

        Raises:
            CheckpointError: if the file would load nothing, does not fit, or is hostile. It is a `ValueError`.
        """
        return template_files.load_weights(self, filepath, *args, **kwargs)

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


keras3.model_saving.act_on_template(ParallelModel, template_files.template_to_save)
keras3.model_saving.write_activations_by_their_names()
keras3.optimizers.update_once_for_all_replicas()
keras3.optimizers.keep_reads_before_updates()
keras3.optimizers.follow_models_into_strategies()
keras3.table_rows.take_rows_where_the_table_is()
batch_normalization.take_statistics_of_all_replicas()
keras3.callbacks.let_callbacks_set_their_model()
keras3.callbacks.let_callbacks_ask_the_model_that_trains()
