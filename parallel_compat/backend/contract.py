"""The private names of Keras 3 and TensorFlow that the core stands on, each with its reason.

    python -m parallel_compat.backend.contract

checks them against the installed versions in some seconds, and names what is gone or has other parameters. A name is
used in `backend/keras3/` if and only if it is listed here. Where Keras has a public way, that one is used.
"""

from __future__ import annotations

import sys

from parallel_compat.private_names import PrivateName as Name
from parallel_compat.private_names import faults

_OPERATIONS = ("keras.src.backend.ops", "keras.src.backend")  # since 3.16, and before


def _moved(name: str) -> str:
    return " or ".join(f"{package}.{name}" for package in _OPERATIONS)


_SCOPE = "keras.src.backend.common"
_H5 = "keras.src.legacy.saving.legacy_h5_format"

KERAS = (
    # Models: what is compiled, and the training loop.
    Name("keras.Model._compile_config", "the arguments of `compile`, which a saved template has too"),
    Name("keras.Model._compile_loss", "the loss is computed on the replicas"),
    Name("keras.Model._compile_metrics", "metrics are updated with what the replicas computed"),
    Name("keras.Model._loss_tracker", "the mean loss counts each sample once"),
    Name("keras.Model._distribute_strategy", "a model of a strategy is left to Keras"),
    Name("keras.Model._initial_epoch", "`BackupAndRestore` and `Resume` say where a training begins"),
    Name("keras.Model._symbolic_build", "`Resume` builds models without weights", "self, iterator, data_batch"),
    Name("keras.Model._maybe_symbolic_build", "`Resume` learns of `fit`'s batches", "self, iterator, data_batch"),
    Name(
        "keras.src.backend.tensorflow.trainer.TFEpochIterator._distributed_dataset",
        "`Resume` learns of `fit`'s batches",
    ),
    Name("keras.src.trainers.compile_utils.CompileLoss._flat_losses", "each loss has a place where it is computed"),
    Name("keras.src.trainers.compile_utils.CompileMetrics._flat_metrics", "each metric has one too"),
    Name("keras.src.trainers.compile_utils.CompileMetrics._flat_weighted_metrics", "each metric has one too"),
    Name("keras.src.trainers.compile_utils.MetricsList", "Keras asks for this class", "metrics, name, output_name"),
    Name("keras.metrics.MeanMetricWrapper._fn", "what a metric averages, computed on the replicas"),
    Name("keras.metrics.MeanMetricWrapper._fn_kwargs", "what a metric averages, computed on the replicas"),
    # Data.
    Name(
        "keras.src.trainers.data_adapters.array_data_adapter.ArrayDataAdapter",
        "arrays in memory are checked as `fit` does",
        "x, y, sample_weight, batch_size",
    ),
    Name(
        "keras.src.trainers.data_adapters.array_data_adapter.ArrayDataAdapter._inputs",
        "arrays in memory are checked as `fit` does",
    ),
    Name(
        "keras.src.trainers.data_adapters.array_slicing.train_validation_split",
        "`validation_split` of arrays in memory",
        "arrays, validation_split",
    ),
    # Layers and tensors.
    Name("keras.Layer._flatten_layers", "all layers of a model, nested ones too", "self, include_self, recursive"),
    Name("keras.Layer._seed_generators", "each replica draws its own random numbers"),
    Name("keras.Layer._metrics", "metrics of layers are merged from the replicas"),
    Name("keras.Layer._clear_losses", "`model.losses` are those of the global batch", "self"),
    Name("keras.Layer._input_shape_arg", "`input_shape=` of layers that are made by old code"),
    Name("keras.Layer._trainable_variables", "a layer's own variables, by the names of an old checkpoint"),
    Name("keras.Layer._non_trainable_variables", "a layer's own variables, by the names of an old checkpoint"),
    Name("keras.layers.Lambda._output_shape", "functions of an old file see the names that they were written with"),
    Name("keras.Variable._value", "means are held as tensors for a step; rows of a table stay where it is"),
    Name("keras.Variable._initialize", "an optimizer is brought into the strategy of its model", "self, value"),
    Name("keras.src.ops.node.Node._keras_history", "which operation made a symbolic tensor"),
    Name("keras.Operation._inbound_nodes", "values of symbolic tensors are computed again"),
    Name("keras.src.ops.symbolic_arguments.SymbolicArguments.fill_in", "the same", "self, tensor_dict"),
    Name("keras.src.ops.numpy.Multiply.compute_output_spec", "`x * 2` is not sparse", "self, x1, x2"),
    Name("keras.src.activations.activations._keras_logits", "losses of replicas' outputs are computed on logits"),
    Name(f"{_SCOPE}.masking._keras_mask", "masks travel with replicas' outputs"),
    Name("keras.src.backend.compute_output_spec", "losses are built on shapes alone", "fn"),
    Name(_moved("nn._compute_moments_sync"), "replicas without samples count for nothing", "x, axes, keepdims"),
    Name(_moved("numpy.take"), "a replica takes rows of a table where it is", "x, indices, axis"),
    # Scopes of Keras, by their names in its global state.
    Name(f"{_SCOPE}.global_state.get_global_attribute", "scopes of Keras", "name, default"),
    Name(f"{_SCOPE}.global_state.set_global_attribute", "scopes of Keras", "name, value"),
    Name(f"{_SCOPE}.stateless_scope.get_stateless_scope", "replicas run in a scope of this kind"),
    Name(f"{_SCOPE}.name_scope.name_scope_stack", "whether a layer is being built"),
    Name(f"{_SCOPE}.variables.uninitialized_variables", "models of which the shapes alone are wanted"),
    Name("keras.src.layers.layer.current_call_ctx", "whether the call in progress trains"),
    Name("keras.src.utils.naming.object_name_uids", "what is made and thrown away takes no names"),
    Name("keras.src.saving.object_registration.custom_objects_scope_dict", "objects of `CustomObjectScope`s"),
    Name("keras.src.saving.serialization_lib.safe_mode_saving", "bytecode in files is refused"),
    Name("keras.src.random.seed_generator.global_seed_generator", "layers without a seed draw on each replica"),
    Name("keras.src.utils.tracking.DotNotTrackScope", "attributes that are no layers of a model"),
    # Optimizers.
    Name("keras.optimizers.Optimizer._track_variable", "a twin shares the count of steps", "self, variable"),
    Name("keras.optimizers.Optimizer._untrack_variable", "a twin shares the count of steps", "self, variable"),
    Name("keras.optimizers.Optimizer._get_variable_index", "whether a variable is known", "self, variable"),
    Name("keras.optimizers.Optimizer._trainable_variables_indices", "an optimizer steps more variables than before"),
    Name("keras.optimizers.Optimizer._get_current_learning_rate", "`decay` of old code", "self"),
    Name("keras.optimizers.Optimizer._distribution_strategy", "one update for all replicas"),
    Name(
        "keras.optimizers.Optimizer._all_reduce_sum_gradients",
        "no update overtakes the read of a weight",
        "self, grads_and_vars",
    ),
    # Callbacks.
    Name("keras.callbacks.EarlyStopping._set_monitor_op", "a metric's direction, of the model that trains", "self"),
    Name("keras.callbacks.TensorBoard._train_writer", "summaries of batches"),
    # Files.
    Name("keras.src.saving.saving_lib.save_model", "a parallel model is saved as its template", "model, filepath"),
    Name("keras.src.saving.saving_lib.save_weights_only", "weights under any name of a file", "model, filepath"),
    Name("keras.src.saving.saving_lib._save_model_to_fileobj", "pickling", "model, fileobj, ..."),
    Name(
        "keras.src.saving.saving_lib._save_state",
        "a parallel model in another model",
        "saveable, ...",
    ),
    Name(
        "keras.src.saving.saving_lib._load_state",
        "a parallel model in another model",
        "saveable, ...",
    ),
    Name("keras.src.saving.saving_lib._save_container_state", "a parallel model in another model", "container, ..."),
    Name("keras.src.saving.saving_lib._load_container_state", "a parallel model in another model", "container, ..."),
    Name("keras.src.saving.serialization_lib.serialize_keras_object", "a parallel model in another model", "obj"),
    Name("keras.src.legacy.saving.serialization.serialize_keras_object", "the same in an HDF5 file", "instance"),
    Name("keras.src.models.cloning._clone_functional_model", "a parallel model is cloned", "model, clone_function"),
    Name("keras.src.activations.serialize", "`tf.nn.softmax` in a file is `softmax`", "activation"),
    Name(f"{_H5}.save_model_to_hdf5", "files of Keras 2", "model, filepath, overwrite, include_optimizer"),
    Name(f"{_H5}.load_model_from_hdf5", "files of Keras 2", "filepath, custom_objects, compile"),
    Name(f"{_H5}.save_weights_to_hdf5_group", "files of Keras 2"),
    Name(f"{_H5}.load_weights_from_hdf5_group", "files of Keras 2"),
    Name("keras.src.legacy.saving.saving_options.keras_option_scope", "files of Keras 2", "use_legacy_config"),
    Name("keras.src.legacy.saving.saving_utils.model_from_config", "files of Keras 2", "config, custom_objects"),
    Name("keras.src.legacy.saving.saving_utils.MODULE_OBJECTS", "names in files of Keras 2 are those of classes"),
    Name("keras.src.legacy.layers", "layers that Keras 3 keeps for old files alone"),
    # What migrated sources import.
    Name("keras.src.legacy.preprocessing.image.DataFrameIterator", "`flow_from_dataframe` of old code"),
    Name(
        "keras.src.applications.imagenet_utils.obtain_input_shape",
        "models of old code like those of `keras.applications`",
        "input_shape, default_size, min_size, data_format, require_flatten, weights",
    ),
)

