"""What stands in a script's way that is not Keras is answered, or named in one line with what to do."""

from __future__ import annotations

import runpy
import subprocess
import sys
import types
from importlib import metadata

import numpy as np
import pytest

import parallel_compat
from parallel_compat.run import callers, remedies

SCRIPT = """import os
import tempfile

import numpy as np
import tensorflow as tf
from keras.layers import Dense
from keras.models import Sequential

x = np.zeros((2, 3), dtype=np.float)
assert (x.dtype, np.NaN is np.nan, np.Inf, -np.NINF, np.alltrue([1])) == (float, True, np.inf, np.inf, np.math.pi > 3)
with tf.device("/gpu:0"):
    print(tf.matmul(tf.ones((2, 2)), tf.ones((2, 2))).shape)
folder = tempfile.mkdtemp()
os.chdir(folder)
os.rmdir(folder)
Sequential([Dense(output_dim=2, input_shape=(3,))]).predict(x)
import keras_applications
"""


def error_of(code):
    try:
        exec(code, {})
    except Exception as error:
        return error
    return None


@pytest.mark.slow
def test_a_script_with_names_of_its_time_and_a_folder_that_goes(tmp_path, run):
    (tmp_path / "train.py").write_text(SCRIPT)
    ours = run("--replicas", "2", "train.py")
    assert "(2, 2)" in ours.stdout, ours.stderr
    report = ours.stderr[ours.stderr.index("parallel-compat: ") :].splitlines()
    assert "    :9   numpy.float -> float" in report
    assert "    :16  Dense(output_dim=) -> units=" in report
    assert report[-2] == "ModuleNotFoundError: No module named 'keras_applications'"
    assert report[-1] == (
        "parallel-compat: train.py:17: `keras_applications` is not Keras: pip install Keras-Applications, or import "
        "from `keras.applications`."
    )


_OF_NUMPY_2_4 = pytest.mark.skipif(
    np.lib.NumpyVersion(np.__version__) < "2.4.0", reason="numpy made a number of it until 2.4"
)


def test_hdf5_files_are_opened_as_h5py_2_did(tmp_path):
    """Without a mode: to read and write, made where there is none, to read where nothing else is allowed."""
    import h5py

    path = str(tmp_path / "new.h5")
    with parallel_compat.legacy_names(era="keras-2.2.4"):
        with h5py.File(path) as file:
            file["x"] = [1, 2]
            assert file["x"].value.tolist() == [1, 2]
            assert file.mode == "r+"
        with h5py.File(path, None) as file:
            file["y"] = file["x"].value + 1
        with h5py.File(name=path, mode="r") as file:
            assert (file.mode, sorted(file)) == ("r", ["x", "y"])
        with h5py.File("nowhere", driver="core", backing_store=False) as file:
            file["x"] = 1
            file.flush()
            assert file.fid.get_file_image()[1:4] == b"HDF"
        (tmp_path / "text.h5").write_text("no file of HDF5")
        with pytest.raises(OSError, match="File exists"):
            h5py.File(str(tmp_path / "text.h5"))
    with h5py.File(path) as file:
        assert file.mode == "r"
        with pytest.raises(AttributeError):
            file["x"].value  # noqa: B018
    with parallel_compat.legacy_names(era="today"), h5py.File(path) as file:
        assert file.mode == "r"


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("from scipy.misc import imread", "imageio"),
        ("import sklearn.cross_validation", "sklearn.model_selection"),
        ("import time; time.clock()", "time.perf_counter()"),
        ("import collections; collections.Iterable", "collections.abc"),
        ("from collections import Mapping", "collections.abc"),
        ("import inspect; inspect.getargspec", "getfullargspec"),
        ("from PIL import Image; Image.ANTIALIAS", "Image.LANCZOS"),
        ("import matplotlib.cm as cm; cm.get_cmap('jet')", "plt.get_cmap(name)"),
        ("import cv2.nothing", "opencv-python-headless"),
        ("{}.has_key(1)", "key in d"),
        ("xrange(3)", "`range`"),
        ("import string; string.letters", "ascii_letters"),
        ("import urllib2", "urllib.request"),
        ("import thread", "_thread"),
        ("from sklearn.externals import joblib", "`import joblib`"),
        ("from scipy.ndimage import imread", "imageio"),
        ("import numpy as np; np.asscalar(np.ones(1))", "`array.item()`"),
        ("import keras_vggface.vggface", "pip install keras_vggface`, and add `--also keras_vggface`"),
        ("import tensorflow_addons", "keras.layers.GroupNormalization"),
        ("import scipy.sparse.linalg.eigen.arpack", "`scipy.sparse.linalg`"),
        ("import numpy as np; np.array([[1], [1, 2]])", "dtype=object"),
        ("import numpy as np; np.block(np.meshgrid([1], [2]))", "list(arrays)"),
        ("range(6 / 2)", "`//`"),
        ("import tensorflow as tf; tf.lite.TFLiteConverter.from_keras_model_file('m.h5')", "load_model(file)"),
        ("def read_csv(path):\n    pass\nread_csv('a', date_parser=None)", "pd.to_datetime"),
        (
            "raise ValueError('Must have equal len keys and value when setting with an iterable')",
            ".astype(object)` before, or `pip install 'pandas<3'`",
        ),
        (
            "raise TypeError('Field tensorflow.Int64List.value: Expected an int, got a boolean.')",
            "`int(value)`",
        ),
        (
            "import numpy as np, tensorflow as tf; tf.train.FloatList(value=[np.ones(1)])",
            "`array.item()`",
        ),
        ("'text'.decode('utf8')", "h5py 3"),
        (
            "import matplotlib.pyplot as plt; plt.switch_backend('agg'); plt.xticks([1, 2, 3], ['a', 'b'])",
            "places[:len(labels)]",
        ),
        *(
            pytest.param(f"import numpy as np; {code}", "array.item()", marks=_OF_NUMPY_2_4)
            for code in ("'%d' % np.array([3])", "float(np.array([[3.0]]))")
        ),
        pytest.param("import numpy as np; np.zeros((1, 2))[0][1] = np.ones(1)", "value.item()", marks=_OF_NUMPY_2_4),
        ("import matplotlib.style as style; style.use('seaborn-paper')", "seaborn-v0_8-"),
        ("import matplotlib.pyplot as plt; plt.switch_backend('agg'); plt.grid(b=True)", "visible=True"),
        ("import tensorflow as tf; tf.compat.v1.nn.rnn_cell.GRUCell(3)", "`keras.layers.RNN(cell)`"),
        ("import sklearn.cluster as c; c.KMeans(n_clusters=2, n_jobs=4)", "leave it out"),
        ("from sklearn.utils.linear_assignment_ import linear_assignment", "linear_sum_assignment(cost)"),
        ("import io; from PIL import Image; Image.new('F', (2, 2)).save(io.BytesIO(), 'PNG')", "astype('uint8')"),
    ],
)
def test_each_is_named_with_the_way_out(code, said):
    line = remedies.remedy(error_of(code))
    assert line is not None
    assert said in line
    assert "\n" not in line


