"""The dotted names that a source imports, and reaches through its imports."""

from __future__ import annotations

import ast
import re
from collections.abc import Container, Iterable, Iterator

from parallel_compat.names import table

# A source that is no Python 3, word by word.
_TEXTS_AND_COMMENTS = re.compile(
    r'"""(?s:.*?)"""|' r"'''(?s:.*?)'''" r'|"(?:\\.|[^"\\\n])*"' r"|'(?:\\.|[^'\\\n])*'|#[^\n]*|\\\n"
)
_IMPORT = re.compile(r"(?m)^[ \t]*import[ \t]+([^\n;]+)")
_FROM = re.compile(r"(?m)^[ \t]*from[ \t]+(\.*[\w.]*)[ \t]+import[ \t]*(?:\(([^)]{0,4000})\)|([^\n;]+))")
_DOTTED = re.compile(r"(?<![\w.])[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+")


def paths_in_nodes(nodes: Iterable[ast.AST], only_names: Container[ast.AST] = ()) -> Iterator[tuple[int, str, bool]]:
    """Yield (line, dotted path, whether it is imported) of what a module imports and reaches through imports.

    An argument of one of TensorFlow's functions is yielded as `tensorflow.reduce_sum(keep_dims=)`, and `learning_rate`
    of an optimizer of Keras likewise. Of the nodes in `only_names` no more is taken than what the imports' names mean.
    """

    aliases: dict[str, str] = {}
    reached: list[ast.expr] = []
    arguments: dict[ast.expr, list[str]] = {}
    for node in nodes:
        is_asked = node not in only_names
        if isinstance(node, ast.Import):
            for alias in node.names:
                if is_asked:
                    yield node.lineno, alias.name, True
                aliases[alias.asname or alias.name.partition(".")[0]] = (
                    alias.name if alias.asname else alias.name.partition(".")[0]
                )
        elif isinstance(node, ast.ImportFrom):
            for alias in node.names:
                module = "." * node.level + (node.module or "")
                between = "" if module.endswith(".") else "."
                path = module if alias.name == "*" else f"{module}{between}{alias.name}"
                if is_asked:
                    yield node.lineno, path, True
                aliases[alias.asname or alias.name] = path
        elif not is_asked:
            continue
        elif isinstance(node, ast.Attribute):
            reached.append(node)
        elif isinstance(node, ast.Call) and node.keywords:
            arguments[node.func] = [keyword.arg for keyword in node.keywords if keyword.arg]
            if isinstance(node.func, ast.Name) and "learning_rate" in arguments[node.func]:
                reached.append(node.func)
    for expression in reached:
        names: list[str] = []
        value = expression
        while isinstance(value, ast.Attribute):
            names.append(value.attr)
            value = value.value
        if isinstance(value, ast.Name) and value.id in aliases:
            path = ".".join([aliases[value.id], *reversed(names)])
            yield expression.lineno, path, False
            given = arguments.get(expression, ())
            if path.startswith("keras.optimizers.") and "learning_rate" in given:
                yield expression.lineno, f"{path}(learning_rate=)", False
            if path in table.tensorflow_1_signatures():
                for argument in given:
                    yield expression.lineno, f"{path}({argument}=)", False


def paths_in_text(text: str) -> Iterator[tuple[int, str, bool]]:
    """Yield the same of a text that is no Python 3, without arguments; places in the text stand for lines."""
    text = _TEXTS_AND_COMMENTS.sub(lambda found: " " if found[0] == "\\\n" else "''", text)
    aliases: dict[str, str] = {}
    for found in _IMPORT.finditer(text):
        for part in found[1].split(","):
            name, _, other = (word.strip() for word in part.partition(" as "))
            if name:
                yield found.start(), name, True
                aliases[other or name.partition(".")[0]] = name if other else name.partition(".")[0]
    for found in _FROM.finditer(text):
        for part in (found[2] or found[3]).split(","):
            name, _, other = (word.strip() for word in part.partition(" as "))
            if name:
                module = found[1]
                path = module if name == "*" else f"{module}{'' if module.endswith('.') else '.'}{name}"
                yield found.start(), path, True
                aliases[other or name] = path
    for found in _DOTTED.finditer(text):
        first, _, others = found[0].partition(".")
        if first in aliases:
            yield found.start(), f"{aliases[first]}.{others}", False
