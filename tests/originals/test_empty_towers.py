"""A batch smaller than the towers of a parallel model trains as the single model does."""

from __future__ import annotations

import pytest

from tests import scripts

SCRIPT = """
import sys

import numpy as np

ERA = sys.argv[1]

if ERA.startswith("keras"):
    import keras
    from keras.utils import multi_gpu_model
else:
    from tensorflow import keras
    from tensorflow.keras.utils import multi_gpu_model
L = keras.layers
IMAGE, ROWS = (5, 5, 2), (4, 3)
KINDS = {
    "Dense": ((3,), L.Dense(2)),
    "Conv2D": (IMAGE, L.Conv2D(2, 3)),
    "DepthwiseConv2D": (IMAGE, L.DepthwiseConv2D(3)),
    "SeparableConv2D": (IMAGE, L.SeparableConv2D(2, 3)),
    "SeparableConv1D": (ROWS, L.SeparableConv1D(2, 3)),
    "MaxPooling2D": (IMAGE, L.MaxPooling2D()),
    "GlobalAveragePooling2D": (IMAGE, L.GlobalAveragePooling2D()),
    "BatchNormalization": ((3,), L.BatchNormalization()),
    "BatchNormalization of images": (IMAGE, L.BatchNormalization()),
    "LSTM": (ROWS, L.LSTM(2)),
    "TimeDistributed": (ROWS, L.TimeDistributed(L.Dense(2))),
    "Embedding": ((3,), L.Embedding(9, 2)),
}


def built():
    inputs, sums = [], []
    for shape, layer in KINDS.values():
        inputs.append(L.Input(shape=shape))
        outputs = layer.__class__.from_config(layer.get_config())(inputs[-1])
        sums.append(L.Dense(1)(L.Flatten()(outputs) if len(outputs.shape) > 2 else outputs))
    model = keras.models.Model(inputs, L.Add()(sums))
    random = np.random.RandomState(0)
    model.set_weights([random.uniform(0.1, 0.5, w.shape) for w in model.get_weights()])
    return model


def trained(towers):
    model = built()
    parallel = multi_gpu_model(model, towers) if towers > 1 else model
    parallel.compile(keras.optimizers.SGD(1e-3), "mse")
    random = np.random.RandomState(1)
    losses = []
    for samples in (1, 1):  # of two towers the first has none
        scale = {"Embedding": 1}
        x = [random.randint(0, 9, (samples,) + shape) / scale.get(name, 9) for name, (shape, _) in KINDS.items()]
        losses.append(float(parallel.train_on_batch(x, np.ones((samples, 1)))))
    return losses, model


losses, single = trained(1)
found, parallel = trained(2)
np.testing.assert_allclose(found, losses, rtol=1e-5)
for one, other in zip(single.layers, parallel.layers):
    kept = 2 if "batch" in one.name and ERA == "tf.keras-1.15" else None  # it averages the whole batch, too
    for w, v in zip(one.get_weights()[:kept], other.get_weights()[:kept]):
        np.testing.assert_allclose(v, w, rtol=1e-4, atol=1e-6, err_msg=one.name)
assert all(np.isfinite(w).all() for w in parallel.get_weights())
print("done")
"""


@pytest.mark.parametrize(
    "era",
    [
        "keras-2.2.4",
        "keras-2.3",  # with `tf` of TensorFlow 2, as this project is of
        pytest.param("tf.keras-1.15", marks=pytest.mark.slow),
        pytest.param("tf.keras-2.2", marks=pytest.mark.slow),
    ],
)
def test_towers_without_samples(era: str) -> None:
    done = scripts.run("--quiet", "--era", era, "--replicas", "2", "-c", SCRIPT, era, folder=scripts.PROJECT)
    assert done.stdout.endswith("done\n"), done.stderr[-3000:]
