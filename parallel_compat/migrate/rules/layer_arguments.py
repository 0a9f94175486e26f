"""Keras 1's argument names of layers become Keras 2's (`output_dim`, `border_mode`, `nb_filter`, `init`, ...).

Keras 2 accepted them with a warning; Keras 3 does not. `Convolution2D(64, 3, 3)` becomes `Convolution2D(64, (3, 3))`,
`dim_ordering="th"` becomes `data_format="channels_first"`. Arguments without a replacement (`batch_input_shape`,
`weights`) are taken by the layer of the same name in `parallel_compat.legacy.layers`.

```diff
 from keras.layers import Convolution2D, Dense
-x = Convolution2D(64, 3, 3, border_mode='same', subsample=(2, 2))(x)
-x = Dense(output_dim=10, init='normal')(x)
+x = Convolution2D(64, (3, 3), padding='same', strides=(2, 2))(x)
+x = Dense(units=10, kernel_initializer='normal')(x)
```
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from parallel_compat.migrate import argument_edits, calls, first_layers
from parallel_compat.migrate.dotted_names import is_call_of
from parallel_compat.migrate.edits import AnyEdit, Edit
from parallel_compat.migrate.file import File, Findings
from parallel_compat.migrate.findings import Finding
from parallel_compat.migrate.literals import text_of
from parallel_compat.migrate.project import LIBRARIES
from parallel_compat.names.arguments import AFTER_KERNEL_SIZE, KERAS_1_ALONE, KERNEL_SIDES, OF_SEQUENCES
from parallel_compat.names.members import LAYER, MODEL

# Arguments for which Keras 3 wants an int of Python.
_SIZES = {
    "keras.layers.Embedding": ("input_dim", "output_dim"),
    "keras.layers.Dense": ("units", "output_dim"),
    "keras.layers.RepeatVector": ("n",),
}
_QUOTED = re.compile(r"""\w*('''|\"\"\"|'|")(.*)\1""", re.DOTALL)
# What a scope of TensorFlow refuses; `%` may be a place for something else.
_FIRST_REFUSED, _REFUSED = re.compile("[^A-Za-z0-9.%{]"), re.compile("[^A-Za-z0-9_.>%{}-]")
# Methods of arrays that give a number, which is one of numpy.
_REDUCTIONS = frozenset({"max", "min", "sum", "prod", "amax", "argmax"})


def find(file: File) -> Findings:
    for target, call in file.calls_under("keras.layers.", "keras.Input", "keras.Model", "keras.Sequential"):
        of = "keras.layers.Input" if target == "keras.Input" else target
        name = target.rpartition(".")[2]
        handled: set[str] = set()
        for finding, names in (
            *_kernel(file, call, target, name),
            *_input_dim(file, call, target, name),
            *_input_length(file, call, target),
            *_batch_shape(file, call, name),
        ):
            handled |= names
            yield finding
        yield from argument_edits.rewrite(file, call, of, name, leave=frozenset(handled))
        yield from _numpy_sizes(file, call, target, name)
        if target in ("keras.Input", "keras.layers.Input"):
            yield from _both_shapes(file, call)
            yield from _one_size(file, call)
    yield from _weights(file)
    yield from _slashes(file)
    yield from _names_by_place(file)
    yield from _of_others(file)
    yield from _losses(file)


_NO_SLASH = "Keras 3 takes no `/` in the name of a layer."
_WITHOUT_SLASHES = '.replace("/", "_")'
_WITH_UNDERSCORES = (
    "is it one, and used elsewhere? Old weights are then loaded in the order of the layers, not by name."
)
_INPUT = "A model whose batches have one size begins with `Input(batch_shape=...)` today."


def _batch_shape(file: File, call: ast.Call, name: str) -> Iterator[tuple[Finding, set[str]]]:
    """`batch_input_shape` of the first layer of a `Sequential`: an `Input` before it."""
    given = calls.keyword(call, "batch_input_shape") or calls.keyword(call, "batch_size")
    edits = first_layers.with_input(file, call) if given is not None and name not in ("Input", "InputLayer") else None
    if given is not None and edits is not None:
        yield file.found(given, _INPUT, edits), {"batch_input_shape", "input_shape", "batch_size"}


def _of_others(file: File) -> Findings:
    """`batch_input_shape` of what this file does not tell, or of a custom layer, which Keras 3 does not take."""
    for call in file.tree.calls:
        given = calls.keyword(call, "batch_input_shape")
        target = file.names.target(call.func) or ""
        if given is None or target.startswith(("keras.", "parallel_compat.", "tensorflow.")):
            continue
        definition = file.kinds.definition(call.func)
        if isinstance(definition, ast.FunctionDef):
            continue  # an argument of its own
        is_layer = file.kinds.of(call) == LAYER
        edits = first_layers.with_input(file, call)
        message = "Layers of Keras 3 take no `batch_input_shape`: begin the model with `Input(batch_shape=...)`."
        yield file.found(given, _INPUT, edits, unsafe=not is_layer and "is this a layer?", otherwise=message)


def _both_shapes(file: File, call: ast.Call) -> Findings:
    """`Input(shape=, batch_shape=)`: Keras 2 took the shape that has the batch, Keras 3 takes one of them."""
    shape = calls.keyword(call, "shape")
    if shape is not None and calls.keyword(call, "batch_shape") is not None:
        message = "`Input` takes `shape` or `batch_shape`, and Keras 2 used the latter."
        yield file.found(shape, message, calls.remove(file, call, shape))


def _one_size(file: File, call: ast.Call) -> Findings:
    """`Input(10)`: tf.keras took the size of the one axis for the shape."""
    shape = calls.argument(call, "shape", 0)
    size = file.tree.resolved(shape)
    of_array = isinstance(size, ast.Subscript) and isinstance(size.value, ast.Attribute) and size.value.attr == "shape"
    is_axis = isinstance(size, ast.Subscript) and type(calls.constant(size.slice)) is int
    if shape is not None and (type(calls.constant(size)) is int or (of_array and is_axis)):
        yield file.found(shape, "Keras 3 takes a shape as a tuple.", file.around(shape, "(", ",)"), hint=not file.old)


def _numpy_sizes(file: File, call: ast.Call, target: str, name: str) -> Findings:
    """`Embedding(x.max() + 1, 8)`: Keras 3 takes no integer of numpy there."""
    for position, argument in enumerate(_SIZES.get(target, ())):
        value = calls.argument(call, argument, position)
        if value is not None and _is_of_numpy(file, value):
            message = f"`{argument}` of `{name}` is a numpy integer, which Keras 3 refuses."
            yield file.found(value, message, file.around(value, "int(", ")"))


def _is_of_numpy(file: File, node: ast.expr) -> bool:
    """Whether a number comes from `x.max()` or `np.prod(x)`, through arithmetic and names that are bound once."""
    if isinstance(node, ast.BinOp):
        return _is_of_numpy(file, node.left) or _is_of_numpy(file, node.right)
    if isinstance(node, ast.Name):
        value = file.tree.value_of(node)
        return isinstance(value, (ast.BinOp, ast.Call)) and _is_of_numpy(file, value)
    if not isinstance(node, ast.Call):
        return False
    of_array = isinstance(node.func, ast.Attribute) and node.func.attr in _REDUCTIONS
    return of_array or (file.names.path(node.func) or "").startswith("numpy.")


def _names_by_place(file: File) -> Findings:
    """`super().__init__("policy")` of a class of models: the name came first, Keras 3 takes it by name alone."""
    for call in file.method_calls.get("__init__", ()):
        class_ = file.tree.enclosing_class(call)
        if class_ is None or len(call.args) != 1 or call.keywords:
            continue
        of_super = isinstance(call.func, ast.Attribute) and isinstance(call.func.value, ast.Call)
        given = call.args[0]
        is_name = isinstance(calls.constant(given), str) or (isinstance(given, ast.Name) and given.id == "name")
        if of_super and is_name and MODEL in file.bases_of(class_):
            start = file.source.start(given)
            message = "The constructor of `Model` takes `name` only as a keyword."
            yield file.found(given, message, [Edit(start, start, "name=")])


def _slashes(file: File) -> Findings:
    """Keras 3 refuses a `/` in a name, which Keras 2 took: in layers, and in functions that pass names on to them."""
    for call in file.tree.calls:
        path = file.names.path(call.func) or ""
        of_layer = (file.names.target(call.func) or "").startswith("keras.layers.") or file.kinds.of(call) == LAYER
        of_layer = of_layer or is_call_of(call, "add_weight")
        given = calls.keyword(call, "name")
        if given is not None and not of_layer and _makes_a_model(file, call):
            yield from _name_of_model(file, given.value)
            continue
        value = given.value if given is not None and (of_layer or _may_pass_it_on(file, call, path)) else None
        if value is None and is_call_of(call, "get_layer") and call.args:
            value = call.args[0]
        edits = [] if value is None else [edit for part in _strings(value) for edit in _underscores(file, part)]
        if value is not None and edits:
            yield file.found(value, _NO_SLASH, edits, unsafe=_WITH_UNDERSCORES)
        elif value is not None and of_layer and any("/" in text for text in _texts_behind(file, value)):
            if file.source.segment(value).endswith(_WITHOUT_SLASHES):
                continue
            start, end = file.source.start(value), file.source.end(value)
            is_one = isinstance(value, ast.Name | ast.Attribute | ast.Subscript | ast.Call)
            edits = [Edit(start, start, "" if is_one else "("), Edit(end, end, ")"[is_one:] + _WITHOUT_SLASHES)]
            yield file.found(value, _NO_SLASH, edits, unsafe=_WITH_UNDERSCORES)


def _makes_a_model(file: File, call: ast.Call) -> bool:
    """Return whether it is `Model(...)`, `Sequential(...)` or `super().__init__(...)` of a class of models."""
    if is_call_of(call, "__init__"):
        class_ = file.tree.enclosing_class(call)
        return class_ is not None and file.kinds.of_class(class_) == MODEL
    return file.names.target(call.func) in ("keras.Model", "keras.Sequential")


def _name_of_model(file: File, node: ast.expr) -> Findings:
    """Keras 3 calls a model in a scope of TensorFlow with its name, which has no blanks, say."""
    edits = []
    for part in _strings(node):
        inside = _QUOTED.fullmatch(file.source.segment(part))
        if inside is not None and "\\" not in inside.group(2):
            start = file.source.start(part) + inside.start(2)
            for position, character in _outside_of_braces(inside.group(2)):
                first = part is node and position == 0
                if (_FIRST_REFUSED if first else _REFUSED).match(character):
                    edits.append(Edit(start + position, start + position + 1, "m_" if first else "_"))
    message = "Keras 3 takes letters, digits, `_`, `-` and `.` in a model's name."
    if edits:
        yield file.found(node, message, edits, unsafe="is it used elsewhere?")
    elif any(_FIRST_REFUSED.match(text) or _REFUSED.search(text) for text in _texts_behind(file, node)):
        yield file.attention(node, message)


def _texts_behind(file: File, node: ast.expr) -> Iterator[str]:
    """Yield the texts of which names, and functions of this file, in an expression are made."""
    for each in ast.walk(node):
        made: list[ast.expr | None] = []
        if isinstance(each, ast.Call):
            definition = file.kinds.definition(each.func)
            inside = ast.walk(definition) if isinstance(definition, ast.FunctionDef) else ()
            made = [one.value for one in inside if isinstance(one, ast.Return)]
        for binding in file.tree.bindings(each):
            loop = file.tree.parents.get(binding.node)
            made.append(loop.iter if isinstance(loop, ast.For) else binding.value)
        parts = (part for value in made if value is not None for part in ast.walk(value))
        yield from (text for part in parts if (text := text_of(part)) is not None)


def _may_pass_it_on(file: File, call: ast.Call, path: str) -> bool:
    """Whether a call is one of the project's own, and the name not that of a file."""
    given = calls.keyword(call, "name")
    text = file.source.segment(given.value) if given is not None else ""
    own = isinstance(file.kinds.definition(call.func), ast.FunctionDef | ast.ClassDef) or (
        file.names.local_path(call.func) is not None and path.partition(".")[0] not in LIBRARIES
    )
    return own and not re.search(r"\.\w+['\"]$", text)


def _strings(node: ast.expr) -> Iterator[ast.expr]:
    """Yield the strings that an expression is made of; calls in it are expressions of their own."""
    if isinstance(node, ast.JoinedStr) or text_of(node) is not None:
        yield node
    elif isinstance(node, ast.BinOp):
        yield from _strings(node.left)
        yield from _strings(node.right)
    elif isinstance(node, ast.IfExp):
        yield from _strings(node.body)
        yield from _strings(node.orelse)
    elif is_call_of(node, "format", "join"):
        yield from _strings(calls.receiver(node))


def _underscores(file: File, node: ast.expr) -> Iterator[Edit]:
    """Yield an edit for each `/` of a string that is none of an expression in it."""
    start = file.source.start(node)
    for position, character in _outside_of_braces(file.source.segment(node)):
        if character == "/":
            yield Edit(start + position, start + position + 1, "_")


def _outside_of_braces(text: str) -> Iterator[tuple[int, str]]:
    depth = 0
    for position, character in enumerate(text):
        depth += (character == "{") - (character == "}")
        if depth == 0:
            yield position, character


def _weights(file: File) -> Findings:
    """`self.add_weight("kernel", shape=...)`: the name came first, today the shape does."""
    for method in ("add_weight", "add_variable"):  # the second is tf.keras's other name of the first
        for call in file.method_calls.get(method, ()):
            kind = file.kinds.of(calls.receiver(call))
            if kind not in (None, LAYER, MODEL):
                continue
            if method == "add_variable" and kind == LAYER:
                end = file.source.end(call.func)
                message = "`add_variable` of a layer is `add_weight`: today's has other arguments."
                yield file.found(call.func, message, [Edit(end - len(method), end, "add_weight")])
            by_place = bool(call.args) and any(True for _ in _strings(call.args[0]))
            rows = argument_edits.rows_of(f"{LAYER}.add_weight")
            if by_place or any(each.arg == "shape" or each.arg in rows for each in call.keywords):
                yield from argument_edits.rewrite(file, call, f"{LAYER}.add_weight", method)


def _losses(file: File) -> Findings:
    """`self.add_loss(loss, inputs=x)`: Keras 3 takes the loss alone."""
    for call in file.method_calls.get("add_loss", ()):
        kind = file.kinds.of(calls.receiver(call))
        if kind not in (None, LAYER, MODEL) or calls.has_star(call):
            continue
        inputs = calls.keyword(call, "inputs") or (call.args[1] if len(call.args) > 1 else None)
        losses = calls.keyword(call, "losses")
        unsafe = kind is None and "is it a layer?"
        if inputs is not None:
            message = "`add_loss` takes only the loss, which applies to the call that adds it."
            yield file.found(inputs, message, calls.remove(file, call, inputs), unsafe=unsafe)
        if losses is not None:
            message = "`losses` of `add_loss` is now `loss`."
            yield file.found(losses, message, [calls.rename(file, losses, "loss")], unsafe=unsafe)


def _kernel(file: File, call: ast.Call, target: str, name: str) -> Iterator[tuple[Finding, set[str]]]:
    sides = KERNEL_SIDES.get(target)
    if sides is None or calls.has_star(call):
        return
    count = len(sides)
    given = [calls.keyword(call, side) for side in sides]
    if all(given) and not any(isinstance(keyword.value, ast.Starred) for keyword in given if keyword):
        keywords = [keyword for keyword in given if keyword is not None]
        first = min(keywords, key=file.source.start)
        values = ", ".join(file.source.segment(keyword.value) for keyword in keywords)
        edits: list[AnyEdit] = [
            Edit(file.source.start(first), file.source.end(first), f"kernel_size=({values})"),
            *calls.remove(file, call, *(keyword for keyword in keywords if keyword is not first)),
        ]
        yield file.found(first, f"The sides of the kernel of `{name}` are now `kernel_size`.", edits), set(sides)
        return
    path = file.names.path(call.func) or ""
    if len(call.args) != count + 1 or not path.startswith("keras."):
        return
    given_names = {keyword.arg for keyword in call.keywords}
    if given_names & AFTER_KERNEL_SIZE:
        return  # Keras 2 refused the old positions together with these
    literal = all(isinstance(calls.constant(argument), int) for argument in call.args[1:])
    certain = literal and (bool(given_names & KERAS_1_ALONE) or "Convolution" in path)
    start = calls.outer_start(file, call.args[1])
    end = calls.outer_end(file, call.args[-1])
    message = f"The sides of the kernel of `{name}` are now one argument."
    if not certain:
        message += " (If the third argument was meant as `strides`, the code is newer: leave it.)"
    edits = [Edit(start, start, "("), Edit(end, end, ")")]
    yield file.found(call.args[1], message, edits, unsafe=not certain, hint=not certain), set()


def _input_dim(file: File, call: ast.Call, target: str, name: str) -> Iterator[tuple[Finding, set[str]]]:
    """Recurrent layers took `input_dim` and `input_length` for the two parts of the input shape."""
    if target not in OF_SEQUENCES:
        return
    dim, length = calls.keyword(call, "input_dim"), calls.keyword(call, "input_length")
    if dim is None:
        return
    steps = file.source.segment(length.value) if length is not None else "None"
    text = f"input_shape=({steps}, {file.source.segment(dim.value)})"
    edits: list[AnyEdit] = [Edit(file.source.start(dim), file.source.end(dim), text)]
    if length is not None:
        edits += calls.remove(file, call, length)
    message = f"`input_dim` of `{name}` is now part of `input_shape`."
    yield file.found(dim, message, edits), {"input_dim", "input_length"}


def _input_length(file: File, call: ast.Call, target: str) -> Iterator[tuple[Finding, set[str]]]:
    """`input_length` of an Embedding was the shape of its input, of which a `Sequential` was built."""
    length = calls.keyword(call, "input_length")
    if target != "keras.layers.Embedding" or length is None:
        return
    parent = file.tree.parents.get(call)
    applied = isinstance(parent, ast.Call) and parent.func is call
    if applied or any(calls.keyword(call, name) for name in ("input_shape", "batch_input_shape")):
        message = "The length comes from the input."
        edits: list[AnyEdit] = [*calls.remove(file, call, length)]
    else:
        text = file.source.segment(length.value)
        shape = text if isinstance(length.value, (ast.Tuple, ast.List)) else f"({text},)"
        message = "`input_length` is now the `input_shape` that a `Sequential` is built with."
        edits = [Edit(file.source.start(length), file.source.end(length), f"input_shape={shape}")]
    yield file.found(length, message, edits), {"input_length"}
