"""Which binding a name refers to: Python's scopes, read from the syntax tree.

One walk notes for each scope what binds each of its names (assignments, imports, parameters, definitions), and
for each node its parent and its scope. A name is looked up as Python does: its own scope, the enclosing functions
(classes are skipped), the module.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TypeAlias

FunctionNode: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda


@dataclass(eq=False, slots=True)
class Binding:
    """One place that gives a name its value."""

    name: str  # the name
    # The statement or expression that binds it: an `ast.alias` for an import, an `ast.arg` for a parameter, a
    # definition, or the target of an assignment.
    node: ast.AST
    scope: Scope  # where it is bound
    value: ast.expr | None = None  # the expression assigned, where there is exactly one and it is not unpacked
    statement: ast.Import | ast.ImportFrom | None = None  # for imports, the import statement
    unpacked: tuple[ast.expr, int] | None = None


@dataclass(eq=False, slots=True)
class Scope:
    """A module, class, function or comprehension."""

    node: ast.AST
    parent: Scope | None
    bindings: dict[str, list[Binding]] = field(default_factory=dict)
    passed_on: dict[str, Scope] = field(default_factory=dict)  # global and nonlocal names

    @property
    def is_class(self) -> bool:
        return isinstance(self.node, ast.ClassDef)

    def find(self, name: str) -> list[Binding]:
        """Return the bindings that a load of `name` in this scope may see, or [] where nothing binds it."""
        scope: Scope | None = self
        first = True
        while scope is not None:
            if first or not scope.is_class:
                if name in scope.passed_on:
                    target = scope.passed_on[name]
                    return target.bindings.get(name, [])
                if name in scope.bindings:
                    return scope.bindings[name]
            first = False
            scope = scope.parent
        return []


@dataclass(eq=False)
class Tree:
    """A module's syntax tree with parents, scopes, and its nodes by type."""

    module: ast.Module
    parents: dict[ast.AST, ast.AST]
    scopes: dict[ast.AST, Scope]
    root: Scope
    calls: list[ast.Call]
    attributes: list[ast.Attribute]
    names: list[ast.Name]
    imports: list[ast.Import | ast.ImportFrom]
    imported: dict[ast.alias, Binding]
    classes: list[ast.ClassDef]
    functions: list[FunctionNode]
    strings: list[ast.Constant]
    subscripts: list[ast.Subscript]
    stars: list[ast.ImportFrom]

    def ancestors(self, node: ast.AST) -> Iterator[ast.AST]:
        """Yield the nodes around `node`, nearest first."""
        while node in self.parents:
            node = self.parents[node]
            yield node

    def bindings(self, node: ast.AST | None) -> list[Binding]:
        """Return what binds a name; [] where nothing does, or the node is no name."""
        scope = self.scopes.get(node) if isinstance(node, ast.Name) else None
        return scope.find(node.id) if scope is not None and isinstance(node, ast.Name) else []

    def value_of(self, name: ast.Name) -> ast.expr | None:
        """Return what is assigned to a name that is bound once; None where it is not, or is not known."""
        bindings = self.bindings(name)
        return bindings[0].value if len(bindings) == 1 else None

    def resolved(self, node: ast.expr | None) -> ast.expr | None:
        """Return what a name stands for, None where that is not known; other expressions as they are."""
        return self.value_of(node) if isinstance(node, ast.Name) else node

    def enclosing_function(self, node: ast.AST) -> FunctionNode | None:
        """Return the innermost function that `node` stands in; None on the level of the module."""
        return next((above for above in self.ancestors(node) if isinstance(above, FunctionNode)), None)

    def enclosing_class(self, node: ast.AST) -> ast.ClassDef | None:
        """Return the class in one of whose methods `node` stands."""
        return next((above for above in self.ancestors(node) if isinstance(above, ast.ClassDef)), None)


def methods_of(class_: ast.ClassDef) -> dict[str, ast.FunctionDef]:
    """Return the methods that a class defines, by name."""
    return {each.name: each for each in class_.body if isinstance(each, ast.FunctionDef)}


def defaults_of(arguments: ast.arguments) -> dict[ast.arg, ast.expr]:
    """Return the parameters that have a default, with it."""
    positional = [*arguments.posonlyargs, *arguments.args]
    found = dict(zip(reversed(positional), reversed(arguments.defaults), strict=False))
    return found | {arg: value for arg, value in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True) if value}


