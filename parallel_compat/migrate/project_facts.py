"""What one file of a project says about the others: how accuracy is spelled, and whose Keras it was written for."""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from parallel_compat.migrate import parsed, remembered
from parallel_compat.migrate.dotted_names import is_call_of
from parallel_compat.migrate.scopes import Tree
from parallel_compat.migrate.source import Undecodable, decode
from parallel_compat.names import eras, project_era
from parallel_compat.names.eras import Era
from parallel_compat.names.evidence import Evidence, evidence_of_nodes

_COMPILES = re.compile(rb"\.compile\s*\(")
_ACCURACY = re.compile(rb"""['"]acc(?:uracy)?['"]""")
_TENSORFLOW = re.compile(rb"\btensorflow\b")
_FROM = re.compile(rb"^[ \t]*from[ \t]+([.\w]+)[ \t]+import[ \t]*(\([^()]*\)|[^\n#;]*)", re.MULTILINE)
_READ = re.compile(rb"(?<![\w.])([A-Za-z_][A-Za-z0-9_]*)\s*[.(\[]")
_AS = re.compile(rb"^[ \t]*(?:import|from)\b.*?\b([A-Za-z_][A-Za-z0-9_]*)[ \t]*\r?$", re.MULTILINE)
_RATE = re.compile(r"""(\w*)[ ]*(?:\[|\.get\()[ ]*['"]lr['"]""")
_LOGS = re.compile(r"hist(?:ory)?(?:_|$)|logs?$|history$")
_MADE = re.compile(r"\bTensorBoard\s*\(\s*(?!\))")
_WRITTEN = re.compile(r"(?<!\bself)\.writer\.add_summary\s*\(")
_GIVEN = re.compile(r"""get_custom_objects\(\)\s*(?:\.update\(\s*\{([^{}]*)\}|\[\s*['"](\w+)['"]\s*\]\s*=[^=])""")
_KEY = re.compile(r"""['"](\w+)['"]\s*:""")
WRAPPED_LAYERS = re.compile(r"\bTimeDistributed\(\s*(?:layer\s*=\s*)?(?:\w+\.)*(\w+)\(")
NORMALIZES = re.compile(r"\b(?:BatchNorm|ResNet|DenseNet|Inception|Xception|MobileNet|NASNet|EfficientNet)")
_IN_LAMBDA = re.compile(r"(?:\bLambda\(\s*(?:function\s*=\s*)?|\boutput_shape\s*=\s*)(?:\w+\.)*(\w+)\s*[,)]")
READS_MODELS = re.compile(r"\b(?:load_model|model_from_\w+|clone_model|from_config)\(")
_STANDALONE = re.compile(rb"^[ \t]*(?:import|from)[ \t]+keras\b", re.MULTILINE)
_SINCE_2_3 = re.compile(rb"\b(?:losses|metrics|objectives|learning_rate)\b")  # may have a name of Keras 2.3
_OF_HISTORY = re.compile(rb"""\.history\s*\[\s*['"](?:val_)?acc""")


@dataclass(frozen=True, slots=True)
class ProjectFacts:
    """What the files that are migrated together say."""

    accuracy: frozenset[str] = frozenset()  # how models are compiled with it: "acc", "accuracy", or both
    # For each file that says something of its era, its name and what it says.
    evidence: tuple[tuple[str, Evidence], ...] = ()
    # What files import from others of the project, each as `module.name`, the module without its packages; beside
    # `module.*` there is `*.name` for each name that such a file reads and does not import itself.
    passed_on: frozenset[str] = frozenset()
    readers_of_rate: frozenset[str] = frozenset()  # what an `lr` is read from: "logs" or "other"
    # What is done with a `TensorBoard`: "made", "written" (`board.writer.add_summary`).
    boards: frozenset[str] = frozenset()
    custom_names: frozenset[str] = frozenset()  # the names that `get_custom_objects()` is given
    wrapped_layers: frozenset[str] = frozenset()  # the classes of layers that `TimeDistributed` wraps
    lambda_functions: frozenset[str] = frozenset()  # the functions that `Lambda` layers have
    reads_models: frozenset[str] = frozenset()  # what reads models or their configs
    normalizes: frozenset[str] = frozenset()  # layers and models with a moving mean


NONE = ProjectFacts()


