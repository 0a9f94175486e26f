"""`ParallelModelCheckpoint` saves the single template, whole or not at all."""

from __future__ import annotations

import itertools
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import keras
import numpy as np
import pytest

from parallel_compat import ParallelModelCheckpoint, parallelize
from tests.one_device import classes, difference, mlp

X, Y = classes(40)


def fit(path, epochs=1, optimizer="adam", metrics=("accuracy",), validate=True, **arguments):
    template = mlp()
    parallel = parallelize(template, 2)
    parallel.compile(optimizer, "categorical_crossentropy", metrics=list(metrics))
    checkpoint = ParallelModelCheckpoint(template, path, **arguments)
    parallel.fit(X, Y, epochs=epochs, verbose=0, callbacks=[checkpoint], validation_data=(X, Y) if validate else None)
    return parallel, checkpoint


def files(folder):
    return sorted(path.name for path in Path(folder).rglob("*") if path.is_file())


@pytest.mark.parametrize("name", ["m.h5", "m.hdf5", "m.keras"])
def test_whole_model(tmp_path, name):
    parallel, _ = fit(tmp_path / name)
    loaded = keras.saving.load_model(tmp_path / name)
    assert type(loaded) is type(parallel.template)
    assert difference(loaded.get_weights(), parallel.get_weights()) == 0
    moments = [v.numpy() for v in parallel.optimizer.variables]
    assert difference([v.numpy() for v in loaded.optimizer.variables], moments) < 1e-7
    assert files(tmp_path) == [name]


def test_without_a_suffix_it_is_hdf5(tmp_path):
    parallel, _ = fit(tmp_path / "model")
    os.rename(tmp_path / "model", tmp_path / "model.h5")
    loaded = keras.saving.load_model(tmp_path / "model.h5")
    assert difference(loaded.get_weights(), parallel.get_weights()) == 0


@pytest.mark.parametrize("name", ["m.h5", "m.hdf5", "m.weights.h5"])
def test_weights_only(tmp_path, name):
    parallel, _ = fit(tmp_path / name, save_weights_only=True)
    alone = mlp()
    alone.load_weights(tmp_path / name)
    assert difference(alone.get_weights(), parallel.get_weights()) == 0


def test_positional_arguments_as_in_old_projects(tmp_path):
    template = mlp()
    checkpoint = ParallelModelCheckpoint(template, str(tmp_path / "w.h5"), "val_acc", 1, True, True, "max", 2)
    assert (checkpoint.monitor, checkpoint.verbose, checkpoint.save_best_only) == ("val_acc", 1, True)
    assert (checkpoint.save_weights_only, checkpoint.period, checkpoint.monitor_op) == (True, 2, np.greater)


@pytest.mark.parametrize("metric", ["acc", "accuracy"])
@pytest.mark.parametrize("monitor", ["acc", "accuracy"])
def test_acc_and_accuracy_stand_for_each_other(tmp_path, metric, monitor):
    path = tmp_path / "sub" / "folder" / ("{epoch:02d}-{val_" + monitor + ":.3f}-{val_loss:.2f}.hdf5")
    parallel, checkpoint = fit(path, metrics=[metric], monitor=f"val_{monitor}", save_best_only=True)
    value = parallel.history.history[f"val_{metric}"][0]
    assert files(tmp_path) == [f"01-{value:.3f}-{parallel.history.history['val_loss'][0]:.2f}.hdf5"]
    assert checkpoint.best == value


@pytest.mark.parametrize(
    ("arguments", "path", "text"),
    [
        ({"monitor": "val_f1", "save_best_only": True}, "m.h5", "Expected `monitor`.*'val_loss'.*monitor='val_f1'"),
        ({"monitor": "val_f1", "save_best_only": True, "period": 5}, "m.h5", "Expected `monitor`"),
        ({}, "{val_f1:.2f}.h5", "Expected the fields of `filepath`.*'val_loss'.*'val_f1'"),
        ({"period": 5}, "{val_f1:.2f}.h5", "Expected the fields"),
    ],
)
def test_unknown_names_are_an_error_at_the_first_epochs_end(tmp_path, arguments, path, text):
    with pytest.raises(ValueError, match=text):
        fit(tmp_path / path, **arguments)
    assert files(tmp_path) == []


