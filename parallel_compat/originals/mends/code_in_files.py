"""Code in model files: a Lambda layer's function is executed only if the script has it, or the user allows it.

Old Keras wrote the bytecode of each function of a Lambda layer into the file and ran it when the file was loaded.
Bytecode of another Python can crash the interpreter: it is refused. So are pickles of anything but numpy's arrays, and
operations of TensorFlow that do more than compute.
"""

from __future__ import annotations

import base64
import io
import marshal
import pickle
import sys
import types
from types import CodeType
from typing import Any

from parallel_compat import bytecode
from parallel_compat.originals.mends.register import Register

# The modules of TensorFlow whose operations read and write no file, and call no Python.
_OPERATIONS = """
    array audio bitwise count ctc cudnn_rnn image linalg manip math nn ragged_array ragged_conversion ragged_math random
    rnn set sparse special_math spectral stateful_random stateless_random string uniform_quant
"""
_COMPUTING = frozenset(f"gen_{name}_ops" for name in _OPERATIONS.split()) | {"gen_stateless_random_ops_v2"}


class CodeInFileError(ValueError):
    """A file holds code that may not be run."""


def apply(mends: Register) -> None:
    functions = _Functions(mends.settings.allow_lambdas)
    for module in ("keras.utils.generic_utils", "tensorflow.python.keras.utils.generic_utils"):
        mends.after(module, functions.put_on)
    arrays = types.SimpleNamespace(dumps=pickle.dumps, loads=lambda pickled: _ArraysOnly(io.BytesIO(pickled)).load())
    mends.after("keras.utils.io_utils", lambda module: vars(module).update(pickle=arrays))
    if not mends.settings.allow_lambdas:
        mends.after("tensorflow.python.keras.engine.base_layer", _refuse_operations)


def _refuse_operations(module: Any) -> None:
    """Refuse operations of TensorFlow that do more than compute, such as `ReadFile` and `DebugIdentity` (it writes)."""
    import tensorflow

    def from_config(cls: Any, config: Any) -> Any:
        layer = cls(**config)
        operation = layer.node_def.op
        function = getattr(tensorflow.raw_ops, operation, None)
        if getattr(function, "__module__", "").rpartition(".")[2] not in _COMPUTING:
            raise CodeInFileError(
                "Expected a model of operations that compute tensors from tensors. Received: a layer with TensorFlow's "
                f"operation {operation!r}. If you trust the file: parallel-compat run --allow-lambdas SCRIPT."
            )
        return layer

    module.TensorFlowOpLayer.from_config = classmethod(from_config)


class _ArraysOnly(pickle.Unpickler):
    """Reads what Keras pickles of a model that is a dict: numpy's arrays and scalars."""

    def find_class(self, module: str, name: str) -> Any:
        if module.split(".")[0] == "numpy" and name in ("_frombuffer", "_reconstruct", "dtype", "ndarray", "scalar"):
            return super().find_class(module, name)
        raise CodeInFileError(
            f"Expected numbers and text. Received: {module}.{name} in a pickle, which could run any code. "
            "Save the model again with the Keras that wrote it, or extract its weights with parallel-compat recover."
        )


class _Functions:
    def __init__(self, allowed: bool) -> None:
        self.allowed = allowed
        self.dumped: dict[bytecode.Code, CodeType] = {}
        self.load: Any = None

    def put_on(self, module: Any) -> None:
        dump, self.load = module.func_dump, module.func_load

        def func_dump(func: Any) -> Any:
            self.dumped[bytecode.of_code(func.__code__)] = func.__code__
            return dump(func)

        def func_load(code: Any, defaults: Any = None, closure: Any = None, globs: Any = None) -> Any:
            if isinstance(code, (tuple, list)):
                code, defaults, closure = code
            defaults = tuple(defaults) if isinstance(defaults, list) else defaults
            own = self.checked(_raw(code))
            written = base64.encodebytes(marshal.dumps(own)).decode("ascii") if own is not None else code
            return self.load(written, defaults, closure, vars(module) if globs is None else globs)

        module.func_dump, module.func_load = func_dump, func_load

    def checked(self, raw: bytes) -> CodeType | None:
        """Return the script's own code that is meant; None to run that of the file."""
        try:
            code = bytecode.read(raw)
        except bytecode.BytecodeError as error:
            raise CodeInFileError(
                "Expected the function of a Lambda layer as code of Python "
                f"{sys.version_info[0]}.{sys.version_info[1]}. Received: {error}, which "
                "this Python cannot run. Build the model in code and load its weights: "
                "`model.load_weights(file)`."
            ) from None
        own = self.dumped.get(code) or (bytecode.code_of_script(code) or (None,))[0]
        if own is None and not self.allowed:
            raise CodeInFileError(
                "Expected a model without foreign code. Received: a Lambda layer whose function is in the file as "
                "bytecode, and is not one of this script's. If you trust the file: "
                "parallel-compat run --allow-lambdas SCRIPT."
            )
        return own


def _raw(code: str) -> bytes:
    try:
        return base64.b64decode("".join(code.split()), validate=True)
    except ValueError:  # Keras before 2.1.2 wrote the bytes as they are
        return code.encode("raw_unicode_escape")
