"""What is private to Keras 3 and TensorFlow: read in Keras 3.15.1 on TensorFlow 2.21.

No other package touches a private attribute, or imports a private module (`tests/test_seam.py`). Each function says
which attribute it stands on, so that a new release is checked here. Listed here is what the core uses; what only the
legacy names use is imported from its module.
"""

from __future__ import annotations

from parallel_compat.backend.keras3.batch_normalization import (
    synchronized_moments_of,
)
from parallel_compat.backend.keras3.callbacks import (
    CallbackWithModel,
    in_fit,
    let_callbacks_ask_the_model_that_trains,
    let_callbacks_set_their_model,
    training_summaries,
    validates_seldom,
)
from parallel_compat.backend.keras3.compiled import (
    COMPILE_ATTRIBUTES,
    Compiled,
    MetricsList,
    apply_mask,
    bind,
    compile_arguments,
    compiled_as,
    function_of,
    is_keras_function,
    is_keras_loss,
    is_keras_metric,
    metric_values,
    squeeze_or_expand_to_same_rank,
)
from parallel_compat.backend.keras3.data_adapters import (
    BatchAdapter,
    is_built_under_a_strategy,
    is_scipy_sparse,
    scipy_sparse_to_tensor,
    settings_of_sequence,
)
from parallel_compat.backend.keras3.layers import (
    GLOBAL_SEEDS,
    all_layers,
    all_weights,
    get_logits,
    get_mask,
    global_seeds,
    global_seeds_from,
    in_stateless_scope,
    is_input,
    layer_metric_variables,
    layers_of,
    operation_of,
    own_weights,
    seed_states,
    set_added_losses,
    set_input_shape,
    set_logits,
    set_mask,
    untracked,
    weight_regularization,
)
from parallel_compat.backend.keras3.model_saving import (
    SHORT_LOSS_NAMES,
    act_on_template,
    restore_optimizers_from_hdf5,
    save_model,
    save_weights,
)
from parallel_compat.backend.keras3.optimizers import (
    optimizer_for,
    outside_replicas,
    twin_of,
    update_once_for_all_replicas,
)
from parallel_compat.backend.keras3.symbolic_losses import add_symbolic_losses

__all__ = [
    "COMPILE_ATTRIBUTES",
    "GLOBAL_SEEDS",
    "SHORT_LOSS_NAMES",
    "BatchAdapter",
    "CallbackWithModel",
    "Compiled",
    "MetricsList",
    "act_on_template",
    "add_symbolic_losses",
    "all_layers",
    "all_weights",
    "apply_mask",
    "bind",
    "compile_arguments",
    "compiled_as",
    "function_of",
    "get_logits",
    "get_mask",
    "global_seeds",
    "global_seeds_from",
    "in_fit",
    "in_stateless_scope",
    "is_built_under_a_strategy",
    "is_input",
    "is_keras_function",
    "is_keras_loss",
    "is_keras_metric",
    "is_scipy_sparse",
    "layer_metric_variables",
    "layers_of",
    "let_callbacks_ask_the_model_that_trains",
    "let_callbacks_set_their_model",
    "metric_values",
    "operation_of",
    "optimizer_for",
    "outside_replicas",
    "own_weights",
    "restore_optimizers_from_hdf5",
    "save_model",
    "save_weights",
    "scipy_sparse_to_tensor",
    "seed_states",
    "set_added_losses",
    "set_input_shape",
    "set_logits",
    "set_mask",
    "settings_of_sequence",
    "squeeze_or_expand_to_same_rank",
    "synchronized_moments_of",
    "training_summaries",
    "twin_of",
    "untracked",
    "update_once_for_all_replicas",
    "validates_seldom",
    "weight_regularization",
]