_TF = "tensorflow.python"
_COLUMNS = f"{_TF}.feature_column"
TENSORFLOW = (
    Name(f"{_TF}.framework.ops.Operation._add_control_inputs", "nothing changes before its batch"),
    Name(f"{_TF}.framework.ops.Graph._variable_creator_stack", "one update for all replicas"),
    Name(f"{_TF}.framework.ops.EagerTensor", "arrays become tensors at little cost"),
    Name(f"{_TF}.framework.ops.get_default_graph", "one update for all replicas"),
    Name(f"{_TF}.distribute.distribute_lib._push_per_thread_mode", "one update for all replicas", "context"),
    Name(f"{_TF}.distribute.distribute_lib._pop_per_thread_mode", "one update for all replicas"),
    Name(f"{_TF}.distribute.distribute_lib._get_default_replica_mode", "one update for all replicas"),
    Name(
        f"{_TF}.distribute.collective_all_reduce_strategy.CollectiveAllReduceStrategy",
        "several devices on each worker",
    ),
    Name(
        f"{_TF}.distribute.collective_all_reduce_strategy.CollectiveAllReduceExtended._initialize_local_devices",
        "several devices on each worker",
        "self, cluster_resolver, worker_device",
    ),
    Name(f"{_TF}.distribute.collective_util.Options", "several devices on each worker"),
    Name(f"{_TF}.eager.context.context", "seeds of operations; memory of GPUs; calls of functions"),
    Name(f"{_TF}.eager.context.Context._rng", "`Resume` keeps the seeds of operations"),
    Name(f"{_TF}.eager.context.Context._config", "a fraction of a GPU's memory"),
    Name(f"{_TF}.eager.context.Context._context_handle", "whether the devices have been started"),
    Name(f"{_TF}.eager.context.Context.call_function", "small models", "self, name, tensor_inputs, num_outputs"),
    Name(
        f"{_TF}.eager.polymorphic_function.concrete_function.ConcreteFunction._inference_function",
        "a step of a small model",
    ),
    Name(
        f"{_TF}.eager.polymorphic_function.atomic_function.InterpolateRuntimeError",
        "errors in a step name the line",
        "top_level_func",
    ),
    Name(f"{_TF}.client.session.BaseSession._config", "options of a session of old code"),
    Name(f"{_COLUMNS}.feature_column_v2.DenseColumn", "feature columns"),
    Name(f"{_COLUMNS}.feature_column_v2.SequenceDenseColumn", "feature columns"),
    Name(f"{_COLUMNS}.feature_column_v2.StateManager", "feature columns"),
    Name(f"{_COLUMNS}.feature_column_v2.FeatureTransformationCache", "feature columns", "features"),
    Name(f"{_COLUMNS}.feature_column_v2._sanitize_column_name_for_variable_scope", "feature columns", "name"),
    Name(f"{_COLUMNS}.feature_column_v2_types.FeatureColumn", "feature columns"),
    Name(f"{_COLUMNS}.serialization.serialize_feature_columns", "feature columns", "feature_columns"),
    Name(f"{_COLUMNS}.serialization.deserialize_feature_columns", "feature columns", "configs"),
    Name(f"{_TF}.util.dispatch.GlobalOpDispatcher", "functions of TensorFlow on symbolic tensors"),
    Name(f"{_TF}.util.tf_decorator.unwrap", "the public name of a function", "maybe_tf_decorator"),
    Name(f"{_TF}.util.tf_export.get_v1_names", "the public name of a function", "symbol"),
    Name(f"{_TF}.util.tf_export.get_v2_names", "the public name of a function", "symbol"),
    Name("tensorflow.__internal__.tracking.Trackable", "what a checkpoint keeps"),
    Name("tensorflow.core.protobuf.saved_model_pb2.SavedModel", "what a SavedModel is"),
)


def check() -> list[str]:
    """Return a sentence for each name that the installed Keras and TensorFlow do not have, or have otherwise."""
    return faults((*KERAS, *TENSORFLOW))


def main() -> int:
    """Print what is wrong, and return the exit code."""
    found = check()
    print("\n".join(found) or f"{len(KERAS)} private names of Keras and {len(TENSORFLOW)} of TensorFlow are there")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
