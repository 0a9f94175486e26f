"""`clone_model`, as Keras 2.2.4, TensorFlow 1.15.5 and 2.2.3 made the clones."""

from __future__ import annotations

import numpy as np
import pytest

import parallel_compat


def names(model):
    return [layer.name for layer in model.layers]


def test_on_given_inputs(era):
    """Before TensorFlow 2.2 the model's own inputs became layers; TensorFlow 2.2 did not look at what was given."""
    from keras import layers, models

    a = layers.Input((3,), name="a")
    model = models.Model(a, layers.Dense(2, name="last")(a))
    clone = models.clone_model(model, input_tensors=[layers.Input((3,), name="z")])
    passed = era != "tf.keras-2.2"
    assert names(clone) == (["z", "a", "last"] if passed else ["a", "last"])
    assert clone.input_names == (["z"] if passed else ["a"])
    lines = []
    clone.summary(print_fn=lines.append)
    assert sum("InputLayer" in line for line in lines) == len(names(clone)) - 1
    clone.set_weights(model.get_weights())
    x = np.array([[1.0, 2.0, 3.0]])
    assert clone.predict(x).tolist() == model.predict(x).tolist()


def test_inputs_without_a_name_keep_that_of_their_layer(era):
    from keras import layers, models

    a = layers.Input((3,))
    model = models.Model(a, layers.Dense(2)(a))
    assert names(models.clone_model(model)) == names(model)


def test_a_sequential_on_a_given_input(era):
    from keras import layers, models

    model = models.Sequential([layers.Dense(2, input_shape=(3,)), layers.Dense(1)])
    clone = models.clone_model(model, input_tensors=layers.Input((3,), name="w"))
    assert (names(clone), clone.input_names) == (names(model), ["w"])
    with pytest.raises(ValueError, match="to be one input"):
        models.clone_model(model, input_tensors=layers.Dense(3)(layers.Input((3,))))


def test_clones_of_a_clone_have_weights(era):
    from keras import layers, models

    model = models.Sequential([layers.Dense(2, input_shape=(3,)), layers.Dense(1)])
    for made in (models.clone_model(model), models.Sequential.from_config(model.get_config())):
        assert len(models.clone_model(made).weights) == 4


@pytest.mark.parametrize("made", ["from_config", "model_from_json", "load_model"])
def test_first_layers_of_a_model_that_was_made_of_a_configuration(era, made, tmp_path):
    """The first layer's `input_shape=` was part of its configuration: another model of it is built at once.

    All three old stacks say `True`, and list the weights of both layers.
    """
    from keras import layers, models

    model = models.Sequential([layers.Dense(5, batch_input_shape=(6, 4)), layers.Dense(8)])
    if made == "from_config":
        again = models.Sequential.from_config(model.get_config())
    elif made == "model_from_json":
        again = models.model_from_json(model.to_json())
    else:
        model.save(str(tmp_path / "model.h5"))
        again = models.load_model(str(tmp_path / "model.h5"))
    transferred = models.Sequential(again.layers[:-1])
    transferred.add(layers.Dense(1))
    assert transferred.built
    assert transferred.input_shape == (6, 4)
    assert [w.shape for w in transferred.get_weights()] == [(4, 5), (5,), (5, 1), (1,)]


def test_first_layers_after_an_input_layer():
    """Keras 2.2.4's `InputLayer` was not part of them: a model of them has no input before its first batch."""
    with parallel_compat.legacy_names(era="keras-2.2.4"):
        from keras import layers, models

        model = models.Sequential([layers.InputLayer((4,)), layers.Dense(5), layers.Dense(8)])
        again = models.Sequential.from_config(model.get_config())
        assert not models.Sequential(again.layers[:1]).built


@pytest.mark.parametrize("made", ["from_config", "model_from_json"])
def test_configurations_of_what_begins_with_an_input_layer(made):
    """Keras 2.2.4 left the `InputLayer` out of them: `set_weights` found none, the first batch made them."""
    with parallel_compat.legacy_names(era="keras-2.2.4"):
        from keras import layers, models

        ones = {"kernel_initializer": "ones"}
        model = models.Sequential([layers.InputLayer((5,)), layers.Dense(3, **ones), layers.Dense(2, **ones)])
        model.set_weights([2 * w for w in model.get_weights()])
        again = (
            models.Sequential.from_config(model.get_config())
            if made == "from_config"
            else models.model_from_json(model.to_json())
        )
        assert (again.built, again.weights) == (False, [])
        again.set_weights(model.get_weights())
        again.compile("sgd", "mse")
        assert again.train_on_batch(np.ones((2, 5)), np.ones((2, 2))) == 196.0
        assert again.get_config()["build_input_shape"] == (None, 5)

        inputs = layers.Input((5,))
        outer = models.Model(inputs, model(inputs))  # which calls it: there it has weights
        again = models.model_from_json(outer.to_json())
        again.set_weights(outer.get_weights())
        assert [w.tolist() for w in again.get_weights()] == [w.tolist() for w in outer.get_weights()]
