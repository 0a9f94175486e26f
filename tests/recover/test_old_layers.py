"""Files of Keras 1, of Theano, and with layers that Keras 3 does not have: recovered, they predict as they did."""

from __future__ import annotations

import contextlib
import json
import re
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest

from parallel_compat import CheckpointError, load_template_weights, recover_template
from parallel_compat.recover.recovering import recover
from recover.old_files import OLD, skip_without_masks

LAYERS = OLD.parent / "old_layers"
WHOLE = sorted(LAYERS.glob("*.template.h5"))
WEIGHTS = sorted(LAYERS.glob("*.template_weights.h5"))


def whole_of(path: Path) -> Path:
    return path.with_name(path.name.replace("_weights", ""))


def assert_predicts(model: Any, path: Path) -> None:
    skip_without_masks(model)
    arrays = np.load(LAYERS / f"{path.name.split('.')[0]}.npz")
    inputs = [arrays[key] for key in sorted(arrays.files) if key.startswith("x_")]
    predicted = model.predict(inputs if len(inputs) > 1 else inputs[0], verbose=0)
    predicted = predicted if isinstance(predicted, list) else [predicted]
    expected = [arrays[key] for key in sorted(arrays.files) if key.startswith("predict_")]
    assert [one.shape for one in predicted] == [one.shape for one in expected]
    for ours, theirs in zip(predicted, expected, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-5, atol=2e-6)


def copy_of(source: Path, target: Path) -> Path:
    target.write_bytes(source.read_bytes())
    return target


@pytest.mark.parametrize("source", WHOLE, ids=lambda path: path.name.split(".")[0])
def test_recovered_file_predicts_as_recorded(source: Path, tmp_path: Path) -> None:
    import keras

    recover(source, tmp_path / "out.h5")
    assert_predicts(keras.models.load_model(tmp_path / "out.h5"), source)


