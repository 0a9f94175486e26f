"""`load_template_weights` takes files of parallel and single models, whole or weights only, and says
which."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from parallel_compat import CheckpointError, load_template_weights
from parallel_compat.recover.recovering import recover
from recover.old_files import OLD, WEIGHTS, WHOLE, assert_predicts, case_of, custom_objects, in_every_format

if TYPE_CHECKING:
    from collections.abc import Callable

ORACLE = Path(__file__).parent.parent / "data" / "oracle" / "h5"
LOADABLE = [
    path
    for path in [*WHOLE, *WEIGHTS]
    if not any(word in path.name for word in ("resume", "own_lambda", "keras224_bilinear", "locally_connected"))
]


def blank(source: Path) -> Any:
    """A model of the same layers as a file's, with other weights."""
    whole = next(path for path in WHOLE if case_of(path) == case_of(source))
    model = recover(whole, None, custom_objects=custom_objects()).model
    model.set_weights([np.full(value.shape, 0.5) for value in model.get_weights()])
    return model


def always(path: Path, suffix: str) -> bool:
    """Between versions of Keras the lists of names differ little: by default one version of each kind of file."""
    return path.name.startswith(("keras224", "tf223")) or "lstm" in path.name


@pytest.mark.one_in(6)
@pytest.mark.parametrize(("source", "suffix"), in_every_format(LOADABLE, always, ""))
def test_every_kind_of_file_is_loaded(source: Path, suffix: str) -> None:
    model = blank(source)
    loaded = load_template_weights(model, source)
    assert loaded.parallel == (".parallel" in source.name)
    assert loaded.form == ("weights" if "_weights" in source.name else "model")
    assert loaded.weights == len(model.weights)
    assert_predicts(model, source)


def mlp(units: int = 16) -> Any:
    import keras

    x = keras.Input((8,))
    hidden = keras.layers.Dense(units, activation="relu", name="first")(x)
    return keras.Model(x, keras.layers.Dense(3, activation="softmax", name="second")(hidden))


@pytest.mark.parametrize("kind", ["parallel", "parallel_weights", "template", "template_weights"])
def test_a_model_with_other_layer_names_is_loaded_in_order(kind: str) -> None:
    model = mlp()
    loaded = load_template_weights(model, ORACLE / f"sgd_even.{kind}.h5")
    assert str(loaded).startswith("Loaded 4 weights from")
    recorded = np.load(ORACLE / "sgd_even.npz")
    np.testing.assert_allclose(model.predict(recorded["x_0"], verbose=0), recorded["predict_0"], atol=1e-6)


def test_it_says_over_how_many_devices() -> None:
    loaded = load_template_weights(mlp(), ORACLE / "sample_weight.parallel_weights.h5")
    assert (loaded.gpus, loaded.form) == (4, "weights")


@pytest.mark.parametrize("kind", ["parallel", "parallel_weights", "template", "template_weights"])
def test_shapes_that_do_not_fit_change_nothing(kind: str) -> None:
    model = mlp(17)
    before = model.get_weights()
    with pytest.raises(CheckpointError, match="16"):
        load_template_weights(model, ORACLE / f"sgd_even.{kind}.h5")
    for old, new in zip(before, model.get_weights(), strict=True):
        np.testing.assert_array_equal(old, new)


@pytest.mark.parametrize("kind", ["parallel", "parallel_weights", "template", "template_weights"])
def test_another_model_is_an_error(kind: str) -> None:
    with pytest.raises(CheckpointError):
        load_template_weights(mlp(), ORACLE / f"siamese_outputs.{kind}.h5")


def test_a_file_that_would_load_nothing_is_an_error(tmp_path: Path) -> None:
    import h5py

    with h5py.File(tmp_path / "nothing.h5", "w") as file:
        file.attrs["layer_names"] = [b"x"]
        file.attrs["keras_version"] = b"2.2.4"
        file.create_group("x").attrs["weight_names"] = np.zeros(0)
    with pytest.raises(CheckpointError, match="nothing would be loaded"):
        load_template_weights(mlp(), tmp_path / "nothing.h5")


def test_a_model_that_is_not_built_is_an_error() -> None:
    import keras

    with pytest.raises(CheckpointError, match="has no weights yet"):
        load_template_weights(keras.Sequential([keras.layers.Dense(2)]), ORACLE / "sgd_even.template.h5")


def test_gates_of_another_function_are_an_error() -> None:
    import keras

    x = keras.Input((6, 3))
    model = keras.Model(x, keras.layers.Dense(2, name="out")(keras.layers.LSTM(4, name="lstm")(x)))
    with pytest.raises(CheckpointError, match="recurrent_activation='hard_sigmoid'"):
        load_template_weights(model, OLD / "keras224_lstm.parallel.h5")


def test_cells_with_other_gates_are_refused() -> None:
    import keras

    model = blank(OLD / "keras224_cells.template.h5")
    model.get_layer("stack").cell.cells[2].recurrent_activation = keras.activations.sigmoid
    with pytest.raises(CheckpointError, match=r"'stack'.*recurrent_activation='hard_sigmoid'"):
        load_template_weights(model, OLD / "keras224_cells.parallel.h5")


