"""What is private to Keras 3 and TensorFlow: read in Keras 3.15.1 on TensorFlow 2.21.

No other package touches a private attribute, or imports a private module (`tests/test_seam.py`). Each function says
which attribute it stands on, so that a new release is checked here. Listed here is what the core uses; what only the
stand-ins use is imported from its module.
"""

from __future__ import annotations

from parallel_compat.backend.keras3 import repeated_warnings, which_backend
from parallel_compat.backend.keras3.batch_first import after_its_batch
from parallel_compat.backend.keras3.callbacks import (
    CallbackWithModel,
    begin_at_epoch,
    build_for_fit,
    in_fit,
    leave_out_batches,
    let_callbacks_ask_the_model_that_trains,
    let_callbacks_come_last,
    let_callbacks_set_their_model,
    let_fit_tell_its_batches,
    metric_variables,
    operation_seeds,
    set_operation_seeds,
    training_summaries,
    validates_seldom,
)
from parallel_compat.backend.keras3.compiled import (
    Compiled,
    MetricsList,
    apply_mask,
    bind,
    compile_arguments,
    compiled_as,
    compiled_parts,
    function_of,
    is_keras_function,
    is_keras_loss,
    is_keras_metric,
    let_weights_of_samples_count_for_all_their_values,
    metric_values,
    own_method,
    spread,
    squeeze_or_expand_to_same_rank,
)
from parallel_compat.backend.keras3.data_adapters import (
    BatchAdapter,
    is_built_under_a_strategy,
    is_scipy_sparse,
    scipy_sparse_to_tensor,
    settings_of_sequence,
)
from parallel_compat.backend.keras3.global_state import uncounted_names, variables_without_values
from parallel_compat.backend.keras3.in_memory import (
    OWN_PACKAGES,
    ArrayData,
    any_looks_at,
    as_eager_tensor,
    assert_compiled,
    averages_weights,
    build_compiled,
    build_optimizer,
    callback_list,
    caller_of,
    can_build_compiled,
    floatx,
    function_of_step,
    has_own_step,
    in_floatx,
    in_order,
    initial_epoch,
    is_array,
    is_defined_by,
    is_limited,
    joined,
    plain_logs,
    split,
    validates_after,
    weights_of_batch,
)
from parallel_compat.backend.keras3.layers import (
    all_layers,
    build_by_calling,
    get_logits,
    get_mask,
    global_seeds,
    global_seeds_from,
    layer_metric_variables,
    layer_metrics,
    layers_being_built,
    let_pictures_of_unknown_size_be_enlarged,
    let_products_be_sparse_of_sparse_tensors_alone,
    operation_behind,
    operation_of,
    output_names,
    seed_states,
    set_added_losses,
    set_input_shape,
    set_logits,
    set_mask,
    takes,
    train_further_layers,
    variables_of_training,
    weight_regularization,
)
from parallel_compat.backend.keras3.metric_state import means_held
from parallel_compat.backend.keras3.model_saving import (
    SHORT_LOSS_NAMES,
    act_on_template,
    restore_optimizer,
    restore_optimizers_from_hdf5,
    save_model,
    save_weights,
    write_activations_by_their_names,
)
from parallel_compat.backend.keras3.optimizers import (
    follow_models_into_strategies,
    keep_reads_before_updates,
    optimizer_for,
    twin_of,
    update_once_for_all_replicas,
)
from parallel_compat.backend.keras3.table_rows import is_on_replica, on_replica, take_rows_where_the_table_is

which_backend.refuse_others()
repeated_warnings.show_once()
restore_optimizers_from_hdf5()
let_products_be_sparse_of_sparse_tensors_alone()
let_pictures_of_unknown_size_be_enlarged()
let_weights_of_samples_count_for_all_their_values()
