"""Sessions are removed; their memory settings for GPUs become calls of `tf.config`.

```diff
 import tensorflow as tf
-from keras import backend as K
-config = tf.ConfigProto()
-config.gpu_options.allow_growth = True
-K.set_session(tf.Session(config=config))
+for gpu in tf.config.list_physical_devices('GPU'):
+    tf.config.experimental.set_memory_growth(gpu, True)
```
"""

from __future__ import annotations

import ast

from parallel_compat.migrate.edits import AnyEdit, Edit
from parallel_compat.migrate.file import File, Findings
from parallel_compat.migrate.native.spelling import spell
from parallel_compat.migrate.statements import indent_of, is_alone, remove_statement, statement_of
from parallel_compat.names.native import BACKEND

_SESSIONS = "parallel_compat.legacy.session."
_WITHOUT_EFFECT = frozenset(("allow_soft_placement", "log_device_placement"))


def find(file: File) -> Findings:
    for call in file.tree.calls:
        if file.names.path(call.func) == f"{BACKEND}.set_session" and len(call.args) == 1:
            yield from _set(file, call)


def _set(file: File, call: ast.Call) -> Findings:
    statement = statement_of(file, call)
    gone: list[ast.stmt] = [statement] if isinstance(statement, ast.Expr) and statement.value is call else []
    session: ast.expr | None = call.args[0]
    if isinstance(session, ast.Name):
        session = _only_use(file, session, gone)
    growth: ast.stmt | None = None
    known = bool(gone) and isinstance(session, ast.Call) and _is(file, session, "Session")
    if known and isinstance(session, ast.Call) and (session.args or session.keywords):
        config = session.keywords[0].value if len(session.keywords) == 1 and not session.args else None
        growth = _of_config(file, config, gone)
        known = growth is not None or (config is not None and _config_is_empty(file, config))
    if not known or not all(is_alone(file, one) for one in gone):
        message = "Keras 3 has no sessions: remove it, and set options of GPUs in `tf.config`."
        yield file.attention(call, message)
        return
    edits: list[AnyEdit] = [remove_statement(file, one) for one in gone if one is not growth]
    if growth is not None:
        quote = file.source.quote
        spelled = spell(file, f"tf.config.list_physical_devices({quote}GPU{quote})", call)
        if spelled is None:
            yield file.attention(call, "Write `tf.config.experimental.set_memory_growth(gpu, True)`.")
            return
        text, imports = spelled
        module = text.partition(".")[0]
        inner = indent_of(file, growth) + "    "
        loop = (
            f"for gpu in {text}:{file.source.newline}{inner}{module}.config.experimental.set_memory_growth(gpu, True)"
        )
        edits += [Edit(file.source.start(growth), file.source.end(growth), loop), *imports]
    yield file.found(call, "Keras 3 has no session; GPUs are configured by `tf.config`.", edits)


def _is(file: File, node: ast.expr, name: str) -> bool:
    return isinstance(node, ast.Call) and file.names.path(node.func) in (
        f"{_SESSIONS}{name}",
        f"tensorflow.compat.v1.{name}",
    )


def _only_use(file: File, name: ast.Name, gone: list[ast.stmt]) -> ast.expr | None:
    """Return the value of a name that is assigned once and used here alone; its statement goes as well."""
    bindings = file.tree.scopes[name].find(name.id)
    uses = [node for node in file.tree.names if node.id == name.id and isinstance(node.ctx, ast.Load)]
    if len(bindings) != 1 or uses != [name] or bindings[0].value is None:
        return None
    statement = statement_of(file, bindings[0].node)
    if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
        return None
    gone.append(statement)
    return bindings[0].value


def _of_config(file: File, config: ast.expr | None, gone: list[ast.stmt]) -> ast.stmt | None:
    """Return the statement that lets memory grow; all statements of the configuration go into `gone`."""
    if not isinstance(config, ast.Name):
        return None
    bindings = file.tree.scopes[config].find(config.id)
    if len(bindings) != 1 or bindings[0].value is None or not _is(file, bindings[0].value, "ConfigProto"):
        return None
    call = bindings[0].value
    if not isinstance(call, ast.Call) or call.args or any(one.arg not in _WITHOUT_EFFECT for one in call.keywords):
        return None
    growth = None
    statements: list[ast.stmt] = []
    for node in file.tree.names:
        if node.id != config.id or node is config or file.tree.scopes[node].find(node.id) != bindings:
            continue
        statement = statement_of(file, node)
        if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
            return None
        statements.append(statement)
        target = ast.unparse(statement.targets[0])
        if target == f"{config.id}.gpu_options.allow_growth":
            if not (isinstance(statement.value, ast.Constant) and statement.value.value is True):
                return None
            growth = statement
        elif target != config.id and target.partition(".")[2] not in _WITHOUT_EFFECT:
            return None
    if growth is not None:
        gone += statements
    return growth


def _config_is_empty(file: File, config: ast.expr) -> bool:
    return isinstance(config, ast.Call) and _is(file, config, "ConfigProto") and not config.args and not config.keywords
