"""Names that moved within TensorFlow: a table.

Seen in TensorFlow 2.18 to 2.21. Each name is without `tensorflow.python.`.
"""

from __future__ import annotations

import importlib
import sys
import types
from typing import TYPE_CHECKING

from parallel_compat.originals.mends.register import named

if TYPE_CHECKING:
    from parallel_compat.originals.mends.register import Register

_PYTHON = "tensorflow.python."

# Modules: where each was, and where it is.
MODULES = {
    "distribute.distribution_strategy_context": "distribute.distribute_lib",
    "gen_sparse_ops": "ops.gen_sparse_ops",
    "training.tracking.base": "trackable.base",
    "training.tracking.data_structures": "trackable.data_structures",
    "training.tracking.graph_view": "checkpoint.graph_view",
    "training.tracking.tracking": "trackable.autotrackable",
    "training.tracking.util": "checkpoint.checkpoint",
    "training.training_ops": "ops.gen_training_ops",
}

# Names: the module where each was, its name, where it is.
NAMES = (
    ("data.ops.dataset_ops", "CacheDataset", "data.ops.cache_op.CacheDataset"),
    ("data.ops.dataset_ops", "ConcatenateDataset", "data.ops.concatenate_op._ConcatenateDataset"),
    ("data.ops.dataset_ops", "FilterDataset", "data.ops.filter_op._FilterDataset"),
    ("data.ops.dataset_ops", "MapDataset", "data.ops.map_op._MapDataset"),
    ("data.ops.dataset_ops", "Options", "data.ops.options.Options"),
    ("data.ops.dataset_ops", "PaddedBatchDataset", "data.ops.padded_batch_op._PaddedBatchDataset"),
    ("data.ops.dataset_ops", "ParallelMapDataset", "data.ops.map_op._ParallelMapDataset"),
    ("data.ops.dataset_ops", "RangeDataset", "data.ops.range_op._RangeDataset"),
    ("data.ops.dataset_ops", "SkipDataset", "data.ops.skip_op._SkipDataset"),
    ("data.ops.dataset_ops", "SparseTensorSliceDataset",
     "data.ops.from_sparse_tensor_slices_op._SparseTensorSliceDataset"),
    ("data.ops.dataset_ops", "TakeDataset", "data.ops.take_op._TakeDataset"),
    ("data.ops.dataset_ops", "TensorDataset", "data.ops.from_tensors_op._TensorDataset"),
    ("data.ops.dataset_ops", "TensorSliceDataset", "data.ops.from_tensor_slices_op._TensorSliceDataset"),
    ("data.ops.dataset_ops", "WindowDataset", "data.ops.window_op._WindowDataset"),
    ("data.ops.dataset_ops", "ZipDataset", "data.ops.zip_op._ZipDataset"),
    ("data.ops.iterator_ops", "IteratorV2", "data.ops.iterator_ops.OwnedIterator"),
    ("distribute.input_lib", "DatasetIterator", "distribute.v1.input_lib.DatasetIterator"),
    ("distribute.parameter_server_strategy", "ParameterServerStrategy",
     "distribute.parameter_server_strategy.ParameterServerStrategyV1"),
    ("distribute.values", "AggregatingVariable", "distribute.ps_values.AggregatingVariable"),
    ("eager.def_function", "function", "eager.polymorphic_function.polymorphic_function.function"),
    ("eager.tape", "record_operation", "eager.record.record_operation"),
    ("eager.tape", "stop_recording", "eager.record.stop_recording"),
    ("framework.graph_util", "convert_variables_to_constants",
     "framework.convert_to_constants.convert_variables_to_constants"),
    ("framework.ops", "IndexedSlices", "framework.indexed_slices.IndexedSlices"),
    ("framework.ops", "Tensor", "framework.tensor.Tensor"),
    ("framework.ops", "convert_to_tensor_v2", "framework.tensor_conversion.convert_to_tensor_v2"),
    ("framework.ops", "internal_convert_to_tensor", "framework.tensor_conversion_registry.convert"),
    ("framework.ops", "register_tensor_conversion_function",
     "framework.tensor_conversion_registry.register_tensor_conversion_function"),
    ("framework.tensor_util", "maybe_set_static_shape", "ops.shape_util.maybe_set_static_shape"),
    ("framework.tensor_util", "shape_tensor", "ops.shape_util.shape_tensor"),
    ("framework.tensor_spec", "TensorSpec", "framework.tensor.TensorSpec"),
    ("ops.array_ops", "stack", "ops.array_ops_stack.stack"),
    ("ops.array_ops", "unstack", "ops.array_ops_stack.unstack"),
    ("ops.control_flow_ops", "Assert", "ops.control_flow_assert.Assert"),
    ("ops.control_flow_ops", "case", "ops.control_flow_case.case"),
    ("ops.control_flow_ops", "cond", "ops.cond.cond"),
    ("ops.control_flow_ops", "switch_case", "ops.control_flow_switch_case.switch_case"),
    ("ops.control_flow_ops", "while_loop", "ops.while_loop.while_loop"),
    ("ops.math_ops", "bessel_i0e", "ops.special_math_ops.bessel_i0e"),
    ("ops.math_ops", "bessel_i1e", "ops.special_math_ops.bessel_i1e"),
    ("ops.variable_scope", "variable", "ops.variable_v1.VariableV1"),
    ("ops.variables", "RefVariable", "ops.ref_variable.RefVariable"),
    ("ops.variables", "VariableV1", "ops.variable_v1.VariableV1"),
    ("ops.variables", "is_variable_initialized", "ops.variable_v1.is_variable_initialized"),
    ("pywrap_tensorflow", "TFE_Py_TensorShapeSlice", "pywrap_tfe.TFE_Py_TensorShapeSlice"),
    ("util.nest", "_list_to_tuple", "util.nest.list_to_tuple"),
    ("util.nest", "is_sequence", "util.nest.is_nested"),
    ("util.nest", "is_sequence_or_composite", "util.nest.is_nested_or_composite"),
)  # fmt: skip


def apply(mends: Register) -> None:
    """Put each module and each name where it was."""
    for old, today in MODULES.items():
        put_module(_PYTHON + old, named(_PYTHON + today))
    for module, name, today in NAMES:
        owner = named(_PYTHON + module)
        if not hasattr(owner, name):
            mends.add(owner, **{name: named(_PYTHON + today)})


def put_module(name: str, module: types.ModuleType) -> None:
    """Let a module be imported by a further name; folders that are gone are made."""
    parent, _, child = name.rpartition(".")
    try:
        package = importlib.import_module(parent)
    except ModuleNotFoundError:
        package = types.ModuleType(parent)
        package.__path__ = []
        put_module(parent, package)
    sys.modules[name] = module
    setattr(package, child, module)
