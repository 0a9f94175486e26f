"""What is known of the text that an expression makes: file names, mostly."""

from __future__ import annotations

import ast


def text_of(node: ast.AST | None) -> str | None:
    """Return the value of a string that is written out, None for anything else."""
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else None


def is_none(node: ast.AST | None) -> bool:
    """Return whether a node is `None`."""
    return isinstance(node, ast.Constant) and node.value is None


def parts_of(node: ast.AST | None) -> list[ast.expr]:
    """Return the items of a list, a tuple or a dict, or the branches of a condition."""
    if isinstance(node, ast.List | ast.Tuple):
        return node.elts
    if isinstance(node, ast.Dict):
        return node.values
    return [node.body, node.orelse] if isinstance(node, ast.IfExp) else []


def tail(node: ast.expr | None) -> str | None:
    """Return the literal end of the text that an expression makes, or None where it has none.

    >>> [tail(ast.parse(text, mode="eval").body) for text in ("a + '.h5'", "f'{a}/w.h5'", "'%d.h5' % 3", "name")]
    ['.h5', '/w.h5', '%d.h5', None]
    """
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else None
    if isinstance(node, ast.BinOp):
        return tail(node.right if isinstance(node.op, ast.Add) else node.left)
    if isinstance(node, ast.JoinedStr):
        return tail(node.values[-1]) if node.values else None
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        if node.func.attr == "format":
            return tail(node.func.value)
        if node.func.attr == "join" and node.args:  # os.path.join
            return tail(node.args[-1])
    return None
