from __future__ import annotations

import pytest

from tests.migrate.check import check_noop, check_transformed


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("ReduceLROnPlateau(epsilon=1e-3)", "ReduceLROnPlateau(min_delta=1e-3)"),
        ("TensorBoard('logs', batch_size=32, write_grads=False)", "TensorBoard('logs')"),
        ("TensorBoard('logs', 1, 32, True)", "TensorBoard('logs', 1, write_graph=True)"),
        ("ModelCheckpoint('m.keras', period=1)", "ModelCheckpoint('m.keras')"),
        ("LambdaCallback(on_batch_end=f)", "LambdaCallback(on_train_batch_end=f)"),
        ("EarlyStopping('val_dice')", "EarlyStopping('val_dice', mode='min')"),
        ("EarlyStopping(monitor='val_main_accuracy')", "EarlyStopping(monitor='val_main_accuracy', mode='max')"),
        ("ReduceLROnPlateau('val_f', mode='auto')", "ReduceLROnPlateau('val_f', mode='min')"),
        ("EarlyStopping(monitor='val_loss')", "EarlyStopping(monitor='val_loss')"),
        (
            "ModelCheckpoint('m.keras', 'val_dice', 1, True)",
            "ModelCheckpoint('m.keras', 'val_dice', 1, True, mode='min')",
        ),
        (
            "ModelCheckpoint('m.keras', monitor='fmeasure')",
            "ModelCheckpoint('m.keras', monitor='fmeasure', mode='max')",
        ),
    ],
)
def test_renames_and_drops(before, after):
    name = before.partition("(")[0]
    line = f"from keras.callbacks import {name}\n"
    check_transformed(line + before + "\n", line + after + "\n")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("ModelCheckpoint('m.keras', period=5)", None),
        (
            "ModelCheckpoint('m.keras', 'loss', 0, False, False, 'auto', 5)",
            "ModelCheckpoint('m.keras', 'loss', 0, False, False, 'auto', period=5)",
        ),
        ("TensorBoard('logs', embeddings_layer_names=['a'])", None),
    ],
)
def test_what_has_no_spelling_today(before, after):
    name = before.partition("(")[0]
    check_transformed(
        f"from keras.callbacks import {name}\n{before}\n",
        f"from parallel_compat.legacy.callbacks import {name}\n{after or before}\n",
    )


def test_an_aligned_sign_stays_in_its_column():
    import_ = "from keras.callbacks import ReduceLROnPlateau\n"
    check_transformed(
        f"{import_}ReduceLROnPlateau(\n    monitor  = 'loss',\n    epsilon  = 0.1,\n    cooldown = 0\n)\n",
        f"{import_}ReduceLROnPlateau(\n    monitor  = 'loss',\n    min_delta = 0.1,\n    cooldown = 0\n)\n",
    )
    check_transformed(
        f"{import_}ReduceLROnPlateau(\n    monitor     = 'loss',\n    epsilon     = 0.1\n)\n",
        f"{import_}ReduceLROnPlateau(\n    monitor     = 'loss',\n    min_delta   = 0.1\n)\n",
    )


@pytest.mark.parametrize(
    "source",
    [
        "from keras.callbacks import ModelCheckpoint\nModelCheckpoint('m.keras', save_freq='epoch')\n",
        "from keras.callbacks import ModelCheckpoint\nModelCheckpoint('m.keras', 'loss', 0, 1, 0, 'auto', 'epoch')\n",
        "from keras.callbacks import TensorBoard\nTensorBoard('logs', 1, True)\n",
        "from mine import ModelCheckpoint\nimport keras\nModelCheckpoint('a', period=5)\n",
    ],
)
def test_leaves_alone(source):
    check_noop(source, rule="callback-arguments")


def test_a_metric_that_keras_3_maximizes_was_minimized():
    """Newer code means the one of Keras 3."""
    source = "from keras.callbacks import EarlyStopping\nEarlyStopping('val_auc')\n"
    check_noop(source, unsafe=False)
    check_transformed(source, source.replace("'val_auc'", "'val_auc', mode='min'"), unsafe=True)
