"""ARCHITECTURE.md is the tree that there is, and who may know of whom is as it says."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from tests import scripts
from tests.package_imports import PACKAGE, imports, module_name, nodes

ROOT = PACKAGE.parent
PAGE = (ROOT / "ARCHITECTURE.md").read_text("utf-8")
PATH = re.compile(r"[\w./]*\w(?:/|\.(?:py|tsv|md|json|toml))(?![\w(])")


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
        for module, others in imports(PACKAGE).items()
        if part(module) in of and module not in DOORS
        for other in others
        if part(other) in unknown and other not in DOORS
    }
    assert found == (ASKS_THE_FACTS if of is CORE else set())


def test_facts_and_migrate_import_neither_keras_nor_tensorflow() -> None:
    found: dict[str, set[str]] = {}
    for path in PACKAGE.rglob("*.py"):
        for node in nodes(path):
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
        "bytecode",
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
        for module, others in imports(PACKAGE).items()
        if module not in DOORS and not module.endswith("_command") and part(module) in height
        for other in others - BELOW_ALL - DOORS
        if part(other) in height and height[part(other)] > height[part(module)]
    }
    assert back == set()


def test_what_is_below_all_imports_nothing_of_this_package() -> None:
    assert {
        module: others - DOORS for module, others in imports(PACKAGE).items() if module in BELOW_ALL and others - DOORS
    } == {}


def rows_of_features() -> list[tuple[str, list[str]]]:
    """Return the rows of "Where is it?": a feature and the files or folders that have it."""
    section = PAGE.split("## Where is it?")[1].split("\n## ")[0]
    rows = [line.strip("|").split("|") for line in section.splitlines() if line.startswith("| ")][2:]
    return [(feature.strip(), re.findall(r"`([^`]+)`", places)) for feature, places in rows]


# A word of the code by which each feature is found; None for one that is a whole file, whose name says it.
WORDS = {
    "`class_weight` with `sample_weight`": "class_weight",
    "clipping by `clipnorm`": "clipping",
    "a checkpoint of a parallel model": "ParallelModelCheckpoint",
    "a checkpoint of an old parallel": "save",
    "Lambda layers": "marshal",
    "`CuDNNLSTM`": "CuDNN",
    "pretended GPUs": "GPU",
    "what `tf.placeholder`": "contrib",
    "`--resume`": "resume",
    "TensorFlow Addons": "tensorflow_addons",
    "where old Keras": "sha256",
    "the era of a project": "era_of_project",
    "gradients of an `Embedding`": "rows",
    "loss weights by name": "loss",
    "the single model out of": "unwrap",
    "`fit_generator`": "fit_generator",
}


def test_each_feature_is_where_the_page_says() -> None:
    rows = rows_of_features()
    assert len(rows) >= 15
    for feature, places in rows:
        word = next(word for start, word in WORDS.items() if feature.startswith(start))
        for place in places:
            path = PACKAGE / place
            assert path.exists(), (feature, place)
            files = path.rglob("*.py") if path.is_dir() else [path]
            text = "".join(file.read_text("utf-8") for file in files)
            assert word.lower() in text.lower(), (feature, place)
        assert 1 <= len({place.partition("/")[0] for place in places}) <= 2, feature


def own_lines(function: ast.FunctionDef) -> int:
    """Count the lines of a function without its docstring and the functions inside of it."""

    def length(node: ast.AST) -> int:
        return int(node.end_lineno) - int(node.lineno) + 1  # type: ignore[attr-defined]

    inner = [node for node in ast.walk(function) if isinstance(node, ast.FunctionDef) and node is not function]
    docstring = function.body[0] if ast.get_docstring(function) is not None else None
    return length(function) - sum(map(length, inner)) - (length(docstring) if docstring is not None else 0)


def test_no_function_has_more_than_60_lines() -> None:
    long = [
        f"{path.relative_to(PACKAGE)}:{node.name}"
        for path in PACKAGE.rglob("*.py")
        for node in nodes(path)
        if isinstance(node, ast.FunctionDef) and own_lines(node) > 60
    ]
    assert long == []


def logic(path: Path) -> list[tuple[int, str]]:
    """Return the lines of a module with their numbers, without imports, signatures, long texts and comments."""
    text = path.read_text("utf-8")
    left_out: set[int] = set()
    for node in nodes(path):
        if isinstance(node, ast.FunctionDef):
            left_out.update(range(node.lineno, node.body[0].lineno))
        elif isinstance(node, (ast.Import, ast.ImportFrom)) or (
            isinstance(node, ast.Constant) and isinstance(node.value, str) and node.end_lineno != node.lineno
        ):
            left_out.update(range(node.lineno, (node.end_lineno or 0) + 1))
    lines = enumerate(text.splitlines(), 1)
    return [(n, line.strip()) for n, line in lines if n not in left_out and len(line.strip("( )[]{},#")) > 3]


def repeated(paths: list[Path], length: int) -> list[tuple[str, str]]:
    """Return the places where as many lines stand as elsewhere, to the letter."""
    seen: dict[tuple[str, ...], str] = {}
    found = []
    for path in paths:
        lines = logic(path)
        for i in range(len(lines) - length + 1):
            run = tuple(line for _, line in lines[i : i + length])
            here = f"{path.name}:{lines[i][0]}"
            if seen.setdefault(run, here) != here:
                found.append((seen[run], here))
    return found


def test_no_eight_lines_stand_twice() -> None:
    assert repeated(sorted(PACKAGE.rglob("*.py")), 8) == []


def test_repeated_lines_are_found(tmp_path: Path) -> None:
    body = "".join(f"    value_{i} = {i} + 1000\n" for i in range(8))
    (tmp_path / "one.py").write_text(f"def one():\n{body}")
    (tmp_path / "two.py").write_text(f"def two():\n    first = 1\n{body}")
    assert repeated(sorted(tmp_path.glob("*.py")), 8) == [("one.py:2", "two.py:3")]


def test_the_loader_of_old_models_loads_few_modules(tmp_path: Path) -> None:
    """A migrated script pays for what it imports."""
    script = (
        "import sys\nbefore = set(sys.modules)\nfrom parallel_compat.legacy.models import load_model\n"
        "print(sum(name.startswith('parallel_compat.') for name in set(sys.modules) - before))"
    )
    assert int(scripts.python("-c", script, folder=tmp_path).stdout) < 40


def test_nobody_looks_at_the_frames_of_callers() -> None:
    looks = re.compile(r"sys\._getframe|inspect\.(?:stack|currentframe)|\.f_back\b")
    parts = ("backend", "batches", "legacy", "migrate", "names", "originals", "recover", "training")
    found = [path.name for part in parts for path in (PACKAGE / part).rglob("*.py") if looks.search(path.read_text())]
    assert found == []
