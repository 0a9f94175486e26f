"""What a project needs before it can run, read from its sources without importing them or TensorFlow."""

from __future__ import annotations

import ast
import configparser
import importlib.util
import itertools
import os
import re
import sys
import warnings
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from parallel_compat.names import old_packages, old_sources
from parallel_compat.names.named_versions import in_notebook
from parallel_compat.names.other_packages import ATTRIBUTES, NUMPY, PACKAGES, PYTEST_OPTIONS
from parallel_compat.names.project_era import era_of_project
from parallel_compat.names.project_files import files_of_project, read_text

_IMPORTS = (ast.Import, ast.ImportFrom)
_MOST_FILES, _MOST_SCRIPTS = 2000, 4
_NOT_OF_PROJECT = re.compile(r"\.\w*|venv|env|node_modules|site-packages|build|dist|__pycache__")
# What comes with this package and the originals; Python 2's modules and moved ones are in the table.
_THERE = frozenset(
    ("keras", "tensorflow", "keras_applications", "keras_preprocessing", "tensorflow_addons", "parallel_compat")
)
# Calls that read the file of their first argument, and calls that write one.
_READ = re.compile(
    r"(?:^|\.)(?:open|load|loadtxt|genfromtxt|read_\w+|imread|load_(?:model|weights|img)|File|loadmat|CascadeClassifier"
    r"|ImageFont\.truetype)$"
)
_WRITE = re.compile(
    r"(?:^|\.)(?:save\w*|to_\w+|imsave|imwrite|dump|ModelCheckpoint|CSVLogger|savefig|urlretrieve|mkdir|makedirs)$"
)
# The place and the name of a repository that pip or a setup.py installs from.
_REPOSITORY = re.compile(r"git\+(?:git|https?|ssh)://(?:git@)?([\w./-]+?)/([\w-][\w.-]*?)(?:\.git)?(?=[\s'\"@#]|$)")


@dataclass
class Found:
    """What a project needs."""

    folder: str  # the project
    sources: int = 0  # how many sources were read
    eras: dict[str, tuple[str, list[str]]] = field(default_factory=dict)  # whose Keras -> why, and some scripts
    # Modules that are not installed -> how to install them, or what became of them.
    missing: dict[str, str] = field(default_factory=dict)
    # Modules that are not there either, and that may be no packages -> where.
    unknown: dict[str, str] = field(default_factory=dict)
    data: dict[str, str] = field(default_factory=dict)  # data files that are opened by name and are not there -> where
    # Old names of other packages that `run` answers -> how often.
    answered: Counter[str] = field(default_factory=Counter)
    hand: dict[str, str] = field(default_factory=dict)  # what needs a hand -> where
    python_2: list[str] = field(default_factory=list)  # the sources of Python 2

    @property
    def pip(self) -> list[str]:
        """The packages to install."""
        names = (re.match(r"pip install ([\w.+:/-]+)", advice) for advice in self.missing.values())
        return sorted({match[1] for match in names if match}, key=str.lower)


