"""`multi_gpu_model` becomes a `tf.distribute.MirroredStrategy`: one model, built and compiled under its scope.

The code that builds the model (its statements, or the call of a function) and `compile` move under `strategy.scope()`.
Template and parallel model are then the same model. Differences between native code and `multi_gpu_model` are reported
once, here.

```diff
 import tensorflow as tf
-from keras.utils import multi_gpu_model
-with tf.device('/cpu:0'):
+strategy = tf.distribute.MirroredStrategy(['/gpu:0', '/gpu:1'])
+with strategy.scope():
     model = build()
-parallel_model = multi_gpu_model(model, gpus=2)
-parallel_model.compile('sgd', 'mse')
+    parallel_model = model
+    parallel_model.compile('sgd', 'mse')
```
"""

from __future__ import annotations

import ast
import itertools
from collections.abc import Iterator, Sequence
from dataclasses import replace

from parallel_compat.migrate import calls, native
from parallel_compat.migrate.dotted_names import is_call_of
from parallel_compat.migrate.edits import AnyEdit, Edit
from parallel_compat.migrate.file import File, Findings
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

_ARGUMENTS = {"model", "gpus", "cpu_merge", "cpu_relocation"}
_BUILDS = ("keras.layers.", "keras.Input", "keras.Model", "keras.Sequential", "keras.models.", "keras.applications.")
_OPTIMIZERS = ("keras.optimizers.", "parallel_compat.legacy.optimizers.", "legacy_numerics.with_decay")
_SIMPLE = (ast.Expr, ast.Assign, ast.AugAssign, ast.AnnAssign)


class Unclear(Exception):
    """The source does not tell how; the message says what to do."""


def find(file: File) -> Findings:
    """Find calls of `multi_gpu_model`: one a run in each function, as each changes the lines around it."""
    done: set[int] = set()
    for call in file.tree.calls:
        path = file.names.path(call.func)
        if path not in PARALLEL_MODELS or path in file.keeps:
            continue
        scope = id(file.tree.scopes[call])
        if scope in done:
            continue
        try:
            wrapping = Wrapping(file, call)
            edits = wrapping.edits()
        except Unclear as error:
            yield file.attention(call, f"{error} Build and compile it under the scope of a `MirroredStrategy`.")
            continue
        done.add(scope)
        yield file.found(call, "The model is now built and compiled under a `MirroredStrategy`.", edits)
        if not wrapping.compiles:
            message = (
                "The model is compiled elsewhere, which a strategy refuses: compile it under "
                "`with model.distribute_strategy.scope():`."
            )
            yield replace(file.attention(call, message), rule=native.DIFFERENCES)


