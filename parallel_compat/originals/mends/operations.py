"""Functions and gradients whose graph has other operations than in TensorFlow 1.15.

`tf.set_random_seed` gives an operation that draws the number of operations that the graph has had, so that what a seed
draws depends on all that was made before. And an optimizer of graphs rounds what it is given: a gradient that asks for
a shape in another way changes the last digits of a loss. Here these functions are the original's own.
"""

from __future__ import annotations

import contextlib
import datetime
import functools
import importlib
import inspect
import linecache
import operator
import os
import re
import sys
import types
import weakref
from collections.abc import Callable, Iterator
from typing import Any
from unittest import mock

from parallel_compat import bytecode
from parallel_compat.names import tsv
from parallel_compat.names.eras import Era
from parallel_compat.originals.mends.register import Register

_OPS = "tensorflow.python.ops."
_OPS_OF_1_15 = "tensorflow.python.ops_of_1_15."

_GRADIENTS = ("array_grad", "linalg_grad", "math_grad", "nn_grad", "sparse_grad", "tensor_array_grad")

_TRANSFORMS = ("irfft", "irfft2d", "irfft3d", "rfft", "rfft2d", "rfft3d")
_FUNCTIONS = {module: names.split() for module, names in tsv.rows("functions_of_1_15.tsv", 2, __package__)}

# Today's TensorFlow can read all that it writes; what 1.15 wrote later than this, 1.15 did not write.
_WRITTEN_BEFORE = datetime.date(2019, 8, 21)


def apply(mends: Register) -> None:
    """Count operations as TensorFlow 1 did; set the functions and register the gradients."""
    if not mends.is_tensorflow_1:
        return
    from tensorflow.compat import v1
    from tensorflow.python.autograph.utils import misc
    from tensorflow.python.checkpoint import functional_saver
    from tensorflow.python.data.ops import dataset_ops
    from tensorflow.python.distribute import distribute_lib
    from tensorflow.python.framework import ops, random_seed, sparse_tensor
    from tensorflow.python.ops import ref_variable, variable_scope, while_v2

    mends.add(ops.Graph, _last_id=property(_count))
    broadcasts: weakref.WeakKeyDictionary[Any, dict[Any, Any]] = weakref.WeakKeyDictionary()
    mends.add(ops.Graph, _bcast_grad_args_cache=property(lambda graph: broadcasts.setdefault(graph, {})))
    mends.around(random_seed, "get_seed", _counts_operations)
    mends.around(variable_scope._VariableStore, "_get_single_variable", _regularizes_at_once)
    mends.around(dataset_ops.DatasetV2, "_apply_debug_options", _counts_options)
    mends.around(dataset_ops._OptionsDataset, "__init__", _is_no_operation)
    mends.around(functional_saver.MultiDeviceSaver, "save", functools.partial(_counts_as, _OF_A_CHECKPOINT))
    schedules = inspect.unwrap(v1.train.polynomial_decay).__globals__["learning_rate_schedule"]  # not the original's
    mends.around(schedules.PolynomialDecay, "__call__", _counts_its_steps_again)
    of_an_element = functools.partial(_counts_as, _OF_A_SPARSE_ELEMENT)
    mends.around(sparse_tensor.SparseTensorSpec, "_from_compatible_tensor_list", of_an_element)
    mends.around(distribute_lib._DefaultDistributionExtended, "_call_for_each_replica", _names_its_replica)
    mends.around(while_v2, "while_loop", _counts_its_results)
    mends.around(misc, "get_range_len", _is_no_operation)  # a loop over a range did not ask for its length
    mends.around(ops, "_op_to_colocate_with", _counts_a_read)
    if mends.era is not Era.TF_KERAS_1_15:
        mends.around(ref_variable, "default_variable_creator", _note_reference_variables)
        mends.around("tensorflow.python.keras.engine.base_layer_utils", "make_variable", _note_resource_variable)
    if mends.era is Era.KERAS_2_2_4:
        # TensorFlow 1.15's functions are fetched only for a script that uses `tf.keras`, or draws by TensorFlow's seed.
        once = functools.cache(lambda: _set_the_originals(mends))
        mends.after("tensorflow.python.keras", lambda module: once())
        mends.around(v1, "set_random_seed", functools.partial(_sets_seed, once))
    else:
        _set_the_originals(mends)


