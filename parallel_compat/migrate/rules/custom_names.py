"""A string that names a function in `get_custom_objects()` becomes the function itself.

Keras 2 looked up names of activations, losses, metrics, regularizers and constraints in `get_custom_objects()` first.
Keras 3 looks only among its own functions. It refuses an unknown name, and silently takes its own function for
`"swish"`, `"precision"` or `"dice"`.

```diff
-from keras import backend as K
+from parallel_compat.legacy import backend as K
 from keras.layers import Activation, Dense
-from keras.utils.generic_utils import get_custom_objects
+from keras.utils import get_custom_objects

 def swish(x):
     return x * K.sigmoid(2 * x)

 get_custom_objects().update({'swish': Activation(swish)})
-layers = [Dense(3, activation='swish'), Activation('swish')]
+layers = [Dense(3, activation=swish), Activation(swish)]
```
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import NamedTuple

from parallel_compat.migrate import calls
from parallel_compat.migrate.dotted_names import is_call_of
from parallel_compat.migrate.file import File, Findings
from parallel_compat.migrate.literals import parts_of, text_of
from parallel_compat.migrate.rules.metric_functions import METRIC_FUNCTION
from parallel_compat.migrate.scopes import defaults_of, methods_of
from parallel_compat.names.identifiers import FUNCTIONS_OF_TODAY
from parallel_compat.names.members import MODEL

_MODULES = ("keras.saving", "keras.utils")
_REGISTRIES = frozenset(f"{module}.get_custom_objects" for module in _MODULES)
_SCOPES = frozenset(f"{module}.{name}" for module in _MODULES for name in ("CustomObjectScope", "custom_object_scope"))
_GETS = frozenset(f"keras.{kind}.get" for kind in ("activations", "constraints", "losses", "metrics", "regularizers"))
_POSITIONS = {
    **dict.fromkeys(_GETS | {"keras.layers.Activation"}, 0),
    **dict.fromkeys((f"keras.layers.{name}" for name in ("Dense", "GRU", "LSTM", "SimpleRNN")), 1),
}
_ENDINGS = ("activation", "_constraint", "_regularizer")
# What an argument or a name is called that holds such a string on its way to a layer.
_ON_ITS_WAY = re.compile(r"act|loss|metric|regulari|constraint|nonlin", re.IGNORECASE)
_HAND_OVER = "Pass the function itself."


class _Given(NamedTuple):
    """What a name was given for: the expression, and the `with` around which it ends."""

    value: ast.expr
    scope: ast.With | None


def find(file: File) -> Findings:
    """Find strings that name a function of the project's own, and dictionaries whose names Keras 3 does not look up."""
    given = _given(file)
    names = {*given, *file.project.custom_names}
    if names:
        direct = list(_named_to_keras(file, names))
        for node, of_metric in direct:
            yield from _named(file, node, given.get(str(node.value)), of_metric=of_metric)
        for node in _on_their_way(file, names, {node for node, _ in direct}):
            message = f"Keras 3 does not look up {node.value!r} in `get_custom_objects()`. {_HAND_OVER}"
            yield file.attention(node, message)
    yield from _not_required(file)


def _named(file: File, node: ast.Constant, own: _Given | None, *, of_metric: bool) -> Findings:
    function = own and _function(file, own.value)
    if own is not None and own.scope is not None and own.scope not in file.tree.ancestors(node):
        function = None
    is_logged_otherwise = of_metric and (function is None or function.id != node.value)
    if function is None or is_logged_otherwise or not _is_seen_from(file, function, node):
        message = f"Keras 3 does not look up {node.value!r} in `get_custom_objects()`. {_HAND_OVER}"
        yield file.attention(node, message)
        return
    message = f"`{function.id}` is passed itself: Keras 3 looks up {node.value!r} only among its own functions."
    wrapper, imports = (of_metric and file.reference(METRIC_FUNCTION, node)) or ("", ())
    text = f"{wrapper}({function.id})" if wrapper else function.id
    yield file.found(node, message, [file.replace(node, text), *imports])


def _given(file: File) -> dict[str, _Given]:
    found: dict[str, _Given] = {}
    for call in file.method_calls.get("update", ()):
        if _is_registry(file, calls.receiver(call)):
            found.update({name: _Given(value, None) for name, value in _items(file, next(iter(call.args), None))})
            found.update({each.arg: _Given(each.value, None) for each in call.keywords if each.arg})
    for node in file.tree.subscripts:
        above = file.tree.parents.get(node)
        if isinstance(above, ast.Assign) and node in above.targets and _is_registry(file, node.value):
            name = calls.constant(node.slice)
            if isinstance(name, str):
                found[name] = _Given(above.value, None)
    for target in _SCOPES:
        for call in file.calls_by_target.get(target, ()):
            scope = next((above for above in file.tree.ancestors(call) if isinstance(above, ast.With)), None)
            found.update({name: _Given(value, scope) for name, value in _items(file, next(iter(call.args), None))})
    return found


