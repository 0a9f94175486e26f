"""Tensors in the place of data, against the same model that is fed their values."""

from __future__ import annotations

import numpy as np
import pytest

pytestmark = pytest.mark.usefixtures("legacy_names")

RANDOM = np.random.RandomState(0)
A, B = RANDOM.rand(6, 3), RANDOM.rand(6, 2)
Y = [RANDOM.rand(6, 4), RANDOM.rand(6, 2)]


def two_inputs(a, b):
    from keras.layers import Dense
    from keras.models import Model

    outputs = [Dense(4, name="first")(a), Dense(2, name="second")(b)]
    model = Model([a, b], outputs)
    model.set_weights([np.full(weight.shape, 0.5) for weight in model.get_weights()])
    return model


def test_an_input_that_is_a_variable_is_read_in_each_step():
    import tensorflow as tf
    from keras import backend as K
    from keras.layers import Input

    variable = tf.Variable(A, dtype=tf.float32)
    read = two_inputs(Input(tensor=variable), Input((2,), name="b"))
    fed = two_inputs(Input((3,)), Input((2,), name="b"))
    assert read.inputs[0].shape == (6, 3)
    for model in (read, fed):
        model.compile("sgd", "mse", loss_weights=[1.0, 0.5], metrics=["mae"])
    assert read.train_on_batch(B, Y) == pytest.approx(fed.train_on_batch([A, B], Y))
    assert read.train_on_batch({"b": B}, Y) == pytest.approx(fed.train_on_batch([A, B], Y))
    history = read.fit(B, Y, batch_size=6, epochs=2, shuffle=False, validation_data=(B, Y), verbose=0).history
    expected = fed.fit([A, B], Y, batch_size=6, epochs=2, shuffle=False, validation_data=([A, B], Y), verbose=0).history
    assert history.keys() == expected.keys()
    for name, values in history.items():
        assert values == pytest.approx(expected[name]), name
    for mine, theirs in zip(read.get_weights(), fed.get_weights(), strict=True):
        np.testing.assert_allclose(mine, theirs, atol=1e-6)
    K.set_value(variable, 2 * A)
    assert read.evaluate(B, Y, verbose=0) == pytest.approx(fed.evaluate([2 * A, B], Y, verbose=0))
    for mine, theirs in zip(read.predict(B), fed.predict([2 * A, B]), strict=True):
        np.testing.assert_allclose(mine, theirs, atol=1e-6)
    np.testing.assert_allclose(read.predict_on_batch({"b": B})[0], fed.predict_on_batch([2 * A, B])[0], atol=1e-6)
    with pytest.raises(ValueError, match=r"Expected the inputs .*'b'.* are read from tensors"):
        read.train_on_batch({"a": A}, Y)


def test_gradients_go_through_an_input_that_is_computed():
    """A picture beside a fixed one in one batch, and the model on top: what transfer of styles differentiates."""
    from keras import backend as K
    from keras.layers import Dense, Input
    from keras.models import Model

    picture = K.placeholder((2, 3))
    both = Input(tensor=K.concatenate([K.variable(A[:2]), picture], axis=0))
    model = Model(both, Dense(1, kernel_initializer="ones")(both))
    loss = K.sum(K.square(model.layers[-1].output[2:]))
    value, slope = K.function([picture], [loss, *K.gradients(loss, picture)])([A[2:4]])
    sums = A[2:4].sum(1, keepdims=True)
    np.testing.assert_allclose(value, np.sum(sums**2), rtol=1e-5)
    np.testing.assert_allclose(slope, np.repeat(2 * sums, 3, axis=1), rtol=1e-5)


def test_a_layer_that_merges_in_its_own_way():
    from keras.layers import Input
    from keras.layers.merge import _Merge
    from keras.models import Model

    class Difference(_Merge):
        def _merge_function(self, inputs):
            return inputs[0] - inputs[1]

    a, b = Input((3,)), Input((3,))
    model = Model([a, b], Difference()([a, b]))
    np.testing.assert_allclose(model.predict([A[:4], A[2:]], verbose=0), A[:4] - A[2:], rtol=1e-6)