@pytest.mark.parametrize(
    "arguments", [{"mode": "best"}, {"period": 0}, {"period": 1.5}, {"save_freq": 0}, {"save_freq": "batch"}]
)
def test_wrong_arguments(arguments):
    with pytest.raises(ValueError, match="Expected"):
        ParallelModelCheckpoint(mlp(), "m.h5", **arguments)


def test_weights_in_a_keras_file(tmp_path):
    parallel, _ = fit(tmp_path / "m.keras", save_weights_only=True)
    other = mlp()
    other.load_weights(tmp_path / "m.keras")
    for a, b in zip(other.get_weights(), parallel.template.get_weights(), strict=True):
        np.testing.assert_array_equal(a, b)


def test_training_goes_on_from_weights_with_the_state_of_the_optimizer(tmp_path):
    parallel, _ = fit(tmp_path / "m.weights.h5", optimizer="adam", save_weights_only=True)
    again = parallelize(mlp(), 2)
    again.compile("adam", "categorical_crossentropy")
    again.load_weights(tmp_path / "m.weights.h5")
    for model in (parallel, again):
        model.fit(X, Y, epochs=1, shuffle=False, verbose=0)
    for a, b in zip(again.get_weights(), parallel.get_weights(), strict=True):
        np.testing.assert_allclose(a, b, rtol=0, atol=1e-7)


@pytest.mark.parametrize("name", ["best.h5", "{epoch}-{val_loss:.2f}.h5"])
def test_validation_after_some_epochs_only(tmp_path, name):
    parallel = parallelize(mlp(), 2)
    parallel.compile("sgd", "categorical_crossentropy")
    checkpoint = ParallelModelCheckpoint(parallel, tmp_path / name, save_best_only=True)
    parallel.fit(X, Y, validation_data=(X, Y), validation_freq=2, epochs=4, verbose=0, callbacks=[checkpoint])
    assert len(files(tmp_path)) == (1 if name == "best.h5" else 2)


def test_period(tmp_path):
    fit(tmp_path / "{epoch}.h5", epochs=7, period=3)
    assert files(tmp_path) == ["3.h5", "6.h5"]


def test_save_freq_in_batches(tmp_path):
    fit(tmp_path / "{epoch}-{batch}.weights.h5", epochs=2, save_freq=1, save_weights_only=True)
    assert files(tmp_path) == ["1-1.weights.h5", "1-2.weights.h5", "2-1.weights.h5", "2-2.weights.h5"]


def test_best_only(tmp_path, capsys):
    parallel, checkpoint = fit(
        tmp_path / "{epoch}.h5", epochs=4, optimizer=keras.optimizers.SGD(0.5), save_best_only=True, verbose=1
    )
    losses = parallel.history.history["val_loss"]
    improved = [i + 1 for i in range(4) if losses[i] < min(losses[:i], default=np.inf)]
    assert files(tmp_path) == [f"{i}.h5" for i in improved]
    assert checkpoint.best == min(losses)
    printed = capsys.readouterr().out
    assert "saving model to" in printed
    assert "\\n" not in printed


def test_threshold(tmp_path):
    fit(tmp_path / "m.h5", save_best_only=True, initial_value_threshold=0.0)
    assert files(tmp_path) == []


def test_given_the_parallel_model(tmp_path):
    parallel = parallelize(mlp(), 2)
    parallel.compile("sgd", "categorical_crossentropy")
    checkpoint = ParallelModelCheckpoint(parallel, tmp_path / "m.keras", monitor="loss")
    parallel.fit(X, Y, verbose=0, callbacks=[checkpoint])
    assert type(keras.saving.load_model(tmp_path / "m.keras")) is type(parallel.template)


def test_with_a_callback_model_the_optimizer_is_saved_too(tmp_path):
    template = mlp()
    parallel = parallelize(template, 2)
    parallel.compile("adam", "categorical_crossentropy")
    parallel.callback_model = template
    parallel.fit(X, Y, verbose=0, callbacks=[ParallelModelCheckpoint(template, tmp_path / "m.keras", "loss")])
    loaded = keras.saving.load_model(tmp_path / "m.keras")
    assert int(loaded.optimizer.iterations.numpy()) == int(parallel.optimizer.iterations.numpy()) > 0


def test_on_one_device(tmp_path):
    model = mlp()
    model.compile("adam", "categorical_crossentropy")
    model.fit(X, Y, verbose=0, callbacks=[ParallelModelCheckpoint(model, tmp_path / "m.keras", "loss")])
    assert keras.saving.load_model(tmp_path / "m.keras").compiled


