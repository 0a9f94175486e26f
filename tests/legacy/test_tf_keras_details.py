"""Details of tf.keras 2.2's layers and models that code of its time leans on, found with its own tests."""

from __future__ import annotations

import functools
import warnings

import numpy as np
import pytest
import tensorflow as tf

import parallel_compat

pytestmark = pytest.mark.usefixtures("legacy_names")


def test_variables_of_tensorflow_are_weights():
    """`self.w = tf.Variable(...)`, as the guides of TensorFlow 2 wrote layers: trained and listed, also in lists."""
    from tensorflow import keras

    class Scaled(tf.keras.layers.Layer):
        def __init__(self):
            super().__init__()
            self.factor = tf.Variable(3.0, name="factor")
            self.calls = tf.Variable(0.0, trainable=False)
            self.more = [tf.Variable(1.0)]

        def call(self, inputs):
            self.calls.assign_add(1.0)
            return inputs * self.factor * self.more[0]

    layer = Scaled()
    assert [v.numpy() for v in layer.trainable_variables] == [3.0, 1.0]
    assert len(layer.weights) == 3
    model = keras.Sequential([layer])
    model.compile(keras.optimizers.SGD(0.1), "mse")
    x = np.ones((4, 1), "float32")
    model.fit(x, 0 * x, batch_size=4, epochs=1, verbose=0)
    # d/df (f * 1)^2 = 6 and d/dm (3 * m)^2 = 18
    np.testing.assert_allclose([v.numpy() for v in layer.trainable_variables], [2.4, -0.8], atol=1e-6)
    assert layer.calls.numpy() >= 1.0

    doubled = keras.layers.Lambda(lambda x: 2 * x)
    doubled(x)
    doubled.v = tf.Variable(1.0)  # after it was built
    assert len(doubled.trainable_weights) == 1


def test_weights_are_variables_of_tensorflow_for_who_asks():
    """Code of the time chose the weights to decay so: none were decayed. Keras and TensorFlow are told what is."""
    from tensorflow import keras

    model = keras.Sequential([keras.layers.Dense(2, input_shape=(3,)), keras.layers.BatchNormalization()])
    decayed = [each.kernel for each in model.layers if isinstance(getattr(each, "kernel", None), tf.Variable)]
    assert len(decayed) == 1
    assert all(isinstance(each, tf.Variable) for each in model.weights)
    assert isinstance(keras.optimizers.Adam().iterations, tf.Variable)
    assert not isinstance(tf.constant(1.0), tf.Variable)
    kernel = decayed[0]
    averages = {each.ref(): each.read_value() for each in model.weights}
    np.testing.assert_array_equal(averages[kernel.ref()], kernel.numpy())
    kernel.scatter_nd_update([[0, 1]], [7.0])
    assert kernel.numpy()[0, 1] == 7.0
    assert kernel.get_shape().as_list() == [3, 2]
    assert not hasattr(kernel, "nothing")
    made = tf.Variable([1.0, 2.0], name="mine")
    assert isinstance(made, tf.Variable)
    assert made.name == "mine:0"
    assert issubclass(type(made), tf.Variable)
    assert not isinstance(decayed[0], tf.Tensor)
    x = np.ones((4, 3), "float32")
    with tf.GradientTape() as tape:
        loss = tf.add_n([tf.nn.l2_loss(each) for each in decayed]) + 0.0 * tf.reduce_sum(model(x))
    np.testing.assert_allclose(tape.gradient(loss, decayed)[0].numpy(), decayed[0].numpy(), rtol=1e-6)


def test_a_sequential_model_is_built_by_a_symbolic_tensor():
    from tensorflow import keras

    model = keras.Sequential()
    model.add(keras.layers.Dense(4))
    model.add(keras.layers.Dropout(0.5))
    assert model(keras.Input((3,))).shape.as_list() == [None, 4]
    assert len(model.weights) == 2


def test_a_mask_that_is_passed_by_place_goes_on():
    from tensorflow import keras

    class Passing(keras.layers.Layer):
        def __init__(self):
            super().__init__()
            self.supports_masking = True

        def call(self, inputs, mask=None):
            return 2.0 * inputs if mask is not None else inputs

    x, mask = np.ones((1, 3, 2), "float32"), tf.constant([[True, False, True]])
    passed = Passing()(tf.constant(x), mask)
    np.testing.assert_array_equal(passed._keras_mask.numpy(), mask.numpy())
    np.testing.assert_array_equal(passed.numpy(), 2 * x)
    a, b = keras.Input((3, 2)), keras.Input((3,), dtype="bool")
    mean = keras.layers.GlobalAveragePooling1D()(Passing()(a, b))
    steps = x * np.array([[[1.0], [5.0], [3.0]]], "float32")
    np.testing.assert_allclose(keras.Model([a, b], mean).predict([steps, mask.numpy()]), [[4.0, 4.0]])


