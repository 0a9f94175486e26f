from __future__ import annotations

import pytest

from parallel_compat.migrate import process_file, project_facts
from tests.migrate.check import check_noop, check_transformed, found, without_line


@pytest.mark.parametrize("base", ["Callback", "ModelCheckpoint"])
def test_assigns_the_model(base):
    body = f"""\
class Save({base}):
    def __init__(self, template, path):
        self.model_to_save = template
    def on_epoch_end(self, epoch, logs=None):
        self.model = self.model_to_save
"""
    check_transformed(
        f"from keras.callbacks import {base}\n{body}", f"from parallel_compat.legacy.callbacks import {base}\n{body}"
    )


@pytest.mark.parametrize("use", ["self.epochs_since_last_save += 1", "self.monitor_op(1, 2)", "print(self.period)"])
def test_uses_old_fields(use):
    body = f"class Save(ModelCheckpoint):\n    def on_epoch_end(self, epoch, logs=None):\n        {use}\n"
    check_transformed(
        "from keras.callbacks import ModelCheckpoint\n" + body,
        "from parallel_compat.legacy.callbacks import ModelCheckpoint\n" + body,
    )


def test_under_an_attribute_chain():
    check_transformed(
        "import keras\nclass S(keras.callbacks.Callback):\n    def f(self, m):\n        self.model = m\n",
        "import keras\nfrom parallel_compat.legacy.callbacks import Callback\n"
        "class S(Callback):\n    def f(self, m):\n        self.model = m\n",
    )


def test_other_callbacks_are_reported():
    source = "from keras.callbacks import CSVLogger\nclass S(CSVLogger):\n    def f(self, m):\n        self.model = m\n"
    assert found(source, "callback-classes") == [(2, "attention")]


@pytest.mark.parametrize(
    "source",
    [
        "from keras.callbacks import Callback\nclass S(Callback):\n    def f(self):\n        return self.model\n",
        "from keras.callbacks import Callback\nclass S(Callback):\n    def f(self):\n        self.period = 3\n",
        "import keras\nclass S(object):\n    def f(self, m):\n        self.model = m\n",
    ],
)
def test_leaves_alone(source):
    check_noop(source, rule="callback-classes")


def test_a_tensorboard_that_writes_summaries_of_its_own():
    body = "class Board(TensorBoard):\n    def on_epoch_end(self, epoch, logs=None):\n        self.writer.flush()\n"
    check_transformed(
        "from keras.callbacks import TensorBoard\n" + body,
        "from parallel_compat.legacy.callbacks import TensorBoard\n" + body,
    )
    elsewhere = "import keras\n\ndef log(self, s):\n    self.board.writer.add_summary(s, 1)\n"
    assert found(elsewhere, "callback-classes") == [(4, "attention")]
    check_noop("import keras\nclass Log:\n    def log(self, s):\n        self.writer.add_summary(s, 1)\n")


WRITES = "def log(board, s):\n    board.writer.add_summary(s, 1)\n"


def test_a_board_by_whose_writer_summaries_are_added():
    made = "from keras.callbacks import TensorBoard\nboard = TensorBoard('logs')\n"
    check_transformed(made + WRITES, made.replace("keras.callbacks", "parallel_compat.legacy.callbacks") + WRITES)
    assert found(made + WRITES, "callback-classes") == [(2, "rewritten")]
    check_noop(made, rule="callback-classes")


def test_a_board_by_whose_writer_another_file_adds_summaries(tmp_path):
    made = "import keras\nboard = keras.callbacks.TensorBoard('logs')\n"
    (tmp_path / "train.py").write_text(made)
    (tmp_path / "log.py").write_text(f"import keras\n{WRITES}")
    facts = project_facts.read([str(tmp_path / name) for name in ("train.py", "log.py")])
    options = process_file.Options(project=facts)
    done = process_file.source("train.py", made.encode(), options)
    stand_in = "import keras\nfrom parallel_compat.legacy.callbacks import TensorBoard\nboard = TensorBoard"
    assert without_line((done.hinted or done).data.decode()) == f"{stand_in}('logs')\n"
    assert not process_file.source("log.py", f"import keras\n{WRITES}".encode(), options).places
