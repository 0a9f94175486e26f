"""Functions of the old backend, of layers and of models become `keras.ops`, and today's methods and attributes.

What Keras 3 cannot express is imported from `legacy_numerics.py`, a file of the project. Arguments with a changed
default are written out.

```diff
-from keras import backend as K
+from keras import ops
 def loss(y_true, y_pred):
-    return K.mean(K.sqrt(K.sum(K.square(y_true - y_pred), axis=-1)))
+    return ops.mean(ops.sqrt(ops.maximum(ops.sum(ops.square(y_true - y_pred), axis=-1), 0.0)))
 def hits(y_true, y_pred):
-    return K.equal(K.argmax(y_true), K.argmax(y_pred))
+    return ops.equal(ops.argmax(y_true, axis=-1), ops.argmax(y_pred, axis=-1))
```
"""

from __future__ import annotations

import ast
import itertools
import re

from parallel_compat.migrate import calls
from parallel_compat.migrate.edits import AnyEdit, Edit
from parallel_compat.migrate.file import File, Findings
from parallel_compat.migrate.native.spelling import replaced, retarget, spell
from parallel_compat.names.members import TENSOR
from parallel_compat.names.native import BACKEND, CLASSES, NUMERICS, QUESTIONS, Native, functions, renamed

_DIM_ORDERING = f"{BACKEND}.image_dim_ordering"
_FIELD = re.compile(r"\{(\w+)\}")
_VARIABLES = re.compile(r"\bupdate(?:_add|_sub)?\(|set_value\(|\.assign|add_update\(|moving_average_update\(")
_ATOMS = (ast.Name, ast.Attribute, ast.Call, ast.Subscript, ast.Constant, ast.List, ast.Tuple)


def find(file: File) -> Findings:
    rows = functions()
    for call in file.tree.calls:
        path = file.names.path(call.func)
        if path == f"{BACKEND}.function":
            yield from _function(file, call)
        elif path in (f"{BACKEND}.zeros", f"{BACKEND}.ones"):
            yield from _filled(file, call, path.rpartition(".")[2])
        elif path in CLASSES:
            yield from _class(file, call, *CLASSES[path])
        elif path == _DIM_ORDERING:
            yield from _dim_ordering(file, call)
        elif path in rows:
            yield from _of_row(file, call, path, rows[path])
    called = {id(call.func) for call in file.tree.calls}
    nodes: list[ast.Name | ast.Attribute] = [*file.tree.names, *file.tree.attributes]
    for node in nodes:
        path = file.names.path(node) or ""
        if path not in rows or path in renamed() or id(node) in called or not isinstance(node.ctx, ast.Load):
            continue
        row = rows[path][0]
        name = path.rpartition(".")[2]
        simple = not row.is_expression and not any(old != new or value for old, new, value in row.arguments)
        written = replaced(file, node, row.new) if simple else None
        otherwise = f"`{name}` is passed as a function: write a function with `{row.new}`."
        yield file.found(node, f"`{name}` is now `{row.new}`.", written, otherwise=otherwise)


def _of_row(file: File, call: ast.Call, path: str, rows: tuple[Native, ...]) -> Findings:
    name = path.rpartition(".")[2]
    spelled = None if _is_calculated_with(file, call, path) else _spelled(file, call, rows)
    if spelled is not None:
        row, edits = spelled
        yield file.found(call, f"`{name}` is now `{row.new}`.", edits)
    elif path in QUESTIONS:
        yield file.attention(call, f"`{name}`: {QUESTIONS[path]}")
    else:
        near = f"the nearest is `{rows[0].new}`."
        yield file.attention(call, f"`{name}` with these arguments has no equivalent in plain Keras; {near}")


