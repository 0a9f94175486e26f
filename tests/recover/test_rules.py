"""Each change between Keras 2's configs and Keras 3's: what goes in, what comes out, what is left alone."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from parallel_compat import CheckpointError
from parallel_compat.recover.config_json import model_entry
from parallel_compat.recover.config_walk import translate
from parallel_compat.recover.rules.training import compiled

if TYPE_CHECKING:
    from parallel_compat.recover.translation import Translation


def one_layer(class_name: str, config: dict[str, Any], version: str = "2.2.4") -> tuple[Translation, dict[str, Any]]:
    layer = {"class_name": class_name, "config": {"name": "it", **config}}
    model = {"class_name": "Sequential", "config": {"name": "m", "layers": [layer]}}
    translation = translate(model_entry(json.dumps(model)), version)
    return translation, translation.config["config"]["layers"][-1]


@pytest.mark.parametrize(
    ("class_name", "before", "after"),
    [
        ("LeakyReLU", {"alpha": 0.3}, {"negative_slope": 0.3}),
        ("LeakyReLU", {"alpha": {"type": "ndarray", "value": 0.3}}, {"negative_slope": 0.3}),
        ("BatchNormalization", {"axis": [3]}, {"axis": 3}),
        ("BatchNormalization", {"axis": -1}, {"axis": -1}),
        ("BatchNormalizationV1", {"axis": [1], "renorm": False, "fused": True}, {"axis": 1}),
        ("LSTM", {"units": 2, "time_major": False, "implementation": 1, "recurrent_activation": "sigmoid"}, {"units": 2, "recurrent_activation": "sigmoid"}),
        ("GRU", {"units": 2, "recurrent_activation": "sigmoid"}, {"units": 2, "recurrent_activation": "sigmoid", "reset_after": False}),
        ("Dense", {"units": 2, "activation": "softmax_v2"}, {"units": 2, "activation": "softmax"}),
        ("Dense", {"units": 2, "dtype": {"class_name": "Policy", "config": {"name": "mixed_float16"}}}, {"units": 2, "dtype": "mixed_float16"}),
        ("Reshape", {"target_shape": {"class_name": "__tuple__", "items": [2, 3]}}, {"target_shape": [2, 3]}),
        ("Embedding", {"input_dim": 3, "output_dim": 2, "input_length": 7}, {"input_dim": 3, "output_dim": 2, "mask_zero": False}),
        ("SpatialDropout1D", {"rate": 0.5, "noise_shape": None, "trainable": True}, {"rate": 0.5}),
        (
            "Dense",
            {"units": 2, "kernel_initializer": {"class_name": "VarianceScaling", "config": {"distribution": "normal", "dtype": "float32"}}},
            {"units": 2, "kernel_initializer": {"class_name": "VarianceScaling", "config": {"distribution": "truncated_normal"}}},
        ),
    ],
)  # fmt: skip
def test_config_becomes(class_name: str, before: dict[str, Any], after: dict[str, Any]) -> None:
    translation, layer = one_layer(class_name, before)
    translation.check()
    assert layer["config"] == {"name": "it", **after}


@pytest.mark.parametrize(
    ("class_name", "config", "said"),
    [
        ("LSTM", {"units": 2, "time_major": True}, "time_major"),
        ("BatchNormalization", {"axis": [1, 2]}, "one axis"),
        ("BatchNormalization", {"axis": 1, "renorm": True}, "renorm"),
        ("LocallyConnected1D", {"filters": 2}, "LocallyConnected1D"),
        ("Dense", {"units": 2, "magic": 1}, "magic"),
        ("Dense", {"units": 2, "activation": "my_own"}, "my_own"),
        ("Dense", {"units": 2, "activation": "gelu"}, "gelu"),  # a project's own: TensorFlow's came with 2.4
        ("SimpleRNN", {"units": 2, "activation": "hard_sigmoid"}, "hard_sigmoid"),
        ("Attention", {"causal": True}, "causal"),
    ],
)
def test_what_has_no_counterpart_is_refused_by_name(class_name: str, config: dict[str, Any], said: str) -> None:
    with pytest.raises(CheckpointError, match=said):
        one_layer(class_name, config)[0].check()


def test_thresholded_relu_becomes_relu() -> None:
    layer = one_layer("ThresholdedReLU", {"theta": 0.2})[1]
    assert (layer["class_name"], layer["config"]["threshold"]) == ("ReLU", 0.2)


def test_sequential_gets_an_input_layer() -> None:
    config = one_layer("Dense", {"units": 2, "batch_input_shape": [None, 4]})[0].config["config"]
    assert [layer["class_name"] for layer in config["layers"]] == ["InputLayer", "Dense"]
    assert config["layers"][0]["config"]["batch_shape"] == [None, 4]


TRAINING = {"loss": "mse", "metrics": ["acc"], "loss_weights": None}


def optimizer(name: str, config: dict[str, Any], *, tf_keras: bool = False) -> dict[str, Any]:
    found = compiled({**TRAINING, "optimizer_config": {"class_name": name, "config": config}}, [], tf_keras=tf_keras)
    assert found is not None
    assert (found["loss"], found["metrics"]) == ("mean_squared_error", ["accuracy"])
    return dict(found["optimizer_config"]["config"])


def test_optimizers() -> None:
    assert optimizer("SGD", {"lr": 0.5, "momentum": 0.0, "decay": 0.0}) == {
        "learning_rate": 0.5,
        "momentum": 0.0,
    }
    assert optimizer("SGD", {"lr": 0.5, "decay": 0.1})["learning_rate"]["class_name"] == "InverseTimeDecay"
    assert optimizer("Adam", {"lr": 0.1, "epsilon": None})["epsilon"] == 1e-7
    # Keras clipped the norm of all gradients together, tf.keras's OptimizerV2 each one's.
    assert "global_clipnorm" in optimizer("SGD", {"lr": 0.5, "clipnorm": 1.0})
    assert "clipnorm" in optimizer("SGD", {"learning_rate": 0.5, "clipnorm": 1.0}, tf_keras=True)


def test_a_schedule_of_nadam_s_momentum_is_not_left_out_without_a_word() -> None:
    assert optimizer("Nadam", {"lr": 0.1, "schedule_decay": 0.004}) == optimizer("Nadam", {"lr": 0.1})
    notes: list[str] = []
    config = {"class_name": "Nadam", "config": {"lr": 0.1, "schedule_decay": 0.5}}
    compiled({**TRAINING, "optimizer_config": config}, notes, tf_keras=False)
    assert any("`schedule_decay` is 0.5" in note for note in notes)


def test_a_loss_of_the_projects_own_keeps_the_optimizer() -> None:
    notes: list[str] = []
    config = {"class_name": "SGD", "config": {"lr": 0.5}}
    found = compiled({"optimizer_config": config, "loss": "dice_loss", "metrics": ["f1"]}, notes, tf_keras=False)
    assert found is not None
    assert found["loss"] is None
    assert any("dice_loss" in note for note in notes)


def dense(name: str, source: str) -> dict[str, Any]:
    nodes = [[[source, 0, 0, {}]]] if source else []
    kind = "Dense" if source else "InputLayer"
    config = {"name": name, "units": 2} if source else {"name": name, "batch_input_shape": [None, 4]}
    return {"class_name": kind, "name": name, "config": config, "inbound_nodes": nodes}


def functional(*layers: dict[str, Any], name: str = "m") -> Translation:
    ends = {"input_layers": [[layers[0]["name"], 0, 0]], "output_layers": [[layers[-1]["name"], 0, 0]]}
    config = {"name": name, "layers": list(layers), **ends}
    return translate(model_entry(json.dumps({"class_name": "Model", "config": config})), "2.2.4")


def test_names_with_slashes() -> None:
    found = functional(dense("in/x", ""), dense("conv1/bn", "in/x"), dense("out", "conv1/bn"))
    found.check()
    config = found.config["config"]
    assert [layer["name"] for layer in config["layers"]] == ["in_x", "conv1_bn", "out"]
    assert [layer["config"]["name"] for layer in config["layers"]] == ["in_x", "conv1_bn", "out"]
    assert config["layers"][2]["inbound_nodes"][0][0][0] == "conv1_bn"
    assert config["input_layers"] == ["in_x", 0, 0]


def test_names_that_become_the_same_are_refused() -> None:
    with pytest.raises(CheckpointError, match="would be called 'a_b'"):
        functional(dense("x", ""), dense("a/b", "x"), dense("a_b", "a/b")).check()


@pytest.mark.parametrize(
    ("old", "new"), [("Wide ResNet", "Wide_ResNet"), ("mod\u00e8le", "mod_le"), ("_m", "model_m"), ("m-1.x", "m-1.x")]
)
def test_names_of_models_that_tensorflow_refuses_as_scopes(old: str, new: str) -> None:
    found = functional(dense("x", ""), dense("out", "x"), name=old)
    assert found.config["config"]["name"] == new
    assert bool(found.notes) == (old != new)


def test_losses_by_output_follow_the_outputs_names() -> None:
    config = {"class_name": "SGD", "config": {"lr": 0.5}}
    training = {"optimizer_config": config, "loss": {"a/b": "mse"}, "loss_weights": {"a/b": 2.0}}
    found = compiled(training, [], tf_keras=False)
    assert found is not None
    assert (found["loss"], found["loss_weights"]) == ({"a_b": "mean_squared_error"}, {"a_b": 2.0})
