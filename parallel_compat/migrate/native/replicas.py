"""`multi_gpu_model` becomes a `tf.distribute.MirroredStrategy`: one model, built and compiled under its scope.

The statements that build the model, or the call of the function that does, and `compile` go under `strategy.scope()`.
Template and parallel model are one model then. What native code computes otherwise than `multi_gpu_model` is said once,
at this place.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from parallel_compat.migrate import calls
from parallel_compat.migrate.edits import AnyEdit, Edit
from parallel_compat.migrate.native.spelling import spell
from parallel_compat.migrate.statements import (
    block_of,
    indent_of,
    is_alone,
    line_start,
    remove_statement,
    statement_of,
    under,
)
from parallel_compat.names.members import LAYER, MODEL, TENSOR
from parallel_compat.names.native import PARALLEL_MODELS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from parallel_compat.migrate.file import File
    from parallel_compat.migrate.findings import Finding

RULE = "native-replicas"
SAFE = True
BEFORE = """\
import tensorflow as tf
from keras.utils import multi_gpu_model
with tf.device('/cpu:0'):
    model = build()
parallel_model = multi_gpu_model(model, gpus=2)
parallel_model.compile('sgd', 'mse')
"""
AFTER = """\
import tensorflow as tf
strategy = tf.distribute.MirroredStrategy(['/gpu:0', '/gpu:1'])
with strategy.scope():
    model = build()
    parallel_model = model
    parallel_model.compile('sgd', 'mse')
