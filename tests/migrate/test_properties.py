"""Generated sources: a run parses, a second run changes nothing, and code without legacy names stays byte for byte."""

from __future__ import annotations

import ast
import re

from hypothesis import HealthCheck, assume, example, given, settings
from hypothesis import strategies as st

from parallel_compat.migrate import process_file
from parallel_compat.migrate.engine import Options, analyse
from parallel_compat.migrate.findings import FileStatus, Status
from parallel_compat.names import table
from tests.migrate.check import rewritten
from tests.migrate.test_notebooks import notebook

_SLOW = settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])

_NAMES = st.sampled_from(["a", "b", "K", "keras", "model", "x", "tf", "layers", "logs", "parallel_compat_", "Dense"])
_PATHS = st.sampled_from([path for path in table.paths() if path.count(".") > 1 and path.startswith("keras.")])
_ROOTS = st.sampled_from(["keras", "tensorflow.keras", "tensorflow.python.keras"])


@st.composite
def _legacy_import(draw):
    path = draw(_ROOTS) + draw(_PATHS)[len("keras") :]
    module, _, name = path.rpartition(".")
    alias = draw(st.sampled_from(["", f" as {name}_", " as K"]))
    return draw(
        st.sampled_from(
            [
                f"from {module} import {name}{alias}",
                f"from {module} import (\n    {name}{alias},  # why\n)",
                f"import {module} as K\nK.{name}",
                f"import {module}\n{path}",
                f"from {module} import *\n{name}",
                f"import keras, os\nos.{name}",
                f"try:\n    from {module} import {name}\nexcept ImportError: {name} = None",
            ]
        )
    )


_CALLS = st.sampled_from(
    [
        "from keras.models import Model\nmodel = Model(input=a, output=b)",
        "model.fit_generator(g, steps_per_epoch=3, nb_epoch=2, workers=1)",
        "model.compile('adadelta', 'mse', ['accuracy'])",
        "model.fit(x, nb_epoch=3, workers=2,)",
        "model.save_weights('w.h5')",
        "print(model.optimizer.lr, x._keras_shape, x.get_shape().as_list())",
        "from keras.layers import *\nConvolution2D(3, 3, 3, border_mode='same', dim_ordering='th')",
        "from keras.optimizers import *\nSGD(lr=1, decay=0.0,\n    momentum=0.9)",
        "from keras.optimizers import Adagrad\nAdagrad()",
        "from keras.layers import LSTM\nLSTM(3, consume_less='gpu')",
        "from keras.callbacks import ModelCheckpoint\nModelCheckpoint('a', 'val_acc', 0, False, False, 'auto', 2)",
        "import tensorflow as tf\ntf.Session(config=tf.ConfigProto()).run(tf.log(x))",
        "import tensorflow as tf\ntf.reduce_sum(x, keep_dims=True)",
        "from keras import backend as K\ns = f'{K.mean(x)} {K.tf.log(y)!r}'",
        "logs['acc'], history.history['val_acc']",
    ]
)
_PLAIN = st.sampled_from(
    [
        "x = 1",
        "def f(model, K):\n    return K.mean(model.x)",
        "class A(object):\n    lr = 3\n    def fit_generator(self, g):\n        self.fit_generator(g)",
        "for K in range(3):\n    print(K)",
        "x = [K for K in y if K]",
        "with open('a') as f: pass",
        "'''keras.utils.multi_gpu_model'''",
        "# from keras.utils import multi_gpu_model",
        "lambda keras: keras.utils.multi_gpu_model",
        "if x: pass\nelse:\n\tpass",
        "s = 'ä\\t漢'",
        "x = (1,\n     2)",
    ]
)


@st.composite
def _in_a_block(draw, statements):
    statement = draw(statements)
    kind = draw(st.integers(0, 3))
    if kind < 2 or "import *" in statement:
        return statement
    head = "def g(x):" if kind == 2 else "if x:"
    if "else:\n\t" in statement or "'''" in statement:
        return statement
    return head + "\n" + "\n".join("    " + line for line in [*statement.splitlines(), "pass"])


