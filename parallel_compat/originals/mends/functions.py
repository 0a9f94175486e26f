"""Graph functions as old Keras makes them: `function.defun`, registered implementations, functions over placeholders.

The recurrent layers make two implementations of one function and register the one for GPUs in the graph, where
TensorFlow's optimizer of graphs chooses. `K.function` makes a function of a graph of placeholders. A function was made
again for an iterator of another shape, as `train_on_batch` passes, and its random numbers start again; today a more
general function is used.
"""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import Any

from parallel_compat.originals.mends.register import Register


def apply(mends: Register) -> None:
    from tensorflow.python.data.ops import iterator_ops
    from tensorflow.python.eager import def_function, function
    from tensorflow.python.eager.polymorphic_function import eager_function_run
    from tensorflow.python.util import keras_deps

    mends.add(function, Function=def_function.Function, defun=_defun, defun_with_attributes=_defun, register=_register)
    mends.add(function, common_shape=lambda x, y: None if x is None else x.most_specific_compatible_shape(y))

    def __getattr__(name: str) -> Any:
        if name == "RUN_FUNCTIONS_EAGERLY":
            return eager_function_run.RUN_FUNCTIONS_EAGERLY
        raise AttributeError(f"module {def_function.__name__!r} has no attribute {name!r}")

    mends.add(def_function, __getattr__=__getattr__)

    def make_functions_of_graphs(backend: Any) -> None:
        if hasattr(backend, "eager_function"):
            backend.eager_function = types.SimpleNamespace(ConcreteFunction=_function_of_graph)

    mends.after("tensorflow.python.keras.backend", make_functions_of_graphs)
    mends.around(function.ConcreteFunction, "_call_flat", _returns_its_operation)
    mends.replace(iterator_ops.IteratorSpec, "is_subtype_of", lambda _: lambda spec, other: spec == other)
    mends.replace(iterator_ops.IteratorSpec, "most_specific_common_supertype", lambda _: _itself)
    # Loops in a graph keep what their gradient will need, also if a session ran the graph before the gradient was made.
    # TensorFlow asks whether a layer is being called; it asks again when it makes the gradient, where none is.
    keras_deps.register_call_context_function(lambda: types.SimpleNamespace(layer=True))


def _itself(spec: Any, others: Any) -> Any:
    return spec if all(spec == each for each in others) else None


def _defun(func: Any = None, input_signature: Any = None, autograph: bool = True, attributes: Any = None) -> Any:
    """Do as `function.defun` and `function.defun_with_attributes` did: they ran eagerly in no case."""
    import tensorflow as tf
    from tensorflow.python.eager import def_function

    class AlwaysGraph(def_function.Function):  # type: ignore[misc]
        _run_functions_eagerly = False

    def make(f: Any) -> Any:
        made = tf.function(
            f, input_signature=input_signature, autograph=autograph, experimental_attributes=attributes or None
        )
        made.__class__ = AlwaysGraph
        return made

    return make if func is None else make(func)


def _register(function: Any, *args: Any, **kwargs: Any) -> Any:
    """Put the function for GPUs beside the one that is called; without a GPU there is nothing to choose."""
    from tensorflow.python.eager import context

    if not context.num_gpus():
        return None
    concrete = function.get_concrete_function(*args, **kwargs)
    concrete.add_to_graph()
    concrete.add_gradient_functions_to_graph()
    return concrete


def _returns_its_operation(call: Callable[..., Any], self: Any, *args: Any, **options: Any) -> Any:
    """In a graph that a session runs, a function that returns nothing returned its operation."""
    import tensorflow.compat.v1 as tf

    result = call(self, *args, **options)
    if result is not None or tf.executing_eagerly() or tf.get_default_graph().building_function:
        return result
    return tf.get_default_graph().get_operations()[-1]


def _function_of_graph(graph: Any) -> Callable[..., Any]:
    from tensorflow.python.eager.function import ConcreteFunction
    from tensorflow.python.eager.polymorphic_function import function_type_utils

    return ConcreteFunction.from_func_graph(graph, function_type_utils.derive_from_graph(graph), {})  # type: ignore[no-any-return]