def _set_the_originals(mends: Register) -> None:
    from tensorflow.python.compat import compat
    from tensorflow.python.framework import op_def_library
    from tensorflow.python.ops import (
        array_ops,
        gen_data_flow_ops,
        gen_math_ops,
        gen_spectral_ops,
        math_ops,
        resource_variable_ops,
        tensor_array_ops,
    )

    # The originals pass the name third, where the type of the numbers is today.
    transforms = {name: _takes_name_third(getattr(gen_spectral_ops, name)) for name in _TRANSFORMS}
    with _registered_again(), mock.patch.dict(vars(gen_spectral_ops), transforms):
        for module in _GRADIENTS:
            importlib.import_module(_OPS_OF_1_15 + module)
        own = {inspect.unwrap(math_ops.linspace_nd): gen_math_ops.lin_space}
        for module, names in _FUNCTIONS.items():
            today, then = (importlib.import_module(package + module) for package in (_OPS, _OPS_OF_1_15))
            own.update(
                {
                    inspect.unwrap(f): _as_called_today(getattr(then, name), f)
                    for name in names
                    if (f := getattr(today, name))
                }
            )
    mends.around(importlib.import_module(_OPS_OF_1_15 + "array_ops"), "_constant_if_small", _small)
    # A later module sets it.
    own_type = {"_resource_variable_type": resource_variable_ops.BaseResourceVariable}
    vars(sys.modules[_OPS_OF_1_15 + "math_ops"]).update(own_type)
    mends.around(compat, "forward_compatible", _writes_as_then)

    def extracts(find: Any, op: Any, definition: Any, _: Any, *rest: Any) -> Any:
        """An operation's list of numbers is of the type that the operation prefers, at once."""
        return find(op, definition, {}, *rest)

    def reads(read: Any, self: Any, indices: Any, name: Any = None) -> Any:
        return array_ops.identity(read(self, indices, name))

    def size(_: Any, self: Any, name: Any = None) -> Any:
        return gen_data_flow_ops.tensor_array_size_v3(handle=self.handle, flow_in=self.flow, name=name)

    mends.around(op_def_library, "_ExtractInputsAndAttrs", extracts)
    mends.around(resource_variable_ops.BaseResourceVariable, "sparse_read", reads)
    mends.around(tensor_array_ops._GraphTensorArray, "size", size)
    for name, loaded in list(sys.modules.items()):
        if name.startswith("tensorflow.") and not name.startswith(_OPS_OF_1_15):
            for key, value in list(vars(loaded).items()):
                if isinstance(value, types.FunctionType) and (function := own.get(inspect.unwrap(value))):
                    setattr(loaded, key, function)


def _takes_name_third(transform: Callable[..., Any]) -> Callable[..., Any]:
    return lambda tensor, length, name=None: transform(tensor, length, name=name)


def _writes_as_then(compatible: Callable[[int, int, int], bool], year: int, month: int, day: int) -> bool:
    """Let the original write what it did; the dates of today's code are later than its last."""
    return compatible(year, month, day) if year > 2020 else datetime.date(year, month, day) < _WRITTEN_BEFORE


def _as_called_today(then: Callable[..., Any], today: Callable[..., Any]) -> Callable[..., Any]:
    """TensorFlow passes None for arguments that came later."""
    later = inspect.signature(today).parameters.keys() - inspect.signature(then).parameters.keys()
    if not later:
        return then

    @functools.wraps(then)
    def call(*args: Any, **options: Any) -> Any:
        return then(*args, **{name: value for name, value in options.items() if name not in later or value is not None})

    return call


