"""Eras: the stacks whose results an old script was written for, and how a source tells which one.

An era is a column of the tables of facts. Standalone Keras ended with its 2.2/2.3 line on TensorFlow 1; `tf.keras`
changed its defaults and its arithmetic between TensorFlow 1 and 2 and again with Keras 3.

What a source says is read off its syntax tree, so comments and strings count for nothing; where there is no source
(`python -c`, standard input), off the compiled code.
"""

from __future__ import annotations

import enum
import os
import re
from operator import itemgetter
from typing import TYPE_CHECKING, Any, NamedTuple

from parallel_compat.names import table
from parallel_compat.names.table import Status

if TYPE_CHECKING:
    import ast
    from collections.abc import Callable, Iterable, Iterator
    from types import CodeType


class Era(str, enum.Enum):
    """Whose results a source was written for; the value is the spelling of `--era`."""

    KERAS_2_2_4 = "keras-2.2.4"
    KERAS_2_3 = "keras-2.3"
    TF_KERAS_1_15 = "tf.keras-1.15"
    TF_KERAS_2_2 = "tf.keras-2.2"
    TODAY = "today"

    @property
    def is_standalone(self) -> bool:
        """Whether it is one of standalone Keras.

        >>> [era.value for era in Era if era.is_standalone]
        ['keras-2.2.4', 'keras-2.3']
        """
        return self in (Era.KERAS_2_2_4, Era.KERAS_2_3)

    @property
    def is_tf_keras(self) -> bool:
        """Whether it is one of `tf.keras`.

        >>> [era.value for era in Era if era.is_tf_keras]
        ['tf.keras-1.15', 'tf.keras-2.2']
        """
        return self in (Era.TF_KERAS_1_15, Era.TF_KERAS_2_2)

    @property
    def has_graphs(self) -> bool:
        """Whether its code ran on the graphs and sessions of TensorFlow 1.

        >>> [era.value for era in Era if era.has_graphs]
        ['keras-2.2.4', 'keras-2.3', 'tf.keras-1.15']
        """
        return self.is_standalone or self is Era.TF_KERAS_1_15

    def __str__(self) -> str:
        return self.value


class Verdict(NamedTuple):
    """The era of a source, and why.

    Attributes:
        era: the era.
        reason: what says so, for the report.
    """

    era: Era
    reason: str


class Evidence(NamedTuple):
    """What a source says of its era: each field the first name that says so, or "".

    Attributes:
        standalone: a name of standalone Keras.
        keras_2_3: one that it has since its version 2.3.
        tf_keras: a name of TensorFlow's Keras.
        tensorflow_1: a name that TensorFlow 2 has not.
        tensorflow_2: a name that TensorFlow 1 had not.
        imports: the modules that it imports, relative ones with their dots.
        accuracy: what it does with accuracy by name, of `_ASKED`, `_READ`, `_WATCHED` and `_READ_AS_ACC`.
    """

    standalone: str = ""
    keras_2_3: str = ""
    tf_keras: str = ""
    tensorflow_1: str = ""
    tensorflow_2: str = ""
    imports: tuple[str, ...] = ()
    accuracy: frozenset[str] = frozenset()

    @property
    def imports_keras(self) -> bool:
        """Whether the source imports Keras under any spelling."""
        return bool(self.standalone or self.tf_keras)


NONE = Evidence()

# Functions of TensorFlow 1 (the mean of all) whose names are those of Keras's functions (a value per sample) in 2.
OF_BOTH = (
    "tensorflow.losses.mean_squared_error",
    "tensorflow.metrics.mean_absolute_error",
    "tensorflow.metrics.mean_squared_error",
)
# Names that the table of TensorFlow 1 lists and TensorFlow 2.2 had as well.
_ALSO_IN_2_2 = (
    "tensorflow.nn.RNNCell",
    "tensorflow.compat.",
    "tensorflow.data.experimental.",
    "tensorflow.mixed_precision.",
    "tensorflow.python.",
    "tensorflow.train.experimental.",
    *OF_BOTH,
)
_SWITCHES_2_OFF = ("tensorflow.compat.v1.disable_v2_behavior", "tensorflow.compat.v1.keras")
# By whose `set_session` code of TensorFlow 2 chose what memory it takes, whatever else it did.
_BACKEND_OF_1_IN_2 = "tensorflow.compat.v1.keras.backend"
# Names that TensorFlow 1.15 had not. One is enough: lessons of both lie in one project.
_OF_TENSORFLOW_2 = (
    "tensorflow.config.list_physical_devices",
    "tensorflow.config.set_visible_devices",
    "tensorflow.optimizers",
    "tensorflow.random.set_seed",
    "tensorflow.summary.create_file_writer",
)
# Names of `tf.keras` that TensorFlow 2 had in `compat.v1` alone.
_TF_KERAS_1 = ("CuDNNLSTM", "CuDNNGRU", "set_session", "get_session")