def check(folder: str) -> Found:
    """Say what a project needs before it can run.

    >>> import pathlib, tempfile
    >>> project = pathlib.Path(tempfile.mkdtemp())
    >>> _ = (project / "train.py").write_text("import keras, pyaudio, my_lost_module")
    >>> found = check(str(project))
    >>> found.pip, found.unknown
    (['pyaudio'], {'my_lost_module': 'train.py:1'})
    """
    root = folder if os.path.isdir(folder) else os.path.dirname(os.path.abspath(folder))
    found = Found(folder)
    files = list(_files(root)) if os.path.isdir(folder) else [folder]
    directories = {root, *_folders(files)}
    directories |= {above for above in map(os.path.dirname, directories) if above.startswith(os.path.abspath(root))}
    modules = {os.path.splitext(name)[0] for directory in directories for name in _names(directory)}
    empty = {name for name in modules if _is_empty(name, directories)}
    submodules = re.findall(r"(?m)^\s*path\s*=\s*(\S+)", read_text(os.path.join(root, ".gitmodules")))
    modules -= empty
    written: set[str] = set()
    reading = [source for file in files if (source := _parse(file, found)) is not None]
    for source in reading:
        source.collect(modules, found, written)
    for plugin, where in _pytest_plugins(root):
        if not _is_there(plugin, modules):
            _lacks(plugin, where, found)
    not_there = {name: found.unknown.pop(name) for name in empty & found.unknown.keys()}
    not_there |= {path: ".gitmodules" for path in submodules if _is_empty(path, {root})}
    found.hand |= {f"{name}: its folder is empty: git submodule update --init": at for name, at in not_there.items()}
    named, repositories = _named_by_project(root) if found.unknown else (set(), {})
    for package in [package for package in found.unknown if _plain(package) in named | repositories.keys()]:
        found.missing[package] = f"pip install {repositories.get(_plain(package), package)}"
        del found.unknown[package]
    found.data = {name: where for name, where in found.data.items() if name not in written and not _exists(name, files)}
    scripts = sorted((source for source in reading if source.imports_keras), key=lambda source: not source.is_script)
    if scripts and importlib.util.find_spec("tensorflow") is None:
        found.missing["tensorflow"] = "pip install tensorflow"
    for source in scripts[:_MOST_SCRIPTS]:
        decision = era_of_project(script=os.path.abspath(source.file), folder=root)
        reason = decision.reason if decision.certain else f"{decision.reason}; {decision.hint}"
        found.eras.setdefault(decision.era.value, (reason, []))[1].append(source.name)
    return found


def _files(root: str) -> Iterator[str]:
    count = 0
    for directory, folders, names in os.walk(root):
        folders[:] = sorted(name for name in folders if not _NOT_OF_PROJECT.fullmatch(name))
        for name in sorted(names):
            if name.endswith((".py", ".ipynb")):
                yield os.path.join(directory, name)
                count += 1
                if count == _MOST_FILES:
                    return


def _named_by_project(root: str) -> tuple[set[str], dict[str, str]]:
    """Return the words of the files that say what to install, and the repositories that they name."""
    files = files_of_project(root, root)
    texts = [read_text(path) for path in (*files.requirements, *files.services)]
    texts += [line for path in files.prose for line in read_text(path).splitlines() if "install" in line]
    links = [link for text in texts for link in _REPOSITORY.findall(text)]
    # Servers do not speak `git://` any more.
    repositories = {_plain(name): f"git+https://{place}/{name}.git" for place, name in links}
    return {_plain(word) for text in texts for word in re.findall(r"\w[\w.-]*\w", text)}, repositories


def _plain(package: str) -> str:
    """Return a package's name as an index compares it."""
    return re.sub(r"[-_.]+", "-", package).lower()


def _folders(files: list[str]) -> set[str]:
    """Return the folders of sources, and those above: a script may be started in each, or put it on sys.path."""
    return {os.path.dirname(os.path.abspath(file)) for file in files}


def _names(directory: str) -> list[str]:
    try:
        return os.listdir(directory)
    except OSError:
        return []


def _exists(name: str, files: list[str]) -> bool:
    return any(os.path.exists(os.path.join(directory, name)) for directory in {*_folders(files), os.getcwd()})


def _parse(file: str, found: Found) -> _Source | None:
    found.sources += 1
    name = os.path.relpath(file, found.folder) if os.path.isdir(found.folder) else os.path.basename(file)
    text = read_text(file, 20_000_000)
    if file.endswith(".ipynb"):
        text = in_notebook(text).source
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # escapes that this Python warns of
            return _Source(file, name, ast.parse(text))
    except SyntaxError as error:
        if old_sources.is_of_python_2(error):
            found.python_2.append(name)
        else:
            found.hand[f"does not parse: {error.msg}"] = f"{name}:{error.lineno}"
    except (ValueError, RecursionError, MemoryError) as error:  # the last from the parser, as the one before it
        found.hand[f"does not parse: {str(error) or 'too deeply nested'}"] = name
    return None


