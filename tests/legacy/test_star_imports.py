"""What a star import of standalone Keras brings."""

from __future__ import annotations

import keras
import numpy as np
import pytest

pytestmark = pytest.mark.usefixtures("legacy_names")


def test_a_star_brings_what_the_module_had_imported_for_itself():
    """`K` and the like came along with `from keras.layers import *` of standalone Keras, not of tf.keras."""
    ours, theirs = {}, {}
    exec("from keras.layers import *\nfrom keras.callbacks import *", ours)
    exec("from tensorflow.keras.layers import *\nfrom tensorflow.keras.callbacks import *", theirs)
    assert ours["K"].__name__ == "keras.backend"
    assert (ours["np"], ours["os"].__name__, ours["initializers"].Zeros) == (np, "os", keras.initializers.Zeros)
    assert ours["core"].Dense is ours["Dense"]
    exec("from keras.utils import *", ours)
    assert ours["np_utils"].to_categorical([1]).tolist() == [[0.0, 1.0]]
    alone = {}
    exec("from keras.layers import *", alone)
    assert (alone["np"], alone["merge"].Add) == (np, keras.layers.Add)
    assert not theirs.keys() & {"K", "np", "os", "time", "json", "core", "merge"}
