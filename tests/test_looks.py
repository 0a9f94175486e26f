"""The parallel model looks like the one that `multi_gpu_model` returned."""

from __future__ import annotations

import keras
import numpy as np
import pytest
import tensorflow as tf

from parallel_compat import ParallelModel, multi_gpu_model, parallelize, template_of
from tests.evidence import oracle
from tests.one_device import classes, difference, mlp, train_both


@pytest.mark.parametrize("name", ["multi_input_output", "siamese_outputs", "sequential_text", "sgd_even"])
def test_like_the_old_one(name):
    case = oracle.load(name)
    template = case.template()
    parallel = multi_gpu_model(template, case.record["gpus"])
    outputs = len(case.record["output_names"])
    assert list(parallel.output_names) == case.record["output_names"]
    assert parallel.layers[-(outputs + 1)] is template
    assert [layer.name for layer in parallel.layers[-outputs:]] == case.record["output_names"]
    assert parallel.get_layer(template.name) is template
    assert [t.name for t in parallel.inputs] == [t.name for t in template.inputs]
    assert [tuple(t.shape) for t in parallel.outputs] == [tuple(t.shape) for t in template.outputs]
    assert template_of(parallel) is template
    assert template_of(template) is template
    assert isinstance(parallel, (ParallelModel, keras.Model))


def test_layers_minus_two():
    template = mlp()
    assert multi_gpu_model(template, 2).layers[-2] is template


def test_weights_in_the_order_of_the_template():
    template = oracle.load("multi_input_output").template()
    parallel = multi_gpu_model(template, 2)
    assert difference(parallel.get_weights(), template.get_weights()) == 0
    doubled = [2 * w for w in template.get_weights()]
    parallel.set_weights(doubled)
    assert difference(template.get_weights(), doubled) == 0
    assert [v.path for v in parallel.weights] == [v.path for v in template.weights]


def test_summary_shows_the_template(capsys):
    template = mlp()
    multi_gpu_model(template, 2).summary()
    printed = capsys.readouterr().out
    assert template.name in printed
    assert f"{template.count_params()}" in printed


def test_a_further_graph_on_inputs_and_outputs():
    template = mlp()
    parallel = multi_gpu_model(template, 2)
    further = keras.Model(parallel.input, keras.layers.Dense(1)(parallel.output))
    assert further.predict(classes(3)[0], verbose=0).shape == (3, 1)


def test_attributes_may_be_hung_on_it():
    template, other = mlp(), mlp()
    parallel = multi_gpu_model(template, 2)
    parallel.template_model = template
    parallel.callback_model = other
    parallel.anything = [other]
    assert parallel.template_model is template
    assert len(parallel.weights) == len(template.weights)
    assert parallel.layers[-2] is template


class Sees(keras.callbacks.Callback):
    def on_epoch_end(self, epoch, logs=None):
        self.seen = self.model
        self.model.stop_training = True


def test_callback_model_goes_to_the_callbacks():
    template = mlp()
    parallel = multi_gpu_model(template, 2)
    parallel.compile("sgd", "categorical_crossentropy")
    callback = Sees()
    history = parallel.fit(*classes(8), epochs=5, verbose=0, callbacks=[callback])
    assert callback.seen is parallel
    parallel.callback_model = template
    history = parallel.fit(*classes(8), epochs=5, verbose=0, callbacks=[callback])
    assert callback.seen is template
    assert len(history.history["loss"]) == 1  # a callback stops the training through its own model
    assert history.model is template
    template.stop_training = False
    parallel.callback_model = None
    parallel.fit(*classes(8), verbose=0, callbacks=[callback])
    assert callback.seen is parallel


def nested():
    inner = keras.Sequential([keras.Input((8,)), keras.layers.Dense(5), keras.layers.BatchNormalization()])
    inputs = keras.Input((8,))
    return keras.Model(inputs, keras.layers.Dense(3)(inner(inputs)))


def shared_layer():
    a, b = keras.Input((4,)), keras.Input((4,))
    dense = keras.layers.Dense(3)
    return keras.Model([a, b], keras.layers.Concatenate()([dense(a), dense(b)]))