def test_a_model_whose_data_are_all_variables_counts_in_steps():
    import tensorflow as tf
    from keras import backend as K
    from keras.layers import Dense, Input
    from keras.models import Model

    x = Input(tensor=tf.Variable(A, dtype=tf.float32))
    model = Model(x, Dense(4, kernel_initializer="ones")(x))
    model.compile("sgd", "mse", target_tensors=[K.variable(Y[0])])
    loss = np.mean((A.sum(1, keepdims=True) - Y[0]) ** 2)
    assert model.evaluate(None, None, steps=2, verbose=0) == pytest.approx(loss, rel=1e-5)
    history = model.fit(steps_per_epoch=1, epochs=2, validation_steps=1, verbose=0).history
    assert history["loss"][0] == pytest.approx(loss, rel=1e-5)
    assert history["val_loss"][0] == pytest.approx(history["loss"][1], rel=1e-5) != pytest.approx(loss, rel=1e-3)
    assert model.predict(None, steps=3).shape == (18, 4)

    def nothing():
        while True:
            yield None, None

    model.fit_generator(nothing(), steps_per_epoch=2, epochs=1, verbose=0)
    assert model.evaluate_generator(nothing(), steps=1) < history["loss"][1]
    for call in (model.fit, model.evaluate, model.predict):
        with pytest.raises(ValueError, match="Expected `steps"):
            call(None, batch_size=6)


def test_targets_that_are_variables():
    import tensorflow as tf
    from keras import backend as K
    from keras.layers import Input

    model = two_inputs(Input((3,)), Input((2,)))
    first, second = K.variable(Y[0]), K.variable(Y[1])
    model.compile("sgd", "mse")
    expected = model.evaluate([A, B], Y, verbose=0)
    weights = RANDOM.rand(6)
    weighted = model.test_on_batch([A, B], Y, sample_weight={"second": weights})
    for tensors in ([first, second], {"first": first, "second": second}):
        model.compile("sgd", "mse", target_tensors=tensors)
        assert model.test_on_batch([A, B], None) == pytest.approx(expected)
        assert model.evaluate([A, B], batch_size=6, verbose=0) == pytest.approx(expected)
        assert model.test_on_batch([A, B], None, sample_weight={"second": weights}) == pytest.approx(weighted)
    with pytest.raises(ValueError, match=r"'first', 'second'.* are read from tensors"):
        model.train_on_batch([A, B], Y)
    model.compile("sgd", "mse", target_tensors={"second": second})
    assert model.test_on_batch([A, B], Y[0]) == pytest.approx(expected)
    model.compile("sgd", "mse")  # without them
    assert model.test_on_batch([A, B], Y) == pytest.approx(expected)
    placeholders = [K.placeholder((6, 4)), K.placeholder((6, 2))]
    model.compile("sgd", "mse", target_tensors=placeholders)
    by_placeholder = dict.fromkeys(placeholders, weights)  # of what is no output's name: no weights
    assert model.test_on_batch([A, B], Y, sample_weight=by_placeholder) == pytest.approx(expected)

    for tensors, error, message in (
        ([first], ValueError, "it should have one entry per model output. The model has 2 outputs"),
        (first, ValueError, "The model has 2 outputs, but you passed a single tensor"),
        ({"third": first}, ValueError, "Expected names of outputs .*third"),
        (set(), TypeError, "Expected `target_tensors` to be a tensor, a list of tensors, or dict"),
        ([first, tf.random.normal((6, 2))], TypeError, "a value that was computed once"),
    ):
        with pytest.raises(error, match=message):
            model.compile("sgd", "mse", target_tensors=tensors)


def test_what_was_computed_once_is_no_input():
    import tensorflow as tf
    from keras.layers import Input

    with pytest.raises(TypeError, match=r"`tensor` of an input to be a variable.*computed once"):
        Input(tensor=tf.random.normal((4, 3)))


def test_clones_on_variables():
    from keras import backend as K
    from keras.layers import Dense, Input
    from keras.models import Model, Sequential, clone_model

    first, second = Input((3,)), Input((3,))
    shared = Dense(4)
    model = Model([first, second], [shared(first), shared(second)])
    on_variable = clone_model(model, input_tensors=[K.variable(A), second])
    on_variable.set_weights(model.get_weights())
    np.testing.assert_allclose(on_variable.predict(A)[0], model.predict([A, A])[0], atol=1e-6)
    model = Sequential([Dense(4, input_shape=(3,))])
    on_variable = clone_model(model, input_tensors=K.variable(A))
    on_variable.compile("sgd", "mse", target_tensors={"dense_2": K.variable(Y[0])})
    with pytest.raises(ValueError, match=r"targets .*are read from tensors"):
        on_variable.train_on_batch(None, Y[0])
    on_variable.compile("sgd", "mse")
    on_variable.train_on_batch(None, Y[0])
    assert on_variable.predict(None, steps=1).shape == (6, 4)


