"""What `run` puts where code meets symbolic tensors: TensorFlow functions, indices, shapes, passes of models."""

from __future__ import annotations

import functools
import sys
from typing import TYPE_CHECKING, Any

import numpy as np

from parallel_compat.backend.patches import KERAS, TENSORFLOW
from parallel_compat.names.eras import Era
from parallel_compat.run import callers, usage
from parallel_compat.run.patches.wrapping import like, looking_alike

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType

    from parallel_compat.backend.patches import Patches


def put_on(patches: Patches) -> None:
    """Put everything on the classes of an imported Keras and TensorFlow."""
    import keras
    import tensorflow as tf

    from parallel_compat.backend.keras3 import dispatch
    from parallel_compat.backend.keras3 import layers as keras3_layers
    from parallel_compat.backend.keras3 import symbolic_values as values
    from parallel_compat.legacy import execution

    dispatch.register_once()
    patches.set(dispatch, "handler", _on_symbolic_tensors, why="a layer of any function", read_in=TENSORFLOW)
    patches.wrap(keras.KerasTensor, "__getitem__", _get_item, why="any key that TensorFlow takes")
    for (owner, name, wrap), why in values.patch_points():
        patches.wrap(owner, name, looking_alike(wrap), why=why)
    node = keras3_layers.node_class()
    patches.set(node, "outbound_layer", property(lambda self: self.operation), why="the name of the layer in Keras 2")
    patches.wrap(node, "input_tensors", _input_tensors, why="of an input layer its output, for the user's code")
    patches.set(node, "get_config", _config_of_node, why="what a call of Keras 2 was written down as")
    noted = ("inbound_layers", "node_indices", "tensor_indices")
    for name in (*noted, "input_masks", "output_masks", "input_shapes", "output_shapes"):
        patches.set(node, name, property(functools.partial(_of_node, name)), why="what a call of Keras 2 had noted")
    for name, same in (("__eq__", True), ("__ne__", False)):
        compare = functools.partial(_compare, same)
        patches.wrap(keras.KerasTensor, name, compare, why="a graph's tensors were compared by what they are")
        for kind in (keras.Variable, tf.Variable):
            why = "`weight in weights`: a graph's variables were compared by what they are"
            compare = functools.partial(_compare_variables, same)
            patches.wrap(kind, name, compare, why=why, read_in=KERAS if kind is keras.Variable else TENSORFLOW)
    for name in _WITH_LISTS:
        why = "`tensor - [103.9, 116.8, 123.7]` and `tensor * np.float64(2)` are of the tensor's type"
        patches.wrap(keras.KerasTensor, name, _with_lists, why=why)
    # TensorFlow's own `Tensor.__array_priority__`.
    patches.set(keras.KerasTensor, "__array_priority__", 100, why="`array - tensor` is the tensor's to answer")
    patches.wrap(
        keras.KerasTensor, "__iter__", _not_iterated, why="TensorFlow expects a `TypeError`, as a graph's gave"
    )
    patches.wrap(keras.KerasTensor, "shape", _shape, why="a shape with `as_list()`, for the user's code")
    patches.set(keras.KerasTensor, "eval", _evaluated, why="its value, computed in the session that is in use")
    _names(patches, keras)
    _variables(patches, tf)
    for name in ("enable_eager_execution", "enable_v2_behavior"):
        why = "the loop that `fit` of TensorFlow 1 had then"
        patches.wrap(tf.compat.v1, name, execution.enabling, why=why, read_in=TENSORFLOW)
    patches.wrap(type(tf.Variable), "__call__", _variable, why="in a layer's call, of that place", read_in=TENSORFLOW)
    for name in ("L1", "L2", "L1L2"):
        kind = getattr(keras.regularizers, name)
        patches.wrap(kind, "__call__", _regularizer, why="`add_loss(regularizer(weight))`, computed in each step")
    patches.wrap(
        keras.layers.Layer, "__call__", _on_draws, why="a layer of what is drawn, anew in each step of a graph"
    )
    patches.wrap(
        keras.Variable, "__bool__", _is_there, why="`if self.bias:` asked a graph's variable whether it is there"
    )
    elements = "an iterator's element stands for each of them, as a model's input"
    patches.wrap(values.iterator_class(), "get_next", _element, why=elements, read_in=TENSORFLOW)
    for name in ("make_one_shot_iterator", "make_initializable_iterator"):
        why = "a method of data sets of TensorFlow 1"
        patches.set(tf.data.Dataset, name, functools.partialmethod(_iterator, name), why=why, read_in=TENSORFLOW)
    dimensions = "dimensions with a `value`, for the user's code of TensorFlow 1"
    patches.wrap(tf.TensorShape, "__getitem__", _dimension, why=dimensions, read_in=TENSORFLOW)
    patches.wrap(tf.TensorShape, "__iter__", _dimensions, why=dimensions, read_in=TENSORFLOW)


