"""Convolutions with channels first are reported: Keras 3.15 may add the bias along the width.

If the pictures are as wide as there are channels, `keras.ops.add` of Keras 3.15 applies a bias of shape
`(1, channels, 1, 1)` to the last axis. `Conv2D(8, 3, data_format="channels_first")` of pictures 8 wide gives other
results.

```python
from keras.layers import Conv2D
x = Conv2D(8, 3, data_format="channels_first")(x)
```
"""

from __future__ import annotations

import ast

from parallel_compat.migrate import calls
from parallel_compat.migrate.file import File, Findings

_SETTERS = ("set_image_data_format", "set_image_dim_ordering")
_FIRST = ("channels_first", "th")


def find(file: File) -> Findings:
    """Find where channels come first, once in a source."""
    found = next((call for call in file.tree.calls if _adds_to_first(file, call)), None)
    if found is not None:
        message = (
            "Keras 3.15 adds the bias along the width if the pictures are as wide as there are channels. "
            'Write the model with `data_format="channels_last"`.'
        )
        yield file.attention(found, message, hint=not file.old)


def _adds_to_first(file: File, call: ast.Call) -> bool:
    module, _, name = (file.names.target(call.func) or "").rpartition(".")
    if name in _SETTERS:
        return module.startswith("keras.") and bool(call.args) and _is_first(file, call.args[0])
    if not (module.startswith("keras.layers") and "Conv" in name):
        return False
    given = [calls.argument(call, each) for each in ("data_format", "dim_ordering")]
    if calls.constant(calls.argument(call, "use_bias") or calls.argument(call, "bias")) is False:
        return False
    return any(each is not None and _is_first(file, each) for each in given)


def _is_first(file: File, node: ast.expr) -> bool:
    """Return whether an argument is `"channels_first"`, or a name that is."""
    values = [binding.value for binding in file.tree.bindings(node)] if isinstance(node, ast.Name) else [node]
    return any(isinstance(each, ast.Constant) and each.value in _FIRST for each in values)
