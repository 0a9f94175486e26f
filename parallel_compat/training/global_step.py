"""One step of `fit`, `evaluate` or `predict` on the global batch.

A batch goes down and comes back once: forward on each replica, the loss of the global batch, backward on each replica,
one update of the weights, the metrics of the global batch.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import keras
import tensorflow as tf

from parallel_compat.backend import keras3
from parallel_compat.training.added_losses import find_merge_kinds, merge_added_losses
from parallel_compat.training.forward import Batch, forward
from parallel_compat.training.losses import Placement
from parallel_compat.training.replica_pass import ReplicaPass
from parallel_compat.training.replicas import Replicas, add
from parallel_compat.training.trainable_flags import TrainableFlags
from parallel_compat.warning_category import ParallelCompatWarning


class GlobalStep:
    """The train, test and predict steps of a parallel model, with the losses and metrics it has now."""

    def __init__(self, model: keras.Model, replicas: Replicas, merge: str | Mapping[str, str]) -> None:
        self._model = model
        self._replicas = replicas
        self._merge = merge
        self._trainable_flags = TrainableFlags(model)
        self._compiled = keras3.compiled.Compiled(model) if model.compiled else None
        self._added_loss_kinds: dict[bool, list[str]] = {}
        self.placement: Placement | None = None
        self.seeds = keras3.layers.global_seeds()

    @property
    def several_workers(self) -> bool:
        """Whether other processes compute some of the replicas."""
        return self._replicas.several_workers

    def take_seeds(self) -> None:
        """Draw from Keras's global generator of this moment: a trace cannot make a new one, another thread has none."""
        self.seeds = keras3.layers.global_seeds()

    def train(self, data: Any) -> dict[str, Any]:
        """Train on one global batch, and return the metrics."""
        with self._trainable_flags.restored():
            batch = read(data)
            variables = list(self._model.trainable_variables)
            placement, passed = self._forward(batch, training=True, differentiate=bool(variables))
            with tf.GradientTape() as tape:
                for source in keras.tree.flatten(passed.sources):
                    tape.watch(source)
                y_pred = placement.global_outputs(passed)
                loss = self._loss(batch, y_pred, passed, training=True)
                scaled = loss if self._model.optimizer is None else self._model.optimizer.scale_loss(loss)
            if variables:
                outer = tape.gradient(scaled, {"replicas": passed.sources, "here": variables})
                of_replicas = passed.backward(outer["replicas"], variables)
                self._update([add(parts) for parts in zip(of_replicas, outer["here"], strict=True)], variables)
            else:
                warnings.warn("The model does not have any trainable weights.", ParallelCompatWarning, stacklevel=2)
            return self._metrics(batch, y_pred, passed, loss)

    def test(self, data: Any) -> dict[str, Any]:
        """Evaluate one global batch, and return the metrics."""
        with self._trainable_flags.restored():
            batch = read(data)
            placement, passed = self._forward(batch, training=False, differentiate=False)
            y_pred = placement.global_outputs(passed)
            loss = self._loss(batch, y_pred, passed, training=False)
            return self._metrics(batch, y_pred, passed, loss)

    def predict(self, data: Any) -> Any:
        """Predict one global batch."""
        x, _, _ = read(data)
        passed = forward(self._model, self._replicas, self.seeds, (x, None, None), training=False)
        flat = [passed.merged_output(i) for i in range(len(passed.outputs[0]))]
        return keras.tree.pack_sequence_as(passed.structure, flat)

    def _forward(self, batch: Batch, training: bool, differentiate: bool) -> tuple[Placement, ReplicaPass]:
        self._replicas.check_same(batch)
        self.placement = self.placement or self._place(batch)
        passed = forward(self._model, self._replicas, self.seeds, batch, training, self.placement, differentiate)
        if passed.added_losses[0] and training not in self._added_loss_kinds:
            chosen = "auto" if isinstance(self._merge, str) else self._merge.get("add_loss", "auto")
            self._added_loss_kinds[training] = (
                find_merge_kinds(self._model, passed.layer_state, batch[0], training)
                if chosen == "auto"
                else [chosen] * len(passed.added_losses[0])
            )
        return self.placement, passed

    def _place(self, batch: Batch) -> Placement:
        """Build the compiled losses and metrics on the first batch, and decide where each is computed."""
        assert self._compiled is not None
        x, y, sample_weight = batch
        placement = Placement(self._compiled, self._model.output, self._model.output_names, self._merge)
        if not self._compiled.built:
            y_pred = self.predict((x,)) if tf.executing_eagerly() else placement.stand_ins()
            self._compiled.build(y, y_pred, sample_weight)
        placement.decide(y, sample_weight)
        return placement

    def _loss(self, batch: Batch, y_pred: Any, passed: ReplicaPass, training: bool) -> Any:
        """Compute the loss of the global batch, from the replicas' outputs and sums."""
        assert self._compiled is not None
        _, y, sample_weight = batch
        compiled = self._compiled.loss(y, y_pred, sample_weight)
        losses = [] if compiled is None else [compiled]
        if passed.added_losses[0]:
            losses += merge_added_losses(passed.added_losses, self._added_loss_kinds[training], passed.samples)
        losses += [each.regularizer(each) for each in self._model.trainable_weights if each.regularizer is not None]
        if not losses:
            raise ValueError("No loss to compute. Provide a `loss` argument in `compile()`.")
        return losses[0] if len(losses) == 1 else keras.ops.sum(losses)

    def _update(self, gradients: Sequence[Any], variables: Sequence[keras.Variable]) -> None:
        self._model.optimizer = keras3.optimizers.optimizer_for(self._model.optimizer, variables)
        self._model.optimizer.apply_gradients(zip(gradients, variables, strict=True))

    def _metrics(self, batch: Batch, y_pred: Any, passed: ReplicaPass, loss: Any) -> dict[str, Any]:
        assert self._compiled is not None
        _, y, sample_weight = batch
        self._compiled.track_loss(loss, passed.sample_count)
        self._compiled.update_metrics(y, y_pred, sample_weight)
        metrics: dict[str, Any] = self._model.get_metrics_result()
        return metrics


def read(data: Any) -> Batch:
    """Split a batch into inputs, targets and sample weights, as tensors; the last two may be None."""
    parts = keras.utils.unpack_x_y_sample_weight(data)
    batch: Batch = keras.tree.map_structure(_as_tensor, parts)
    return batch


def _as_tensor(value: Any) -> Any:
    if value is None or tf.is_tensor(value) or isinstance(value, (tf.RaggedTensor, tf.SparseTensor)):
        return value
    return tf.convert_to_tensor(value)