# Operators of variables, and the TensorFlow functions that they are.
_OPERATORS = {
    "__add__": "math.add",
    "__sub__": "math.subtract",
    "__mul__": "math.multiply",
    "__truediv__": "math.divide",
    "__floordiv__": "math.floordiv",
    "__mod__": "math.floormod",
    "__pow__": "math.pow",
    "__matmul__": "linalg.matmul",
    "__lt__": "math.less",
    "__le__": "math.less_equal",
    "__gt__": "math.greater",
    "__ge__": "math.greater_equal",
}


def _regularizer(original: Any) -> Any:
    """Let a regularizer that the user's code of a graph calls on a weight give a symbolic tensor.

    Keras calls it with the weight as it is, also by way of a regularizer of the user's.
    """
    import keras

    def __call__(self: Any, x: Any) -> Any:
        if isinstance(x, keras.Variable):
            frame = callers.user_frame(sys._getframe(1))
            if frame is not None and callers.era_of(frame).has_graphs and not _for_keras(frame):
                from parallel_compat.backend.keras3 import symbolic_values as values

                x = values.tensor_of_variable(x)
        return original(self, x)

    return __call__


def _on_draws(original: Any) -> Any:
    """Let a layer that the user's code of a graph calls on what was drawn give a symbolic tensor, drawn anew."""
    import tensorflow as tf

    from parallel_compat.backend.keras3 import layers_being_built, numbers_of_variables
    from parallel_compat.backend.keras3 import symbolic_values as values
    from parallel_compat.legacy import execution
    from parallel_compat.run import object_eras

    def symbolic(x: Any) -> Any:
        if isinstance(x, (list, tuple)):
            return [symbolic(each) for each in x]
        return values.tensor_of_variable(x) if numbers_of_variables.is_drawn(x) else x

    @functools.wraps(original)
    def __call__(self: Any, /, *given: Any, **keywords: Any) -> Any:
        is_asked = given and tf.executing_eagerly() and numbers_of_variables.is_drawn(given[0])
        if is_asked and not layers_being_built() and execution.computes_in_graphs(object_eras.era_of_object(self)):
            given = (symbolic(given[0]), *given[1:])
        return original(self, *given, **keywords)

    return __call__


def _variable(original: Any) -> Any:
    """Let `tf.Variable(array)` in a call of a graph's layer be a tensor: it was made once, and a call is traced.

    One that is assigned there, or in a loss, is a variable all the same: the one of that place in the graph.
    """
    import tensorflow as tf

    def __call__(cls: Any, *given: Any, **keywords: Any) -> Any:
        if cls is tf.Variable and not tf.executing_eagerly():
            from parallel_compat.legacy import backend, counting_variables, variables

            caller = sys._getframe(1)
            if caller.f_globals is vars(variables):  # `tf.Variable` as the user's code has it
                caller = caller.f_back or caller
            frame = callers.user_frame(caller)
            if frame is None or not callers.era_of(frame).has_graphs:
                return original(cls, *given, **keywords)
            counting = counting_variables.variable_of_place(frame, given, keywords)
            if counting is not None:
                return counting
            if backend.in_call_of_layer(frame):
                value = given[0] if given else keywords["initial_value"]
                return tf.convert_to_tensor(value() if callable(value) else value, keywords.get("dtype"))
        return original(cls, *given, **keywords)

    return __call__