def read(paths: Iterable[str]) -> ProjectFacts:
    """Read the facts off the sources of a project; what cannot be read or is no Python 3 says nothing."""
    evidence, of_keras = [], ""
    facts: dict[str, set[str]] = {name: set() for name in ("accuracy", "passed_on", *_OF_TEXT)}
    for path in paths:
        if not path.endswith(".py"):
            continue
        try:
            with open(path, "rb") as stream:
                data = stream.read()
        except OSError:
            continue
        facts["passed_on"] |= _imported(data)
        text = data.decode("ascii", "replace")
        for name, read_text in _OF_TEXT.items():
            facts[name].update(read_text(text))
        compiles = bool(_COMPILES.search(data) and _ACCURACY.search(data))
        standalone = _STANDALONE.search(data)
        history = _OF_HISTORY.search(data)
        line = remembered.read(text)
        if line is not None and line.era is not None:
            evidence.append((os.path.basename(path), eras.evidence_of_era(line.era)))
        if not compiles and (line is not None or not (standalone or history or _TENSORFLOW.search(data))):
            continue
        if standalone and not (compiles or history or _SINCE_2_3.search(data)):
            evidence.append((os.path.basename(path), Evidence(standalone="keras")))
            of_keras = of_keras or path
            continue
        try:
            tree = parsed.read(decode(data)[0])
        except (SyntaxError, Undecodable, RecursionError):
            continue
        facts["accuracy"] |= spellings_of_accuracy(tree)
        if line is not None:
            continue
        said = evidence_of(tree)
        if said.imports_keras or said.tensorflow_1 or said.tensorflow_2 or said.accuracy:
            evidence.append((os.path.basename(path), said._replace(imports=())))
            of_keras = of_keras or (path if said.imports_keras else "")
    if of_keras and not any(said.keras_2_3 or said.tensorflow_1 or said.tensorflow_2 for _, said in evidence):
        decision = project_era.era_of_project(script=os.path.abspath(of_keras))  # requirements, READMEs
        if decision.era in (Era.KERAS_2_3, Era.TF_KERAS_1_15):
            evidence.append((decision.reason, eras.evidence_of_era(decision.era)))
    return ProjectFacts(evidence=tuple(evidence), **{name: frozenset(found) for name, found in facts.items()})


def evidence_of(tree: Tree) -> Evidence:
    """Return what a source says of its era."""
    return evidence_of_nodes((*tree.imports, *tree.attributes, *tree.calls, *tree.subscripts))


def _imported(data: bytes) -> set[str]:
    """Return what a source imports from modules that may be of its project."""
    found: set[str] = set()
    for module, names in _FROM.findall(data):
        if module.partition(b".")[0] not in (b"keras", b"tensorflow", b"numpy", b"__future__"):
            stem = module.rpartition(b".")[2].decode("ascii", "replace")
            for name in names.decode("ascii", "replace").strip("()").split(","):
                found.add(f"{stem}.{name.split()[0]}" if name.split() else "")
    if any(one.endswith(".*") for one in found):
        words = {word.decode() for word in _READ.findall(data)} - {word.decode() for word in _AS.findall(data)}
        found |= {f"*.{word}" for word in words}
    return found - {""}


def readers_of_rate(text: str) -> set[str]:
    """Return what a source reads an `lr` from.

    >>> readers_of_rate("history.history['lr'] + row['lr']") == {"logs", "other"}
    True
    """
    if '"lr"' not in text and "'lr'" not in text:
        return set()
    return {"logs" if _LOGS.search(owner) else "other" for owner in _RATE.findall(text)}


def done_with_boards(text: str) -> set[str]:
    """Return what a source does with a `TensorBoard`.

    >>> sorted(done_with_boards("board = TensorBoard('logs')\\nboard.writer.add_summary(summary, 1)"))
    ['made', 'written']
    """
    return {word for word, pattern in (("made", _MADE), ("written", _WRITTEN)) if pattern.search(text)}


def custom_names(text: str) -> set[str]:
    """Return the names that a source gives to `get_custom_objects()`.

    >>> sorted(custom_names("get_custom_objects().update({'swish': swish})\\nget_custom_objects()['mish'] = mish"))
    ['mish', 'swish']
    """
    if "get_custom_objects" not in text:
        return set()
    return {name for items, one in _GIVEN.findall(text) for name in (*_KEY.findall(items), one) if name}


# What of a text is a fact of each kind: `TimeDistributed(Dense(3))`, `Lambda(losses.dist, output_shape=shape)`.
_OF_TEXT: dict[str, Callable[[str], Iterable[str]]] = {
    "readers_of_rate": readers_of_rate,
    "boards": done_with_boards,
    "custom_names": custom_names,
    "wrapped_layers": WRAPPED_LAYERS.findall,
    "lambda_functions": _IN_LAMBDA.findall,
    "reads_models": READS_MODELS.findall,
    "normalizes": NORMALIZES.findall,
}


def spellings_of_accuracy(tree: Tree, within: ast.AST | None = None) -> set[str]:
    """Return how accuracy is spelled in a source's calls of `compile`, or in those of one function."""
    return {
        node.value
        for node in tree.strings
        if isinstance(node.value, str)
        and node.value in ("acc", "accuracy")
        and _is_given_to_compile(node, tree)
        and (within is None or tree.enclosing_function(node) is within)
    }


def _is_given_to_compile(node: ast.AST, tree: Tree) -> bool:
    """Return whether a node stands in an argument of `compile` that may hold metrics."""
    for above in tree.ancestors(node):
        if is_call_of(above, "compile"):
            return node is not above.func and node not in above.args[:2]
        if isinstance(above, ast.stmt):
            return False
        node = above
    return False