class Broken(Exception):
    pass


@pytest.mark.parametrize("name", ["m.h5", "m.keras", "m.weights.h5"])
@pytest.mark.parametrize("call", ["fsync", "replace"])
@pytest.mark.parametrize("k", [1, 2])
def test_a_failing_write_leaves_the_old_file(tmp_path, monkeypatch, name, call, k):
    """The k-th fsync or replace fails: what was there before is there after, and nothing else."""
    template = mlp()
    checkpoint = ParallelModelCheckpoint(template, tmp_path / name, "loss", save_weights_only="weights" in name)
    checkpoint.set_model(template)
    checkpoint.on_epoch_end(0, {"loss": 1.0})
    before = (tmp_path / name).read_bytes()
    real, calls = getattr(os, call), itertools.count(1)

    def failing(*arguments, **options):
        if next(calls) == k:
            raise Broken
        return real(*arguments, **options)

    template.set_weights([w + 1 for w in template.get_weights()])
    monkeypatch.setattr(os, call, failing)
    failed = False
    try:
        checkpoint.on_epoch_end(1, {"loss": 0.5})
    except Broken:
        failed = True
    monkeypatch.undo()
    assert files(tmp_path) == [name]
    changed = (tmp_path / name).read_bytes() != before
    # The second fsync is that of the folder, after the new file is in its place; a save replaces once.
    assert (failed, changed) == {
        ("fsync", 1): (True, False),
        ("fsync", 2): (True, True),
        ("replace", 1): (True, False),
    }.get((call, k), (False, True))


@pytest.mark.parametrize("name", ["m.h5", "m.keras", "m.weights.h5"])
@pytest.mark.parametrize("k", range(1, 6))
def test_a_failing_write_of_data_leaves_the_old_file(tmp_path, monkeypatch, name, k):
    """The disk is full at the k-th array that is written."""
    import h5py

    template = mlp()
    checkpoint = ParallelModelCheckpoint(template, tmp_path / name, "loss", save_weights_only="weights" in name)
    checkpoint.set_model(template)
    checkpoint.on_epoch_end(0, {"loss": 1.0})
    before = (tmp_path / name).read_bytes()
    real, calls = h5py.Group.create_dataset, itertools.count(1)

    def failing(*arguments, **options):
        if next(calls) == k:
            raise OSError("No space left on device")
        return real(*arguments, **options)

    monkeypatch.setattr(h5py.Group, "create_dataset", failing)
    written = next(calls) - 1
    calls = itertools.count(1)
    try:
        checkpoint.on_epoch_end(1, {"loss": 0.5})
    except OSError:
        assert (tmp_path / name).read_bytes() == before
    else:
        assert next(calls) <= k, "the k-th write failed, and nothing was said"
    assert written == 0
    assert files(tmp_path) == [name]


SAVING = """
import os, sys
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import keras
from parallel_compat import ParallelModelCheckpoint
model = keras.Sequential([keras.Input((64,)), keras.layers.Dense(512), keras.layers.Dense(512)])
checkpoint = ParallelModelCheckpoint(model, sys.argv[1], "loss")
checkpoint.set_model(model)
checkpoint.on_epoch_end(0, {"loss": 1.0})
print("saved", flush=True)
while True:
    checkpoint.on_epoch_end(0, {"loss": 1.0})
"""


def kill_while_saving(path, times):
    """Kill a process that saves in a loop over one path, at random moments; the file must load each time."""
    generator = np.random.default_rng(0)
    for _ in range(times):
        process = subprocess.Popen([sys.executable, "-c", SAVING, str(path)], stdout=subprocess.PIPE, text=True)
        assert process.stdout.readline() == "saved\n"
        time.sleep(generator.uniform(0, 0.3))
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        process.stdout.close()
        assert len(keras.saving.load_model(path).get_weights()) == 4


@pytest.mark.slow
@pytest.mark.parametrize("name", ["m.h5", pytest.param("m.keras", marks=pytest.mark.slow)])
def test_killed_while_saving(tmp_path, name):
    """The slow one after it does the same fifty times."""
    kill_while_saving(tmp_path / name, 3)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["m.h5", "m.keras"])
def test_killed_fifty_times_while_saving(tmp_path, name):
    kill_while_saving(tmp_path / name, 50)
