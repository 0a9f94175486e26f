"""What other files of a project tell: the functions, classes and objects that a file imports from them."""

from __future__ import annotations

import pytest

from parallel_compat.migrate.engine import Options, analyse

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
