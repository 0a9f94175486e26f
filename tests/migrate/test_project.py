"""What other files of a project tell: the functions, classes and objects that a file imports from them."""

from __future__ import annotations

import sys
from types import SimpleNamespace

import pytest

from parallel_compat.command import main
from parallel_compat.migrate import project_facts, report
from parallel_compat.migrate.engine import Options, analyse
from parallel_compat.migrate.file import File
from parallel_compat.names.eras import Era
from tests.migrate.check import migrated

NETS = """\
from keras.models import Model
from keras.callbacks import Callback

def build():
    return Model(x, y)

def both():
    return Model(x, y), 3

class Net(Model):
    pass

class Trainer(object):
    def fit_generator(self, g):
        pass

model = build()
"""


@pytest.fixture
def package(tmp_path):
    (tmp_path / "pack").mkdir()
    (tmp_path / "pack" / "__init__.py").write_text("")
    (tmp_path / "pack" / "nets.py").write_text(NETS)
    return tmp_path


def statuses(folder, name, source):
    path = folder / name
    path.parent.mkdir(exist_ok=True)
    path.write_text("import keras\n" + source)
    analysis = analyse(path.read_text(), Options(), str(path))
    return [finding.status.value for finding in analysis.findings if finding.rule == "generator-methods"]


@pytest.mark.parametrize(
    "source",
    [
        "from pack.nets import build\nm = build()\nm.fit_generator(g)\n",
        "from pack.nets import both\nm, n = both()\nm.fit_generator(g)\n",
        "from pack.nets import Net\nm = Net()\nm.fit_generator(g)\n",
        "from pack.nets import model\nmodel.fit_generator(g)\n",
        "from pack import nets\nnets.build().fit_generator(g)\n",
        "import pack.nets\nm = pack.nets.build()\nm.fit_generator(g)\n",
        "import pack.nets as n\nm = n.build()\nm.fit_generator(g)\n",
    ],
)
def test_models_of_other_files(package, source):
    assert statuses(package, "train.py", source) == ["rewritten"]


@pytest.mark.parametrize(
    ("name", "source"),
    [
        ("pack/train.py", "from .nets import build\nm = build()\nm.fit_generator(g)\n"),
        ("pack/train.py", "from . import nets\nm = nets.build()\nm.fit_generator(g)\n"),
        ("scripts/train.py", "from pack.nets import build\nm = build()\nm.fit_generator(g)\n"),
    ],
)
def test_relative_imports_and_folders_above(package, name, source):
    assert statuses(package, name, source) == ["rewritten"]


@pytest.mark.parametrize(
    "source",
    [
        "from pack.nets import nothing\nnothing().fit_generator(g)\n",
        "from no_such_file import build\nbuild().fit_generator(g)\n",
        "from pack.nets import build\ndef f(build):\n    build().fit_generator(g)\n",
    ],
)
def test_what_they_do_not_tell_is_a_guess(package, source):
    assert statuses(package, "train.py", source) == ["unsafe"]


def test_a_method_of_their_own_is_none_of_keras(package):
    source = "from pack.nets import Trainer\nt = Trainer()\nt.fit_generator(g)\n"
    assert statuses(package, "train.py", source) == []


def test_files_that_import_each_other(package):
    (package / "a.py").write_text("import keras\nfrom b import g\ndef f():\n    return g()\n")
    (package / "b.py").write_text("import keras\nfrom a import f\ndef g():\n    return f()\n")
    assert statuses(package, "train.py", "from a import f\nf().fit_generator(x)\n") == ["unsafe"]


@pytest.mark.parametrize(
    ("compiled", "log", "left"), [("accuracy", "accuracy", 0), ("acc", "acc", 0), (None, "acc", 2)]
)
def test_how_the_project_compiles_says_what_a_file_without_models_reads(tmp_path, capsys, compiled, log, left):
    metrics = f"metrics=['{compiled}']" if compiled else ""
    (tmp_path / "train.py").write_text(
        f"from keras.models import Sequential\nm = Sequential()\nm.compile('sgd', 'mse', {metrics})\n"
    )
    (tmp_path / "callbacks.py").write_text(
        "from keras.callbacks import Callback\n"
        "class Print(Callback):\n    def on_epoch_end(self, epoch, logs=None):\n        print(logs['acc'])\n"
        "save = Print(monitor='val_acc')\n"
    )
    code = main(["migrate", "--write", str(tmp_path)])
    written = (tmp_path / "callbacks.py").read_text()
    assert f"logs['{log}']" in written
    assert f"monitor='val_{log}'" in written
    assert capsys.readouterr().err.count("no file shows which of them is logged") == left, code


