"""A model whose layers are frozen after `compile` keeps training what was trainable when it was compiled.

In Keras 2 `compile` decided what trains: a GAN compiles its discriminator, freezes it, and uses it in the combined
model. Keras 3 reads `trainable` at the first batch, so that discriminator would never train. The rule also looks into
functions that set `trainable` of an argument (`make_trainable(discriminator, False)`). If the model is built and
compiled elsewhere, `settle_trainable` is called before its `trainable` is set.

```diff
 from keras.models import Model
+from parallel_compat.legacy.models import settle_trainable
 d = Model(image, validity)
 d.compile(loss='binary_crossentropy', optimizer='adam')
+settle_trainable(d)
 d.trainable = False
 gan = Model(noise, d(g(noise)))
 gan.compile(loss='binary_crossentropy', optimizer='adam')
```
"""

from __future__ import annotations

import ast

from parallel_compat.migrate import calls
from parallel_compat.migrate.dotted_names import is_self, names_in, root_name
from parallel_compat.migrate.edits import Edit
from parallel_compat.migrate.file import File, Findings
from parallel_compat.names.members import LAYER, MODEL

_TARGET = "parallel_compat.legacy.models.settle_trainable"


def find(file: File) -> Findings:
    """Find models that are compiled before `trainable` is set, and not again after it."""
    stored = [each for each in file.tree.attributes if each.attr == "trainable" and isinstance(each.ctx, ast.Store)]
    yield from _of_elsewhere(file, stored)
    flags: list[ast.expr] = [*stored, *(given for call in file.tree.calls for given in _freezes(file, call))]
    compiled = file.method_calls.get("compile", ()) if flags else ()
    for call in compiled:
        statement, name = file.tree.parents[call], _receiver(call)
        if not isinstance(statement, ast.Expr) or not _is_of_model(file, call):
            continue
        later = [each for each in flags if _comes_after(file, each, call)]
        again = [each for each in compiled if _receiver(each) == name and _comes_after(file, each, call)]
        if all(any(_comes_after(file, each, flag) for each in again) for flag in later) or _is_settled(file, name):
            continue
        spelled = file.reference(_TARGET, call)
        if spelled is None:
            continue
        edits = [file.insert_statement(statement, f"{spelled[0]}({name})"), *spelled[1]]
        message = (
            f"`trainable` is set after `{name}.compile`, which decided what trains; in Keras 3 the first batch does."
        )
        yield file.found(call, message, edits, hint=not file.old)


def _of_elsewhere(file: File, flags: list[ast.Attribute]) -> Findings:
    """Find where `trainable` is set of an argument, or an attribute, that this file neither makes nor compiles."""
    compiled = {_receiver(call) for call in file.method_calls.get("compile", ())}
    seen: set[tuple[str, ast.AST | None]] = set()
    for flag in flags:
        name, statement = ast.unparse(flag.value), file.tree.parents[flag]
        place = (name, file.tree.enclosing_function(flag))
        if name in compiled or place in seen or not isinstance(statement, ast.Assign):
            continue
        if not _is_made_elsewhere(file, flag.value) or file.kinds.of(flag.value) == LAYER or _is_settled(file, name):
            continue
        seen.add(place)
        spelled = file.reference(_TARGET, flag)
        if spelled is None:
            continue
        start = file.source.start(statement)
        indent = file.source.before(start)
        end = "; " if indent.strip() else file.source.newline + indent
        edits = [Edit(start, start, f"{spelled[0]}({name}){end}"), *spelled[1]]
        message = f"If `{name}` is compiled already: `compile` decided what trains; in Keras 3 the first batch does."
        yield file.found(flag, message, edits, hint=not file.old)


def _is_made_elsewhere(file: File, node: ast.expr) -> bool:
    """Whether it is an attribute of an argument, or one of `self` that is an argument or assigned nowhere here."""
    if not isinstance(node, ast.Attribute):
        return False
    root = root_name(node)
    if root is None or not file.is_argument(root):
        return False
    if root.id != "self":
        return True
    name = ast.unparse(node)
    made = [
        each.value
        for each in ast.walk(file.tree.module)
        if isinstance(each, ast.Assign) and any(ast.unparse(target) == name for target in each.targets)
    ]
    return all(isinstance(value, ast.Name) and file.is_argument(value) for value in made)


def _freezes(file: File, call: ast.Call) -> list[ast.expr]:
    """Return the arguments of a call of a function that sets `trainable` of its parameters, or of layers of them."""
    if not any(isinstance(each, ast.Name | ast.Attribute) for each in call.args):
        return []
    function = file.kinds.function(call.func)
    if function is None:
        return []
    names = {each.arg for each in (*function.args.args, *function.args.kwonlyargs)} - {"self"}
    for loop in (node for node in ast.walk(function) if isinstance(node, ast.For)):
        if names & names_in(loop.iter):
            names |= names_in(loop.target)
    stored = (node for node in ast.walk(function) if isinstance(node, ast.Attribute) and node.attr == "trainable")
    roots = (root_name(node) for node in stored if isinstance(node.ctx, ast.Store))
    return list(call.args) if any(root is not None and root.id in names for root in roots) else []


def _receiver(call: ast.Call) -> str:
    return ast.unparse(calls.receiver(call))


def _is_of_model(file: File, call: ast.Call) -> bool:
    kind = file.kinds.of(calls.receiver(call))
    if kind is not None:
        return kind == MODEL
    return calls.keyword(call, "loss") is not None or calls.keyword(call, "optimizer") is not None


def _comes_after(file: File, node: ast.expr, other: ast.expr) -> bool:
    """Return whether an expression comes after another one of its function; or of `self`, in another of its class.

    What a function does to a model of the module, which is compiled there, comes after it too.
    """
    if file.tree.enclosing_function(node) is file.tree.enclosing_function(other):
        return file.source.start(node) > file.source.start(other)
    if file.tree.enclosing_function(other) is None and _is_of_module(file, node):
        return True
    around = file.tree.enclosing_class(other)
    return around is not None and file.tree.enclosing_class(node) is around and _is_of_self(node) and _is_of_self(other)


def _is_of_module(file: File, node: ast.expr) -> bool:
    bindings = file.tree.bindings(root_name(node))
    return bool(bindings) and all(file.tree.enclosing_function(each.node) is None for each in bindings)


def _is_of_self(node: ast.expr) -> bool:
    while isinstance(node, ast.Attribute | ast.Call):
        node = node.func if isinstance(node, ast.Call) else node.value
    return is_self(node)


def _is_settled(file: File, name: str) -> bool:
    return any(
        ast.unparse(each.func).endswith("settle_trainable") and [ast.unparse(given) for given in each.args] == [name]
        for each in file.tree.calls
    )
