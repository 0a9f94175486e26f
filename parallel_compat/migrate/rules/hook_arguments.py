"""The second argument of batch hooks is renamed to `logs`, because Keras 3 passes it by name.

Keras 2 called `on_batch_end(batch, logs)` by position, so functions in a `LambdaCallback` and methods of callbacks
could use any name. Keras 3 does not pass `logs["size"]` and `logs["batch"]`: code that reads them is reported. Keras 3
passes only the batch size to the `get_initial_state` of a cell, so its `dtype` gets a default. The first argument of
`call` in a subclass of a recurrent layer is renamed to `sequences`, of whose shape Keras 3 asks by that name. An
initializer that is a function gets the argument `dtype`, which Keras 3 passes.

```diff
 from keras.callbacks import LambdaCallback
-show = LambdaCallback(on_batch_end=lambda batch, l: print(l['loss']))
+show = LambdaCallback(on_train_batch_end=lambda batch, logs: print(logs['loss']))
```
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from parallel_compat.migrate import calls
from parallel_compat.migrate.dotted_names import is_call_of
from parallel_compat.migrate.edits import Edit
from parallel_compat.migrate.file import File, Findings
from parallel_compat.migrate.findings import Finding
from parallel_compat.migrate.literals import is_none, text_of
from parallel_compat.migrate.scopes import defaults_of, methods_of
from parallel_compat.names.members import CALLBACK, CHECKPOINT, LAYER

_HOOKS = frozenset(
    f"on_{of}batch_{end}" for of in ("", "train_", "test_", "predict_") for end in ("begin", "end")
)  # of epochs and trainings Keras 3 hands `logs` over by position

_RECURRENT = frozenset(
    f"keras.layers.{name}" for name in ("RNN", "SimpleRNN", "LSTM", "GRU", "ConvLSTM1D", "ConvLSTM2D", "ConvLSTM3D")
)
_OF_STATES = {"inputs": "None", "batch_size": "None", "dtype": '"float32"'}


def find(file: File) -> Findings:
    """Find hooks whose second argument has another name, or is asked for what it no longer has."""
    seen: set[ast.AST] = set()
    for function, arguments in (*_methods(file), *_functions(file)):
        if len(arguments) < 2 or function in seen:
            continue
        seen.add(function)
        if arguments[1].arg != "logs":
            yield _renamed(file, function, arguments[1], "logs")
        yield from _gone(file, function, arguments[1].arg)
    yield from _initial_states(file)
    for initializer in dict.fromkeys(_initializers(file)):
        yield from _takes_dtype(file, initializer)
    yield from _sequences(file)


def _sequences(file: File) -> Findings:
    for class_ in file.tree.classes:
        call = methods_of(class_).get("call")
        if call is None or _RECURRENT.isdisjoint(file.bases_of(class_)):
            continue
        for argument in call.args.args[1:2]:
            if argument.arg != "sequences":
                yield _renamed(file, call, argument, "sequences")


def _initial_states(file: File) -> Findings:
    """`get_initial_state(self, inputs=None, batch_size=None, dtype=None)` of a cell."""
    for class_ in file.classes_of(LAYER):
        method = methods_of(class_).get("get_initial_state")
        if method is None or "dtype" not in [each.arg for each in method.args.args]:
            continue
        defaults = defaults_of(method.args)
        for argument in method.args.args:
            default, text = defaults.get(argument), _OF_STATES.get(argument.arg)
            if text is None or argument.annotation is not None or not (default is None or is_none(default)):
                continue
            if default is None or argument.arg == "dtype":
                end = _end(file, argument)
                edits = [Edit(end, end, f"={text}")] if default is None else [file.replace(default, text)]
                message = f"Keras 3 passes no `{argument.arg}` to the `get_initial_state` of a cell."
                yield file.found(_at(argument), message, edits, hint=not file.old)


def _initializers(file: File) -> Iterator[ast.Lambda | ast.FunctionDef]:
    """Yield the functions that are passed as initializers, and the `__call__` of classes of them."""
    for call in file.tree.calls:
        for keyword in call.keywords:
            if keyword.arg in ("init", "initializer") or (keyword.arg or "").endswith("_initializer"):
                value = keyword.value
                function = value if isinstance(value, ast.Lambda) else file.kinds.definition(value)
                if isinstance(function, ast.Lambda | ast.FunctionDef) and function in file.tree.scopes:
                    yield function
    for class_ in file.tree.classes:
        called = methods_of(class_).get("__call__")
        if called is not None and "keras.initializers.Initializer" in file.bases_of(class_):
            yield called


def _takes_dtype(file: File, function: ast.Lambda | ast.FunctionDef) -> Findings:
    """Give an initializer `dtype`, and `name` a default: Keras 1 passed that, and Keras 2.2 the shape alone."""
    given = function.args
    arguments = [*given.posonlyargs, *given.args]
    defaults = defaults_of(given)
    named = [each for each in arguments if each.arg == "name" and each not in defaults]
    lacks = given.kwarg is None and "dtype" not in [each.arg for each in (*arguments, *given.kwonlyargs)]
    if not arguments or not (lacks or named):
        return
    message = "Keras 3 passes the shape and `dtype` to a function that makes weights."
    if given.vararg or given.kwonlyargs or any(each.annotation for each in arguments):
        yield file.attention(_at(arguments[0]), f"{message} Give it `dtype=None`.")
        return
    last = arguments[-1]
    texts = dict.fromkeys(named, "=None")
    if lacks:
        texts[last] = texts.get(last, "") + ", dtype=None"
    ends = {each: _end(file, each, defaults.get(each)) for each in texts}
    yield file.found(_at(arguments[0]), message, [Edit(ends[each], ends[each], text) for each, text in texts.items()])


def _end(file: File, argument: ast.arg, default: ast.expr | None = None) -> int:
    """Return where an argument ends, with its default and the parentheses around that."""
    end = file.source.start(_at(argument)) + len(argument.arg)
    if default is None:
        return end
    around = file.source.text[end : file.source.start(default)].count("(")
    end = file.source.end(default)
    for _ in range(around):
        end = file.source.text.index(")", end) + 1
    return end


def _methods(file: File) -> Iterator[tuple[ast.AST, list[ast.arg]]]:
    for class_ in file.classes_of(CALLBACK, CHECKPOINT):
        for name, method in methods_of(class_).items():
            if name in _HOOKS and not method.args.kwarg:
                yield method, method.args.args[1:]


def _functions(file: File) -> Iterator[tuple[ast.AST, list[ast.arg]]]:
    for call in file.calls_by_target.get("keras.callbacks.LambdaCallback", ()):
        for keyword in call.keywords:
            value = keyword.value
            function = value if isinstance(value, ast.Lambda) else file.kinds.definition(value)
            if keyword.arg in _HOOKS and isinstance(function, ast.Lambda | ast.FunctionDef) and not function.args.kwarg:
                yield function, function.args.args


def _renamed(file: File, function: ast.AST, argument: ast.arg, new: str) -> Finding:
    message = f"Keras 3 calls `{argument.arg}` here `{new}`."
    names = [each for each in ast.walk(function) if isinstance(each, ast.Name)]
    if any(each.id == new for each in names):
        return file.attention(_at(argument), f"{message} Rename it: another name here is `{new}` already.")
    read = [each for each in names if any(binding.node is argument for binding in file.tree.bindings(each))]
    places = [file.source.start(each) for each in (_at(argument), *read)]
    return file.found(_at(argument), message, [Edit(start, start + len(argument.arg), new) for start in places])


def _gone(file: File, function: ast.AST, logs: str) -> Findings:
    """Find `logs["size"]` and `logs["batch"]`."""
    for node in ast.walk(function):
        if isinstance(node, ast.Subscript):
            owner, key = node.value, node.slice
        elif is_call_of(node, "get") and node.args:
            owner, key = calls.receiver(node), node.args[0]
        else:
            continue
        if isinstance(owner, ast.Name) and owner.id == logs and text_of(key) in ("size", "batch"):
            message = (
                f"The logs of a batch have no `{text_of(key)}` in Keras 3, and hold means since the epoch's start."
            )
            yield file.attention(node, message)


def _at(argument: ast.arg) -> ast.Name:
    """Return a name that stands where an argument does."""
    return ast.copy_location(ast.Name(argument.arg, ast.Param()), argument)
