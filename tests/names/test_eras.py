"""What a source says of its era, and what follows from it for a file of a project."""

from __future__ import annotations

import pytest

from parallel_compat.names import eras
from parallel_compat.names.eras import Era
from parallel_compat.names.evidence import evidence_of_source, together
from parallel_compat.names.project_sources import of_project

SOURCES = {
    "import keras": "keras-2.2.4",
    "from keras.layers.core import Dense": "keras-2.2.4",
    "try:\n    import keras\nexcept ImportError:\n    from tensorflow import keras": "keras-2.2.4",
    "import keras\nfrom tensorflow.keras.utils import Sequence": "keras-2.2.4",
    "import keras\nm = keras.metrics.AUC()": "keras-2.3",
    "import keras\nm = keras.losses.MSE": "keras-2.2.4",  # functions that had names in capitals
    "from keras.losses import KLD, MAPE": "keras-2.2.4",
    "from keras.metrics import K, MSLE": "keras-2.2.4",
    "from keras.losses import Huber": "keras-2.3",
    "from keras.metrics import binary_accuracy": "keras-2.2.4",
    "from keras.callbacks.callbacks import History": "keras-2.3",
    "from tensorflow.keras.metrics import AUC": "tf.keras-2.2",
    "from tensorflow.keras.layers import Dense": "tf.keras-2.2",
    "import tensorflow as tf\nmodel = tf.keras.Sequential()": "tf.keras-2.2",
    "import tensorflow as tf\nK = tf.keras.backend\ntf.compat.v1.logging.set_verbosity(1)": "tf.keras-2.2",
    "import tensorflow as tf\nK = tf.keras.backend\ntf.losses.mean_squared_error": "tf.keras-2.2",
    "from tensorflow import keras\nimport tensorflow as T\ndef f():\n    T.Session()": "tf.keras-1.15",
    "import tensorflow as tf\nK = tf.keras.backend\nx = tf.placeholder(tf.float32)": "tf.keras-1.15",
    "from tensorflow.contrib import keras": "tf.keras-1.15",
    "import tensorflow as tf\nK = tf.keras.backend\ny = tf.reduce_sum(x, keepdims=True)": "tf.keras-2.2",
    "from tensorflow.keras.layers import CuDNNLSTM": "tf.keras-1.15",
    "import tensorflow.keras.backend as K\nK.set_session(None)": "tf.keras-1.15",
    "import tensorflow as tf\ntf.compat.v1.keras.backend.set_session(None)\ntf.keras.Sequential()": "tf.keras-2.2",
    "from tensorflow.compat.v1.keras.layers import LSTM": "tf.keras-1.15",
    "import tensorflow.compat.v1 as tf\ntf.disable_v2_behavior()\ntf.keras.Sequential()": "tf.keras-1.15",
    "# import keras\ntext = '''\nimport keras\n'''": None,
    "import tensorflow as tf\ntf.Session()": None,
    "import keras_applications, keras_preprocessing\nfrom keras_contrib.layers import CRF": None,
    "from .keras import model\nfrom my import keras": None,
    "class tf:\n    keras = 1\ntf.keras": None,
    "print 'Python 2'": None,
}


@pytest.mark.parametrize("source", SOURCES)
def test_of_a_source(source):
    said = eras.verdict(evidence_of_source(source))
    assert (said.era if said else None) == SOURCES[source]


@pytest.mark.parametrize(
    "call", ["tf.reduce_sum(x, -1, keep_dims=True)", "tf.nn.softmax(x, dim=1)", "tf.expand_dims(x, dim=1)"]
)
def test_of_a_source_that_gives_arguments_which_tensorflow_2_refuses(call):
    # TensorFlow 2.2.3: TypeError, an unexpected keyword argument.
    source = f"import tensorflow as tf\nfrom tensorflow.keras.layers import Dense\ndef f(x):\n    return {call}\n"
    said = eras.verdict(evidence_of_source(source))
    argument = "keep_dims" if "keep_dims" in call else "dim"
    assert said == (Era.TF_KERAS_1_15, f"tf.keras with {call.partition('(')[0]}({argument}=)")


@pytest.mark.parametrize("call", ["Adam(learning_rate=0.1)", "keras.optimizers.Adam(learning_rate=0.1)"])
def test_of_a_source_that_gives_an_optimizer_what_keras_2_2_refused(call):
    # Keras 2.2.4: "Unexpected keyword argument passed to optimizer: learning_rate".
    said = eras.verdict(evidence_of_source(f"import keras\nfrom keras.optimizers import Adam\noptimizer = {call}\n"))
    assert said == (Era.KERAS_2_3, "imports keras, with keras.optimizers.Adam(learning_rate=)")
    assert eras.verdict(evidence_of_source("from keras.optimizers import Adam\nAdam(lr=0.1)")).era == "keras-2.2.4"


