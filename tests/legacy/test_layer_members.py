"""Attributes that layers, models, metrics and optimizers had in Keras 2, as the three real stacks answer them."""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow as tf

from parallel_compat.names.eras import Era
from parallel_compat.run import callers

pytestmark = pytest.mark.usefixtures("legacy_names")


def test_metrics_have_what_layers_have():
    from tensorflow import keras

    callers.choose_era(Era.TF_KERAS_2_2)
    mean = keras.metrics.Mean()
    mean.update_state([1.0, 2.0, 6.0])
    assert (mean.trainable, mean.built, mean.updates, mean.losses, mean.trainable_weights) == (True, True, [], [], [])
    assert [weight.name for weight in mean.weights] == ["total:0", "count:0"]
    assert mean.get_weights() == [9.0, 3.0]
    mean.set_weights([10.0, 4.0])
    assert float(mean.result()) == 2.5
    with pytest.raises(ValueError, match="Expected weights of the shapes"):
        mean.set_weights([1.0])
    counts = keras.metrics.AUC(num_thresholds=3)
    counts.update_state([0.0, 1.0, 1.0, 0.0], [0.1, 0.9, 0.3, 0.2])
    expected = {"true_positives": [2, 1, 0], "true_negatives": [0, 2, 2], "false_positives": [2, 0, 0]}
    names = [weight.name.split(":")[0] for weight in counts.weights]
    assert names == ["true_positives", "true_negatives", "false_positives", "false_negatives"]
    assert [value.tolist() for value in counts.get_weights()] == [*expected.values(), [0, 1, 2]]


def test_slots_are_there_from_the_first_step_on(tmp_path):
    from tensorflow import keras

    callers.choose_era(Era.TF_KERAS_2_2)
    optimizer = keras.optimizers.RMSprop(momentum=0.9)
    model = keras.Sequential([keras.layers.Dense(1, input_shape=(2,))])
    model.compile(optimizer, "mse")
    assert (optimizer.get_weights(), optimizer.weights, optimizer.variables()) == ([], [], [])
    assert optimizer.get_slot_names() == []
    model.train_on_batch(np.ones((4, 2)), np.ones((4, 1)))
    assert optimizer.get_slot_names() == ["rms", "momentum"]
    assert len(optimizer.get_weights()) == 5
    written = tf.train.Checkpoint(model=model, optimizer=optimizer).write(str(tmp_path / "of_both"))
    assert any(name.startswith("optimizer/") for name, _ in tf.train.list_variables(written))


@pytest.mark.parametrize("era", [Era.KERAS_2_2_4, Era.TF_KERAS_1_15, Era.TF_KERAS_2_2])
def test_states_and_graphs(era):
    callers.choose_era(era)
    import keras

    inner = keras.models.Sequential([keras.layers.LSTM(2, stateful=True, batch_input_shape=(4, 3, 1))])
    model = keras.models.Sequential([inner, keras.layers.Dense(1)])
    assert (model.stateful, inner.stateful, model.layers[1].stateful) == (True, True, False)
    assert (model.state_updates, model._is_graph_network) == ([], True)
    model.layers[1].stateful = True  # of a layer of one's own
    assert model.layers[1].stateful

    class Own(keras.models.Model):
        def call(self, inputs):
            return inputs

    assert not Own()._is_graph_network


@pytest.mark.parametrize("era", [Era.KERAS_2_2_4, Era.TF_KERAS_1_15])
def test_a_model_tells_what_it_was_compiled_with(era):
    callers.choose_era(era)
    import keras

    given = keras.layers.Input((3, 2))
    model = keras.models.Model(given, [keras.layers.Dense(1, name="a")(given), keras.layers.Dense(1, name="b")(given)])
    assert model.loss_weights is None
    model.compile("sgd", "mse", None, {"a": 2.0, "b": 0.5}, {"a": "temporal", "b": None}, weighted_metrics=["mae"])
    assert model.loss_weights == {"a": 2.0, "b": 0.5}
    assert model.sample_weight_mode == {"a": "temporal", "b": None}
    assert model.weighted_metrics == ["mae"]
    model.compile("sgd", "mse")
    assert (model.loss_weights, model.sample_weight_mode) == (None, None)


def test_layers_inside_layers():
    from tensorflow import keras

    callers.choose_era(Era.TF_KERAS_2_2)
    inner = keras.Sequential([keras.layers.Dense(2, input_shape=(2,), name="one")])
    model = keras.Sequential([inner, keras.layers.Dense(1, name="two")])
    assert {each.name for each in model.submodules if isinstance(each, keras.layers.Dense)} == {"one", "two"}
    assert keras.layers.Dense(1).submodules == ()


@pytest.mark.parametrize("era", [Era.KERAS_2_2_4, Era.TF_KERAS_1_15, Era.TF_KERAS_2_2])
def test_types_of_weights_have_names(era):
    callers.choose_era(era)
    import keras

    layer = keras.layers.Dense(2, input_shape=(3,))
    model = keras.models.Sequential([layer])
    assert (layer.kernel.dtype.name, layer.kernel.dtype, model.output.dtype.name) == ("float32", "float32", "float32")
    assert layer.kernel.dtype.is_floating
    model.compile("adam", "mse")
    if era.is_tf_keras:
        assert model.optimizer.iterations.dtype == tf.int64
    np.testing.assert_array_equal(np.zeros(2, layer.kernel.dtype.as_numpy_dtype), [0, 0])


def test_a_layer_that_changes_its_weights_by_a_getter_is_refused():
    from tensorflow import keras

    callers.choose_era(Era.TF_KERAS_2_2)

    class Quantized(keras.layers.Dense):
        def _add_variable_with_custom_getter(self, name, **keywords):
            return super()._add_variable_with_custom_getter(name, **keywords)

    with pytest.raises(TypeError, match="Received: Quantized, which changes them by `_add_variable_with_custom_"):
        Quantized(2)


def test_names_of_before_keras_2_2():
    import keras
    from keras.engine.topology import _object_list_uid, _to_list

    callers.choose_era(Era.KERAS_2_2_4)
    model = keras.models.Sequential([keras.layers.Dense(1, input_dim=2)])
    assert model.model is model  # which was another one
    assert (_to_list(3), _to_list([3])) == ([3], [3])
    assert _object_list_uid(model) == str(id(model))
