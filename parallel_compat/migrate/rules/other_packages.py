"""Names that numpy and other packages removed become today's names (`np.float`, `scipy.misc.imread`).

`np.float` was another name of Python's `float`; the rewritten code runs with any numpy. Names that other packages moved
(`time.clock`, `scipy.signal.hann`) become the new names. A function that no longer exists (`scipy.misc.imresize`)
becomes one of this package, with the old results. Arguments that scikit-learn took by position get their names. Other
names are reported with advice, and packages that need an old Keras or TensorFlow (TensorFlow Addons). With `--unsafe`
pictures are resized as scikit-image 0.14 and Pillow 5 did, and `np.load(...).item()` reads objects.

```diff
 import numpy as np
 from keras.layers import Input
-x = np.zeros((2, 3), dtype=np.float)
-best = -np.Inf
+x = np.zeros((2, 3), dtype=float)
+best = -np.inf
```
"""

from __future__ import annotations

import ast
import builtins
import os
from collections.abc import Iterator

from parallel_compat.migrate import calls
from parallel_compat.migrate.dotted_names import from_module, packages_of
from parallel_compat.migrate.edits import Edit
from parallel_compat.migrate.file import File, Findings
from parallel_compat.migrate.literals import parts_of
from parallel_compat.names import old_packages
from parallel_compat.names.other_packages import ATTRIBUTES, NUMPY, PACKAGES

# Packages -> whether they leave open that a source that imports them is one of today's.
_OF_THEN = {"keras_contrib": False, "tensorflow_addons": False, "cntk": True, "theano": True}
_BACK = frozenset(("bool", "long"))  # names that numpy 2 has again, for types of its own


def find(file: File) -> Findings:
    packages = {package for statement in file.tree.imports for package in packages_of(statement)}
    for node in file.tree.attributes:
        if not isinstance(node.ctx, ast.Load):
            continue
        path = file.names.path(node)
        if path is None:
            yield from _member(file, node, packages)
            continue
        module, _, name = path.rpartition(".")
        if module == "numpy" and name in NUMPY and name not in _BACK:
            yield from _of_numpy(file, node, name)
        elif (module, name) in ATTRIBUTES:
            yield file.attention(node, f"`{path}` is gone: {ATTRIBUTES[module, name]}.", hint=True)
        else:
            yield from _moved(file, node, path)
    for statement in file.tree.imports:
        yield from _imported(file, statement)
        yield from _without_successor(file, statement)
    for call in file.tree.calls:
        yield from _by_position(file, call)
        yield from _by_name(file, call)
        yield from _without_default(file, call)
        yield from _pictures(file, call)
        yield from _resized(file, call, packages)
        yield from _objects(file, call)
        if file.names.path(call.func) in ("matplotlib.style.use", "matplotlib.pyplot.style.use"):
            yield from _styles(file, call)


def _member(file: File, node: ast.Attribute, packages: set[str]) -> Findings:
    """Find a member that objects of an imported package had."""
    gone = old_packages.member(node, file.tree.parents, packages)
    if gone is None:
        return
    message = f"`.{node.attr}` of {gone.package} is gone: {gone.advice}."
    if node.attr == "value":
        edit = file.replace(node, f"{file.source.segment(node.value)}[()]")
        yield file.found(node, message, [edit], unsafe="only if it is a data set.", hint=True)
    elif gone.call is not None and gone.now and not gone.call.args and not gone.call.keywords:
        start = file.source.end(node) - len(node.attr)
        yield file.found(node, message, [Edit(start, start + len(node.attr), gone.now)], hint=True)
    else:
        yield file.attention(node, message, hint=True)


def _styles(file: File, call: ast.Call) -> Findings:
    """`plt.style.use("seaborn-paper")`: matplotlib 3.8 has seaborn's styles by names with their version."""
    for each in (part for argument in call.args for part in (argument, *parts_of(argument))):
        name = calls.constant(each)
        if isinstance(name, str) and name.startswith("seaborn") and "v0_8" not in name:
            edit = file.replace(each, file.source.segment(each).replace("seaborn", "seaborn-v0_8", 1))
            yield file.found(each, f"matplotlib's style {name!r} has its version in its name today.", [edit], hint=True)


def _moved(file: File, node: ast.Attribute, path: str) -> Findings:
    """Find a name of a package that has another one today; the module above it is part of it."""
    fact = old_packages.find(path)
    if fact is None or path in old_packages.modules():
        return
    home, _, name = fact.now.rpartition(".")
    same = home == path.rpartition(".")[0]
    here = f"{file.source.segment(node.value)}.{name}"
    edits = [file.replace(node, here)] if same else file.replaced_by(fact.now, node)
    yield file.found(node, f"`{path}` is gone: {old_packages.advice(fact)}.", edits, hint=True)


