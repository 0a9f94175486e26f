"""Functions and iterators that prepare data, with what old code says to them."""

from __future__ import annotations

import json

import keras
import numpy as np
import pytest

from parallel_compat.legacy import layers


def test_iterators_have_the_next_of_python_2():
    from keras.preprocessing.image import ImageDataGenerator

    images = np.zeros((4, 3, 3, 1))
    batches = ImageDataGenerator().flow(images, np.arange(4), batch_size=3, shuffle=False)
    assert [batches.next()[1].tolist(), next(batches)[1].tolist()] == [[0, 1, 2], [3]]


def test_an_iterator_of_pictures_knows_its_length():
    """It has `next` as well, but it is no endless generator: `fit_generator` needs no number of batches."""
    from keras.preprocessing.image import ImageDataGenerator

    images, labels = np.random.rand(5, 4, 4, 1), np.arange(5.0)
    batches = ImageDataGenerator(horizontal_flip=True).flow(images, labels, batch_size=2)
    model = keras.Sequential([layers.Flatten(), layers.Dense(1)])
    model.compile("sgd", "mse")
    seen = []
    count = keras.callbacks.LambdaCallback(on_batch_end=lambda batch, logs: seen.append(batch))
    model.fit_generator(batches, epochs=2, verbose=0, workers=2, callbacks=[count])
    assert seen == [0, 1, 2] * 2
    assert len(model.predict_generator(ImageDataGenerator().flow(images, batch_size=2))) == 5
    assert np.isfinite(model.evaluate_generator(batches))


# The mean label of each batch that Keras 2.2.4 trained on, after `np.random.seed(3)`.
LABELS = {False: [3.5, 11.5, 19.5, 3.5, 11.5, 19.5], True: [12.375, 11.75, 10.375, 11.875, 9.875, 12.75]}


@pytest.mark.parametrize("replicas", [1, 2])
@pytest.mark.parametrize("shuffle", [False, True])
def test_batches_of_pictures_come_in_the_order_of_next(shuffle, replicas):
    from keras.preprocessing.image import ImageDataGenerator

    labels = []
    seen = keras.callbacks.LambdaCallback(on_batch_end=lambda batch, logs: labels.append(float(logs["loss"])))
    single = keras.Sequential([layers.Flatten(input_shape=(2, 2, 1)), layers.Dense(1)])
    model = keras.utils.multi_gpu_model(single, replicas) if replicas > 1 else single
    model.compile("sgd", lambda y_true, y_pred: y_true + 0 * y_pred)
    np.random.seed(3)
    pictures = ImageDataGenerator().flow(np.zeros((24, 2, 2, 1)), np.arange(24.0)[:, None], 8, shuffle=shuffle)
    model.fit_generator(pictures, steps_per_epoch=2, epochs=3, verbose=0, callbacks=[seen])
    assert labels == LABELS[shuffle]


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


def test_normalize_divides_along_the_first_axis_as_well():
    from keras.utils import normalize, np_utils

    square = np.array([[3.0, 0.0], [4.0, 0.0]])
    for function in (normalize, keras.utils.normalize, np_utils.normalize):
        np.testing.assert_allclose(function(square, axis=0), [[0.6, 0.0], [0.8, 0.0]])
    by_rows = normalize([[3, 4], [0, 0]], order=1)
    assert isinstance(by_rows, np.ndarray)
    np.testing.assert_allclose(by_rows, [[3 / 7, 4 / 7], [0, 0]])


def test_a_generator_of_time_series_is_written_as_json():
    """As Keras 2.2.4 and its `keras_preprocessing` wrote it."""
    from keras.preprocessing.sequence import TimeseriesGenerator

    batches = TimeseriesGenerator(np.arange(5), np.arange(5), 2)
    assert batches[0][0].tolist() == [[0, 1], [1, 2], [2, 3]]
    assert json.loads(batches.to_json()) == {
        "class_name": "TimeseriesGenerator",
        "config": {
            "data": "[0, 1, 2, 3, 4]",
            "targets": "[0, 1, 2, 3, 4]",
            "length": 2,
            "sampling_rate": 1,
            "stride": 1,
            "start_index": 2,
            "end_index": 4,
            "shuffle": False,
            "reverse": False,
            "batch_size": 128,
        },
    }


