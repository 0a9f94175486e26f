"""Arguments of optimizers: `lr` becomes `learning_rate`, and `decay` keeps its effect.

Keras 3 refuses `lr`, ignores `decay`, and reads some positional arguments as others. An optimizer with a decay is
imported from `parallel_compat.legacy.optimizers`, which applies lr / (1 + decay * iterations) as Keras 2 did. So is an
optimizer whose arguments are a dict with `lr` (`Adam(**settings)`), and the base of a class that gets them. A decay of
zero is dropped. A learning rate of `1` becomes `1.0`.

```diff
-from keras.optimizers import SGD, Adam
-sgd = SGD(lr=0.01, decay=1e-6, momentum=0.9)
-adam = Adam(lr=1e-4, epsilon=None, decay=0.0)
+from keras.optimizers import Adam
+from parallel_compat.legacy.optimizers import SGD
+sgd = SGD(learning_rate=0.01, decay=1e-6, momentum=0.9)
+adam = Adam(learning_rate=1e-4)
```
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from parallel_compat.migrate import argument_edits, calls
from parallel_compat.migrate.dotted_names import is_call_by_name, is_call_of
from parallel_compat.migrate.edits import Edit
from parallel_compat.migrate.file import File, Findings
from parallel_compat.migrate.literals import is_none, text_of
from parallel_compat.migrate.rules import clipping_norm
from parallel_compat.migrate.scopes import defaults_of
from parallel_compat.names.arguments import arguments
from parallel_compat.names.members import OPTIMIZER
from parallel_compat.names.positions import has_positions


def find(file: File) -> Findings:
    for target, call in file.calls_under("keras.optimizers.", "parallel_compat.legacy.optimizers."):
        name = target.rpartition(".")[2]
        of = f"keras.optimizers.{name}"
        if of in arguments() or has_positions(of):
            yield from argument_edits.rewrite(file, call, of, name, leave=_left_to_others(call))
        yield from _unpacked(file, call, target, name)
        yield from _tensor_as_rate(file, call, name)
        yield from _whole_rate(file, call, name)
        epsilon = calls.keyword(call, "epsilon")
        if epsilon is not None and calls.constant(epsilon.value) is None:
            message = f"`epsilon=None` of `{name}` meant the default; Keras 3 has a number there."
            yield file.found(epsilon, message, calls.remove(file, call, epsilon))
        elif epsilon is not None and _may_be_none(file, epsilon.value):
            end = file.source.end(epsilon.value)
            message = f"An `epsilon` of `{name}` that is None meant the default; Keras 3 has a number there."
            yield file.found(epsilon, message, [Edit(end, end, " or 1e-7")])
    yield from _bases(file)


def _bases(file: File) -> Findings:
    """`class Own(SGD)` with `Own(lr=0.1)`, or `super().__init__(lr=lr)`: the base of this package takes them."""
    for class_ in file.classes_of(OPTIMIZER):
        bases = {base: (file.names.target(base) or "").rpartition(".") for base in class_.bases}
        of_keras = [(base, name) for base, (package, _, name) in bases.items() if package == "keras.optimizers"]
        for base, name in of_keras:
            if name == "Optimizer" or not any(_has_old(call) for call in _calls_of(file, class_)):
                continue
            stand_in = f"parallel_compat.legacy.optimizers.{name}"
            if (edits := file.replaced_by(stand_in, base)) is not None:
                message = f"`{class_.name}` gets `lr` or `decay`, which `{stand_in}` takes."
                yield file.found(base, message, edits)


def _calls_of(file: File, class_: ast.ClassDef) -> Iterator[ast.Call]:
    """Yield the calls that make objects of a class, and those of its base's `__init__`."""
    yield from file.calls_of_class(class_)
    for call in file.tree.calls:
        if is_call_of(call, "__init__") and file.tree.enclosing_class(call) is class_:
            yield call


def _has_old(call: ast.Call) -> bool:
    return any(keyword.arg in ("lr", "decay") for keyword in call.keywords)