def _small(constant_if_small: Callable[..., Any], value: Any, shape: Any, dtype: Any, name: str) -> Any:
    """numpy multiplied the sizes of a shape, also where one was a tensor; now it refuses to."""
    try:
        return constant_if_small(value, shape, dtype, name)
    except NotImplementedError:
        functools.reduce(operator.mul, shape) < 1000  # noqa: B015 - the operations are counted
        return None


_uncounted: weakref.WeakKeyDictionary[Any, int] = weakref.WeakKeyDictionary()


@contextlib.contextmanager
def uncounted(graph: Any) -> Iterator[None]:
    """Operations that are made for a mend do not count."""
    before = graph.num_operations()
    yield
    _uncounted[graph] = _uncounted.get(graph, 0) + graph.num_operations() - before


def _count(graph: Any) -> int:
    """Return how many operations TensorFlow 1.15 would have made."""
    extra = _uncounted.get(graph, 0) + _of_resources_alone(graph)
    return graph.num_operations() - extra + len(_iterators_passed(graph))  # type: ignore[no-any-return]


def _regularizes_at_once(
    get: Callable[..., Any], self: Any, name: str, *args: Any, regularizer: Any = None, **options: Any
) -> Any:
    """A regularizer was called once, with its new variable, outside of the loop or condition that made it."""
    import tensorflow.compat.v1 as tf

    known = name in self._vars
    variable = get(self, name, *args, **options)
    if regularizer and not known:
        with tf.colocate_with(variable), tf.name_scope(name + "/Regularizer/"), tf.init_scope():
            loss = regularizer(variable)
        if loss is not None:
            tf.add_to_collection(tf.GraphKeys.REGULARIZATION_LOSSES, loss)
    return variable


_OPTIONS = 3  # operations: the list of optimizations, and two data sets
_OF_A_CHECKPOINT = 15  # in two parts: the variables, and the objects
_OF_A_SPARSE_ELEMENT = 1


def _counts_options(apply: Callable[[Any], Any], dataset: Any) -> Any:
    """What a data set's options do was operations of the graph."""
    import tensorflow as tf

    if not tf.executing_eagerly():
        _count_more(tf.get_default_graph(), _OPTIONS)
    return apply(dataset)


def _count_more(graph: Any, number: int) -> None:
    """Count operations that are not made."""
    _uncounted[graph] = _uncounted.get(graph, 0) - number


def _is_no_operation(make: Callable[..., Any], *args: Any, **options: Any) -> Any:
    """Options that are set, as `from_generator` does, were none: those that are applied are counted there."""
    import tensorflow as tf

    with uncounted(tf.compat.v1.get_default_graph()):
        return make(*args, **options)


def _counts_as(number: int, call: Callable[..., Any], *args: Any, **options: Any) -> Any:
    """Count a call as so many operations, whatever it makes today.

    A checkpoint of objects (`save_weights`) had the values that variables had already; today it reads them again. And a
    sparse element of a data set has its static sizes put into its shape.
    """
    import tensorflow as tf

    graph = tf.compat.v1.get_default_graph()
    with uncounted(graph):
        result = call(*args, **options)
    _count_more(graph, number)
    return result


def _counts_its_results(loop: Callable[..., Any], *args: Any, **options: Any) -> Any:
    """Each result of a loop in a function was an operation more, as it is in a graph."""
    import tensorflow as tf

    result = loop(*args, **options)
    graph = tf.compat.v1.get_default_graph()
    if graph.building_function:
        made = next(op for op in reversed(graph.get_operations()) if op.type in ("While", "StatelessWhile"))
        _count_more(graph, len(made.outputs))
    return result


_READ = 2  # operations


def _counts_a_read(find: Callable[..., Any], beside: Any, graph: Any) -> Any:
    """A variable of eager TensorFlow was read in a function for what was to be put beside it."""
    from tensorflow.python.framework import ops

    if graph.building_function and isinstance(getattr(beside, "handle", None), ops.EagerTensor):
        _count_more(graph, _READ)
    return find(beside, graph)