def _element(original: Any) -> Any:
    """Remember where an element is from: in a graph it was another one in each step."""

    @functools.wraps(original)
    def get_next(self: Any, *given: Any, **keywords: Any) -> Any:
        found = original(self, *given, **keywords)
        frame = callers.user_frame(sys._getframe(1))
        if frame is not None and callers.era_of(frame).has_graphs:
            from parallel_compat.legacy import data_tensors

            data_tensors.Element(lambda: self, found)
        return found

    return get_next


def _iterator(dataset: Any, name: str, *given: Any, **keywords: Any) -> Any:
    from parallel_compat.legacy import data_tensors

    return getattr(data_tensors, name)(dataset, *given, **keywords)


def _for_keras(frame: FrameType | None) -> bool:
    while frame is not None:
        if frame.f_globals.get("__name__", "").partition(".")[0] in ("keras", "tensorflow"):
            return True
        frame = frame.f_back
    return False


def _variables(patches: Patches, tf: Any) -> None:
    """Let `variable - symbolic` read the variable whenever it is computed, not once for all."""
    import keras

    from parallel_compat.backend.keras3 import numbers_of_variables
    from parallel_compat.backend.keras3 import symbolic_values as values

    for operator, path in _OPERATORS.items():
        for kind in values.variable_classes(operator):
            make = functools.partial(_operator, path=f"tensorflow.{path}")
            patches.wrap(kind, operator, make, why="a symbolic tensor and a variable, read whenever it is computed")
    for (owner, name, wrap), why in numbers_of_variables.patch_points(_computes_for_a_graph, _draw_of):
        patches.wrap(owner, name, wrap, why=why, read_in=TENSORFLOW)
    for method in ("assign", "assign_add", "assign_sub"):
        for kind in (*values.variable_classes(method), keras.Variable):
            make = functools.partial(_assigning, method=method)
            patches.wrap(kind, method, make, why="an assignment of a graph, for a session to run", read_in=TENSORFLOW)
    for module in (tf, tf.compat.v1):
        for name in ("cond", "case", "switch_case", "while_loop"):
            patches.wrap(
                module, name, _choosing, why="a choice by variables, made anew in each step", read_in=TENSORFLOW
            )
        patches.wrap(
            module, "control_dependencies", _assigned_before, why="what waits for the end of a call", read_in=TENSORFLOW
        )
    patches.wrap(tf.Variable, "__hash__", _by_identity, why="a variable is the key of a dict", read_in=TENSORFLOW)
    for operator in ("__add__", "__sub__", "__mul__", "__truediv__"):
        in_place = f"__i{operator[2:]}"
        for kind in values.variable_classes(in_place):
            make = functools.partial(_in_place, operator=operator)
            patches.wrap(
                kind, in_place, make, why="`loss += tensor` of a `K.variable` made a tensor", read_in=TENSORFLOW
            )


# Modules whose code computes for who calls it, where layers, models and optimizers compute for themselves.
_COMPUTING = (
    "tensorflow.", "keras.src.backend.", "keras.src.ops.", "keras.src.legacy.", "keras.src.utils.",
    "keras.src.regularizers.",
    "parallel_compat.backend.keras3.numbers_of_variables", "parallel_compat.legacy.", "parallel_compat.run.patches.",
    "parallel_compat.run.tensorflow_arguments",
)  # fmt: skip


