"""A class that wraps the parallel model and sends `save` and `load` to the template becomes `multi_gpu_model`.

In Keras 3 `self.__dict__.update(parallel.__dict__)` with a `__getattribute__` recurses endlessly. The model that
`parallel_compat.multi_gpu_model` returns already saves and loads the template.

```diff
 from keras.models import Model
-from keras.utils import multi_gpu_model
+import parallel_compat
+from parallel_compat import multi_gpu_model

 class ModelMGPU(Model):
     def __init__(self, ser_model, gpus):
         pmodel = multi_gpu_model(ser_model, gpus)
         self.__dict__.update(pmodel.__dict__)
         self._smodel = ser_model

     def __getattribute__(self, attrname):
         if 'load' in attrname or 'save' in attrname:
             return getattr(self._smodel, attrname)
         return super(ModelMGPU, self).__getattribute__(attrname)

-model = ModelMGPU(template, 2)
+model = parallel_compat.multi_gpu_model(template, 2)
```
"""

from __future__ import annotations

import ast

from parallel_compat.migrate import calls
from parallel_compat.migrate.dotted_names import is_call_of, last_name
from parallel_compat.migrate.edits import Edit
from parallel_compat.migrate.file import File, Findings
from parallel_compat.migrate.scopes import methods_of

TARGET = "parallel_compat.multi_gpu_model"


def find(file: File) -> Findings:
    for class_ in file.tree.classes:
        if not _wraps(class_):
            continue
        message = f"`{class_.name}` recurses endlessly on Keras 3; call `{TARGET}` instead: it saves the template."
        yield file.attention(class_, message)
        for call in file.calls_of_class(class_):
            if isinstance(call.func, ast.Name):
                yield from replaced(file, call, class_.name)


def replaced(file: File, call: ast.Call, name: str) -> Findings:
    """Make a call of a wrapper or of a home-made split a call of `multi_gpu_model`."""
    spelled = file.reference(TARGET, call)
    known = {"model", "gpus", "ser_model", "gpu_count", "n_gpus", "keras_model"}
    if spelled is None or calls.has_stars(call) or len(call.args) > 2:
        return
    if any(keyword.arg not in known for keyword in call.keywords):
        return
    text, imports = spelled
    edits: list[Edit] = [file.replace(call.func, text), *imports]
    for keyword in call.keywords:
        new = {"ser_model": "model", "keras_model": "model", "gpu_count": "gpus", "n_gpus": "gpus"}
        if keyword.arg in new:
            edits.append(calls.rename(file, keyword, new[keyword.arg]))
    message = f"`{name}(...)` is what `{TARGET}(...)` does."
    yield file.found(call, message, edits, unsafe=f"what else `{name}` does is lost.")


def _wraps(class_: ast.ClassDef) -> bool:
    return "__getattribute__" in methods_of(class_) and any(
        is_call_of(node, "update") and last_name(calls.receiver(node)) == "__dict__" for node in ast.walk(class_)
    )