def test_how_python_3_7_splits_is_named_where_a_line_splits(tmp_path):
    script = tmp_path / "words.py"
    script.write_text("import re\n[word.strip() for word in re.split(r'(\\W+)?', 'Where is it')]\n")
    with pytest.raises(AttributeError) as raised:
        runpy.run_path(str(script))
    line = remedies.remedy(raised.value)
    assert line is not None
    assert "words.py:2: `re.split`" in line
    assert r"`re.split(r'(\W+)', text)`" in line
    script.write_text("None.strip()\n")
    with pytest.raises(AttributeError) as raised:
        runpy.run_path(str(script))
    assert remedies.remedy(raised.value) is None


@pytest.mark.parametrize(
    ("source", "said"),
    [
        (b"print 'hello'\n", "Python 2 source. Convert it first: `pip install fissix`"),
        (b"try:\n    pass\nexcept IOError, e:\n    pass\n", "Python 2 source"),
        ("name = 'café'\n".encode("latin-1"), "# -*- coding: latin-1 -*-"),
    ],
)
def test_a_source_of_python_2_or_in_latin_1_is_named(source, said, tmp_path):
    (tmp_path / "train.py").write_bytes(source)
    with pytest.raises(SyntaxError) as raised:
        runpy.run_path(str(tmp_path / "train.py"))
    line = remedies.remedy(raised.value)
    assert line is not None, raised.value.msg
    assert line.startswith("parallel-compat: ")
    assert "train.py: " in line
    assert said in line
    assert remedies.remedy(SyntaxError("invalid syntax", ("train.py", 1, 5, "def f(:", 1, 6))) is None


def test_any_other_missing_module_or_name_is_named(tmp_path, monkeypatch):
    line = remedies.remedy(error_of("import nothing_of_the_kind"))
    assert line == (
        "parallel-compat: <string>:1: `nothing_of_the_kind` is not Keras: it is not installed: "
        "`pip install nothing_of_the_kind`, or what the project's requirements name."
    )
    # A module of the project itself, which is started elsewhere.
    (tmp_path / "code" / "of_the_project").mkdir(parents=True)
    (tmp_path / "code" / "of_the_project" / "__init__.py").write_text("")
    monkeypatch.setattr(callers, "_STARTED_IN", str(tmp_path))
    assert "set `PYTHONPATH=code`" in remedies.remedy(error_of("import of_the_project"))
    for code in ("from sklearn.utils import gone", "import sklearn.gone", "import sklearn.utils as u; u.gone"):
        line = remedies.remedy(error_of(code))
        assert f"scikit-learn {metadata.version('scikit-learn')}, which is installed, does not have it" in line, code