def _computes_for_a_graph(frame: FrameType | None) -> bool:
    """Say whether the user's code of a graph computes what a function of TensorFlow or the backend is asked for."""
    while frame is not None and frame.f_globals.get("__name__", "").startswith(_COMPUTING):
        frame = frame.f_back
    if frame is None or not callers.is_users(frame):
        return False
    from parallel_compat.legacy import execution

    return execution.computes_in_graphs(callers.era_of(frame))


def _draw_of(operation: str, *arguments: Any) -> Callable[[], Any] | None:
    from parallel_compat.legacy.numbers import draws_of_tensorflow

    return draws_of_tensorflow.draw_of(operation, *arguments)


def _choosing(original: Any) -> Any:
    from parallel_compat.backend.keras3 import numbers_of_variables

    return numbers_of_variables.noting(original, _computes_for_a_graph)


def _by_identity(original: Any) -> Any:
    """A variable as the key of a dict, or in a set, as in a graph."""

    @functools.wraps(original)
    def __hash__(self: Any) -> int:
        frame = callers.user_frame(sys._getframe(1))
        if frame is not None and callers.era_of(frame).has_graphs:
            return id(self)
        found: int = original(self)
        return found

    return __hash__


def _is_there(original: Any) -> Any:
    @functools.wraps(original)
    def __bool__(self: Any) -> Any:
        frame = callers.user_frame(sys._getframe(1))
        if frame is not None and callers.era_of(frame).has_graphs:
            return True
        return original(self)

    return __bool__


def _in_place(original: Any, operator: str) -> Any:
    @functools.wraps(original)
    def in_place(self: Any, other: Any) -> Any:
        frame = callers.user_frame(sys._getframe(1))
        if frame is None or not callers.era_of(frame).has_graphs:
            return original(self, other)
        return getattr(self, operator)(other)

    return in_place


def _operator(original: Any, path: str) -> Any:
    @functools.wraps(original)
    def on_variable(self: Any, other: Any, *rest: Any, **keywords: Any) -> Any:
        if type(other).__name__ != "KerasTensor":
            return original(self, other, *rest, **keywords)
        from parallel_compat.legacy import op_layers

        return op_layers.layer_of(op_layers.resolve(path), (self, other), {}, path)

    return on_variable


def _assigning(original: Any, method: str) -> Any:
    """Let `variable.assign(value)` in the user's code of a graph be an operation: nothing is assigned until it runs."""
    import tensorflow as tf

    @functools.wraps(original)
    def assign(self: Any, value: Any, *rest: Any, **keywords: Any) -> Any:
        frame = sys._getframe(1)
        if not callers.is_users(frame):
            return original(self, value, *rest, **keywords)
        if not tf.executing_eagerly():
            pending = None if _is_in_step_of_optimizer(frame) or _is_of_metric(frame) else _pending(self, value, method)
            return original(self, value, *rest, **keywords) if pending is None else pending
        if _computes_for_a_graph(frame) and not _is_in_step_of_optimizer(frame):
            from parallel_compat.legacy import graph

            usage.record(f"variable.{method}(value)", "an operation, which a session runs", frame)
            return graph.Update(self, value, method)
        return original(self, value, *rest, **keywords)

    return assign


def _pending(variable: Any, value: Any, method: str) -> Any:
    from parallel_compat.legacy import pending_updates

    return pending_updates.waiting(variable, value, method)


def _is_of_metric(frame: FrameType) -> bool:
    """Say whether the user's code is that of a metric, whose updates are run with what it gives."""
    from keras.metrics import Metric

    return isinstance(frame.f_locals.get("self"), Metric)


def _assigned_before(original: Any) -> Any:
    @functools.wraps(original)
    def control_dependencies(control_inputs: Any) -> Any:
        from parallel_compat.legacy import pending_updates

        pending_updates.carry_out(control_inputs)
        return original(control_inputs)

    return control_dependencies