def test_what_optimizers_took_and_showed():
    """The numbers are those of TensorFlow 2.2.3."""
    from tensorflow import keras

    optimizer, count = keras.optimizers.Adam(0.1), tf.Variable(5, dtype=tf.int64)
    optimizer.iterations = count
    variable = tf.Variable([1.0, 2.0])
    optimizer.apply_gradients([(tf.constant([0.1, 0.2]), variable)])
    np.testing.assert_allclose(variable.numpy(), [0.9477898, 1.9477890], rtol=1e-6)
    assert count.numpy() == optimizer.iterations.numpy() == 6
    with pytest.raises(RuntimeError, match="before the first step"):
        optimizer.iterations = tf.Variable(0)
    np.testing.assert_allclose(float(keras.optimizers.Nadam(schedule_decay=0.2).decay), 0.2, rtol=1e-6)
    keras.optimizers.SGD(1.0).minimize(lambda: tf.constant(1.0), [])
    keras.optimizers.SGD(1.0).apply_gradients([])
    halving = keras.optimizers.SGD(keras.optimizers.schedules.ExponentialDecay(1.0, 10, 0.5))
    assert float(halving._get_hyper("learning_rate")(10)) == 0.5
    assert [float(each(10)) for each in (halving.lr, halving.learning_rate)] == [0.5, 0.5]


def test_a_compiled_call_changes_moving_statistics():
    """A `call` that is a `tf.function` and was run to build the model still changes its variables afterwards."""
    from tensorflow import keras

    class Compiled(keras.Model):
        def __init__(self):
            super().__init__()
            self.norm = keras.layers.BatchNormalization(momentum=0.5)

        @tf.function
        def call(self, inputs, training):
            return self.norm(inputs, training=training)

    model = Compiled()
    model(tf.fill([2, 1], 4.0), training=True)
    np.testing.assert_allclose(model.norm.moving_mean.numpy(), [2.0])


def test_what_a_layer_would_give():
    from tensorflow import keras

    layer = keras.layers.Conv1D(4, 3)
    shape = layer.compute_output_shape(tf.TensorShape([None, 10, 2]))
    assert shape.as_list() == [None, 8, 4]
    assert shape == (None, 8, 4)
    spec = layer.compute_output_signature(tf.TensorSpec([None, 10, 2], tf.float32))
    assert spec == tf.TensorSpec([None, 8, 4], tf.float32)
    with pytest.raises(TypeError, match="TensorSpec"):
        layer.compute_output_signature((None, 10, 2))

    class Own(keras.layers.Layer):
        def call(self, inputs):
            return tf.concat([inputs, inputs], -1)

    assert Own().compute_output_shape((2, 3)).as_list() == [2, 6]
    shapes = keras.layers.LSTM(2, return_state=True).compute_output_shape((5, 4, 3))
    assert [each.as_list() for each in shapes] == [[5, 2]] * 3

    masking, adding = keras.layers.Masking(), keras.layers.Add()
    x = keras.Input((3, 2))
    masked = masking(x)
    adding([masked, masked])
    assert masking.input_mask is None
    assert masking.output_mask.shape == adding.output_mask.shape == (None, 3)


def test_optimizers_of_tensorflow_1_step_as_they_did():
    """`compile(tf.compat.v1.train.RMSPropOptimizer(...))`; the weights are those of TensorFlow 2.2."""
    from tensorflow import keras

    train = tf.compat.v1.train
    for optimizer, expected in (
        (train.GradientDescentOptimizer(0.1), 0.52),
        (train.AdamOptimizer(), 0.998),
        (train.MomentumOptimizer(0.1, 0.9), 0.25),
        (train.RMSPropOptimizer(0.1), 0.6298099),
        (train.AdagradOptimizer(0.1), 0.835233),
        (train.AdadeltaOptimizer(0.1), 0.99991),
        (train.FtrlOptimizer(0.1), 0.7352965),
    ):
        model = keras.Sequential([keras.layers.Dense(2, input_shape=(3,), kernel_initializer="ones")])
        model.compile(optimizer, "mse")
        for _ in range(2):
            model.train_on_batch(np.ones((4, 3)), np.zeros((4, 2)))
        np.testing.assert_allclose(model.get_weights()[0], expected, rtol=1e-5)


def test_details_of_layers():
    from tensorflow import keras

    # Arguments of every layer, also where the class names all that it takes.
    dropped = keras.layers.SpatialDropout1D(0.5, input_shape=(3, 2), trainable=False)
    assert keras.Sequential([dropped]).output_shape == (None, 3, 2)
    assert dropped.trainable is False

    class _Hidden(keras.Model):
        def call(self, inputs):
            return inputs

    assert _Hidden().name == "private__hidden"
    assert _Hidden()(tf.ones((1, 1))).shape == (1, 1)

    # The mask of a Lambda layer is found again.
    masked = keras.layers.Lambda(lambda x: x + 1, mask=lambda x, mask: mask)
    again = keras.layers.Lambda.from_config(masked.get_config())
    assert again.mask(1, 5) == 5

    joined = keras.layers.Concatenate()
    a, b = keras.Input((2,)), keras.Input((3,))
    with pytest.raises(ValueError, match="at least two tensors"):
        joined([a])
    with pytest.raises(ValueError, match="should be called on a list of inputs"):
        joined(a)
    joined([a, b])
    assert joined([a]).shape == (None, 2)
    with pytest.raises(ValueError, match="`mask` should be a list"):
        joined.compute_mask([a, b], np.ones((1, 2)))


def test_private_modules_of_its_time():
    from tensorflow import keras
    from tensorflow.python.keras.layers.recurrent_v2 import LSTM
    from tensorflow.python.keras.optimizer_v2 import adam, learning_rate_schedule
    from tensorflow.python.keras.optimizer_v2.optimizer_v2 import OptimizerV2

    assert LSTM is keras.layers.LSTM
    assert issubclass(adam.Adam, OptimizerV2)
    assert learning_rate_schedule.CosineDecay is keras.optimizers.schedules.CosineDecay


