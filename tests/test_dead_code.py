"""Every function, method and class of the package is used by it, named by its tables, or asked for by a framework."""

from __future__ import annotations

import ast
import functools
import re
from collections import Counter
from pathlib import Path

from tests.package_imports import PACKAGE, imports, nodes, parsed

WORD = re.compile(r"[A-Za-z_]\w*")
NAME = re.compile(r"[A-Za-z_][\w-]*")
# Called by name, by what they are written for.
OF_FRAMEWORKS = re.compile(
    r"__\w+__|visit_\w+|pytest_\w+"  # Python, `ast`, pytest
    r"|get_tf_dataset|has_partial_batch|partial_batch_size|num_batches"  # Keras's data adapters
    r"|(train|test|predict)_step|call|build|get_config|from_config|compute_\w+|on_(train|test|epoch|predict)_\w+"
    r"|(has|get|add)_resource|(create|get)_variable"  # TensorFlow's feature columns
    r"|get_params|score|write|_initialize_local_devices"  # scikit-learn, files, TensorFlow's strategies
    r"|get_unscaled_gradients"  # what loops of scripts call
    r"|expect_partial|assert_(consumed|existing_objects_matched)"  # what scripts call on what `load_weights` returned
    r"|dims|num_elements|is_fully_defined|finalize|list_devices|is_running"  # what TensorFlow 1 and Keras 2 had there
    r"|reset_(recurrent_)?dropout_mask"  # of `DropoutRNNCellMixin`, which cells of scripts derive from
    r"|get_code|create_module|find_class|get_matching_blocks|truncate"  # of loaders, pickle, difflib, files
    r"|check_finite|get_scaled_loss|merge_choices"  # of optimizers and parallel models, which scripts call
    r"|find_module|load_module|get_suffixes|linear_assignment|run_cell_magic"  # scripts of 2018, of other packages
    r"|add_graph|get_logdir|(add|del)_hparam|parse_json"  # of `FileWriter` and `HParams`, which scripts call
)


KINDS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def defined(tree: ast.AST) -> list[str]:
    return [node.name for node in ast.walk(tree) if isinstance(node, KINDS)]


def used(tree: ast.AST) -> Counter[str]:
    """Count the names that a module uses, those in strings too; a docstring uses nothing."""
    texts = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, (ast.Module, ast.FunctionDef, ast.ClassDef))
        and node.body
        and isinstance(node.body[0], ast.Expr)
    }
    found: Counter[str] = Counter()
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            found[node.id] += 1
        elif isinstance(node, ast.Attribute):
            found[node.attr] += 1
        elif isinstance(node, ast.alias):
            found[(node.asname or node.name).rpartition(".")[2]] += 1
            found[node.name.rpartition(".")[2]] += 1
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in texts:
            found.update(WORD.findall(node.value))
    return found


def unused(trees: list[ast.Module], more: Counter[str]) -> set[str]:
    """Return the names that are defined, and used by nothing, or only by themselves and by others that are unused."""
    definitions = [node for tree in trees for node in ast.walk(tree) if isinstance(node, KINDS)]
    uses = functools.cache(used)
    names = Counter(more)
    for tree in trees:  # `sum` would copy all that it has, for each
        names.update(used(tree))
    found: set[str] = set()
    while True:
        new = {
            node.name
            for node in definitions
            if node.name not in found
            and not OF_FRAMEWORKS.fullmatch(node.name)
            and (not names[node.name] or (names[node.name] < 9 and names[node.name] <= uses(node)[node.name]))
        }
        if not new:
            return found
        found |= new
        for tree in trees:
            for node in tree.body:
                if isinstance(node, KINDS) and node.name in new:
                    names -= uses(node)


def test_nothing_is_defined_that_nobody_uses() -> None:
    trees = [parsed(path) for path in sorted(PACKAGE.rglob("*.py"))]
    names = Counter(word for table in PACKAGE.rglob("*.tsv") for word in WORD.findall(table.read_text("utf-8")))
    assert sorted(unused(trees, names)) == []


def test_each_module_is_imported_or_named() -> None:
    imported = {other for others in imports(PACKAGE).values() for other in others}
    words = Counter(word for path in [*PACKAGE.rglob("*.py"), *PACKAGE.rglob("*.tsv")] for word in texts(path))
    alone = {
        module
        for module in imports(PACKAGE)
        if module not in imported
        and not words[module.rpartition(".")[2]]
        and not words[module.rpartition(".")[2].replace("_", "-")]
        and not module.endswith((".__main__", ".sitecustomize", ".pytest"))
    }
    assert sorted(alone) == []


def texts(path: Path) -> set[str]:
    """Return the words of a table, or of a module's texts that are no docstrings."""
    if path.suffix == ".tsv":
        text = path.read_text("utf-8")
        return {*WORD.findall(text), *NAME.findall(text)}
    constants = (node.value for node in nodes(path) if isinstance(node, ast.Constant))
    return {word for value in constants if isinstance(value, str) and len(value) < 500 for word in NAME.findall(value)}


def test_functions_that_use_each_other_alone_are_unused() -> None:
    tree = ast.parse("def one():\n    one()\n\n\ndef two():\n    one()\n\n\ndef three():\n    two()\n")
    assert unused([tree], Counter()) == {"one", "two", "three"}


def test_a_function_that_only_its_docstring_names_is_unused() -> None:
    tree = ast.parse('def alone():\n    """`alone` does nothing."""\n\n\ndef other():\n    return other\n')
    assert [name for name in defined(tree) if not used(tree)[name]] == ["alone"]