def _is_in_step_of_optimizer(frame: FrameType | None) -> bool:
    """Say whether the user's code is that of an optimizer which steps now: its assignments are the step."""
    while frame is not None and callers.is_users(frame):
        frame = frame.f_back
    return frame is not None and "optimizer" in frame.f_globals.get("__name__", "").rpartition(".")[2]


def _on_symbolic_tensors(*call: Any) -> Any:
    from parallel_compat.legacy import op_layers

    return op_layers.on_symbolic_tensors(*call)


def _of_node(name: str, node: Any) -> Any:
    from parallel_compat.legacy import nodes

    return getattr(nodes, name)(node)


def _input_tensors(original: Any) -> property:
    def get(self: Any) -> Any:
        frame = sys._getframe(1)
        if not callers.is_users(frame) or callers.era_of(frame) is Era.TODAY:
            return original.__get__(self, type(self))
        from parallel_compat.legacy import nodes

        return nodes.inputs(self)

    return property(get)


def _config_of_node(node: Any) -> dict[str, Any]:
    from parallel_compat.legacy import nodes

    return nodes.get_config(node)


def _get_item(original: Any) -> Any:
    from parallel_compat.backend.keras3 import dispatch

    def __getitem__(self: Any, key: Any) -> Any:
        # Keras's own takes no `x[None]`, and no numbers of numpy (`output[:, numpy.argmax(scores)]`).
        key = tuple(map(_plain, key)) if isinstance(key, tuple) else _plain(key)
        parts = key if isinstance(key, tuple) else (key,)
        if any(each is None for each in parts) or dispatch.has_symbolic(key):
            from parallel_compat.legacy import op_layers

            return op_layers.get_item(self, key)
        return original(self, (key,) if isinstance(key, slice) or key is Ellipsis else key)  # nor `x[1:]`, `x[...]`

    return __getitem__


def _evaluated(self: Any, feed_dict: Any = None, session: Any = None) -> Any:
    """Compute a symbolic tensor, as `tensor.eval(feed_dict)` did in TensorFlow 1."""
    from parallel_compat.legacy import session as sessions

    return (session or sessions.get_session()).run(self, feed_dict)


def _plain(part: Any) -> Any:
    """Return a number of numpy in a key as a number of Python, also those in a slice."""
    if isinstance(part, slice):
        return slice(_plain(part.start), _plain(part.stop), _plain(part.step))
    return part.item() if isinstance(part, np.integer) else part


def _names(patches: Patches, keras: Any) -> None:
    """Let the user's code read of a layer's output the name that it had in its era."""
    from parallel_compat.backend.keras3 import patch_points

    why = "the layer and its last operation in the name of a tensor, for the user's code"
    patches.set(keras.KerasTensor, "name", property(_name, _set_name), why=why)
    patches.set(keras.KerasTensor, "op", property(_operation), why=why)
    for kind in (keras.KerasTensor, patch_points.variable_class()):
        patches.wrap(kind, "dtype", _dtype, why="TensorFlow's `DType`, which has a `name`")
    patches.wrap(keras.KerasTensor, "__repr__", functools.partial(_words, short=True), why=why)
    patches.wrap(keras.KerasTensor, "__str__", functools.partial(_words, short=False), why=why)


def _era_of_user(frame: FrameType) -> Era:
    """Return the era of a frame that is the user's own, today's of all others: Keras goes by its own names."""
    return callers.era_of(frame) if callers.is_users(frame) else Era.TODAY


def _name(tensor: Any) -> str:
    name: str = vars(tensor)["name"]
    era = _era_of_user(sys._getframe(1))
    if era is Era.TODAY:
        return name
    from parallel_compat.legacy import tensor_names

    return tensor_names.name_in_era(tensor, name, era)


def _set_name(tensor: Any, name: str) -> None:
    vars(tensor)["name"] = name