def test_cells():
    from tensorflow import keras

    class Minimal(keras.layers.AbstractRNNCell):
        def __init__(self, units):
            super().__init__()
            self.units = units

        @property
        def state_size(self):
            return self.units

        def call(self, inputs, states):
            output = tf.reduce_sum(inputs, -1, keepdims=True) + states[0]
            return output, output

    x = np.arange(12, dtype="float32").reshape(2, 3, 2)
    y = keras.layers.RNN(Minimal(1))(x)
    np.testing.assert_allclose(y, x.sum((1, 2))[:, None])
    assert Minimal(2).get_initial_state(batch_size=3, dtype="float32").shape == (3, 2)

    # Peepholes: the numbers are those of TensorFlow 2.2, all weights 0.1.
    layer = keras.layers.RNN(keras.experimental.PeepholeLSTMCell(2))
    layer.build((None, 3, 2))
    layer.set_weights([np.full_like(w, 0.1) for w in layer.get_weights()])
    np.testing.assert_allclose(layer(x / 10), [[0.0912236] * 2, [0.1732678] * 2], atol=1e-6)


def test_schedules():
    """The numbers are those of TensorFlow 2.2."""
    from tensorflow import keras

    rate = keras.experimental.LinearCosineDecay(0.5, 10, num_periods=1.5, alpha=0.2, beta=0.01)
    np.testing.assert_allclose(
        [float(rate(step)) for step in (0, 3, 7, 12)], [0.605, 0.0160123, 0.2488821, 0.005], atol=1e-6
    )
    again = keras.experimental.LinearCosineDecay.from_config(rate.get_config())
    assert float(again(3)) == float(rate(3))
    noisy = keras.experimental.NoisyLinearCosineDecay(
        0.5, 10, initial_variance=0.0, num_periods=1.5, alpha=0.2, beta=0.01
    )
    np.testing.assert_allclose(float(noisy(3)), 0.0160123, atol=1e-6)


def test_states_of_recurrent_layers():
    from tensorflow import keras

    # A stateful layer goes on from its own state; the given one counts while that is 0.
    x, state = keras.Input((1, 2), batch_size=1), keras.Input((1,), batch_size=1)
    weights = {"kernel_initializer": "ones", "recurrent_initializer": "ones", "activation": "linear"}
    layer = keras.layers.SimpleRNN(1, stateful=True, **weights)
    model = keras.Model([x, state], layer(x, initial_state=state))
    given = [np.ones((1, 1, 2)), np.full((1, 1), 10.0)]
    assert [float(model.predict(given, verbose=0)[0, 0]) for _ in range(3)] == [12.0, 14.0, 16.0]
    model.reset_states()
    assert float(model.predict(given, verbose=0)[0, 0]) == 12.0

    # Those of stacked cells are put back one by one.
    stacked = keras.layers.RNN([keras.layers.LSTMCell(2), keras.layers.GRUCell(3)], stateful=True)
    stacked(tf.ones((2, 3, 1)))
    stacked.reset_states([[np.ones((2, 2)), np.ones((2, 2))], np.ones((2, 3))])
    assert [float(tf.reduce_sum(each)) for each in tf.nest.flatten(stacked.states)] == [4.0, 4.0, 6.0]
    stacked.reset_states()
    assert [float(tf.reduce_sum(each)) for each in tf.nest.flatten(stacked.states)] == [0.0] * 3

    cell = keras.layers.LSTMCell(2)
    zeros = cell.get_initial_state(inputs=tf.ones((3, 1)))
    assert [each.shape.as_list() for each in zeros] == [[3, 2]] * 2
    assert cell.get_initial_state(batch_size=3, dtype=tf.float16)[0].dtype == tf.float16


def test_ragged_sequences():
    """A ragged batch gives what the padded one does where the padding is masked."""
    from tensorflow import keras

    ragged = tf.RaggedTensor.from_tensor(np.random.RandomState(0).rand(3, 4, 2).astype("float32"), lengths=[1, 4, 2])
    masked = keras.layers.Masking()(ragged.to_tensor())
    for kind in (keras.layers.LSTM, keras.layers.SimpleRNN):
        layer = kind(2)
        np.testing.assert_allclose(layer(ragged), layer(masked), atol=1e-6)
        every = kind(2, return_sequences=True)
        found = every(ragged)
        assert found.row_lengths().numpy().tolist() == [1, 4, 2]
        np.testing.assert_allclose(found.flat_values[1:5], every(masked)[1], atol=1e-6)
    with pytest.raises(ValueError, match="does not support unrolling"):
        keras.layers.GRU(2, unroll=True)(ragged)


def test_cells_with_constants_and_states_alone():
    from tensorflow import keras

    class Adding(keras.layers.Layer):
        state_size = 2

        def build(self, input_shape):
            self.width = input_shape[-1]  # of a step: tf.keras said nothing of the constants

        def call(self, inputs, states, constants):
            return states[0] + constants[0], [states[0] + float(self.width)]

    y = keras.layers.RNN(Adding())(tf.ones((1, 3, 4)), constants=tf.ones((1, 2)))
    np.testing.assert_allclose(y, [[9.0, 9.0]])

    class Counting(keras.layers.AbstractRNNCell):
        state_size = output_size = 1

        def call(self, inputs, states):
            return states[0] + 1.0, states[0] + 1.0

    y = keras.layers.RNN([Counting(), keras.layers.SimpleRNNCell(1), Counting()])(tf.ones((1, 3, 4)))
    np.testing.assert_allclose(y, [[3.0]])
    # Both directions are made of the cell's class, which nobody registered.
    y = keras.layers.Bidirectional(keras.layers.RNN(Counting()))(tf.ones((1, 3, 4)))
    np.testing.assert_allclose(y, [[3.0, 3.0]])


