from __future__ import annotations

import pytest

from tests.migrate.check import check_noop, check_transformed, found

OLD = "from keras.callbacks import ModelCheckpoint\n"
NEW = "from parallel_compat.legacy.callbacks import ModelCheckpoint\n"


@pytest.mark.parametrize(
    "call",
    [
        "ModelCheckpoint('w.hdf5')",
        "ModelCheckpoint(filepath='w.{epoch}.ckpt')",
        "ModelCheckpoint('w.h5', save_weights_only=True)",
        "ModelCheckpoint('w.h5', 'loss', 0, True, True)",
        "ModelCheckpoint(folder + 'weights')",
    ],
)
def test_names_that_keras_3_refuses(call):
    check_transformed(OLD + call + "\n", NEW + call + "\n")


def test_a_name_that_is_assigned_once():
    check_transformed(OLD + "p = 'w.hdf5'\nModelCheckpoint(p)\n", NEW + "p = 'w.hdf5'\nModelCheckpoint(p)\n")


def test_an_unknown_name_is_a_hint():
    assert found(OLD + "ModelCheckpoint(path)\n", "checkpoint-files") == [(2, "unsafe")]
    check_transformed(OLD + "ModelCheckpoint(path)\n", NEW + "ModelCheckpoint(path)\n", unsafe=True)


@pytest.mark.parametrize(
    "call",
    [
        "ModelCheckpoint('w.keras')",
        "ModelCheckpoint('w.h5')",
        "ModelCheckpoint('a.weights.h5', save_weights_only=True)",
        "ModelCheckpoint(path, save_freq='epoch')",
        "ModelCheckpoint('a.keras', save_freq=3)",
    ],
)
def test_leaves_alone(call):
    check_noop(OLD + call + "\n", rule="checkpoint-files")


def test_a_name_that_is_put_together():
    before = OLD + "ModelCheckpoint('saved/' + name + '/w_{epoch}.ckpt', save_freq=3, save_weights_only=True)\n"
    assert found(before, "checkpoint-files") == [(2, "rewritten")]
