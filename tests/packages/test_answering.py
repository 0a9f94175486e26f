"""What is missing is answered and noted; what works is left alone."""

from __future__ import annotations

import importlib
import inspect
import json
import subprocess
import sys

import pytest

from parallel_compat.names import old_packages


def run(code, folder, *arguments):
    (folder / "script.py").write_text(f"from parallel_compat import packages\npackages.answer(*{arguments})\n{code}")
    return subprocess.run(
        [sys.executable, "script.py"], cwd=folder, capture_output=True, text=True, timeout=120, check=False
    )


def test_names_before_keras_is_imported_are_answered_and_noted(tmp_path):
    done = run(
        "import time, collections, numpy as np, cPickle\n"
        "from sklearn.externals import joblib\n"
        "import sklearn.externals.joblib as other\n"
        "assert np.float is float and np.product([2, 3]) == 6 and np.Inf > 0 and np.NINF < 0\n"
        "assert isinstance(np.meshgrid([1], [2]), list) and np.block(np.meshgrid([1], [2])).tolist() == [[1, 2]]\n"
        "assert np.float32 in np.sctypes['float'] and np.VisibleDeprecationWarning and np.warnings.warn\n"
        "assert np.find_common_type([np.float32, np.int64], []) is np.float64().dtype and np.alen([1, 2]) == 2\n"
        "assert time.clock() >= 0 and collections.Mapping and cPickle.loads(cPickle.dumps(3)) == 3\n"
        "from scipy.sparse.linalg.eigen.arpack import eigsh\n"
        "import scipy.sparse.linalg\n"
        "assert eigsh is scipy.sparse.linalg.eigsh and np.math.floor(2.5) == 2 and np.lib.pad is np.pad\n"
        "assert other is joblib and joblib.__spec__.name == 'joblib', joblib.__spec__\n"
        "assert not hasattr(np, 'no_such_name') and not hasattr(collections, 'no_such_name')\n"
        "print(*packages.answered(), sep='\\n')\n",
        tmp_path,
    )
    assert done.returncode == 0, done.stderr
    noted = done.stdout.splitlines()
    assert "cPickle: it is pickle today" in noted
    assert "numpy.float: as numpy had it before 2.0" in noted
    assert "time.clock: it is time.perf_counter today" in noted


def test_a_name_that_is_missing_stays_missing(tmp_path):
    done = run("import scipy.misc\nscipy.misc.no_such_name", tmp_path)
    assert "AttributeError: module 'scipy.misc' has no attribute 'no_such_name'" in done.stderr
    assert "ModuleNotFoundError: No module named 'no_such'" in run("import no_such", tmp_path).stderr
    assert "No module named 'sklearn.no_such'" in run("import sklearn.no_such", tmp_path).stderr


def test_what_works_is_left_alone(tmp_path):
    done = run(
        "import sklearn.base, scipy.signal, scipy.optimize, numpy as np\n"
        "for function in (sklearn.base.clone, scipy.signal.convolve, scipy.optimize.brute, np.savetxt):\n"
        "    assert 'parallel_compat' not in str(getattr(function, '__code__', None)), function\n"
        "import pandas, io\n"
        "pandas.read_csv(io.StringIO('a,b\\n1,2'))\n"
        "assert packages.answered() == [], packages.answered()\n"
        "assert pandas.read_csv(io.StringIO('a,b\\n1,x')).b.dtype == object\n"
        "assert packages.answered() == ['pandas: columns of text: their type is object'], packages.answered()\n",
        tmp_path,
    )
    assert done.returncode == 0, done.stderr