def test_methods_of_optimizers(tmp_path):
    from tensorflow import keras

    x = tf.Variable([2.0, 1.0])
    optimizer = keras.optimizers.Adam(0.1, amsgrad=True)
    optimizer.minimize(lambda: tf.reduce_sum(x * x), var_list=[x])
    np.testing.assert_allclose(x.numpy(), [1.9, 0.9], atol=1e-5)
    assert optimizer.get_slot_names() == ["m", "v", "vhat"]
    assert tf.train.Checkpoint(optimizer=optimizer).save(str(tmp_path / "step"))
    np.testing.assert_allclose(optimizer.get_slot(x, "m").numpy(), [0.4, 0.2], atol=1e-6)
    with pytest.raises(KeyError, match="'m', 'v', 'vhat'"):
        optimizer.get_slot(x, "momentum")
    assert float(optimizer._get_hyper("beta_1")) == pytest.approx(0.9)
    assert float(optimizer._get_hyper("decay")) == 0.0
    optimizer._set_hyper("learning_rate", 0.5)
    assert float(optimizer._get_hyper("lr", tf.float64)) == 0.5
    with pytest.raises(TypeError, match="a function without arguments"):
        optimizer.minimize(tf.constant(1.0), [x])

    dense = keras.layers.Dense(1, kernel_initializer="ones", use_bias=False)
    sgd = keras.optimizers.SGD(learning_rate=9.0, lr=0.5)  # `lr` counted
    sgd.minimize(lambda: tf.reduce_sum(dense(tf.ones((1, 2)))), lambda: dense.trainable_weights)
    np.testing.assert_allclose(dense.get_weights()[0], [[0.5], [0.5]])
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(dense(tf.ones((1, 2))))
    np.testing.assert_allclose(tape.gradient(loss, dense.trainable_weights)[0], np.ones((2, 1)))
    (pair,) = sgd._compute_gradients(lambda: tf.reduce_sum(dense(tf.ones((1, 2)))), dense.trainable_weights)
    sgd.apply_gradients([pair], name="step", experimental_aggregate_gradients=False)
    np.testing.assert_allclose(dense.get_weights()[0], [[0.0], [0.0]])
    with pytest.raises(ValueError, match="clipnorm >= 0"):
        keras.optimizers.SGD(0.1, clipnorm=-1.0)


# The same steps on TensorFlow 2.2.3: three variables of their own, and the middle row of an embedding.
_STEPS = {
    "Adam": (0.81415, 1.77763, 2.94189, 0.94779),
    "Nadam": (0.80936, 1.72721, 2.87627, 0.85336),
    "RMSprop": (0.45436, 1.34142, 2.68377, 0.68377),
    "Adagrad": (0.83565, 1.7978, 2.90055, 0.90031),
    "Adadelta": (0.99972, 1.99963, 2.99986, 0.99986),
    "Adamax": (0.82989, 1.85857, 2.97092, 0.97866),
    "Ftrl": (0.53414, 1.48546, 2.58607, 0.8215),
    "SGD": (0.71, 0.978, 2.7, 0.6),
}


def test_one_optimizer_for_several_models():
    """Variables that come later get slots of their own, and the number of steps goes on."""
    from tensorflow import keras

    for name, expected in _STEPS.items():
        optimizer = getattr(keras.optimizers, name)(0.1, **({"momentum": 0.9} if name == "SGD" else {}))
        variables = [tf.Variable([1.0, 2.0]), tf.Variable(2.0), tf.Variable([3.0])]
        rows = keras.layers.Embedding(3, 2, embeddings_initializer="ones")
        rows.build((None,))
        for i in (0, 1, 0, 2, 1):
            optimizer.apply_gradients([(tf.ones_like(variables[i]) * (i + 1), variables[i])])
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(rows(tf.constant([1, 1])) * 2)
        optimizer.apply_gradients(zip(tape.gradient(loss, rows.trainable_weights), rows.trainable_weights, strict=True))
        tf.function(lambda step=optimizer, v=variables[1]: step.apply_gradients([(tf.ones_like(v), v)]))()
        found = [float(tf.reshape(each, [-1])[0]) for each in variables]
        np.testing.assert_allclose([*found, rows.get_weights()[0][1, 0]], expected, atol=1e-5, err_msg=name)
        assert int(optimizer.iterations) == 7


def test_kinds_of_locally_connected_layers():
    """The sums are those of TensorFlow 2.2.3: each implementation has a kernel of a shape of its own."""
    from tensorflow import keras

    one, two = keras.layers.LocallyConnected1D, keras.layers.LocallyConnected2D
    for kind, implementation, padding, data_format, kernel, expected in (
        (one, 1, "valid", "channels_first", (1, 21, 2), 17.66),
        (one, 2, "same", "channels_last", (7, 3, 4, 2), 173.46),
        (one, 3, "same", "channels_first", (56,), 73.24),
        (two, 1, "valid", "channels_first", (3, 36, 2), 374.61),
        (two, 2, "valid", "channels_last", (6, 5, 3, 4, 2, 2), 1483.82),
        (two, 2, "same", "channels_first", (6, 5, 3, 2, 5, 2), 2905.55),
        (two, 3, "same", "channels_last", (480,), 5977.56),
    ):
        size, strides, shape = (3, 2, (2, 7, 3)) if kind is one else ((3, 2), (1, 2), (2, 6, 5, 3))
        told = {"padding": padding, "data_format": data_format, "implementation": implementation}
        layer = kind.from_config(kind(2, size, strides=strides, **told).get_config())
        layer.build(shape)
        layer.set_weights([np.arange(w.size).reshape(w.shape) % 7 / 10 for w in layer.get_weights()])
        assert layer.get_weights()[0].shape == kernel
        assert layer.compute_output_shape(shape).as_list()[0] == 2
        y = layer((np.arange(np.prod(shape)).reshape(shape) % 11 / 10).astype("float32")).numpy()
        np.testing.assert_allclose(np.sum(y * np.arange(y.size).reshape(y.shape)), expected, atol=0.01)
    with pytest.raises(ValueError, match="implementation of 2 or 3"):
        one(2, 3, padding="same")