@pytest.mark.parametrize("out", ["out.h5", "out.keras", None])
def test_a_keras_that_drops_masks_is_named(out: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As the nightly of 3.16, whose Bidirectional hands no mask on."""
    from keras.layers import Bidirectional

    source = LAYERS / "keras122_texts.template.h5"
    monkeypatch.setattr(Bidirectional, "supports_masking", property(lambda _: False, lambda _, value: None))
    notes = recover(source, out and tmp_path / out).notes
    assert sum("drops the mask behind these layers" in note and "old ones: both." in note for note in notes) == 1


@pytest.mark.parametrize("case", ["keras122_texts", "keras224theano_turned", "tf223_local", "tf223_backwards"])
def test_so_does_a_keras_file(case: str, tmp_path: Path) -> None:
    import keras

    source = LAYERS / f"{case}.template.h5"
    recover(source, tmp_path / "out.keras")
    assert_predicts(keras.models.load_model(tmp_path / "out.keras"), source)


@pytest.mark.parametrize("source", [*WEIGHTS, LAYERS / "keras122_texts.template.h5"], ids=lambda path: path.name)
def test_weights_are_loaded_into_a_living_model(source: Path) -> None:
    model = recover(whole_of(source), None).model
    model.set_weights([np.full(value.shape, 0.5) for value in model.get_weights()])
    load_template_weights(model, source)
    assert_predicts(model, source)


@pytest.mark.parametrize("source", WEIGHTS, ids=lambda path: path.name)
def test_weights_that_are_laid_out_anew_need_the_architecture(source: Path, tmp_path: Path) -> None:
    import keras

    with pytest.raises(CheckpointError, match="--architecture"):
        recover(source, tmp_path / "out.h5", weights_only=True)
    recover(source, tmp_path / "out.h5", architecture=whole_of(source))
    assert_predicts(keras.models.load_model(tmp_path / "out.h5"), source)


def test_theano_is_told_by_the_group_of_weights_too(tmp_path: Path) -> None:
    """The first of Keras 2 wrote their backend there alone."""
    source = copy_of(LAYERS / "keras224theano_turned_first.template.h5", tmp_path / "in.h5")
    with h5py.File(source, "r+") as file:
        del file.attrs["backend"]
        assert file["model_weights"].attrs["backend"] in (b"theano", "theano")
    assert_predicts(recover(source, None).model, LAYERS / "keras224theano_turned_first.template.h5")


def test_kernels_of_an_unknown_backend_are_refused_and_other_weights_are_not(tmp_path: Path) -> None:
    for case, fails in (("turned_first", True), ("without", False)):
        source = copy_of(LAYERS / f"keras224theano_{case}.template.h5", tmp_path / f"{case}.h5")
        with h5py.File(source, "r+") as file:
            file.attrs["backend"] = b"another"
        if fails:
            with pytest.raises(CheckpointError, match="orientation is not known"):
                recover(source, None)
        else:
            assert_predicts(recover(source, None).model, LAYERS / "keras224theano_without.template.h5")


def test_weights_of_theano_by_name() -> None:
    """`load_weights(by_name=True)` turns kernels, too; those of separable convolutions never stood the other way."""
    from parallel_compat.recover.loading import load_weights_by_name

    model = recover(LAYERS / "keras224theano_turned.template.h5", None).model
    expected = model.get_weights()
    model.set_weights([np.full(value.shape, 0.5) for value in expected])
    load_weights_by_name(model, LAYERS / "keras224theano_turned.template_weights.h5")
    for ours, theirs in zip(model.get_weights(), expected, strict=True):
        np.testing.assert_allclose(ours, theirs)


@pytest.mark.parametrize("case", ["keras122_nested", "keras224theano_without"])
def test_training_goes_on_where_weights_are_as_they_were(case: str) -> None:
    found = recover(LAYERS / f"{case}.template.h5", None)
    assert found.notes == []
    assert int(found.model.optimizer.iterations) == 1
    assert any(np.any(variable.numpy()) for variable in found.model.optimizer.variables[2:])


def test_keras_1_sorted_the_state_of_weights_by_their_names() -> None:
    source = LAYERS / "keras122_nested.template.h5"
    optimizer = recover(source, None).model.optimizer
    with h5py.File(source) as file:
        names = [name for group in file["model_weights"].values() for name in group.attrs["weight_names"]]
        names = sorted(name.decode() for name in names if b"running" not in name)
        state = [file["optimizer_weights"][name][()] for name in file["optimizer_weights"].attrs["weight_names"]]
    moments = {name.split(":")[0]: value for name, value in zip(names, state[1:], strict=False)}
    new = {
        "first_bn_gamma": "bn_gamma",
        "first_bn_beta": "bn_beta",
        "first_dense_W": "dense_kernel",
        "first_dense_b": "dense_bias",
    }
    for old, ending in new.items():
        variable = next(one for one in optimizer.variables if one.path.endswith(f"{ending}_momentum"))
        np.testing.assert_array_equal(variable.numpy(), moments[old])


def test_a_step_counter_may_be_a_float(tmp_path: Path) -> None:
    """Until Keras 2.0.7 it was."""
    source = copy_of(OLD / "keras224_resume_adam.parallel.h5", tmp_path / "in.h5")
    with h5py.File(source, "r+") as file:
        state = file["optimizer_weights"]
        name = next(name for name in state.attrs["weight_names"] if state[name].shape == ())
        steps = int(state[name][()])
        del state[name]
        state.create_dataset(name, data=np.float32(steps))
    found = recover(source, None)
    assert not any("state" in note for note in found.notes)
    assert int(found.model.optimizer.iterations) == steps > 0


def test_layers_that_are_gone_keep_their_weights_where_only_those_are_wanted(tmp_path: Path) -> None:
    """Also where, by `cpu_relocation`, the weights bear other names than their layer ("local_1/kernel:0")."""
    recover(OLD / "keras224_locally_connected.parallel.h5", tmp_path / "out.h5", weights_only=True)
    with h5py.File(tmp_path / "out.h5") as file:
        shapes = {name: [file[name][one].shape for one in file[name].attrs["weight_names"]] for name in file}
    assert {name: found for name, found in shapes.items() if found} == {
        "local": [(3, 4, 2), (3, 2)],
        "out": [(6, 2), (2,)],
    }


def changed(source: Path, target: Path, change: Any) -> Path:
    """Copy a file with its config changed."""
    copy_of(source, target)
    with h5py.File(target, "r+") as file:
        config = json.loads(file.attrs["model_config"])
        change({layer["name"]: layer for layer in config["config"]["layers"]})
        file.attrs["model_config"] = json.dumps(config).encode()
    return target


def test_operations_that_mix_samples_are_refused(tmp_path: Path) -> None:
    def mix(layers: dict[str, Any]) -> None:
        layers["tf_op_layer_Transpose"]["config"]["constants"]["1"] = [1, 0, 2]

    source = changed(LAYERS / "tf223_operations.template.h5", tmp_path / "in.h5", mix)
    with pytest.raises(CheckpointError, match="TensorFlowOpLayer"):
        recover(source, tmp_path / "out.h5")


@pytest.mark.parametrize("mode", [1, 2])
def test_what_keras_2_dropped_is_refused_by_name(mode: int, tmp_path: Path) -> None:
    def other(layers: dict[str, Any]) -> None:
        layers["bn"]["config"]["mode"] = mode

    source = changed(LAYERS / "keras122_images_first.template.h5", tmp_path / "in.h5", other)
    with pytest.raises(CheckpointError, match="no `mode`"):
        recover(source, tmp_path / "out.h5")


def test_a_file_is_not_good_before_keras_has_loaded_it(tmp_path: Path) -> None:
    def misfit(layers: dict[str, Any]) -> None:
        layers["shape"]["config"]["target_shape"] = [5, 5]

    source = changed(LAYERS / "tf223_local.template.h5", tmp_path / "in.h5", misfit)
    with pytest.raises(CheckpointError, match="Keras cannot"):
        recover(source, tmp_path / "out.h5")
    assert not (tmp_path / "out.h5").exists()
    recover(source, tmp_path / "out.h5", weights_only=True)


def test_a_file_that_keras_does_not_load_is_not_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The model was built, and what is written is loaded all the same."""
    import keras

    def refuse(*given: object, **named: object) -> None:
        raise ValueError("not this one")

    monkeypatch.setattr(keras.models, "load_model", refuse)
    with pytest.raises(CheckpointError, match="Keras cannot load"):
        recover(LAYERS / "tf223_local.template.h5", tmp_path / "out.h5")
    assert not (tmp_path / "out.h5").exists()


def test_what_keras_prints_in_bold_is_plain_in_errors(tmp_path: Path) -> None:
    def misfit(layers: dict[str, Any]) -> None:
        layers["both"]["config"]["layer"]["config"]["return_sequences"] = False

    source = changed(LAYERS / "tf223_backwards.template.h5", tmp_path / "in.h5", misfit)
    with pytest.raises(CheckpointError) as raised:
        recover_template(source)
    assert "\x1b" not in str(raised.value)
    assert "\x1b" not in str(CheckpointError("Argument \x1b[1mx\x1b[0m"))


@pytest.mark.parametrize("out", ["out.keras", "out.weights.h5"])
def test_the_way_out_is_not_what_was_tried(out: str, tmp_path: Path) -> None:
    """A Lambda layer is kept in `.h5` alone, and weights alone are taken out into `.h5`: both work."""
    source = OLD / "keras224_own_lambda.template.h5"
    for keep in (False, True):
        with pytest.raises(CheckpointError) as raised:
            recover(source, tmp_path / out, keep_lambda=keep, weights_only=out.endswith(".weights.h5"))
        assert "in an .h5 file" in str(raised.value)
        assert "-o NAME.h5 --weights-only" in str(raised.value)
    recover(source, tmp_path / "name.h5", weights_only=True)
    recover(source, tmp_path / "whole.h5", keep_lambda=True)


def test_score_mode_of_attention_is_taken() -> None:
    from recover.test_rules import one_layer

    translation, layer = one_layer("Attention", {"use_scale": True, "score_mode": "concat"}, "2.9.0")
    translation.check()
    assert layer["config"]["score_mode"] == "concat"
    from parallel_compat.recover.layer_weights import specs

    assert [spec.name for spec in specs("Attention", layer["config"]) or ()] == ["scale", "concat_score_weight"]


def test_no_advice_leads_back_to_keras_2() -> None:
    folder = Path(recover.__code__.co_filename).parent
    for path in folder.rglob("*.py"):
        assert not re.search(r"Keras 2\S* can still", path.read_text()), path


@pytest.mark.parametrize("value", [{}, [[]], -1, "x", None, {"name": {}}])
@pytest.mark.parametrize("argument", ["dim_ordering", "border_mode", "nb_row", "padding", "mode", "W_regularizer"])
def test_an_odd_value_of_keras_1_is_one_error_or_none(argument: str, value: Any, tmp_path: Path) -> None:
    from parallel_compat import inspect_checkpoint

    def odd(layers: dict[str, Any]) -> None:
        for layer in layers.values():
            layer["config"][argument] = value

    source = changed(LAYERS / "keras122_images_first.template.h5", tmp_path / "in.h5", odd)
    with contextlib.suppress(CheckpointError):
        inspect_checkpoint(source)


@pytest.mark.parametrize("case", ["keras122_texts", "tf223_local", "keras224theano_turned"])
def test_weights_of_odd_shapes_are_one_error(case: str, tmp_path: Path) -> None:
    source = copy_of(LAYERS / f"{case}.template.h5", tmp_path / "in.h5")
    with h5py.File(source, "r+") as file:
        for group in file["model_weights"].values():
            for name in group.attrs["weight_names"]:
                if group[name].ndim > 1:
                    del group[name]
                    group.create_dataset(name, data=np.float32(1))
    with pytest.raises(CheckpointError):
        recover(source, tmp_path / "out.h5")


def scaled(x: Any, by: float) -> Any:
    return x * by


def lambda_by_name(path: Path) -> Path:
    """A Lambda layer that Keras 2.2.4 wrote by the name of its function."""
    config = {
        "name": "scale",
        "trainable": True,
        "batch_input_shape": [None, 2],
        "dtype": "float32",
        "function": "scaled",
        "function_type": "function",
        "output_shape": None,
        "output_shape_type": "raw",
        "arguments": {"by": 2.0},
    }
    layers = [{"class_name": "Lambda", "config": config}]
    with h5py.File(path, "w") as file:
        file.attrs.update(keras_version=b"2.2.4", backend=b"tensorflow")
        model = {"class_name": "Sequential", "config": {"name": "s", "layers": layers}}
        file.attrs["model_config"] = json.dumps(model).encode()
        weights = file.create_group("model_weights")
        weights.attrs.update(layer_names=[b"scale"], backend=b"tensorflow", keras_version=b"2.2.4")
        weights.create_group("scale").attrs["weight_names"] = np.zeros(0, "S1")
    return path


@pytest.mark.parametrize("out", [None, "out.h5"])
def test_a_lambda_layer_by_a_name_that_is_given(out: str | None, tmp_path: Path) -> None:
    import keras

    source = lambda_by_name(tmp_path / "in.h5")
    found = recover(source, None if out is None else tmp_path / out, custom_objects={"scaled": scaled})
    model = found.model if out is None else keras.models.load_model(tmp_path / out, custom_objects={"scaled": scaled})
    np.testing.assert_array_equal(model.predict(np.ones((1, 2)), verbose=0), [[2.0, 2.0]])


def test_a_lambda_layer_by_a_name_that_is_not_given(tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match=r"scaled \(in scale.function\).*custom_objects"):
        recover(lambda_by_name(tmp_path / "in.h5"), None)