class _Source:
    """One source of the project."""

    def __init__(self, file: str, name: str, tree: ast.Module) -> None:
        self.file, self.name, self.tree = file, name, tree
        self.is_script = any(isinstance(node, ast.If) and "__main__" in ast.dump(node.test) for node in tree.body)
        self.paths: dict[str, str] = {}
        self.imports_keras = False

    def collect(self, modules: set[str], found: Found, written: set[str]) -> None:
        """Add what this source needs."""
        nodes = list(ast.walk(self.tree))
        optional = {id(node) for block in nodes if isinstance(block, ast.Try) for node in _not_needed(block, modules)}
        for node in nodes:
            if isinstance(node, _IMPORTS):
                self._imported(node, modules, found, id(node) in optional)
        bound = {alias.asname or alias.name for node in nodes if isinstance(node, _IMPORTS) for alias in node.names}
        bound |= {node.arg for node in nodes if isinstance(node, ast.arg)}
        bound |= {node.name for node in nodes if isinstance(node, ast.FunctionDef | ast.ClassDef)}
        bound |= {node.id for node in nodes if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load)}
        for node in nodes:
            if (
                isinstance(node, ast.Attribute)
                and node.attr in old_sources.METHODS_OF_PYTHON_2
                and self._path(node) is None
            ):
                found.hand.setdefault(f".{node.attr}: {old_sources.advice_on_name(node.attr)}", self._location(node))
            if isinstance(node, ast.Name) and node.id in old_sources.NAMES_OF_PYTHON_2 and node.id not in bound:
                found.hand.setdefault(f"{node.id}: {old_sources.advice_on_name(node.id)}", self._location(node))
        packages = {path.partition(".")[0] for path in self.paths.values()}
        parents = {child: node for node in nodes for child in ast.iter_child_nodes(node)}
        for node in nodes:
            if isinstance(node, ast.Attribute) and (gone := old_packages.member(node, parents, packages)) is not None:
                found.answered[f"{gone.package}: .{node.attr}"] += 1
        inner = {id(node.value) for node in nodes if isinstance(node, ast.Attribute)}
        for node in nodes:
            if isinstance(node, ast.Attribute) and id(node) not in inner and (path := self._path(node)) is not None:
                self._named(path, node, found)
            elif isinstance(node, ast.Call):
                self._called(node, found, written)

    def _imported(self, node: ast.Import | ast.ImportFrom, modules: set[str], found: Found, optional: bool) -> None:
        if isinstance(node, ast.Import):
            named = [(alias.name, alias.asname or alias.name.partition(".")[0], alias.asname) for alias in node.names]
            for path, bound, renamed in named:
                self.paths[bound] = path if renamed else bound
                self._module(path, node, modules, found, optional)
            return
        if node.level or not node.module:
            return
        self._module(node.module, node, modules, found, optional)
        for alias in node.names:
            if alias.name == "*":
                continue
            self.paths[alias.asname or alias.name] = f"{node.module}.{alias.name}"
            self._named(f"{node.module}.{alias.name}", node, found)

    def _module(self, path: str, node: ast.stmt, modules: set[str], found: Found, optional: bool) -> None:
        package = path.partition(".")[0]
        self.imports_keras |= package in ("keras", "tensorflow")
        if path in old_packages.modules():
            if isinstance(node, ast.Import) or not old_packages.names_of(path):  # else its names are reported
                self._named(path, node, found)
            path = old_packages.modules()[path].now
            package = path.partition(".")[0]
        if not optional and not _is_there(package, modules):
            _lacks(package, self._location(node), found)

    def _named(self, path: str, node: ast.AST, found: Found) -> None:
        module, _, name = path.rpartition(".")
        if (module, name) in ATTRIBUTES:
            found.hand.setdefault(f"{path}: {ATTRIBUTES[module, name]}", self._location(node))
            return
        if old_packages.find(path) is not None or (
            module == "numpy" and name in NUMPY and name not in ("bool", "long")
        ):
            found.answered[path] += 1

    def _called(self, node: ast.Call, found: Found, written: set[str]) -> None:
        path = self._path(node.func) or (f".{node.func.attr}" if isinstance(node.func, ast.Attribute) else "")
        module, _, function = path.rpartition(".")
        gone = old_packages.arguments_of(module).get(function, {})
        found.answered.update(f"{path}({each.arg}=)" for each in node.keywords if each.arg in gone)
        first = node.args[0] if node.args else None
        if not isinstance(first, ast.Constant) or not isinstance(first.value, str):
            return
        name = first.value
        mode = _mode(node)
        if _WRITE.search(path) or (path.endswith(("open", "File")) and mode[:1] in ("w", "a", "x")):
            written.add(name)
        elif (
            _READ.search(path)
            and re.search(r"\.\w{1,5}$", name)
            and "://" not in name
            and "{" not in name
            and "%" not in name
        ):
            found.data.setdefault(name, self._location(node))

    def _path(self, node: ast.expr) -> str | None:
        """Return the dotted path of a name, by what the source imports."""
        parts: list[str] = []
        while isinstance(node, ast.Attribute):
            parts.append(node.attr)
            node = node.value
        if not isinstance(node, ast.Name):
            return None
        first = self.paths.get(node.id, node.id if node.id == "open" else None)
        return None if first is None else ".".join([first, *reversed(parts)])

    def _location(self, node: ast.AST) -> str:
        return f"{self.name}:{getattr(node, 'lineno', 1)}"