def test_pickled_arrays_are_read_from_the_project_alone(tmp_path):
    inside, outside = tmp_path / "project", tmp_path / "elsewhere"
    inside.mkdir()
    outside.mkdir()
    code = (
        "import numpy as np\n"
        "array = np.array([{'a': 1}, None], dtype=object)\n"
        "np.save('own.npy', array)\n"
        "np.save('../elsewhere/other.npy', array)\n"
        "assert np.load('own.npy')[0] == {'a': 1}\n"
        "assert len(packages.answered()) == 1\n"
        "np.load('../elsewhere/other.npy')\n"
    )
    done = run(code, inside)
    assert "Object arrays cannot be loaded when allow_pickle=False" in done.stderr, done.stderr
    assert "line 9" in done.stderr


def test_a_text_is_split_as_python_3_6_did(tmp_path):
    code = (
        "import re, textwrap\n"
        "from parallel_compat.names.eras import Era\n"
        "print(re.split(r'(\\W+)?', 'Where is it?'))\n"
        "print(re.split(r'x*', 'axbc', maxsplit=1), re.split(r',', 'a,b'))\n"
        "print(re.split(re.compile(r'\\s*'), 'a b  c', 1), re.split(rb'-*', b'a--b'))\n"
        "print(packages.answered())\n"
        "packages.answer(Era.TF_KERAS_2_2)\n"
        "print(re.split(r'x*', 'axb'))\n"
    )
    lines = run(code, tmp_path).stdout.splitlines()
    assert lines[0] == "['Where', ' ', 'is', ' ', 'it', '?', '']"
    assert lines[1:3] == ["['a', 'bc'] ['a', 'b']", "['a', 'b  c'] [b'a', b'b']"]
    assert lines[3] == "['re.split: where a pattern matches nothing it does not split, as in Python 3.6']"
    assert lines[4] == "['', 'a', '', 'b', '']"


def test_pickles_in_files_of_text_as_in_python_2(tmp_path):
    (tmp_path / "two.pkl").write_bytes(b"S'caf\\xe9'\np0\n.")
    code = (
        "import cPickle, pickle\n"
        "with open('a.pkl', 'w') as f:\n    cPickle.dump({'a': 1}, f)\n"
        "with open('a.pkl') as f:\n    assert pickle.load(f) == {'a': 1}\n"
        "with open('two.pkl', 'rb') as f:\n    assert pickle.load(f) == 'caf\\xe9'\n"
        "with open('a.pkl', 'rb') as f:\n    assert pickle.load(f, encoding='bytes') == {'a': 1}\n"
        "print(*packages.answered(), sep='\\n')\n"
        "import io\npickle.dump(3, io.StringIO())\n"
    )
    done = run(code, tmp_path)
    assert "pickle.dump: the file was opened as text: its bytes are used, as in Python 2" in done.stdout, done.stderr
    assert "TypeError" in done.stderr


def test_a_notebook_that_was_exported_runs(tmp_path):
    code = (
        "get_ipython().magic('matplotlib inline')\n"
        "get_ipython().run_line_magic('matplotlib', 'inline')\n"
        "get_ipython().run_cell_magic('time', '', 'x = 3\\ny = x + 1')\n"
        "get_ipython().system('touch made')\n"
        "import os\n"
        "assert y == 4 and not os.path.exists('made') and '!touch made: left out' in ' '.join(packages.answered())\n"
        "import helper\n"
    )
    (tmp_path / "helper.py").write_text("try:\n    get_ipython\n    raise ValueError\nexcept NameError:\n    pass\n")
    done = run(code, tmp_path)
    assert done.returncode == 0, done.stderr