def _whole_rate(file: File, call: ast.Call, name: str) -> Findings:
    """Find a rate of 1: Keras 3 wants a float."""
    rate = _rate(call)
    if isinstance(rate, ast.Constant) and type(rate.value) is int and (text := file.source.segment(rate)).isdigit():
        end = file.source.end(rate)
        yield file.found(rate, f"The rate of `{name}` is a float: `{text}.0`.", [Edit(end, end, ".0")])


def _rate(call: ast.Call) -> ast.expr | None:
    return calls.argument(call, "lr") or calls.argument(call, "learning_rate", 0)


def _may_be_none(file: File, node: ast.expr) -> bool:
    """Whether a name is an argument that is None by default, or an item that a dict of this file has as None."""
    if isinstance(node, ast.Name):
        above = (each for each in file.tree.ancestors(node) if isinstance(each, ast.FunctionDef))
        defaults = (pair for each in above for pair in defaults_of(each.args).items())
        return any(argument.arg == node.id and is_none(default) for argument, default in defaults)
    if not isinstance(node, ast.Subscript) or not isinstance(node.slice, ast.Constant):
        return False
    return any(
        isinstance(key, ast.Constant) and key.value == node.slice.value and is_none(value)
        for each in ast.walk(file.tree.module)
        if isinstance(each, ast.Dict)
        for key, value in zip(each.keys, each.values, strict=True)
    )


def _left_to_others(call: ast.Call) -> frozenset[str]:
    """Leave `clipnorm` to its own rule where it clips: newer code may mean today's."""
    return frozenset(("clipnorm",) if clipping_norm.clips(call, "clipnorm") else ())


_CONSTANTS = ("tensorflow.constant", "tensorflow.convert_to_tensor")


def _tensor_as_rate(file: File, call: ast.Call, name: str) -> Findings:
    """`SGD(learning_rate=tf.constant(0.1))`: Keras 3 refuses tensors and variables."""
    rate = _rate(call)
    made = file.tree.value_of(rate) if isinstance(rate, ast.Name) else None
    if isinstance(made, ast.Call) and (file.names.path(made.func) or "") in _CONSTANTS:
        assert rate is not None
        message = f"The learning rate of `{name}` is a number for Keras 3, not a tensor."
        yield file.found(rate, message, file.around(rate, "float(", ")"))
    if not isinstance(rate, ast.Call):
        return
    of = (file.names.path(rate.func) or "").rpartition(".")
    if not of[0].startswith(("tensorflow", "keras", "parallel_compat")):
        return
    if of[2] == "constant" and len(rate.args) == 1 and not isinstance(rate.args[0], ast.Starred):
        message = f"The learning rate of `{name}` is a number for Keras 3, not a tensor."
        yield file.found(rate, message, [file.replace(rate, file.source.segment(rate.args[0]))])
    elif of[2] in ("Variable", "variable"):
        message = (
            "Keras 3 takes no variable for a learning rate: pass a number, and assign to `optimizer.learning_rate`."
        )
        yield file.attention(rate, message)


def _unpacked(file: File, call: ast.Call, target: str, name: str) -> Findings:
    """`Adam(**settings)`: the class of this package takes `lr` and `decay` from a dict as well."""
    stand_in = f"parallel_compat.legacy.optimizers.{name}"
    for keyword in call.keywords:
        names = _keys(file, keyword.value) if keyword.arg is None else ()
        if target == stand_in or keyword.arg is not None or not (names is None or {"lr", "decay"} & set(names)):
            continue
        if names is None:
            message = f"If `lr` or `decay` is among the arguments of `{name}`: `{stand_in}` takes them."
            yield file.attention(call, message, hint=True)
        elif file.redirect(call.func, stand_in):
            yield file.found(call, f"`{name}` with `lr` or `decay` in a dict is provided by `{stand_in}`.")


def _keys(file: File, node: ast.expr) -> tuple[str, ...] | None:
    """Return the keys of a dict that is written here or assigned once; None where it is not known."""
    node = file.tree.resolved(node) or node
    if isinstance(node, ast.Dict):
        return tuple(text for key in node.keys if (text := text_of(key)) is not None)
    if is_call_by_name(node, "dict"):
        return tuple(keyword.arg for keyword in node.keywords if keyword.arg)
    return None