def read(module: ast.Module, *, declares: bool = True) -> Tree:
    """Read the scopes of a module.

    Args:
        declares: whether the source has the word `global` at all; without it one walk per function is saved.
    """
    root = Scope(module, None)
    tree = Tree(module, {}, {}, root, [], [], [], [], {}, [], [], [], [], [])
    _Walk(tree, declares).block(module.body, module, root)
    return tree


class _Walk:
    def __init__(self, tree: Tree, declares: bool) -> None:
        self.tree = tree
        self.declares = declares

    def block(self, statements: list[ast.stmt], parent: ast.AST, scope: Scope) -> None:
        for statement in statements:
            self.child(statement, parent, scope)

    def visit(self, node: ast.AST, scope: Scope) -> None:
        method = getattr(self, "visit_" + type(node).__name__, None)
        if method is not None:
            method(node, scope)
        else:
            self.children(node, scope)

    def child(self, node: ast.AST, parent: ast.AST, scope: Scope) -> None:
        self.tree.parents[node] = parent
        self.visit(node, scope)

    def children(self, node: ast.AST, scope: Scope) -> None:
        parents = self.tree.parents
        for name in node._fields:
            child = getattr(node, name, None)
            if isinstance(child, ast.AST):
                parents[child] = node
                self.visit(child, scope)
            elif isinstance(child, list):
                for item in child:
                    if isinstance(item, ast.AST):
                        parents[item] = node
                        self.visit(item, scope)

    def bind(self, name: str, node: ast.AST, scope: Scope, value: ast.expr | None = None) -> Binding:
        home = scope.passed_on.get(name, scope)
        binding = Binding(name, node, home, value)
        home.bindings.setdefault(name, []).append(binding)
        return binding

    # Expressions that are kept in lists, so that rules need no walk of their own.

    def visit_Name(self, node: ast.Name, scope: Scope) -> None:
        self.tree.scopes[node] = scope
        self.tree.names.append(node)
        if isinstance(node.ctx, ast.Store):
            self.bind(node.id, node, scope)

    def visit_Attribute(self, node: ast.Attribute, scope: Scope) -> None:
        self.tree.attributes.append(node)
        self.with_scope(node, scope)

    def visit_Call(self, node: ast.Call, scope: Scope) -> None:
        self.tree.calls.append(node)
        self.with_scope(node, scope)

    def visit_Subscript(self, node: ast.Subscript, scope: Scope) -> None:
        self.tree.subscripts.append(node)
        self.with_scope(node, scope)

    def with_scope(self, node: ast.AST, scope: Scope) -> None:
        self.tree.scopes[node] = scope
        self.children(node, scope)

    def visit_Constant(self, node: ast.Constant, scope: Scope) -> None:
        if isinstance(node.value, str):
            self.tree.strings.append(node)
            self.tree.scopes[node] = scope

    # Bindings.

    def visit_Import(self, node: ast.Import, scope: Scope) -> None:
        self.tree.imports.append(node)
        self.tree.scopes[node] = scope
        for alias in node.names:
            self.tree.parents[alias] = node
            self.imported(alias, alias.asname or alias.name.partition(".")[0], node, scope)

    def visit_ImportFrom(self, node: ast.ImportFrom, scope: Scope) -> None:
        self.tree.imports.append(node)
        self.tree.scopes[node] = scope
        for alias in node.names:
            self.tree.parents[alias] = node
            if alias.name == "*":
                self.tree.stars.append(node)
            else:
                self.imported(alias, alias.asname or alias.name, node, scope)

    def imported(self, alias: ast.alias, name: str, statement: ast.Import | ast.ImportFrom, scope: Scope) -> None:
        self.tree.imported[alias] = binding = self.bind(name, alias, scope)
        binding.statement = statement

    def visit_Assign(self, node: ast.Assign, scope: Scope) -> None:
        self.child(node.value, node, scope)
        for target in node.targets:
            self.tree.parents[target] = node
            self.assign(target, node.value, scope)

    def visit_AnnAssign(self, node: ast.AnnAssign, scope: Scope) -> None:
        self.children(node, scope)
        if isinstance(node.target, ast.Name) and node.value is not None:
            scope.find(node.target.id)[-1].value = node.value

    def visit_NamedExpr(self, node: ast.NamedExpr, scope: Scope) -> None:
        self.child(node.value, node, scope)
        home = scope
        while isinstance(home.node, ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp) and home.parent:
            home = home.parent
        self.tree.parents[node.target] = node
        self.assign(node.target, node.value, home)

    def assign(self, target: ast.expr, value: ast.expr, scope: Scope) -> None:
        if isinstance(target, ast.Name):
            self.tree.scopes[target] = scope
            self.tree.names.append(target)
            self.bind(target.id, target, scope, value)
        elif isinstance(target, ast.Tuple | ast.List):
            for index, item in enumerate(target.elts):
                self.tree.parents[item] = target
                if isinstance(item, ast.Name):
                    self.tree.scopes[item] = scope
                    self.tree.names.append(item)
                    binding = self.bind(item.id, item, scope)
                    if isinstance(value, ast.Tuple | ast.List) and len(value.elts) == len(target.elts):
                        binding.value = value.elts[index]
                    else:
                        binding.unpacked = (value, index)
                else:
                    self.visit(item, scope)
        else:
            self.visit(target, scope)

    def named(self, node: ast.ExceptHandler | ast.MatchAs | ast.MatchStar, scope: Scope) -> None:
        if node.name:
            self.bind(node.name, node, scope)
        self.children(node, scope)

    visit_ExceptHandler = visit_MatchAs = visit_MatchStar = named

    def visit_MatchMapping(self, node: ast.MatchMapping, scope: Scope) -> None:
        if node.rest:
            self.bind(node.rest, node, scope)
        self.children(node, scope)

    def visit_Global(self, node: ast.Global, scope: Scope) -> None:
        for name in node.names:
            scope.passed_on[name] = self.tree.root

    def visit_Nonlocal(self, node: ast.Nonlocal, scope: Scope) -> None:
        for name in node.names:
            outer = scope.parent
            while outer is not None and (outer.is_class or name not in outer.bindings):
                outer = outer.parent
            if outer is not None:
                scope.passed_on[name] = outer

    # Scopes.

    def visit_FunctionDef(self, node: ast.FunctionDef | ast.AsyncFunctionDef, scope: Scope) -> None:
        self.bind(node.name, node, scope)
        self.tree.functions.append(node)
        for decorator in node.decorator_list:
            self.child(decorator, node, scope)
        if node.returns is not None:
            self.child(node.returns, node, scope)
        inner = self.function(node, scope)
        self.declarations(node.body, inner)
        self.block(node.body, node, inner)

    visit_AsyncFunctionDef = visit_FunctionDef

    def visit_Lambda(self, node: ast.Lambda, scope: Scope) -> None:
        self.tree.functions.append(node)
        inner = self.function(node, scope)
        self.child(node.body, node, inner)

    def function(self, node: FunctionNode, scope: Scope) -> Scope:
        inner = Scope(node, scope)
        self.tree.scopes[node] = inner
        arguments = node.args
        self.tree.parents[arguments] = node
        for default in [*arguments.defaults, *(d for d in arguments.kw_defaults if d is not None)]:
            self.child(default, arguments, scope)
        every = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
        every += [extra for extra in (arguments.vararg, arguments.kwarg) if extra is not None]
        for argument in every:
            self.tree.parents[argument] = arguments
            self.bind(argument.arg, argument, inner)
            if argument.annotation is not None:
                self.child(argument.annotation, argument, scope)
        return inner

    def declarations(self, body: list[ast.stmt], scope: Scope) -> None:
        """`global` holds for the whole function, also for what stands before it."""
        for statement in body if self.declares else ():
            for node in ast.walk(statement):
                if isinstance(node, ast.Global):
                    self.visit_Global(node, scope)

    def visit_ClassDef(self, node: ast.ClassDef, scope: Scope) -> None:
        self.bind(node.name, node, scope)
        self.tree.classes.append(node)
        for expression in [*node.decorator_list, *node.bases, *(keyword.value for keyword in node.keywords)]:
            self.child(expression, node, scope)
        inner = Scope(node, scope)
        self.tree.scopes[node] = inner
        self.block(node.body, node, inner)

    def comprehension(self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp, scope: Scope) -> None:
        inner = Scope(node, scope)
        for index, generator in enumerate(node.generators):
            self.tree.parents[generator] = node
            self.child(generator.iter, generator, inner if index else scope)
            self.child(generator.target, generator, inner)
            for condition in generator.ifs:
                self.child(condition, generator, inner)
        results = [node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt]
        for result in results:
            self.child(result, node, inner)

    visit_ListComp = visit_SetComp = visit_GeneratorExp = visit_DictComp = comprehension