def test_a_metric_may_return_its_variable(tmp_path):
    """As the guides of TensorFlow 2 wrote it; and `save` makes the folders above a name without an ending."""

    class Positives(tf.keras.metrics.Metric):
        def __init__(self, name="positives", **keywords):
            super().__init__(name=name, **keywords)
            self.positives = self.add_weight(name="tp", initializer="zeros")

        def update_state(self, y_true, y_pred, sample_weight=None):
            self.positives.assign_add(tf.reduce_sum(tf.cast(y_true > 0, "float32")))

        def result(self):
            return self.positives

        def reset_states(self):
            self.positives.assign(0.0)

    x, y = np.ones((6, 2)), np.array([[1.0], [0.0], [1.0], [1.0], [0.0], [1.0]])
    model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(2,))])
    model.compile("sgd", "mse", metrics=[Positives()])
    assert model.fit(x, y, batch_size=4, epochs=2, verbose=0).history["positives"] == [4.0, 4.0]
    assert model.evaluate(x, y, verbose=0)[1] == 4.0
    model.save(str(tmp_path / "saved_model" / "mine"))
    np.testing.assert_allclose(
        tf.keras.models.load_model(
            str(tmp_path / "saved_model" / "mine"), custom_objects={"Positives": Positives}
        ).predict(x),
        model.predict(x),
    )


def test_a_layer_takes_all_arguments_by_position():
    """`decoder(x, True, mask, past=past)`, as transformers for TensorFlow 2 were written."""

    class Block(tf.keras.layers.Layer):
        def build(self, shape):
            self.kernel = self.add_weight(
                "kernel", (int(shape[-1]), 2), initializer="ones", experimental_autocast=False, partitioner=None
            )

        def call(self, x, training, mask, past=None):
            x = tf.matmul(x, self.kernel) * mask
            return (x if training else -x), past

    class Model(tf.keras.Model):
        def __init__(self):
            super().__init__()
            self.blocks = [Block() for _ in range(2)]

        def call(self, x, training=True, past=None):
            for block, each in zip(self.blocks, past or [None, None], strict=True):
                x, _ = block(x, training, tf.ones((1, 2)), past=each)
            return x

    x = np.ones((3, 2), "float32")
    model = Model()
    np.testing.assert_array_equal(model(x, True), np.full((3, 2), 4.0))
    np.testing.assert_array_equal(Block()(x, False, tf.ones((1, 2)))[0], np.full((3, 2), -2.0))
    step = tf.function(lambda x: model(x, training=False))
    np.testing.assert_array_equal(step(x), np.full((3, 2), 4.0))
    with pytest.raises((TypeError, ValueError)):
        Block()(x, False, tf.ones((1, 2)), None, "too many")


def test_a_sparse_cross_entropy_of_logits_whose_number_is_not_known():
    """As after `tf.boolean_mask` and `tf.concat` in a contrastive loss."""
    loss = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True, reduction=tf.keras.losses.Reduction.SUM)
    logits, labels = np.random.RandomState(0).randn(4, 3).astype("float32"), np.array([0, 2, 1, 0])

    @tf.function(input_signature=[tf.TensorSpec((4, None)), tf.TensorSpec((4,), tf.int64)])
    def compute(logits, labels):
        return loss(y_pred=logits, y_true=labels)

    expected = -sum(np.log(np.exp(row)[label] / np.exp(row).sum()) for row, label in zip(logits, labels, strict=True))
    np.testing.assert_allclose(compute(logits, labels), expected, rtol=1e-5)


def test_logs_with_float64():
    """`set_floatx("float64")`, as programs of reinforcement learning began, makes losses of float64."""
    x, y = np.ones((6, 2)), np.arange(6.0)[:, None]
    tf.keras.backend.set_floatx("float64")
    try:
        model = tf.keras.Sequential([tf.keras.Input((2,)), tf.keras.layers.Dense(1, kernel_initializer="zeros")])
        model.compile(tf.keras.optimizers.SGD(0.0), "mse", metrics=["mae"])
        logs = model.fit(x, y, batch_size=4, epochs=1, verbose=0).history
        np.testing.assert_allclose([logs["loss"][0], logs["mae"][0]], [55 / 6, 2.5], rtol=1e-12)
        np.testing.assert_allclose(model.evaluate(x, y, verbose=0), [55 / 6, 2.5], rtol=1e-12)
    finally:
        tf.keras.backend.set_floatx("float32")


