"""`load_model` of an `.h5` file or a folder: Keras 3 fails on compiled models of Keras 2 (`loss="mse"`) and old layers.

`parallel_compat.legacy.models` has a `load_model` that reads these, and a `model_from_json` for the JSON of an
old `to_json`. Its `clone_model` returns a model that is not compiled, as Keras 2's did. Today the file of a parallel
model holds the single model. Code that looks for it in `layers[-2]` of the loaded model is reported.

```diff
-from keras.models import load_model
+from parallel_compat.legacy.models import load_model
 model = load_model('model.h5')
```
"""

from __future__ import annotations

import ast
import re

from parallel_compat.migrate import calls
from parallel_compat.migrate.file import File, Findings
from parallel_compat.migrate.findings import Finding
from parallel_compat.migrate.literals import tail

_TARGET = "parallel_compat.legacy.models.load_model"
# Other functions of `keras.models` -> the one of this package, what is said where it is written, and where it is not.
_JSON, _CLONE = "parallel_compat.legacy.models.model_from_json", "parallel_compat.legacy.models.clone_model"
_PROVIDED = {
    "model_from_json": (
        _JSON,
        f"`model_from_json` of what Keras 2 wrote is provided by `{_JSON}`.",
        f"If Keras 2 may have written this, read it with `{_JSON}`.",
    ),
    "clone_model": (
        _CLONE,
        f"`clone_model` returned a model that is not compiled, as `{_CLONE}` does.",
        f"Keras 3 compiles a compiled model's clone, which needs registered functions: `{_CLONE}`.",
    ),
}
_TEMPLATE_OF = "parallel_compat.template_of"
# What models alone have: `loaded.layers[-2].predict(x)`.
_OF_MODELS = frozenset(
    ("compile", "evaluate", "fit", "layers", "load_weights", "predict", "save", "save_weights", "summary", "to_json")
)
# Where it stands in a parallel model with one input.
_BEHIND_TOWERS = re.compile(r"(?:\w+\.)*\w*gpus?\w* \+ 1", re.IGNORECASE)


def find(file: File) -> Findings:
    for call in file.calls_by_target.get("keras.models.load_model", ()):
        ending = tail(calls.argument(call, "filepath", 0))
        if (ending or "").endswith(".keras") or calls.keyword(call, "safe_mode") is not None:
            continue
        if ending is None and not file.old:
            yield _in_old_projects(file, call, _TARGET, f"If this may be a file of Keras 2, load it with `{_TARGET}`.")
        else:
            message = f"`load_model` of a file of Keras 2 is provided by `{_TARGET}`."
            yield file.redirected(call.func, _TARGET, message, f"Use `{_TARGET}`, which reads files of Keras 2.")
    for name, (target, message, question) in _PROVIDED.items():
        for call in file.calls_by_target.get(f"keras.models.{name}", ()):
            if file.old and file.redirect(call.func, target):
                yield file.found(call, message)
            else:
                yield _in_old_projects(file, call, target, question)
    yield from _single_models(file)


def _in_old_projects(file: File, call: ast.Call, target: str, message: str) -> Finding:
    """Have a call of a file without old names mean `target`, if another file of its project has old names."""
    return file.found(call, message, None if file.old else file.replaced_by(target, call.func), hint=True)


def _single_models(file: File) -> Findings:
    """Find what takes the single model out of a loaded parallel model: the file holds the single model alone."""
    has_parallel_models = "multi_gpu_model" in file.source.text or "parallel_compat.parallelize" in file.calls_by_target
    message = "`load_model` returns the single model of a parallel model's file: "
    for node in file.tree.subscripts:
        layers = node.value
        if not isinstance(layers, ast.Attribute) or layers.attr != "layers":
            continue
        user = file.tree.parents.get(node)
        is_model = isinstance(user, ast.Attribute) and user.attr in _OF_MODELS
        if is_model and _BEHIND_TOWERS.fullmatch(ast.unparse(node.slice)):
            yield from _behind_towers(file, node, layers.value)
        if ast.unparse(node.slice) != "-2":
            continue
        if not _is_loaded(file, layers.value) or not (has_parallel_models or is_model):
            continue
        edits = file.replaced_by_call(_TEMPLATE_OF, node, layers.value)
        was, unsafe = f"{message}`layers[-2]` was that model", "is it the file of a parallel model?"
        as_now = f"{was}, as `{_TEMPLATE_OF}` is."
        yield file.found(node, as_now, edits, unsafe=unsafe, hint=not has_parallel_models, otherwise=f"{was}.")
    for call in file.method_calls.get("get_layer", ()) if has_parallel_models else ():
        if _is_loaded(file, calls.receiver(call)):
            yield file.attention(call, f"{message}where `get_layer` asks for that model, write `{_TEMPLATE_OF}(...)`.")


def _behind_towers(file: File, node: ast.Subscript, model: ast.expr) -> Findings:
    """`model.layers[gpus + 1].save(path)`: behind the input and a slice for each device stood the single model."""
    message = f"`{file.source.segment(node)}` of a parallel model was the single model, as `{_TEMPLATE_OF}` is."
    edits = file.replaced_by_call(_TEMPLATE_OF, node, model)
    hint = edits is not None and not file.old
    yield file.found(node, message, edits, unsafe="is it a parallel model?", hint=hint)


def _is_loaded(file: File, node: ast.expr) -> bool:
    """Return whether a value comes from `load_model`, at once or by a name that is bound once."""
    return file.made_by(file.tree.resolved(node)) in ("keras.models.load_model", _TARGET)
