"""What stands in a script's way that is not Keras is answered, or named in one line with what to do."""

from __future__ import annotations

import runpy
from importlib import metadata

import numpy as np
import pytest

from parallel_compat.run import remedies, users_code


def error_of(code):
    try:
        exec(code, {})
    except Exception as error:
        return error
    return None


_OF_NUMPY_2_4 = pytest.mark.skipif(
    np.lib.NumpyVersion(np.__version__) < "2.4.0", reason="numpy made a number of it until 2.4"
)


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("from scipy.misc import imread", "parallel_compat.packages.scipy_misc.imread"),
        ("import sklearn.cross_validation", "packages.sklearn_cross_validation"),
        ("import time; time.clock()", "time.perf_counter"),
        ("import collections; collections.Iterable", "collections.abc"),
        ("from collections import Mapping", "collections.abc"),
        ("import inspect; inspect.getargspec", "originals.mends.python"),
        ("from PIL import Image; Image.ANTIALIAS", "PIL.Image.LANCZOS"),
        ("import matplotlib.cm as cm; cm.get_cmap('jet')", "pyplot.get_cmap"),
        ("import cv2.nothing", "opencv-python-headless"),
        ("{}.has_key(1)", "key in d"),
        (
            "import collections; collections.UserDict().has_key(1)",
            "UserDict.has_key`: only Python 2 has it: `key in d`",
        ),
        ("xrange(3)", "`range`"),
        ("import string; string.letters", "ascii_letters"),
        ("import urllib2", "urllib.request"),
        ("import thread", "`_thread`"),
        ("from sklearn.externals import joblib", "`joblib`"),
        ("from scipy.ndimage import imread", "parallel_compat.packages.scipy_misc.imread"),
        ("import numpy as np; np.asscalar(np.ones(1))", "`array.item()`"),
        ("import keras_vggface.vggface", "pip install keras-vggface."),
        ("import tensorflow_addons", "tf.nn.gelu"),
        ("import scipy.sparse.linalg.eigen.arpack", "`scipy.sparse.linalg`"),
        ("import numpy as np; np.array([[1], [1, 2]])", "dtype=object"),
        ("range(6 / 2)", "`//`"),
        ("raise TypeError(\"Value passed to parameter 'shape' has DataType float32 not in list\")", "`//`"),
        ("import tensorflow as tf; tf.lite.TFLiteConverter.from_keras_model_file('m.h5')", "load_model(file)"),
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
            "ticks[:len(labels)]",
        ),
        *(
            pytest.param(f"import numpy as np; {code}", "'numpy<2.4'`, or `array.item()", marks=_OF_NUMPY_2_4)
            for code in ("'%d' % np.array([3])", "float(np.array([[3.0]]))")
        ),
        pytest.param("import numpy as np; np.zeros((1, 2))[0][1] = np.ones(1)", "value.item()", marks=_OF_NUMPY_2_4),
        ("from sklearn.utils.linear_assignment_ import linear_assignment", "packages.sklearn_functions"),
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
        (b"print 'hello'\n", "Python 2 source. Rewrite it first: `pip install fissix`"),
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


def test_all_sources_of_python_2_are_counted_at_once(tmp_path):
    (tmp_path / "train.py").write_text("print 'a'\n")
    (tmp_path / "tools").mkdir()
    (tmp_path / "tools" / "a.py").write_text("print 'a'\n")
    (tmp_path / "tools" / "b.py").write_text("print('a')\n")
    with pytest.raises(SyntaxError) as raised:
        runpy.run_path(str(tmp_path / "train.py"))
    assert "Python 2 source (2 of 3 sources in its folder). Rewrite it first" in remedies.remedy(raised.value)


def test_any_other_missing_module_or_name_is_named(tmp_path, monkeypatch):
    line = remedies.remedy(error_of("import nothing_of_the_kind"))
    assert line == (
        "parallel-compat: <string>:1: `nothing_of_the_kind`: not found: a module that the project lacks, or a package "
        "that is not installed (see its README)."
    )
    # A module of the project itself, which is started elsewhere.
    (tmp_path / "code" / "of_the_project").mkdir(parents=True)
    (tmp_path / "code" / "of_the_project" / "__init__.py").write_text("")
    monkeypatch.setattr(users_code, "_STARTED_IN", str(tmp_path))
    assert "set `PYTHONPATH=code`" in remedies.remedy(error_of("import of_the_project"))
    for code in ("from sklearn.utils import gone", "import sklearn.gone", "import sklearn.utils as u; u.gone"):
        line = remedies.remedy(error_of(code))
        assert f"scikit-learn {metadata.version('scikit-learn')}, which is installed, does not have it" in line, code


def test_the_module_that_an_import_error_hides_is_named():
    hides = "try:\n    import SimpleITK\nexcept ImportError:\n    raise ImportError('You need more to do this.')"
    assert "`SimpleITK`: pip install SimpleITK" in remedies.remedy(error_of(hides))


def test_a_library_that_asks_for_what_numpy_dropped_is_named(tmp_path, monkeypatch):
    (tmp_path / "site-packages").mkdir()
    (tmp_path / "site-packages" / "of_old.py").write_text(
        "import numpy as np\ndef types():\n    return np.sctypes\ndef floats():\n    return np.float\n"
    )
    monkeypatch.syspath_prepend(tmp_path / "site-packages")
    line = remedies.remedy(error_of("import of_old; of_old.types()"))
    assert line == (
        "parallel-compat: <string>:1: `of_old`: it uses `numpy.sctypes`, which numpy dropped: "
        "a newer of_old, or `pip install 'numpy<2'`."
    )
    assert remedies.remedy(error_of("import of_old; of_old.floats()")).endswith("dropped: a newer of_old.")
    assert remedies.remedy(error_of("import numpy as np; np.sctypes")) is None


@pytest.mark.parametrize(
    "code", ["import keras.nothing", "[].nothing", "import collections; collections.nothing", "1 / 0"]
)
def test_what_is_not_known_is_not_named(code):
    assert remedies.remedy(error_of(code)) is None


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