def test_a_model_is_saved_to_a_folder_that_is_there(tmp_path):
    """`ModelCheckpoint(log_dir)` beside TensorBoard's files: TensorFlow 2 wrote a SavedModel into it."""
    model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(2,))])
    model.compile("sgd", "mse")
    x, y = np.ones((4, 2), "float32"), np.ones((4, 1), "float32")
    (tmp_path / "logs").mkdir()
    checkpoint = tf.keras.callbacks.ModelCheckpoint(str(tmp_path / "logs"), save_best_only=True)
    model.fit(x, y, validation_data=(x, y), epochs=1, verbose=0, callbacks=[checkpoint])
    loaded = tf.keras.models.load_model(str(tmp_path / "logs"))
    np.testing.assert_array_equal(loaded.predict(x), model.predict(x))
    loaded.load_weights(str(tmp_path / "logs"))


def test_layers_that_a_call_makes_are_trained(tmp_path):
    """A layer that is written as `__call__` alone, in a Sequential model, as a much copied attention layer is."""
    from tensorflow.keras.layers import Dense, Layer

    class Block(Layer):
        def __call__(self, x):
            return Dense(1, use_bias=False, kernel_initializer="ones")(
                Dense(2, use_bias=False, name=self.name + "_inner", kernel_initializer="ones")(x)
            )

    def make():
        model = tf.keras.Sequential([Dense(3, input_shape=(2,)), Block(), Dense(4), Block(), Dense(1)])
        model.compile("sgd", "mse")
        return model

    model = make()
    assert [w.shape for w in model.get_weights()] == [
        *((2, 3), (3,), (3, 2), (2, 1)), *((1, 4), (4,), (4, 2), (2, 1)), *((1, 1), (1,))
    ]  # fmt: skip
    x, y = np.random.RandomState(0).randn(8, 2), np.ones((8, 1))
    before = model.get_weights()
    model.fit(x, y, verbose=0)
    assert all(np.abs(old - new).max() > 1e-9 for old, new in zip(before, model.get_weights(), strict=True))
    model.save_weights(str(tmp_path / "w.h5"))
    other = make()
    other.load_weights(str(tmp_path / "w.h5"))
    np.testing.assert_array_equal(other.predict(x, verbose=0), model.predict(x, verbose=0))
    model = tf.keras.Sequential()
    for layer in (Dense(3, input_shape=(2,)), Block(), Dense(1)):
        model.add(layer)
    assert len(model.weights) == 6


def test_what_layers_and_models_log():
    """`model.add_metric(tensor, name=, aggregation="mean")`, and `self.add_metric` in a call."""
    from tensorflow.keras.layers import Dense, Input, Layer

    class Logged(Layer):
        def call(self, x):
            self.add_metric(tf.reduce_sum(x), name="total", aggregation="mean")
            return 2 * x

    x = Input((2,))
    h = Logged()(x)
    model = tf.keras.Model(x, Dense(1)(h))
    model.add_metric(tf.reduce_mean(h), name="of_model", aggregation="mean")
    model.compile("sgd", "mse", metrics=["mae"])
    model.compile("sgd", "mse", metrics=["mae"])
    data, y = np.arange(12.0).reshape(6, 2), np.zeros((6, 1))
    logs = model.fit(data, y, batch_size=4, epochs=2, shuffle=False, verbose=0).history
    # means over the two batches: of 2 * (0 + ... + 7) / 8 and 2 * (8 + ... + 11) / 4, and of their sums
    np.testing.assert_allclose([logs["of_model"], logs["total"]], [[13.0, 13.0], [33.0, 33.0]])
    found = dict(zip(model.metrics_names, model.evaluate(data, y, batch_size=4, verbose=0), strict=True))
    np.testing.assert_allclose([found["of_model"], found["total"]], [13.0, 33.0])
    assert model.get_config()["name"] == model.name


def test_settings_of_a_class_of_their_own_stay_so():
    """`self.params = Params(...)`, a dict whose items are attributes; layers in it are the model's."""

    class Params(dict):
        def __getattr__(self, name):
            return self[name]

    class Settled(tf.keras.layers.Layer):
        def __init__(self):
            super().__init__()
            self.params = Params(units=3, inner=tf.keras.layers.Dense(2))

        def call(self, x):
            return self.params.inner(x) * self.params.units

    layer = Settled()
    assert isinstance(layer.params, Params)
    layer(tf.ones((1, 4)))
    assert [w.shape for w in layer.trainable_weights] == [(4, 2), (2,)]


def test_ftrl_writes_small_weights_to_their_last_digit():
    """TensorFlow 2.2.3's own numbers: three steps, the first of which leaves a thirtieth."""
    with parallel_compat.legacy_names(era="tf.keras-2.2"):
        from tensorflow import keras

        model = keras.Sequential([keras.layers.Dense(1, use_bias=False, input_shape=(2,))])
        model.set_weights([np.array([[0.8], [-0.7]])])
        model.compile(keras.optimizers.Ftrl(), "mse")
        x, y = np.array([[0.3, -0.2], [0.1, 0.4]], "float32"), np.array([[0.1], [-0.2]], "float32")
        for _ in range(3):
            model.train_on_batch(x, y)
        np.testing.assert_allclose(model.get_weights()[0][:, 0], [0.026599938, -0.0111186551], rtol=1e-6)


