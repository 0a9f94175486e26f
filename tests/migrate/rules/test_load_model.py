from __future__ import annotations

import keras
import pytest

from parallel_compat.legacy import models
from parallel_compat.migrate.engine import Options, analyse, applied, edits_of
from tests.migrate.check import check_noop, check_transformed, found, migrated


@pytest.mark.parametrize("path", ["'m.h5'", "'m.hdf5'", "folder + '/m.h5'", "'saved_model/net'"])
def test_old_files(path):
    check_transformed(
        f"from keras.models import Model, load_model\nm = load_model({path})\n",
        "from keras.models import Model\nfrom parallel_compat.legacy.models import load_model\n"
        f"m = load_model({path})\n",
    )


def test_under_an_attribute_chain():
    check_transformed(
        "import tensorflow as tf\nm = tf.keras.models.load_model('m.h5', compile=False)\n",
        "import tensorflow as tf\nfrom parallel_compat.legacy.models import load_model\n"
        "m = load_model('m.h5', compile=False)\n",
    )


def test_an_unknown_name_in_an_old_source():
    check_transformed(
        "from keras.models import load_model\nfrom keras.utils import multi_gpu_model\nm = load_model(path)\n",
        "from parallel_compat.legacy.models import load_model\nfrom parallel_compat import multi_gpu_model\n"
        "m = load_model(path)\n",
    )


def test_json_in_an_old_source():
    check_transformed(
        "from keras.models import model_from_json\nfrom keras.utils import multi_gpu_model\n"
        "m = model_from_json(text)\n",
        "from parallel_compat.legacy.models import model_from_json\nfrom parallel_compat import multi_gpu_model\n"
        "m = model_from_json(text)\n",
    )
    assert found("from keras.models import model_from_json\nmodel_from_json(t)\n", "load-model") == [(2, "rewritten")]


def test_an_unknown_name_elsewhere_counts_in_an_old_project():
    before = "from tensorflow import keras\nmodel = keras.models.load_model(path)\n"
    analysis = analyse(before, Options())
    assert applied(before, edits_of(analysis, hints=False)) == before
    assert applied(before, edits_of(analysis, hints=True)) == (
        "from tensorflow import keras\nfrom parallel_compat.legacy.models import load_model\nmodel = load_model(path)\n"
    )


@pytest.mark.parametrize(
    "source",
    [
        "from keras.models import load_model\nload_model('m.keras')\n",
        "from joblib import load_model\nimport keras\nload_model('m.h5')\n",
    ],
)
def test_leaves_alone(source):
    check_noop(source, rule="load-model")


PARALLEL = (
    "from keras.models import load_model\nfrom keras.utils import multi_gpu_model\n"
    "parallel = multi_gpu_model(net, gpus=2)\nparallel.save('m.h5')\nwhole = load_model('m.h5')\n"
)


def test_the_single_model_of_a_parallel_models_file():
    """The file holds the single model: `layers[-2]` of what is loaded would be one of its layers, without a word."""
    source = PARALLEL + "whole.layers[-2].summary()\nprint(parallel.layers[-2].name)\n"
    assert found(source, "load-model") == [(5, "rewritten"), (6, "unsafe")]
    assert migrated(source, unsafe=True).endswith("template_of(whole).summary()\nprint(parallel.layers[-2].name)\n")
    assert found(PARALLEL + "net = whole.get_layer('net')\n", "load-model") == [(5, "rewritten"), (6, "attention")]


def test_a_model_in_a_file_that_another_script_wrote():
    loaded = "from keras.models import load_model\nmodel = load_model('m.h5')\n"
    assert found(loaded + "model.layers[-2].save('single.h5')\n", "load-model") == [(2, "rewritten"), (3, "unsafe")]
    assert found(loaded + "x = model.layers[-2].output\nmodel.get_layer('x')\n", "load-model") == [(2, "rewritten")]
    assert found("model.layers[-2].save('a.h5')\nimport keras\n", "load-model") == []


def test_a_clone_is_not_compiled():
    """Keras 3 compiles it, and finds no function of one's own: `TypeError: Could not locate function 'loss'`."""
    check_transformed(
        "from keras.models import clone_model\nfrom keras.utils import multi_gpu_model\ntarget = clone_model(model)\n",
        "from parallel_compat.legacy.models import clone_model\nfrom parallel_compat import multi_gpu_model\n"
        "target = clone_model(model)\n",
    )

    def loss(y_true, y_pred):
        return keras.ops.mean(y_pred)

    model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(1)])
    model.compile("sgd", loss)
    clone = models.clone_model(model)
    assert not clone.compiled
    assert model.compiled
    assert [each.shape for each in clone.weights] == [each.shape for each in model.weights]


def test_the_single_model_behind_the_towers():
    """`ModelMGPU` of VGG-Speaker-Recognition resumes so."""
    source = "import keras.backend as K\nmgpu = len(K.tensorflow_backend._get_available_gpus())\n"
    assert migrated(source + "net.layers[mgpu + 1].load_weights('w.h5')\n", unsafe=True).endswith(
        "template_of(net).load_weights('w.h5')\n"
    )
    assert found(source + "net.layers[mgpu + 1].load_weights('w.h5')\n", "load-model") == [(3, "unsafe")]
    for other in ("net.layers[n + 1].load_weights('w.h5')\n", "net.layers[mgpu + 1].output\n"):
        assert found(source + other, "load-model") == []
