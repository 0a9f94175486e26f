"""What a source says of the Keras that it was written for.

It is read off the syntax tree, so comments and strings count for nothing; off the words where it is no Python 3.
"""

from __future__ import annotations

import ast
import re
import tokenize
import warnings
from collections.abc import Iterable, Iterator
from operator import itemgetter
from typing import Any, NamedTuple

from parallel_compat.names import table, tsv
from parallel_compat.names.old_sources import parses_as_python_2_alone
from parallel_compat.names.source_paths import paths_in_nodes, paths_in_text
from parallel_compat.names.table import Status


class Evidence(NamedTuple):
    """What a source says of its era: each `str` the first name that says so, or ""."""

    standalone: str = ""  # a name of standalone Keras
    keras_2_3: str = ""  # one that it has since its version 2.3
    tf_keras: str = ""  # a name of TensorFlow's Keras
    tensorflow_1: str = ""  # a name that TensorFlow 2 has not
    tensorflow_2: str = ""  # a name that TensorFlow 1 had not
    imports: tuple[str, ...] = ()  # the modules that it imports, relative ones with their dots
    accuracy: frozenset[str] = frozenset()  # what it does with accuracy by name: `ASKED` and the constants beside it
    keras_1: str = ""  # an argument of Keras 1, which Keras 2 renamed
    keras_2: str = ""  # a name of Keras 2 that Keras 3 does not have
    keras_3: str = ""  # a name that only Keras 3 has, or a module of this package
    like_tensorflow_2: str = ""  # a name that code of TensorFlow 2 uses, and code of TensorFlow 1 hardly ever
    parts: frozenset[str] = frozenset()  # the parts of TensorFlow that it uses: "tf", "tf.contrib", "tf.layers"
    python_2: bool = False  # whether it is Python 2
    # Those of its imports that depend on a version, or that it can go on without.
    conditional_imports: frozenset[str] = frozenset()

    @property
    def imports_keras(self) -> bool:
        """Whether the source imports Keras under any spelling."""
        return bool(self.standalone or self.tf_keras)


NONE = Evidence()

_ROWS = tsv.rows("evidence.tsv", 2)


def _of(kind: str) -> tuple[str, ...]:
    """Return the names of a kind."""
    return tuple(names for of, names in _ROWS if of == kind)


# Functions of TensorFlow 1 whose names are those of Keras's functions in 2.
OF_BOTH = _of("in both")
_ALSO_IN_2_2 = (*_of("also in tensorflow 2.2"), *OF_BOTH)
_SWITCHES_2_OFF = ("tensorflow.compat.v1.disable_v2_behavior", "tensorflow.compat.v1.keras")
# By whose `set_session` code of TensorFlow 2 chose what memory it takes, whatever else it did.
_BACKEND_OF_1_IN_2 = "tensorflow.compat.v1.keras.backend"
_MODULES_OF_TENSORFLOW_1 = re.compile(rf"tensorflow\.(?:{'|'.join(_of('module of tensorflow 1'))})\b")
_OF_TENSORFLOW_2 = re.compile(rf"tensorflow\.(?:{'|'.join(_of('tensorflow 2'))})(?![\w(])|tensorflow_addons\b")
# Names that TensorFlow 1.15 had as well; there, code that had to be eager said so first.
_LIKE_TENSORFLOW_2 = re.compile(r"tensorflow\.(?:function|GradientTape|config\.experimental\.list_physical_devices)$")
_ASKS_TO_BE_EAGER = re.compile(r"tensorflow\.(?:compat\.v1\.)?enable_(?:eager_execution|v2_behavior)$")
_OF_KERAS_3 = re.compile(
    rf"(?:tensorflow\.)?keras\.(?:{'|'.join(_of('keras 3'))})(?![\w(])"
    r"|keras_(?:core|hub)\b|parallel_compat\.(?!run\b|install$|uninstall$|legacy_names$)"
)
_OF_KERAS_2 = re.compile(rf"(?:tensorflow\.)?keras\.(?:{'|'.join(_of('keras 2'))})(?![\w(])")
_PARTS = re.compile(r"tensorflow(?:\.(contrib|layers))?(?![\w(])")
_SINCE_KERAS_2_3 = re.compile(rf"keras\.(?:{'|'.join(_of('since keras 2.3'))})")
_TF_KERAS_1, _OF_KERAS_1 = (_of(kind)[0].split() for kind in ("tf.keras of tensorflow 1", "argument of keras 1"))
_OF_METHODS_SINCE_KERAS_2_3, _OF_METHODS_OF_TENSORFLOW_2 = (
    _of(f"argument {when}") for when in ("since keras 2.3", "of tensorflow 2")
)

# `metrics=["accuracy"]` was logged as "acc" up to Keras 2.2 and as "accuracy" from 2.3 on. Reading the other one from a
# history ended a script with a KeyError; watching it in a callback was no more than a warning. `tf.keras` logged "acc"
# up to TensorFlow 1.15.
ASKED, READ, WATCHED, READ_AS_ACC = "metrics=['accuracy']", "history['accuracy']", "monitor='accuracy'", "'acc'"
READ_ACC, WATCHED_ACC = "history['acc']", "monitor='val_acc'"
_LOGGED_BEFORE = ("acc", "val_acc")
_LOGGED_SINCE_2_3 = ("accuracy", "val_accuracy")
_WATCHERS = ("EarlyStopping", "ModelCheckpoint", "ReduceLROnPlateau")