def test_masked_steps_count_in_a_maximum():
    """As in TensorFlow 1.15.5 and 2.2.3; Keras 3 leaves masked steps of an input out of it."""
    with parallel_compat.legacy_names(era="tf.keras-2.2"):
        from tensorflow.keras import layers, models

        a = layers.Input((2, 1))
        zeros, fives = layers.Masking()(a), layers.Masking(5.0)(a)
        x = np.array([[[0.0], [5.0]], [[3.0], [0.0]]])
        for merge, expected in ((layers.maximum, np.maximum), (layers.minimum, np.minimum)):
            model = models.Model(a, [merge([zeros, fives]), merge([fives, zeros])])
            for found in model.predict(x):
                np.testing.assert_array_equal(found, expected(x, x * (x != 5.0)))


def test_of_held_out_data_and_a_part_the_part_counts():
    """As in TensorFlow 2.2.3; 1.15.5 and Keras 2.2.4 took the data."""
    for era, expected in (("tf.keras-2.2", 9.0), ("tf.keras-1.15", 8.0)):
        with parallel_compat.legacy_names(era=era):
            from tensorflow.keras import layers, models

            model = models.Sequential([layers.Dense(1, use_bias=False, input_shape=(1,))])
            model.set_weights([np.zeros((1, 1))])
            model.compile("sgd", "mse")
            x, y = np.zeros((4, 1)), np.arange(4.0)[:, None]
            held_out = model.fit(x, y, validation_split=0.25, validation_data=(x[:1], y[:1] + 8**0.5), verbose=0)
            np.testing.assert_allclose(held_out.history["val_loss"], [expected], rtol=1e-6)


def test_a_model_that_is_trainable_already_thaws_the_layers_inside():
    """`model.trainable = True` reaches layers that were frozen one by one (each tf.keras stack, 2.2.3 and 1.15.5)."""
    from tensorflow import keras

    model = keras.Sequential([keras.layers.Dense(3, input_shape=(2,)), keras.layers.Dense(1)])
    model.layers[0].trainable = False
    model.compile(keras.optimizers.SGD(0.1), "mse")
    x = np.ones((4, 2), "float32")
    model.fit(x, x[:, :1], verbose=0)
    frozen = model.layers[0].get_weights()[0]
    model.trainable = True
    assert [layer.trainable for layer in model.layers] == [True, True]
    model.compile(keras.optimizers.SGD(0.1), "mse")
    model.train_on_batch(x, 9 * x[:, :1])
    assert np.all(model.layers[0].get_weights()[0] != frozen)


# Of a layer with a weight that its `call` does not use: the losses of TensorFlow 2.2.3, three steps after each file.
AFTER_FILES = {
    "Adam": ([4.527906, 3.599721, 2.788825, 2.096375, 1.506344, 1.0338, 0.678533, 0.436723, 0.299326], [3, 5, 5, 5, 5]),
    "SGD": ([4.527906, 3.398518, 2.566064, 1.952298, 1.499594, 1.165514, 0.918802, 0.73644, 0.601478], [1] * 5),
    "Ftrl": (
        [4.527906, 1.803836, 1.51996, 1.307929, 0.302189, 0.285237, 0.273236, 0.264294, 0.257273],
        [3, 5, 5, 5, 5],
    ),
}


