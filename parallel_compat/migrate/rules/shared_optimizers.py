"""An optimizer that is compiled into several models is copied for each, with a common learning rate.

In Keras 2 the discriminator and the combined model of a GAN could share one `Adam`: each model had its own moments.
Keras 3 builds an optimizer for the weights of one model, and refuses others. A loop that applies one optimizer to
several lists of variables is reported.

```diff
 from keras.optimizers import Adam
+from parallel_compat.legacy.optimizers import for_one_compile
 adam = Adam(2e-4)
-d.compile(loss='binary_crossentropy', optimizer=adam)
-gan.compile(loss='binary_crossentropy', optimizer=adam)
+d.compile(loss='binary_crossentropy', optimizer=for_one_compile(adam))
+gan.compile(loss='binary_crossentropy', optimizer=for_one_compile(adam))
```
"""

from __future__ import annotations

import ast
import itertools
from collections.abc import Iterator

from parallel_compat.migrate import calls
from parallel_compat.migrate.dotted_names import is_call_by_name, is_of_self
from parallel_compat.migrate.file import File, Findings
from parallel_compat.migrate.kinds import OTHER
from parallel_compat.migrate.scopes import Binding, FunctionNode, defaults_of
from parallel_compat.names.members import MODEL, OPTIMIZER

_TARGET = "parallel_compat.legacy.optimizers.for_one_compile"


def find(file: File) -> Findings:
    yield from _applied(file)
    uses: dict[object, list[tuple[ast.Call, ast.expr]]] = {}
    for call, _ in file.calls_on(MODEL, "compile"):
        given = _optimizer(call)
        if given is None or file.kinds.of(given) == OTHER:
            continue
        if (key := _key(file, given)) is not None:
            uses.setdefault(key, []).append((call, given))
    for binding, found in uses.items():
        if _several(file, [call for call, _ in found]) or any(_outlives(file, binding, one) for _, one in found):
            for _, given in found:
                yield from _copied(file, given)


def _key(file: File, optimizer: ast.expr) -> object:
    """Return what a name or an attribute of `self` refers to."""
    if bindings := file.tree.bindings(optimizer):
        return bindings[0]
    return (file.tree.enclosing_class(optimizer), optimizer.attr) if is_of_self(optimizer) else None


def _applied(file: File) -> Findings:
    """Find `optimizer.apply_gradients(zip(gradients, variables))` with several lists of variables."""
    lists: dict[object, dict[str, ast.Call]] = {}
    for call, optimizer in file.calls_on(OPTIMIZER, "apply_gradients"):
        pairs = call.args[0] if call.args else None
        key = _key(file, optimizer)
        if key is not None and is_call_by_name(pairs, "zip") and len(pairs.args) == 2:
            lists.setdefault(key, {}).setdefault(ast.unparse(pairs.args[1]), call)
    for found in lists.values():
        if len(found) > 1 and _several(file, list(found.values())):
            message = (
                "Keras 3 refuses variables that the first call did not have: an optimizer for each list, or one call."
            )
            yield file.attention(list(found.values())[1], message, hint=not file.old)


def _optimizer(call: ast.Call) -> ast.expr | None:
    named = calls.keyword(call, "optimizer")
    if named is not None:
        return named.value
    return call.args[0] if (call.args and calls.keyword(call, "loss") is not None) or len(call.args) > 1 else None


def _several(file: File, found: list[ast.Call]) -> bool:
    """Whether two of the calls may happen in one run: they are not in two branches of one `if`."""
    return any(not exclude_each_other(file, one, other) for one, other in itertools.combinations(found, 2))


def exclude_each_other(file: File, one: ast.AST, other: ast.AST) -> bool:
    branches = dict(_branches(file, one))
    return any(branches.get(condition, branch) != branch for condition, branch in _branches(file, other))


def _branches(file: File, node: ast.AST) -> Iterator[tuple[ast.If, bool]]:
    below = node
    for above in file.tree.ancestors(node):
        if isinstance(above, ast.If) and below is not above.test:
            yield above, below in above.body
        below = above


def _outlives(file: File, binding: object, use: ast.expr) -> bool:
    """Whether an optimizer is made once, and compiled where a function or a loop may come by again."""
    if not isinstance(use, ast.Name):
        return False
    made: Binding = binding  # type: ignore[assignment]
    value = made.value if not isinstance(made.node, ast.arg) else _default(made)
    if value is None or file.kinds.of(value) != OPTIMIZER:
        return False
    if isinstance(made.node, ast.arg):
        return True
    around = set(file.tree.ancestors(made.node))
    again = ast.FunctionDef | ast.For | ast.While
    return any(isinstance(above, again) and above not in around for above in file.tree.ancestors(use))


def _default(binding: Binding) -> ast.expr | None:
    """Return the default of a parameter, which is made once."""
    function = binding.scope.node
    if not isinstance(function, FunctionNode) or not isinstance(binding.node, ast.arg):
        return None
    return defaults_of(function.args).get(binding.node)


def _copied(file: File, given: ast.expr) -> Findings:
    edits = file.wrapped_in_call(_TARGET, given)
    if edits is not None:
        name = file.source.segment(given)
        message = f"`{name}` may be compiled into several models: Keras 3 wants an optimizer for each."
        yield file.found(given, message, edits, hint=not file.old)
