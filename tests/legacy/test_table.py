"""The table, walked: every name of Keras 2.2.4 has one answer, and every answer is true of what is installed."""

from __future__ import annotations

import importlib
import inspect
import json
from pathlib import Path

import pytest

from parallel_compat import names_command
from parallel_compat.command import main
from parallel_compat.names import positions, table
from parallel_compat.names.arguments import arguments
from parallel_compat.names.defaults import defaults
from parallel_compat.names.eras import Era
from parallel_compat.names.identifiers import identifiers
from parallel_compat.names.members import members
from parallel_compat.names.table import Change, Status

KERAS_2_2_4 = json.loads((Path(__file__).parent.parent / "data" / "legacy" / "keras-2.2.4.json").read_text("utf-8"))
NAMES = sorted(f"{module}.{name}" for module, names in KERAS_2_2_4.items() for name in names)
SPELLINGS = ("keras", "tf.keras", "tensorflow.keras", "tensorflow.python.keras")


def resolve(path: str) -> object:
    """Import what a dotted path names."""
    first, *rest = path.split(".")
    found, name = importlib.import_module(first), first
    for part in rest:
        name += "." + part
        try:
            found = getattr(found, part)
        except AttributeError:
            found = importlib.import_module(name)
    return found


def spelled(root: str, name: str) -> str:
    return root + name[len("keras") :]


def test_there_are_1190_names():
    assert len(NAMES) == 1190
    assert sorted(table.keras_2_2_4()) == NAMES


@pytest.mark.parametrize("root", SPELLINGS)
def test_every_name_is_in_exactly_one_class(root):
    assert sum(table.counts(root).values()) == len(NAMES)
    for name in NAMES:
        entry = table.lookup(spelled(root, name))
        assert entry is not None, name
        assert (entry.target is None) is (entry.status is Status.GONE), name
        assert bool(entry.note) is (entry.status is Status.GONE), name
        if entry.status is Status.SAME:
            assert entry.target == spelled(root, name).replace("tf.", "tensorflow.", 1), name
        elif entry.target is not None:
            ours = entry.target.startswith("parallel_compat.")
            assert ours is (entry.status is Status.PROVIDED), name


@pytest.mark.parametrize("root", SPELLINGS)
def test_every_target_of_keras_imports(root):
    """What is the same or moved is there, and is not a module's accidental leftover."""
    for name in NAMES:
        entry = table.lookup(spelled(root, name))
        if entry.status in (Status.SAME, Status.MOVED):
            assert callable(resolve(entry.target)), entry


def test_same_means_importable_under_the_same_name():
    for root in ("keras", "tensorflow.keras"):
        for name in NAMES:
            entry = table.lookup(spelled(root, name))
            if entry.status is Status.SAME:
                module, _, attribute = entry.path.rpartition(".")
                assert hasattr(importlib.import_module(module), attribute), entry.path


def test_what_beside_keras_2_2_4_moved_imports():
    for path in table.paths():
        for root in ("keras", "tensorflow.keras") if path.startswith("keras.") else ("",):
            entry = table.lookup(spelled(root, path) if root else path)
            if entry.status in (Status.SAME, Status.MOVED) and not entry.target.startswith("parallel_compat"):
                resolve(entry.target)


def test_gone_is_gone():
    """Nothing is called gone that Keras still has under its old path."""
    for name in NAMES:
        for root in ("keras", "tensorflow.keras"):
            entry = table.lookup(spelled(root, name))
            if entry.status is Status.GONE:
                with pytest.raises((ImportError, AttributeError)):
                    resolve(entry.path)


def test_notes_are_sentences():
    for path in table.paths():
        entry = table.lookup(path)
        if entry.status is Status.GONE:
            assert entry.note.endswith((".", ").")), entry
            assert entry.note[0].isupper() or entry.note[0] == "`", entry


@pytest.mark.parametrize("path", ["keras.no.such.thing", "numpy.array", "keras.layers.MultiHeadAttention", "", "keras"])
def test_what_the_table_does_not_know(path):
    assert table.lookup(path) is None


def test_names_below_what_is_gone_are_gone():
    assert table.lookup("tf.contrib.rnn.BasicLSTMCell").status is Status.GONE
    assert table.lookup("tensorflow.contrib.keras.layers.Dense").target == "tensorflow.keras.layers.Dense"


def test_what_is_gone_is_gone_from_its_modules_home_too():
    assert table.lookup("parallel_compat.legacy.backend.placeholder").status is Status.GONE
    assert table.lookup("parallel_compat.legacy.backend.mean") is None
    assert table.lookup("keras.layers.merge") is None  # a module, although `keras.engine.merge` was a function


def test_modules():
    assert table.module("keras.layers.core") == "keras.layers"
    assert table.module("tensorflow.python.keras.backend") == "parallel_compat.legacy.backend"
    assert table.module("keras.no_such_module") is None
    for module in table.modules_today():
        importlib.import_module(module)
    for module in table.modules_today("tensorflow.keras"):
        importlib.import_module("tensorflow." + module)


