"""Everything that saves or loads through the parallel model acts on the template, optimizer included."""

from __future__ import annotations

import copy
import json
import pickle

import keras
import numpy as np
import pytest
import tensorflow as tf

from parallel_compat import ParallelModel, multi_gpu_model, parallelize
from tests import scripts
from tests.evidence import oracle
from tests.one_device import classes, difference, mlp


def trained(optimizer="adam", template=None, **arguments):
    parallel = parallelize(template or mlp(), 2)
    parallel.compile(optimizer, "categorical_crossentropy", metrics=["accuracy"], **arguments)
    parallel.fit(*classes(40), verbose=0)
    return parallel


def save(parallel, path, how):
    if how == "method":
        parallel.save(path)
    elif how == "function":
        keras.saving.save_model(parallel, path)
    else:
        keras.models.save_model(parallel, path)


@pytest.mark.parametrize("how", ["method", "function", "old function"])
@pytest.mark.parametrize("name", ["model.keras", "model.h5"])
def test_saved_model_is_the_template_compiled(tmp_path, name, how):
    parallel = trained()
    save(parallel, tmp_path / name, how)
    loaded = keras.saving.load_model(tmp_path / name)
    assert type(loaded) is type(parallel.template)
    assert difference(loaded.get_weights(), parallel.template.get_weights()) == 0
    assert loaded.compiled
    moments = [v.numpy() for v in parallel.optimizer.variables]
    assert difference([v.numpy() for v in loaded.optimizer.variables], moments) < 1e-7
    assert not parallel.template.compiled  # the template itself is as it was


@pytest.mark.one_in(2)
@pytest.mark.parametrize("replicas", [1, 2, 4])
@pytest.mark.parametrize("name", ["model.keras", "model.h5"])
def test_training_goes_on_after_loading(tmp_path, name, replicas):
    """Old projects lost the optimizer's state: the loss jumped from 0.8 to 1.5 (keras issue 9197)."""
    x, y = classes(101)
    arguments = {"batch_size": 32, "shuffle": False, "verbose": 0}
    whole = parallelize(mlp(), 2)
    whole.compile(keras.optimizers.Adam(0.05), "categorical_crossentropy", metrics=["accuracy"])
    whole.fit(x, y, epochs=2, **arguments)
    whole.save(tmp_path / name)
    loaded = keras.saving.load_model(tmp_path / name)
    resumed = loaded if replicas == 1 else parallelize(loaded, replicas)
    history = whole.fit(x, y, epochs=2, **arguments).history
    resumed_history = resumed.fit(x, y, epochs=2, **arguments).history
    assert difference(history, resumed_history) < 5e-5
    assert difference(whole.get_weights(), resumed.get_weights()) < 5e-5


def test_wrapping_a_compiled_template_keeps_what_its_optimizer_learned():
    x, y = classes(64)
    template = mlp()
    template.compile(keras.optimizers.SGD(0.1, momentum=0.9), "categorical_crossentropy", metrics=["accuracy"])
    template.fit(x, y, verbose=0)
    steps = int(template.optimizer.iterations.numpy())
    parallel = multi_gpu_model(template, 2)
    assert parallel.compiled
    assert parallel.optimizer is template.optimizer
    parallel.fit(x, y, verbose=0)
    assert int(parallel.optimizer.iterations.numpy()) == 2 * steps
    again = parallelize(parallel, 4)
    assert again.optimizer is template.optimizer
    parallel.compile(template.optimizer, "categorical_crossentropy")  # as old scripts go on
    parallel.fit(x, y, verbose=0)
    assert int(parallel.optimizer.iterations.numpy()) == 3 * steps


def test_mixed_precision_optimizer_is_kept(tmp_path):
    keras.config.set_dtype_policy("mixed_float16")
    parallel = trained()
    parallel.optimizer.dynamic_scale.assign(1234.0)
    parallel.save(tmp_path / "model.keras")
    loaded = keras.saving.load_model(tmp_path / "model.keras")
    resumed = parallelize(loaded, 2)
    assert isinstance(resumed.optimizer, keras.optimizers.LossScaleOptimizer)
    assert not isinstance(resumed.optimizer.inner_optimizer, keras.optimizers.LossScaleOptimizer)
    inner = [v.numpy() for v in parallel.optimizer.inner_optimizer.variables]
    assert difference([v.numpy() for v in resumed.optimizer.inner_optimizer.variables], inner) < 1e-7


