"""Targets of another shape than their output's: which of them each era refused, as the real stacks answered."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import parallel_compat

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

KERAS, TF_1, TF_2 = "keras-2.2.4", "tf.keras-1.15", "tf.keras-2.2"
X = np.linspace(0, 1, 30).reshape(6, 5).astype("float32")

# Output, loss, shape of the targets, and the eras that refused them.
TABLE: tuple[tuple[int, str, tuple[int, ...], set[str]], ...] = (
    (4, "mse", (6,), {KERAS, TF_1}),
    (4, "mse", (6, 1), {KERAS, TF_1}),
    (4, "mse", (6, 4), set()),
    (4, "mae", (6,), {KERAS}),
    (4, "mae", (6, 1, 4), {KERAS}),
    (4, "binary_crossentropy", (6, 1), {KERAS, TF_1}),
    (4, "categorical_crossentropy", (6,), {KERAS, TF_1, TF_2}),
    (4, "categorical_crossentropy", (6, 1, 4), {KERAS, TF_1, TF_2}),
    (1, "categorical_crossentropy", (6, 4), {KERAS, TF_1, TF_2}),
    (1, "categorical_crossentropy", (6, 1), {KERAS, TF_1}),
    (4, "categorical_crossentropy", (6, 4), set()),
    (4, "sparse_categorical_crossentropy", (6,), set()),
    (1, "hinge", (6, 4), {KERAS}),
    (1, "mse", (6,), set()),
)


def _ones(shape: tuple[int, ...]) -> Any:
    return np.ones(shape, "float32")


def _model(era: str, units: int, loss: Any) -> Any:
    if era == KERAS:
        from keras.layers import Dense
        from keras.models import Sequential
    else:
        from tensorflow.keras import Sequential
        from tensorflow.keras.layers import Dense
    model = Sequential([Dense(units, input_shape=(5,), name="out")])
    model.compile("sgd", loss)
    return model


@pytest.mark.parametrize("era", [KERAS, TF_1, TF_2])
def test_each_loss_takes_the_targets_that_it_took(era: str) -> None:
    with parallel_compat.legacy_names(era=era):
        for units, loss, shape, refused in TABLE:
            model = _model(era, units, loss)
            if era in refused:
                with pytest.raises(ValueError, match="'out'"):
                    model.train_on_batch(X, _ones(shape))
            else:
                model.test_on_batch(X, _ones(shape))


def _batches(y: Any) -> Iterator[Any]:
    while True:
        yield X, y


ENTRIES: dict[str, Callable[[Any, Any], Any]] = {
    "fit": lambda model, y: model.fit(X, y, verbose=0),
    "evaluate": lambda model, y: model.evaluate(X, y, verbose=0),
    "test_on_batch": lambda model, y: model.test_on_batch(X, y),
    "validation_data": lambda model, y: model.fit(X, _ones((6, 4)), validation_data=(X, y), verbose=0),
    "fit_generator": lambda model, y: model.fit_generator(_batches(y), steps_per_epoch=1, verbose=0),
    "evaluate_generator": lambda model, y: model.evaluate_generator(_batches(y), steps=1),
}


@pytest.mark.parametrize("era", [KERAS, TF_1])
@pytest.mark.parametrize("entry", ENTRIES)
def test_every_way_to_give_targets_refuses_them(era: str, entry: str) -> None:
    with parallel_compat.legacy_names(era=era):
        model = _model(era, 4, "mse")
        with pytest.raises(ValueError, match=r"expected 'out' to have shape \(None, 4\)"):
            ENTRIES[entry](model, _ones((6,)))
        ENTRIES[entry](model, _ones((6, 4)))


def test_of_a_loss_of_the_users_nothing_is_assumed() -> None:
    with parallel_compat.legacy_names(era=KERAS):
        from keras import backend as K

        def difference(y_true: Any, y_pred: Any) -> Any:
            return K.mean(y_true - y_pred, axis=-1)

        model = _model(KERAS, 4, difference)
        assert np.isfinite(model.test_on_batch(X, _ones((6,))))


def test_of_a_dataset_the_declared_shape_is_looked_at() -> None:
    with parallel_compat.legacy_names(era=TF_2):
        import tensorflow as tf

        model = _model(TF_2, 4, "categorical_crossentropy")
        ids, one_hot = (tf.data.Dataset.from_tensor_slices((X, _ones(shape))).batch(3) for shape in ((6,), (6, 4)))
        with pytest.raises(ValueError, match=r"to_categorical|expected 'out'"):
            model.fit(ids, verbose=0)
        model.fit(one_hot, verbose=0)


@pytest.mark.parametrize("as_dict", [False, True])
def test_of_several_outputs_the_one_is_named(as_dict: bool) -> None:
    with parallel_compat.legacy_names(era=KERAS):
        from keras.layers import Dense, Input
        from keras.models import Model

        inputs = Input((5,))
        model = Model(inputs, [Dense(4, name="first")(inputs), Dense(2, name="second")(inputs)])
        model.compile("sgd", {"first": "mse", "second": "mae"} if as_dict else ["mse", "mae"])
        names = ("first", "second")
        right, wrong = [_ones((6, 4)), _ones((6, 2))], [_ones((6, 4)), _ones((6,))]
        model.train_on_batch(X, dict(zip(names, right, strict=True)) if as_dict else right)
        with pytest.raises(ValueError, match="expected 'second'"):
            model.train_on_batch(X, dict(zip(names, wrong, strict=True)) if as_dict else wrong)


def test_a_parallel_model_refuses_them_too() -> None:
    with parallel_compat.legacy_names(era=KERAS):
        from keras.utils import multi_gpu_model

        model = multi_gpu_model(_model(KERAS, 4, "mse"), gpus=2)
        model.compile("sgd", "mse")
        with pytest.raises(ValueError, match="expected"):
            model.train_on_batch(X, _ones((6,)))
        with pytest.raises(ValueError, match="expected"):
            model.fit_generator(_batches(_ones((6,))), steps_per_epoch=1, verbose=0)
        model.train_on_batch(X, _ones((6, 4)))


@pytest.mark.parametrize("era", [KERAS, TF_1, TF_2])
def test_a_model_is_called_on_pictures_of_another_size(era: str) -> None:
    """Recorded: in a model all took them; as arrays for the model itself TensorFlow 2.2 alone."""
    with parallel_compat.legacy_names(era=era):
        if era == KERAS:
            from keras.layers import Conv2D, Dense, Input
            from keras.models import Model
        else:
            from tensorflow.keras.layers import Conv2D, Dense, Input
            from tensorflow.keras.models import Model

        x = Input((4, 4, 1))
        small = Model(x, Conv2D(1, 3, padding="same", kernel_initializer="ones")(x))
        for sizes in ((None, None), (6, 6)):
            larger = Input((*sizes, 1))
            outputs = small(larger)
            assert tuple(outputs.shape) == (None, *sizes, 1)
            assert Model(larger, outputs).predict(_ones((1, 6, 6, 1)), verbose=0).sum() == 256.0
        if era == TF_2:
            assert small.predict(_ones((1, 6, 6, 1)), verbose=0).sum() == 256.0
        else:
            with pytest.raises(ValueError, match=r"4, 4, 1"):
                small.predict(_ones((1, 6, 6, 1)), verbose=0)

        four = Input((4,))
        dense = Model(four, Dense(2)(four))
        with pytest.raises(ValueError, match="dense"):
            dense(Input((5,)))
