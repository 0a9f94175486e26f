"""One source under the rules: its tree, names and kinds, and the means to report and to import."""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property, lru_cache
from typing import Any, TypeAlias

from parallel_compat.migrate import kinds, parsed, project_facts, remembered
from parallel_compat.migrate.dotted_names import Names, from_module, modules_of, packages_of, root_name
from parallel_compat.migrate.edits import AnyEdit, Edit
from parallel_compat.migrate.findings import Finding, Status
from parallel_compat.migrate.kinds import Kinds
from parallel_compat.migrate.project_facts import ProjectFacts
from parallel_compat.migrate.remembered import Remembered
from parallel_compat.migrate.scopes import Binding
from parallel_compat.migrate.source import Source, Undecodable, decode
from parallel_compat.names import eras, old_packages, table
from parallel_compat.names.eras import Era
from parallel_compat.names.other_packages import NUMPY

Findings: TypeAlias = Iterator[Finding]  # what a rule yields of a file

_IGNORE = re.compile(r"#\s*parallel-compat:\s*ignore(?:\[([\w\s,-]*)\])?")
_KERAS = re.compile(r"keras|\b(?:tensorflow|parallel_compat|alt_model_checkpoint|(?:fit|evaluate|predict)_generator)\b")
# What a file of a Keras project that names no Keras may have: methods of models, histories, names that other packages
# dropped.
ELSEWHERE = (
    r"\b(?:(?:load|save)_weights|predict_classes|nb_epoch|\w+\.history|(?:np|numpy)\.(?:{})"
    r"|(?:import|from)\s+(?:{})|os\.(?:errno|getcwdu))\b|(?<!\bre)\.compile\(|\bdef\s+next\(self\)"
).format("|".join(NUMPY), "|".join(old_packages.packages() - {"numpy", "os"}))
_ELSEWHERE = re.compile(ELSEWHERE)
# Methods that nothing but a model of Keras has: a script that gets its model from another file need not import Keras.
_OF_MODELS = ("fit_generator", "evaluate_generator", "predict_generator")
_BACKEND = "parallel_compat.legacy.backend"  # its functions are many, and named as others are: `mean`, `dot`
# `exec(...)`, and `%run` of a notebook, of which the parser sees the rest.
_BRINGS_NAMES = re.compile(r"\bexec(?:file)?\(|^[ \t]*0#un\b|\brun_line_magic\(", re.MULTILINE)
_ROOTS = ("keras", "tensorflow", "parallel_compat", "alt_model_checkpoint", "keras_preprocessing")


def mentions_keras(text: str) -> bool:
    """Return whether a text names Keras, TensorFlow or a method of Keras alone: a file that does not is not parsed."""
    return _KERAS.search(text) is not None


def is_of_interest(text: str) -> bool:
    """Return whether a text names Keras, or may have to change with a project that does."""
    return mentions_keras(text) or _ELSEWHERE.search(text) is not None


