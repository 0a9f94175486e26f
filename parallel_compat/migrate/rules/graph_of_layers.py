"""Code that relies on the graph of Keras 2 is reported, or gets what it reads as an input.

In Keras 2 the graph was built once. So a loss or a Lambda layer could read a tensor of the surrounding model (the loss
of a variational autoencoder reads `z_mean`), a layer could be called on tensors and numbers together, and
`compute_mask` got the masks of all inputs. Keras 3 calls these functions again in each pass, when the symbolic tensors
have no values.

```python
import keras
from keras.layers import Dense, Input
from keras.models import Model

x = Input((8,))
mean = Dense(2)(x)
model = Model(x, Dense(8)(mean))

def loss(y_true, y_pred):
    return keras.ops.square(y_true - y_pred) + keras.ops.square(mean)

model.compile('sgd', loss)
```
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from parallel_compat.migrate import calls
from parallel_compat.migrate.dotted_names import is_call_by_name, is_of_self, is_self
from parallel_compat.migrate.edits import Edit
from parallel_compat.migrate.file import File, Findings
from parallel_compat.migrate.literals import parts_of
from parallel_compat.migrate.scopes import methods_of
from parallel_compat.names.members import LAYER, MODEL, TENSOR

_FUNCTIONS = (ast.FunctionDef, ast.Lambda)
# What says whether a layer trains.
_MODES = ("training", "is_training", "train")
# Lists that Keras 3 makes anew each time, and what it meant to change them.
_NEW_WEIGHTS = "changed what is trained; in Keras 3 it is a new list each time. Make weights by `self.add_weight`."
_NEW_LISTS = {
    "layers": "changed a model's layers; in Keras 3 it is a new list each time.",
    "losses": "changed what is trained; in Keras 3 it is a new list each time. Call `self.add_loss` in `call`.",
    **{f"{private}{kind}trainable_weights": _NEW_WEIGHTS for private in ("", "_") for kind in ("", "non_")},
}
# Functions that give symbolic tensors for symbolic tensors.
_COMPUTING = re.compile(
    r"(?:tensorflow|keras\.(?:backend|ops)|parallel_compat\.legacy\.backend)\."
    r"(?!.*\b(?:function|int_shape|ndim|dtype|eval|get_value|batch_get_value|count_params|is_\w+)$)"
)
_COMPILED = ("loss", "metrics", "weighted_metrics")
_OF_LAYERS = ("input", "inputs", "output", "outputs")


def find(file: File) -> Findings:
    for call in file.calls_by_target.get("keras.layers.Lambda", ()):
        yield from _with_inputs(file, call)
    for node, what in (*_of_lambda_layers(file), *_compiled(file), *_returned(file)):
        captured = _captured(file, node)
        if captured is not None:
            message = f"{what} reads `{captured}`, a symbolic tensor, which has no values when it is called."
            yield file.attention(node, message)
    for class_ in file.classes_of(LAYER, MODEL):
        if file.kinds.of_class(class_) == LAYER:
            yield from _masks_of_inputs(file, class_)
            method = methods_of(class_).get("call")
            if method is not None and (captured := _read(file, method, of_self=False)) is not None:
                message = f"`call` reads `{captured}`, a symbolic tensor, which has no values: pass it as an input."
                yield file.attention(method, message)
            yield from _applied_by_itself(file, class_)
        yield from _by_position(file, class_)
    yield from _changed_lists(file)
    for call in file.tree.calls:
        if _reads_a_checkpoint(file, call):
            message = "tf.keras wrote weights as TensorFlow checkpoints, and this reads or looks for one."
            yield file.attention(call, message, hint=not file.old)
        yield from _mode_by_position(file, call)
        if (tensor := _with_values(file, call)) is not None:
            message = "A model of Keras 3 begins with `Input(shape)`: call the model on tensors that have values."
            yield file.attention(tensor, message)
        number = _number_among_inputs(file, call)
        if number is not None:
            message = "A layer or model is called on tensors and numbers together, which Keras 3 refuses."
            yield file.attention(number, message, hint=True)


def _reads_a_checkpoint(file: File, call: ast.Call) -> bool:
    """Return whether a call reads a checkpoint of TensorFlow, in a file that has weights of Keras written or read."""
    name = (file.names.path(call.func) or "").removeprefix("tensorflow.train.")
    if name == "latest_checkpoint":
        return "load_weights" in file.source.text
    writes = "save_weights" in file.source.text or "ModelCheckpoint" in file.source.text
    return writes and name in ("list_variables", "load_variable", "load_checkpoint")


def _changed_lists(file: File) -> Findings:
    """`model.layers.pop()`, `self.trainable_weights.append(w)`."""
    for method in ("append", "extend", "insert", "pop", "remove", "clear"):
        for call in file.method_calls.get(method, ()):
            of = calls.receiver(call)
            if not isinstance(of, ast.Attribute) or of.attr not in _NEW_LISTS:
                continue
            kind = file.kinds.of(of.value)
            is_telling = of.attr != "losses" and (of.attr != "layers" or method == "pop") and not is_self(of.value)
            if kind in (LAYER, MODEL) or (kind is None and is_telling):
                message = f"`{of.attr}.{method}(...)` {_NEW_LISTS[of.attr]}"
                yield file.attention(call, message, hint=kind is None)


def _with_values(file: File, call: ast.Call) -> ast.expr | None:
    """Return the tensor that a model begins with, where it is one with values: `Input(tensor=K.variable(image))`."""
    target = file.names.target(call.func) or ""
    if not target.startswith("keras.applications.") and target not in ("keras.Input", "keras.layers.Input"):
        return None
    tensor = calls.argument(call, "tensor") or calls.argument(call, "input_tensor")
    made = file.tree.resolved(tensor) if tensor is not None else None
    path = file.names.target(made.func) if isinstance(made, ast.Call) else None
    is_value = (path or "").startswith(("keras.backend.", "parallel_compat.legacy.backend.", "tensorflow."))
    return tensor if is_value and file.kinds.of(made or call) != TENSOR else None


def _of_lambda_layers(file: File) -> Iterator[tuple[ast.expr, str]]:
    for call in file.calls_by_target.get("keras.layers.Lambda", ()):
        function = calls.argument(call, "function", 0)
        if function is not None and not _inputs(file, call):
            yield function, "The function of a Lambda layer"


def _with_inputs(file: File, call: ast.Call) -> Findings:
    """`Lambda(lambda a: a * z)(y)` with a symbolic tensor `z` becomes `Lambda(lambda a: a[0] * a[1])([y, z])`."""
    if not (read := _inputs(file, call)):
        return
    function, applied = call.args[0], file.tree.parents[call]
    assert isinstance(function, ast.Lambda)
    assert isinstance(applied, ast.Call)
    given, argument = applied.args[0], function.args.args[0].arg
    count = len(given.elts) if isinstance(given, ast.List) else 0
    names = list(dict.fromkeys(name.id for name in read))
    places = {name: f"{argument}[{(count or 1) + i}]" for i, name in enumerate(names)}
    if not count:
        places[argument] = f"{argument}[0]"
    loads = (each for each in ast.walk(function.body) if isinstance(each, ast.Name))
    edits = [file.replace(each, places[each.id]) for each in loads if each.id in places]
    inputs = [file.source.segment(each) for each in (given.elts if isinstance(given, ast.List) else [given])]
    message = f"The function of a Lambda layer reads the symbolic tensor `{names[0]}`, which becomes an input of it."
    yield file.found(call, message, [*edits, file.replace(given, f"[{', '.join([*inputs, *names])}]")])


def _inputs(file: File, call: ast.Call) -> list[ast.Name]:
    """Return the symbolic tensors that the function of a Lambda layer reads by names, if they can be its inputs."""
    function, applied = calls.argument(call, "function", 0), file.tree.parents.get(call)
    if not isinstance(function, ast.Lambda) or not isinstance(applied, ast.Call) or applied.func is not call:
        return []
    if len(call.args) != 1 or any(each.arg not in ("name", "output_shape") for each in call.keywords):
        return []
    if len(function.args.args) != 1 or function.args.defaults or len(applied.args) != 1 or applied.keywords:
        return []
    inside = list(ast.walk(function.body))
    if any(isinstance(each, (*_FUNCTIONS, ast.ListComp, ast.GeneratorExp, ast.DictComp)) for each in inside):
        return []
    argument, given = function.args.args[0].arg, applied.args[0]
    names = [each for each in inside if isinstance(each, ast.Name)]
    whole = [each for each in names if each.id == argument and not _is_part(file, each)]
    if isinstance(given, ast.List) == bool(whole) or (
        not isinstance(given, ast.List) and not _is_computed(file, given)
    ):
        return []
    return [each for each in names if each.id != argument and _is_computed(file, each)]


def _is_part(file: File, name: ast.Name) -> bool:
    """Return whether a name stands in `x[1]`."""
    above = file.tree.parents.get(name)
    return isinstance(above, ast.Subscript) and above.value is name and isinstance(calls.constant(above.slice), int)


def _compiled(file: File) -> Iterator[tuple[ast.expr, str]]:
    for call in file.method_calls.get("compile", ()):
        given = [*call.args[1:3], *(each.value for each in call.keywords if each.arg in _COMPILED)]
        for value in given:
            for leaf in _leaves(value):
                yield leaf, "A loss or metric"


def _returned(file: File) -> Iterator[tuple[ast.expr, str]]:
    """Yield functions of two values that a function defines and returns: losses, compiled elsewhere."""
    for function in file.tree.functions:
        for each in ast.walk(function):
            if (
                isinstance(each, ast.Return)
                and each.value is not None
                and file.tree.enclosing_function(each) is function
            ):
                for leaf in _leaves(each.value):
                    made = file.kinds.definition(leaf) if isinstance(leaf, ast.Name) else None
                    if isinstance(made, ast.FunctionDef) and len(made.args.args) == 2 and not made.args.defaults:
                        yield leaf, "A function that is returned, as a loss is,"


def _leaves(value: ast.expr) -> Iterator[ast.expr]:
    if isinstance(value, ast.List | ast.Tuple | ast.Dict):
        for each in parts_of(value):
            yield from _leaves(each)
    elif not isinstance(value, ast.Constant):
        yield value


def _captured(file: File, node: ast.expr, depth: int = 3) -> str | None:
    """Return the name of a tensor between layers that a function reads, or one that it calls, or that makes it."""
    if isinstance(node, ast.Call):  # a function that makes the loss: `loss_of(mean)`
        given = [*node.args, *(each.value for each in node.keywords)]
        tensors = [each for each in given if file.kinds.of(each) == TENSOR]
        return file.source.segment(tensors[0]) if tensors else None
    function = node if isinstance(node, ast.Lambda) else file.kinds.function(node) or file.kinds.definition(node)
    return _read(file, function, depth) if isinstance(function, _FUNCTIONS) else None


def _read(file: File, function: ast.FunctionDef | ast.Lambda, depth: int = 3, *, of_self: bool = True) -> str | None:
    """Return the name of such a tensor that a function reads, also as an attribute of its object if `of_self`."""
    scopes = set(_scopes(function))
    for each in ast.walk(function):
        name = each.value if isinstance(each, ast.Attribute) and each.attr in _OF_LAYERS else each
        if isinstance(each, ast.Call) and depth and file.kinds.function(each.func) not in (None, function):
            captured = _captured(file, each.func, depth - 1)
            if captured is not None:
                return captured
        if of_self and is_of_self(each) and isinstance(each.ctx, ast.Load) and _is_computed(file, each):
            return ast.unparse(each)
        if isinstance(name, ast.Name) and isinstance(name.ctx, ast.Load) and name in file.tree.scopes:
            bindings = file.tree.scopes[name].find(name.id)
            inside = any(binding.scope.node in scopes for binding in bindings)
            if not bindings or inside or file.names.path(name) is not None:
                continue
            if _is_computed(file, name) if name is each else file.kinds.of(name) in (LAYER, MODEL, None):
                return ast.unparse(each)
    return None


def _is_computed(file: File, node: ast.AST | None, depth: int = 8) -> bool:
    """Return whether a value is a symbolic tensor: of a layer, or computed from one by functions of the backend."""
    if not isinstance(node, ast.expr) or not depth:
        return False
    if file.kinds.of(node) == TENSOR:
        return True
    if isinstance(node, ast.Name) and file.is_argument(node):
        return _gets_layers(file, node)
    if isinstance(node, ast.Name) or is_of_self(node):
        value = file.kinds.value(node)
        return value is not node and _is_computed(file, value, depth - 1)
    parts: list[ast.expr] = []
    if isinstance(node, ast.Call):
        path = file.names.path(node.func) or ""
        parts = node.args if _COMPUTING.match(path) else []
    elif isinstance(node, ast.BinOp | ast.UnaryOp | ast.Compare):
        parts = [each for each in ast.iter_child_nodes(node) if isinstance(each, ast.expr)]
    elif isinstance(node, ast.List | ast.Tuple):
        parts = node.elts
    elif isinstance(node, ast.Subscript):
        parts = [node.value]
    return any(_is_computed(file, each, depth - 1) for each in parts)


def _gets_layers(file: File, name: ast.Name) -> bool:
    """Return whether a function calls a layer on its argument."""
    function = file.tree.bindings(name)[0].scope.node
    for call in ast.walk(function):
        if isinstance(call, ast.Call) and file.kinds.of(call.func) == LAYER:
            given = [each for argument in call.args for each in (argument, *parts_of(argument))]
            if any(isinstance(each, ast.Name) and each.id == name.id for each in given):
                return True
    return False


def _scopes(function: ast.AST) -> Iterator[ast.AST]:
    return (each for each in ast.walk(function) if isinstance(each, (*_FUNCTIONS, ast.ListComp, ast.GeneratorExp)))


def _masks_of_inputs(file: File, class_: ast.ClassDef) -> Findings:
    """`compute_mask(self, inputs, mask)` that takes the mask of one of several inputs."""
    method = methods_of(class_).get("compute_mask")
    mask = method.args.args[2].arg if method is not None and len(method.args.args) > 2 else None
    for each in ast.walk(method) if method is not None else ():
        if isinstance(each, ast.Subscript) and isinstance(each.value, ast.Name) and each.value.id == mask:
            message = "`compute_mask` reads one of the masks of several inputs; in Keras 3 it may be None."
            yield file.attention(each, message)
            return


def _applied_by_itself(file: File, class_: ast.ClassDef) -> Findings:
    """`__call__` without `call`: it applies layers that it makes, which were the model's."""
    methods = methods_of(class_)
    if "__call__" in methods and "call" not in methods:
        message = (
            f"`{class_.name}` is a layer that applies others in `__call__`: in a `Sequential` model these were "
            "trained; Keras 3 ignores them."
        )
        yield file.attention(methods["__call__"], message)


