"""ARCHITECTURE.md is the tree that there is, and who may know of whom is as it says."""

from __future__ import annotations

import ast
import re

import pytest
from test_import_circles import PACKAGE, imports, module_name

ROOT = PACKAGE.parent
PAGE = (ROOT / "ARCHITECTURE.md").read_text("utf-8")
PATH = re.compile(r"[\w./]*\w(?:/|\.(?:py|tsv|md|json|toml))(?![\w(])")
MODULES = imports(PACKAGE)


def named_paths() -> set[str]:
    """The files and folders that the page names: in its tree, and between backticks."""
    tree = next(block for block in PAGE.split("```") if block.lstrip().startswith("parallel_compat/"))
    listed = {word for line in tree.splitlines() for word in PATH.findall(line)}
    return listed | {path for span in re.findall(r"`([^`\n]+)`", PAGE) for path in PATH.findall(span)}


def exists(path: str) -> bool:
    """Whether a path is one of the project or the package, or a file's name in one of the package's folders."""
    return (ROOT / path).exists() or (PACKAGE / path).exists() or ("/" not in path and any(PACKAGE.rglob(path)))


def test_each_file_and_folder_that_it_names_is_there() -> None:
    paths = named_paths()
    assert {"training/", "parallelize_model.py", "tests/test_seam.py", "layer_state.py", "paths.tsv"} <= paths
    assert [path for path in sorted(paths) if not exists(path)] == []


def test_each_folder_and_each_module_of_the_core_is_named() -> None:
    folders = {path.parent.relative_to(PACKAGE).as_posix() for path in PACKAGE.rglob("__init__.py")} - {"."}
    unnamed = [folder for folder in sorted(folders) if f"{folder}/" not in PAGE and f"`{folder}`" not in PAGE]
    assert unnamed == []
    modules = {path.name for path in PACKAGE.glob("*.py")} - {"__init__.py", "__main__.py"}
    assert sorted(modules - named_paths()) == []


def part(module: str) -> str:
    """The folder of a module; the package's own modules are the core."""
    parts = module.split(".")[1:]
    return parts[0] if len(parts) > 1 or (parts and parts[0] in FOLDERS) else "core"


FOLDERS = {path.parent.name for path in PACKAGE.glob("*/__init__.py")}
CORE = {"core", "training", "batches"}
DOORS = {f"parallel_compat{name}" for name in ("", ".__main__", ".command", ".names_command", ".pytest")}
# Public arguments of the core that have a name of their own in each version of Keras; each asks the facts for it.
ASKS_THE_FACTS = {
    ("parallel_compat.batches.generator_methods", "parallel_compat.names.generator_arguments"),
    ("parallel_compat.checkpoints", "parallel_compat.names.identifiers"),
}


@pytest.mark.parametrize(
    ("of", "unknown"),
    [
        (CORE, {"names", "legacy", "run", "migrate"}),
        ({"recover"}, {"legacy", "run", "migrate", "training", "batches"}),
        ({"migrate"}, {"legacy", "run", "recover", "backend", "training", "batches"}),
        ({"backend"}, {"legacy", "run", "migrate", "recover", "training", "batches"}),
    ],
    ids=["core", "recover", "migrate", "backend"],
)
def test_who_knows_of_whom(of: set[str], unknown: set[str]) -> None:
    found = {
        (module, other)
        for module, others in MODULES.items()
        if part(module) in of and module not in DOORS
        for other in others
        if part(other) in unknown and other not in DOORS
    }
    assert found == (ASKS_THE_FACTS if of is CORE else set())


def test_facts_and_migrate_import_neither_keras_nor_tensorflow() -> None:
    found: dict[str, set[str]] = {}
    for path in PACKAGE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Import):
                roots = {alias.name.partition(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom):
                roots = {(node.module or "").partition(".")[0]}
            else:
                continue
            if roots & {"keras", "tensorflow"}:
                module = module_name(path, PACKAGE)
                found.setdefault(part(module), set()).add(module.rpartition(".")[2])
    assert "names" not in found
    assert found["migrate"] == {"legacy_numerics"}  # text that is copied into projects, and imported by none of this
    # Where results are put into living models.
    assert found["recover"] == {"keras_models", "loading"}


# The arrows of the page, from the bottom up.
LAYERS = [{"names"}, {"backend", "originals"}, {"recover"}, CORE, {"legacy"}, {"migrate", "compare", "run"}]
BELOW_ALL = {
    f"parallel_compat.{name}"
    for name in (
        "atomic_file",
        "context_variables",
        "hdf5_output",
        "missing_keras",
        "module_loaders",
        "private_names",
        "warning_category",
    )
}


def test_no_arrow_goes_back() -> None:
    height = {name: i for i, layer in enumerate(LAYERS) for name in layer}
    back = {
        (module, other)
        for module, others in MODULES.items()
        if module not in DOORS and not module.endswith("_command") and part(module) in height
        for other in others - BELOW_ALL - DOORS
        if part(other) in height and height[part(other)] > height[part(module)]
    }
    assert back == set()


def test_what_is_below_all_imports_nothing_of_this_package() -> None:
    assert {
        module: others - DOORS for module, others in MODULES.items() if module in BELOW_ALL and others - DOORS
    } == {}