def today(path: str) -> object:
    of_tensorflow = ("keras.preprocessing.text", "keras.preprocessing.image.ImageDataGenerator", "keras.backend.")
    return resolve("tensorflow." + path if path.startswith(of_tensorflow) else path)


def parameters(path: str) -> dict[str, inspect.Parameter]:
    path = path.replace("Layer.reset_states", "RNN.reset_states")  # of the layers that have it
    found = dict(inspect.signature(today(path)).parameters)
    found.pop("self", None)
    return found


@pytest.mark.parametrize("path", [path for path in arguments() if not path.endswith("_generator")])
def test_renamed_arguments_are_taken_today(path):
    taken = parameters(path) if path != "keras.Model" else {"inputs": None, "outputs": None}
    for row in arguments()[path].values():
        if row.change is Change.RENAMED:
            open_ended = path == "keras.layers.Layer" or row.new in taken
            assert open_ended, row
            # where today's Keras takes the old name too, it means something else by it: no row of today's
            assert row.old not in taken or "today" in row.not_in, row
        elif row.change is Change.DROPPED:
            assert row.note, row
        elif row.change is Change.GONE:
            assert row.note, row
            # where today's Keras takes the old name too, it means something else by it: no row of today's
            assert row.old not in taken or "today" in row.not_in, row
        elif row.change is Change.SAME:
            assert row.old in taken, row
            assert row.harmless, row


# What Keras 3.12 does not take yet: it has fewer positions there.
NEWER = {"keras.layers.BatchNormalization": "renorm", "keras.metrics.SparseCategoricalCrossentropy": "ignore_class"}


def test_positions_agree_as_far_as_the_table_says():
    for path in positions._orders():
        taken = list(parameters(path))
        if path == "keras.layers.Layer.add_weight":
            continue  # takes no position at all
        for era in Era:
            agreeing, names = positions.order(path, era)
            if path in NEWER and NEWER[path] not in taken:
                continue
            if names:
                assert len(taken) >= agreeing, path
                assert taken[agreeing : agreeing + 1] != list(names[:1]), path


def test_defaults_are_what_the_table_says_they_are_today():
    for path, rows in defaults().items():
        for row in rows:
            value = parameters(path)[row.argument].default
            if row.today == "(required)":
                assert value is inspect.Parameter.empty, row
            else:
                assert value == eval(row.today), row
            assert set(row.before.values()) - {row.today}, row


def test_identifiers_are_understood_today():
    import keras

    for row in identifiers()["loss"].values():
        assert callable(keras.losses.get(row.new))
    for row in identifiers()["metric"].values():
        assert callable(keras.metrics.get(row.new) if row.new != "log_cosh" else keras.losses.get(row.new))
    for row in identifiers()["constraint"].values():
        assert callable(keras.constraints.get(row.new))
    for kind in ("loss", "constraint"):
        for row in identifiers()[kind].values():
            with pytest.raises(ValueError, match="Could not interpret"):
                getattr(keras, {"loss": "losses", "constraint": "constraints"}[kind]).get(row.old)


def test_gone_members_are_gone():
    import keras

    kinds = {"keras.Model": keras.Model, "keras.optimizers.Optimizer": keras.optimizers.Optimizer}
    inputs = keras.Input((1,))
    model = keras.Model(
        inputs, keras.layers.Identity()(inputs)
    )  # with what is set when one is made: `compiled`, `inputs`
    for name, rows in members().items():
        for row in rows:
            if row.of in kinds and row.change is not Change.PROVIDED:
                assert not hasattr(kinds[row.of], name) or row.old in ("set_weights",), row
            if row.of in kinds and row.change is Change.RENAMED:
                assert hasattr(kinds[row.of], row.new) or hasattr(model, row.new), row


def test_tensorflow_1_signatures_are_those_of_compat_v1():
    import tensorflow as tf

    for path, (_agreeing, gone) in table.tensorflow_1_signatures().items():
        inner = path.partition(".")[2]
        old = resolve("tensorflow.compat.v1." + inner)
        assert callable(old), path
        taken = inspect.signature(resolve(path)).parameters
        assert not set(gone) & set(taken), path
    assert tf.compat.v1.reduce_sum is not tf.reduce_sum


def test_the_command_prints_the_counts(capsys):
    assert main(["names"]) == 0
    assert capsys.readouterr().out.splitlines() == names_command.counts()
    assert main(["names", "keras.utils.multi_gpu_model", "keras.layers.core", "keras.models.model_from_yaml"]) == 0
    output = capsys.readouterr().out
    assert "parallel_compat.multi_gpu_model" in output
    assert "a module, today keras.layers" in output
    assert "json.dumps" in output
    assert main(["names", "keras.utils.training_utils"]) == 0  # most of what it held it had imported itself
    assert capsys.readouterr().out.startswith("keras.utils.training_utils.multi_gpu_model: provided, parallel_compat.")
    assert main(["names", "no.such"]) == 1