# What follows `import keras` and `model.compile("sgd", "mse", metrics=["accuracy"])`, and the era that it proves. Keras
# 2.2.4 logged "acc", which Keras 2.3.1 did not; a callback's `monitor` that is not logged was a warning in both.
OF_ACCURACY = {
    "plot(history.history['val_accuracy'])": "keras-2.3",
    "history = model.fit(x, y)\nplot(history.history['accuracy'], label='acc')": "keras-2.3",
    "plot(fit().history['acc' if old else 'accuracy'])": "keras-2.2.4",
    "plot(h.history['accuracy'] if new else h.history['acc'])": "keras-2.2.4",
    "plot(h.history.get('acc') or h.history['accuracy'])": "keras-2.2.4",
    "plot(scores['accuracy'])": "keras-2.2.4 --era",
    "if logs.get('accuracy'):\n    pass": "keras-2.2.4 --era",
    "keras.callbacks.ModelCheckpoint(path, 'val_accuracy')": "keras-2.2.4 --era",
    "keras.callbacks.EarlyStopping(monitor='val_accuracy')": "keras-2.2.4 --era",
    "keras.callbacks.EarlyStopping(monitor='val_acc')": "keras-2.2.4",
}


@pytest.mark.parametrize("source", OF_ACCURACY)
def test_of_a_source_that_reads_accuracy_by_the_name_of_keras_2_3(source):
    start = 'import keras\nmodel.compile("sgd", "mse", metrics=["accuracy"])\n'
    said = eras.verdict(evidence_of_source(start + source))
    assert said.era.value + " --era" * ("add --era keras-2.3" in said.reason) == OF_ACCURACY[source]
    # A function of the user's, or a layer, may be called so.
    said = eras.verdict(evidence_of_source(start.replace('"accuracy"', "accuracy") + source))
    assert said == (Era.KERAS_2_2_4, "imports keras")
    of_tf = evidence_of_source((start + source).replace("import keras", "from tensorflow import keras"))
    assert eras.verdict(of_tf).era == Era.TF_KERAS_2_2


def test_accuracy_is_asked_for_and_read_in_two_files_or_cells():
    asks = evidence_of_source('import keras\nmodel.compile("sgd", "mse", metrics=["accuracy"])\n')
    reads = evidence_of_source("plot(h.history['accuracy'])\n")
    assert eras.verdict(asks, [("plot.py", reads)]).era == Era.KERAS_2_3
    assert eras.verdict(together((asks, reads))).era == Era.KERAS_2_3


def test_one_keras_is_installed_for_all_files_of_a_project(tmp_path):
    (tmp_path / "scores.py").write_text("from keras.metrics import AUC\n")
    (tmp_path / "train.py").write_text("import keras, scores\n")
    project = [(file[len(str(tmp_path)) + 1 :], said) for file, said in of_project(str(tmp_path / "train.py"))]
    assert eras.verdict(dict(project)["train.py"], project) == (
        Era.KERAS_2_3,
        "imports keras, and keras.metrics.AUC in scores.py",
    )


def test_of_a_file_it_is_said_by_the_project_where_the_file_does_not(tmp_path):
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "__init__.py").write_text("")
    (tmp_path / "lib" / "model.py").write_text("from tensorflow.keras.layers import Dense\n")
    (tmp_path / "lib" / "session.py").write_text("import tensorflow as tf\nsession = tf.Session()\n")
    (tmp_path / "lib" / "helper.py").write_text("from . import session\n")
    (tmp_path / "train.py").write_text("from lib import helper, model\nimport numpy\n")
    (tmp_path / "other.py").write_text("import keras\n")
    project = [(file[len(str(tmp_path)) + 1 :], said) for file, said in of_project(str(tmp_path / "train.py"))]
    assert {file for file, _ in project} == {
        "train.py", "lib/__init__.py", "lib/model.py", "lib/session.py", "lib/helper.py"
    }  # fmt: skip
    said = dict(project)
    assert eras.verdict(said["lib/model.py"], project) == (
        Era.TF_KERAS_1_15,
        "tf.keras, and tf.Session in lib/session.py",
    )
    assert eras.verdict(said["lib/helper.py"], project) == (
        Era.TF_KERAS_1_15,
        "imports no Keras: as lib/model.py",
    )


def test_a_file_with_a_name_of_tensorflow_2_alone_is_of_2_whatever_others_say():
    """TensorFlow 1.15.5: "module 'tensorflow' has no attribute 'optimizers'"."""
    said = evidence_of_source("import tensorflow as tf\nmodel = tf.keras.Sequential()\ntf.optimizers.SGD()\n")
    other = evidence_of_source("import tensorflow as tf\nx = tf.placeholder(tf.float32)\n")
    assert eras.verdict(said, [("old.py", other)]) == (Era.TF_KERAS_2_2, "tf.keras with tf.optimizers")
    beside = evidence_of_source("from tensorflow.keras.layers import LSTM\n")
    assert eras.verdict(beside, [("old.py", other)]).era == Era.TF_KERAS_1_15
    assert eras.verdict(beside, [("old.py", other), ("new.py", said)]).era == Era.TF_KERAS_2_2