def _by_position(file: File, call: ast.Call) -> Findings:
    """Find arguments by position that have to be named today."""
    path = file.names.path(call.func)
    known = old_packages.positions(path) if path is not None else None
    if known is None or not known.agreeing < len(call.args) <= known.agreeing + len(known.names):
        return
    if calls.has_star(call):
        yield file.attention(call, f"`{path}` takes {known.agreeing} arguments by position today; name the others.")
        return
    given = list(zip(call.args[known.agreeing :], known.names, strict=False))
    for argument, name in given:
        if name[0] == "!" and calls.constant(argument) not in (None, False):
            yield file.attention(argument, f"`{path}` has no `{name[1:]}` any more. Name the other arguments.")
            return
    for argument, name in given:
        if name[0] in "-!":
            message = f"`{name[1:]}` of `{path}` has no effect any more."
            yield file.found(argument, message, calls.remove(file, call, argument), hint=True)
        else:
            message = f"`{path}` takes `{name}` by name today."
            yield file.found(argument, message, [calls.name_positional(file, argument, name)], hint=True)


def _by_name(file: File, call: ast.Call) -> Findings:
    """Find arguments that have another name today, or no effect."""
    module, _, name = (file.names.path(call.func) or "").rpartition(".")
    gone = old_packages.arguments_of(module).get(name, {})
    for argument in call.keywords:
        if argument.arg not in gone:
            continue
        new = gone[argument.arg]
        if new is not None and new.startswith("!"):
            yield file.attention(argument, f"`{argument.arg}` of `{module}.{name}` is gone: {new[1:]}.", hint=True)
        elif new is None:
            message = f"`{argument.arg}` of `{module}.{name}` has no effect any more."
            yield file.found(argument, message, calls.remove(file, call, argument), hint=True)
        elif calls.keyword(call, new) is None:
            message = f"`{argument.arg}` of `{module}.{name}` is `{new}` today."
            yield file.found(argument, message, [calls.rename(file, argument, new)], hint=True)


# Calls without an argument: (its place, its name, what it was by default, the message).
_DEFAULTS = {
    "h5py.File": (1, "mode", '"a"', "`h5py.File` opened files to read and write by default; today only to read."),
    "yaml.load": (1, "Loader", "yaml.SafeLoader", "`yaml.load` needs a `Loader` today; this one makes plain objects."),
}


def _without_default(file: File, call: ast.Call) -> Findings:
    path = file.names.path(call.func) or ""
    if path not in _DEFAULTS or calls.has_stars(call):
        return
    place, name, was, message = _DEFAULTS[path]
    if calls.argument(call, name, place) is not None or not call.args:
        return
    reference = (was, ()) if was.startswith('"') else file.reference(was, call)
    edits = None if reference is None else [calls.append(file, call, f"{name}={reference[0]}"), *reference[1]]
    yield file.found(call, message, edits, hint=True)


# Functions of pictures -> which argument the picture is, and the function of this package that takes what they took.
_AS_BEFORE = {
    "PIL.Image.fromarray": (0, "parallel_compat.packages.pillow.fromarray", "Pillow refuses modes of other types."),
    "skimage.io.imsave": (
        1,
        "parallel_compat.packages.skimage_functions.imsave",
        "scikit-image writes floats to no PNG or JPEG any more; this one makes them whole numbers, as 0.14 did.",
    ),
}


def _pictures(file: File, call: ast.Call) -> Findings:
    """Find calls that made or wrote pictures of other types."""
    path = file.names.path(call.func) or ""
    if path not in _AS_BEFORE or (path == "PIL.Image.fromarray" and calls.argument(call, "mode", 1) is None):
        return
    place, function, message = _AS_BEFORE[path]
    is_bytes = any("uint8" in file.source.segment(each) for each in call.args[place:][:1])
    edits = None if is_bytes else file.replaced_by(function, call.func)
    if edits is not None:
        yield file.found(call, message, edits, hint=True)


def _resized(file: File, call: ast.Call, packages: set[str]) -> Findings:
    """Find calls that resize pictures, whose defaults were others in 2018."""
    path = file.names.path(call.func)
    if file.era is None or not file.era.is_of_2018 or calls.has_stars(call):
        return
    if path in ("skimage.transform.resize", "skimage.transform.rescale"):
        was = {"mode": (3, '"constant"'), "anti_aliasing": (None, "False")}
        missing = [f"{name}={old}" for name, (at, old) in was.items() if calls.argument(call, name, at) is None]
        if missing:
            message = f"`{path}` smooths what it makes smaller, and repeats borders, since scikit-image 0.15."
            edits = [calls.append(file, call, ", ".join(missing))]
            yield file.found(call, message, edits, unsafe="only if it was written for an older one.", hint=True)
    elif path is None and isinstance(call.func, ast.Attribute) and call.func.attr == "resize" and "PIL" in packages:
        if len(call.args) != 1 or call.keywords or isinstance(file.tree.parents.get(call), ast.Expr):
            return  # an array's returns nothing
        message = "Pillow's `resize` took the nearest pixels (0) by default until version 6."
        edits = [calls.append(file, call, "resample=0")]
        yield file.found(call, message, edits, unsafe="only if it is a picture of an older Pillow.", hint=True)