class File:
    """A source, and what rules need of it.

    Args:
        path: where it lies, for what it imports from the files around it.
        era: whose Keras it was written for, where the user says so (`--era`).
    """

    def __init__(
        self, text: str, path: str | None = None, project: ProjectFacts = project_facts.NONE, era: Era | None = None
    ) -> None:
        self.source = Source(text)
        self.project = project
        self.tree = parsed.read(text)
        self.names = Names(self.tree, lambda: self.era is Era.TF_KERAS_2_2)
        self.kinds = Kinds(self.tree, self.names, path, _kinds_in)
        self.redirects: dict[Binding, str] = {}
        self.use_redirects: dict[ast.expr, str] = {}
        self._taken: dict[str, str] = {}  # the names that edits import, and what of this package they are
        self.keeps: frozenset[str] = frozenset()  # names of this package that the native target leaves
        self.rule = ""  # the one that runs
        self.has_given_era = era is not None
        if era is not None:
            self.era, self.old = era, True

    @cached_property
    def sequentials(self) -> Kinds:
        """What is made by `Sequential(...)` and nothing else."""
        return Kinds(self.tree, self.names, self.kinds.path, _sequentials_in, kinds.sequential)

    @cached_property
    def imports_keras(self) -> bool:
        """Whether the source imports Keras or TensorFlow under any spelling, or trains a model of Keras."""
        for statement in self.tree.imports:
            if not packages_of(statement).isdisjoint(_ROOTS):
                return True
            if isinstance(statement, ast.ImportFrom) and any(alias.name == "keras" for alias in statement.names):
                return True  # `from .backend import keras`
        return bool(self.tree.imports) and any(self.method_calls.get(method) for method in _OF_MODELS)

    @cached_property
    def remembered(self) -> Remembered | None:
        """What the source says of itself where `migrate` has rewritten it."""
        return remembered.read(self.source.text)

    @cached_property
    def era(self) -> Era | None:
        """Whose Keras the source imports, or the project where the source does not tell; None where neither does."""
        if self.remembered is not None and self.remembered.era is not None:
            return self.remembered.era
        found = eras.verdict(project_facts.evidence_of(self.tree), self.project.evidence)
        return found.era if found is not None else None

    @property
    def reads_models(self) -> bool:
        """Whether the project reads models or their configs, in this file or another one."""
        return bool(self.project.reads_models or project_facts.READS_MODELS.search(self.source.text))

    @property
    def is_of_standalone_keras(self) -> bool:
        """Whether the source was written for standalone Keras, not `tf.keras`; not where nothing says so."""
        return self.era is not None and self.era.is_standalone

    def era_of_call(self, call: ast.Call) -> Era:
        """Return the era of a call: the one passed, the file's, or standalone Keras's if the name comes from there."""
        path = self.names.path(call.func) or ""
        if path.startswith("keras.") and not self.is_of_standalone_keras and not self.has_given_era:
            return Era.KERAS_2_2_4
        return self.era or Era.KERAS_2_2_4

    @property
    def is_migrated(self) -> bool:
        """Whether the source has been rewritten, or names this package."""
        return self.remembered is not None or "parallel_compat" in self.source.text

    @cached_property
    def old(self) -> bool:
        """Whether the source has something that only code of Keras 2 imports or calls."""
        if self.is_migrated or "fit_generator" in self.method_calls:
            return True
        for statement in self.tree.imports:
            paths = modules_of(statement)
            if isinstance(statement, ast.ImportFrom):
                paths = [f"{module}.{alias.name}" for module in paths for alias in statement.names]
            entries = (table.lookup(path) for path in paths)
            if any(entry is not None and entry.status is not table.Status.SAME for entry in entries):
                return True
        return any(self.calls_by_target.get(target) for target in _OLD_CALLS)

    @cached_property
    def calls_by_target(self) -> dict[str, list[ast.Call]]:
        """The calls of imported things, by what these are today (under `keras`)."""
        calls: dict[str, list[ast.Call]] = {}
        for call in self.tree.calls:
            target = self.names.target(call.func)
            if target is not None:
                calls.setdefault(target, []).append(call)
        return calls

    @cached_property
    def method_calls(self) -> dict[str, list[ast.Call]]:
        """The calls of methods of objects, by the method's name; functions of modules are none.

        Nor are methods that classes of the project define: these are theirs, whatever the class is derived from.
        """
        calls: dict[str, list[ast.Call]] = {}
        for call in self.tree.calls:
            func = call.func
            if not isinstance(func, ast.Attribute) or self.names.is_module(func.value):
                continue
            if not self.kinds.has_own(func.value, func.attr):
                calls.setdefault(func.attr, []).append(call)
        return calls

    def made_by(self, node: ast.AST | None) -> str:
        """Return what is called to make a value, as it is called today; "" for what no imported thing makes."""
        return self.names.target(node.func) or "" if isinstance(node, ast.Call) else ""

    def calls_on(self, of: str, *methods: str) -> Iterator[tuple[ast.Call, ast.expr]]:
        """Yield the calls of methods, each with its object, which is of a kind or may be."""
        for method in methods:
            for call in self.method_calls.get(method, ()):
                assert isinstance(call.func, ast.Attribute)
                if self.kinds.of(call.func.value) in (None, of):
                    yield call, call.func.value

    def calls_under(self, *paths: str) -> Iterator[tuple[str, ast.Call]]:
        """Yield the calls of what is today at one of these paths, or below one that ends with a dot."""
        below = tuple(path for path in paths if path.endswith("."))
        for target, calls in self.calls_by_target.items():
            if target in paths or target.startswith(below):
                yield from ((target, call) for call in calls)

    def calls_of_class(self, class_: ast.ClassDef) -> Iterator[ast.Call]:
        """Yield the calls that make objects of a class of the file."""
        return (call for call in self.tree.calls if self.kinds.definition(call.func) is class_)

    def bases_of(self, class_: ast.ClassDef) -> list[str]:
        """Return what the bases of a class are today, "" for those that are not imported."""
        return [self.names.target(base) or "" for base in class_.bases]

    def classes_of(self, *kinds: str) -> Iterator[ast.ClassDef]:
        """Yield the classes whose instances are of one of these kinds."""
        return (class_ for class_ in self.tree.classes if self.kinds.of_class(class_) in kinds)

    # Findings.

    def found(
        self,
        node: ast.expr | ast.stmt | ast.keyword | ast.alias,
        message: str,
        edits: Iterable[AnyEdit] | None = (),
        *,
        unsafe: bool | str = False,
        hint: bool = False,
        otherwise: str = "",
    ) -> Finding:
        """Make a finding of the rule that runs.

        Args:
            edits: what rewrites it; None where that cannot be written, and somebody has to look.
            unsafe: whether only `--unsafe` makes them; a reason is added to the message.
            hint: whether it counts in a legacy project only.
            otherwise: the message where there are no edits, if it is another.
        """
        if edits is None:
            return self.attention(node, otherwise or message, hint=hint)
        status = Status.UNSAFE if unsafe else Status.REWRITTEN
        message = f"{message} (Unsafe: {unsafe})" if isinstance(unsafe, str) and unsafe else message
        return Finding(self.rule, self.source.start(node), status, message, tuple(edits), hint)

    def attention(
        self, node: ast.expr | ast.stmt | ast.keyword | ast.alias, message: str, *, hint: bool = False
    ) -> Finding:
        """Make a finding that somebody has to look at."""
        return Finding(self.rule, self.source.start(node), Status.ATTENTION, message, (), hint)

    def redirected(self, node: ast.expr, target: str, message: str, otherwise: str = "") -> Finding:
        """Have a name mean a target; where that cannot be written, make a finding that somebody has to look at."""
        return self.found(node, message, () if self.redirect(node, target) else None, otherwise=otherwise)

    def found_in_old_code(
        self, node: ast.expr | ast.keyword, message: str, edits: Iterable[AnyEdit], what: str
    ) -> Finding:
        """Make a finding of what newer code spells alike and means otherwise: unsafe, unless the era is passed."""
        if self.has_given_era:
            return self.found(node, message, edits)
        return self.found(node, message, edits, unsafe=f"newer code wants {what}.", hint=not self.old)

    @cached_property
    def _ignores(self) -> dict[int, frozenset[str] | None]:
        ignores: dict[int, frozenset[str] | None] = {}
        if "parallel-compat:" in self.source.text:
            for number in range(1, len(self.source.line_starts) + 1):
                match = _IGNORE.search(self.source.line(number))
                if match:
                    rules = match.group(1)
                    ignores[number] = None if rules is None else frozenset(rule.strip() for rule in rules.split(","))
        return ignores

    def ignored(self, rule: str, offset: int) -> bool:
        """Return whether a comment on the line of `offset` excludes it from a rule."""
        if not self._ignores:
            return False
        line, _ = self.source.position(offset)
        rules = self._ignores.get(line, frozenset())
        return rules is None or rule in rules

    # Edits.

    def replace(self, node: ast.expr | ast.stmt, text: str) -> Edit:
        """Replace a node's text."""
        return Edit(self.source.start(node), self.source.end(node), text)

    def opening(self, call: ast.Call) -> int:
        """Return the offset of the parenthesis that opens a call's arguments."""
        position = self.source.end(call.func)
        text = self.source.text
        while text[position] != "(":  # blanks, comments, and the parentheses around the callee
            position = _line_end(text, position) if text[position] == "#" else position + 1
        return position

    def redirect(self, node: ast.expr, target: str) -> bool:
        """Have a name or attribute chain mean `target` instead of what it imports.

        The import is changed where the node is an imported name, else the chain itself; the rule on names makes
        the edit. Returns whether that can be done.
        """
        if isinstance(node, ast.Name):
            bindings = self.tree.bindings(node)
            if not bindings and self.names.star_path(node.id):
                self.use_redirects[node] = target
                return True
            if not bindings or any(self.names.path_of_binding(binding) is None for binding in bindings):
                return False
            for binding in bindings:
                if not isinstance(binding.statement, ast.ImportFrom):
                    return False
                self.redirects[binding] = target
            return True
        if root_name(node) is None:
            return False
        self.use_redirects[node] = target
        return True

    def reference(self, target: str, at: ast.AST) -> tuple[str, tuple[Edit, ...]] | None:
        """Return how to spell a dotted target in this source, and the edits that import it.

        A module that is imported already is used (`tf.keras...`, `keras...`). A name of this package is imported by
        itself where the file has no other use of it; else its full path is written. Imports come after the first one
        of Keras.

        Returns the spelling and the edits, or None where the name is taken by something else.
        """
        best = ""
        for path in self._bound_by_statements:
            means = path.removeprefix("tensorflow.") if path != "tensorflow" else path  # `tf.keras` is Keras 3
            if path in _STAYING and target.startswith(means + ".") and len(means) > len(best):
                for name, _ in self.names_of(path, at):
                    best, spelled = means, name + target[len(means) :]
                    break
        if best and not target.startswith("parallel_compat."):
            return spelled, ()
        top = target.partition(".")[0]
        module = (target if target in _MODULES else target.rpartition(".")[0]) if top == "parallel_compat" else top
        for binding in self.tree.root.bindings.get(top, ()):
            if self.names.path_of_binding(binding) != top or not isinstance(binding.statement, ast.Import):
                return None
            if isinstance(binding.node, ast.alias) and binding.node.name == module:
                return target, ()
        if top == "parallel_compat" and target not in _MODULES:
            if (known := self._imported_as(target, at)) is not None:
                return known, ()
            if module == _BACKEND and (named := self._named_backend(at)) is not None:
                return f"{named[0]}.{target.rpartition('.')[2]}", named[1]
            if (free := self._free_name(target)) is not None:
                return free, (self.import_after(f"from {module} import {free}", at),)
        return target, (self.import_after(f"import {module}", at),)

    def _imported_as(self, target: str, at: ast.AST) -> str | None:
        """Return the name by which the file has imported a target already, before what stands at `at` runs."""
        end = self.source.start(at) if isinstance(at, ast.expr | ast.stmt) else len(self.source.text)
        for name, binding in self.names_of(target, at):
            if isinstance(binding.statement, ast.ImportFrom) and self.source.start(binding.statement) < end:
                return name
        return None

    def names_of(self, path: str, at: ast.AST) -> Iterator[tuple[str, Binding]]:
        """Yield the names that a statement of the module alone binds to a path, and that mean it at a node as well."""
        for name, binding in self._bound_by_statements.get(path, ()):
            if binding not in self.redirects and not self.shadows(name, binding, at):
                yield name, binding

    def _named_backend(self, at: ast.AST) -> tuple[str, tuple[Edit, ...]] | None:
        """Return the name of the backend's module here, `K` if it has none, and the edits that import it."""
        if (known := self._imported_as(_BACKEND, at)) is not None:
            return known, ()
        if self._has_unknown_names or "K" in self._names_in_use or self._taken.setdefault("K", _BACKEND) != _BACKEND:
            return None
        package, _, name = _BACKEND.rpartition(".")
        return "K", (self.import_after(f"from {package} import {name} as K", at),)

    def _free_name(self, target: str) -> str | None:
        """Return the name by which a target can be imported: its own, where it stands for nothing else in this file."""
        module, _, name = target.rpartition(".")
        if self._has_unknown_names or module == _BACKEND or hasattr(builtins, name):
            return None
        if name in self._names_in_use:
            return None
        return name if self._taken.setdefault(name, target) == target else None

    @cached_property
    def _bound_by_statements(self) -> dict[str, list[tuple[str, Binding]]]:
        """The names that one statement of the module binds, and no other, by what they stand for."""
        found: dict[str, list[tuple[str, Binding]]] = {}
        for name, bindings in self.tree.root.bindings.items():
            statement = bindings[0].statement
            if len(bindings) > 1 or statement is None or self.tree.parents[statement] is not self.tree.module:
                continue
            path = self.names.path_of_binding(bindings[0])
            if path is not None:
                found.setdefault(path, []).append((name, bindings[0]))
        return found

    @cached_property
    def _names_in_use(self) -> frozenset[str]:
        """All names that stand for something anywhere in the source."""
        bound = (name for scope in set(self.tree.scopes.values()) for name in scope.bindings)
        return frozenset((*bound, *(each.id for each in self.tree.names)))

    @cached_property
    def _has_unknown_names(self) -> bool:
        """Whether something brings names that the source does not tell."""
        return bool(self.tree.stars) or _BRINGS_NAMES.search(self.source.text) is not None

    def is_argument(self, name: ast.Name) -> bool:
        """Return whether a name is nothing but an argument of a function around it."""
        bindings = self.tree.bindings(name)
        return bool(bindings) and all(isinstance(each.node, ast.arg) for each in bindings)

    def shadows(self, name: str, binding: Binding, at: ast.AST) -> bool:
        for above in [at, *self.tree.ancestors(at)]:
            scope = self.tree.scopes.get(above)
            if scope is not None:
                return scope.find(name)[:1] != [binding]
        return False

    def replaced_by(self, target: str, node: ast.expr) -> list[Edit] | None:
        """Replace an expression by the name of a target; None where the name is taken."""
        spelled = self.reference(target, node)
        return None if spelled is None else [self.replace(node, spelled[0]), *spelled[1]]

    def wrapped_in_call(self, target: str, node: ast.expr) -> list[Edit] | None:
        """Put a call of a function around an expression; None where the function's name is taken."""
        spelled = self.reference(target, node)
        return None if spelled is None else [*self.around(node, f"{spelled[0]}(", ")"), *spelled[1]]

    def replaced_by_call(self, target: str, node: ast.expr, *arguments: ast.expr) -> list[Edit] | None:
        """Replace an expression by a function's call on other ones; None where the function's name is taken."""
        spelled = self.reference(target, node)
        given = ", ".join(map(self.source.segment, arguments))
        return None if spelled is None else [self.replace(node, f"{spelled[0]}({given})"), *spelled[1]]

    def read_by_function(self, target: str, node: ast.Attribute, more: str = "") -> list[Edit] | None:
        """Make `f(x)` of `x.attribute`, or `f(x, more)`; None where the function's name is taken."""
        spelled = self.reference(target, node)
        if spelled is None:
            return None
        start, end = self.source.start(node), self.source.end(node)
        return [Edit(start, start, f"{spelled[0]}("), Edit(self.dot_of(node), end, f"{more})"), *spelled[1]]

    def around(self, node: ast.expr, before: str, after: str) -> list[Edit]:
        """Put text before and after a node."""
        start, end = self.source.start(node), self.source.end(node)
        return [Edit(start, start, before), Edit(end, end, after)]

    def dot_of(self, attribute: ast.Attribute) -> int:
        """Return the offset of the dot before an attribute's name."""
        end = self.source.end(attribute) - len(attribute.attr)
        return self.source.text.rindex(".", self.source.start(attribute), end)

    def import_after(self, statement: str, at: ast.AST | None = None) -> Edit:
        """Insert an import statement after the first import of Keras or TensorFlow at the top of the module.

        One of Keras or TensorFlow itself comes where the order of the imports around that one wants it, if they have an
        order: by module, or plain imports first.
        """
        used = self.source.start(at) if isinstance(at, ast.expr | ast.stmt) else len(self.source.text)

        def first(is_wanted: Callable[[ast.stmt], bool]) -> ast.stmt | None:
            found = (node for node in self._plain_imports if is_wanted(node) and self.source.start(node) < used)
            return next(found, None)

        anchor = first(_is_keras_import) or first(_is_plain_import)
        if anchor is None:
            return self._import_first(statement)
        new = ast.parse(statement).body[0]
        if not _is_keras_import(new):
            return self.insert_statement(self._last_before(new, anchor), statement)
        group = self._group_of_imports(anchor)
        for key in (_plain_first, _by_module):
            keys = [key(node) for node in group]
            if keys == sorted(keys):
                before = [node for node in group if key(node) <= key(new)]
                if before:
                    return self.insert_statement(before[-1], statement)
                start = self.source.start(group[0])
                return Edit(start, start, statement + self.source.newline)
        return self.insert_statement(anchor, statement)

    def _last_before(self, new: ast.stmt, anchor: ast.stmt) -> ast.stmt:
        """Return the statement after which an import of this package stands in the order of those behind `anchor`."""
        group = self._group_of_imports(anchor)
        behind = group[group.index(anchor) + 1 :]
        for statement in behind:
            if not is_of_this_package(statement):
                break
            if _from_first(statement) <= _from_first(new):
                anchor = statement
        return anchor

    @cached_property
    def _plain_imports(self) -> list[ast.stmt]:
        return [node for node in self.tree.module.body if _is_plain_import(node)]

    def _group_of_imports(self, anchor: ast.stmt) -> list[ast.stmt]:
        """Return the imports on lines that follow one another, of which `anchor` is one."""
        body, line = self.tree.module.body, self.source.position
        first = last = body.index(anchor)

        def follow(one: ast.stmt, other: ast.stmt) -> bool:
            both = _is_plain_import(one) and _is_plain_import(other)
            return both and line(self.source.end(one))[0] + 1 == line(self.source.start(other))[0]

        while first and follow(body[first - 1], body[first]):
            first -= 1
        while last + 1 < len(body) and follow(body[last], body[last + 1]):
            last += 1
        return body[first : last + 1]

    def _import_first(self, statement: str) -> Edit:
        body = self.tree.module.body
        head = 0
        if body and isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant):
            head = 1
        while head < len(body) and _is_future(body[head]):
            head += 1
        if head:
            return self.insert_statement(body[head - 1], statement)
        start = self.source.start(body[0]) if body else len(self.source.text)
        if body and isinstance(body[0], ast.FunctionDef | ast.ClassDef) and body[0].decorator_list:
            start = self.source.start(body[0].decorator_list[0]) - 1
        return Edit(start, start, statement + self.source.newline)

    def insert_statement(self, after: ast.stmt, statement: str) -> Edit:
        """Insert a statement after another one, in the same block."""
        source = self.source
        end = source.end(after)
        line_end = _line_end(source.text, end)
        rest = source.text[end:line_end].strip()
        indent = source.before(source.start(after))
        if indent.strip() or (rest and not rest.startswith("#")):  # `try: import keras`, `import keras; x = 1`
            return Edit(end, end, "; " + statement)
        return Edit(line_end, line_end, source.newline + indent + statement)