def _operation(tensor: Any) -> Any:
    from parallel_compat.legacy import tensor_names

    era = _era_of_user(sys._getframe(1))
    found = None if era is Era.TODAY else tensor_names.operation_in_era(tensor, era)
    if found is None:
        raise AttributeError(f"{type(tensor).__name__!r} object has no attribute 'op'")
    return found


def _dtype(original: Any) -> property:
    def dtype(self: Any) -> Any:
        found = original.fget(self)
        if _era_of_user(sys._getframe(1)) is Era.TODAY:
            return found
        import tensorflow as tf

        return tf.as_dtype(found)

    return property(dtype, original.fset)


def _words(original: Any, *, short: bool) -> Any:
    def say(self: Any) -> str:
        era = _era_of_user(sys._getframe(1))
        if era is Era.TODAY:
            words: str = original(self)
            return words
        from parallel_compat.legacy import tensor_names

        return tensor_names.in_words(self, era, short=short)

    return say


def _compare(same: bool, original: Any) -> Any:
    @like(original)
    def compare(self: Any, other: Any) -> Any:
        frame = callers.user_frame(sys._getframe(1))
        if frame is None or not callers.era_of(frame).has_graphs:
            return original(self, other)
        return (self is other) is same

    return compare


def _compare_variables(same: bool, original: Any) -> Any:
    from parallel_compat.backend.keras3 import own_optimizers

    @like(original)
    def compare(self: Any, other: Any) -> Any:
        frame = callers.user_frame(sys._getframe(1))
        in_a_graph = frame is not None and callers.era_of(frame).has_graphs
        if not in_a_graph and not own_optimizers.in_updates():
            return original(self, other)
        return (self is other) is same

    return compare


_OF_TWO = ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul")
_WITH_LISTS = (*(f"__{side}{name}__" for name in _OF_TWO for side in ("", "r")), "__gt__", "__ge__", "__lt__", "__le__")


def _with_lists(original: Any) -> Any:
    @like(original)
    def operator(self: Any, other: Any) -> Any:
        if isinstance(other, (list, tuple, np.ndarray, np.generic)) and callers.era_of_caller() is not Era.TODAY:
            from parallel_compat.legacy import op_layers

            take = op_layers.tensor_of_list if isinstance(other, (list, tuple)) else op_layers.array_beside
            other = take(other, self.dtype)
        return original(self, other)

    return operator


def _shape(original: Any) -> property:
    def shape(self: Any) -> Any:
        found = original.fget(self)
        frame = callers.user_frame(sys._getframe(1))
        if frame is None or callers.era_of(frame) is Era.TODAY:
            return found
        from parallel_compat.legacy.shapes import Shape

        return Shape(found)

    return property(shape, original.fset)


class NotIterable(TypeError, NotImplementedError):
    """A symbolic tensor is no list; `tf.zeros(tensor)` asks that first."""


def _not_iterated(original: Any) -> Any:
    def __iter__(self: Any) -> Any:
        try:
            return original(self)
        except NotImplementedError as error:
            raise NotIterable(*error.args) from None

    return __iter__


def _dimension(original: Any) -> Any:
    def __getitem__(self: Any, key: Any) -> Any:
        found = original(self, key)
        caller = sys._getframe(1)
        if isinstance(key, slice) or not _says_value(caller):
            return found
        from parallel_compat.legacy.shapes import dimension

        return dimension(found, caller)

    return __getitem__


def _dimensions(original: Any) -> Any:
    def __iter__(self: Any) -> Any:
        caller = sys._getframe(1)
        if not _says_value(caller):
            return original(self)
        from parallel_compat.legacy.shapes import dimension

        return (dimension(size, caller) for size in original(self))

    return __iter__


def _says_value(caller: FrameType) -> bool:
    """Say whether the code that asks is the user's, of TensorFlow 1, and says `.value` somewhere."""
    if "value" not in caller.f_code.co_names:
        return False
    frame = callers.user_frame(caller)
    return frame is not None and callers.era_of(frame).has_graphs