def test_the_era_of_a_project_is_that_of_files_that_do_not_tell(tmp_path):
    (tmp_path / "model.py").write_text("from tensorflow.keras.layers import LSTM\nlayer = LSTM(3)\n")
    (tmp_path / "train.py").write_text("import model, tensorflow as tf\nsession = tf.Session()\n")
    main(["migrate", "--write", "--unsafe", str(tmp_path / "model.py")])
    assert "LSTM(3)" in (tmp_path / "model.py").read_text()
    main(["migrate", "--write", "--unsafe", str(tmp_path)])
    assert "hard_sigmoid" in (tmp_path / "model.py").read_text()


@pytest.mark.parametrize(
    "other", ["from keras.metrics import AUC\n", "def plot(history):\n    draw(history.history['val_accuracy'])\n"]
)
def test_one_keras_is_installed_for_all_files(tmp_path, other):
    model = "from keras.layers import LSTM\nlayer = LSTM(3)\nmodel.compile('sgd', 'mse', metrics=['accuracy'])\n"
    model += "model.fit_generator(g)\n"
    (tmp_path / "model.py").write_text(model)
    main(["migrate", "--write", "--unsafe", str(tmp_path)])
    assert "hard_sigmoid" in (tmp_path / "model.py").read_text()
    (tmp_path / "model.py").write_text(model)
    (tmp_path / "other.py").write_text(other)
    main(["migrate", "--write", "--unsafe", str(tmp_path)])
    assert "hard_sigmoid" not in (tmp_path / "model.py").read_text()


def test_a_file_of_thousands_of_imports_is_read_in_linear_time():
    """Counted in lines that the interpreter runs, not by the clock; what is printed of it, too."""

    def steps(count: int) -> int:
        line = "from keras import backend as K\nimport keras.layers as L{0}\nx = K.zeros(3), L{0}.core.Dense(3)\n"
        source = "".join(line.format(number) for number in range(count))
        lines = 0

        def trace(frame, event, argument):
            nonlocal lines
            lines += 1
            return trace

        before = sys.gettrace()
        sys.settrace(trace)
        try:
            after = migrated(source)
            changes = report.diff(SimpleNamespace(path="thousands.py", before=source, after=after))
        finally:
            sys.settrace(before)
        assert changes.count("\n+") == 2 * count + 1
        return lines

    steps(50)
    assert steps(300) < 2.04 * steps(150)  # 2.09 if each import is compared with all


def test_an_argument_of_tensorflow_1_tells_the_era_of_a_file_and_of_its_project(tmp_path):
    source = "import tensorflow as tf\nfrom tensorflow import keras\ntf.reduce_sum(x, AXIS)\n"
    of_1, of_2 = source.replace("AXIS", "keep_dims=True"), source.replace("AXIS", "keepdims=True")
    assert [File(each).era for each in (of_1, of_2)] == [Era.TF_KERAS_1_15, Era.TF_KERAS_2_2]
    (tmp_path / "sums.py").write_text(of_1)
    assert File(of_2, project=project_facts.read([str(tmp_path / "sums.py")])).era is Era.TF_KERAS_1_15


def test_a_file_of_an_old_project_that_imports_no_keras_is_rewritten_too(tmp_path):
    (tmp_path / "net.py").write_text("from keras.layers.core import Dense\nfrom keras.models import Sequential\n")
    (tmp_path / "train.py").write_text(
        "from net import build\nmodel = build()\nmodel.compile('adadelta', 'kullback_leibler_divergence')\n"
        "model.fit(x, y, nb_epoch=3)\n"
    )
    (tmp_path / "pictures.py").write_text("from PIL import Image\nprint(Image.ANTIALIAS)\n")
    (tmp_path / "search.py").write_text("import re\nre.compile('adadelta')\n")
    assert main(["migrate", "--write", "--unsafe", str(tmp_path)]) == 0
    train = (tmp_path / "train.py").read_text()
    assert "model.compile(keras.optimizers.Adadelta(learning_rate=1.0), 'kl_divergence')" in train
    assert "model.fit(x, y, epochs=3)" in train
    assert "Image.LANCZOS" in (tmp_path / "pictures.py").read_text()
    assert (tmp_path / "search.py").read_text() == "import re\nre.compile('adadelta')\n"


@pytest.mark.parametrize(
    ("requirements", "imports", "written"),
    [
        ("keras==2.3.1", "from keras.engine import Layer\nfrom keras", False),
        ("keras==2.2.4", "from keras.engine import Layer\nfrom keras", True),
        ("tensorflow==1.14.0", "from tensorflow.python.keras", True),
        ("tensorflow==2.2.0", "from tensorflow.python.keras", False),
    ],
)
def test_requirements_say_what_the_sources_do_not(requirements, imports, written, tmp_path):
    """As under `run`: the gates of an LSTM were other ones in Keras 2.2.4 and TensorFlow 1."""
    (tmp_path / "requirements.txt").write_text(f"{requirements}\n")
    train = tmp_path / "train.py"
    train.write_text(f"{imports}.layers import LSTM\nmodel = LSTM(4)\n")
    assert main(["migrate", "--write", "--unsafe", str(train)]) == 0
    assert ("recurrent_activation" in train.read_text()) is written