@st.composite
def _module(draw, statements):
    parts = draw(st.lists(_in_a_block(statements), min_size=1, max_size=6))
    source = "\n".join(parts) + draw(st.sampled_from(["", "\n", "\n\n\n"]))
    ast.parse(source)
    return source.replace("\n", draw(st.sampled_from(["\n", "\r\n"])))


def _one_name_is_two_modules(text):
    """Say whether K is one module first and another one then.

    Not mended: what one K is asked for counts as asked of the other, which a second run takes for what the first wrote.
    """
    return len(set(re.findall(r"(\S+) as K\b", text))) > 1


@_SLOW
@given(_module(st.one_of(_legacy_import(), _CALLS, _PLAIN)), st.booleans())
def test_a_second_run_changes_nothing_and_the_result_parses(source, unsafe):
    assume(not _one_name_is_two_modules(source))
    options = Options(unsafe=unsafe)
    once = rewritten(analyse(source, options))
    ast.parse(once)
    again = analyse(once, options)
    assert rewritten(again) == once
    assert not [finding for finding in again.findings if finding.status is Status.REWRITTEN]


@_SLOW
@given(
    _module(_PLAIN),
    st.sampled_from(["import numpy", "import keras", "import tensorflow as tf", "from keras import layers"]),
)
def test_code_without_legacy_names_stays_byte_for_byte(source, line):
    data = (line + "\n" + source).encode()
    report = process_file.source("a.py", data, Options(unsafe=True)).settled("old.py")
    assert report.status is FileStatus.UNCHANGED
    assert report.places == ()


@_SLOW
@given(_module(st.one_of(_legacy_import(), _CALLS)))
def test_what_is_written_is_known(source):
    """No path that the table knows as legacy is left where a rewrite was made."""
    text = rewritten(analyse(source, Options(unsafe=True)))
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("parallel_compat"):
            for alias in node.names:
                path = f"{node.module}.{alias.name}"
                assert alias.name == "*" or path in _provided() or path in _provided_modules(), path


def _provided():
    paths = [*table.paths(), *(f"tensorflow.{path}" for path in table.paths())]
    targets = {row.target for path in paths for row in [table.lookup(path)] if row and row.target}
    from parallel_compat.names.arguments import arguments
    from parallel_compat.names.members import members

    targets |= {row.new for rows in arguments().values() for row in rows.values() if row.new}
    targets |= {row.new for rows in members().values() for row in rows if row.new}
    layers = {name.rpartition(".")[2] for name in arguments() if name.startswith("keras.layers.")}
    targets |= {f"parallel_compat.legacy.layers.{name}" for name in layers | {"Activation", "Flatten", "Reshape"}}
    return targets | {"parallel_compat.legacy.models.load_model"}


def _provided_modules():
    return {path.rpartition(".")[0] for path in _provided()} | {"parallel_compat.legacy.device_lib"}


@_SLOW
@given(st.lists(st.one_of(_legacy_import(), _CALLS, _PLAIN), min_size=1, max_size=5))
@example(["from keras.applications.mobilenet import (\n    keras_modules_injection,  # why\n)"])
@example(["import keras\nx = 1", "from keras.applications.mobilenet import (\n    keras_modules_injection,  # why\n)"])
@example(["from keras.backend import np"])  # after which nothing in it is Keras's
def test_notebooks_too(cells):
    assume(not _one_name_is_two_modules("\n".join(cells)))
    data = notebook(*cells).encode()
    once = process_file.notebook("a.ipynb", data, Options()).settled("old.py")
    if once.status is FileStatus.FAILED:
        return
    again = process_file.notebook("a.ipynb", once.after.encode(), Options()).settled("old.py")
    if again.status is FileStatus.UNCHANGED and not again.after:  # nothing in it is Keras's: its text is not kept
        return
    assert again.after == once.after


@given(st.text(max_size=60), st.text(max_size=60))
@settings(max_examples=100, deadline=None)
def test_any_text_is_answered(before, after):
    """Whatever the bytes are, the answer is a report, and no exception."""
    data = f"{before}\nimport keras\n{after}".encode("utf-8", "surrogatepass")
    report = process_file.source("a.py", data, Options())
    assert isinstance(report.status, FileStatus)