def _counts_its_steps_again(call: Callable[..., Any], self: Any, step: Any) -> Any:
    """`tf.train.polynomial_decay` made a constant of `decay_steps` once more where it does not cycle."""
    import tensorflow as tf

    _count_more(tf.compat.v1.get_default_graph(), not self.cycle)
    return call(self, step)


# The variables that were reference variables in TensorFlow 1.15, by the operation of their handle.
_reference_variables: weakref.WeakSet[Any] = weakref.WeakSet()


_ROWS = re.compile(r"embedding_lookup(_\d+)?_grad/Const$")
WRITES = ("AssignVariableOp", "AssignAddVariableOp", "AssignSubVariableOp")
_KEEPS = 5  # so many operations more has a loop's gradient for a value that it keeps
_INITIALIZED_VALUE = 9  # so many operations has `variable.initialized_value()`
# How many operations their initial values had more, by the same.
_guards: weakref.WeakKeyDictionary[Any, int] = weakref.WeakKeyDictionary()


def _note_reference_variables(create: Callable[..., Any], next_creator: Any = None, **options: Any) -> Any:
    variable = create(next_creator, **options)
    if hasattr(variable.handle, "op"):
        _reference_variables.add(variable.handle.op)
        _guards[variable.handle.op] = len(_guard(variable.initial_value.op))
    return variable


def _guard(value: Any) -> set[Any]:
    """Return what stands for the operations that an initial value had more because it is computed from variables.

    A copy of all that is computed from a reference variable was made, with its initialized value in its place. Here it
    is made of what is read outside of conditions (`initial_values.py`).

    Args:
        value: the operation that makes the initial value; loops lead from an operation to itself.
    """
    behind, following = {value}, [value]
    while following:
        new = {tensor.op for tensor in following.pop().inputs} - behind
        behind |= new
        following += new
    if not any(_is_read(op) for op in behind):
        return set()
    found: dict[Any, set[Any]] = {}
    for op in value.graph.get_operations():  # in the order in which they were made: inputs come first
        if op in behind:
            found[op] = _guard_of(op, set().union(*(found.get(tensor.op, ()) for tensor in op.inputs)))
    return found[value]


def _is_read(op: Any) -> bool:
    """Return whether a reference variable is read in a condition."""
    return op.type == "ReadVariableOp" and op._get_control_flow_context() and variable_of(op) in _reference_variables


def _guard_of(op: Any, behind: set[Any]) -> set[Any]:
    """Return the same for one operation."""
    if _is_read(op):
        copies = {(variable_of(op), op._get_control_flow_context(), kind) for kind in ("switch", "read")}
        return copies | {(variable_of(op), number) for number in range(_INITIALIZED_VALUE)}
    is_read_again = op.type == "Identity" and op.inputs[0].op.type == "ReadVariableOp"
    return {*behind, op} if behind and not is_read_again else behind


def _note_resource_variable(make: Callable[..., Any], *args: Any, **options: Any) -> Any:
    """The weights of `tf.keras` were resource variables."""
    variable = make(*args, **options)
    if options.get("use_resource") is not False and hasattr(variable.handle, "op"):
        _reference_variables.discard(variable.handle.op)
    return variable


def _of_resources_alone(graph: Any) -> int:
    """Count what a reference variable did not have, less what it alone had."""
    if not _reference_variables:
        return 0
    operations = graph.get_operations()
    return sum(_more(op) for op in operations) - sum(_guards.get(op, 0) for op in operations)