def _by_position(file: File, class_: ast.ClassDef) -> Findings:
    """`self.block(x, training, mask)` in `call`."""
    method = methods_of(class_).get("call")
    for each in ast.walk(method) if method is not None else ():
        if not isinstance(each, ast.Call) or file.names.path(each.func) is not None:
            continue
        of_self = isinstance(each.func, ast.Attribute) and isinstance(each.func.value, ast.Name)
        given = [arg for arg in each.args[1:] if isinstance(arg, ast.Name) and arg.id in _MODES]
        if _mode_of_known(file, each) is not None:
            continue
        if given and (of_self or isinstance(each.func, ast.Name | ast.Subscript)):
            yield file.attention(
                each, "A layer gets an argument that is not a tensor by position; Keras 3 wants it by name."
            )
            return


def _mode_by_position(file: File, call: ast.Call) -> Findings:
    """`net(x, True)`, `discriminator(images, is_training)`: the second argument of a model is named."""
    name = _mode_of_known(file, call)
    if name is not None:
        start = file.source.start(call.args[1])
        message = f"Keras 3 takes `{name}` of a layer only by name."
        yield file.found(call.args[1], message, [Edit(start, start, f"{name}=")])
    elif _may_be_a_mode(file, call):
        message = f"If `{file.source.segment(call.func)}` is a model: Keras 3 takes only tensors by position."
        yield file.attention(call.args[1], message, hint=True)


