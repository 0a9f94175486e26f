"""Every function, method and class of the package is used by it, named by its tables, or asked for by a framework."""

from __future__ import annotations

import ast
import re
from collections import Counter
from pathlib import Path

import parallel_compat

PACKAGE = Path(parallel_compat.__file__).parent
WORD = re.compile(r"[A-Za-z_]\w*")
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
    r"|get_code"  # of importlib's loaders
    r"|find_module|load_module|get_suffixes|linear_assignment|run_cell_magic"  # scripts of 2018, of other packages
    r"|add_graph|get_logdir|(add|del)_hparam|parse_json"  # of `FileWriter` and `HParams`, which scripts call
)


def defined(tree: ast.AST) -> list[str]:
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    return [node.name for node in ast.walk(tree) if isinstance(node, kinds)]


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


def test_nothing_is_defined_that_nobody_uses() -> None:
    trees = [ast.parse(path.read_text("utf-8")) for path in sorted(PACKAGE.rglob("*.py"))]
    names = sum((used(tree) for tree in trees), Counter())
    for table in PACKAGE.rglob("*.tsv"):
        names.update(WORD.findall(table.read_text("utf-8")))
    unused = {name for tree in trees for name in defined(tree) if not names[name] and not OF_FRAMEWORKS.fullmatch(name)}
    assert sorted(unused) == []


def test_a_function_that_only_its_docstring_names_is_unused() -> None:
    tree = ast.parse('def alone():\n    """`alone` does nothing."""\n\n\ndef other():\n    return other\n')
    assert [name for name in defined(tree) if not used(tree)[name]] == ["alone"]