def _more(op: Any) -> int:
    """Return 1 for an operation that a reference variable did not have, -1 for one beside which it had another.

    A resource variable has a check and a read when it is made, and a read for each use; what is kept for the cells of
    recurrent networks is copied, and so is what a Saver restores; a step of rows adds what is negative. The gradient of
    rows that are read had one operation more: it cast the shape. A variable that is read in a loop was read before it:
    the loop's gradient had no need to keep what each turn read. In a condition, a write got the variable itself, and a
    read its value.
    """
    if op.type == "Const":
        return -bool(_ROWS.search(op.name) and variable_of(op._original_op) in _reference_variables)
    if op.type == "StackPushV2":
        read = op.inputs[1].op
        return _KEEPS * (read.type == "ReadVariableOp" and variable_of(read) in _reference_variables)
    if op.type in WRITES:
        is_shared = op.inputs[0].op.type == "Switch" and any(
            use.type == "ReadVariableOp" for use in op.inputs[0].consumers()
        )
        return -(is_shared and variable_of(op) in _reference_variables)
    if op.type not in ("ReadVariableOp", "VarIsInitializedOp", "Identity", "ResourceScatterAdd"):
        return 0
    if op.type == "Identity":
        before, users = op.inputs[0].op.type, op.outputs[0].consumers()
        if before == "RestoreV2":
            return bool(users) and variable_of(users[0]) in _reference_variables
        return op.name.endswith("/Read/Identity") and variable_of(op) in _reference_variables
    handle = variable_of(op)
    if op.type == "ResourceScatterAdd":
        is_more = op.inputs[2].op.type == "Mul" and op.inputs[2].op.inputs[0].op.type == "Neg"
    elif op.type == "ReadVariableOp":
        is_more = op.name != f"{handle.name}/Read/ReadVariableOp"
    else:
        is_more = "/IsInitialized/" in op.name
    return is_more and handle in _reference_variables


def variable_of(op: Any) -> Any:
    """Return the operation of the variable that an operation uses, outside of all conditions and loops."""
    while op.type != "VarHandleOp" and op.inputs:
        op = op.inputs[0].op
    return op


def _iterators_passed(graph: Any) -> list[Any]:
    """Return the iterators that are arguments of a function: each was two, itself and what deletes it."""
    captured = {id(inner) for _, inner in getattr(graph, "captures", ())}
    return [
        argument
        for argument in getattr(graph, "inputs", ())
        if id(argument) not in captured and any(op.type == "IteratorGetNext" for op in argument.consumers())
    ]


def _names_its_replica(call: Callable[..., Any], self: Any, *args: Any) -> Any:
    """The strategy of no strategy made a constant: the number of the replica."""
    import tensorflow as tf

    if not tf.executing_eagerly():
        tf.constant(0)
    return call(self, *args)


def _counts_operations(get_seed: Callable[[Any], Any], op_seed: Any) -> Any:
    """Give an operation without a seed of its own the number of those before it."""
    from tensorflow.python.eager import context
    from tensorflow.python.framework import ops

    if op_seed is None and not context.executing_eagerly():
        graph = ops.get_default_graph()
        if graph.seed is not None:
            op_seed = _count(graph)
            if hasattr(graph, "_seed_used"):
                graph._seed_used = True
    return get_seed(op_seed)


# A function of TensorFlow that draws.
_DRAWS = re.compile(r"\b(?:tf|tensorflow)\.(?:random\.|random_\w+\(|truncated_normal\(|multinomial\(|\w+\.dropout\()")


def _sets_seed(set_originals: Callable[[], None], set_seed: Callable[[int], None], seed: int) -> None:
    """Make the operations of TensorFlow 1.15 from here on if a source of the script draws by this seed."""
    main = getattr(sys.modules["__main__"], "__file__", None)
    folder = os.path.join(os.path.dirname(os.path.abspath(main or "script")), "")
    files = [os.path.abspath(file) for _, file in bytecode.modules_of_script() if file.endswith(".py")]
    if any(file.startswith(folder) and _DRAWS.search("".join(linecache.getlines(file))) for file in files):
        set_originals()
    set_seed(seed)


@contextlib.contextmanager
def _registered_again() -> Iterator[None]:
    """Let a module register what TensorFlow has registered: the last one counts."""
    from tensorflow.python.framework import registry

    register = registry.Registry.register

    def registers(self: Any, candidate: Any, name: str | None = None) -> None:
        self._registry.pop(name or candidate.__name__, None)
        register(self, candidate, name)

    with mock.patch.object(registry.Registry, "register", registers):
        yield