def _spelled(file: File, call: ast.Call, rows: tuple[Native, ...]) -> tuple[Native, list[AnyEdit]] | None:
    """Return the first row that a call can be written by, and the edits that do."""
    for row in rows:
        values = _arguments(call, row)
        if row.new == "ops.flip" and values is not None and isinstance(values.get("axes"), ast.List | ast.Tuple):
            continue  # Keras 3.12 takes one axis alone
        if values is not None:
            edits = _expression(file, call, row, values) if row.is_expression else _renamed(file, call, row, values)
            if edits is not None:
                return row, edits
    return None


def _dim_ordering(file: File, call: ast.Call) -> Findings:
    """`K.image_dim_ordering() == "th"` asks, by the names of Keras 1, whether channels come first."""
    above = file.tree.parents.get(call)
    other = above.comparators[0] if isinstance(above, ast.Compare) and above.left is call else None
    names = {"th": "channels_first", "tf": "channels_last"}
    spelled = spell(file, "keras.config.image_data_format()", call)
    if (
        not isinstance(above, ast.Compare)
        or not isinstance(above.ops[0], ast.Eq | ast.NotEq)
        or len(above.ops) > 1
        or not isinstance(other, ast.Constant)
        or other.value not in names
        or spelled is None
    ):
        yield file.attention(call, f"`image_dim_ordering`: {QUESTIONS[_DIM_ORDERING]}")
        return
    edits = [file.replace(call, spelled[0]), file.replace(other, f'"{names[other.value]}"'), *spelled[1]]
    yield file.found(call, "`image_dim_ordering` is now `keras.config.image_data_format`.", edits)


def _is_calculated_with(file: File, call: ast.Call, path: str | None) -> bool:
    """`K.shape(x) * 2`: `ops.shape` is a tuple, for which that means something else."""
    return path == f"{BACKEND}.shape" and isinstance(file.tree.parents.get(call), ast.BinOp | ast.Compare | ast.UnaryOp)


def _arguments(call: ast.Call, row: Native) -> dict[str, ast.expr] | None:
    """Return what is given for each argument, or None where that is not known or not expected."""
    names = [name for name, _, _ in row.arguments if name != "*"]
    if calls.has_stars(call) or len(call.args) > len(names):
        return None
    values = dict(zip(names, call.args, strict=False))
    for keyword in call.keywords:
        if keyword.arg not in names:
            return None
        values[keyword.arg] = keyword.value
    return values


def _renamed(file: File, call: ast.Call, row: Native, values: dict[str, ast.expr]) -> list[AnyEdit] | None:
    spelled = (name, ()) if (name := _helper_in_place(file, call.func, row)) else spell(file, row.new, call)
    if spelled is None:
        return None
    today = {old: new for old, new, _ in row.arguments}
    edits: list[AnyEdit] = [file.replace(call.func, spelled[0]), *spelled[1]]
    edits += [
        calls.rename(file, keyword, today[keyword.arg])
        for keyword in call.keywords
        if keyword.arg is not None and today[keyword.arg] != keyword.arg
    ]
    names = [name for name, _, _ in row.arguments]
    if "*" in names:
        alone = names.index("*")
        for name, value in zip(names[alone + 1 :], call.args[alone:], strict=False):
            edits.append(calls.name_positional(file, value, today[name]))
    missing = [f"{new}={value}" for old, new, value in row.arguments if value is not None and old not in values]
    if missing:
        edits.append(calls.append(file, call, ", ".join(missing)))
    return edits


def _helper_in_place(file: File, func: ast.expr, row: Native) -> str | None:
    """Have the import of a function bring the helper of that name, where every use of it can be written so."""
    name = row.new.rpartition(".")[2]
    if not isinstance(func, ast.Name) or func.id != name or row.new != f"{NUMERICS}.{name}":
        return None
    rows = functions()[row.old]
    uses = [each for each in file.tree.names if each.id == name and file.names.path(each) == row.old]
    above = [(each, file.tree.parents[each]) for each in uses]
    if all(
        isinstance(call, ast.Call) and call.func is each and any(_arguments(call, one) is not None for one in rows)
        for each, call in above
    ) and file.redirect(func, row.new):
        return name
    return None