# What Keras 2.3 has and 2.2.5 has not: classes of losses and metrics, and `learning_rate` of optimizers. (The functions
# had names in capitals before, and what the modules had imported was reached by them.)
_SINCE_KERAS_2_3 = re.compile(
    r"keras\.(?:(?:losses|metrics|objectives)\."
    r"(?:(?!(?:K|KLD|MAE|MAPE|MSE|MSLE|Layer)$)[A-Z]|cosine_similarity$|huber_loss$)"
    r"|utils\.(?:losses|metrics)_utils\b|callbacks\.(?:callbacks|tensorboard_v[12])\b"
    r"|optimizers\.[A-Z]\w*\(learning_rate=\)$)"
)

# `metrics=["accuracy"]` was logged as "acc" up to Keras 2.2 and as "accuracy" from 2.3 on. Reading the other one from a
# history ended a script with a KeyError; watching it in a callback was no more than a warning.
_ASKED, _READ, _WATCHED, _READ_AS_ACC = "metrics=['accuracy']", "history['accuracy']", "monitor='accuracy'", "'acc'"
_LOGGED_SINCE_2_3 = ("accuracy", "val_accuracy")
_WATCHERS = ("EarlyStopping", "ModelCheckpoint", "ReduceLROnPlateau")

_LOADS_OF_CONSTANTS = ("LOAD_CONST", "LOAD_SMALL_INT")
_LOADS_OF_NAMES = ("LOAD_NAME", "LOAD_GLOBAL", "LOAD_FAST", "LOAD_DEREF", "LOAD_CLASSDEREF")

# A project of more files says enough in these.
_FILES_OF_PROJECT = 200


def verdict(own: Evidence, project: Iterable[tuple[str, Evidence]] = ()) -> Verdict | None:
    """Tell the era of a source that is part of a project.

    `tf.keras` by itself does not say which TensorFlow it was written for; another file of the project may.

    Args:
        own: what the source says.
        project: the names of the project's files and what each says, the main script first.

    Returns:
        The verdict; None where neither the source nor the project imports Keras.

    >>> verdict(evidence_of_source("import tensorflow as tf\\nmodel = tf.keras.Sequential()\\n")).era.value
    'tf.keras-2.2'
    """
    if own.standalone:
        return _of_standalone(own, list(project))
    if own.tf_keras:
        if own.tensorflow_1:
            return Verdict(Era.TF_KERAS_1_15, f"tf.keras with {own.tensorflow_1}")
        if own.tensorflow_2:
            return Verdict(Era.TF_KERAS_2_2, f"tf.keras with {own.tensorflow_2}")
        project = list(project)
        for file, said in project:
            if said.tensorflow_2 and not said.tensorflow_1:
                return Verdict(Era.TF_KERAS_2_2, f"tf.keras, and {said.tensorflow_2} in {file}")
        for file, said in project:
            if said.tensorflow_1:
                return Verdict(Era.TF_KERAS_1_15, f"tf.keras, and {said.tensorflow_1} in {file}")
        return Verdict(Era.TF_KERAS_2_2, "tf.keras, and no name of TensorFlow 1")
    project = list(project)
    for file, said in project:
        found = verdict(said, project) if said.imports_keras else None
        if found is not None:
            return Verdict(found.era, f"imports no Keras: as {file}")
    return None


def _of_standalone(own: Evidence, project: list[tuple[str, Evidence]]) -> Verdict:
    if own.keras_2_3:
        return Verdict(Era.KERAS_2_3, f"imports keras, with {own.keras_2_3}")
    for file, said in project:  # one Keras is installed for all of them
        if said.keras_2_3:
            return Verdict(Era.KERAS_2_3, f"imports keras, and {said.keras_2_3} in {file}")
    accuracy = own.accuracy.union(*(said.accuracy for _, said in project))
    if _ASKED in accuracy and _READ_AS_ACC not in accuracy:
        if _READ in accuracy:
            return Verdict(Era.KERAS_2_3, f"imports keras, and reads {_READ} of {_ASKED}")
        if _WATCHED in accuracy:
            hint = f"which {_ASKED} has in the logs of Keras 2.3: if that is its Keras, add --era keras-2.3"
            return Verdict(Era.KERAS_2_2_4, f"imports keras; it watches 'accuracy', {hint}")
    return Verdict(Era.KERAS_2_2_4, "imports keras")