def test_dicts_by_output_name(tmp_path):
    case = oracle.load("multi_input_output")
    parallel = multi_gpu_model(case.template(), 2)
    parallel.compile(**case.compile_arguments())
    parallel.fit(case.data("x"), case.data("y"), verbose=0)
    parallel.save(tmp_path / "model.keras")
    loaded = keras.saving.load_model(tmp_path / "model.keras")
    # One batch: Keras 3.16's nightly weights each output's logged loss by the batch size of its first trace.
    data = {"x": case.data("x"), "y": case.data("y"), "batch_size": len(case.data("y")[0]), "verbose": 0}
    assert difference(loaded.evaluate(**data), parallel.evaluate(**data)) < 1e-5


def test_dicts_by_the_names_of_siamese_outputs(tmp_path):
    case = oracle.load("siamese_outputs")
    parallel = multi_gpu_model(case.template(), 2)
    loss = {"add": "mse", "twin_1": "mae", "twin_2": "huber"}
    parallel.compile("adam", loss, metrics={"twin_2": ["mae"]})
    parallel.fit(case.data("x"), case.data("y"), verbose=0)
    parallel.save(tmp_path / "model.keras")
    loaded = keras.saving.load_model(tmp_path / "model.keras")
    total = parallel.evaluate(case.data("x"), case.data("y"), verbose=0)[0]
    assert loaded.evaluate(case.data("x"), case.data("y"), verbose=0)[0] == pytest.approx(total, abs=1e-5)


def test_dict_for_a_sequential_template(tmp_path):
    template = oracle.load("sequential_text").template()
    parallel = parallelize(template, 2)
    parallel.compile("sgd", {"probs": "mse"}, metrics={"probs": "mae"})
    x = np.ones((5, 12, 4))
    parallel.train_on_batch(x, np.ones((5, 3)))
    parallel.save(tmp_path / "model.keras")
    loaded = keras.saving.load_model(tmp_path / "model.keras")
    loaded.train_on_batch(x, np.ones((5, 3)))


@pytest.mark.parametrize("name", ["w.weights.h5"])
def test_weights(tmp_path, name):
    parallel = trained()
    parallel.save_weights(tmp_path / name)
    alone = mlp()
    alone.load_weights(tmp_path / name)
    assert difference(alone.get_weights(), parallel.get_weights()) == 0
    fresh = parallelize(mlp(), 2)
    fresh.load_weights(tmp_path / name)
    assert difference(fresh.get_weights(), parallel.get_weights()) == 0


def test_export(tmp_path):
    import tensorflow as tf

    parallel = trained()
    parallel.export(tmp_path / "exported", verbose=False)
    x, _ = classes(5)
    served = tf.saved_model.load(tmp_path / "exported")
    assert difference(served.serve(x), parallel.predict(x, verbose=0)) < 1e-6


def test_json_and_config():
    parallel = trained()
    assert parallel.to_json() == parallel.template.to_json()
    restored = keras.models.model_from_json(parallel.to_json())
    restored.set_weights(parallel.get_weights())
    x, _ = classes(5)
    assert difference(restored.predict(x, verbose=0), parallel.predict(x, verbose=0)) < 1e-6
    assert json.dumps(parallel.get_config()) == json.dumps(parallel.template.get_config())
    assert not isinstance(ParallelModel.from_config(parallel.get_config()), ParallelModel)


def test_pickle():
    parallel = trained()
    loaded = pickle.loads(pickle.dumps(parallel))
    assert type(loaded) is type(parallel.template)
    assert difference(loaded.get_weights(), parallel.get_weights()) == 0
    moments = [v.numpy() for v in parallel.optimizer.variables]
    assert difference([v.numpy() for v in loaded.optimizer.variables], moments) < 1e-7


def test_copies_are_templates():
    parallel = trained()
    for made in (keras.models.clone_model(parallel), copy.deepcopy(parallel)):
        assert not isinstance(made, ParallelModel)
        assert [w.shape for w in made.get_weights()] == [w.shape for w in parallel.get_weights()]
        assert [layer.name for layer in made.layers] == [layer.name for layer in parallel.template.layers]


def test_clone_of_a_sequential_template():
    parallel = parallelize(oracle.load("sequential_text").template(), 2)
    assert isinstance(keras.models.clone_model(parallel), keras.Sequential)


