"""Models that have not been built yet, in code of tf.keras."""

from __future__ import annotations

import numpy as np
import pytest

import parallel_compat


@pytest.mark.parametrize("era", ["tf.keras-1.15", "tf.keras-2.2"])
def test_a_model_that_is_not_built_has_no_weights_to_list_or_write(tmp_path, era):
    """TensorFlow refused it for classes with a `build`, a Sequential among them; others have those that they made."""
    with parallel_compat.legacy_names(era=era):
        from tensorflow import keras

        class Own(keras.Model):
            def __init__(self):
                super().__init__()
                self.last = keras.layers.Dense(2)

            def call(self, inputs):
                return self.last(inputs)

        model = keras.Sequential([keras.layers.Dense(2)])
        path = str(tmp_path / "weights.h5")
        for asked in (
            lambda: model.weights,
            lambda: model.trainable_weights,
            lambda: model.trainable_variables,
            lambda: model.get_weights(),
            lambda: model.set_weights([]),
            lambda: model.save_weights(path),
        ):
            with pytest.raises(ValueError, match="Expected a model that has its weights"):
                asked()
        assert Own().weights == Own().get_weights() == []
        model.compile("sgd", "mse")
        model.fit(np.ones((2, 3)), np.ones((2, 2)), verbose=0)
        model.save_weights(path)
        with pytest.raises(ValueError, match="Expected a model that has its weights"):
            keras.Sequential([keras.layers.Dense(2)]).load_weights(path)
        assert len(model.weights) == 2
