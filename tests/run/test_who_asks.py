"""Legacy names are answered to the user's code, and to nobody else."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

PROJECT = str(Path(__file__).parents[2])
PACKAGE = """
import keras
import tensorflow as tf

def found():
    try:
        from keras.layers.core import Dense
        core = True
    except ImportError:
        core = False
    model = keras.Sequential([keras.Input((2,)), keras.layers.Dense(1)])
    return (
        hasattr(keras.utils, "multi_gpu_model"),
        hasattr(keras.backend, "sum"),
        hasattr(tf, "log"),
        core,
        hasattr(model, "predict_classes"),
        hasattr(model.layers[0], "output_shape"),
    )
"""
ASK = "import keras, tensorflow as tf\nimport third_party, mine\nprint(third_party.found(), mine.found())\n"


def _installed(tmp_path: Path) -> str:
    packages = tmp_path / "lib" / "site-packages"
    packages.mkdir(parents=True)
    (packages / "third_party.py").write_text(PACKAGE)
    (tmp_path / "mine.py").write_text(PACKAGE)
    (tmp_path / "ask.py").write_text(ASK)
    return os.pathsep.join([PROJECT, str(packages)])


@pytest.mark.slow
def test_installed_packages_get_the_real_names(tmp_path, run):
    ours = run("--quiet", "ask.py", PYTHONPATH=_installed(tmp_path))
    assert ours.stdout == f"{(False,) * 6} {(True,) * 6}\n", ours.stderr


@pytest.mark.slow
def test_also_names_a_package_that_is_answered_too(tmp_path, run):
    ours = run("--quiet", "--also", "third_party", "ask.py", PYTHONPATH=_installed(tmp_path))
    assert ours.stdout == f"{(True,) * 6} {(True,) * 6}\n", ours.stderr


def test_who_is_answered_does_not_depend_on_who_came_first(tmp_path, run):
    path = _installed(tmp_path)
    (tmp_path / "ask.py").write_text(
        "import mine, third_party\nprint(mine.found(), third_party.found(), mine.found(), third_party.found())\n"
    )
    ours = run("--quiet", "ask.py", PYTHONPATH=path)
    yes, no = (True,) * 6, (False,) * 6
    assert ours.stdout == f"{yes} {no} {yes} {no}\n", ours.stderr


@pytest.mark.slow
def test_pickles_and_importlib_ask_for_their_caller(tmp_path, run):
    (tmp_path / "script.py").write_text(
        "import importlib, pickle, keras\n"
        "print(importlib.import_module('keras.layers.core').Dense is keras.layers.Dense)\n"
        "print(getattr(importlib.import_module('keras.utils'), 'np_utils').to_categorical([1], 2).tolist())\n"
        "old = b'ckeras_preprocessing.text\\nTokenizer\\n)R.'\n"
        "print(type(pickle.loads(old)).__name__)\n"
        "class Mine(keras.layers.Layer):\n    pass\n"
        "print(*[pickle.loads(pickle.dumps(kind)) is kind for kind in (Mine, keras.layers.Dense)])\n"
    )
    ours = run("--quiet", "script.py")
    assert ours.stdout == "True\n[[0.0, 1.0]]\nTokenizer\nTrue True\n", ours.stderr


def test_every_form_of_import(tmp_path, run):
    (tmp_path / "script.py").write_text(
        "import keras\n"
        "import keras.backend as K\n"
        "from keras import backend as K2\n"
        "import keras.layers.core as core\n"
        "from keras.layers import *\n"
        "from keras.layers.convolutional import *\n"
        "from keras.utils import np_utils, multi_gpu_model as split\n"
        "import keras.utils.training_utils\n"
        "import tensorflow as tf\n"
        "import tensorflow.keras.backend as K3\n"
        "from tensorflow.keras import backend as K4\n"
        "from tensorflow.python.keras.layers import Dense as D2\n"
        "from tensorflow.python.keras import backend as K5\n"
        "from tensorflow.contrib.keras import layers as contributed\n"
        "from tensorflow.python.training import training_ops\n"
        "from tensorflow.python.training.training_ops import resource_apply_adam as adam\n"
        "from tensorflow.python.training.tracking.base import Trackable\n"
        "assert adam is training_ops.resource_apply_adam and Trackable.__module__.endswith('trackable.base')\n"
        "from tensorflow.python.framework import ops\n"
        "from tensorflow.python.framework.ops import IndexedSlices\n"
        "from tensorflow.python.util import nest\n"
        "assert ops.Tensor is tf.Tensor and IndexedSlices is tf.IndexedSlices and nest.is_sequence([1])\n"
        "tf.keras.callbacks.CSVLogger = tf.keras.metrics.MSE = 'mine'\n"
        "from tensorflow.keras.callbacks import CSVLogger\n"
        "from tensorflow.keras.metrics import MSE\n"
        "assert CSVLogger == MSE == 'mine'\n"
        "assert K is K2 and K3.sum is K.sum and K4.int_shape is K.int_shape and K5.sum is K.sum\n"
        "assert core.Dense is Dense is keras.layers.Dense is D2 is tf.keras.layers.Dense is contributed.Dense\n"
        "assert split is keras.utils.training_utils.multi_gpu_model is tf.keras.utils.multi_gpu_model\n"
        "assert keras.utils.np_utils is np_utils and CuDNNLSTM(3).__class__ is LSTM\n"
        "assert tf.Session and isinstance(Dense(1), keras.layers.Layer)\n"
        "assert issubclass(Dense, keras.engine.topology.Layer)\n"
        "def inside():\n"
        "    from keras.objectives import mse\n"
        "    return mse\n"
        "assert inside() is keras.losses.mean_squared_error\n"
        "print('all of them')\n"
    )
    ours = run("--quiet", "script.py")
    assert ours.stdout == "all of them\n", ours.stderr
