"""Folders of the SavedModel format that TensorFlow itself wrote: those of 2.2.3 are read, and numbers are its."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import keras
import numpy as np
import pytest

from parallel_compat.legacy import models
from parallel_compat.legacy.models import load_model
from tests.data import make_old_folders as old

FILES = Path(__file__).parents[1] / "data" / "old_folders"


@pytest.mark.parametrize("case", ["recurrent", "own"])
def test_a_folder_is_the_model_and_how_it_was_compiled(case):
    """Its optimizer begins anew, as in TensorFlow 2.2; of several outputs each has its losses, weights and metrics."""
    recorded = np.load(FILES / "results.npz")
    model = load_model(str(FILES / case), old.OWN)
    predicted, logs = old.results(case, model)
    np.testing.assert_allclose(predicted, recorded[case], rtol=1e-5)
    assert np.shape(logs) == recorded[f"{case}_logs"].shape
    assert not load_model(str(FILES / case), old.OWN, compile=False).compiled


def test_what_no_configuration_describes_is_refused_and_its_weights_are_read():
    x, _ = old.data("subclassed")
    with pytest.raises(ValueError, match=r"of the class Subclassed\. .*models\.load_weights\(") as refused:
        load_model(str(FILES / "subclassed"))
    weights = re.search('load_weights\\(model, "(.*)"\\)', str(refused.value)).group(1)
    model = old.Subclassed()
    model(x)
    models.load_weights(model, weights)
    np.testing.assert_allclose(model.predict(x).ravel(), np.load(FILES / "results.npz")["subclassed"], rtol=1e-5)
    with pytest.raises(ValueError, match=r"own: .*Scale.*A model that is built in code reads its weights"):
        load_model(str(FILES / "own"))


class Own(keras.Model):
    def __init__(self):
        super().__init__()
        self.dense = keras.layers.Dense(2)

    def call(self, x):
        return self.dense(x)


def test_a_model_of_an_own_class_says_when_it_is_saved_and_when_it_is_read_that_weights_are_all(tmp_path):
    """TensorFlow 2.2 saved what it computes; Keras 3 wrote a file without a word, and could not read it."""
    x, path = np.ones((3, 4)), str(tmp_path / "own")
    model, again = Own(), Own()
    expected = model.predict(x, verbose=0)
    with pytest.warns(UserWarning, match=r"has the weights of 'Own', but not its code.*load_weights\(model, '.*own'\)"):
        models.save_model(model, path)
    with pytest.raises(ValueError, match=r"the class 'Own'.*Build the model in code.*load_weights\(model, '.*own'\)"):
        load_model(path, {"Own": Own})
    again(x)
    models.load_weights(again, path)
    np.testing.assert_array_equal(again.predict(x, verbose=0), expected)


def test_damaged_folders_are_refused_by_name(tmp_path):
    folder = tmp_path / "model"
    shutil.copytree(FILES / "own", folder)
    (folder / "variables" / "variables.index").unlink()
    with pytest.raises(ValueError, match=r"model: .*variables"):
        load_model(str(folder), old.OWN)
    for content in (b"", b"no message"):
        (folder / "saved_model.pb").write_bytes(content)
        with pytest.raises(ValueError, match=re.escape(str(folder))):
            load_model(str(folder))


def test_weights_that_are_not_all_there_are_refused(tmp_path):
    folder = tmp_path / "model"
    shutil.copytree(FILES / "own", folder)
    shutil.rmtree(folder / "variables")
    shutil.copytree(FILES / "subclassed" / "variables", folder / "variables")
    with pytest.raises(ValueError, match="Expected each weight"):
        load_model(str(folder), old.OWN)
