"""Names of Keras 2.3, which scripts of its time import from `keras`; the numbers are those of Keras 2.3.1."""

from __future__ import annotations

import numpy as np
import pytest

_random = np.random.RandomState(0)
X = _random.rand(16, 3).astype("float32")
Y = _random.rand(16, 2).astype("float32")
WEIGHTS = [np.linspace(-1, 1, 6).reshape(3, 2), np.zeros(2)]
SAMPLES = np.linspace(0.1, 1, 16)


@pytest.mark.parametrize("era", ["keras-2.2.4"], indirect=True)
def test_losses_made_of_functions(era):
    import keras
    from keras.losses import LossFunctionWrapper, huber_loss
    from keras.utils import losses_utils

    class Narrow(LossFunctionWrapper):
        def __init__(self, delta=0.3):
            reduction = losses_utils.Reduction.SUM_OVER_BATCH_SIZE
            super().__init__(huber_loss, name="narrow", reduction=reduction, delta=delta)

    model = keras.models.Sequential([keras.layers.Dense(2, activation="sigmoid", input_shape=(3,))])
    found = []
    for loss in (huber_loss, lambda t, p: huber_loss(t, p, 0.3), Narrow()):
        model.compile("sgd", loss)
        for weights in (None, SAMPLES):
            model.set_weights(WEIGHTS)
            found.append([model.train_on_batch(X, 3 * Y, sample_weight=weights), model.get_weights()[0][0, 0]])
    np.testing.assert_allclose(found, LOSSES, atol=2e-6)
    assert Narrow(0.2).get_config()["delta"] == 0.2


LOSSES = [
    [0.502243, -0.999514],
    [0.296198, -0.999715],
    [0.211873, -0.999825],
    [0.122601, -0.999896],
    [0.211873, -0.999825],
    [0.122601, -0.999896],
]


@pytest.mark.parametrize("era", ["keras-2.2.4"], indirect=True)
def test_small_helpers(era):
    import keras
    from keras.engine.training_utils import is_generator_or_sequence, is_sequence, should_run_validation
    from keras.utils import losses_utils

    metric = keras.metrics.AUC(num_thresholds=7, name="area")
    clones = keras.metrics.clone_metrics([metric, keras.losses.mean_squared_error])
    assert (clones[0].num_thresholds, clones[0].name, clones[0] is metric) == (7, "area", False)
    assert clones[1] is keras.losses.mean_squared_error
    values, weights = np.array([1.0, 2, 3, 4], "float32"), np.array([1.0, 0, 1, 1], "float32")
    ways = ("none", "sum", "sum_over_batch_size")
    weighed = [losses_utils.compute_weighted_loss(values, weights, way) for way in ways]
    assert [keras.backend.eval(each).tolist() for each in weighed] == [[1, 0, 3, 4], 8, 2]
    with pytest.raises(ValueError, match="reduction"):
        losses_utils.compute_weighted_loss(values, reduction="mean")
    assert [should_run_validation(2, 1), should_run_validation([1, 3], 1)] == [True, False]
    assert [is_sequence([1]), is_generator_or_sequence(each for each in "a")] == [False, True]
    assert issubclass(keras.preprocessing.image.DataFrameIterator, keras.preprocessing.image.Iterator)


@pytest.mark.parametrize("era", ["tf.keras-1.15", "tf.keras-2.2"], indirect=True)
def test_the_learning_phase_within_a_block(era):
    from tensorflow import keras

    backend = keras.backend
    model = keras.models.Sequential([keras.layers.Dropout(0.5, input_shape=(100,))])
    with backend.learning_phase_scope(1):
        assert backend.learning_phase() == 1
        if era == "tf.keras-2.2":
            assert (model(np.ones((1, 100), "float32")).numpy() == 0).any()
    if era == "tf.keras-2.2":
        assert backend.learning_phase() == 0
        assert (model(np.ones((1, 100), "float32")).numpy() == 1).all()
