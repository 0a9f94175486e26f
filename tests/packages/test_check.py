"""`parallel-compat check` says at once what a project needs."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys

import pytest

from parallel_compat.check import check_command, project

TRAIN = """
import os, sys
import numpy as np
import no_such_package_of_2018.part
import skvideo
from collections import Mapping, OrderedDict
from keras.layers import Dense
from scipy.misc import imresize
import string
import helpers
try:
    import another_missing_package
except ImportError:
    pass
x = np.load("data/train.npy")
y = np.load("there.npy")
np.save("made.npy", x)
z = np.load("made.npy")
with open("log.txt", "w") as file:
    file.write(str(np.float(3)))
string.maketrans("a", "b")
if __name__ == "__main__":
    print(Mapping, OrderedDict, imresize)
"""


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "train.py").write_text(TRAIN)
    (tmp_path / "helpers.py").write_text("import pyaudio, my_trainer\nx = 3\n")
    (tmp_path / "old.py").write_text("print 'a'\n")
    (tmp_path / "there.npy").write_bytes(b"")
    (tmp_path / "requirements.txt").write_text("keras==2.2.4\nNo-such_package.of-2018>=1\n")
    return tmp_path


def test_what_a_project_needs(folder):
    found = project.check(str(folder))
    assert found.pip == ["no_such_package_of_2018", "pyaudio", "scikit-video"]
    assert found.unknown == {"my_trainer": "helpers.py:1"}
    assert found.data == {"data/train.npy": "train.py:15"}
    assert sorted(found.answered) == ["collections.Mapping", "numpy.float", "scipy.misc.imresize"]
    assert found.python_2 == ["old.py"]
    assert list(found.hand) == ["string.maketrans: only Python 2 has it: `str.maketrans`"]
    assert found.eras == {"keras-2.2.4": ("requirements.txt has keras==2.2.4", ["train.py"])}


def test_it_is_said_in_a_few_lines_without_tensorflow(folder):
    code = (
        "import sys\n"
        "from parallel_compat.command import main\n"
        "code = main(['check', sys.argv[1]])\n"
        "assert code == 1 and not {'tensorflow', 'keras', 'scipy'} & set(sys.modules)\n"
    )
    done = subprocess.run([sys.executable, "-c", code, str(folder)], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert "Run: pip install no_such_package_of_2018 pyaudio scikit-video" in done.stdout
    assert "Not found, and named by no file of requirements: my_trainer (helpers.py:1)" in done.stdout
    assert "Python 2: 1 of 3 sources (old.py)" in done.stdout
    assert "data/train.npy (train.py:15)" in done.stdout


def test_a_project_that_lacks_nothing_says_so(tmp_path):
    (tmp_path / "a.py").write_text("import os\n")
    assert check_command.lines(project.check(str(tmp_path)))[1:] == ["  Nothing is missing."]
    assert check_command.lines(project.check(str(tmp_path / "a.py")))[1:] == ["  Nothing is missing."]


def test_a_source_that_no_parser_takes_is_named(tmp_path):
    (tmp_path / "a.py").write_text("x = " + "-" * 100_000 + "1")
    assert project.check(str(tmp_path)).hand == {"does not parse: too deeply nested": "a.py"}


def test_old_arguments_of_other_packages_are_named(tmp_path):
    (tmp_path / "a.py").write_text(
        "import matplotlib.pyplot as plt\nplt.hist(x, normed=True)\n"
        "from sklearn.cluster import KMeans\nKMeans(n_jobs=2)\n"
    )
    assert sorted(project.check(str(tmp_path)).answered) == [
        "matplotlib.pyplot.hist(normed=)",
        "sklearn.cluster.KMeans(n_jobs=)",
    ]


def test_the_second_of_two_imports_is_needed_only_where_the_first_is_not_there(tmp_path):
    (tmp_path / "a.py").write_text(
        "try:\n    from pathlib import Path\nexcept (ImportError, AttributeError):\n    from pathlib2 import Path\n"
        "try:\n    import no_such_reader\nexcept ImportError:\n    import no_such_second_reader\n"
    )
    found = project.check(str(tmp_path))
    assert found.pip == []
    assert list(found.unknown) == ["no_such_second_reader"]


def test_a_package_that_setup_py_takes_from_a_repository_is_installed_from_there(tmp_path):
    (tmp_path / "a.py").write_text("import shop_of_cells, other_cells")
    (tmp_path / "setup.py").write_text(
        "setup(install_requires=['shop_of_cells', 'other_cells'],\n"
        "      dependency_links=['git+git://example.org/group/shop_of_cells.git'])\n"
    )
    found = project.check(str(tmp_path))
    assert found.pip == ["git+https://example.org/group/shop_of_cells.git", "other_cells"]


def test_notebooks_with_commands_of_the_shell_are_read(tmp_path):
    cells = ["cd ../data", "%%bash\ncare_predict --all", "print('%d'\n  % (3,))\n!ls\nimport no_such_reader"]
    notebook = {"cells": [{"cell_type": "code", "source": cell} for cell in cells]}
    (tmp_path / "a.ipynb").write_text(json.dumps(notebook))
    found = project.check(str(tmp_path))
    assert (found.hand, list(found.unknown)) == ({}, ["no_such_reader"])


def test_theano_is_no_package_to_install(tmp_path):
    (tmp_path / "train.py").write_text("import theano.tensor as T\nimport socketio\n")
    found = project.check(str(tmp_path))
    assert found.pip == ["python-socketio"]
    assert [name.partition(":")[0] for name in found.hand] == ["theano"]


def test_names_of_python_2_that_nothing_binds(tmp_path):
    (tmp_path / "a.py").write_text("for i in xrange(3): print(unicode(i))\n")
    (tmp_path / "b.py").write_text("try:\n    unicode\nexcept NameError:\n    unicode = str\nunicode(3)\n")
    assert project.check(str(tmp_path)).hand == {
        "xrange: only Python 2 has it: `range`": "a.py:1",
        "unicode: only Python 2 has it: `str`": "a.py:1",
    }
    (tmp_path / "b.py").write_text("def reduce(x):\n    return x\nclass unicode:\n    pass\nreduce(unicode)\n")
    assert set(project.check(str(tmp_path)).hand.values()) == {"a.py:1"}
    (tmp_path / "a.py").write_text("import six\nx.has_key(3)\nsix.iteritems(x)\n")
    assert project.check(str(tmp_path)).hand == {".has_key: only Python 2 has it: `key in d`": "a.py:2"}


def test_old_members_in_the_files_of_the_project(tmp_path):
    (tmp_path / "a.py").write_text("import pandas as pd\nx = y.ix[0]\nz = [].append(3)\nx.append(3)\ny['a'].value\n")
    (tmp_path / "b.py").write_text("import h5py\ny['a'].value\ny.value\nx.ix[0]\n")
    assert project.check(str(tmp_path)).answered == {"pandas: .ix": 1, "pandas: .append": 1, "h5py: .value": 1}


def test_a_missing_tensorflow_is_named(tmp_path, monkeypatch):
    (tmp_path / "a.py").write_text("import keras\n")
    there = importlib.util.find_spec
    assert not project.check(str(tmp_path)).missing
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "tensorflow" else there(name))
    assert project.check(str(tmp_path)).pip == ["tensorflow"]


def test_a_package_beside_the_folder_of_a_test_is_of_the_project(tmp_path):
    for file in ("src/lib/losses.py", "src/test/test_losses.py"):
        (tmp_path / file).parent.mkdir(parents=True)
        (tmp_path / file).write_text("from lib import losses\n")
    assert project.check(str(tmp_path)).unknown == {}


def test_data_that_a_package_dropped_is_named(tmp_path):
    (tmp_path / "a.py").write_text("from sklearn.datasets import fetch_mldata, load_iris\n")
    assert [name.partition(":")[0] for name in project.check(str(tmp_path)).hand] == ["sklearn.datasets.fetch_mldata"]


def test_a_folder_without_files_is_a_submodule_that_is_not_checked_out(tmp_path):
    (tmp_path / "tools").mkdir()
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "a.txt").write_text("")
    (tmp_path / "other" / "keras-lib").mkdir(parents=True)
    (tmp_path / ".gitmodules").write_text('[submodule "x"]\n\tpath = other/keras-lib\n\turl = ../x\n')
    (tmp_path / "train.py").write_text("import lib, tools.data, caffe\n")
    (tmp_path / "requirements.txt").write_text("caffe\n")
    found = project.check(str(tmp_path))
    assert (found.pip, found.unknown) == ([], {})
    assert {what.partition(":")[0] for what in found.hand} == {"tools", "other/keras-lib", "caffe"}
    assert found.hand["tools: its folder is empty: git submodule update --init"] == "train.py:1"


@pytest.mark.parametrize(("file", "section"), [("pytest.ini", "pytest"), ("setup.cfg", "tool:pytest")])
def test_plugins_that_the_settings_of_pytest_name(file, section, tmp_path):
    (tmp_path / "a.py").write_text("import os\n")
    options = "-v --pep8\n  --boxed -p no:warnings -p parallel_compat.pytest -p no_such_plugin.part --durations=3"
    (tmp_path / file).write_text(f"[{section}]\naddopts={options}\n")
    found = project.check(str(tmp_path))
    assert (found.pip, found.unknown) == (["pytest-forked"], {"no_such_plugin": file})
    assert list(found.hand.values()) == [file]
    (tmp_path / file).write_text("no section\n")
    assert project.check(str(tmp_path)).pip == []
