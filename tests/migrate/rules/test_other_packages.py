from __future__ import annotations

import pytest

from parallel_compat.migrate import process_file
from parallel_compat.migrate.engine import Options
from parallel_compat.names.other_packages import NUMPY
from tests.migrate.check import check_noop, check_transformed, found, messages, without_line

HEAD = "import numpy as np\nimport numpy\nfrom keras.layers import Input\n"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("x = y.astype(np.float)", "x = y.astype(float)"),
        ("x = numpy.zeros(3, numpy.object)", "x = numpy.zeros(3, object)"),
        ("x = np.Inf - np.NaN", "x = np.inf - np.nan"),
        ("x = -np.NINF", "x = -(-np.inf)"),
        ("x = np.product(y) + np.float_(3)", "x = np.prod(y) + np.float64(3)"),
        ("x = np.alltrue(y) or np.in1d(y, z)", "x = np.all(y) or np.isin(y, z)"),
    ],
)
def test_a_name_of_numpy(before, after):
    check_transformed(f"{HEAD}{before}\n", f"{HEAD}{after}\n")


OURS = "parallel_compat.packages"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("from scipy.misc import imread", f"from {OURS}.scipy_misc import imread"),
        (
            "from collections import Mapping, OrderedDict",
            "from collections import OrderedDict\nfrom collections.abc import Mapping",
        ),
        (
            "if x:\n    from scipy.signal import hann, cwt",
            f"if x:\n    from scipy.signal.windows import hann\n    from {OURS}.scipy_functions import cwt",
        ),
        ("import sklearn.cross_validation as cv", f"from {OURS} import sklearn_cross_validation as cv"),
        ("import cPickle", "import pickle as cPickle"),
        ("from sklearn.externals import joblib", "import joblib"),
        ("import time; time.clock()", "import time; time.perf_counter()"),
        ("from PIL import Image\nx = Image.ANTIALIAS", "from PIL import Image\nx = Image.LANCZOS"),
        ("import cv2\ncv2.line(x, cv2.CV_AA)", "import cv2\ncv2.line(x, cv2.LINE_AA)"),
        ("import scipy\nscipy.zeros(3)", "import scipy\nnumpy.zeros(3)"),
        (
            "import matplotlib.pyplot as plt\nplt.hist(x, 5, normed=True, hold=True)",
            "import matplotlib.pyplot as plt\nplt.hist(x, 5, density=True)",
        ),
        ("from sklearn.cluster import KMeans\nKMeans(3, n_jobs=2)", "from sklearn.cluster import KMeans\nKMeans(3)"),
        ("np.percentile(x, 5, interpolation='nearest')", "np.percentile(x, 5, method='nearest')"),
        ("import yaml\nyaml.load(x)", "import yaml\nyaml.load(x, Loader=yaml.SafeLoader)"),
        ("import h5py\nh5py.File('a.h5')", "import h5py\nh5py.File('a.h5', mode=\"a\")"),
        ("import pandas as pd\nx = y.as_matrix()", "import pandas as pd\nx = y.to_numpy()"),
        (
            "from sklearn.metrics import confusion_matrix as cm\ncm(y, p, [0, 1])",
            "from sklearn.metrics import confusion_matrix as cm\ncm(y, p, labels=[0, 1])",
        ),
        ("from sklearn import svm\nsvm.SVC(1.0, 'rbf')", "from sklearn import svm\nsvm.SVC(C=1.0, kernel='rbf')"),
        (
            "from sklearn.cluster import KMeans\nKMeans(3, 'random', 5, 9, 0.1, True, 0)",
            "from sklearn.cluster import KMeans\nKMeans(3, init='random', n_init=5, max_iter=9, tol=0.1, verbose=0)",
        ),
        (
            "from sklearn.linear_model import Ridge\nRidge(1.0, True, False, (False))",
            "from sklearn.linear_model import Ridge\nRidge(1.0, fit_intercept=True, copy_X=(False))",
        ),
    ],
)
def test_a_name_of_another_package(before, after):
    check_transformed(f"{HEAD}{before}\n", f"{HEAD}{after}\n")


@pytest.mark.parametrize(
    "line",
    [
        "from scipy.signal import convolve",
        "from collections import deque",
        "import yaml, h5py\nyaml.load(x, yaml.Loader)\nyaml.load(x, Loader=y)\nh5py.File('a', 'r')\nyaml.load(*x)",
        "import pandas\nx.append(3)\ny.value\nz[0].value",
        "x.as_matrix()\ny.ix[0]\nz.append(3).x\nhist(x, normed=True)",
        "import matplotlib.pyplot as plt\nplt.hist(x, density=True)",
        "import scipy\nscipy.fft",
        "from sklearn.model_selection import train_test_split, KFold\ntrain_test_split(x, y, z)\nKFold(3)",
        "def confusion_matrix(*a): pass\nconfusion_matrix(y, p, [0, 1])",
    ],
)
def test_a_name_that_is_still_there_is_left(line):
    check_noop(f"{HEAD}{line}\n", rule="other-packages")


def test_the_module_that_numpy_showed_is_imported():
    check_transformed(f"{HEAD}x = np.math.ceil(2.5)\n", f"{HEAD}import math\nx = math.ceil(2.5)\n")
    check_transformed(f"import math\n{HEAD}x = np.math.pi\n", f"import math\n{HEAD}x = math.pi\n")


def test_each_is_what_numpy_has():
    import builtins
    import math

    import numpy as np

    for was in NUMPY.values():
        assert eval(was, {"numpy": np, "math": math}) is not None
        assert was == "math" or "numpy" in was or hasattr(builtins, was) or float(was) == 0


