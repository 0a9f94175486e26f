"""Names that `run` can stand in for although `migrate` has to report them, and names whose answer is a class of ours.

A stand-in for a graph or a session is harmless in a running script and worthless in a rewritten one; so these rows
are read by `run` alone, before the table.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from parallel_compat.names import class_versions
from parallel_compat.names.members import NODE
from parallel_compat.names.table import Path, Status

if TYPE_CHECKING:
    from collections.abc import Iterator

_LEGACY = "parallel_compat.legacy"
_GRAPH = "placeholder gradients Function"
_TEXT = "Tokenizer hashing_trick one_hot text_to_word_sequence tokenizer_from_json"
_SEQUENCE = "pad_sequences TimeseriesGenerator make_sampling_table skipgrams"
_IMAGE = (
    "DirectoryIterator ImageDataGenerator Iterator NumpyArrayIterator apply_affine_transform "
    "apply_brightness_shift apply_channel_shift array_to_img img_to_array load_img random_brightness "
    "random_channel_shift random_rotation random_shear random_shift random_zoom save_img"
)
_SERIALIZING = ("activations", "constraints", "initializers", "losses", "metrics", "optimizers", "regularizers")
# Of TensorFlow 1, which count in variables of the graph.
_STREAMING = (
    "accuracy auc average_precision_at_k false_negatives false_negatives_at_thresholds false_positives "
    "false_positives_at_thresholds mean mean_absolute_error mean_cosine_distance mean_iou mean_per_class_accuracy "
    "mean_relative_error mean_squared_error mean_tensor percentage_below precision precision_at_k "
    "precision_at_thresholds precision_at_top_k recall recall_at_k recall_at_thresholds recall_at_top_k "
    "root_mean_squared_error sensitivity_at_specificity sparse_average_precision_at_k sparse_precision_at_k "
    "specificity_at_sensitivity true_negatives true_negatives_at_thresholds true_positives "
    "true_positives_at_thresholds"
)
_MOVED = "random_rotation random_shift random_shear random_zoom"
# Decorators that took Keras 1's arguments: `keras.legacy.interfaces.legacy_conv2d_support`.
_SUPPORT = (
    "add_weight batchnorm conv1d conv2d conv3d convlstm2d cropping2d cropping3d deconv2d dense dropout "
    "embedding gaussiandropout gaussiannoise generator_methods get_updates global_pooling input lambda "
    "model_constructor pooling1d pooling2d pooling3d prelu recurrent separable_conv2d spatialdropout1d "
    "spatialdropoutNd upsampling1d upsampling2d upsampling3d zeropadding2d zeropadding3d"
)

# Modules that the modules of standalone Keras 2.2.4 imported for themselves: `from keras.layers import *` brought `K`.
_MODULES = {
    "K": "keras.backend", "np": "numpy", "copy": "copy", "csv": "csv", "h5py": "h5py", "io": "io", "json": "json",
    "os": "os", "sys": "sys", "time": "time", "tf": "tensorflow", "types": "types", "warnings": "warnings",
    "activations": "keras.activations", "constraints": "keras.constraints", "initializers": "keras.initializers",
    "regularizers": "keras.regularizers",
}  # fmt: skip
_OF_LAYERS = "K activations constraints initializers regularizers"
_HELD_MODULES = {
    "layers": f"{_OF_LAYERS} copy np warnings",
    "layers.core": f"{_OF_LAYERS} copy np warnings",
    "layers.convolutional": _OF_LAYERS,
    "layers.recurrent": f"{_OF_LAYERS} np warnings",
    "layers.normalization": "K constraints initializers regularizers",
    "layers.embeddings": "K constraints initializers regularizers",
    "layers.advanced_activations": _OF_LAYERS,
    "layers.local": _OF_LAYERS,
    "layers.wrappers": "K copy",
    "layers.noise": "K np",
    "layers.merge": "K",
    "layers.pooling": "K",
    "models": "K h5py",
    "callbacks": "K csv io json np os sys time warnings",
    "optimizers": "K copy tf",
    "losses": "K",
    "objectives": "K",
    "metrics": "K",
    "regularizers": "K",
    "initializers": "K np",
    "activations": "K warnings",
    "constraints": "K",
    "engine.training": "K copy np warnings",
    "utils.generic_utils": "np sys time",
    "utils.np_utils": "np",
    "wrappers.scikit_learn": "copy np types",
}
# Modules that packages of it imported in their `__init__`: `from keras.utils import *` brought `np_utils`.
MODULES_OF_PACKAGES = {
    "keras.layers": (
        "advanced_activations", "convolutional", "convolutional_recurrent", "core", "cudnn_recurrent", "embeddings",
        "local", "merge", "noise", "normalization", "pooling", "recurrent", "wrappers",
    ),
    "keras.utils": (
        "conv_utils", "data_utils", "generic_utils", "io_utils", "layer_utils", "multi_gpu_utils", "np_utils",
        "vis_utils",
    ),
}  # fmt: skip
_OF_STANDALONE = {
    f"keras.{module}.{name}": _MODULES[name] for module, names in _HELD_MODULES.items() for name in names.split()
}

_COLLECTIONS = ("get_collection", "get_collection_ref", "global_variables", "model_variables", "trainable_variables")
# What `tf.compat.v1` has, and code of Keras that is written for TensorFlow 2 reaches by that path. There is no graph
# for it either.
OF_COMPAT_V1 = frozenset(
    (
        "InteractiveSession",
        "Session",
        "assign",
        "assign_add",
        "assign_sub",
        "disable_eager_execution",
        "disable_v2_behavior",
        "get_default_graph",
        "get_default_session",
        "global_variables_initializer",
        "gradients",
        "local_variables_initializer",
        "placeholder",
        "reset_default_graph",
        "tables_initializer",
        *_COLLECTIONS,
    )
)

OPTIMIZERS_OF_COMPAT_V1 = frozenset(
    f"{name}Optimizer" for name in ("Adadelta", "Adagrad", "Adam", "Ftrl", "GradientDescent", "Momentum", "RMSProp")
)

# Functions of TensorFlow 1 that take the same arguments today and give something else, and what gives that of then.
CHANGED_SINCE_GRAPHS = {
    "tensorflow.where": f"{_LEGACY}.tensorflow_functions.where",
    "tensorflow.image.resize": "tensorflow.compat.v1.image.resize",  # about the corners of pixels, not their middles
    "tensorflow.nn.softmax_cross_entropy_with_logits":  # no gradients go into the labels
    "tensorflow.compat.v1.nn.softmax_cross_entropy_with_logits",
    **{
        f"tensorflow.{path}": f"{_LEGACY}.tensorflow_functions.{name}"
        for name in ("random_normal_initializer", "random_uniform_initializer", "truncated_normal_initializer")
        for path in (name, f"initializers.{name.removesuffix('_initializer')}")
    },
}

_PROVIDED: dict[str, str] = {
    # Sessions and graphs that only served to be there.
    "tensorflow.disable_eager_execution": f"{_LEGACY}.execution.disable_eager_execution",
    "tensorflow.disable_v2_behavior": f"{_LEGACY}.execution.disable_eager_execution",
    "tensorflow.enable_eager_execution": f"{_LEGACY}.execution.enable_eager_execution",
    "tensorflow.enable_v2_behavior": f"{_LEGACY}.execution.enable_v2_behavior",
    "tensorflow.enable_resource_variables": "tensorflow.compat.v1.enable_resource_variables",
    "tensorflow.get_default_session": f"{_LEGACY}.session.get_default_session",
    "tensorflow.get_default_graph": f"{_LEGACY}.session.get_default_graph",
    "tensorflow.reset_default_graph": f"{_LEGACY}.session.reset_default_graph",
    "tensorflow.global_variables_initializer": f"{_LEGACY}.first_values.global_variables_initializer",
    "tensorflow.variables_initializer": f"{_LEGACY}.first_values.variables_initializer",
    "tensorflow.local_variables_initializer": f"{_LEGACY}.streaming_metrics.local_variables_initializer",
    **{
        f"tensorflow.{place}metrics.{name}": f"{_LEGACY}.streaming_metrics.{name}"
        for place in ("", "compat.v1.")
        for name in _STREAMING.split()
    },
    "tensorflow.initialize_all_variables": f"{_LEGACY}.first_values.global_variables_initializer",
    "tensorflow.data.make_initializable_iterator": f"{_LEGACY}.data_tensors.make_initializable_iterator",
    "tensorflow.tables_initializer": f"{_LEGACY}.session.tables_initializer",
    # `model.compile(tf.train.AdamOptimizer(1e-3), ...)` under tf.keras.
    **{
        f"tensorflow.{place}train.{name}": f"{_LEGACY}.optimizers.{name}"
        for place in ("", "compat.v1.")
        for name in OPTIMIZERS_OF_COMPAT_V1
    },
    "keras.optimizers.TFOptimizer": f"{_LEGACY}.optimizers.TFOptimizer",
    # Graphs of symbolic tensors.
    **{f"keras.backend.{name}": f"{_LEGACY}.graph.{name}" for name in _GRAPH.split()},
    **{f"keras.backend.tensorflow_backend.{name}": f"{_LEGACY}.graph.{name}" for name in _GRAPH.split()},
    **{
        f"keras.backend.{place}batch_dot": f"{_LEGACY}.dot_products.batch_dot_of_era"
        for place in ("", "tensorflow_backend.")
    },
    "keras.backend.tf": "tensorflow",
    "keras.backend.tensorflow_backend.tf": "tensorflow",
    **{f"keras.legacy.interfaces.legacy_{name}_support": f"{_LEGACY}.utils.as_written" for name in _SUPPORT.split()},
    "tensorflow.placeholder": f"{_LEGACY}.graph.tf_placeholder",
    "tensorflow.gradients": f"{_LEGACY}.graph.tf_gradients",
    "tensorflow.assign": f"{_LEGACY}.graph.tf_assign",
    "tensorflow.assign_add": f"{_LEGACY}.graph.tf_assign_add",
    "tensorflow.assign_sub": f"{_LEGACY}.graph.tf_assign_sub",
    "tensorflow.group": f"{_LEGACY}.graph.tf_group",
    "tensorflow.scatter_add": f"{_LEGACY}.graph.scatter_add",
    "tensorflow.scatter_sub": f"{_LEGACY}.graph.scatter_sub",
    "tensorflow.scatter_update": f"{_LEGACY}.graph.scatter_update",
    "tensorflow.scatter_nd_add": f"{_LEGACY}.graph.scatter_nd_add",
    "tensorflow.scatter_nd_sub": f"{_LEGACY}.graph.scatter_nd_sub",
    "tensorflow.scatter_nd_update": f"{_LEGACY}.graph.scatter_nd_update",
    "tensorflow.Variable": f"{_LEGACY}.variables.Variable",
    "tensorflow.saved_model.save": f"{_LEGACY}.saved_models.save",
    "tensorflow.map_fn": f"{_LEGACY}.op_layers.map_fn",
    "tensorflow.while_loop": f"{_LEGACY}.op_layers.while_loop",
    # Classes whose objects differ, not only their arguments.
    "keras.callbacks.ModelCheckpoint": f"{_LEGACY}.callbacks.ModelCheckpoint",
    "keras.callbacks.callbacks.ModelCheckpoint": f"{_LEGACY}.callbacks.ModelCheckpoint",
    "keras.callbacks.TensorBoard": f"{_LEGACY}.callbacks.TensorBoard",
    "keras.callbacks.callbacks.TensorBoard": f"{_LEGACY}.callbacks.TensorBoard",
    "keras.callbacks.EarlyStopping": f"{_LEGACY}.callbacks.EarlyStopping",
    "keras.callbacks.callbacks.EarlyStopping": f"{_LEGACY}.callbacks.EarlyStopping",
    "keras.callbacks.ReduceLROnPlateau": f"{_LEGACY}.callbacks.ReduceLROnPlateau",
    "keras.callbacks.callbacks.ReduceLROnPlateau": f"{_LEGACY}.callbacks.ReduceLROnPlateau",
    "keras.losses.deserialize": f"{_LEGACY}.serializing.deserialize_loss",
    "keras.metrics.deserialize": f"{_LEGACY}.serializing.deserialize_metric",
    **{f"keras.{module}.serialize": f"{_LEGACY}.serializing.serialize" for module in _SERIALIZING},
    "keras.optimizers.Optimizer": f"{_LEGACY}.optimizer_class.Optimizer",
    "keras.layers.serialize": f"{_LEGACY}.serializing.serialize",
    **{
        f"keras.{module}.{name}": f"{_LEGACY}.keras_objects.{name}"
        for module in (*_SERIALIZING, "layers", "layers.core", "objectives", "utils", "utils.generic_utils")
        for name in ("deserialize_keras_object", "serialize_keras_object")
    },
    "keras.initializers.deserialize": f"{_LEGACY}.serializing.deserialize_initializer",
    "keras.initializers.get": f"{_LEGACY}.serializing.get_initializer",
    "keras.regularizers.l1": f"{_LEGACY}.regularizers.l1",
    "keras.regularizers.l2": f"{_LEGACY}.regularizers.l2",
    "keras.regularizers.get": f"{_LEGACY}.regularizers.get",
    "keras.models.load_model": f"{_LEGACY}.models.load_model",
    "keras.engine.saving.load_model": f"{_LEGACY}.models.load_model",
    "keras.models.model_from_config": f"{_LEGACY}.models.model_from_config",
    "keras.engine.saving.model_from_config": f"{_LEGACY}.models.model_from_config",
    "keras.models.clone_model": f"{_LEGACY}.cloning.clone_model",
    **{
        f"keras.utils.{module}multi_gpu_model": f"{_LEGACY}.parallel_models.multi_gpu_model"
        for module in ("", "multi_gpu_utils.", "training_utils.")
    },
    **{
        f"keras.{module}.model_from_yaml": f"{_LEGACY}.yaml_models.model_from_yaml"
        for module in ("models", "engine.saving")
    },
    "keras.initializers._compute_fans": f"{_LEGACY}.old_weights.compute_fans",
    # Functions as bytecode: made of what the running script wrote itself, or of a file that is trusted.
    "keras.utils.generic_utils.func_dump": f"{_LEGACY}.functions.func_dump",
    "keras.utils.generic_utils.func_load": f"{_LEGACY}.functions.func_load",
    "keras.utils.data_utils._hash_file": f"{_LEGACY}.utils._hash_file",
    "keras.utils.data_utils.validate_file": f"{_LEGACY}.utils.validate_file",
    "keras.utils.io_utils.H5Dict": f"{_LEGACY}.h5_dict.H5Dict",
    "keras.utils.io_utils.h5dict": f"{_LEGACY}.h5_dict.H5Dict",
    "keras.engine.saving.h5dict": f"{_LEGACY}.h5_dict.H5Dict",
    "keras.models.save_model": f"{_LEGACY}.models.save_model",
    "keras.engine.saving.save_model": f"{_LEGACY}.models.save_model",
    "keras.models.model_from_json": f"{_LEGACY}.models.model_from_json",
    "keras.engine.saving.model_from_json": f"{_LEGACY}.models.model_from_json",
    # The geometry of the package that Keras 2 was made of.
    **dict.fromkeys(
        ("keras.preprocessing.image.ImageDataGenerator", "keras_preprocessing.image.ImageDataGenerator"),
        f"{_LEGACY}.image_transforms.ImageDataGenerator",
    ),
    "keras.preprocessing.image.apply_affine_transform": f"{_LEGACY}.image_transforms.apply_affine_transform",
    **{
        f"keras.preprocessing.image.{name}": f"{_LEGACY}.image_transforms.{name}"
        for name in (*_MOVED.split(), "random_brightness", "apply_brightness_shift")
    },
    # Metric functions of the era of the code that calls them.
    "keras.metrics.binary_accuracy": f"{_LEGACY}.numbers.metric_functions.BINARY_ACCURACY",
    "keras.metrics.sparse_categorical_accuracy": f"{_LEGACY}.numbers.metric_functions.SPARSE_CATEGORICAL_ACCURACY",
    "keras.metrics.top_k_categorical_accuracy": f"{_LEGACY}.numbers.metric_functions.TOP_K",
    "keras.metrics.sparse_top_k_categorical_accuracy": f"{_LEGACY}.numbers.metric_functions.SPARSE_TOP_K",
    "keras.metrics.cosine_proximity": f"{_LEGACY}.numbers.metric_functions.COSINE_PROXIMITY",
    "keras.metrics.cosine": f"{_LEGACY}.numbers.metric_functions.COSINE_PROXIMITY",
    **dict.fromkeys(
        ("keras.losses.cosine_proximity", "keras.losses.cosine", "keras.losses.cosine_similarity"),
        f"{_LEGACY}.numbers.metric_functions.COSINE_LOSS",
    ),
    "keras.losses.get": f"{_LEGACY}.numbers.metric_functions.loss_of_name",
    "keras.metrics.get": f"{_LEGACY}.numbers.metric_functions.metric_of_name",
    # Functions that take their old arguments.
    "keras.preprocessing.image.load_img": f"{_LEGACY}.preprocessing.load_img",
    "keras.preprocessing.sequence.TimeseriesGenerator": f"{_LEGACY}.preprocessing.TimeseriesGenerator",
    "keras.utils.to_categorical": f"{_LEGACY}.utils.to_categorical",
    "keras.utils.normalize": f"{_LEGACY}.utils.normalize",
    "keras.utils.np_utils.normalize": f"{_LEGACY}.utils.normalize",
    "keras.utils.get_file": f"{_LEGACY}.downloads.get_file",
    "keras.utils.data_utils.get_file": f"{_LEGACY}.downloads.get_file",
    "keras.engine.network.Network": "keras.Model",
    "keras.engine.Network": "keras.Model",
    "keras.activations.relu": f"{_LEGACY}.activations.relu",
    "keras.activations.softmax": f"{_LEGACY}.activations.softmax",
    "keras.activations.get": f"{_LEGACY}.activations.get",
    "keras.activations.deserialize": f"{_LEGACY}.activations.deserialize",
    "keras.layers.deserialize": f"{_LEGACY}.old_configs.deserialize",
    "keras.backend.is_keras_tensor": f"{_LEGACY}.backend.is_keras_tensor",
    "keras.backend.clear_session": f"{_LEGACY}.backend.clear_session",
    "keras.backend.tensorflow_backend.clear_session": f"{_LEGACY}.backend.clear_session",
    # The packages that Keras 2.2 was made of; pickled tokenizers name them.
    **{f"keras_preprocessing.text.{name}": f"tensorflow.keras.preprocessing.text.{name}" for name in _TEXT.split()},
    **{
        f"keras_preprocessing.sequence.{name}": f"tensorflow.keras.preprocessing.sequence.{name}"
        for name in _SEQUENCE.split()
    },
    **{
        f"keras_preprocessing.image.{name}": f"tensorflow.keras.preprocessing.image.{name}"
        for name in _IMAGE.split()
        if name != "ImageDataGenerator"
    },
}
_PROVIDED |= {
    f"tensorflow.compat.v1.{name}": _PROVIDED[f"tensorflow.{name}"]
    for name in sorted(OF_COMPAT_V1)
    if f"tensorflow.{name}" in _PROVIDED
}
_PROVIDED |= {f"tensorflow.compat.v1.{name}": f"{_LEGACY}.graph_collections.{name}" for name in _COLLECTIONS}
# Answers that are as good as today's own name: not worth a line in the report.
QUIET = frozenset(
    {
        "tensorflow.gradients",
        "tensorflow.Variable",
        "tensorflow.map_fn",
        "tensorflow.while_loop",
        "keras.preprocessing.image.ImageDataGenerator",
        "keras.losses.get",
        "keras.metrics.get",
        *(f"keras.{module}.serialize" for module in _SERIALIZING),
        "keras.optimizers.Optimizer",
        "keras.initializers.deserialize",
        "keras.initializers.get",
        "keras.regularizers.l1",
        "keras.regularizers.l2",
        "keras.regularizers.get",
        "keras.metrics.binary_accuracy",
        "keras.metrics.sparse_categorical_accuracy",
        "keras.metrics.top_k_categorical_accuracy",
        "keras.metrics.sparse_top_k_categorical_accuracy",
        "keras.callbacks.EarlyStopping",
        "keras.callbacks.ModelCheckpoint",
        "keras.callbacks.ReduceLROnPlateau",
        "keras.callbacks.TensorBoard",
        "keras.models.load_model",
        "keras.models.clone_model",
        "keras.models.save_model",
        "keras.models.model_from_json",
        "keras.backend.clear_session",
        "keras.backend.is_keras_tensor",
        "keras.layers.deserialize",
        "keras.activations.relu",
        "keras.activations.softmax",
        "keras.activations.get",
        "keras.activations.deserialize",
        "keras.preprocessing.image.load_img",
        "keras.preprocessing.sequence.TimeseriesGenerator",
        "keras.utils.to_categorical",
        "keras.utils.normalize",
        "keras.utils.np_utils.normalize",
        "keras.utils.get_file",
        "keras.utils.data_utils.get_file",
    }
)
# Stand-ins for code that passes an argument of then alone: other code may compare the function with a layer's.
BY_ARGUMENT = {"keras.activations.relu": "alpha", "keras.activations.softmax": "axis"}

# Members of a model that served graphs and threads: their counterparts have the same effect, or none is needed.
MEMBERS = {
    ("keras.Model", name): f"{_LEGACY}.models{name.replace('_make', '.make')}"
    for name in ("_make_predict_function", "_make_train_function", "_make_test_function")
}
for _name in ("fit_generator", "evaluate_generator", "predict_generator"):
    MEMBERS["keras.Model", _name] = f"parallel_compat.run.model_methods.{_name}"
for _name in ("get_updates", "get_gradients"):
    MEMBERS["keras.optimizers.Optimizer", _name] = f"{_LEGACY}.graph.{_name}"
for _name in ("get_output_at", "get_input_at", "get_output_shape_at", "get_input_shape_at"):
    MEMBERS["keras.layers.Layer", _name] = f"{_LEGACY}.nodes.{_name}"
# The same, of attributes.
ATTRIBUTES = {
    ("keras.Model", "metrics_tensors"): f"{_LEGACY}.appended_metrics.tensors",
    ("keras.Model", "total_loss"): f"{_LEGACY}.total_loss.total_loss",
    ("keras.Model", "targets"): f"{_LEGACY}.total_loss.targets",
    ("keras.Model", "sample_weights"): f"{_LEGACY}.total_loss.sample_weights",
    ("keras.Model", "_feed_targets"): f"{_LEGACY}.total_loss.feed_targets",
    ("keras.Model", "_feed_sample_weights"): f"{_LEGACY}.total_loss.feed_sample_weights",
    ("keras.layers.Layer", "inbound_nodes"): f"{_LEGACY}.nodes.inbound_nodes",
    ("keras.layers.Layer", "outbound_nodes"): f"{_LEGACY}.nodes.outbound_nodes",
    ("keras.layers.Layer", "updates"): f"{_LEGACY}.graph.updates_of",
}
ATTRIBUTES |= {
    ("keras.Model", "_input_layers"): f"{_LEGACY}.nodes.input_layers",
    ("keras.Model", "_output_layers"): f"{_LEGACY}.nodes.output_layers",
    ("keras.Model", "_layers_by_depth"): f"{_LEGACY}.nodes.layers_by_depth",
    ("keras.Model", "_collected_trainable_weights"): "parallel_compat.legacy.compiled_weights.collected",
}
ATTRIBUTES["keras.optimizers.Optimizer", "weights"] = f"{_LEGACY}.optimizers.weights"
for _of, _name in (("keras.Model", "uses_learning_phase"), ("keras.KerasTensor", "_uses_learning_phase")):
    ATTRIBUTES[_of, _name] = f"{_LEGACY}.learning_phase.uses_phase"
MEMBERS["keras.layers.Layer", "get_losses_for"] = f"{_LEGACY}.layer_losses.get_losses_for"
MEMBERS["keras.Model", "_standardize_user_data"] = f"{_LEGACY}.user_data.standardize"
MEMBERS["keras.Model", "to_yaml"] = f"{_LEGACY}.yaml_models.to_yaml"
MEMBERS["keras.layers.Layer", "get_updates_for"] = f"{_LEGACY}.graph.get_updates_for"
MEMBERS["keras.KerasTensor", "get_shape"] = f"{_LEGACY}.shapes.get_shape"
MEMBERS["keras.optimizers.Optimizer", "get_weights"] = f"{_LEGACY}.optimizers.get_weights"

# Members that are answered here and that `migrate` does not look for: their names are those of others as well, of
# layers and of objects that are not Keras's.
_METRIC, _MEMBERS = "keras.metrics.Metric", f"{_LEGACY}.layer_members"
UNREPORTED_ATTRIBUTES = {
    **{
        (_METRIC, name): f"{_MEMBERS}.metric_weights"
        for name in ("weights", "non_trainable_weights", "non_trainable_variables")
    },
    **{
        (_METRIC, name): f"{_MEMBERS}.metric_nothing"
        for name in ("trainable_weights", "trainable_variables", "updates", "losses")
    },
    (_METRIC, "built"): f"{_MEMBERS}.metric_is",
    (_METRIC, "trainable"): f"{_MEMBERS}.metric_trainable",
    ("keras.layers.Layer", "stateful"): f"{_MEMBERS}.stateful",
    ("keras.layers.Layer", "submodules"): f"{_MEMBERS}.submodules",
    ("keras.Model", "state_updates"): f"{_MEMBERS}.state_updates",
    ("keras.Sequential", "model"): f"{_MEMBERS}.itself",
    ("keras.Model", "metrics_updates"): f"{_LEGACY}.metrics_updates.metrics_updates",
    ("keras.Model", "_function_kwargs"): f"{_LEGACY}.list_functions.function_arguments",
    ("keras.Model", "_is_graph_network"): f"{_MEMBERS}.is_graph_network",
    **{
        ("keras.Model", name): f"{_LEGACY}.total_loss.{name}"
        for name in ("loss_weights", "sample_weight_mode", "weighted_metrics")
    },
}
UNREPORTED_METHODS = {
    ("keras.layers.Dropout", "_get_noise_shape"): f"{_MEMBERS}.noise_shape",
    (_METRIC, "get_weights"): f"{_MEMBERS}.get_weights_of_metric",
    (_METRIC, "set_weights"): f"{_MEMBERS}.set_weights_of_metric",
    (_METRIC, "count_params"): f"{_MEMBERS}.count_params_of_metric",
    **{
        ("keras.Model", f"_{name}"): f"{_LEGACY}.list_functions.{name}"
        for name in ("check_trainable_weights_consistency", "uses_dynamic_learning_phase")
    },
}


# Arguments that Keras 3 dropped and `run` takes.
ARGUMENTS = frozenset((("keras.Model.compile", "target_tensors"),))
# Answered by what `run` sets on Keras's classes themselves.
_SET_ON_CLASSES = frozenset(
    (
        ("keras.KerasTensor", "_keras_history"),
        ("keras.callbacks.Callback", "validation_data"),
        (NODE, "input_masks"),
        (NODE, "output_masks"),
    )
)


def answers_member(of: str, name: str) -> bool:
    """Say whether `run` answers a method or attribute that Keras 3 dropped.

    >>> answers_member("keras.Model", "total_loss"), answers_member("keras.Model", "container_nodes")
    (True, False)
    """
    return (of, name) in MEMBERS or (of, name) in ATTRIBUTES or (of, name) in _SET_ON_CLASSES


def lookup(path: str, canonical: str) -> Path | None:
    """Say what a name is for `run` alone, or None where the table's answer holds.

    Args:
        path: the path as it was asked for.
        canonical: the path as the table spells it.
    """
    target = _PROVIDED.get(canonical) or _OF_STANDALONE.get(path) or class_versions.target(path)
    return None if target is None else Path(path, Status.PROVIDED, target)


def paths() -> Iterator[str]:
    """Return every path of this module."""
    yield from _PROVIDED
    yield from _OF_STANDALONE