def _not_needed(block: ast.Try, modules: set[str]) -> Iterator[ast.AST]:
    """Yield the nodes of what a `try` only tries, and of what comes instead if its imports fail, which they do not."""
    tried = [node for each in block.body for node in ast.walk(each)]
    yield from tried
    paths = [alias.name for node in tried if isinstance(node, ast.Import) for alias in node.names]
    paths += [node.module for node in tried if isinstance(node, ast.ImportFrom) and node.module and not node.level]
    paths = [old_packages.modules()[path].now if path in old_packages.modules() else path for path in paths]
    if paths and all(_is_there(path.partition(".")[0], modules) for path in paths):
        yield from (node for handler in block.handlers for node in ast.walk(handler))


def _lacks(package: str, where: str, found: Found) -> None:
    """Note that a package is not installed."""
    if package not in PACKAGES:
        found.unknown.setdefault(package, where)
        return
    advice = found.missing.setdefault(package, PACKAGES[package])
    if not advice.startswith("pip install"):
        found.hand.setdefault(f"{package}: {advice}", where)


def _pytest_plugins(root: str) -> Iterator[tuple[str, str]]:
    """Yield the modules of the plugins that the settings of pytest name, and the files of settings."""
    for name, section in (("pytest.ini", "pytest"), ("setup.cfg", "tool:pytest"), ("tox.ini", "pytest")):
        settings = configparser.RawConfigParser(strict=False)
        try:
            settings.read_string(read_text(os.path.join(root, name)))
            words = settings.get(section, "addopts", fallback="").replace("=", " ").split()
        except configparser.Error:
            continue
        plugins = [PYTEST_OPTIONS[word] for word in words if word in PYTEST_OPTIONS]
        plugins += [after for word, after in itertools.pairwise(words) if word == "-p" and after[:3] != "no:"]
        yield from ((plugin.partition(".")[0], name) for plugin in dict.fromkeys(plugins))


def _is_empty(module: str, directories: set[str]) -> bool:
    """Return whether a module is an empty folder: a git submodule that is not checked out."""
    places = [os.path.join(directory, module) for directory in directories]
    return not any(os.path.isfile(f"{place}.py") or _names(place) for place in places) and any(
        map(os.path.isdir, places)
    )


def _is_there(package: str, modules: set[str]) -> bool:
    if package in sys.stdlib_module_names or package in _THERE or package in modules:
        return True
    try:
        return importlib.util.find_spec(package) is not None
    except (ImportError, ValueError):
        return False


def _mode(node: ast.Call) -> str:
    given = [node.args[1]] if len(node.args) > 1 else [each.value for each in node.keywords if each.arg == "mode"]
    return given[0].value if given and isinstance(given[0], ast.Constant) and isinstance(given[0].value, str) else "r"