def test_not_compiled(tmp_path):
    parallel = parallelize(mlp(), 2)
    parallel.save(tmp_path / "model.keras")
    assert not keras.saving.load_model(tmp_path / "model.keras").compiled


def test_saving_in_the_middle_of_training(tmp_path):
    parallel = parallelize(mlp(), 2)
    parallel.compile("adam", "categorical_crossentropy")

    class Saves(keras.callbacks.Callback):
        def on_epoch_end(self, epoch, logs=None):
            self.model.save(tmp_path / f"{epoch}.keras")

    plain = keras.callbacks.ModelCheckpoint(tmp_path / "best.keras", monitor="loss", save_best_only=True)
    parallel.fit(*classes(40), epochs=3, verbose=0, callbacks=[Saves(), plain])
    loaded = [keras.saving.load_model(tmp_path / f"{epoch}.keras") for epoch in range(3)]
    assert difference(loaded[2].get_weights(), parallel.get_weights()) == 0
    assert difference(loaded[0].get_weights(), loaded[1].get_weights()) > 1e-4
    assert type(keras.saving.load_model(tmp_path / "best.keras")) is type(parallel.template)


def test_an_uncompiled_template_can_still_be_saved_as_hdf5_after_the_parallel_model_was_saved(tmp_path):
    template = keras.Sequential([keras.Input((4,)), keras.layers.Dense(1)])
    parallel = multi_gpu_model(template, gpus=2)
    parallel.compile("sgd", "mse")
    parallel.save(tmp_path / "parallel.keras")
    template.save(tmp_path / "template.h5")
    assert not keras.models.load_model(tmp_path / "template.h5").compiled


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "name"),
    [
        ("functional", "combined.keras"),
        ("sequential", "combined.h5"),
        pytest.param("functional", "combined.h5", marks=pytest.mark.slow),
        pytest.param("sequential", "combined.keras", marks=pytest.mark.slow),
    ],
)
def test_a_model_that_contains_a_parallel_model_is_read_by_plain_keras(tmp_path, name, kind):
    parallel = parallelize(mlp(), 2)
    inputs = keras.Input((4,))
    combined = keras.Model(inputs, parallel(keras.layers.Dense(8)(inputs)))
    if kind == "sequential":
        combined = keras.Sequential([keras.Input((4,)), keras.layers.Dense(8), parallel, keras.layers.Dense(2)])
    x = np.random.default_rng(0).normal(size=(5, 4)).astype("float32")
    np.savez(tmp_path / "expected.npz", x=x, y=combined.predict(x, verbose=0))
    combined.save(tmp_path / name)
    plainly = (
        "import keras, numpy as np\n"
        f"model, recorded = keras.saving.load_model({name!r}), np.load('expected.npz')\n"
        "np.testing.assert_allclose(model.predict(recorded['x'], verbose=0), recorded['y'], atol=1e-6)\n"
    )
    scripts.python("-c", plainly, folder=tmp_path).check_returncode()
    combined.load_weights(tmp_path / name)


def test_plain_keras_loads_what_was_compiled_with_a_short_name(tmp_path):
    parallel = parallelize(mlp(), 2)
    for number, loss in enumerate(["mse", "MAE", {"probs": "kld"}]):
        parallel.compile("sgd", loss)
        parallel.save(tmp_path / f"model_{number}.h5")
    plainly = "import keras; assert all(keras.saving.load_model(f'model_{number}.h5').compiled for number in range(3))"
    scripts.python("-c", plainly, folder=tmp_path).check_returncode()


def test_hdf5_of_plain_keras_with_a_short_name_is_loaded_compiled(tmp_path):
    template = mlp()
    template.compile("sgd", "mse")
    template.save(tmp_path / "model.h5")
    assert keras.saving.load_model(tmp_path / "model.h5").compiled


@pytest.mark.parametrize("suffix", [".h5", ".keras"])
@pytest.mark.parametrize("activation", [tf.nn.softmax, tf.nn.log_softmax, tf.nn.swish, tf.identity])
def test_functions_of_tensorflow_as_activations_are_loaded_again(activation, suffix, tmp_path):
    """Keras 3 saves `tf.nn.softmax` as "softmax_v2", which it does not know when it loads the file."""
    model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(3, activation=activation)])
    parallelize(model, 2).save(tmp_path / f"whole{suffix}")
    again = keras.models.load_model(tmp_path / f"whole{suffix}")
    x = np.ones((2, 4), "float32")
    np.testing.assert_array_equal(again(x), model(x))