def dict_of_outputs():
    inputs = keras.Input((8,))
    return keras.Model({"x": inputs}, {"u": keras.layers.Dense(2)(inputs), "v": keras.layers.Dense(3)(inputs)})


class Subclassed(keras.Model):
    def __init__(self):
        super().__init__()
        self.dense = keras.layers.Dense(3)
        self.drop = keras.layers.Dropout(0.5)

    def call(self, inputs, training=None):
        return self.drop(self.dense(inputs), training=training)


def built_by_data():
    model = Subclassed()
    model(np.ones((1, 8)))
    return model


def built_by_shape():
    model = Subclassed()
    model.build((None, 8))
    return model


class TwoInputs(keras.Model):
    def __init__(self):
        super().__init__()
        self.dense = keras.layers.Dense(3)

    def call(self, inputs):
        a, b = inputs
        return {"sum": self.dense(a) + self.dense(b), "first": self.dense(a)}


def subclassed_with_two_inputs():
    model = TwoInputs()
    model([np.ones((1, 4)), np.ones((1, 4))])
    return model


def on_the_cpu():
    with tf.device("/cpu:0"):
        return mlp()


def sequential_built_late():
    model = keras.Sequential([keras.layers.Dense(3)])
    model.build((None, 8))
    return model


@pytest.mark.one_in(2)
@pytest.mark.parametrize(
    "build",
    [
        nested, shared_layer, dict_of_outputs, built_by_data, built_by_shape, subclassed_with_two_inputs, on_the_cpu,
        sequential_built_late,
    ],
)  # fmt: skip
def test_kinds_of_templates(build):
    template = build()
    parallel = parallelize(template, 3)
    x = np.random.default_rng(0).normal(size=(7, 8)).astype("float32")
    if build in (shared_layer, subclassed_with_two_inputs):
        x = [x[:, :4], x[:, 4:]]
    expected = template.predict(x, verbose=0)
    assert difference(parallel.predict(x, verbose=0), expected) < 1e-5
    parallel.compile("sgd", "mse")
    parallel.train_on_batch(x, keras.tree.map_structure(np.ones_like, expected))
    assert difference(template.predict(x, verbose=0), expected) > 1e-4
    assert difference(parallel.predict(x, verbose=0), template.predict(x, verbose=0)) < 1e-5


def test_output_names_of_other_templates():
    assert list(parallelize(built_by_data(), 2).output_names) == ["output_1"]
    assert list(parallelize(subclassed_with_two_inputs(), 2).output_names) == ["first", "sum"]


def test_a_name_used_for_the_model_and_its_output():
    inputs = keras.Input((8,))
    template = keras.Model(inputs, keras.layers.Dense(2, name="net")(inputs), name="net")
    parallel = parallelize(template, 2)
    assert list(parallel.output_names) == ["net"]
    parallel.compile("sgd", {"net": "mse"})
    parallel.train_on_batch(np.ones((4, 8)), np.ones((4, 2)))


@pytest.mark.parametrize("model", [keras.Sequential([keras.layers.Dense(3)]), Subclassed()])
def test_unbuilt_models_are_refused(model):
    with pytest.raises(ValueError, match="Expected a built model"):
        parallelize(model, 2)


@pytest.mark.parametrize("model", [None, "model", keras.layers.Dense(2)])
def test_what_is_no_model_is_refused(model):
    with pytest.raises(TypeError, match="Expected `model` to be a Keras model"):
        parallelize(model, 2)


def test_stateful_layers_are_refused():
    inputs = keras.Input(batch_shape=(4, 3, 2))
    with pytest.raises(ValueError, match="stateful"):
        parallelize(keras.Model(inputs, keras.layers.LSTM(2, stateful=True)(inputs)), 2)


