"""A network that a loss makes in each call is made once; layers with weights that it makes are reported.

Keras 2 called a loss once, when it built the graph. Keras 3 calls it each time it traces a step, and TensorFlow 2
cannot create variables there.

```diff
 from keras.applications.vgg19 import VGG19
+from parallel_compat.legacy.models import made_once
 def content_loss(y_true, y_pred):
-    vgg = VGG19(include_top=False)
+    vgg = made_once(VGG19)(include_top=False)
     return abs(vgg(y_true) - vgg(y_pred))
 model.compile('adam', content_loss)
```
"""

from __future__ import annotations

import ast
import re

from parallel_compat.migrate.file import File, Findings
from parallel_compat.names.eras import Era

_MADE_ONCE = "parallel_compat.legacy.models.made_once"
_TRUTH, _PREDICTION = re.compile("true|truth|target|label"), re.compile("pred|output")
_NETWORKS = re.compile(r"keras\.applications\.(\w+\.)*[A-Z]\w*|(keras|parallel_compat\.legacy)\.models\.load_model")
_LAYERS = re.compile(
    r"keras\.layers\.(Dense|(Separable|Depthwise|Locally)?Conv\w*|Embedding|BatchNormalization|LSTM|GRU|SimpleRNN|PReLU)"
)


def find(file: File) -> Findings:
    if file.era in (Era.TODAY, Era.TF_KERAS_2_2):
        return
    for function in (each for each in file.tree.functions if isinstance(each, ast.FunctionDef)):
        names = [each.arg for each in function.args.args if each.arg != "self"][:2]
        if len(names) < 2 or not (_TRUTH.search(names[0]) and _PREDICTION.search(names[1])):
            continue
        for call in (each for each in ast.walk(function) if isinstance(each, ast.Call)):
            target = file.names.target(call.func) or file.names.path(call.func) or ""
            made = f"`{function.name}` makes `{target.rpartition('.')[2]}` in each call"
            if _NETWORKS.fullmatch(target) and (edits := file.wrapped_in_call(_MADE_ONCE, call.func)):
                message = f"{made}; Keras 3 calls a loss whenever it traces a step."
                yield file.found(call.func, message, edits, hint=not file.old)
            elif _NETWORKS.fullmatch(target) or _LAYERS.fullmatch(target):
                way = "and Keras 3 calls a loss whenever it traces a step: make it once, outside the function."
                yield file.attention(call, f"{made}, {way}")