def test_a_library_that_asks_for_what_numpy_dropped_is_named(tmp_path, monkeypatch):
    (tmp_path / "site-packages").mkdir()
    (tmp_path / "site-packages" / "of_old.py").write_text(
        "import numpy as np\ndef types():\n    return np.sctypes\ndef floats():\n    return np.float\n"
    )
    monkeypatch.syspath_prepend(tmp_path / "site-packages")
    line = remedies.remedy(error_of("import of_old; of_old.types()"))
    assert line == (
        "parallel-compat: <string>:1: `of_old` is not Keras: it uses `numpy.sctypes`, which numpy dropped: "
        "a newer of_old, or `pip install 'numpy<2'`."
    )
    assert remedies.remedy(error_of("import of_old; of_old.floats()")).endswith("dropped: a newer of_old.")
    assert remedies.remedy(error_of("import numpy as np; np.sctypes")) is None


@pytest.mark.parametrize(
    "code", ["import keras.nothing", "[].nothing", "import collections; collections.nothing", "1 / 0"]
)
def test_what_is_not_known_is_not_named(code):
    assert remedies.remedy(error_of(code)) is None


def test_numpy_answers_nobody_else_and_is_put_back():
    code = (
        "import parallel_compat\n"
        "kind = None\n"
        "with parallel_compat.legacy_names():\n"
        "    import numpy\n"
        "    kind = type(numpy)\n"
        "    assert numpy.float is float and numpy.bool8 is numpy.bool_\n"
        "    exec(compile('found = hasattr(numpy, \"float\")', 'x', 'exec'),"
        " names := {'numpy': numpy, '__name__': 'scipy.x', '__file__': numpy.__file__})\n"
        "    assert not names['found']\n"
        "assert kind.__name__ == 'module' and kind.__module__ == 'builtins'\n"
        "assert not hasattr(numpy, 'float')\n"
    )
    ours = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300, check=False)
    assert ours.returncode == 0, ours.stderr


# What numpy 1.18 printed, under Keras 2.2.4 on TensorFlow 1.15.5 and under TensorFlow 2.2.3.
PRINTS = """
import numpy as np
print([np.float32(0.5), np.int64(3), np.bool_(True)], (np.float64(0.1),), {"loss": np.float32(2.0)}, repr(np.str_("a")))
"""
AS_THEN = "[0.5, 3, True] (0.1,) {'loss': 2.0} 'a'"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "first", "then"),
    [
        ((), "import keras", True),
        ((), "import numpy\nfrom tensorflow.keras.layers import Dense", True),
        (("--era", "today"), "import keras", False),
    ],
)
def test_numbers_of_numpy_are_printed_as_then(tmp_path, run, arguments, first, then):
    (tmp_path / "train.py").write_text(first + PRINTS)
    ours = run(*arguments, "train.py")
    assert ours.returncode == 0, ours.stderr
    assert (ours.stdout.strip() == AS_THEN) is then, ours.stdout


@pytest.mark.slow
def test_the_printing_of_numbers_is_put_back():
    code = (
        "import numpy, parallel_compat\n"
        "before = numpy.get_printoptions()\n"
        "with parallel_compat.legacy_names(era='keras-2.2.4'):\n"
        "    import keras\n"
        "    assert repr(numpy.float32(0.5)) == '0.5'\n"
        "    numpy.set_printoptions(precision=3)\n"
        "    assert repr(numpy.float32(0.5)) == '0.5'\n"
        "assert numpy.get_printoptions() == {**before, 'precision': 3}\n"
    )
    ours = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300, check=False)
    assert ours.returncode == 0, ours.stderr


@pytest.mark.parametrize(
    ("era", "answer"), [("tf.keras-2.2", ("uint8", "bool", False)), ("today", (None, "bool", True))]
)
def test_tables_of_pandas_have_the_types_of_then(monkeypatch, era, answer):
    """Read from pandas 1.1.5: `get_dummies` gives uint8, which `describe` counts in, and text is of `object`."""
    options = {"future.infer_string": True}  # as pandas 3 has it
    pandas = types.ModuleType("pandas")
    pandas.get_dummies = lambda data, dtype=None: dtype
    pandas.get_option, pandas.set_option = options.__getitem__, options.__setitem__
    monkeypatch.setitem(sys.modules, "pandas", pandas)
    with parallel_compat.legacy_names(era=era):
        assert (pandas.get_dummies(["a"]), pandas.get_dummies(["a"], dtype="bool"), *options.values()) == answer
    assert (pandas.get_dummies(["a"]), *options.values()) == (None, True)