def _may_be_a_mode(file: File, call: ast.Call) -> bool:
    """Return whether an argument of a function is called on a value and a name such as `is_training`."""
    if len(call.args) != 2 or not isinstance(call.func, ast.Name) or not isinstance(call.args[1], ast.Name):
        return False
    return file.is_argument(call.func) and _is_mode(call.args[1])


def _mode_of_known(file: File, call: ast.Call) -> str | None:
    """Return the name of the second argument of a layer or model that a call hands a mode by position."""
    if len(call.args) != 2 or not _is_mode(call.args[1]) or file.kinds.of(call.func) not in (LAYER, MODEL):
        return None
    class_ = file.kinds.class_of(call.func)
    method = methods_of(class_).get("call") if class_ is not None else None
    if method is None:
        return "training"
    return method.args.args[2].arg if len(method.args.args) > 2 else None


def _is_mode(node: ast.expr) -> bool:
    return isinstance(calls.constant(node), bool) or (isinstance(node, ast.Name) and "train" in node.id.lower())


def _number_among_inputs(file: File, call: ast.Call) -> ast.expr | None:
    """Return the number in `net([feature, i]) for i, feature in enumerate(features)`."""
    if len(call.args) != 1 or call.keywords or not isinstance(call.args[0], ast.List):
        return None
    if not isinstance(call.func, ast.Name) or file.names.path(call.func) is not None:
        return None
    if not file.tree.scopes[call.func].find(call.func.id):
        return None  # `print([feature, i])`
    for each in call.args[0].elts:
        bindings = file.tree.bindings(each)
        if len(bindings) == 1 and _is_counter(file, bindings[0].node):
            return each
    return None


def _is_counter(file: File, node: ast.AST) -> bool:
    above = file.tree.parents.get(node)
    if isinstance(above, ast.Tuple) and above.elts[0] is node:
        loop, name = file.tree.parents.get(above), "enumerate"
    else:
        loop, name = above, "range"
    return isinstance(loop, ast.For | ast.comprehension) and is_call_by_name(loop.iter, name)