@pytest.mark.parametrize("kind", AFTER_FILES)
def test_a_file_has_no_state_of_a_weight_without_a_gradient_and_does_not_fit_then(kind, tmp_path):
    """The first file lacks slots that the loaded optimizer has, which begins anew; the second one has them all."""
    expected, counts = AFTER_FILES[kind]
    x, y = np.linspace(-1, 1, 20).reshape(5, 4).astype("float32"), np.linspace(0, 1, 10).reshape(5, 2)
    with parallel_compat.legacy_names(era="tf.keras-2.2"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from tensorflow import keras

        class Idle(keras.layers.Layer):
            def build(self, shape):
                self.w = self.add_weight(name="w", shape=(int(shape[-1]), 2), initializer="ones")
                self.idle = self.add_weight(name="idle", shape=(3,), initializer="zeros")

            def call(self, x):
                return tf.matmul(x, self.w)

        a = keras.Input((4,))
        model = keras.Model(a, Idle()(a))
        model.compile(getattr(keras.optimizers, kind)(0.1), "mse")
        losses = [model.train_on_batch(x, y) for _ in range(3)]
        found = [len(model.optimizer.get_weights())]
        for _ in range(2):
            model.save(str(tmp_path / "m.h5"))
            model = keras.models.load_model(str(tmp_path / "m.h5"), custom_objects={"Idle": Idle})
            found.append(len(model.optimizer.get_weights()))
            losses += [model.train_on_batch(x, y) for _ in range(3)]
            found.append(len(model.optimizer.get_weights()))
        parallel = keras.utils.multi_gpu_model(keras.Model(a, Idle()(a)), 2)
        parallel.compile(getattr(keras.optimizers, kind)(0.1), "mse")
        parallel.train_on_batch(x, y)
        assert len(parallel.optimizer.get_weights()) == counts[0]
    np.testing.assert_allclose(losses, expected, rtol=2e-6)
    assert found == counts


# Sums of the absolute weights after three steps, another `compile` with the same optimizer and three more, and what
# the optimizer counted; of TensorFlow 1.15.5, and of 2.2.3 for "SGD" and "Adam".
_COMPILED_AGAIN = {
    ("SGD", "again"): (10.97, 2.2968, 2.1109, 0.3437, 6),
    ("SGD", "unfrozen"): (10.649, 2.5402, 1.9149, 0.28362, 6),
    ("Adam", "again"): (9.9712, 2.349, 2.3563, 0.35696, 6),
    ("Adam", "unfrozen"): (10.976, 2.4607, 2.1999, 0.48228, 6),
    ("RMSprop", "unfrozen"): (11.13, 3.1964, 1.5214, 0.32491, 6),
    ("Nadam", "unfrozen"): (10.48, 2.3857, 2.4651, 0.38293, 6),
    ("Adagrad", "unfrozen"): (10.611, 2.3381, 2.6705, 0.38399, 6),
    ("Adadelta", "unfrozen"): (10.886, 2.4961, 3.2676, 0.20652, 6),
    ("Adamax", "unfrozen"): (10.938, 2.5623, 2.3868, 0.46192, 6),
    ("Ftrl", "unfrozen"): (1.2002, 0.23088, 1.8318, 0.2894, 6),
}


@pytest.mark.one_in(3)
@pytest.mark.parametrize("replicas", [1, 2])
@pytest.mark.parametrize(("name", "way"), _COMPILED_AGAIN)
def test_an_optimizer_that_is_compiled_again_keeps_its_moments(name, way, replicas):
    from tensorflow import keras

    x, y = np.random.RandomState(0).normal(size=(12, 5)), np.random.RandomState(1).normal(size=(12, 1))
    hidden = keras.layers.Dense(3, input_shape=(5,), activation="tanh")
    model = keras.models.Sequential([hidden, keras.layers.Dense(1)])
    draw = np.random.RandomState(3)
    model.set_weights([draw.normal(size=w.shape) for w in model.get_weights()])
    trained = keras.utils.multi_gpu_model(model, replicas) if replicas > 1 else model
    optimizer = getattr(keras.optimizers, name)(0.1, **({"momentum": 0.9} if name == "SGD" else {}))
    for begun in (True, False):
        hidden.trainable = not (begun and way == "unfrozen")
        trained.compile(optimizer, "mse")
        for _ in range(3):
            trained.train_on_batch(x, y)
    found = [float(np.abs(each).sum()) for each in model.get_weights()]
    np.testing.assert_allclose([*found, int(optimizer.iterations)], _COMPILED_AGAIN[name, way], rtol=2e-4)


def test_models_that_share_an_optimizer_and_are_compiled_again():
    """A discriminator and the whole of a GAN, with the numbers of TensorFlow 1.15.5 and 2.2.3."""
    from tensorflow import keras

    x, y = np.random.RandomState(0).normal(size=(12, 5)), np.random.RandomState(1).normal(size=(12, 1))
    model = keras.models.Sequential([keras.layers.Dense(3, input_shape=(5,), activation="tanh"), keras.layers.Dense(1)])
    draw = np.random.RandomState(3)
    model.set_weights([draw.normal(size=w.shape) for w in model.get_weights()])
    generator = keras.models.Sequential([keras.layers.Dense(5, input_shape=(2,))])
    generator.set_weights([np.ones((2, 5)) * 0.1, np.zeros(5)])
    optimizer = keras.optimizers.Adam(0.1)
    model.compile(optimizer, "mse")
    for _ in range(3):
        model.train_on_batch(x, y)
    model.trainable = False
    whole = keras.models.Sequential([generator, model])
    whole.compile(optimizer, "mse")
    for _ in range(3):
        whole.train_on_batch(x[:, :2], y)
        model.train_on_batch(x, y)
    whole.compile(optimizer, "mse")
    for _ in range(2):
        whole.train_on_batch(x[:, :2], y)
    found = [float(np.abs(each).sum()) for each in [*generator.get_weights(), *model.get_weights()]]
    np.testing.assert_allclose(found, [1.6307, 0.61052, 9.9689, 2.3477, 2.3876, 0.36123], rtol=2e-4)
    assert int(optimizer.iterations) == 11


def test_metrics_are_enough_to_evaluate_in_tensorflow_2_2():
    x, y = np.ones((4, 3), "float32"), np.ones((4, 1), "float32")
    with parallel_compat.legacy_names(era="tf.keras-2.2"):
        from tensorflow import keras

        model = keras.Sequential([keras.layers.Dense(1, input_shape=(3,), kernel_initializer="ones")])
        model.compile(metrics=["mae"])
        assert model.evaluate(x, y, verbose=0) == model.test_on_batch(x, y) == [0.0, 2.0]
        assert model.metrics_names == ["loss", "mae"]
        with pytest.raises(ValueError, match="loss"):
            model.fit(x, y, verbose=0)


def test_a_layer_whose_constructor_is_decorated():
    """`@typechecked` of TensorFlow Addons, among others: Keras 3 looked for `self` in what the decorator put there."""

    def checked(function):
        @functools.wraps(function)
        def wrapper(*given, **keywords):
            return function(*given, **keywords)

        return wrapper

    class Scaled(tf.keras.layers.Layer):
        @checked
        def __init__(self, by=2.0, **keywords):
            super().__init__(**keywords)
            self.by = by

        def call(self, inputs):
            return inputs * self.by

    with parallel_compat.legacy_names(era="tf.keras-2.2"):
        np.testing.assert_array_equal(Scaled(4.0, name="scaled")(np.ones((1, 2), "float32")), [[4.0, 4.0]])


def test_an_optimizer_takes_one_new_variable_after_another():
    """Variables that go leave their ids to others, by which Keras knows what it keeps: Nadam stopped now and then."""
    from tensorflow import keras

    optimizer = keras.optimizers.Nadam(0.1)
    for step in range(60):
        variable = tf.Variable([1.0, 2.0])
        optimizer.apply_gradients([(tf.ones_like(variable), variable)])
        assert int(optimizer.iterations) == step + 1
