"""Folders of the SavedModel format that TensorFlow itself wrote: those of 2.2.3 are read, and numbers are its."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

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
    with pytest.raises(ValueError, match=r"of the class Subclassed\. .*model\.load_weights\(") as refused:
        load_model(str(FILES / "subclassed"))
    weights = re.search('load_weights\\("(.*)"\\)', str(refused.value)).group(1)
    model = old.Subclassed()
    model(x)
    models.load_weights(model, weights)
    np.testing.assert_allclose(model.predict(x).ravel(), np.load(FILES / "results.npz")["subclassed"], rtol=1e-5)
    with pytest.raises(ValueError, match=r"own: .*Scale.*A model that is built in code reads its weights"):
        load_model(str(FILES / "own"))


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