def test_a_training_step_of_its_own_is_refused():
    class OwnStep(keras.Model):
        def train_step(self, data):
            return {}

    inputs = keras.Input((8,))
    parallel = parallelize(OwnStep(inputs, keras.layers.Dense(3)(inputs)), 2)
    assert parallel.predict(np.ones((4, 8)), verbose=0).shape == (4, 3)
    with pytest.raises(ValueError, match=r"overrides.*train_step"):
        parallel.compile("sgd", "mse")


def test_frozen_layers_stay_frozen():
    template = nested()
    template.layers[1].trainable = False
    frozen = template.layers[1].get_weights()
    parallel = parallelize(template, 2)
    parallel.compile("sgd", "mse")
    parallel.fit(*classes(16), verbose=0)
    assert difference(frozen, template.layers[1].get_weights()) == 0


def test_model_without_trainable_weights():
    template = mlp()
    template.trainable = False
    parallel = parallelize(template, 2)
    parallel.compile("sgd", "mse")
    with pytest.warns(UserWarning, match="trainable"):
        parallel.train_on_batch(*classes(8))


class Numbers(keras.Model):
    """Takes whole numbers, and needs `training`."""

    def __init__(self):
        super().__init__()
        self.dense = keras.layers.Dense(3)

    def call(self, inputs, training):
        return self.dense(tf.one_hot(inputs, 10))


class Words(keras.Model):
    def __init__(self):
        super().__init__()
        self.lookup = keras.layers.StringLookup(vocabulary=["a", "b"], output_mode="one_hot")
        self.dense = keras.layers.Dense(3)

    def call(self, inputs):
        return self.dense(keras.ops.concatenate([self.lookup(inputs["word"]), inputs["number"]], axis=-1))


class Large(keras.Model):
    """Takes ids that no float32 holds."""

    def __init__(self):
        super().__init__()
        self.hash = keras.layers.Hashing(13, output_mode="one_hot")
        self.dense = keras.layers.Dense(3)

    def call(self, inputs):
        return self.dense(self.hash(inputs))


@pytest.mark.parametrize("kind", [Numbers, Words, Large])
def test_a_subclassed_template_gets_its_inputs_as_they_are(kind):
    numbers = np.arange(7) % 5
    inputs = {
        Numbers: numbers.astype("int32"),
        Words: {"word": tf.constant([["a"], ["b"]] * 3 + [["c"]]), "number": numbers.astype("float32")[:, None]},
        Large: 10**9 + numbers[:, None],
    }[kind]
    template = kind()
    template(inputs, training=False) if kind is Numbers else template(inputs)
    parallel = parallelize(template, 3)
    expected, predicted = template.predict_on_batch(inputs), parallel.predict_on_batch(inputs)
    assert difference(predicted, expected) < 1e-6
    assert np.ptp(expected, axis=0).max() > 0


def in_lists():
    """The commonest form of that time: `Model(inputs=[x], outputs=[y])`."""
    inputs = keras.Input((8,))
    return keras.Model(inputs=[inputs], outputs=[keras.layers.Dense(3, name="y")(inputs)])


@pytest.mark.one_in(2)
@pytest.mark.parametrize("targets_in_a_list", [False, True])
@pytest.mark.parametrize("loss", ["mse", ["mse"], {"y": "mse"}])
def test_one_input_and_one_output_in_lists(loss, targets_in_a_list):
    x, y = classes(101)
    arguments = {"loss": loss, "metrics": ["mae"]}
    train_both(in_lists, lambda: {"optimizer": keras.optimizers.SGD(0.1), **arguments},
               [x], [y] if targets_in_a_list else y, replicas=3)  # fmt: skip


def test_an_input_may_be_an_output():
    inputs = keras.Input((8,))
    parallel = parallelize(keras.Model(inputs, [keras.layers.Dense(3, name="dense")(inputs), inputs]), 2)
    x = np.ones((5, 8), "float32")
    _, same = parallel.predict(x, verbose=0)
    np.testing.assert_array_equal(same, x)


def test_repr_shows_template_replicas_and_devices():
    template = mlp()
    said = repr(parallelize(template, [0, 2]))
    assert said.startswith("<ParallelModel name=")
    assert f"template={template.name}, 2 replicas on CPU:0, CPU:2>" in said