"""

_BUILDS = ("keras.layers.", "keras.Input", "keras.Model", "keras.Sequential", "keras.models.", "keras.applications.")
_SIMPLE = (ast.Expr, ast.Assign, ast.AugAssign, ast.AnnAssign)


class Unclear(Exception):
    """The source does not tell how; the message says what to do."""


def find(file: File) -> Iterator[Finding]:
    """Find calls of `multi_gpu_model`: one a run, as each changes the lines around it."""
    found = [call for call in file.tree.calls if file.names.path(call.func) in PARALLEL_MODELS]
    for call in found:
        try:
            edits = Wrapping(file, call).edits()
        except Unclear as error:
            yield file.attention(RULE, call, f"{error} Build and compile it under the scope of a `MirroredStrategy`.")
            continue
        yield file.found(RULE, call, "The model is now built and compiled under a `MirroredStrategy`.", edits)
        return


class Wrapping:
    """The edits for one call of `multi_gpu_model`.

    Args:
        file: the source.
        call: the call.

    Raises:
        Unclear: it cannot be told which statements build the model.
    """

    def __init__(self, file: File, call: ast.Call) -> None:
        self.file = file
        self.call = call
        template = call.args[0] if call.args else getattr(calls.keyword(call, "model"), "value", None)
        gpus = call.args[1] if len(call.args) > 1 else getattr(calls.keyword(call, "gpus"), "value", None)
        statement = statement_of(file, call)
        if template is None or calls.has_stars(call) or statement is None:
            raise Unclear("The arguments of `multi_gpu_model` are not known here.")
        self.template: ast.expr = template
        self.gpus: ast.expr | None = gpus
        self.guard: ast.expr | None = None
        self.parallel = _target(statement, call)
        self.statement: ast.stmt = statement
        above = file.tree.parents[statement]
        if isinstance(above, ast.If):
            self._guarded(above)
        self.block = block_of(file, self.statement)
        self.index = self.block.index(self.statement)

    def _guarded(self, condition: ast.If) -> None:
        """`if gpus > 1: parallel = multi_gpu_model(...)`, `else: parallel = model`."""
        name = self.parallel
        if condition.body != [self.statement] or name is None:
            raise Unclear("Other statements depend on the number of GPUs as well.")
        if not condition.orelse:
            if not (isinstance(self.template, ast.Name) and self.template.id == name) and not self._is_bound_before(
                condition, name
            ):
                raise Unclear("It is not known what the model is on one device.")
        elif len(condition.orelse) > 1 or not self._is_the_template(condition.orelse[0], name):
            raise Unclear("On one device another model is used.")
        self.guard = condition.test
        self.statement = condition

    def _is_bound_before(self, condition: ast.If, name: str) -> bool:
        block = block_of(self.file, condition)
        return any(self._is_the_template(one, name) for one in block[: block.index(condition)])

    def _is_the_template(self, statement: ast.stmt, name: str) -> bool:
        """`parallel = model`, or a model of the same tensors."""
        if not isinstance(statement, ast.Assign) or ast.unparse(statement.targets[0]) != name:
            return False
        template, value = ast.unparse(self.template), statement.value
        if ast.unparse(value) == template:
            return True
        tensors = (
            [ast.unparse(one) for one in (*value.args, *(k.value for k in value.keywords))]
            if isinstance(value, ast.Call)
            else []
        )
        return tensors in (
            [f"{template}.input", f"{template}.output"],
            [f"{template}.inputs", f"{template}.outputs"],
        )

    def edits(self) -> list[AnyEdit]:
        """Return the edits."""
        first, last = self._building()
        compiled = self._compile()
        quote = "'" if self.file.source.text.count("'") >= self.file.source.text.count('"') else '"'
        before, imports = self._strategy(quote, self.block[first])
        name = self._name()
        edits: list[AnyEdit] = [*imports]
        template = self.file.source.segment(self.template)
        device = self._device_block(self.block[first]) if first == last else None
        header = f"with {name}.scope()"
        simple = isinstance(self.template, ast.Name) or self.guard is not None
        replaced = self.statement if simple and self.parallel is not None else None
        if compiled is not None and self._is_one_block(first, compiled):
            last = compiled
        if device is not None:
            item = device.items[0].context_expr
            start = line_start(self.file, device)
            indent = indent_of(self.file, device)
            newline = self.file.source.newline
            edits.append(Edit(start, start, "".join(indent + line + newline for line in before.splitlines())))
            edits.append(self.file.replace(item, f"{name}.scope()"))
            rest = self.block[first + 1 : last + 1]
            if rest:
                edits += _indented(self.file, rest, replaced)
        else:
            edits += under(self.file, self.block[first : last + 1], before, header, replaced=replaced)
        if replaced is None:
            edits.append(self.file.replace(self.call, template))
        elif self.parallel == template:
            edits = [edit for edit in edits if not _is_at(self.file, edit, replaced)]
            edits.append(remove_statement(self.file, replaced))
        else:
            edits.append(self.file.replace(replaced, f"{self.parallel} = {template}"))
        if compiled is not None and compiled > last:
            edits += under(self.file, [self.block[compiled]], "", header)
        if any(not is_alone(self.file, one) for one in (*self.block[first : last + 1], self.statement)):
            raise Unclear("Several statements stand on one line.")
        return edits

    def _building(self) -> tuple[int, int]:
        """Return the first and last of the statements that build the template."""
        file, block = self.file, self.block
        if not isinstance(self.template, ast.Name):
            return self.index, self.index  # `multi_gpu_model(build(), 2)`
        name = self.template.id
        bindings = [one for one in file.tree.scopes[self.template].find(name) if self._is_before(one.node)]
        if not bindings or not all(self._within(one.node) for one in bindings):
            raise Unclear(f"`{name}` is built elsewhere.")
        last = max(self._position(one.node) for one in bindings)
        first = min(self._position(one.node) for one in bindings)
        needed = {name} | _loads(block[last])
        for position in range(last - 1, -1, -1):
            if _stores(block[position]) & needed and self._builds(block[position]):
                first = min(first, position)
                needed |= _loads(block[position])
        for position in range(last + 1, self.index):
            if any(self._changes(node, name) for node in ast.walk(block[position])):
                last = position
        return first, last

    def _is_before(self, node: ast.AST) -> bool:
        return self._within(node) and self._position(node) < self.index

    def _within(self, node: ast.AST) -> bool:
        return any(one in self.block for one in (node, *self.file.tree.ancestors(node)))

    def _position(self, node: ast.AST) -> int:
        return next(self.block.index(one) for one in (node, *self.file.tree.ancestors(node)) if one in self.block)

    def _builds(self, statement: ast.stmt) -> bool:
        """Whether a statement makes layers, tensors or models."""
        if isinstance(statement, ast.FunctionDef | ast.ClassDef | ast.Import | ast.ImportFrom):
            return False
        for node in ast.walk(statement):
            if isinstance(node, ast.Call):
                target = self.file.names.target(node.func) or ""
                if target.startswith(_BUILDS) or self.file.kinds.of(node) in (TENSOR, LAYER, MODEL):
                    return True
                if isinstance(node.func, ast.Call):  # Dense(3)(x)
                    return True
        return False

    def _changes(self, node: ast.AST, name: str) -> bool:
        """`model.add(...)`, and what loads weights."""
        return (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and isinstance(node.func.value, ast.Name)
            and node.func.value.id == name
            and node.func.attr in ("add", "pop", "build", "load_weights")
        )

    def _compile(self) -> int | None:
        """Return the position of the statement that compiles the parallel model, None where it is elsewhere."""
        if self.parallel is None:
            return None
        for position in range(self.index, len(self.block)):
            for node in ast.walk(self.block[position]):
                if (
                    isinstance(node, ast.Call)
                    and isinstance(node.func, ast.Attribute)
                    and node.func.attr == "compile"
                    and ast.unparse(node.func.value) == self.parallel
                ):
                    return position
        return None

    def _is_one_block(self, first: int, compiled: int) -> bool:
        between = self.block[first : compiled + 1]
        return compiled - self.index <= 6 and all(
            isinstance(one, (*_SIMPLE, ast.For, ast.With)) or one is self.statement for one in between
        )

    def _name(self) -> str:
        return "strategy"

    def _strategy(self, quote: str, before: ast.stmt) -> tuple[str, Sequence[Edit]]:
        """Return the lines that make the strategy."""
        file = self.file
        bound = file.tree.scopes.get(before) or file.tree.root
        del bound
        for value in (self.gpus, self.guard):
            if value is not None and self._is_bound_between(value, before):
                raise Unclear("The number of GPUs is known after the model is built only.")
        devices = self._devices(quote)
        spelled = spell(file, f"tf.distribute.MirroredStrategy({devices})", self.statement)
        if spelled is None:
            raise Unclear("The name `tf` is taken here.")
        text, imports = spelled
        name = self._name()
        if self.guard is None:
            return f"{name} = {text}", imports
        module = text.partition(".")[0]
        lines = (
            f"if {file.source.segment(self.guard)}:",
            f"    {name} = {text}",
            "else:",
            f"    {name} = {module}.distribute.get_strategy()",
        )
        return "\n".join(lines), imports

    def _is_bound_between(self, value: ast.expr, first: ast.stmt) -> bool:
        names = {node.id for node in ast.walk(value) if isinstance(node, ast.Name)}
        between = self.block[self.block.index(first) : self.index]
        return any(_stores(one) & names for one in between)

    def _devices(self, quote: str) -> str:
        if self.gpus is None:
            return ""
        number = calls.constant(self.gpus)
        if number is None:
            return ""
        if isinstance(number, int) and 0 < number <= 4:
            return "[" + ", ".join(f"{quote}/gpu:{i}{quote}" for i in range(number)) + "]"
        text = self.file.source.segment(self.gpus)
        several = isinstance(self.gpus, ast.List | ast.Tuple)
        return f"[f{quote}/gpu:{{i}}{quote} for i in {text if several else f'range({text})'}]"

    def _device_block(self, statement: ast.stmt) -> ast.With | None:
        """`with tf.device("/cpu:0"):` around the template has the place of the scope."""
        if not isinstance(statement, ast.With) or len(statement.items) != 1:
            return None
        call = statement.items[0].context_expr
        if statement.items[0].optional_vars is not None or not isinstance(call, ast.Call):
            return None
        return (
            statement
            if self.file.names.path(call.func) in ("tensorflow.device", "tensorflow.compat.v1.device")
            else None
        )


def _is_at(file: File, edit: AnyEdit, statement: ast.stmt) -> bool:
    return isinstance(edit, Edit) and edit.start == edit.end == line_start(file, statement)


def _indented(file: File, statements: Sequence[ast.stmt], replaced: ast.stmt | None) -> list[Edit]:
    """Indent statements by one step more."""
    edits = under(file, statements, "", "x", replaced=replaced)
    first = edits[0]
    step = first.text[len(indent_of(file, statements[0])) + len("x:") + len(file.source.newline) :]
    return [Edit(first.start, first.end, step), *edits[1:]]


def _target(statement: ast.stmt, call: ast.Call) -> str | None:
    if isinstance(statement, ast.Assign) and statement.value is call and len(statement.targets) == 1:
        return ast.unparse(statement.targets[0])
    return None


def _loads(statement: ast.stmt) -> set[str]:
    return {node.id for node in ast.walk(statement) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}


def _stores(statement: ast.stmt) -> set[str]:
    return {node.id for node in ast.walk(statement) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