def test_images_are_turned_and_zoomed_as_keras_preprocessing_did():
    from keras.preprocessing.image import ImageDataGenerator

    images = np.random.RandomState(7).uniform(size=(5, 6, 9, 3))
    recorded = (  # with keras_preprocessing 1.1.2
        ({"rotation_range": 30}, [240.187, 0.414898, 0.704225, 0.78878]),
        ({"shear_range": 25, "fill_mode": "constant"}, [194.4, 0.535346, 0.745598, 0.610602]),
        (
            {"zoom_range": 0.4, "width_shift_range": 0.2, "height_shift_range": 0.3},
            [240.149, 0.317496, 0.659183, 0.569998],
        ),
        (
            {"rotation_range": 45, "horizontal_flip": True, "channel_shift_range": 0.1},
            [220.554, 0.226777, 0.402109, 0.79645],
        ),
    )
    for given, expected in recorded:
        batch = next(ImageDataGenerator(**given).flow(images, batch_size=3, shuffle=False, seed=4))
        values = [batch.sum(), batch[0, 0, 0, 0], batch[1, 2, 7, 1], batch[2, 5, 8, 2]]
        np.testing.assert_allclose(values, expected, rtol=1e-5, err_msg=str(given))


def test_sparse_matrices_are_trained_on_batch_by_batch():
    from scipy.sparse import csr_matrix

    x = np.random.RandomState(1).normal(size=(7, 5)) * (np.random.RandomState(2).uniform(size=(7, 5)) > 0.5)
    y, results = np.arange(7.0)[:, None], []
    for given in (x, csr_matrix(x)):
        model = keras.models.Sequential([layers.Dense(1, input_shape=(5,), kernel_initializer="ones")])
        model.compile("sgd", "mse", ["mae"])
        np.random.seed(3)
        history = model.fit(given, y, batch_size=3, epochs=2, verbose=0, validation_split=0.3).history
        results.append([*history["loss"], *history["val_loss"], *model.evaluate(given, y, batch_size=3, verbose=0)])
        results[-1] += np.ravel(model.predict(given, batch_size=2)).tolist()
    np.testing.assert_allclose(results[0], results[1], rtol=1e-6)


def test_a_brighter_picture_has_its_values_spread():
    """As `keras_preprocessing` 1.1.2 (with TensorFlow 1.15 and 2.2) computed it: the least is 0 and the largest 255."""
    from keras.preprocessing.image import ImageDataGenerator, apply_brightness_shift

    picture = np.array([[[-1.0] * 3, [1.0] * 3], [[0.0] * 3, [0.5] * 3]])
    expected = [[0.0, 127.0], [63.0, 95.0]]
    np.testing.assert_array_equal(apply_brightness_shift(picture, 0.5)[:, :, 0], expected)
    made = ImageDataGenerator(brightness_range=[0.5, 0.5]).flow(picture[None], batch_size=1)
    np.testing.assert_array_equal(next(made)[0][:, :, 0], expected)


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ({"zca_epsilon": 0.1}, [-0.3083, 0.3376, -0.1488, 1.5632, -1.8101, 0.1461]),
        ({"zca_epsilon": 0.01, "rescale": 0.5}, [-0.356, 0.3978, -0.1924, 2.5557, -2.8271, 0.5854]),
    ],
)
def test_whitening(arguments, expected):
    """As `keras_preprocessing` 1.1.2 computed it for the stacks of all three eras."""
    from keras.preprocessing.image import ImageDataGenerator

    drawn = np.random.RandomState(0)
    pictures, others = drawn.normal(size=(6, 3, 3, 1)), drawn.normal(size=(2, 3, 3, 1))
    generator = ImageDataGenerator(zca_whitening=True, **arguments)
    generator.fit(pictures)
    white = next(generator.flow(others, batch_size=2, shuffle=False))
    np.testing.assert_allclose(white.ravel()[:6], expected, atol=1e-4)
    assert generator.principal_components.shape == (9, 9)