def _is_registry(file: File, node: ast.expr) -> bool:
    return file.made_by(file.tree.resolved(node)) in _REGISTRIES


def _items(file: File, node: ast.expr | None) -> Iterator[tuple[str, ast.expr]]:
    """Yield the names of a dictionary with what they stand for."""
    made = file.tree.resolved(node)
    for key, value in zip(made.keys, made.values, strict=True) if isinstance(made, ast.Dict) else ():
        if (name := text_of(key)) is not None:
            yield name, value


def _function(file: File, value: ast.expr) -> ast.Name | None:
    """Return the function in `swish`, `Activation(swish)`, or `Swish(swish)` of a class that only names it."""
    if isinstance(value, ast.Call) and len(value.args) == 1 and not value.keywords:
        made = file.kinds.definition(value.func)
        only_names = isinstance(made, ast.ClassDef) and not {"call", "__call__"} & methods_of(made).keys()
        base = made.bases[0] if isinstance(made, ast.ClassDef) and len(made.bases) == 1 else None
        named = base if only_names and base is not None else value.func
        if file.names.target(named) == "keras.layers.Activation":
            value = value.args[0]
    if not isinstance(value, ast.Name):
        return None
    return value if isinstance(file.kinds.definition(value), ast.FunctionDef) else None


def _is_seen_from(file: File, function: ast.Name, node: ast.expr) -> bool:
    bindings = file.tree.scopes[function].find(function.id)
    return file.tree.scopes[node].find(function.id) is bindings


def _named_to_keras(file: File, names: set[str]) -> Iterator[tuple[ast.Constant, bool]]:
    """Yield the strings among `names` that Keras is given, and whether as a metric."""
    for target, call in file.calls_under("keras.layers.", *_GETS):
        position = _POSITIONS.get(target)
        for node in call.args[position : position + 1] if position is not None else ():
            yield from ((each, target == "keras.metrics.get") for each in _strings(node, names))
        for keyword in call.keywords:
            if (keyword.arg or "").endswith(_ENDINGS):
                yield from ((each, False) for each in _strings(keyword.value, names))
    for call, _ in file.calls_on(MODEL, "compile"):
        for name, position in (("loss", 1), ("metrics", 2), ("weighted_metrics", None)):
            given = file.tree.resolved(calls.argument(call, name, position))
            yield from ((each, name != "loss") for each in _strings(given, names))


def _strings(node: ast.expr | None, names: set[str]) -> Iterator[ast.Constant]:
    if isinstance(node, ast.Constant) and node.value in names:
        yield node
    else:
        for each in parts_of(node):
            yield from _strings(each, names)


def _on_their_way(file: File, names: set[str], seen: set[ast.Constant]) -> Iterator[ast.Constant]:
    """Yield the strings that reach Keras by way of a function or a name of the project."""
    for node in file.tree.strings:
        if node.value in names and node not in seen and _ON_ITS_WAY.search(_name_of_place(file, node)):
            yield node


def _name_of_place(file: File, node: ast.Constant) -> str:
    """Return the name of the argument, the parameter or the variable that a string is the value of."""
    above = file.tree.parents.get(node)
    if isinstance(above, ast.keyword):
        return above.arg or ""
    if isinstance(above, ast.Assign):
        return ast.unparse(above.targets[0])
    if isinstance(above, ast.arguments):
        return next((argument.arg for argument, value in defaults_of(above).items() if value is node), "")
    if isinstance(above, ast.Call) and node in above.args:
        made = file.kinds.function(above.func)
        names = [each.arg for each in made.args.args] if made is not None else []
        position = above.args.index(node) + (isinstance(above.func, ast.Attribute) and names[:1] == ["self"])
        return names[position] if position < len(names) else ""
    return ""


def _not_required(file: File) -> Findings:
    """Find `custom_objects={"relu": relu}` of functions of Keras 3, which reads its own from a config."""
    for call in file.tree.calls:
        if not is_call_of(call, "from_config") and file.names.target(call.func) != "keras.models.load_model":
            continue
        for name, value in _items(file, calls.argument(call, "custom_objects", 1)):
            if name in FUNCTIONS_OF_TODAY and not isinstance(file.kinds.definition(value), ast.ClassDef):
                message = (
                    f"For {name!r} in a config Keras 3 takes its own function, not that of `custom_objects`. "
                    "Give yours another name."
                )
                yield file.attention(value, message)
