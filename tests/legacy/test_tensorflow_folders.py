"""Folders of the SavedModel format that TensorFlow itself wrote: those of 2.2.3 are read, and numbers are its."""

from __future__ import annotations

import contextlib
import re
import shutil
from pathlib import Path

import numpy as np
import pytest

import parallel_compat
from parallel_compat.warning_category import ParallelCompatWarning
from tests.data import make_old_folders as old

FILES = Path(__file__).parents[1] / "data" / "old_folders"


@pytest.fixture
def load_model():
    with parallel_compat.legacy_names(era="tf.keras-2.2"):
        from tensorflow.keras.models import load_model

        yield load_model


@pytest.mark.parametrize("case", ["recurrent", "own"])
def test_a_folder_is_the_model_and_how_it_was_compiled(load_model, case):
    """Its optimizer begins anew, as in TensorFlow 2.2; of several outputs each has its losses, weights and metrics."""
    recorded = np.load(FILES / "results.npz")
    model = load_model(str(FILES / case), old.OWN)
    predicted, logs = old.results(case, model)
    np.testing.assert_allclose(predicted, recorded[case], rtol=1e-5)
    np.testing.assert_allclose(logs, recorded[f"{case}_logs"], rtol=1e-5)
    assert load_model(str(FILES / case), old.OWN, compile=False).optimizer is None


def test_frozen_layers_of_a_model_from_a_folder_are_trained_as_then(load_model, tmp_path):
    """TensorFlow 2.2 gave all layers of it the `trainable` of the model: in its own folders, and in those of here."""
    from tensorflow.keras import layers, models

    inner = models.Sequential([layers.Dense(3, input_shape=(4,)), layers.BatchNormalization()])
    inner.trainable = False
    model = models.Sequential([inner, layers.Dense(1)])
    model.compile("sgd", "mse")
    model.save(str(tmp_path / "frozen_part"))
    model.trainable = False
    model.save(str(tmp_path / "frozen"))
    for folder, number in ((FILES / "recurrent", 13), (tmp_path / "frozen_part", 6), (tmp_path / "frozen", 0)):
        with pytest.warns(ParallelCompatWarning, match="trained again") if number else contextlib.nullcontext():
            loaded = load_model(str(folder))
        assert len(loaded.trainable_weights) == number


def test_what_no_configuration_describes_is_refused_and_its_weights_are_read(load_model):
    x, _ = old.data("subclassed")
    with pytest.raises(ValueError, match=r"of the class Subclassed\. .*model\.load_weights\(") as refused:
        load_model(str(FILES / "subclassed"))
    weights = re.search('load_weights\\("(.*)"\\)', str(refused.value)).group(1)
    model = old.Subclassed()
    model.load_weights(weights)
    np.testing.assert_allclose(model.predict(x).ravel(), np.load(FILES / "results.npz")["subclassed"], rtol=1e-5)
    with pytest.raises(ValueError, match=r"own: .*Scale.*A model that is built in code reads its weights"):
        load_model(str(FILES / "own"))


def test_damaged_folders_are_refused_by_name(load_model, tmp_path):
    folder = tmp_path / "model"
    shutil.copytree(FILES / "own", folder)
    (folder / "variables" / "variables.index").unlink()
    with pytest.raises(ValueError, match=r"model: .*variables"):
        load_model(str(folder), old.OWN)
    for content in (b"", b"no message"):
        (folder / "saved_model.pb").write_bytes(content)
        with pytest.raises(ValueError, match=re.escape(str(folder))):
            load_model(str(folder))


def test_weights_that_are_not_all_there_are_refused(load_model, tmp_path):
    folder = tmp_path / "model"
    shutil.copytree(FILES / "own", folder)
    shutil.rmtree(folder / "variables")
    shutil.copytree(FILES / "subclassed" / "variables", folder / "variables")
    with pytest.raises(ValueError, match="Expected each weight"):
        load_model(str(folder), old.OWN)