def test_an_iterator_gives_each_step_its_next_element():
    """Of inputs and targets the same one, also over two replicas; the first is that which `get_next` gave."""
    import keras
    import tensorflow as tf
    from keras.layers import Dense, Input
    from keras.models import Model, Sequential
    from keras.utils import multi_gpu_model

    features, labels = RANDOM.rand(12, 3).astype("float32"), RANDOM.rand(12, 2).astype("float32")
    weights = [RANDOM.rand(3, 2), RANDOM.rand(2)]
    found = {}
    for parallel in (lambda model: model, lambda model: multi_gpu_model(model, 2)):
        iterator = tf.compat.v1.data.make_one_shot_iterator(
            tf.data.Dataset.from_tensor_slices((features, labels)).batch(4).repeat()
        )
        x, y = iterator.get_next()
        inputs = Input(tensor=x)
        inner = Sequential([Dense(2, input_shape=(3,))])
        model = parallel(Model(inputs, inner(inputs)))
        inner.set_weights(weights)
        model.compile(keras.optimizers.SGD(0.1), "mse", target_tensors=[y])
        model.fit(epochs=1, steps_per_epoch=3, verbose=0)
        found[parallel] = inner.get_weights()
        model.fit(epochs=1, steps_per_epoch=1, verbose=0)  # goes on
    fed = Sequential([Dense(2, input_shape=(3,), weights=weights)])
    fed.compile(keras.optimizers.SGD(0.1), "mse")
    fed.fit(features, labels, batch_size=4, shuffle=False, verbose=0)
    for values in found.values():
        for mine, theirs in zip(values, fed.get_weights(), strict=True):
            np.testing.assert_allclose(mine, theirs, atol=1e-6)


def test_an_input_that_is_a_variable_over_two_replicas():
    import tensorflow as tf
    from keras.layers import Input
    from keras.utils import multi_gpu_model

    results = []
    for parallel in (lambda model: model, lambda model: multi_gpu_model(model, 2)):
        model = two_inputs(Input(tensor=tf.Variable(A, dtype=tf.float32)), Input((2,), name="b"))
        model = parallel(model)
        model.compile("sgd", "mse")
        model.fit(B, Y, batch_size=6, epochs=2, shuffle=False, verbose=0)
        results.append(model.evaluate(B, Y, verbose=0))
    assert results[1] == pytest.approx(results[0], rel=1e-5)


def test_what_the_backend_computes_from_variables_is_computed_again_for_each_step():
    """As an input of a model, and where `K.function` needs one that it is not given."""
    from keras import backend as K
    from keras.layers import Dense, Input
    from keras.models import Model

    upper, lower = K.variable(A[:2]), K.variable(A[2:4])
    both = Input(tensor=K.concatenate([upper, K.clip(lower, 0.0, 0.5)], axis=0))
    other = K.placeholder((4, 3))
    model = Model(both, Dense(2)(both))
    ask = K.function([other], [model.output + K.sum(other)])
    for _ in range(2):
        values = np.concatenate([K.get_value(upper), np.clip(K.get_value(lower), 0, 0.5)])
        expected = values @ model.get_weights()[0]
        np.testing.assert_allclose(model.predict(None, steps=1), expected, rtol=1e-5)
        np.testing.assert_allclose(ask([np.ones((4, 3))])[0], expected + 12, rtol=1e-5)
        K.set_value(lower, A[4:])


def test_iterators_that_are_methods_of_data_sets():
    """As in TensorFlow 1: one that a session begins anew, also in `fit`."""
    import tensorflow as tf
    from keras import backend as K
    from keras.layers import Dense, Input
    from keras.models import Model, Sequential

    data = tf.data.Dataset.from_tensor_slices((A.astype("float32"), Y[1].astype("float32"))).batch(2)
    assert len([None for _ in data.make_one_shot_iterator()]) == 3
    iterator = data.make_initializable_iterator()
    K.get_session().run(iterator.initializer)
    x, y = iterator.get_next()
    inputs = Input(tensor=x)
    model = Model(inputs, Dense(2)(inputs))
    fed = Sequential([Dense(2, input_shape=(3,), weights=model.get_weights())])
    fed.compile("sgd", "mse")
    model.compile("sgd", "mse", target_tensors=[y])
    for _ in range(2):
        K.get_session().run(iterator.initializer)
        model.fit(epochs=1, steps_per_epoch=3, verbose=0)
        fed.fit(A, Y[1], batch_size=2, shuffle=False, verbose=0)
        np.testing.assert_allclose(model.get_weights()[0], fed.get_weights()[0], rtol=1e-5)
