"""Names beside Keras 2.2.4's own that old Keras code reaches: private ones, and TensorFlow 1's.

Rows for `run` alone; the public names of Keras stand in `paths.tsv`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from parallel_compat.legacy import table
from parallel_compat.legacy.table import Path, Status

if TYPE_CHECKING:
    from collections.abc import Iterator

_LEGACY = "parallel_compat.legacy"
_MULTI_GPU = ("keras.utils.multi_gpu_utils", "keras.utils.training_utils")
_BACKENDS = ("keras.backend", "keras.backend.tensorflow_backend")

# canonical path -> target
_PROVIDED: dict[str, str] = {
    **{f"{module}._get_available_devices": f"{_LEGACY}.devices.get_available_devices" for module in _MULTI_GPU},
    **{f"{module}._normalize_device_name": f"{_LEGACY}.devices.normalize_device_name" for module in _MULTI_GPU},
    **{f"{module}._get_available_gpus": f"{_LEGACY}.devices.get_available_gpus" for module in _BACKENDS},
    **{f"{module}.device_lib": f"{_LEGACY}.devices" for module in _BACKENDS},
    **{f"{module}.tf": "tensorflow" for module in _BACKENDS},
    **{f"{module}._to_tensor": f"{_LEGACY}.backend.to_tensor" for module in _BACKENDS},
    **{f"{module}.clear_session": f"{_LEGACY}.backend.clear_session" for module in _BACKENDS},
    **{f"{module}.py_any": "builtins.any" for module in _BACKENDS},
    **{f"{module}.py_all": "builtins.all" for module in _BACKENDS},
    **{f"{module}.py_sum": "builtins.sum" for module in _BACKENDS},
    **{f"{module}.py_slice": "builtins.slice" for module in _BACKENDS},
    "keras.backend.tensorflow_backend.np": "numpy",
    "keras.backend.np": "numpy",
    "tensorflow.python.client.device_lib.list_local_devices": f"{_LEGACY}.devices.list_local_devices",
    "tensorflow.Session": f"{_LEGACY}.session.Session",
    "tensorflow.InteractiveSession": f"{_LEGACY}.session.Session",
    "tensorflow.get_default_session": f"{_LEGACY}.session.get_default_session",
    "tensorflow.get_default_graph": f"{_LEGACY}.session.get_default_graph",
    "tensorflow.reset_default_graph": f"{_LEGACY}.session.reset_default_graph",
    "tensorflow.global_variables_initializer": f"{_LEGACY}.session.initializer",
    "tensorflow.local_variables_initializer": f"{_LEGACY}.session.initializer",
    "tensorflow.initialize_all_variables": f"{_LEGACY}.session.initializer",
    "tensorflow.tables_initializer": f"{_LEGACY}.session.initializer",
    "tensorflow.train.AdamOptimizer": f"{_LEGACY}.optimizers.AdamOptimizer",
    "tensorflow.train.GradientDescentOptimizer": f"{_LEGACY}.optimizers.GradientDescentOptimizer",
    "tensorflow.train.MomentumOptimizer": f"{_LEGACY}.optimizers.MomentumOptimizer",
}

# canonical path -> what stands there today
_MOVED: dict[str, str] = {
    "tensorflow.set_random_seed": "tensorflow.random.set_seed",
    "tensorflow.python.lib.io.file_io.FileIO": "tensorflow.io.gfile.GFile",
    # Standalone packages that Keras 2.2 was made of; pickled tokenizers name them.
    **{
        f"keras_preprocessing.text.{name}": f"tensorflow.keras.preprocessing.text.{name}"
        for name in (
            "Tokenizer",
            "hashing_trick",
            "one_hot",
            "text_to_word_sequence",
            "tokenizer_from_json",
        )
    },
    **{
        f"keras_preprocessing.sequence.{name}": f"tensorflow.keras.preprocessing.sequence.{name}"
        for name in ("pad_sequences", "TimeseriesGenerator", "make_sampling_table", "skipgrams")
    },
    **{
        f"keras_preprocessing.image.{name}": f"tensorflow.keras.preprocessing.image.{name}"
        for name in (
            "DirectoryIterator",
            "ImageDataGenerator",
            "Iterator",
            "NumpyArrayIterator",
            "apply_affine_transform",
            "apply_brightness_shift",
            "apply_channel_shift",
            "array_to_img",
            "img_to_array",
            "load_img",
            "random_brightness",
            "random_channel_shift",
            "random_rotation",
            "random_shear",
            "random_shift",
            "random_zoom",
            "save_img",
        )
    },
    "keras.preprocessing.text.tokenizer_from_json": "tensorflow.keras.preprocessing.text.tokenizer_from_json",
}

# TensorFlow 1's functions that compute the same under `tf.compat.v1`, eagerly and in a `tf.function`.
_COMPAT_V1 = {
    "tensorflow": """
        ConfigProto Dimension Event FixedLenFeature FixedLenSequenceFeature GPUOptions GraphDef GraphOptions
        OptimizerOptions Print RunMetadata RunOptions SparseFeature SparseTensorValue Summary VERSION VarLenFeature
        accumulate_n angle app arg_max arg_min assert_greater_equal assert_integer assert_less_equal assert_near
        assert_negative assert_non_negative assert_non_positive assert_positive assert_rank_at_least
        assert_rank_in assert_scalar assert_type assign assign_add assign_sub batch_gather batch_to_space_nd
        betainc bincount ceil check_numerics cholesky cholesky_solve clip_by_average_norm confusion_matrix conj
        count_nonzero cross cumprod decode_base64 decode_csv decode_raw depth_to_space dequantize diag diag_part
        digamma div div_no_nan enable_eager_execution enable_v2_behavior encode_base64 erf erfc expm1
        extract_image_patches fft fft2d fft3d flags floor_div floordiv floormod get_seed gfile global_norm
        glorot_normal_initializer glorot_uniform_initializer ifft ifft2d ifft3d igamma igammac imag
        invert_permutation is_finite is_inf is_nan is_non_decreasing is_numeric_tensor is_strictly_increasing
        lbeta lgamma lin_space log log1p log_sigmoid logging logical_xor manip matching_files matrix_band_part
        matrix_determinant matrix_diag matrix_diag_part matrix_inverse matrix_set_diag matrix_solve
        matrix_solve_ls matrix_transpose matrix_triangular_solve mod multinomial no_regularizer
        orthogonal_initializer parse_example parse_single_example parse_tensor polygamma py_func python_io qr
        random_crop random_gamma random_normal random_poisson random_shuffle random_uniform read_file real
        reciprocal reduce_join regex_replace resource_loader reverse_v2 rint rsqrt scatter_add scatter_sub
        scatter_update segment_max segment_mean segment_min segment_prod segment_sum self_adjoint_eig
        self_adjoint_eigvals serialize_sparse serialize_tensor setdiff1d space_to_depth sparse_add sparse_concat
        sparse_mask sparse_matmul sparse_maximum sparse_merge sparse_minimum sparse_reduce_max sparse_reduce_sum
        sparse_reorder sparse_reset_shape sparse_reshape sparse_retain sparse_segment_mean sparse_segment_sum
        sparse_slice sparse_softmax sparse_split sparse_tensor_dense_matmul sparse_tensor_to_dense
        sparse_to_dense sparse_to_indicator sparse_transpose spectral squared_difference string_join
        string_split string_strip string_to_hash_bucket string_to_hash_bucket_fast string_to_number substr svd
        to_bfloat16 to_complex128 to_complex64 to_double to_float to_int32 to_int64 trace truncated_normal
        truncated_normal_initializer uniform_unit_scaling_initializer unsorted_segment_max unsorted_segment_mean
        unsorted_segment_min unsorted_segment_prod unsorted_segment_sum variance_scaling_initializer
        verify_tensor_all_finite where_v2 write_file zeta
    """,
    "tensorflow.nn": """
        conv2d_backprop_filter conv2d_backprop_input depthwise_conv2d_native fused_batch_norm relu_layer
        softmax_cross_entropy_with_logits_v2 xw_plus_b
    """,
    "tensorflow.image": """
        extract_image_patches resize_area resize_bicubic resize_bilinear resize_image_with_crop_or_pad
        resize_image_with_pad resize_images resize_nearest_neighbor transpose_image
    """,
    "tensorflow.losses": """
        absolute_difference cosine_distance hinge_loss huber_loss log_loss mean_pairwise_squared_error
        mean_squared_error sigmoid_cross_entropy softmax_cross_entropy sparse_softmax_cross_entropy
    """,
    "tensorflow.train": "NewCheckpointReader checkpoint_exists summary_iterator",
}

_GRAPH = (
    "It builds a TensorFlow 1 graph, and Keras 3 has none. Write the computation as a function of tensors, or as "
    "a `keras.layers.Layer`."
)
_SCOPES = "TensorFlow 1 kept variables in scopes of a graph. Create them in a `keras.layers.Layer` with `add_weight`."
_MODE = "Keras 3 needs TensorFlow 2's behaviour. Remove the call."
_CONTRIB = "TensorFlow 2 has no `tf.contrib`. Take the piece you need from Keras, TensorFlow Addons or TF-Slim."
_HOOKS = "It belongs to `tf.Session`'s training loop. Train with `model.fit` and callbacks, or with `tf.GradientTape`."

_GONE: dict[str, tuple[str, str]] = {
    "tensorflow": (
        "placeholder placeholder_with_default sparse_placeholder add_to_collection add_to_collections get_collection "
        "get_collection_ref GraphKeys py_function_graph make_template layers distributions Session_graph",
        _GRAPH,
    ),
    "tensorflow ": (
        "get_variable get_variable_scope variable_scope variable_op_scope op_scope AUTO_REUSE VariableScope "
        "all_variables global_variables local_variables model_variables moving_average_variables trainable_variables "
        "variables_initializer initialize_variables report_uninitialized_variables is_variable_initialized",
        _SCOPES,
    ),
    "tensorflow  ": (
        "disable_eager_execution disable_v2_behavior disable_resource_variables disable_v2_tensorshape "
        "disable_control_flow_v2 disable_tensor_equality",
        _MODE,
    ),
    "tensorflow.contrib": (
        "layers slim rnn seq2seq learn image framework opt crf training distribute data eager metrics losses "
        "tensorboard lookup lite quantize cudnn_rnn estimator tpu memory_stats gan integrate solvers ffmpeg factorization "
        "graph_editor nn legacy_seq2seq model_pruning predictor tfprof summary session_bundle tensorrt util",
        _CONTRIB,
    ),
    "tensorflow.nn": (
        "bidirectional_dynamic_rnn dynamic_rnn raw_rnn rnn_cell static_bidirectional_rnn static_rnn "
        "static_state_saving_rnn",
        "Use `keras.layers.RNN`, `keras.layers.LSTM` or `keras.layers.Bidirectional`.",
    ),
    "tensorflow.train": (
        "AdadeltaOptimizer AdagradDAOptimizer AdagradOptimizer FtrlOptimizer Optimizer ProximalAdagradOptimizer "
        "ProximalGradientDescentOptimizer RMSPropOptimizer SyncReplicasOptimizer",
        "TensorFlow 1 optimizers cannot drive Keras 3, and its namesake in `keras.optimizers` starts from other values. "
        "Use that one and check the training.",
    ),
    "tensorflow.train ": (
        "CheckpointSaverHook LoggingTensorHook MonitoredSession MonitoredTrainingSession Saver Scaffold Server "
        "SessionManager SessionRunHook StopAtStepHook SummarySaverHook Supervisor batch batch_join shuffle_batch "
        "create_global_step get_global_step get_or_create_global_step global_step import_meta_graph "
        "export_meta_graph start_queue_runners string_input_producer slice_input_producer replica_device_setter "
        "exponential_decay polynomial_decay piecewise_constant cosine_decay natural_exp_decay inverse_time_decay",
        _HOOKS,
    ),
    "tensorflow.metrics": (
        "accuracy auc mean mean_iou precision recall mean_absolute_error mean_squared_error",
        "TensorFlow 1 metrics are pairs of graph operations. Use the classes in `keras.metrics`.",
    ),
}


def lookup(path: str, module: str, name: str) -> Path | None:
    """Say what a name beside the table's is today, or None where nothing is known of it.

    Args:
        path: the path as it was asked for.
        module: the module's name as the table has it (under `keras`, or as it is).
        name: the name in it.
    """
    key = f"{module}.{name}"
    if key in _PROVIDED:
        return Path(path, Status.PROVIDED, _PROVIDED[key])
    if key in _rows_moved():
        return Path(path, Status.MOVED, _rows_moved()[key])
    if key in _rows_gone():
        return Path(path, Status.GONE, None, _rows_gone()[key])
    return None


def paths() -> Iterator[str]:
    """Return every path of this module, and the ways to Keras through TensorFlow."""
    yield from _PROVIDED
    yield from _rows_moved()
    yield from _rows_gone()
    for written, _root in table.ROOTS:
        if written.startswith("tensorflow."):
            yield written


def _rows_moved() -> dict[str, str]:
    if not _moved:
        _moved.update(_MOVED)
        for module, listed in _COMPAT_V1.items():
            home = module.replace("tensorflow", "tensorflow.compat.v1", 1)
            _moved.update({f"{module}.{name}": f"{home}.{name}" for name in listed.split()})
    return _moved


def _rows_gone() -> dict[str, str]:
    if not _gone:
        for module, (listed, note) in _GONE.items():
            _gone.update({f"{module.strip()}.{name}": note for name in listed.split()})
    return _gone


_moved: dict[str, str] = {}
_gone: dict[str, str] = {}