def together(parts: Iterable[Evidence]) -> Evidence:
    """Return what several pieces of one source say (the cells of a notebook)."""
    found = NONE
    for part in parts:
        found = Evidence(
            found.standalone or part.standalone,
            found.keras_2_3 or part.keras_2_3,
            found.tf_keras or part.tf_keras,
            found.tensorflow_1 or part.tensorflow_1,
            found.tensorflow_2 or part.tensorflow_2,
            (*found.imports, *part.imports),
            found.accuracy | part.accuracy,
        )
    return found


def evidence_of_era(era: Era) -> Evidence:
    """Return what a source says that is known to be of an era.

    >>> [verdict(evidence_of_era(era)).era is era for era in Era if era is not Era.TODAY]
    [True, True, True, True]
    """
    said = f"code of {era.value}"
    if era.is_standalone:
        since = said if era is Era.KERAS_2_3 else ""
        return Evidence(standalone="keras", keras_2_3=since, accuracy=frozenset(() if since else (_READ_AS_ACC,)))
    graphs = era is Era.TF_KERAS_1_15
    return Evidence(
        tf_keras="tensorflow.keras", tensorflow_1=said if graphs else "", tensorflow_2="" if graphs else said
    )


def evidence_of_source(text: str) -> Evidence:
    """Read what a source says of its era; nothing where it is no Python 3.

    >>> evidence_of_source("from tensorflow import keras\\nimport tensorflow as tf\\ntf.Session()\\n").tensorflow_1
    'tf.Session'

    Args:
        text: the source.
    """
    import ast

    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError):
        return NONE
    return evidence_of_nodes(ast.walk(tree))


def evidence_of_nodes(nodes: Iterable[ast.AST]) -> Evidence:
    """Read what a module's nodes say of its era.

    Args:
        nodes: all of them; imports, attributes, calls and subscripts are enough.
    """
    nodes = list(nodes)
    return _evidence(_paths_in_nodes(nodes))._replace(accuracy=frozenset(_of_accuracy(nodes)))


def evidence_of_code(code: CodeType) -> Evidence:
    """Read what compiled code says of its era by its names: that of a module, with the functions in it.

    >>> evidence_of_code(compile("import keras.layers", "<string>", "exec")).standalone
    'keras.layers'

    Args:
        code: the code.
    """
    return _evidence(_paths_in_code(code))


def of_project(
    main: str, root: str = "", read: Callable[[str], Evidence] | None = None
) -> Iterator[tuple[str, Evidence]]:
    """Yield the files that a script is made of and what each says: itself, then those next to it that it imports.

    Args:
        main: the script's file.
        root: a further folder that modules are imported from.
        read: called for what a file says, in the place of `evidence_of_file`.
    """
    folder = top = os.path.dirname(os.path.abspath(main))
    while os.path.isfile(os.path.join(top, "__init__.py")):
        top = os.path.dirname(top)
    waiting = [os.path.abspath(main)]
    seen: set[str] = set()
    while waiting and len(seen) < _FILES_OF_PROJECT:
        file = waiting.pop(0)
        if file in seen:
            continue
        seen.add(file)
        said = (read or evidence_of_file)(file)
        yield file, said
        for module in said.imports:
            for place in {folder, top, root or top}:
                waiting += _files_of(module, file, place)


def evidence_of_file(file: str) -> Evidence:
    """Read what a file says of its era; nothing where it cannot be read."""
    import tokenize

    try:
        with tokenize.open(file) as opened:
            return evidence_of_source(opened.read())
    except (OSError, SyntaxError, UnicodeDecodeError):
        return NONE


def _files_of(module: str, by: str, folder: str) -> Iterator[str]:
    """Yield the file of a module and those of the packages it is in, where these stand in the project."""
    dots = len(module) - len(module.lstrip("."))
    for _ in range(dots):
        folder = by = os.path.dirname(by)
    parts = [part for part in module[dots:].split(".") if part]
    for count in range(1, len(parts) + 1):
        place = os.path.join(folder, *parts[:count])
        for file in (f"{place}.py", os.path.join(place, "__init__.py")):
            if os.path.isfile(file):
                yield file


def _evidence(paths: Iterable[tuple[int, str, bool]]) -> Evidence:
    standalone = keras_2_3 = tf_keras = tensorflow_1 = tensorflow_2 = ""
    imports: dict[str, None] = {}
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
        if not tensorflow_1 and path.startswith("tensorflow.") and _is_of_tensorflow_1(path, root):
            tensorflow_1 = "tf" + path[len("tensorflow") :]
        if not tensorflow_2 and path in _OF_TENSORFLOW_2:
            tensorflow_2 = "tf" + path[len("tensorflow") :]
    return Evidence(standalone, keras_2_3, tf_keras, tensorflow_1, tensorflow_2, tuple(imports))