def _objects(file: File, call: ast.Call) -> Findings:
    """`np.load(...).item()`: an array of objects, which numpy 1.16.3 and later loads only if it is told to."""
    if file.names.path(call.func) != "numpy.load" or calls.argument(call, "allow_pickle", 2) is not None:
        return
    above = file.tree.parents.get(call)
    bound = {each.id for each in getattr(above, "targets", ()) if isinstance(each, ast.Name)}
    read = [each.value for each in file.tree.attributes if each.attr == "item"]
    read += [each.value for each in file.tree.subscripts if isinstance(each.slice, ast.Tuple) and not each.slice.elts]
    if any(each is call or (isinstance(each, ast.Name) and each.id in bound) for each in read):
        message = "numpy loads arrays of objects only with `allow_pickle=True`."
        edits = [calls.append(file, call, "allow_pickle=True")]
        yield file.found(call, message, edits, unsafe="a pickle runs code: only for files that you trust.", hint=True)


def _of_numpy(file: File, node: ast.Attribute, name: str) -> Findings:
    was = NUMPY[name]
    message = f"numpy has no `{name}` any more; it was `{was}`."
    text = None if was == "math" else _spelled(file, node, was)
    edits = file.replaced_by(was, node) if was == "math" else None if text is None else [file.replace(node, text)]
    yield file.found(node, message, edits, hint=True, otherwise=f"{message} (That name is something else here.)")


def _spelled(file: File, node: ast.Attribute, was: str) -> str | None:
    around = "()" if was.startswith("-") else ("", "")
    if "numpy." in was:
        return was.replace("numpy.", f"{file.source.segment(node.value)}.").join(around)
    if hasattr(builtins, was):
        taken = next((file.tree.scopes[above].find(was) for above in _around(file, node)), [])
        return None if taken else was
    return was.join(around)


def _around(file: File, node: ast.expr) -> Iterator[ast.AST]:
    return (above for above in (node, *file.tree.ancestors(node)) if above in file.tree.scopes)


def _imported(file: File, statement: ast.Import | ast.ImportFrom) -> Findings:
    module = from_module(statement) if isinstance(statement, ast.ImportFrom) else ""
    if module is None:
        return
    facts: dict[ast.alias, old_packages.Fact] = {}
    for alias in statement.names:
        fact = _fact(module, alias.name)
        if fact is not None:
            facts[alias] = fact
        elif (module, alias.name) in ATTRIBUTES:
            advice = ATTRIBUTES[module, alias.name]
            yield file.attention(alias, f"`{module}.{alias.name}` is gone: {advice}.", hint=True)
        elif module == "numpy" and alias.name in NUMPY and alias.name not in _BACK:
            message = f"`{module}.{alias.name}` is gone: it was `{NUMPY[alias.name]}`."
            yield file.attention(alias, message, hint=True)
    messages = [f"`{fact.old}` is gone: {old_packages.advice(fact)}." for fact in facts.values()]
    if any(alias.name == "*" for alias in facts):
        for alias, message in zip(facts, messages, strict=True):
            yield file.attention(alias, message, hint=True)
        return
    if not facts:
        return
    rest = ", ".join(ast.unparse(alias) for alias in statement.names if alias not in facts)
    head = f"from {module} import" if isinstance(statement, ast.ImportFrom) else "import"
    written = [f"{head} {rest}"] if rest else []
    written += [_import(alias, fact, isinstance(statement, ast.Import)) for alias, fact in facts.items()]
    before = file.source.before(file.source.start(statement))
    between = "; " if before.strip() else f"\n{before}"
    edit = file.replace(statement, between.join(dict.fromkeys(written)))
    for number, (alias, message) in enumerate(zip(facts, messages, strict=True)):
        yield file.found(alias, message, [] if number else [edit], hint=True)


def _without_successor(file: File, statement: ast.Import | ast.ImportFrom) -> Findings:
    """Find the import of a package that needs old Keras or an old TensorFlow, where the project has no copy of it."""
    if any(isinstance(above, ast.Try) for above in file.tree.ancestors(statement)):
        return  # it may fail
    for package in sorted(packages_of(statement) & _OF_THEN.keys()):
        place = os.path.abspath(file.kinds.path or "")
        while place != (place := os.path.dirname(place)):
            if os.path.isdir(os.path.join(place, package)):
                return
        message = f"`{package}` does not run with Keras 3: {PACKAGES[package]}."
        yield file.attention(statement, message, hint=_OF_THEN[package])


def _fact(module: str, name: str) -> old_packages.Fact | None:
    """Return what became of an imported name, of a module as well; None if it is not known to be gone."""
    if not module:
        return old_packages.modules().get(name)
    fact, gone = old_packages.find(f"{module}.{name}"), old_packages.modules().get(module)
    if fact is None and gone is not None:
        return old_packages.Fact(f"{module}.{name}", gone.until, f"{gone.now}.{name}")
    return fact


def _import(alias: ast.alias, fact: old_packages.Fact, is_plain: bool) -> str:
    """Return the import of what a name is today, under the name that it had."""
    if is_plain and alias.asname is None and "." in alias.name:
        return f"import {alias.name.partition('.')[0]}"  # the package; uses of the module are rewritten
    home, _, name = fact.now.rpartition(".")
    bound = alias.asname or alias.name
    text = f"from {home} import {name}" if home else f"import {name}"
    return text if bound == name else f"{text} as {bound}"