def _expression(file: File, call: ast.Call, row: Native, values: dict[str, ast.expr]) -> list[AnyEdit] | None:
    template = row.new
    if row.old == f"{BACKEND}.int_shape" and file.kinds.of(values.get("x", call)) == TENSOR:
        template = "{x}.shape"
    fields = _FIELD.findall(template)
    if set(fields) != set(values) or len(fields) != len(set(fields)):
        return None
    spelled = spell(file, template, call)
    if spelled is None:
        return None
    pieces = _FIELD.split(spelled[0])  # text, name, text, name, ..., text
    texts, names = pieces[::2], pieces[1::2]
    for index, name in enumerate(names):
        if texts[index + 1].startswith((".", "[")) and not isinstance(values[name], _ATOMS):
            texts[index] += "("
            texts[index + 1] = ")" + texts[index + 1]
    source = file.source
    given = [values[name] for name in names]
    ordered = all(source.end(one) <= source.start(other) for one, other in itertools.pairwise(given))
    if not ordered:
        text = "".join(
            piece + (source.segment(given[index]) if index < len(given) else "") for index, piece in enumerate(texts)
        )
        return [file.replace(call, text), *spelled[1]]
    starts = [source.start(call), *(source.end(value) for value in given)]
    ends = [*(source.start(value) for value in given), source.end(call)]
    if any("#" in source.text[start:end] for start, end in zip(starts, ends, strict=True)):
        return None
    edits = [Edit(start, end, text) for start, end, text in zip(starts, ends, texts, strict=True)]
    return [*edits, *spelled[1]]


def _filled(file: File, call: ast.Call, name: str) -> Findings:
    """`K.zeros(shape)` in a function: a tensor, where nothing in the file gives variables other values."""
    within = any(isinstance(above, ast.FunctionDef | ast.Lambda) for above in file.tree.ancestors(call))
    kept = isinstance(file.tree.parents[call], ast.Assign | ast.AnnAssign | ast.Return) and _VARIABLES.search(
        file.source.text
    )
    edits = replaced(file, call.func, f"ops.{name}")
    known = all(keyword.arg in ("shape", "dtype") for keyword in call.keywords) and len(call.args) < 3
    if not within or kept or not known or calls.has_stars(call):
        edits = None
    otherwise = f"`K.{name}`: {QUESTIONS[f'{BACKEND}.{name}']}"
    yield file.found(call, f"`{name}` is now `ops.{name}`.", edits, otherwise=otherwise)


def _class(file: File, call: ast.Call, target: str, arguments: str) -> Findings:
    """`CuDNNLSTM(8)` is an `LSTM` whose gates are spelled out."""
    edits = retarget(file, call.func, target)
    name = (file.names.path(call.func) or "").rpartition(".")[2]
    if edits is None or calls.keyword(call, "recurrent_activation") is not None:
        yield file.attention(call, f"`{name}` is now `{target}({arguments})`.")
    else:
        yield file.found(call, f"`{name}` is now `{target}`.", [*edits, calls.append(file, call, arguments)])


def _function(file: File, call: ast.Call) -> Findings:
    """`K.function([a], [b])` takes lists and returns a list of arrays."""
    lists = [isinstance(argument, ast.List) for argument in call.args]
    edits = replaced(file, call.func, "legacy_numerics.function_of")
    phase = any(
        isinstance(node, ast.Attribute | ast.Name) and file.names.path(node) == f"{BACKEND}.learning_phase"
        for argument in call.args
        for node in ast.walk(argument)
    )
    if lists != [True, True] or call.keywords or phase:
        edits = None
    message = "`K.function` is now `function_of`, which calls a `keras.Model` of the same tensors."
    yield file.found(call, message, edits, otherwise=f"`K.function`: {QUESTIONS[f'{BACKEND}.function']}")
