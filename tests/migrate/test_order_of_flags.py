"""Whatever order `--write` and `--write --unsafe` are run in, the sources that they end in are the same."""

from __future__ import annotations

import ast
import zlib
from dataclasses import replace
from pathlib import Path
from textwrap import dedent

import pytest

from parallel_compat.command import main
from parallel_compat.migrate import process_file, project_facts, rules
from parallel_compat.migrate.engine import Options, analyse
from parallel_compat.migrate.findings import FileStatus, Status
from tests.migrate.check import LINE
from tests.migrate.test_notebooks import notebook

ROOT = Path(__file__).parent.parent.parent
SAFE, UNSAFE = Options(), Options(unsafe=True)
ORDERS = ((SAFE, UNSAFE), (SAFE, SAFE, UNSAFE, UNSAFE), (UNSAFE, SAFE), (UNSAFE, UNSAFE))


def corpus() -> dict[str, str]:
    """Return the sources of the rules, the examples, the tests' data, and those in the tests of rules."""
    found = {f"rule {name}": rules.example(name)[0] for name in rules.ALL}
    for pattern in ("examples/**/*.py", "tests/data/**/*.py", "tests/differential/*.py"):
        found |= {str(path.relative_to(ROOT)): path.read_text("utf-8") for path in sorted(ROOT.glob(pattern))}
    for path in sorted((ROOT / "tests" / "migrate").glob("**/test_*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and _is_source(node.value):
                found[f"{path.name}:{node.lineno}"] = dedent(node.value)
    return found


def _is_source(text: str) -> bool:
    if "\n" not in text or ("keras" not in text and "tensorflow" not in text) or "coding:" in text:
        return False
    try:
        ast.parse(dedent(text))
    except SyntaxError:
        return False
    return True


CORPUS = corpus()
# What another rewrite settles: a class or function of this package takes the argument that was asked about.
_SETTLED_BY_OTHERS = ("tests/data/eras/arithmetic.py", "test_of_several_models.py:13")
NATIVE, NATIVE_UNSAFE = Options(target="native"), Options(target="native", unsafe=True)
NATIVE_ORDERS = (
    (UNSAFE, NATIVE_UNSAFE),
    (SAFE, NATIVE_UNSAFE),
    (NATIVE, NATIVE_UNSAFE),
    (SAFE, UNSAFE, NATIVE, NATIVE_UNSAFE),
    (NATIVE, UNSAFE, NATIVE_UNSAFE),
    (UNSAFE, NATIVE),
    (NATIVE, UNSAFE),
    (UNSAFE, NATIVE, SAFE),
)
_FILES = [name for name in sorted(CORPUS) if name.startswith(("rule ", "examples", "tests/"))]
# Chosen by their texts: a new test elsewhere does not change which of the others are looked at.
_SAMPLE = _FILES + sorted(CORPUS.keys() - set(_FILES), key=lambda name: zlib.crc32(CORPUS[name].encode()))[:60]


def step(text: str, options: Options, path: Path) -> str:
    """Return what a file becomes by one run of the command; the same step of several orders is made once."""
    key = (text, options)
    if key not in _STEPS:
        _STEPS[key] = _step(text, options, path)
    return _STEPS[key]


_STEPS: dict[tuple[str, Options], str] = {}


def _step(text: str, options: Options, path: Path) -> str:
    path.write_text(text, "utf-8")
    options = replace(options, project=project_facts.read([str(path)]))
    report = process_file.source(str(path), path.read_bytes(), options).settled("")
    assert report.status is not FileStatus.FAILED, report.reason
    return report.after if report.status is FileStatus.CHANGED else text


def steps(text: str, order: tuple[Options, ...], path: Path) -> str:
    for options in order:
        text = step(text, options, path)
    return text


def test_the_corpus_is_there():
    assert len(CORPUS) > 600
    assert len(_FILES) > 80


@pytest.mark.one_in(2)
@pytest.mark.parametrize("part", range(8))
def test_any_order_ends_in_the_same_source(part, tmp_path):
    for name in sorted(CORPUS)[part::8]:
        ended = step(CORPUS[name], UNSAFE, tmp_path / "script.py")
        for order in ORDERS:
            assert steps(CORPUS[name], order, tmp_path / "script.py") == ended, name


@pytest.mark.one_in(8)
@pytest.mark.parametrize("part", range(8))
def test_any_order_ends_in_the_same_program_of_plain_keras(part, tmp_path):
    """What was asked for once holds in each later run; imports may stand elsewhere, the rest is the same text."""
    path = tmp_path / "script.py"
    for name in _SAMPLE[part::8]:
        if name in _SETTLED_BY_OTHERS:
            continue
        ended = program(step(CORPUS[name], NATIVE_UNSAFE, path))
        for order in NATIVE_ORDERS:
            assert program(steps(CORPUS[name], order, path)) == ended, (name, order)


def program(text: str) -> tuple[str, list[str]]:
    """Return a source without its imports and comments, and the names that it imports."""
    imported = []

    class Imports(ast.NodeTransformer):
        def visit_Import(self, node: ast.Import) -> None:
            imported.extend(f"{one.name} as {one.asname or one.name}" for one in node.names)

        def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
            imported.extend(f"{node.module}.{one.name} as {one.asname or one.name}" for one in node.names)

    return ast.unparse(Imports().visit(ast.parse(text))), sorted(imported)


def test_what_is_left_to_do_is_found_in_what_was_written(tmp_path):
    """A first `--write` hides nothing: what it left, the next run lists."""
    for name in sorted(CORPUS):
        if name in _SETTLED_BY_OTHERS:
            continue
        left = _left(CORPUS[name])
        again = _left(step(CORPUS[name], SAFE, tmp_path / "script.py"))
        assert {one for one in left if one not in again} == set(), name


def _left(text: str) -> list[tuple[str, str]]:
    found = analyse(text, SAFE).findings
    return sorted(
        (one.rule, one.status.value)
        for one in found
        if one.status is not Status.REWRITTEN and "install()" not in one.message
    )


LOST = {
    "a rate": (
        "from keras.layers import LSTM\nfrom keras.optimizers import Adam\nlayer = LSTM(4)\nAdam(lr=0.01)\n",
        "LSTM(4, recurrent_activation=hard_sigmoid)",
    ),
    "a history": (
        "from keras.layers import LSTM\nlayer = LSTM(4)\nmodel.compile('sgd', 'mse', metrics=['accuracy'])\n"
        "history = model.fit(x, y)\nprint(history.history['acc'])\n",
        "LSTM(4, recurrent_activation=hard_sigmoid)",
    ),
    "names of TensorFlow 1": (
        "import tensorflow as tf\ntf.logging.set_verbosity(tf.logging.ERROR)\nlayer = tf.keras.layers.GRU(4)\n",
        "GRU(4, recurrent_activation=hard_sigmoid, reset_after=False)",
    ),
    "nothing of this package": (
        "from keras.layers import LSTM, merge\nfrom keras.utils.np_utils import to_categorical\nlayer = LSTM(4)\n",
        "LSTM(4, recurrent_activation=hard_sigmoid)",
    ),
}


@pytest.mark.parametrize("name", LOST)
def test_two_steps_lose_nothing(name, tmp_path, capsys):
    source, expected = LOST[name]
    path = tmp_path / "train.py"
    path.write_text(source)
    assert main(["migrate", "--write", str(path)]) == 0
    assert expected not in path.read_text()
    assert main(["migrate", "--check", str(path)]) == 1
    assert main(["migrate", "--write", "--unsafe", str(path)]) == 0
    assert expected in path.read_text()


def test_a_project_remembers_for_the_files_that_were_left(tmp_path, capsys):
    """What says the era of a second file is in the first one, which the first run rewrites."""
    (tmp_path / "log.py").write_text("import tensorflow as tf\ntf.logging.info('x')\n")
    (tmp_path / "net.py").write_text("from tensorflow.keras.layers import GRU\nlayer = GRU(4)\n")
    assert main(["migrate", "--write", str(tmp_path)]) == 0
    assert "tf.compat.v1.logging" in (tmp_path / "log.py").read_text()
    assert main(["migrate", "--write", "--unsafe", str(tmp_path)]) == 0
    assert "reset_after=False" in (tmp_path / "net.py").read_text()


def test_accuracy_that_was_renamed_is_no_sign_of_keras_2_3(tmp_path, capsys):
    (tmp_path / "train.py").write_text(
        "from keras.models import Sequential\nmodel = Sequential()\nmodel.compile('sgd', 'mse', metrics=['accuracy'])\n"
        "history = model.fit(x, y)\nprint(history.history['acc'])\n"
    )
    (tmp_path / "net.py").write_text("from keras.layers import LSTM\nlayer = LSTM(4)\n")
    assert main(["migrate", "--write", str(tmp_path)]) == 0
    assert "history['accuracy']" in (tmp_path / "train.py").read_text()
    assert main(["migrate", "--write", "--unsafe", str(tmp_path)]) == 0
    assert "recurrent_activation=hard_sigmoid" in (tmp_path / "net.py").read_text()


def test_the_era_that_was_given_is_remembered(tmp_path, capsys):
    path = tmp_path / "train.py"
    path.write_text("from keras.optimizers import Adagrad\nfrom keras.layers import LSTM\nAdagrad(lr=0.1)\nLSTM(3)\n")
    assert main(["migrate", "--write", "--era", "keras-2.3", str(path)]) == 0
    assert path.read_text().startswith(LINE.replace("2.2.4", "2.3"))
    assert main(["migrate", "--write", "--unsafe", str(path)]) == 0
    assert "hard_sigmoid" not in path.read_text()


def test_notebooks_remember_too():
    book = notebook("from keras.layers import LSTM\nlayer = LSTM(4)\n", "from keras.optimizers import Adam\nAdam(lr=1)")

    def run(text: str, options: Options) -> str:
        return process_file.notebook("a.ipynb", text.encode(), options).settled("").after

    ended = run(book, UNSAFE)
    assert "hard_sigmoid" in ended
    for order in ORDERS:
        text = book
        for options in order:
            text = run(text, options)
        assert text == ended


def test_native_is_remembered_where_it_changed_nothing(tmp_path):
    """Without `--unsafe` the name of this package has one of Keras again, and nothing is left to write."""
    source = "import keras\nnet.save_weights('w.h5')\n"
    path = tmp_path / "script.py"
    assert "--to native" in step(source, NATIVE, path)
    assert steps(source, (NATIVE, UNSAFE), path) == step(source, NATIVE_UNSAFE, path)


def test_a_callback_that_plain_keras_lacks_watches_the_new_name(tmp_path):
    """`legacy_numerics.ModelCheckpoint`, which one run with both flags writes first, watches by its position, too."""
    source = (
        "from keras.callbacks import ModelCheckpoint\nModelCheckpoint('a', 'val_acc', 0, False, False, 'auto', 2)\n"
    )
    for order in ((NATIVE_UNSAFE,), *NATIVE_ORDERS):
        assert "ModelCheckpoint('a', 'val_accuracy'" in steps(source, order, tmp_path / "script.py"), order
