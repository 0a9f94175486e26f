"""`tf.contrib`: its parts are loaded one by one, and its compiled operations are those that TensorFlow still has."""

from __future__ import annotations

import ast
import importlib
import importlib.abc
import importlib.util
import sys
import types
from collections.abc import Callable
from importlib.machinery import ModuleSpec
from typing import Any

from parallel_compat.originals.mends.register import Register

_CONTRIB = "tensorflow.contrib"

# Parts whose module has another name.
_PARTS = {
    "eager": "eager.python.tfe",
    "optimizer_v2": "optimizer_v2.optimizer_v2_symbols",
    "receptive_field": "receptive_field.receptive_field_api",
    "recurrent": "recurrent.python.recurrent_api",
    "remote_fused_graph": "remote_fused_graph.pylib",
    "specs": "specs.python",
    "summary": "summary.summary",
}


def apply(mends: Register) -> None:
    if not mends.is_tensorflow_1:
        return
    from tensorflow.python.util import all_util

    contrib = types.ModuleType(_CONTRIB)
    contrib.__path__ = []  # its modules are found by their names

    def __getattr__(name: str) -> Any:
        full = f"{_CONTRIB}.{_PARTS.get(name, name)}"
        try:
            if name.startswith("__"):  # `__file__`: no part, and looking for one would fetch TensorFlow 1.15
                raise ModuleNotFoundError(name=full)
            part = importlib.import_module(full)
        except ModuleNotFoundError as error:
            if error.name != full:
                raise
            raise AttributeError(f"module {_CONTRIB!r} has no attribute {name!r}") from None
        setattr(contrib, name, part)
        return part

    contrib.__getattr__ = __getattr__  # type: ignore[method-assign]
    sys.modules[_CONTRIB] = contrib
    mends.around(all_util, "remove_undocumented", _only_of_contrib)
    sys.meta_path.insert(0, _Generated())
    mends.after(f"{_CONTRIB}.util.loader", lambda loader: setattr(loader, "load_op_library", lambda path: None))
    mends.edit(
        f"{_CONTRIB}.image.python.ops.image_ops",
        'ops.RegisterGradient("ImageProjectiveTransformV2")',
        "lambda function: function",  # TensorFlow has it
    )
    mends.around(f"{_CONTRIB}.image.python.ops.image_ops", "transform", _keeps_its_size, shown=True)
    optimizers = f"{_CONTRIB}.opt.python.training.weight_decay_optimizers"
    mends.around(optimizers, "DecoupledWeightDecayExtension.apply_gradients", _decays_afterwards)


def _decays_afterwards(apply: Callable[..., Any], self: Any, grads_and_vars: Any, *args: Any, **options: Any) -> Any:
    """Weights decay once all gradients are computed; TensorFlow 1 did both side by side, and no run repeated itself."""
    import tensorflow as tf

    grads_and_vars = list(grads_and_vars)
    with tf.control_dependencies([grad for grad, _ in grads_and_vars if grad is not None]):
        return apply(self, grads_and_vars, *args, **options)


def _keeps_its_size(transform: Callable[..., Any], images: Any, *args: Any, **options: Any) -> Any:
    """An image that is transformed keeps its known size, as until TensorFlow 1.12: old scripts build on it."""
    transformed = transform(images, *args, **options)
    if len(args) < 3 and options.get("output_shape") is None and hasattr(images, "shape"):
        transformed.set_shape(images.shape)
    return transformed


def _only_of_contrib(remove: Callable[..., None], module_name: str, *args: Any, **options: Any) -> None:
    """`tf.contrib.framework` takes names out of a module that TensorFlow needs today."""
    if module_name.startswith(_CONTRIB):
        remove(module_name, *args, **options)