# Questions for the version, in the names and texts of a test.
_ASKS_FOR_VERSION = re.compile(r"(?i)version|hasattr|executing_eagerly|tf_?[12]\b|tf_?keras|tensorflow_?[12]\b")


def together(parts: Iterable[Evidence]) -> Evidence:
    """Return what several pieces of one source say (the cells of a notebook)."""
    found = NONE
    for part in parts:
        first = {name: getattr(found, name) or value for name, value in part._asdict().items()}
        found = Evidence(**first)._replace(
            imports=(*found.imports, *part.imports),
            accuracy=found.accuracy | part.accuracy,
            parts=found.parts | part.parts,
            conditional_imports=found.conditional_imports | part.conditional_imports,
        )
    return found


def evidence_of_source(text: str, is_main: bool = True) -> Evidence:
    """Read what a source says of its era.

    A name counts for no version where the source asks for the version first, or goes on without the name. A source
    that is no Python 3 is read word by word.

    >>> evidence_of_source("from tensorflow import keras\\nimport tensorflow as tf\\ntf.Session()\\n").tensorflow_1
    'tf.Session'
    >>> evidence_of_source("import keras\\nprint keras.__version__\\n").standalone
    'keras'

    Args:
        is_main: whether it is run, not imported.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # invalid escapes in strings
            tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return _evidence(paths_in_text(text))._replace(python_2=parses_as_python_2_alone(text))
    firm, guarded, instead = _by_guard(tree, is_main)
    said = evidence_of_nodes((*firm, *guarded))
    if not said.imports_keras:
        said = evidence_of_nodes(ast.walk(tree))
    if guarded or instead:
        certain = _with_methods(_evidence(paths_in_nodes((*guarded, *firm), frozenset(guarded))), firm)
        said = said._replace(
            keras_2_3=certain.keras_2_3,
            tensorflow_1=certain.tensorflow_1,
            tensorflow_2=certain.tensorflow_2,
            keras_2=certain.keras_2,
            keras_3=certain.keras_3,
            like_tensorflow_2=certain.like_tensorflow_2,
            conditional_imports=frozenset(said.imports) - frozenset(certain.imports),
        )
    return said


def evidence_of_nodes(nodes: Iterable[ast.AST]) -> Evidence:
    """Read what a module's nodes say of its era.

    Args:
        nodes: all of them; imports, attributes, calls and subscripts are enough.
    """
    nodes = list(nodes)
    said = _with_methods(_evidence(paths_in_nodes(nodes)), nodes)
    return said._replace(accuracy=frozenset(_of_accuracy(nodes)))


def _with_methods(said: Evidence, nodes: Iterable[ast.AST]) -> Evidence:
    """Add what the arguments of calls say, those of a model's methods only for the Keras that is imported."""

    for node in nodes:
        if not isinstance(node, ast.Call):
            continue
        for keyword in node.keywords:
            if keyword.arg in _OF_KERAS_1 and not said.keras_1:
                said = said._replace(keras_1=str(keyword.arg))
            if not isinstance(node.func, ast.Attribute):
                continue
            call = f"{node.func.attr}({keyword.arg}=)"
            if call in _OF_METHODS_SINCE_KERAS_2_3 and said.standalone and not said.keras_2_3:
                said = said._replace(keras_2_3=call)
            elif call in _OF_METHODS_OF_TENSORFLOW_2 and said.tf_keras and not said.tensorflow_2:
                said = said._replace(tensorflow_2=call)
    return said


def _by_guard(tree: ast.AST, is_main: bool) -> tuple[list[ast.AST], list[ast.AST], list[ast.AST]]:
    """Return a module's nodes: those that always run, those behind a question, those that run instead of an import.

    Questions are for the version of TensorFlow or Keras, for the name of a module that is imported, or `try` with an
    `except` that takes a missing name.
    """

    nodes = list(ast.walk(tree))
    guarded: set[ast.AST] = set()
    instead: set[ast.AST] = set()
    for node in nodes:
        if isinstance(node, ast.Try):
            handlers = [handler for handler in node.handlers if _takes_missing(handler)]
            for below in (*(node.body if handlers else ()), *(node.orelse if handlers else ())):
                guarded.update(ast.walk(below))
            for handler in handlers:
                instead.update(ast.walk(handler))
        elif isinstance(node, (ast.If, ast.IfExp)):
            asked = _words(node.test)
            if _ASKS_FOR_VERSION.search(asked) or ("__name__" in asked and not is_main):
                guarded.update(ast.walk(node))
    return (
        [node for node in nodes if node not in guarded and node not in instead],
        [node for node in nodes if node in guarded and node not in instead],
        [node for node in nodes if node in instead],
    )


