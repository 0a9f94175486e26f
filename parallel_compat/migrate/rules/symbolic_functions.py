"""An import lets TensorFlow functions on symbolic tensors create layers, as in tf.keras 2.

`tf.reduce_max(model.output, 2)` was part of the graph. In Keras 3 only its own layers and operations accept symbolic
tensors. In `call` of a layer and in losses there are no symbolic tensors, so such functions need no change. Where this
package is imported, `x * 2.0` is also not marked as sparse, which layers that use TensorFlow's functions cannot read.

```diff
 import keras
+import parallel_compat.legacy.symbolic_functions
 import tensorflow as tf
 x = keras.layers.Input((4, 3))
 y = tf.square(x)
```
"""

from __future__ import annotations

import ast

from parallel_compat.migrate.dotted_names import packages_of
from parallel_compat.migrate.file import File, Findings
from parallel_compat.names.members import LAYER, METRIC, MODEL, OPTIMIZER, TENSOR

_MODULE = "parallel_compat.legacy.symbolic_functions"
# Functions of TensorFlow that compute nothing, or take no tensor.
_OTHERS = """
    constant convert_to_tensor device executing_eagerly fill function global_variables_initializer is_tensor name_scope
    ones placeholder print random_normal random_uniform range set_random_seed variable_scope zeros
"""
_NOT_ON_TENSORS = frozenset(_OTHERS.split())
_MODULES_OF_FUNCTIONS = frozenset(("tensorflow", "tensorflow.nn", "tensorflow.math", "tensorflow.image"))


def find(file: File) -> Findings:
    """Find the first such call or product of a file that calls layers."""
    if any(statement_of_ours(statement) for statement in file.tree.imports):
        return
    if not any(target.startswith("keras.layers.") or target == "keras.Input" for target in file.calls_by_target):
        return
    for call in file.tree.calls:
        module, _, name = (file.names.path(call.func) or "").rpartition(".")
        if module not in _MODULES_OF_FUNCTIONS or name in _NOT_ON_TENSORS or not name.islower() or not call.args:
            continue
        if _is_between_layers(file, call):
            message = f"`{module}.{name}` takes symbolic tensors as in tf.keras 2, where `{_MODULE}` is imported."
            yield file.found(call, message, [file.import_after(f"import {_MODULE}")], hint=not file.old)
            return
    if imports_this_package(file):
        return
    for node in ast.walk(file.tree.module):
        if not isinstance(node, ast.BinOp | ast.AugAssign) or not isinstance(node.op, ast.Mult):
            continue
        first, second = (node.left, node.right) if isinstance(node, ast.BinOp) else (node.target, node.value)
        if _is_symbolic(file, first) != _is_symbolic(file, second) and _is_between_layers(file, node):
            message = f"Keras 3 marks the product as a sparse tensor, unless `{_MODULE}` is imported."
            yield file.found(node, message, [file.import_after(f"import {_MODULE}")], hint=not file.old)
            return


def imports_this_package(file: File) -> bool:
    """Whether a file imports anything of this package."""
    return any("parallel_compat" in packages_of(statement) for statement in file.tree.imports)


def _is_symbolic(file: File, node: ast.expr) -> bool:
    """Return whether an expression is what a layer gives, or a name that has been bound to it."""
    if not isinstance(node, ast.Name):
        return file.kinds.of(node) == TENSOR
    values = (binding.value for binding in file.tree.bindings(node))
    return any(value is not None and file.kinds.of(value) == TENSOR for value in values)


def statement_of_ours(statement: ast.Import | ast.ImportFrom) -> bool:
    """Whether a statement imports the module already."""
    return isinstance(statement, ast.Import) and any(alias.name == _MODULE for alias in statement.names)


def _is_between_layers(file: File, call: ast.AST) -> bool:
    """Whether a call may see symbolic tensors: not in a method of a layer, nor in a function of targets."""
    for above in file.tree.ancestors(call):
        if isinstance(above, ast.ClassDef) and file.kinds.of_class(above) in (LAYER, MODEL, METRIC, OPTIMIZER):
            return False
        if isinstance(above, ast.FunctionDef) and {"y_true", "y_pred"} & {each.arg for each in above.args.args}:
            return False
    return True