class _Generated(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Makes the modules that were generated: of operations (`gen_..._ops`) and of messages (`..._pb2`)."""

    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        last = fullname.rpartition(".")[2]
        if not fullname.startswith(_CONTRIB + ".") or not (last.startswith("gen_") or last.endswith("_pb2")):
            return None
        for finder in sys.meta_path:
            spec = finder.find_spec(fullname, path) if finder is not self else None
            if spec is not None:
                return importlib.util.spec_from_loader(fullname, self, origin=spec.origin)
        return None

    def create_module(self, spec: ModuleSpec) -> None:
        return None

    def exec_module(self, module: types.ModuleType) -> None:
        """Make what the original's file would make of libraries of its time."""
        assert module.__spec__ is not None
        assert module.__spec__.origin is not None
        with open(module.__spec__.origin, "rb") as opened:
            tree = ast.parse(opened.read())
        if module.__name__.endswith("_pb2"):
            _make_messages(tree, module)
        else:
            _make_operations(tree, module)


def _make_messages(tree: ast.Module, module: types.ModuleType) -> None:
    """Make the messages that a file describes."""
    from google.protobuf import descriptor_pool
    from google.protobuf.internal import builder

    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            exec(compile(ast.Module([node], []), module.__name__, "exec"), {})  # the messages that it builds on
        if isinstance(node, ast.keyword) and node.arg == "serialized_pb":
            text = node.value.args[0] if isinstance(node.value, ast.Call) else node.value
            value = ast.literal_eval(text)
            serialized = value if isinstance(value, bytes) else value.encode("latin1")
            described = descriptor_pool.Default().AddSerializedFile(serialized)
            builder.BuildMessageAndEnumDescriptors(described, vars(module))
            builder.BuildTopDescriptorsAndMessages(described, module.__name__, vars(module))
            return


def _make_operations(tree: ast.Module, module: types.ModuleType) -> None:
    """Make a function for each operation that a file calls."""
    for function in tree.body:
        if not isinstance(function, ast.FunctionDef) or function.name.endswith("_eager_fallback"):
            continue
        called = [node.args[0] for node in ast.walk(function) if _is_call_of_operation(node)]  # type: ignore[attr-defined]
        if called:
            names = [argument.arg for argument in function.args.args]
            setattr(module, function.name, _operation(ast.literal_eval(called[0]), names))


def _is_call_of_operation(node: ast.AST) -> bool:
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr == "_apply_op_helper"
        and isinstance(node.args[0], ast.Constant)
    )


def _operation(operation: str, names: list[str]) -> Callable[..., Any]:
    """Return a function that calls an operation, as its generated one did."""

    def call(*args: Any, **options: Any) -> Any:
        import tensorflow as tf

        options.update(zip(names, args, strict=False))
        stand_in: Callable[..., Any] | None = _STAND_INS.get(operation)
        if stand_in is not None:
            return stand_in(**options)
        if not hasattr(tf.raw_ops, operation):
            raise NotImplementedError(
                f"The operation {operation} was compiled for tf.contrib and removed from TensorFlow. "
                "What to do: write it with other operations, or run the script on TensorFlow 1."
            )
        return getattr(tf.raw_ops, operation)(**{name: value for name, value in options.items() if value is not None})

    return call


def _transform(images: Any, transforms: Any, interpolation: str, output_shape: Any = None, name: str = "") -> Any:
    import tensorflow as tf

    return tf.raw_ops.ImageProjectiveTransformV2(
        images=images,
        transforms=transforms,
        output_shape=tf.shape(images)[1:3] if output_shape is None else output_shape,
        interpolation=interpolation,
        name=name or None,
    )


def _gather_tree(step_ids: Any, parent_ids: Any, max_sequence_lengths: Any, end_token: Any, name: str = "") -> Any:
    """Return the ids of each beam, followed from the last step to the first."""
    import tensorflow as tf

    with tf.name_scope(name or "GatherTree"):
        times, batch, beams = tf.unstack(tf.shape(step_ids))
        lengths = tf.minimum(tf.convert_to_tensor(max_sequence_lengths), times)
        first = tf.tile(tf.range(beams)[None], [batch, 1])

        def step(before: Any, at: Any) -> Any:
            beam, _ = before
            ids, parents, time = at
            inside = tf.tile((time < lengths)[:, None], [1, beams])
            gathered = tf.where(inside, tf.gather(ids, beam, batch_dims=1), tf.fill([batch, beams], end_token))
            return tf.where(inside, tf.gather(parents, beam, batch_dims=1), beam), gathered

        _, found = tf.scan(step, (step_ids, parent_ids, tf.range(times)), (first, tf.zeros_like(first)), reverse=True)
        ended = tf.cumsum(tf.cast(tf.equal(found, end_token), tf.int32), exclusive=True) > 0
        return tf.where(ended, tf.fill(tf.shape(found), end_token), found)


# Operations that others compute.
_STAND_INS: dict[str, Callable[..., Any]] = {"ImageProjectiveTransform": _transform, "GatherTree": _gather_tree}
