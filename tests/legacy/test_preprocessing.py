"""Functions and iterators that prepare data, with what old code says to them."""

from __future__ import annotations

import keras
import numpy as np

import parallel_compat.legacy.preprocessing
from parallel_compat import evaluate_generator, fit_generator, predict_generator
from parallel_compat.legacy import layers


def test_an_iterator_of_pictures_knows_its_length():
    """It has `next` as well, but it is no endless generator: `fit_generator` needs no number of batches."""
    from tensorflow.keras.preprocessing.image import ImageDataGenerator

    images, labels = np.random.rand(5, 4, 4, 1), np.arange(5.0)
    batches = ImageDataGenerator(horizontal_flip=True).flow(images, labels, batch_size=2)
    model = keras.Sequential([layers.Flatten(), layers.Dense(1)])
    model.compile("sgd", "mse")
    seen = []
    count = keras.callbacks.LambdaCallback(on_train_batch_end=lambda batch, logs: seen.append(batch))
    fit_generator(model, batches, epochs=2, verbose=0, workers=2, callbacks=[count])
    assert seen == [0, 1, 2] * 2
    assert len(predict_generator(model, ImageDataGenerator().flow(images, batch_size=2))) == 5
    assert np.isfinite(evaluate_generator(model, batches))


# The mean label of each batch that Keras 2.2.4 trained on, after `np.random.seed(3)`.
LABELS = {False: [3.5, 11.5, 19.5, 3.5, 11.5, 19.5], True: [12.375, 11.75, 10.375, 11.875, 9.875, 12.75]}


def test_load_img_takes_grayscale(tmp_path):
    from keras.preprocessing import image

    from parallel_compat.legacy.preprocessing import load_img

    path = str(tmp_path / "red.png")
    keras.utils.save_img(path, np.full((2, 2, 3), [255, 0, 0]))
    assert (
        load_img(path, grayscale=True).mode
        == parallel_compat.legacy.preprocessing.load_img(path, grayscale=True).mode
        == "L"
    )
    assert load_img(path).mode == load_img(path, "rgb").mode == "RGB"
    assert image.load_img(path, target_size=(5, 4)).size == (4, 5)


def test_sparse_matrices_are_trained_on_batch_by_batch():
    from scipy.sparse import csr_matrix

    x = np.random.RandomState(1).normal(size=(7, 5)) * (np.random.RandomState(2).uniform(size=(7, 5)) > 0.5)
    y, results = np.arange(7.0)[:, None], []
    for given in (x, csr_matrix(x)):
        model = keras.models.Sequential([layers.Dense(1, input_shape=(5,), kernel_initializer="ones")])
        model.compile("sgd", "mse", metrics=["mae"])
        np.random.seed(3)
        history = model.fit(given, y, batch_size=3, epochs=2, verbose=0, validation_split=0.3).history
        results.append([*history["loss"], *history["val_loss"], *model.evaluate(given, y, batch_size=3, verbose=0)])
        results[-1] += np.ravel(model.predict(given, batch_size=2)).tolist()
    np.testing.assert_allclose(results[0], results[1], rtol=1e-6)
