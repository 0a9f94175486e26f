"""The one era of a process, by its sources and the files of its project: small projects, what they get, and why."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time

import pytest

from parallel_compat.names.eras import Era
from parallel_compat.names.project_era import era_of_project

TF = "import tensorflow as tf\nmodel = tf.keras.Sequential()\n"
KERAS = "from keras.layers import Dense\n"
ASKS = "model.compile('sgd', 'mse', metrics=['accuracy'])\n"
LOCK = json.dumps({"_meta": {}, "default": {"tensorflow-gpu": {"hashes": [], "version": "==1.14.0"}}})


def notebook(*cells, python="3.6.9", printed=""):
    outputs = [{"output_type": "stream", "text": [printed]}] if printed else []
    code = [{"cell_type": "code", "source": cell.splitlines(True), "outputs": outputs} for cell in cells]
    return json.dumps({"cells": code, "metadata": {"language_info": {"version": python}}})


def project(folder, files):
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return folder


# Files, of which the first one runs; the era; words of the reason. A `?` says that the choice is not certain.
PROJECTS = {
    # What nothing speaks for.
    "tf.keras alone": ({"train.py": TF}, "tf.keras-2.2?", "nothing says of which TensorFlow"),
    "keras alone": ({"train.py": KERAS}, "keras-2.2.4?", "nothing says which version"),
    "neither": ({"train.py": "import json\n"}, "today", "imports neither Keras nor TensorFlow"),
    "TensorFlow without Keras": ({"train.py": "import tensorflow as tf\ntf.add(1, 2)\n"}, "today?", "no Keras"),
    "a copy that `migrate` rewrote says nothing": (
        {
            "train.py": KERAS,
            "native/train.py": "# parallel-compat: migrated from keras-2.2.4\n" + KERAS
            + "from keras.optimizers import SGD\nSGD(learning_rate=0.1)\n",
        },
        "keras-2.2.4?", "nothing says which version",
    ),
    # Names and arguments that one version has.
    "a name of TensorFlow 1": ({"train.py": TF + "tf.Session()\n"}, "tf.keras-1.15", "train.py uses tf.Session"),
    "one without Keras": (
        {"train.py": "import tensorflow as tf\ntf.placeholder(tf.float32)\n"}, "tf.keras-1.15", "tf.placeholder"
    ),
    "tf.estimator is of both": ({"train.py": TF + "tf.estimator.RunConfig()\n"}, "tf.keras-2.2?", "nothing says"),
    "an argument of TensorFlow 1": (
        {"train.py": TF + "tf.reduce_sum(1, keep_dims=True)\n"},
        "tf.keras-1.15", "keep_dims",
    ),
    "a module of TensorFlow 1": (
        {"train.py": TF + "tf.saved_model.tag_constants.SERVING\n"}, "tf.keras-1.15", "tf.saved_model.tag_constants"
    ),
    "a name of TensorFlow 2": ({"train.py": TF + "tf.random.set_seed(1)\n"}, "tf.keras-2.2", "tf.random.set_seed"),
    "a private name of TensorFlow 2": (
        {"train.py": TF + "from tensorflow.python.keras.engine.data_adapter import DataHandler\n"},
        "tf.keras-2.2", "tf.python.keras.engine.data_adapter.DataHandler",
    ),
    "a private name of both": (
        {"train.py": TF + "from tensorflow.python.keras.engine import data_adapter\n"}, "tf.keras-2.2?", "nothing says"
    ),
    "a private module of TensorFlow 1": (
        {"train.py": TF + "from tensorflow.python.keras.engine import training_v2\n"}, "tf.keras-1.15", "training_v2"
    ),
    "beside Keras": (
        {"train.py": KERAS + "from tensorflow.python.keras.engine import data_adapter\ndata_adapter.expand_1d\n"},
        "keras-2.3", "data_adapter.expand_1d",
    ),
    "tensorflow_addons": ({"train.py": TF + "import tensorflow_addons as tfa\n"}, "tf.keras-2.2", "tensorflow_addons"),
    "an argument of TensorFlow 2": (
        {"train.py": TF + "model.fit(x, validation_batch_size=2)\n"}, "tf.keras-2.2", "fit(validation_batch_size=)"
    ),
    "a name of Keras 2.3": ({"train.py": "from keras.metrics import AUC\n"}, "keras-2.3", "keras.metrics.AUC"),
    "an argument of Keras 2.3": (
        {"train.py": KERAS + "model.fit(x, validation_freq=2)\n"}, "keras-2.3", "fit(validation_freq=)"
    ),
    "standalone Keras on TensorFlow 2": (
        {"train.py": KERAS + "import tensorflow as tf\ntf.random.set_seed(1)\n"}, "keras-2.3", "tf.random.set_seed"
    ),
    "a name of Keras 3": ({"train.py": "import keras\nkeras.ops.add(1, 2)\n"}, "today", "keras.ops"),
    "a migrated script": (
        {"train.py": KERAS + "from parallel_compat import Resume\n"},
        "today", "parallel_compat.Resume",
    ),
    "a script that installs": (
        {"train.py": "import parallel_compat\nparallel_compat.install()\n" + KERAS}, "keras-2.2.4?", "nothing says"
    ),
    # Names behind a question for the version say nothing.
    "an if": (
        {"train.py": TF + "if tf.__version__ < '2':\n    tf.Session()\n"}, "tf.keras-2.2?", "nothing says"
    ),
    "a try": (
        {"train.py": TF + "try:\n    tf.log(1.)\nexcept AttributeError:\n    pass\n"}, "tf.keras-2.2?", "nothing says"
    ),
    "names of both": (
        {"train.py": TF + "def f():\n    tf.Session()\n    tf.random.set_seed(1)\n"}, "tf.keras-2.2?", "nothing says"
    ),
    "a module for one of two": (
        {
            "train.py": TF + "if tf.__version__ < '2':\n    import one\nelse:\n    import two\n",
            "one.py": "import tensorflow as tf\ntf.Session()\n",
            "two.py": "",
        },
        "tf.keras-2.2?", "nothing says",
    ),
    "a fallback is not used": (
        {"train.py": "try:\n    from tensorflow import keras\nexcept ImportError:\n    import keras\n"},
        "tf.keras-2.2?", "nothing says",
    ),
    "what an import does not run": (
        {
            "train.py": TF + "import other\nimport another\n",
            "other.py": "import tensorflow as tf\nif __name__ == '__main__':\n    tf.Session()\n",
            "another.py": "import tensorflow as tf\ntf.log(1.)\n",
        },
        "tf.keras-1.15?", "another.py uses tf.log",
    ),
    # Requirements.
    "pip": (
        {"train.py": TF, "requirements.txt": "tensorflow-gpu==1.14.0\n"},
        "tf.keras-1.15", "tensorflow-gpu==1.14.0",
    ),
    "a range": ({"train.py": TF, "requirements.txt": "tensorflow>=1.12,<2\n"}, "tf.keras-1.15", "tensorflow>=1.12,<2"),
    "a star": ({"train.py": TF, "requirements.txt": "tensorflow-gpu==1.*\n"}, "tf.keras-1.15", "tensorflow-gpu==1.*"),
    "a lower bound": ({"train.py": TF, "requirements.txt": "tensorflow>=2.1\n"}, "tf.keras-2.2", "tensorflow>=2.1"),
    "UTF-16": (
        {"train.py": TF, "requirements.txt": "tensorflow==1.14.0\r\n".encode("utf-16")}, "tf.keras-1.15", "==1.14.0"
    ),
    "keras": ({"train.py": KERAS, "requirements.txt": "keras==2.3.1\n"}, "keras-2.3", "keras==2.3.1"),
    "keras below 2.3": ({"train.py": KERAS, "requirements.txt": "Keras>=2.0,<2.3\n"}, "keras-2.2.4", "Keras>=2.0,<2.3"),
    "keras 1": ({"train.py": KERAS, "requirements.txt": "keras==1.2.2\n"}, "keras-2.2.4", "keras==1.2.2"),
    "keras 2.4 is tf.keras": (
        {"train.py": KERAS, "requirements.txt": "keras==2.4.3\n"},
        "tf.keras-2.2", "keras==2.4.3",
    ),
    "keras beside TensorFlow 2": (
        {"train.py": KERAS, "requirements.txt": "keras\ntensorflow==2.1\n"},
        "keras-2.3", "2.1",
    ),
    "both": (
        {"train.py": KERAS + TF, "requirements.txt": "tensorflow==2.2\nkeras==2.3.1\n"}, "keras-2.3", "keras==2.3.1"
    ),
    "keras for tf.keras": ({"train.py": TF, "requirements.txt": "keras==2.2.4\n"}, "tf.keras-1.15?", "keras==2.2.4"),
    "the keras beside it does not matter": (
        {"train.py": TF, "requirements.txt": "keras==2.2.4\ntensorflow==2.0.0a0\n"}, "tf.keras-2.2", "tensorflow==2.0.0"
    ),
    "of today": ({"train.py": TF, "requirements.txt": "tensorflow==2.18\n"}, "today?", "tensorflow==2.18"),
    "of today, for this package": (
        {"train.py": TF, "requirements.txt": "tensorflow==2.18\nparallel-compat\n"}, "tf.keras-2.2?", "nothing says"
    ),
    "conda": (
        {"train.py": TF, "environment.yml": "dependencies:\n  - tensorflow-gpu=1.13.1=h0d\n"},
        "tf.keras-1.15", "1.13",
    ),
    "setup.py": (
        {"train.py": TF, "setup.py": "install_requires=['tensorflow==1.13']"},
        "tf.keras-1.15", "setup.py has",
    ),
    "pyproject": (
        {"train.py": TF, "pyproject.toml": '[tool.poetry.dependencies]\ntensorflow = "^1.14"\n'},
        "tf.keras-1.15", "^1.14",
    ),
    "Pipfile": ({"train.py": TF, "Pipfile": '[packages]\ntensorflow = "~=1.14"\n'}, "tf.keras-1.15", "Pipfile has"),
    "Pipfile.lock": ({"train.py": TF, "Pipfile.lock": LOCK}, "tf.keras-1.15", "tensorflow-gpu==1.14.0"),
    "tensorboard": ({"train.py": TF, "requirements.txt": "tensorboard==1.14.0\n"}, "tf.keras-1.15", "tensorboard"),
    "the root's": (
        {"examples/one/train.py": TF, "setup.py": "install_requires=['tensorflow<2']"}, "tf.keras-1.15", "tensorflow<2"
    ),
    "the nearest first": (
        {"one/train.py": TF, "one/requirements.txt": "tensorflow==1.13\n", "requirements.txt": "tensorflow==2.3\n"},
        "tf.keras-1.15?", "requirements.txt has tensorflow==1.13",
    ),
    "names beat requirements": (
        {"train.py": TF + "tf.Session()\n", "requirements.txt": "tensorflow>=2.0\n"},
        "tf.keras-1.15?", "tf.Session, which TensorFlow 2 does not have, though requirements.txt has tensorflow>=2.0",
    ),
    "names within a loose requirement": (
        {"train.py": TF + "tf.Session()\n", "requirements.txt": "tensorflow>=1.4\n"}, "tf.keras-1.15", "tf.Session"
    ),
    "requirements beat dead code of imported files": (
        {
            "train.py": TF + "import other\n",
            "other.py": "import tensorflow as tf\ndef frozen():\n    tf.Session()\n",
            "requirements.txt": "tensorflow==2.1\n",
        },
        "tf.keras-2.2", "tensorflow==2.1",
    ),
    "a loose requirement leans to its lowest": (
        {"train.py": TF, "requirements.txt": "tensorflow>=1.12\n"}, "tf.keras-1.15?", "tensorflow>=1.12"
    ),
    "Python 3.8": ({"train.py": TF, "setup.py": "python_requires='>=3.8'"}, "tf.keras-2.2?", "python_requires>=3.8"),
    "Python 2.7": ({"train.py": TF, "environment.yml": "- python=2.7\n"}, "tf.keras-1.15?", "python=2.7"),
    # Images and services.
    "Docker": (
        {"train.py": TF, "Dockerfile": "FROM tensorflow/tensorflow:1.14.0-gpu\n"},
        "tf.keras-1.15", "1.14.0-gpu",
    ),
    "pip in Docker": ({"train.py": KERAS, "Dockerfile": "RUN pip install keras==2.3.0\n"}, "keras-2.3", "keras==2.3.0"),
    "NVIDIA's": (
        {"train.py": TF, "Dockerfile": "FROM nvcr.io/nvidia/tensorflow:19.05-py3\n"},
        "tf.keras-1.15", "19.05",
    ),
    "CI": ({"train.py": TF, ".travis.yml": "install: pip install tensorflow==1.13\n"}, "tf.keras-1.15", ".travis.yml"),
    "a matrix says nothing": (
        {"train.py": TF, ".github/workflows/ci.yml": "- tensorflow==1.15\n- tensorflow==2.1\n"},
        "tf.keras-2.2?", "nothing",
    ),
    # The README.
    "README": (
        {"train.py": TF, "README.md": "Tested with [Tensorflow 1.14](https://x.org).\n"},
        "tf.keras-1.15", "README",
    ),
    "README on Keras": (
        {"train.py": KERAS, "README.md": "- Keras (2.3.1)\n"},
        "keras-2.3", "README.md names Keras (2.3.1)",
    ),
    "README of both": (
        {"train.py": TF, "README.md": "tensorflow 2.0.0/tensorflow 1.15.0\n"}, "tf.keras-2.2?", "names tensorflow 2.0.0"
    ),
    "README on Keras 3, and a script that cannot be of it": (
        {"train.py": "from keras.utils import multi_gpu_model\n", "README.md": "Tested with Keras 3.15.\n"},
        "keras-2.2.4?", "nothing says which version",
    ),
    "README on Keras 3, and a script that goes on without an old name": (
        {
            "train.py": "try:\n    from keras.utils import multi_gpu_model\nexcept ImportError:\n    pass\n" + KERAS,
            "README.md": "Tested with Keras 3.15.\n",
        },
        "today?", "README.md names Keras 3.15",
    ),
    "README on what it is not for": (
        {"train.py": TF, "README.md": "It does not support TensorFlow 2.0. Needs TF 1.12.\n"},
        "tf.keras-1.15", "TF 1.12",
    ),
    "README on a branch": (
        {"train.py": KERAS, "README.md": "For TensorFlow 2 see the branch `tf2`.\n"}, "keras-2.2.4?", "nothing says"
    ),
    "README on tf.keras's own version": (
        {"train.py": KERAS, "README.md": "Keras 2.3.0-tf\n"},
        "keras-2.2.4?", "nothing",
    ),
    "README below requirements": (
        {"train.py": TF, "requirements.txt": "tensorflow==1.13\n", "README.md": "TensorFlow 2.0\n"},
        "tf.keras-1.15?", "requirements.txt has tensorflow==1.13, though README.md names TensorFlow 2.0",
    ),
    "a comment": ({"train.py": "# TensorFlow 1.12\n" + TF}, "tf.keras-1.15?", "TensorFlow 1.12"),
    "a docstring": ({"train.py": '"""For TensorFlow 1.12."""\n' + TF}, "tf.keras-1.15?", "TensorFlow 1.12"),
    # How the accuracy is called.
    "acc": ({"train.py": TF + ASKS + "h.history['acc']\n"}, "tf.keras-1.15", "history['acc']"),
    "accuracy": ({"train.py": TF + ASKS + "h.history['val_accuracy']\n"}, "tf.keras-2.2", "history['accuracy']"),
    "acc of keras": ({"train.py": KERAS + ASKS + "h.history['val_acc']\n"}, "keras-2.2.4", "history['acc']"),
    "accuracy of keras": ({"train.py": KERAS + ASKS + "h.history['accuracy']\n"}, "keras-2.3", "history['accuracy']"),
    "either": ({"train.py": TF + ASKS + "h.history.get('acc') or h.history['accuracy']\n"}, "tf.keras-2.2?", "nothing"),
    "a callback's": (
        {"train.py": TF + ASKS + "EarlyStopping(monitor='val_acc')\n"}, "tf.keras-1.15?", "monitor='val_acc'"
    ),
    # Other leanings.
    "tf.function": ({"train.py": TF + "@tf.function\ndef f():\n    pass\n"}, "tf.keras-2.2?", "tf.function"),
    "eager in TensorFlow 1": (
        {"train.py": TF + "tf.enable_eager_execution()\ntf.GradientTape()\n"}, "tf.keras-1.15", "enable_eager_execution"
    ),
    "eager where asked for": (
        {"train.py": TF + "tf.compat.v1.enable_eager_execution()\ntf.GradientTape()\n"}, "tf.keras-2.2?", "nothing says"
    ),
    "Keras 1": ({"train.py": KERAS + "model.fit(x, nb_epoch=3)\n"}, "keras-2.2.4?", "Keras 2.2.4 still takes"),
    "another file of the project": (
        {"train.py": TF, "test.py": TF + "tf.Session()\n"}, "tf.keras-1.15?", "test.py uses tf.Session"
    ),
    "the year of the copyright": (
        {"train.py": KERAS, "LICENSE": "MIT\n\nCopyright (c) 2020 A\n"}, "keras-2.3?", "LICENSE is of 2020"
    ),
    "a later year": ({"train.py": KERAS, "LICENSE": "Copyright (c) 2022 A\n"}, "tf.keras-2.2?", "LICENSE is of 2022"),
    # Where Keras is imported.
    "in what it imports": ({"train.py": "import lib.model\n", "lib/model.py": KERAS}, "keras-2.2.4?", "nothing says"),
    "below src": ({"run/train.py": "import model\n", "src/model.py": KERAS, "setup.py": ""}, "keras-2.2.4?", "nothing"),
    "in what nobody imports": (
        {"train.py": "import importlib\n", "model.py": KERAS},
        "keras-2.2.4?", "train.py imports no Keras, model.py does",
    ),
    # Python 2 and notebooks.
    "Python 2": (
        {"train.py": "import tensorflow as tf\nprint 'x'\ntf.Session()\nfrom tensorflow import keras\n"},
        "tf.keras-1.15", "tf.Session",
    ),
    "Python 2 without names": ({"train.py": TF + "print 'a'\n"}, "tf.keras-1.15?", "its sources are of Python 2"),
    "a notebook": ({"a.ipynb": notebook(TF, "tf.Session()")}, "tf.keras-1.15", "a.ipynb uses tf.Session"),
    "its magic": ({"a.ipynb": notebook("%tensorflow_version 1.x\n" + TF)}, "tf.keras-1.15", "%tensorflow_version 1.x"),
    "its pip": ({"a.ipynb": notebook("!pip install -q keras==2.3.1", KERAS)}, "keras-2.3", "keras==2.3.1"),
    "what it printed": (
        {"a.ipynb": notebook(TF + "tf.__version__", printed="1.14.0")},
        "tf.keras-1.15", "1.14.0, which",
    ),
    "its Python": ({"a.ipynb": notebook(TF, python="2.7.12")}, "tf.keras-1.15?", "Python 2.7.12"),
}  # fmt: skip


@pytest.mark.parametrize("case", PROJECTS)
def test_of_a_project(case, tmp_path):
    files, era, words = PROJECTS[case]
    decision = era_of_project(script=str(project(tmp_path, files) / next(iter(files))), folder=str(tmp_path))
    assert decision.era.value + "?" * (not decision.certain) == era, decision
    assert words in decision.reason
    assert ("--era" in decision.hint) != decision.certain


def test_a_script_is_of_the_project_that_it_lies_in_whatever_folder_it_is_started_from(tmp_path):
    project(tmp_path, {"one/examples/train.py": TF, "one/setup.py": "install_requires=['tensorflow==1.14']"})
    project(tmp_path, {"requirements.txt": "tensorflow==2.1\n", "two/requirements.txt": "tensorflow==2.2\n"})
    decision = era_of_project("../one/examples/train.py", folder=str(tmp_path / "two"))
    assert decision.reason == "setup.py has tensorflow==1.14"


def test_a_reason_is_said_once(tmp_path):
    (tmp_path / "train.py").write_text("import keras\nmodel.fit(x, y, nb_epoch=2)\n")
    reason = era_of_project(script=str(tmp_path / "train.py")).reason
    assert reason == "it uses nb_epoch of Keras 1, which Keras 2.2.4 still takes"


def test_the_choice_says_what_to_do_if_it_is_wrong(tmp_path):
    script = str(project(tmp_path, {"train.py": TF}) / "train.py")
    assert era_of_project(script).hint == "if it was written for TensorFlow 1, add --era tf.keras-1.15"
    (tmp_path / "train.py").write_text(KERAS)
    assert era_of_project(script).hint == "if it was written for Keras 2.3, add --era keras-2.3"


@pytest.mark.parametrize(
    ("source", "uses"),
    [
        ("import keras\n", {"keras"}),
        ("from tensorflow.keras import layers\n", {"tf.keras"}),
        ("import keras\n" + TF, {"keras", "tf.keras", "tf"}),
        ("import tensorflow as tf\ntf.contrib.rnn\ntf.layers.dense\n", {"tf", "tf.contrib", "tf.layers"}),
    ],
)
def test_which_originals_are_used(source, uses):
    assert era_of_project(code=source).uses == uses


@pytest.mark.parametrize(
    ("files", "tensorflow"),
    [
        ({"train.py": KERAS}, 1),
        ({"train.py": KERAS, "requirements.txt": "keras==2.3.1\n"}, 1),
        ({"train.py": KERAS, "requirements.txt": "keras==2.3.1\ntensorflow==2.0.0\n"}, 2),
        ({"train.py": TF}, 2),
        ({"train.py": TF + "tf.Session()\n"}, 1),
    ],
)
def test_which_tensorflow(files, tensorflow, tmp_path):
    assert era_of_project("train.py", folder=str(project(tmp_path, files))).tensorflow == tensorflow


def test_code_and_modules(tmp_path):
    project(tmp_path, {"requirements.txt": "tensorflow==1.14\n", "tool/__init__.py": "", "tool/train.py": TF})
    folder = str(tmp_path)
    assert era_of_project(code=TF, folder=folder).reason == "requirements.txt has tensorflow==1.14"
    assert era_of_project(code="import tool.train", folder=folder).era == "tf.keras-1.15"
    assert era_of_project(module="tool.train", folder=folder).era == "tf.keras-1.15"
    (tmp_path / "tool" / "__main__.py").write_text("from . import train\n")
    assert era_of_project(module="tool", folder=folder).era == "tf.keras-1.15"
    assert era_of_project(script="tool", folder=folder).era == "tf.keras-1.15"
    # A runner imports no Keras; the project does.
    assert era_of_project(module="pytest", folder=folder).reason.startswith("__main__.py imports no Keras, train.py")


def test_an_installed_package_that_uses_keras(tmp_path, monkeypatch):
    project(tmp_path / "site", {"keras_old/__init__.py": "", "keras_old/layers.py": KERAS})
    monkeypatch.syspath_prepend(str(tmp_path / "site"))
    project(tmp_path / "own", {"train.py": "import keras_old\n"})
    decision = era_of_project("train.py", folder=str(tmp_path / "own"))
    assert (decision.era, decision.uses) == (Era.KERAS_2_2_4, {"keras"})
    assert decision.reason.startswith("train.py imports no Keras, keras_old does")
    project(tmp_path / "site", {"keras_old/train.py": "import keras_old.layers\n"})
    assert era_of_project(module="keras_old.train", folder=str(tmp_path / "own")).era == Era.KERAS_2_2_4


def test_the_date_of_its_files(tmp_path):
    script = project(tmp_path, {"train.py": TF}) / "train.py"
    for day, era in ((1_514_764_800, "tf.keras-1.15"), (1_600_000_000, "tf.keras-2.2")):  # 2018-01-01, 2020-09-13
        os.utime(script, (day, day))
        assert era_of_project(str(script)).era == era
    os.utime(script, (315_532_800, 315_532_800))  # 1980: what archives without dates give
    assert era_of_project(str(script)).era == "tf.keras-2.2"


def commit(folder, date):
    environment = {**os.environ, "GIT_COMMITTER_DATE": date, "GIT_AUTHOR_DATE": date}
    git = ["git", "-C", str(folder), "-c", "user.name=a", "-c", "user.email=a@b"]
    subprocess.run([*git, "add", "."], check=True, env=environment)
    subprocess.run([*git, "commit", "-q", "--allow-empty", "-m", "x"], check=True, env=environment)


@pytest.mark.parametrize(
    ("source", "dates", "era", "words"),
    [
        (TF, ["2018-05-01"], "tf.keras-1.15", "its last commit is of 2018-05-01, before TensorFlow 2"),
        (KERAS, ["2017-05-01", "2019-06-07"], "keras-2.2.4", "its last commit is of 2019-06-07, before Keras 2.3"),
        (TF, ["2019-06-07"], "tf.keras-1.15?", "its last commit is of 2019-06-07"),  # TensorFlow 2 had its beta
        (KERAS, ["2020-01-10", "2020-03-01"], "keras-2.3?", "its first commit is of 2020-01-10"),
        (KERAS, ["2018-05-01", "2020-03-01"], "keras-2.2.4?", "nothing says"),
    ],
)
def test_the_dates_of_its_commits(source, dates, era, words, tmp_path):
    project(tmp_path, {"below/train.py": source})
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    for date in dates:
        commit(tmp_path, f"{date}T12:00:00+0000")
    decision = era_of_project(str(tmp_path / "below" / "train.py"))
    assert decision.era.value + "?" * (not decision.certain) == era, decision
    assert words in decision.reason


def test_a_clone_without_history_was_not_begun_by_its_last_commit(tmp_path):
    project(tmp_path / "whole", {"train.py": KERAS})
    subprocess.run(["git", "init", "-q", str(tmp_path / "whole")], check=True)
    for date in ("2018-05-01", "2020-03-01"):
        commit(tmp_path / "whole", f"{date}T12:00:00+0000")
    source = (tmp_path / "whole").as_uri()
    subprocess.run(["git", "clone", "-q", "--depth=1", source, str(tmp_path / "clone")], check=True)
    assert "nothing says" in era_of_project(str(tmp_path / "clone" / "train.py")).reason


def test_odd_files_do_no_harm(tmp_path):
    project(
        tmp_path,
        {
            "train.py": b"\xef\xbb\xbfimport keras\nx = '\xff\xfe'\n",
            "README.md": bytes(range(256)) * 99,
            "setup.py": b"\xff" * 999 + b"\nkeras==2.3.1\n",
            "pyproject.toml": b"",
            "Pipfile.lock": b"{" * 99_999,
            "other.py": b"(" * 99_999,
            "LICENSE": b"Copyright 20\xff",
            "Dockerfile/requirements.txt": b"",
            ".git/HEAD": b"nothing",
        },
    )
    os.mkfifo(tmp_path / "requirements.txt")
    (tmp_path / "environment.yml").symlink_to("environment.yml")
    (tmp_path / "loop").symlink_to(".")
    (tmp_path / "deep.py").write_text("import keras\nif " + "1 + " * 3000 + "1:\n    pass\n")
    assert era_of_project(str(tmp_path / "train.py")).reason == "setup.py has keras==2.3.1"
    assert era_of_project(str(tmp_path / "deep.py")).era == Era.KERAS_2_3
    for name in ("missing.py", "other.py"):
        assert era_of_project(str(tmp_path / name), folder=str(tmp_path)).era == Era.KERAS_2_3
    (tmp_path / "empty.ipynb").write_text('{"cells": [{"cell_type": "code"}, 3], "metadata": []}')
    assert era_of_project(str(tmp_path / "empty.ipynb")).era == Era.KERAS_2_3


def test_data_and_environments_are_not_looked_into(tmp_path):
    for folder in ("venv", "node_modules", "data", ".cache"):
        project(tmp_path, {f"{folder}/requirements.txt": "tensorflow==1.14\n", f"{folder}/a.py": TF + "tf.Session()\n"})
    project(tmp_path, {"train.py": TF})
    assert "nothing says" in era_of_project(str(tmp_path / "train.py")).reason


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("README.md", "](" * 150_000),
        ("README.md", "tensorflow " * 30_000),
        ("requirements.txt", "\n" * 300_000 + "keras" + " " * 90_000),
        ("setup.py", '"tensorflow": {' * 20_000),
        ("train.py", "import keras\nprint 'x'\n" + "from a import (\n" * 20_000),
    ],
)
def test_long_files_take_no_time(name, text, tmp_path):
    project(tmp_path, {"train.py": KERAS, name: text})
    start = time.process_time()
    assert era_of_project(str(tmp_path / "train.py")).era == Era.KERAS_2_2_4
    assert time.process_time() - start < 3


def test_a_folder_of_many_files_is_decided_on_in_a_second(tmp_path):
    source = TF + "def f(x):\n    return tf.keras.layers.Dense(3)(x) + 1\n" * 40
    for number in range(5_000):
        folder = tmp_path / f"part{number % 50}"
        folder.mkdir(exist_ok=True)
        (folder / f"file{number}.{'py' if number % 2 else 'png'}").write_text(source)
    (tmp_path / "train.py").write_text(TF)
    code = (
        "import sys, time\nfrom parallel_compat.names.project_era import era_of_project\n"
        "start = time.process_time()\nprint(era_of_project('train.py').era)\n"
        "print(time.process_time() - start, 'tensorflow' in sys.modules, 'keras' in sys.modules)\n"
    )
    ran = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)
    era, seconds, *imported = ran.stdout.split()
    assert era == "tf.keras-2.2"
    assert float(seconds) < 1
    assert imported == ["False", "False"]
