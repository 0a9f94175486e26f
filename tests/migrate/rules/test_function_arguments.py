from __future__ import annotations

import pytest

from tests.migrate.check import check_noop, check_transformed


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("from keras.regularizers import l2\nl2(l=0.1)\n", "from keras.regularizers import l2\nl2(l2=0.1)\n"),
        (
            "from keras.utils import to_categorical\nto_categorical(y=y, num_classes=3)\n",
            "from keras.utils import to_categorical\nto_categorical(x=y, num_classes=3)\n",
        ),
        (
            "from keras.preprocessing.image import load_img\nload_img(p, False, target_size=(3, 3))\n",
            "from keras.preprocessing.image import load_img\nload_img(p, target_size=(3, 3))\n",
        ),
        (
            "from keras.preprocessing.image import load_img\nload_img(p, grayscale=True)\n",
            "from parallel_compat.legacy.preprocessing import load_img\nload_img(p, grayscale=True)\n",
        ),
        (
            "from keras.utils.vis_utils import plot_model\nplot_model(m, 'm.png', True, False)\n",
            "from keras.utils import plot_model\nplot_model(m, 'm.png', True, show_layer_names=False)\n",
        ),
    ],
)
def test_rewrites(before, after):
    check_transformed(before, after)


@pytest.mark.parametrize(
    "source",
    [
        "from keras.regularizers import l2\nl2(1e-4)\n",
        "from keras.utils import load_img\nload_img(p, 'rgb')\n",
        "import keras\ndef l2(l): pass\nl2(l=3)\n",
    ],
)
def test_leaves_alone(source):
    check_noop(source)


def test_arguments_of_the_backend_of_keras_1():
    check_transformed(
        "from parallel_compat.legacy import backend as K\nx = K.random_normal((2,), std=0.1)\n"
        "y = K.conv2d(x, z, border_mode='same', dim_ordering='th')\n",
        "from parallel_compat.legacy import backend as K\nx = K.random_normal((2,), stddev=0.1)\n"
        "y = K.conv2d(x, z, padding='same', data_format='channels_first')\n",
    )


def test_pictures_of_keras_1():
    check_transformed(
        "from keras.preprocessing import image\nmade = image.ImageDataGenerator(rescale=2, dim_ordering='tf')\n",
        "from tensorflow.keras.preprocessing import image\n"
        "made = image.ImageDataGenerator(rescale=2, data_format='channels_last')\n",
    )
