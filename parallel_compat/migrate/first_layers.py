"""The first layer of a `Sequential`, whose shape with the batch becomes an `Input` before it."""

from __future__ import annotations

import ast

from parallel_compat.migrate import calls
from parallel_compat.migrate.edits import AnyEdit, Edit
from parallel_compat.migrate.file import File
from parallel_compat.migrate.kinds import SEQUENTIAL
from parallel_compat.migrate.statements import block_of, indent_of, is_alone


def with_input(file: File, call: ast.Call) -> list[AnyEdit] | None:
    """Return the edits that put `Input(batch_shape=...)` before a layer; None if it may not begin a `Sequential`."""
    whole, shape, size = (calls.keyword(call, name) for name in ("batch_input_shape", "input_shape", "batch_size"))
    given = [whole] if whole is not None else [each for each in (shape, size) if each is not None]
    if len(given) != (1 if whole is not None else 2):
        return None
    spelled = file.reference("keras.Input", call)
    if spelled is None or calls.has_stars(call):
        return None
    name, imports = spelled
    text = f"{name}(batch_shape={file.source.segment(given[0].value)})"
    if whole is None:
        text = f"{name}({file.source.segment(given[0].value)}, batch_size={file.source.segment(given[1].value)})"
    before = _before(file, _outermost(file, call), text)
    return [before, *calls.remove(file, call, *given), *imports] if before is not None else None


def _outermost(file: File, call: ast.Call) -> ast.Call:
    """Return the layer, or the `Bidirectional` that wraps it."""
    above = file.tree.parents.get(call)
    wraps = file.made_by(above) == "keras.layers.Bidirectional"
    return above if wraps and isinstance(above, ast.Call) and call in above.args[:1] else call


def _before(file: File, layer: ast.Call, text: str) -> Edit | None:
    """Insert an `Input` before a layer, in the list of a `Sequential` or by a call of `add`."""
    above, start = file.tree.parents.get(layer), file.source.start(layer)
    if isinstance(above, ast.List) and above.elts[0] is layer:
        made = file.tree.parents.get(above)
        if not isinstance(made, ast.Call) or file.made_by(made) != SEQUENTIAL or above not in made.args[:1]:
            return None
        line = file.source.before(start)
        between = " " if line.strip() else file.source.newline + line
        return Edit(start, start, f"{text},{between}")
    statement = file.tree.parents.get(above) if isinstance(above, ast.Call) else None
    if not isinstance(above, ast.Call) or not isinstance(statement, ast.Expr):
        return None
    if not _is_first_add(file, above, statement):
        return None
    assert isinstance(above.func, ast.Attribute)
    start = file.source.start(statement)
    owner = file.source.segment(above.func.value)
    following = file.source.newline + indent_of(file, statement) if is_alone(file, statement) else "; "
    return Edit(start, start, f"{owner}.add({text}){following}")


def _is_first_add(file: File, call: ast.Call, statement: ast.Expr) -> bool:
    """Return whether a statement is the first `model.add(...)` after `model = Sequential()`, in one block."""
    if not isinstance(call.func, ast.Attribute) or call.func.attr != "add":
        return False
    owner = ast.dump(call.func.value)
    block = block_of(file, statement)
    for earlier in reversed(block[: block.index(statement)]):
        if isinstance(earlier, ast.Assign) and len(earlier.targets) == 1:
            target = ast.dump(earlier.targets[0]).replace("Store()", "Load()")
            if target == owner:
                made = earlier.value
                empty = isinstance(made, ast.Call) and not made.args and not calls.has_stars(made)
                return empty and file.made_by(made) == SEQUENTIAL
        if any(isinstance(each, ast.expr) and ast.dump(each) == owner for each in ast.walk(earlier)):
            return False
    return False