def _words(test: ast.expr) -> str:
    """Return the names and texts of an expression."""

    found = []
    for node in ast.walk(test):
        if isinstance(node, ast.Name):
            found.append(node.id)
        elif isinstance(node, ast.Attribute):
            found.append(node.attr)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            found.append(node.value)
    return " ".join(found)


def _takes_missing(handler: ast.ExceptHandler) -> bool:

    names = {getattr(node, "id", "") for node in ast.walk(handler.type)} if handler.type is not None else {"Exception"}
    return not names.isdisjoint(
        ("ImportError", "ModuleNotFoundError", "AttributeError", "NameError", "TypeError", "Exception")
    )


def evidence_of_file(file: str) -> Evidence:
    """Read what a file says of its era; nothing where it cannot be read."""
    try:
        with tokenize.open(file) as opened:
            return evidence_of_source(opened.read())
    except (OSError, SyntaxError, UnicodeDecodeError):
        return NONE


def _evidence(paths: Iterable[tuple[int, str, bool]]) -> Evidence:
    standalone = keras_2_3 = tf_keras = tensorflow_1 = tensorflow_2 = keras_2 = keras_3 = like_2 = ""
    asks_to_be_eager = False
    imports: dict[str, None] = {}
    parts: set[str] = set()
    for _, path, is_import in sorted(paths, key=itemgetter(0)):
        if is_import:
            imports[path] = None
        if path.startswith("."):
            continue
        root = table.root_of(path)
        if root == "keras":
            standalone = standalone or path.partition("(")[0]
            if not keras_2_3 and _SINCE_KERAS_2_3.match(path):
                keras_2_3 = path
        elif root is not None:
            tf_keras = tf_keras or path
        if not keras_2 and is_import and _OF_KERAS_2.match(path):
            keras_2 = path.partition("(")[0]
        if not keras_3 and _OF_KERAS_3.match(path):
            keras_3 = path
        if not path.startswith("tensorflow"):
            continue
        if root is None and (part := _PARTS.match(path)) is not None:
            parts.update(("tf", f"tf.{part[1]}") if part[1] else ("tf",))
        asks_to_be_eager = asks_to_be_eager or _ASKS_TO_BE_EAGER.match(path) is not None
        if not tensorflow_1 and path.startswith("tensorflow.") and _is_of_tensorflow_1(path, root):
            tensorflow_1 = _as_tf(path)
        if not tensorflow_2 and (of_2 := _OF_TENSORFLOW_2.match(path)) is not None:
            tensorflow_2 = _as_tf(of_2[0])
        if not like_2 and _LIKE_TENSORFLOW_2.match(path):
            like_2 = _as_tf(path)
    return Evidence(
        standalone,
        keras_2_3,
        tf_keras,
        tensorflow_1,
        tensorflow_2,
        tuple(imports),
        keras_2=keras_2,
        keras_3=keras_3,
        like_tensorflow_2="" if asks_to_be_eager else like_2,
        parts=frozenset(parts),
    )


def _as_tf(path: str) -> str:
    return "tf" + path[len("tensorflow") :] if path.startswith("tensorflow.") else path


def _is_of_tensorflow_1(path: str, root: str | None) -> bool:
    if _BACKEND_OF_1_IN_2.startswith(path) or path.startswith(_BACKEND_OF_1_IN_2):
        return False
    if _MODULES_OF_TENSORFLOW_1.match(path) or path.startswith(_SWITCHES_2_OFF):
        return True
    if root is not None:
        return path.rpartition(".")[2] in _TF_KERAS_1
    if path.startswith(_ALSO_IN_2_2):
        return False
    function, _, argument = path.partition("(")
    if argument:
        return argument.removesuffix("=)") in table.tensorflow_1_signatures()[function][1]
    row = table.lookup(path)
    return row is not None and row.status is not Status.SAME


def _of_accuracy(nodes: Iterable[ast.AST]) -> Iterator[str]:
    """Yield what a module does with accuracy by name."""

    def text(node: ast.AST | None) -> Any:
        return node.value if isinstance(node, ast.Constant) else None

    for node in nodes:
        if isinstance(node, ast.Subscript):
            key, of = text(node.slice), node.value
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "get":
            key, of = text(node.args[0] if node.args else None), None
        elif isinstance(node, ast.Call):
            given = {each.arg: each.value for each in node.keywords}
            asked = given.get("metrics")
            if isinstance(asked, (ast.List, ast.Tuple)) and "accuracy" in map(text, asked.elts):
                yield ASKED
            name = getattr(node.func, "attr", getattr(node.func, "id", None))
            watched = [given.get("monitor"), *(node.args if name in _WATCHERS else ())]
            if any(text(each) in _LOGGED_SINCE_2_3 for each in watched):
                yield WATCHED
            if any(text(each) in _LOGGED_BEFORE for each in watched):
                yield WATCHED_ACC
            continue
        else:
            continue
        is_history = isinstance(of, ast.Attribute) and of.attr == "history"
        if key in _LOGGED_BEFORE:
            yield READ_AS_ACC
            if is_history:
                yield READ_ACC
        elif key in _LOGGED_SINCE_2_3:
            yield READ if is_history else WATCHED
