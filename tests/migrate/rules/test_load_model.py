from __future__ import annotations

import pytest

from tests.migrate.check import check_noop, check_transformed, found


@pytest.mark.parametrize("path", ["'m.h5'", "'m.hdf5'", "folder + '/m.h5'"])
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
    assert found("from keras.models import model_from_json\nmodel_from_json(t)\n", "load-model") == [(2, "attention")]


def test_an_unknown_name_elsewhere_is_a_hint():
    assert found("from keras.models import load_model\nload_model(path)\n", "load-model") == [(2, "attention")]


@pytest.mark.parametrize(
    "source",
    [
        "from keras.models import load_model\nload_model('m.keras')\n",
        "from joblib import load_model\nimport keras\nload_model('m.h5')\n",
    ],
)
def test_leaves_alone(source):
    check_noop(source, rule="load-model")