def test_an_estimator_that_knows_nothing_of_tags_is_validated(tmp_path):
    """Old Keras's wrappers are such estimators; scikit-learn 1.6 began to ask each for its tags."""
    code = (
        "import numpy as np\n"
        "from sklearn.model_selection import cross_val_score\n"
        "class Estimator:\n"
        "    def get_params(self, deep=True): return {}\n"
        "    def fit(self, x, y): return self\n"
        "    def score(self, x, y): return len(x)\n"
        "print(*cross_val_score(Estimator(), np.zeros((9, 1)), np.zeros(9)))\n"
        "from sklearn.pipeline import make_pipeline\n"
        "print(make_pipeline(Estimator()).fit(np.zeros((4, 1)), np.zeros(4)).score(np.zeros((4, 1)), np.zeros(4)))\n"
        # All arguments could be passed by position until scikit-learn 1.0.
        "from sklearn.utils import class_weight\n"
        "from sklearn.metrics import f1_score\n"
        "from scipy.spatial import Delaunay\n"
        "assert Delaunay([[0, 0], [0, 1], [1, 0]]).vertices.shape == (1, 3)\n"
        # Rows of different lengths were objects, also where numpy makes the array, and without Keras.
        "rows = [[1, 2], [3], [4, 5, 6]]\n"
        "np.save('rows.npy', rows)\n"
        "assert np.load('rows.npy').tolist() == rows == np.array(rows).tolist() and np.shape(rows) == (3,)\n"
        "assert np.copy([np.zeros((3, 2)), np.zeros((2, 3))]).shape == (2,) and np.take(rows, [1]).tolist() == [[3]]\n"
        "np.random.seed(1)\n"
        "assert np.random.permutation(rows).tolist() == [[1, 2], [4, 5, 6], [3]]\n"
        # `result.fun` was an array where the function returns one.
        "from scipy.optimize import minimize\n"
        "assert minimize(lambda x: x**2, [1.0], method='L-BFGS-B').fun[0] < 1e-6\n"
        "weights = class_weight.compute_class_weight('balanced', np.arange(2), np.array([0, 0, 0, 1]))\n"
        "assert weights.tolist() == [2 / 3, 2]\n"
        "assert f1_score([0, 1, 1], [0, 1, 0], None, 1, 'micro') == 2 / 3\n"
        "try:\n"
        "    f1_score([0], [0], None, 1, 'micro', None, 0, 'one more')\n"
        "except TypeError as error:\n"
        "    assert 'too many positional arguments' in str(error)\n"
        "else:\n"
        "    raise AssertionError\n"
    )
    done = run(code, tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["3", "3", "3", "4"], done.stderr


def test_arguments_of_scikit_learn_by_position(tmp_path):
    code = (
        "import numpy as np\n"
        "from sklearn import calibration, cluster, linear_model, metrics, model_selection, neural_network, svm\n"
        "from sklearn.metrics.pairwise import rbf_kernel, pairwise_kernels\n"
        "y, p = np.array([0, 1, 1]), np.array([0, 1, 0])\n"
        "assert metrics.confusion_matrix(y, p, [1, 0]).tolist() == [[1, 1], [0, 1]]\n"
        "assert svm.SVC(3.0, 'rbf').get_params()['kernel'] == 'rbf' and svm.SVC(3.0).C == 3\n"
        "assert [len(test) for _, test in model_selection.KFold(3, True, 1).split(np.zeros(9))] == [3, 3, 3]\n"
        "means = cluster.KMeans(3, 'random', 5, 9, 0.1, True, 0, 7)\n"
        "assert (means.n_init, means.verbose, means.random_state) == (5, 0, 7)\n"
        "assert neural_network.MLPRegressor((5,), 'tanh').activation == 'tanh'\n"
        "assert linear_model.Ridge(1.0, False, False, False).copy_X is False\n"
        "assert calibration.CalibratedClassifierCV(None, 'isotonic').method == 'isotonic'\n"
        "assert pairwise_kernels(np.eye(2), None, 'linear').tolist() == [[1, 0], [0, 1]]\n"
        "try:\n"
        "    linear_model.Ridge(1.0, True, True)\n"
        "except TypeError as error:\n"
        "    assert 'normalize=True' in str(error)\n"
        "else:\n"
        "    raise AssertionError\n"
        "assert 'SVC(C, kernel): passed by position, as before' in packages.answered(), packages.answered()\n"
    )
    done = run(code, tmp_path)
    assert done.returncode == 0, done.stderr


def test_places_of_arguments_are_those_of_the_installed_scikit_learn():
    for path, (agreeing, names) in old_packages._positions().items():
        module, _, name = path.rpartition(".")
        today = list(inspect.signature(getattr(importlib.import_module(module), name)).parameters)
        assert {each for each in names if each[0] not in "-!"} <= set(today), path
        assert names[0] not in today[agreeing : agreeing + 1] or _by_name_alone(path, agreeing), path


def _by_name_alone(path, place):
    module, _, name = path.rpartition(".")
    parameters = inspect.signature(getattr(importlib.import_module(module), name)).parameters
    return [*parameters.values()][place].kind is inspect.Parameter.KEYWORD_ONLY


def test_defaults_are_those_of_the_era(tmp_path):
    code = (
        "from parallel_compat.names.eras import Era\n"
        "packages.answer(Era.TF_KERAS_2_2)\n"
        "from sklearn.model_selection import KFold\n"
        "from sklearn.cluster import KMeans\n"
        "print(KFold().n_splits, KMeans().n_init)\n"
    )
    assert run(code, tmp_path).stdout.split() == ["5", "10"]
    assert run(code.replace("TF_KERAS_2_2", "KERAS_2_2_4"), tmp_path).stdout.split() == ["3", "10"]


@pytest.mark.parametrize(
    ("path", "now"),
    [
        ("scipy.signal.hann", "scipy.signal.windows.hann"),
        ("scipy.misc.imresize", "parallel_compat.packages.scipy_misc.imresize"),
        ("scipy.misc.comb", "scipy.special.comb"),
        ("sklearn.grid_search", "sklearn.model_selection"),
        ("collections.Mapping", "collections.abc.Mapping"),
        ("numpy.lib.pad", "numpy.pad"),
        ("numpy.zeros", None),
        ("scipy.__version__", None),
    ],
)
def test_the_table(path, now):
    found = old_packages.find(path)
    assert (found.now if found else None) == now


def test_each_row_leads_to_something(monkeypatch):
    monkeypatch.setenv("SETUPTOOLS_USE_DISTUTILS", "stdlib")  # another test may have imported distutils
    names, modules = old_packages._facts()
    facts = [*modules.values(), *(fact for known in names.values() for fact in known.values())]
    installed = {name for name in old_packages.packages() if importlib.util.find_spec(name.partition(".")[0])}
    lost = [
        fact.now
        for fact in facts
        if not fact.old.endswith("*") and fact.old.partition(".")[0] in installed and not _found(fact.now)
    ]
    assert lost == []


def _found(path):
    for end in range(path.count(".") + 1, 0, -1):
        try:
            found = importlib.import_module(".".join(path.split(".")[:end]))
        except ImportError:
            continue
        return all(found := getattr(found, name, None) for name in path.split(".")[end:])
    return False


def test_splits_of_cross_validation(tmp_path):
    """What scikit-learn 0.19.2 split."""
    code = (
        "import numpy as np\n"
        "from sklearn import cross_validation as c\n"
        "labels = np.array([1, 1, 2, 2, 2, 3, 3, 4, 4, 4, 4, 5])\n"
        "def tests(splits):\n"
        "    found = [test.tolist() for _, test in splits]\n"
        "    assert len(found) == len(splits)\n"
        "    return found\n"
        "print(tests(c.LeavePOut(3, 2)), tests(c.PredefinedSplit([0, 1, -1, 1, 0])))\n"
        "print(tests(c.LabelKFold(labels, 3)))\n"
        "print(tests(c.LeaveOneLabelOut(labels)))\n"
        "print(len(c.LeavePLabelOut(labels, 2)), tests(c.LeavePLabelOut(labels, 2))[-1])\n"
        "print(tests(c.LabelShuffleSplit(labels, 3, 0.4, random_state=1)))\n"
        "print(tests(c.check_cv(3, np.zeros(6), [0, 1, 0, 1, 1, 0], classifier=True)))\n"
        "print(tests(c.check_cv(None, [1] * 3)))\n"
    )
    done = run(code, tmp_path)
    assert done.stdout.splitlines() == [
        "[[0, 1], [0, 2], [1, 2]] [[0, 4], [1, 3]]",
        "[[7, 8, 9, 10], [2, 3, 4, 11], [0, 1, 5, 6]]",
        "[[0, 1], [2, 3, 4], [5, 6], [7, 8, 9, 10], [11]]",
        "10 [7, 8, 9, 10, 11]",
        "[[2, 3, 4, 5, 6], [0, 1, 5, 6], [5, 6, 7, 8, 9, 10]]",
        "[[0, 1], [2, 3], [4, 5]]",
        "[[0], [1], [2]]",
    ], done.stderr


def test_modules_of_the_project_are_what_they_are_whatever_their_folder_is_called(tmp_path):
    """A folder with the name of a module that is gone: its files are no packages, so they find each other."""
    folder = tmp_path / "commands" / "parts"
    folder.mkdir(parents=True)
    for package in (folder, folder.parent):
        (package / "__init__.py").write_text("")
    (folder / "one.py").write_text("from .two import x\nfrom . import two\nassert __package__ == 'commands.parts'\n")
    (folder / "two.py").write_text("x = 3\n")
    code = (
        "from commands.parts import one\n"
        "assert one.x == 3 and not hasattr(one, '__path__')\n"
        "import distutils.spawn\n"
        "assert distutils.spawn.__package__ == 'distutils' or 'setuptools' in distutils.spawn.__package__\n"
        "import scipy.misc.pilutil, scipy.misc.common, scipy.signal.waveforms\n"
        "assert scipy.misc.pilutil.imread is scipy.misc.imread\n"
    )
    done = run(code, tmp_path)
    assert done.returncode == 0, done.stderr


OF_THEN = r"""
import json, os, sys
from parallel_compat import packages
packages.answer()
import h5py, yaml
import numpy as np

file = h5py.File("a.h5")  # new
found = [file.mode]
file["text"] = "abc"
file["bytes"] = np.array([b"a", b"bc"])
file["one"] = 7.5
file["many"] = np.arange(3)
file.close()
file = h5py.File("a.h5")  # again, to write
file["more"] = 1
found += [repr(np.asarray(file[name].value).tolist()) for name in ("text", "bytes", "one", "many", "more")]
texts = ["{a: 1, lr: 1e-3, on: yes, d: 2018-01-02, o: 010}", "!!python/tuple [1, [2]]", "!!python/unicode 'x'"]
texts += ["!!python/long 3", "!!python/complex 1+2j", "!!python/dict {a: !!python/none null}", ""]
found += [repr(yaml.load(text)) for text in texts] + [repr(list(yaml.load_all("a: 1\n---\n- b")))]
try:
    yaml.load("!!python/object/apply:os.mkdir [made]")
except yaml.YAMLError:
    found.append(os.path.exists("made"))
print(json.dumps(found))
"""


def test_h5py_and_yaml_before_keras_or_without_it(tmp_path):
    done = subprocess.run([sys.executable, "-c", OF_THEN], cwd=tmp_path, capture_output=True, text=True, timeout=100)
    assert done.returncode == 0, done.stderr
    # h5py 2.9 and PyYAML 3.13 said so; the last one, which would run code, is refused here.
    assert json.loads(done.stdout) == [
        *("r+", "'abc'", "[b'a', b'bc']", "7.5", "[0, 1, 2]", "1"),
        "{'a': 1, 'lr': '1e-3', True: True, 'd': datetime.date(2018, 1, 2), 'o': 8}",
        *("(1, [2])", "'x'", "3", "(1+2j)", "{'a': None}", "None", "[{'a': 1}, ['b']]"),
        False,
    ]