def _by_module(statement: Any) -> tuple[str, bool]:
    if isinstance(statement, ast.ImportFrom):
        return ("." * statement.level + (statement.module or "")).lower(), True
    return statement.names[0].name.lower(), False


def _plain_first(statement: Any) -> tuple[bool, str]:
    module, is_from = _by_module(statement)
    return is_from, module


_MODULES = (
    "parallel_compat",
    *(f"parallel_compat.legacy.{name}" for name in ("backend", "device_lib", "optimizers", "utils")),
)
_OLD_CALLS = ("parallel_compat.multi_gpu_model", "tensorflow.Session", "tensorflow.placeholder")
_STAYING = frozenset(
    f"{root}{module}"
    for root in ("keras", "tensorflow.keras")
    for module in ("", ".layers", ".models", ".optimizers", ".callbacks", ".utils", ".losses", ".regularizers")
) | {"tensorflow"}


def _from_first(statement: ast.stmt) -> tuple[bool, str]:
    module, is_from = _by_module(statement)
    return not is_from, module


def is_of_this_package(statement: ast.stmt) -> bool:
    """Return whether a statement imports from `parallel_compat`."""
    return packages_of(statement) == {"parallel_compat"}


def _is_keras_import(node: ast.stmt) -> bool:
    if packages_of(node) & {"keras", "tensorflow"}:
        return True
    return isinstance(node, ast.ImportFrom) and table.root_of(from_module(node) or "") is not None


def _is_plain_import(node: ast.stmt) -> bool:
    return isinstance(node, ast.Import | ast.ImportFrom) and not _is_future(node)


def _is_future(node: ast.stmt) -> bool:
    return isinstance(node, ast.ImportFrom) and node.module == "__future__"


def _line_end(text: str, position: int) -> int:
    while position < len(text) and text[position] not in "\r\n":
        position += 1
    return position


def _kinds_in(path: str) -> Kinds | None:
    """Read the kinds of another file of the project; None if it cannot be read or has nothing of Keras."""
    file = _read(path)
    return file.kinds if file is not None else None


def _sequentials_in(path: str) -> Kinds | None:
    file = _read(path)
    return file.sequentials if file is not None else None


@lru_cache(maxsize=256)
def _read(path: str) -> File | None:
    try:
        with open(path, "rb") as stream:
            text, _, _ = decode(stream.read())
        return File(text, path) if mentions_keras(text) or ".trainable" in text else None
    except (OSError, Undecodable, SyntaxError, RecursionError):
        return None