@pytest.mark.parametrize(
    ("line", "status"),
    [
        ("def f(float):\n    return np.float", [(5, "attention")]),
        ("from numpy import Inf", [(4, "attention")]),
        ("from scipy.misc import *", [(4, "attention")]),
        ("import string; string.maketrans('a', 'b')", [(4, "attention")]),
        ("from sklearn import svm\nsvm.SVC(*given)", [(5, "attention")]),
        ("from sklearn.linear_model import Ridge\nRidge(1.0, True, True)", [(5, "attention")]),
    ],
)
def test_is_reported(line, status):
    assert found(f"{HEAD}{line}\n", "other-packages") == status


@pytest.mark.parametrize("package", ["keras_contrib.layers", "tensorflow_addons", "theano.tensor"])
def test_a_package_that_needs_an_old_keras_is_reported(package, tmp_path):
    source = f"import {package}\nfrom keras.layers import Dense\nDense(output_dim=3)\n"
    name = package.partition(".")[0]
    assert [f"`{name}` does not run with Keras 3" in message for message in messages(source)].count(True) == 1
    check_noop(f"try:\n    import {package}\nexcept ImportError:\n    pass\n", rule="other-packages")
    for is_reported in (True, False):
        report = process_file.source(str(tmp_path / "a.py"), source.encode(), Options()).settled("")
        assert any("does not run with" in place.message for place in report.places) is is_reported
        (tmp_path / name).mkdir(exist_ok=True)  # the project has a copy


@pytest.mark.parametrize("line", ["x = np.float64(3)", "x = np.bool", "x = numbers.float", "np.float = 3"])
def test_leaves_alone(line):
    check_noop(f"{HEAD}{line}\n", rule="other-packages")


def test_in_a_file_without_keras_it_counts_only_in_a_legacy_project():
    for text, after in (
        (b"import numpy as np\nx = np.float(3)\n", b"import numpy as np\nx = float(3)\n"),
        (
            b"import os\nmodel.load_weights(find(os))\n",
            b"import os\nfrom parallel_compat.legacy.models import load_weights\nload_weights(model, find(os))\n",
        ),
    ):
        report = process_file.source("tool.py", text, Options(unsafe=True))
        assert report.settled("").after.encode() == text
        assert without_line(report.settled("old.py").after).encode() == after


@pytest.mark.parametrize(
    ("line", "advice"),
    [
        ("x = y.ix[0, 'a']", "`loc` takes labels"),
        ("x = y.append(z)", "pandas.concat"),
        ("x = y.get_value(0, 'a')", "at[row, column]"),
        ("x = y.as_matrix(['a'])", "to_numpy"),
        ("x = pd.read_csv('a.csv', error_bad_lines=False)", "on_bad_lines"),
        ("x = pd.read_csv('a.csv', squeeze=True)", "squeeze"),
    ],
)
def test_what_pandas_had_is_told(line, advice):
    said = messages(f"{HEAD}import pandas as pd\n{line}\n")
    assert any(advice in message for message in said), said


def test_a_value_of_hdf5_is_read_whole():
    head = f"{HEAD}import h5py\n"
    check_transformed(f"{head}x = y['a'].value\n", f"{head}x = y['a'][()]\n", unsafe=True)


PICTURES = "from PIL import Image\nfrom skimage import io\nfrom skimage.transform import resize\n"


@pytest.mark.parametrize(
    ("before", "after", "imported"),
    [
        ("Image.fromarray(x, 'L')", "fromarray(x, 'L')", f"from {OURS}.pillow import fromarray\n"),
        ("io.imsave('a.png', x)", "imsave('a.png', x)", f"from {OURS}.skimage_functions import imsave\n"),
        ("resize(x, (4, 5))", 'resize(x, (4, 5), mode="constant", anti_aliasing=False)', ""),
        ("resize(x, (4, 5), mode='edge')", "resize(x, (4, 5), mode='edge', anti_aliasing=False)", ""),
        ("z = x.resize((4, 5))", "z = x.resize((4, 5), resample=0)", ""),
        ("z = np.load('a.npy').item()", "z = np.load('a.npy', allow_pickle=True).item()", ""),
        ("z = np.load('a.npy')\nz[()]", "z = np.load('a.npy', allow_pickle=True)\nz[()]", ""),
    ],
)
def test_pictures_and_pickles_of_2018(before, after, imported):
    check_transformed(f"{HEAD}{PICTURES}{before}\n", f"{HEAD}{imported}{PICTURES}{after}\n", unsafe=True)


@pytest.mark.parametrize(
    "line",
    [
        "Image.fromarray(x)",
        "Image.fromarray(np.uint8(x), 'RGB')",
        "io.imsave('a.png', x.astype('uint8'))",
        "resize(x, (4, 5), 1, 'edge', anti_aliasing=True)",
        "x.resize((4, 5))",
        "z = x.resize((4, 5), Image.BICUBIC)",
        "z = np.load('a.npy')\nz[0]",
        "np.load('a.npy', None, False).item()",
    ],
)
def test_pictures_that_are_the_same_today(line):
    check_noop(f"{HEAD}{PICTURES}{line}\n", rule="other-packages")


def test_styles_of_seaborn_have_a_version_in_their_names():
    source = "import matplotlib.pyplot as plt\nfrom keras.layers import Dense\nplt.style.use({})\n"
    for before, after in (
        ("'seaborn-paper'", "'seaborn-v0_8-paper'"),
        ("['ggplot', 'seaborn']", "['ggplot', 'seaborn-v0_8']"),
    ):
        check_transformed(source.format(before), source.format(after))
    check_noop(source.format("'ggplot'"), rule="other-packages")
