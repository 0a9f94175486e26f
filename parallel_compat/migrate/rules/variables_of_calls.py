"""`tf.Variable(0.)` in a layer's `call` is made once; in a loss it is reported, and so is a layer with variables there.

In Keras 2 the graph created it once. Keras 3 traces such functions several times, and TensorFlow refuses a variable
that is created in each trace. The layer keeps a variable of numbers alone; another one is reported: make it a weight
of the layer (`self.add_weight` in `build`), or create it outside.
`Dropout(rate)(x)`, whose variable is the state of its random numbers in Keras 3, becomes `K.dropout` while the model
trains.

```python
import tensorflow as tf
from keras.layers import Layer
class Seen(Layer):
    def call(self, x):
        seen = tf.Variable(tf.zeros(self.size))
        seen.assign_add(x)
        return seen
```
"""

from __future__ import annotations

import ast

from parallel_compat.migrate import calls
from parallel_compat.migrate.edits import AnyEdit
from parallel_compat.migrate.file import File, Findings
from parallel_compat.migrate.scopes import FunctionNode
from parallel_compat.names.members import MODEL

_MAKING = ("tensorflow.Variable", "tensorflow.compat.v1.Variable")
_KEPT = "parallel_compat.legacy.variables.kept"
_OF_LOSSES = ["y_true", "y_pred"]
_BACKEND = "parallel_compat.legacy.backend"
_DROPOUT = "keras.layers.Dropout"
_WITH_VARIABLES = frozenset(
    f"keras.layers.{name}"
    for name in (
        *("Dropout", "SpatialDropout1D", "SpatialDropout2D", "SpatialDropout3D", "GaussianDropout", "GaussianNoise"),
        *("AlphaDropout", "Dense", "Embedding", "BatchNormalization", "LSTM", "GRU", "SimpleRNN", "PReLU"),
        *("Conv1D", "Conv2D", "Conv3D", "Conv2DTranspose", "DepthwiseConv2D", "SeparableConv2D"),
    )
)


def find(file: File) -> Findings:
    """Find such variables, in code of graphs, and such layers."""
    yield from _layers(file)
    if file.era is None or not file.era.has_graphs:
        return
    for call in file.tree.calls:
        if file.names.path(call.func) not in _MAKING or _is_kept(file, call):
            continue
        functions = [above for above in file.tree.ancestors(call) if isinstance(above, ast.FunctionDef)]
        if edits := _kept(file, call, functions):
            message = "A variable of `call` is made once, and kept by the layer."
            unsafe = "a layer that is called twice had two of them."
            yield file.found(call, message, edits, unsafe=unsafe, hint=not file.old)
        elif any(_is_traced(file, function) for function in functions):
            message = (
                "A variable is made in code that Keras 3 traces again and again. Make it in `build`, "
                "by `self.add_weight`, or outside the loss."
            )
            yield file.attention(call, message, hint=not file.old)


def _is_kept(file: File, call: ast.Call) -> bool:
    """Return whether a variable is made in the function of `kept`."""
    around = file.tree.parents.get(file.tree.parents[call])
    return isinstance(around, ast.Call) and file.names.path(around.func) == _KEPT


def _kept(file: File, call: ast.Call, functions: list[ast.FunctionDef]) -> list[AnyEdit]:
    """Return the edits of `seen = tf.Variable(0.)` in a layer's `call`, of numbers alone."""
    statement = file.tree.parents.get(call)
    if not isinstance(statement, ast.Assign) or len(statement.targets) != 1 or not functions:
        return []
    name, method = statement.targets[0], functions[0]
    given = [*call.args, *(each.value for each in call.keywords)]
    known = all(isinstance(each, ast.Constant) or file.names.path(each) is not None for each in given)
    if not isinstance(name, ast.Name) or not known or not _is_call(file, method):
        return []
    spelled = file.reference(_KEPT, call)
    if spelled is None or file.tree.parents[method] is not file.tree.enclosing_class(call):
        return []
    text = f'{spelled[0]}({method.args.args[0].arg}, "{name.id}", lambda: {file.source.segment(call)})'
    return [file.replace(call, text), *spelled[1]]


def _layers(file: File) -> Findings:
    for target in _WITH_VARIABLES & file.calls_by_target.keys():
        for call in file.calls_by_target[target]:
            method = file.tree.enclosing_function(call)
            if method is None or not _is_call(file, method):  # losses have a rule of their own
                continue
            message = (
                f"A `{target.rpartition('.')[2]}` is made in each call, with variables that Keras 3 refuses there."
            )
            use = file.tree.parents.get(call)
            edits = _dropped(file, call, use) if target == _DROPOUT and isinstance(use, ast.Call) else []
            otherwise = f"{message} Make it in `__init__`."
            yield file.found(call, message, edits or None, hint=not file.old, otherwise=otherwise)


def _dropped(file: File, dropout: ast.Call, use: ast.Call) -> list[AnyEdit]:
    """Return the edits that make `K.in_train_phase(K.dropout(x, rate), x)` of `Dropout(rate)(x)`."""
    rate = calls.argument(dropout, "rate", 0)
    if use.func is not dropout or len(use.args) != 1 or use.keywords or not isinstance(use.args[0], ast.Name):
        return []
    spelled = _backend(file, use)
    if rate is None or len(dropout.args) + len(dropout.keywords) > 1 or spelled is None:
        return []
    x, (backend, imports) = use.args[0].id, spelled
    text = f"{backend}.in_train_phase({backend}.dropout({x}, {file.source.segment(rate)}), {x})"
    return [file.replace(use, text), *imports]


def _backend(file: File, at: ast.expr) -> tuple[str, tuple[AnyEdit, ...]] | None:
    """Return the name of the backend's module here, and the edits that import it."""
    for name, bindings in file.tree.root.bindings.items():
        paths = {file.names.path_of_binding(binding) for binding in bindings}
        if paths <= {"keras.backend", "tensorflow.keras.backend"} and not file.shadows(name, bindings[0], at):
            return name, ()
    spelled = file.reference(f"{_BACKEND}.in_train_phase", at)
    return None if spelled is None else (spelled[0].removesuffix(".in_train_phase"), spelled[1])


def _is_traced(file: File, function: FunctionNode) -> bool:
    return [each.arg for each in function.args.args][-2:] == _OF_LOSSES or _is_call(file, function)


def _is_call(file: File, function: FunctionNode) -> bool:
    class_ = file.tree.parents[function]
    if not isinstance(class_, ast.ClassDef) or getattr(function, "name", "") != "call":
        return False
    layers = ("keras.layers.", "parallel_compat.legacy.layers.")
    return any(base.startswith(layers) or base == MODEL for base in file.bases_of(class_))