def _is_of_tensorflow_1(path: str, root: str | None) -> bool:
    if _BACKEND_OF_1_IN_2.startswith(path) or path.startswith(_BACKEND_OF_1_IN_2):
        return False
    if path.startswith("tensorflow.contrib") or path.startswith(_SWITCHES_2_OFF):
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


def _paths_in_nodes(nodes: Iterable[ast.AST]) -> Iterator[tuple[int, str, bool]]:
    """Yield (line, dotted path, whether it is imported) of what a module imports and reaches through imports.

    An argument of one of TensorFlow's functions is yielded as `tensorflow.reduce_sum(keep_dims=)`, and `learning_rate`
    of an optimizer of Keras likewise.
    """
    import ast

    aliases: dict[str, str] = {}
    reached: list[ast.expr] = []
    arguments: dict[ast.expr, list[str]] = {}
    for node in nodes:
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield node.lineno, alias.name, True
                aliases[alias.asname or alias.name.partition(".")[0]] = (
                    alias.name if alias.asname else alias.name.partition(".")[0]
                )
        elif isinstance(node, ast.ImportFrom):
            for alias in node.names:
                module = "." * node.level + (node.module or "")
                between = "" if module.endswith(".") else "."
                path = module if alias.name == "*" else f"{module}{between}{alias.name}"
                yield node.lineno, path, True
                aliases[alias.asname or alias.name] = path
        elif isinstance(node, ast.Attribute):
            reached.append(node)
        elif isinstance(node, ast.Call) and node.keywords:
            arguments[node.func] = [keyword.arg for keyword in node.keywords if keyword.arg]
            if isinstance(node.func, ast.Name) and "learning_rate" in arguments[node.func]:
                reached.append(node.func)
    for expression in reached:
        names: list[str] = []
        value = expression
        while isinstance(value, ast.Attribute):
            names.append(value.attr)
            value = value.value
        if isinstance(value, ast.Name) and value.id in aliases:
            path = ".".join([aliases[value.id], *reversed(names)])
            yield expression.lineno, path, False
            given = arguments.get(expression, ())
            if path.startswith("keras.optimizers.") and "learning_rate" in given:
                yield expression.lineno, f"{path}(learning_rate=)", False
            if path in table.tensorflow_1_signatures():
                for argument in given:
                    yield expression.lineno, f"{path}({argument}=)", False


def _of_accuracy(nodes: Iterable[ast.AST]) -> Iterator[str]:
    """Yield what a module does with accuracy by name."""
    import ast

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
                yield _ASKED
            name = getattr(node.func, "attr", getattr(node.func, "id", None))
            watched = [given.get("monitor"), *(node.args if name in _WATCHERS else ())]
            if any(text(each) in _LOGGED_SINCE_2_3 for each in watched):
                yield _WATCHED
            continue
        else:
            continue
        if key in ("acc", "val_acc"):
            yield _READ_AS_ACC
        elif key in _LOGGED_SINCE_2_3:
            yield _READ if isinstance(of, ast.Attribute) and of.attr == "history" else _WATCHED


def _paths_in_code(code: CodeType, aliases: dict[str, str] | None = None) -> Iterator[tuple[int, str, bool]]:
    """Yield the same of compiled code."""
    import dis

    aliases = {} if aliases is None else aliases
    module = reached = ""
    listed: Any = None
    constants: list[Any] = [0, None]  # what was loaded last: at an import its level and the names listed after it
    for instruction in dis.get_instructions(code):
        name, what = instruction.opname, instruction.argval
        if name in _LOADS_OF_CONSTANTS:
            constants = [constants[-1], what]
        elif name == "IMPORT_NAME":
            level, listed = constants
            module = reached = "." * (level or 0) + what
            if not listed or "*" in listed:
                yield 0, module, True
        elif name == "IMPORT_FROM" and listed:
            reached = f"{module}{'' if module.endswith('.') else '.'}{what}"
            yield 0, reached, True
        elif name.startswith("STORE_") and reached and isinstance(what, str):
            # `import a.b` stores `a`, under its own name.
            aliases[what] = what if not listed and what == reached.partition(".")[0] else reached
            reached = ""
        elif name.startswith(_LOADS_OF_NAMES) and what in aliases:
            reached = aliases[what]
        elif name in ("LOAD_ATTR", "LOAD_METHOD") and reached:
            reached = f"{reached}.{what}"
            yield 0, reached, False
        elif name not in ("IMPORT_FROM", "SWAP", "ROT_TWO", "POP_TOP"):  # those of `import a.b as c`
            reached = ""
    for constant in code.co_consts:
        if hasattr(constant, "co_consts"):
            yield from _paths_in_code(constant, dict(aliases))