def save_h5(model: Any, path: Path) -> None:
    model.save(path)


def save_weights(model: Any, path: Path) -> None:
    model.save_weights(path)


@pytest.mark.parametrize(("name", "save"), [("own.h5", save_h5), ("own.weights.h5", save_weights)])
def test_files_of_keras_3_are_loaded_too(name: str, save: Callable[[Any, Path], None], tmp_path: Path) -> None:
    model, other = mlp(), mlp()
    save(model, tmp_path / name)
    load_template_weights(other, tmp_path / name)
    for old, new in zip(model.get_weights(), other.get_weights(), strict=True):
        np.testing.assert_array_equal(old, new)


def test_a_model_around_the_template_is_loaded_through() -> None:
    import keras

    inner = mlp()
    x = keras.Input((8,))
    outer = keras.Model(x, keras.layers.Identity(name="merged")(inner(x)))
    for kind in ("parallel", "parallel_weights", "template", "template_weights"):
        inner.set_weights([np.zeros(value.shape) for value in inner.get_weights()])
        load_template_weights(outer, ORACLE / f"sgd_even.{kind}.h5")
        assert np.abs(inner.get_weights()[0]).max() > 0


def whole_config(names: list[str]) -> bytes:
    """A config as TensorFlow 1.15 wrote it, without what computes the added loss."""

    def layer(name: str, kind: str, config: dict[str, Any], before: list[Any]) -> dict[str, Any]:
        return {"name": name, "class_name": kind, "config": {"name": name, **config}, "inbound_nodes": before}

    def dense(name: str, before: str, node: int = 0, units: int = 3) -> dict[str, Any]:
        return layer(name, "Dense", {"units": units, "activation": "tanh"}, [[[before, node, 0, {}]]])

    def model(layers: list[Any], output: str) -> dict[str, Any]:
        ends = {"input_layers": [["a", 0, 0]], "output_layers": [[output, 0, 0]]}
        return {"name": "m", "layers": layers, **ends}

    start = layer("a", "InputLayer", {"batch_input_shape": [None, 6]}, [])
    coder = layer("coder", "Model", model([start, dense("h", "a")], "h"), [[["a", 0, 0, {}]]])
    again = [dense("h", "a")] if "h" in names else []
    layers = [start, coder, dense("out", "coder", 1, 1), *again]
    return json.dumps({"class_name": "Model", "config": model(layers, "out")}).encode()


@pytest.mark.parametrize("whole", [False, True])
@pytest.mark.parametrize("twice", ["the same", "another"])
@pytest.mark.parametrize("renamed", [False, True])
def test_layers_that_a_file_lists_again_are_loaded_once(whole: bool, twice: str, renamed: bool, tmp_path: Path) -> None:
    """`add_loss` of the hidden tensor of a model inside made TensorFlow 1.15 and 2.2 list its layer `h` again."""
    import h5py
    import keras

    draw = np.random.RandomState(0)
    values = {f"h/{name}:0": draw.normal(size=shape) for name, shape in (("kernel", (6, 3)), ("bias", (3,)))}
    values |= {f"out/{name}:0": draw.normal(size=shape) for name, shape in (("kernel", (3, 1)), ("bias", (1,)))}
    groups = {"a": [], "coder": ["h/kernel:0", "h/bias:0"], "out": ["out/kernel:0", "out/bias:0"],
              "h": ["h/kernel:0", "h/bias:0"], "tf_op_layer_Square": [], "add_loss": []}  # fmt: skip
    if whole:
        del groups["tf_op_layer_Square"], groups["add_loss"]
    with h5py.File(tmp_path / "old.h5", "w") as file:
        top = file.create_group("model_weights") if whole else file
        if whole:
            file.attrs["model_config"] = whole_config(list(groups))
        for owner in (file, top):
            owner.attrs["keras_version"], owner.attrs["backend"] = b"2.2.4-tf", b"tensorflow"
        top.attrs["layer_names"] = [name.encode() for name in groups]
        for name, weights in groups.items():
            group = top.create_group(name)
            group.attrs["weight_names"] = [each.encode() for each in weights]
            for each in weights:
                changed = name == "h" and twice == "another"
                group[each] = (values[each] + changed).astype("float32")
    first = keras.Input((6,))
    hidden = keras.layers.Dense(3, activation="tanh", name="other" if renamed else "h")
    coder = keras.Model(first, hidden(first), name="another" if renamed else "coder")
    x = keras.Input((6,))
    model = keras.Model(x, keras.layers.Dense(1, name="last" if renamed else "out")(coder(x)))
    if twice == "another":
        with pytest.raises(CheckpointError, match="Received: 3 layers"):
            load_template_weights(model, tmp_path / "old.h5")
        return
    assert load_template_weights(model, tmp_path / "old.h5").weights == 4
    for mine, value in zip(model.get_weights(), values.values(), strict=True):
        np.testing.assert_allclose(mine, value, rtol=1e-6)
