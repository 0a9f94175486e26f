"""`layer.output_shape` and `layer.input_shape` become functions of this package.

So does `model.layers[0].input`: the first layer may be an `InputLayer`, which has no `input` in Keras 3. `model.input`
of a `Sequential` becomes `model.inputs[0]`: in Keras 3 `input` exists only after the model was called, and is then the
argument of that call. If the source does not show whether a model is a `Sequential`, `model.input` becomes a function
of this package. `layer._name` becomes `layer.name`: in tf.keras only `_name` could be assigned. A property named as an
attribute that each layer of Keras 3 sets gets a setter. The `input_spec` of a cell goes: Keras 2 did not check it.

```diff
 from keras.models import Model
+from parallel_compat.legacy.layers import output_shape
 model = Model(x, y)
-shape = model.layers[-1].output_shape
+shape = output_shape(model.layers[-1])
```
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from parallel_compat.migrate import methods
from parallel_compat.migrate.dotted_names import is_call_of, is_of_self, is_self, last_name
from parallel_compat.migrate.edits import Edit
from parallel_compat.migrate.file import File, Findings
from parallel_compat.migrate.kinds import LOADING, SEQUENTIAL
from parallel_compat.migrate.scopes import methods_of
from parallel_compat.migrate.statements import indent_of, remove_statement
from parallel_compat.names import tsv
from parallel_compat.names.members import INPUT_LAYER, LAYER, MODEL


def find(file: File) -> Findings:
    for node in file.tree.attributes:
        if node.attr == "_name":
            yield from _named(file, node)
            continue
        if not isinstance(node.ctx, ast.Load):
            yield from _assigned(file, node)
            continue
        if node.attr in ("input", "output") and file.sequentials.of(node.value) == SEQUENTIAL:
            yield from _of_sequential(file, node)
            continue
        if node.attr in ("input", "output", "output_names") and _may_be_sequential(file, node.value):
            yield from _by_function(file, node)
            continue
        of = INPUT_LAYER if node.attr == "input" and _is_first_layer(node.value) else LAYER
        if of == LAYER and node.attr not in ("output_shape", "input_shape"):
            continue
        kind = file.kinds.of(node.value)
        maybe = kind is None and _looks_like_layer(file, node.value)
        if (kind != LAYER and not maybe) or is_self(node.value):  # a layer may well set its own
            continue
        row = methods.member(of, node.attr)
        assert row.new is not None
        edits = file.read_by_function(row.new, node)
        if edits is None:
            continue
        message = f"`{node.attr}` of a layer is provided by `{row.new}`."
        if maybe:
            message = f"If `{methods.short(file, node.value)}` is a layer: `{node.attr}` is provided by `{row.new}`."
        yield file.found(node, message, edits, unsafe=maybe)
    for class_ in file.classes_of(LAYER):
        yield from _without_setter(file, class_)
        yield from _specs_of_cells(file, class_)


def _without_setter(file: File, class_: ast.ClassDef) -> Findings:
    """Give `@property def activity_regularizer(self)` a setter that does nothing, as nothing set it."""
    for method in (each for each in class_.body if isinstance(each, ast.FunctionDef)):
        marks = [ast.unparse(each) for each in method.decorator_list]
        setter = f"{method.name}.setter"
        if method.name not in _SET_BY_EVERY_LAYER or marks != ["property"] or setter in ast.unparse(class_):
            continue
        newline, indent = file.source.newline, indent_of(file, method)
        step = "\t" if indent.startswith("\t") else "    "
        lines = ("", f"@{setter}", f"def {method.name}(self, value):", f"{step}pass")
        end = file.source.end(method)
        edit = Edit(end, end, "".join(f"{newline}{indent if line else ''}{line}" for line in lines))
        yield file.found(method, f"Each layer of Keras 3 sets `{method.name}`: the property needs a setter.", [edit])


def _specs_of_cells(file: File, class_: ast.ClassDef) -> Findings:
    call = methods_of(class_).get("call")
    if call is None or [each.arg for each in call.args.args[2:3]] != ["states"]:
        return
    specs = [node for node in ast.walk(class_) if is_of_self(node) and node.attr == "input_spec"]
    statements = [file.tree.parents.get(node) for node in specs]
    if all(isinstance(each, ast.Assign) and len(each.targets) == 1 for each in statements):
        for statement in dict.fromkeys(statements):
            assert isinstance(statement, ast.Assign)
            message = "Keras 3 holds the inputs of a cell, one step, against its `input_spec`; Keras 2 did not."
            yield file.found(statement, message, [remove_statement(file, statement)])


def _named(file: File, node: ast.Attribute) -> Findings:
    kind = file.kinds.of(node.value)
    maybe = kind is None and last_name(node.value) in ("model", "layer")
    if (kind in (LAYER, MODEL) or maybe) and file.era is not None and file.era.is_tf_keras:
        message = "In Keras 3 only `name` holds the name of a layer, and you can assign to it."
        yield file.found(node, message, [Edit(file.dot_of(node), file.source.end(node), ".name")], unsafe=maybe)


def _of_sequential(file: File, node: ast.Attribute) -> Findings:
    message = f"`{node.attr}` of a `Sequential` is `{node.attr}s[0]` in Keras 3, also before a call."
    end = file.source.end(node)
    yield file.found(node, message, [Edit(end, end, "s[0]")], hint=not file.old)


def _may_be_sequential(file: File, model: ast.expr) -> bool:
    """Return whether a model is Sequential, or is loaded or passed on in a source that knows Sequential models."""
    if is_self(model):
        return False
    if file.sequentials.of(model) == SEQUENTIAL:
        return True
    made = file.kinds.value(model)
    if isinstance(made, ast.Call):
        return file.made_by(made) in LOADING
    named = last_name(model).lower().rpartition("_")[2] == "model"
    return file.kinds.of(model) is None and named and "Sequential" in file.source.text


def _by_function(file: File, node: ast.Attribute) -> Findings:
    row = methods.member(MODEL, node.attr)
    assert row.new is not None
    edits = file.read_by_function(row.new, node)
    if edits is not None:
        message = f"`{node.attr}` of a model is provided by `{row.new}`. {row.note}"
        unsafe = file.kinds.of(node.value) is None and methods.guessed(file, node.value, MODEL)
        yield file.found(node, message, edits, unsafe=unsafe, hint=not file.old)


_ROWS = tsv.rows("not_to_set.tsv", 3)
# What Keras 3 computes and lets nobody set, and what to do instead.
_NOT_TO_SET = {of: dict.fromkeys(names.split(), way_out) for of, names, way_out in _ROWS if of in (MODEL, LAYER)}
_SET_BY_EVERY_LAYER = ("activity_regularizer", "autocast")
# What a custom layer or model may not set any more, and what one that is derived from one of these layers.
_NOT_TO_SET_IN_CLASSES = " ".join(names for of, names, _ in _ROWS if of == "class").split()
_NOT_TO_SET_IN_CLASSES_OF = {name: weight for of, names, weight in _ROWS if of == "derived" for name in names.split()}


def _assigned(file: File, node: ast.Attribute) -> Findings:
    kind = file.kinds.of(node.value)
    around = file.tree.enclosing_class(node)
    if is_self(node.value) and around is not None and kind in (LAYER, MODEL):
        bases = set(_keras_bases(file, around))
        if node.attr in _NOT_TO_SET_IN_CLASSES or node.attr in map(_NOT_TO_SET_IN_CLASSES_OF.get, bases):
            message = f"`{node.attr}` cannot be assigned to in Keras 3, which computes it. Give yours another name."
            yield file.attention(node, message)
            return
    if node.attr in _NOT_TO_SET_IN_CLASSES_OF.values() and last_name(node.value) in ("layer", "cell"):
        message = (
            f"`{node.attr}` of a layer cannot be assigned to in Keras 3. For spectral normalization use "
            "`keras.layers.SpectralNormalization`; else compute with the weight yourself."
        )
        yield file.attention(node, message, hint=not file.old)
        return
    of_layer = node.attr in _NOT_TO_SET[LAYER] and kind in (LAYER, MODEL)
    way_out = _NOT_TO_SET[LAYER].get(node.attr) if of_layer else _NOT_TO_SET.get(kind or "", {}).get(node.attr)
    if way_out is not None and not (kind == MODEL and not of_layer and is_self(node.value)):
        statement = file.tree.parents.get(node)
        if of_layer and isinstance(statement, ast.Assign) and _is_of_a_held_layer(statement):
            message = f"`{node.attr}` cannot be assigned to in Keras 3, which has the weights of the layers it holds."
            edits = [remove_statement(file, statement)]
            yield file.found(node, message, edits, unsafe="is that one a layer?")
            return
        message = f"`{node.attr}` cannot be assigned to in Keras 3. {way_out}"
        yield file.attention(node, message)


def _keras_bases(file: File, class_: ast.ClassDef, seen: tuple[ast.ClassDef, ...] = ()) -> Iterator[str]:
    """Yield the names of Keras's layers that a class is derived from, also by way of others of this file."""
    for base in class_.bases:
        definition = file.kinds.definition(base)
        if isinstance(definition, ast.ClassDef) and definition not in seen:
            yield from _keras_bases(file, definition, (*seen, class_))
        package, _, name = (file.names.target(base) or "").rpartition(".")
        if package in ("keras.layers", "parallel_compat.legacy.layers"):
            yield name


def _is_of_a_held_layer(statement: ast.Assign) -> bool:
    """Whether a statement is `self.trainable_weights = self.net.trainable_weights`."""
    value, targets = statement.value, statement.targets
    is_held = isinstance(value, ast.Attribute) and is_of_self(value.value)
    return is_held and len(targets) == 1 and is_of_self(targets[0]) and targets[0].attr == last_name(value)


def _is_first_layer(node: ast.expr) -> bool:
    return (
        isinstance(node, ast.Subscript)
        and isinstance(node.slice, ast.Constant)
        and node.slice.value == 0
        and isinstance(node.value, ast.Attribute)
        and node.value.attr == "layers"
    )


def _looks_like_layer(file: File, node: ast.expr) -> bool:
    if isinstance(node, ast.Name):
        return node.id in ("layer", "l")
    if is_of_self(node):  # what a layer holds of another one: `self.dense.input_shape`
        around = file.tree.enclosing_class(node)
        return around is not None and file.kinds.of_class(around) == LAYER
    if isinstance(node, ast.Subscript):
        return isinstance(node.value, ast.Attribute) and node.value.attr == "layers"
    return is_call_of(node, "get_layer")
