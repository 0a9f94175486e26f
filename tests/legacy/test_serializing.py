"""`serialize` and `deserialize`: the forms of Keras 2.2.4, TensorFlow 1.15.5 and 2.2.3."""

from __future__ import annotations

import pytest

import parallel_compat

KERAS, TF_1, TF_2 = "keras-2.2.4", "tf.keras-1.15", "tf.keras-2.2"
SCALED = {"scale": 2.0, "mode": "fan_in", "distribution": "truncated_normal", "seed": None}
UNIFORM = {"scale": 1.0, "mode": "fan_avg", "distribution": "uniform", "seed": None}


@pytest.fixture
def era(request):
    with parallel_compat.legacy_names(era=request.param):
        yield request.param


@pytest.mark.parametrize("era", [KERAS, TF_1, TF_2], indirect=True)
def test_regularizers_are_of_one_class(era):
    from keras import layers, regularizers

    form = {"class_name": "L1L2", "config": {"l1": 0.25, "l2": 0.0}}
    assert regularizers.serialize(regularizers.l1(0.25)) == form
    assert regularizers.serialize(regularizers.deserialize(form)) == form
    assert isinstance(regularizers.get("l2"), regularizers.L1L2)
    layer = layers.Dense(1, kernel_regularizer=regularizers.l2(0.5))
    layer.build((None, 2))
    layer.set_weights([[[1.0], [2.0]], [0.0]])
    assert [float(loss) for loss in layer.losses] == [2.5]


@pytest.mark.parametrize(
    ("era", "config"),
    [
        (KERAS, {"lr": 0.5, "momentum": 0.0, "decay": 0.0, "nesterov": False}),
        (TF_2, {"name": "SGD", "learning_rate": 0.5, "decay": 0.0, "momentum": 0.0, "nesterov": False}),
    ],
    indirect=["era"],
)
def test_optimizers(era, config):
    from keras import optimizers

    form = {"class_name": "SGD", "config": config}
    assert optimizers.serialize(optimizers.SGD(0.5)) == form
    assert optimizers.serialize(optimizers.deserialize(dict(form))) == form


@pytest.mark.parametrize(
    ("era", "he_normal", "glorot_uniform"),
    [
        (KERAS, ("VarianceScaling", {**SCALED, "distribution": "normal"}), ("VarianceScaling", UNIFORM)),
        (
            TF_1,
            ("VarianceScaling", {**SCALED, "dtype": "float32"}),
            ("GlorotUniform", {"seed": None, "dtype": "float32"}),
        ),
        (TF_2, ("VarianceScaling", SCALED), ("GlorotUniform", {"seed": None})),
    ],
    indirect=["era"],
)
def test_initializers(era, he_normal, glorot_uniform):
    from keras import initializers

    for name, (kind, config) in (("he_normal", he_normal), ("glorot_uniform", glorot_uniform)):
        form = {"class_name": kind, "config": config}
        assert initializers.serialize(initializers.get(name)) == form
        assert initializers.serialize(initializers.deserialize(form)) == form
        assert initializers.serialize(initializers.get(form)) == form


@pytest.mark.parametrize("era", [KERAS, TF_1, TF_2], indirect=True)
def test_functions_are_names(era):
    from keras import activations, constraints, losses

    def mine(x):
        return x

    assert activations.serialize(activations.hard_sigmoid) == "hard_sigmoid"
    assert activations.serialize(mine) == "mine"
    assert losses.serialize(losses.kld) == "kullback_leibler_divergence"
    assert constraints.serialize(constraints.max_norm(3)) == {
        "class_name": "MaxNorm",
        "config": {"max_value": 3, "axis": 0},
    }


@pytest.mark.parametrize("era", [TF_1, TF_2], indirect=True)
def test_losses(era):
    from tensorflow.keras import losses

    config = {"reduction": "auto", "name": "binary_crossentropy", "from_logits": False, "label_smoothing": 0}
    form = {"class_name": "BinaryCrossentropy", "config": config}
    assert losses.serialize(losses.BinaryCrossentropy()) == form
    assert losses.serialize(losses.deserialize(form)) == form
