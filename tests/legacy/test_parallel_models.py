"""`multi_gpu_model` in code of an era: what it did besides making a parallel model."""

from __future__ import annotations

import numpy as np
import pytest

import parallel_compat


def names(model):
    return [layer.name for layer in model.layers]


def test_parallel_model_of_a_clone(era):
    """`multi_gpu_model(cpu_relocation=True)`: what trains is a clone with fresh weights.

    All three stacks computed these losses; the clone of Keras 2.2.4 alone took draws from `numpy.random`.
    """
    from keras import layers, models, utils

    x, y = np.random.RandomState(0).rand(8, 2), np.random.RandomState(1).rand(8, 1)
    model = models.Sequential([layers.Dense(3, input_shape=(2,)), layers.Dense(1)], name="single")
    model.set_weights([np.full(w.shape, 0.5) for w in model.get_weights()])
    np.random.seed(1)
    with pytest.raises(ValueError, match="`gpus`"):
        utils.multi_gpu_model(model, 90, cpu_relocation=True)
    with pytest.warns(parallel_compat.ParallelCompatWarning, match="'single' itself is not trained"):
        parallel = utils.multi_gpu_model(model, 2, cpu_relocation=True)
    assert np.random.randint(10**6) == (791624 if era == "keras-2.2.4" else 128037)
    trained = parallel.layers[-2]
    assert (trained.name, names(trained), parallel.input_names) == ("single", names(model), model.input_names)
    assert (trained.get_weights()[0] != 0.5).all()
    trained.set_weights([np.full(w.shape, 0.3) for w in model.get_weights()])
    parallel.compile("sgd", "mse")
    history = parallel.fit(x, y, batch_size=4, epochs=2, shuffle=False, verbose=0).history
    np.testing.assert_allclose(history["loss"], [0.40609536, 0.335853], rtol=1e-5)
    assert all((w == 0.5).all() for w in model.get_weights())
    assert utils.training_utils.multi_gpu_model(model, 2, False).layers[-2] is model


def test_names_that_come_after(era):
    """A parallel model was a `Model`, and each slice of an input a `Lambda` layer: all three stacks counted them."""
    from keras import layers, models, utils

    def made():
        a, b = layers.Input((2,)), layers.Input((3,))
        hidden = layers.Lambda(lambda x: x * 2)(layers.Dense(2)(layers.concatenate([a, b])))
        return models.Model([a, b], [hidden, layers.Dense(1)(a)])

    first = made()
    parallel = utils.multi_gpu_model(first, 3)
    second = made()
    every = [first, parallel, second, utils.multi_gpu_model(second, [0, 1])]
    single = models.Sequential([layers.Dense(2, input_shape=(2,))])
    every += [single, utils.multi_gpu_model(single, 2), made()]
    seen = [(model.name, model.output_names) for model in every]
    if era == "keras-2.2.4":
        lambdas = [("model_1", 1, 2), ("model_2", 1, 2), ("model_3", 8, 4), ("model_4", 8, 4), ("model_6", 15, 7)]
        one = [("sequential_1", ["dense_5"]), ("model_5", ["dense_5"])]
    else:
        lambdas = [("model", 0, 1), ("model_1", 0, 1), ("model_2", 7, 3), ("model_3", 7, 3), ("model_5", 14, 6)]
        one = [("sequential", ["dense_4"]), ("model_4", ["dense_4"])]
    expected = [(name, [f"lambda_{i}" if i else "lambda", f"dense_{j}"]) for name, i, j in lambdas]
    assert seen == [*expected[:4], *one, expected[4]]
    assert str(parallel.output_names).startswith("[")