class Wrapping:
    """The edits for one call of `multi_gpu_model`.

    Raises:
        Unclear: it cannot be told which statements build the model.
    """

    def __init__(self, file: File, call: ast.Call) -> None:
        self.file = file
        self.call = call
        template, gpus = calls.argument(call, "model", 0), calls.argument(call, "gpus", 1)
        statement = statement_of(file, call)
        known = {keyword.arg for keyword in call.keywords} <= _ARGUMENTS and len(call.args) < 3
        if template is None or calls.has_stars(call) or statement is None or not known:
            raise Unclear("The arguments of `multi_gpu_model` are not known here.")
        self.template: ast.expr = template
        self.gpus: ast.expr | None = gpus
        self.guard: ast.expr | None = None
        self.statement: ast.stmt = statement
        value = file.tree.parents[call]
        if isinstance(value, ast.IfExp) and value.body is call:  # multi_gpu_model(model, n) if n > 1 else model
            self.parallel = _target(statement, value)
            if self.parallel is None or ast.unparse(value.orelse) != ast.unparse(template):
                raise Unclear("On one device another model is used.")
            self.guard = value.test
        else:
            self.parallel = _target(statement, call)
            self._is_plain(call)
        above = file.tree.parents[statement]
        if isinstance(above, ast.If) and self.guard is None:
            self._guarded(above)
        self.block = block_of(file, self.statement)
        self.index = self.block.index(self.statement)
        self.compiles: list[ast.stmt] = []

    def _is_plain(self, call: ast.Call) -> None:
        """The call is always made, once: it is no part of a loop, a condition or a function of its own."""
        for above in self.file.tree.ancestors(call):
            if isinstance(above, ast.stmt):
                return
            if isinstance(above, ast.IfExp | ast.BoolOp | ast.Lambda | ast.comprehension | ast.ListComp | ast.DictComp):
                raise Unclear("It depends on a condition whether the model is a parallel one.")

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
        return tensors in ([f"{template}.input", f"{template}.output"], [f"{template}.inputs", f"{template}.outputs"])

    def edits(self) -> list[AnyEdit]:
        """Return the edits."""
        file, block = self.file, self.block
        first, last = self._building()
        self.compiles = self._compile()
        first = self._with_optimizers(first)
        name, before, imports = self._strategy(file.source.quote, block[first])
        edits: list[AnyEdit] = [*imports]
        gone, inner = self._same_strategy(name, before, first, last)
        template = file.source.segment(self.template)
        device = self._device_block(block[first]) if first == last else None
        header = f"with {name}.scope()"
        simple = not isinstance(self.template, ast.Call) or self.guard is not None
        replaced = self.statement if simple and self.parallel is not None else None
        compiled = self._position(self.compiles[0]) if self.compiles else None
        if compiled is not None and self._is_one_block(first, compiled):
            last = compiled
        if device is not None:
            start, indent = line_start(file, device), indent_of(file, device)
            lines = "".join(indent + line + file.source.newline for line in before.splitlines())
            edits += [Edit(start, start, lines), file.replace(device.items[0].context_expr, f"{name}.scope()")]
            if block[first + 1 : last + 1]:
                edits += _indented(file, block[first + 1 : last + 1], replaced)
        else:
            edits += under(file, block[first : last + 1], before, header, replaced=replaced, inner=inner, gone=gone)
        if replaced is None:
            edits.append(file.replace(self.call, template))
        elif self.parallel == template:
            edits = [edit for edit in edits if not _is_at(file, edit, replaced)]
            edits.append(remove_statement(file, replaced))
        else:
            edits.append(file.replace(replaced, f"{self.parallel} = {template}"))
        later = [one for one in self.compiles if self._position(one) > last]
        for one in later:
            edits += under(file, [one], "", header)
        if not self.compiles:
            for one, receiver in self._other_compilations():
                self.compiles.append(one)
                later.append(one)
                edits += under(file, [one], "", f"with {receiver}.distribute_strategy.scope()")
        if any(not is_alone(file, one) for one in (*block[first : last + 1], *later, self.statement)):
            raise Unclear("Several statements stand on one line.")
        return edits

    def _building(self) -> tuple[int, int]:
        """Return the first and last of the statements that build the template."""
        block, name = self.block, ast.unparse(self.template)
        if isinstance(self.template, ast.Call):  # `multi_gpu_model(build(), 2)`
            first = last = self.index
        else:
            first, last = self._assigned(name)
        needed = {name} | _loads(block[last])
        for position in range(last - 1, -1, -1):
            if _stores(block[position]) & needed and self._builds(block[position]):
                first = min(first, position)
                needed |= _loads(block[position])
        for position in range(last + 1, self.index):
            if any(self._changes(node, name) for node in ast.walk(block[position])):
                last = position
        return first, last

    def _assigned(self, name: str) -> tuple[int, int]:
        """Return the first and last of the statements that give the template its name: `model`, `self.model`."""
        nodes: list[ast.AST]
        if isinstance(self.template, ast.Name):
            bindings = self.file.tree.scopes[self.template].find(name)
            nodes = [one.node for one in bindings if self._is_before(one.node)]
        else:
            assignments = [one for one in self.block[: self.index] if isinstance(one, ast.Assign)]
            nodes = [one for one in assignments if name in (ast.unparse(target) for target in one.targets)]
        if not nodes or not isinstance(self.template, ast.Name | ast.Attribute | ast.Subscript):
            raise Unclear(f"`{name}` is built elsewhere.")
        positions = [self._position(node) for node in nodes]
        return min(positions), max(positions)

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
        return is_call_of(node, "add", "pop", "build", "load_weights") and ast.unparse(calls.receiver(node)) == name

    def _compile(self) -> list[ast.stmt]:
        """Return the statements that compile the parallel model after it is made."""
        found = []
        for statement in self.block[self.index :] if self.parallel is not None else ():
            for node in ast.walk(statement):
                if is_call_of(node, "compile") and ast.unparse(calls.receiver(node)) == self.parallel:
                    one = statement_of(self.file, node)
                    if one is not None and self.file.tree.scopes[node] is self.file.tree.scopes[self.call]:
                        found.append(one)
        return found

    def _other_compilations(self) -> Iterator[tuple[ast.stmt, str]]:
        """Yield what compiles a model by another name, in the same function and after the model is made."""
        file = self.file
        for call in file.method_calls.get("compile", ()):
            statement = statement_of(file, call)
            if not isinstance(call.func, ast.Attribute) or not isinstance(call.func.value, ast.Name):
                continue
            same = file.tree.scopes[call] is file.tree.scopes[self.call] and call.lineno > self.call.lineno
            if same and isinstance(statement, ast.Expr) and file.kinds.of(call.func.value) in (None, MODEL):
                yield statement, call.func.value.id

    def _with_optimizers(self, first: int) -> int:
        """An optimizer that is made before has its place under the scope as well."""
        for statement in self.compiles:
            for name in _loads(statement) - {self.parallel}:
                for position, one in enumerate(self.block[: self.index]):
                    if name in _stores(one) and self._makes_optimizer(one) and position < first:
                        between = self.block[position:first]
                        if not all(isinstance(each, _SIMPLE) for each in between):
                            raise Unclear(f"The optimizer `{name}` is made before the model.")
                        first = position
        return first

    def _makes_optimizer(self, statement: ast.stmt) -> bool:
        return any(
            isinstance(node, ast.Call) and (self.file.names.target(node.func) or "").startswith(_OPTIMIZERS)
            for node in ast.walk(statement)
        )

    def _is_one_block(self, first: int, compiled: int) -> bool:
        between = self.block[first : compiled + 1]
        return compiled - self.index <= 6 and all(
            isinstance(one, (*_SIMPLE, ast.For, ast.With)) or one is self.statement for one in between
        )

    def _strategy(self, quote: str, before: ast.stmt) -> tuple[str, str, Sequence[Edit]]:
        """Return the name of the strategy, the lines that make it (none where it is there), and their imports."""
        file = self.file
        for value in (self.gpus, self.guard):
            if value is not None and self._is_bound_between(value, before):
                raise Unclear("The number of GPUs is known only after the model is built.")
        spelled = spell(file, f"tf.distribute.MirroredStrategy({self._devices(quote)})", self.statement)
        if spelled is None:
            raise Unclear("The name `tf` is taken here.")
        text, imports = spelled
        module = text.partition(".")[0]
        made_before = {ast.unparse(one) for one in file.tree.module.body if one.lineno < before.lineno}
        made_before |= {ast.unparse(one) for one in self.block if one.lineno < before.lineno}
        for number in itertools.count(1):
            name = "strategy" if number == 1 else f"strategy_{number}"
            lines = f"{name} = {text}"
            if self.guard is not None:
                one_device = f"{name} = {module}.distribute.get_strategy()"
                lines = f"if {file.source.segment(self.guard)}:\n    {lines}\nelse:\n    {one_device}"
            if ast.unparse(ast.parse(lines)) in made_before:
                return name, "", imports
            within = self.block[self.block.index(before) : self.index]
            if not file.tree.scopes[self.call].find(name) or any(_is_text(one, lines) for one in within):
                return name, lines, imports
        raise AssertionError("there are more names than strategies")

    def _same_strategy(self, name: str, made: str, first: int, last: int) -> tuple[list[ast.stmt], ast.With | None]:
        """Return where a model in this one (a GAN's discriminator) got the strategy, and the `with` of its own."""
        between = self.block[first : last + 1]
        gone = [one for one in between if made and _is_text(one, made)]
        scopes = [
            one for one in between if isinstance(one, ast.With) and ast.unparse(one.items[0]) == f"{name}.scope()"
        ]
        if len(scopes) > 1:
            raise Unclear("Several models in it have replicas of their own.")
        return gone, scopes[0] if scopes and gone else None

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


def _is_text(statement: ast.stmt, text: str) -> bool:
    return ast.unparse(statement) == ast.unparse(ast.parse(text))


def _is_at(file: File, edit: AnyEdit, statement: ast.stmt) -> bool:
    return isinstance(edit, Edit) and edit.start == edit.end == line_start(file, statement)


def _indented(file: File, statements: Sequence[ast.stmt], replaced: ast.stmt | None) -> list[Edit]:
    """Indent statements by one step more."""
    edits = under(file, statements, "", "x", replaced=replaced)
    first = edits[0]
    step = first.text[len(indent_of(file, statements[0])) + len("x:") + len(file.source.newline) :]
    return [Edit(first.start, first.end, step), *edits[1:]]


def _target(statement: ast.stmt, call: ast.expr) -> str | None:
    if isinstance(statement, ast.Assign) and statement.value is call and len(statement.targets) == 1:
        return ast.unparse(statement.targets[0])
    return None


def _loads(statement: ast.stmt) -> set[str]:
    return {node.id for node in ast.walk(statement) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}


def _stores(statement: ast.stmt) -> set[str]:
    return {node.id for node in ast.walk(statement) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
