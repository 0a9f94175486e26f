"""Functions and iterators that prepare data, with what old code says to them."""

from __future__ import annotations

import keras
import numpy as np
import pytest

pytestmark = pytest.mark.usefixtures("legacy_names")


def test_iterators_have_the_next_of_python_2():
    from keras.preprocessing.image import ImageDataGenerator

    images = np.zeros((4, 3, 3, 1))
    batches = ImageDataGenerator().flow(images, np.arange(4), batch_size=3, shuffle=False)
    assert [batches.next()[1].tolist(), next(batches)[1].tolist()] == [[0, 1, 2], [3]]


def test_load_img_takes_grayscale(tmp_path):
    from keras.preprocessing import image
    from keras.preprocessing.image import load_img

    path = str(tmp_path / "red.png")
    keras.utils.save_img(path, np.full((2, 2, 3), [255, 0, 0]))
    assert load_img(path, grayscale=True).mode == image.load_img(path, True).mode == "L"
    assert load_img(path).mode == load_img(path, "rgb").mode == "RGB"
    assert image.load_img(path, target_size=(5, 4)).size == (4, 5)


@pytest.mark.parametrize("keywords", [{"num_classes": 3}, {"nb_classes": 3}, {"num_classes": 3, "dtype": "int32"}])
def test_to_categorical_takes_its_old_arguments(keywords):
    from keras.utils import np_utils, to_categorical

    rows = to_categorical(y=[0, 1], **keywords)
    np.testing.assert_array_equal(rows, np.eye(3)[:2])
    assert rows.dtype == keywords.get("dtype", "float32")
    np.testing.assert_array_equal(np_utils.to_categorical([0, 1], 3), rows)
    np.testing.assert_array_equal(to_categorical(x=[0, 1]), np.eye(2))
