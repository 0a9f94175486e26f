"""TensorFlow Addons 0.10, which scripts of TensorFlow 2.2 import, is fetched and computes what it did."""

from __future__ import annotations

import json

import numpy as np

from parallel_compat.check import project
from tests import scripts

SCRIPT = """
import json
import tensorflow_addons as tfa
import numpy as np
import tensorflow as tf

L = tf.keras.layers
draw = np.random.RandomState(1)
x, y = draw.normal(size=(8, 4, 4, 4)).astype("float32"), draw.normal(size=(8, 1)).astype("float32")
convolution = L.Conv2D(4, 3, kernel_initializer="ones", activation=tfa.activations.gelu)
model = tf.keras.Sequential([
    tfa.layers.WeightNormalization(convolution, input_shape=(4, 4, 4)),
    tfa.layers.InstanceNormalization(),
    tfa.layers.GroupNormalization(groups=2),
    L.Flatten(),
    L.Dense(1, kernel_initializer="ones"),
])
model.compile(tfa.optimizers.SGDW(weight_decay=1e-2, learning_rate=1e-2, momentum=0.9), "mse")
losses = model.fit(x, y, epochs=3, verbose=0, shuffle=False).history["loss"]
model = tf.keras.Sequential([L.Flatten(input_shape=(4, 4, 4)), L.Dense(1, kernel_initializer="ones")])
model.compile(tfa.optimizers.Lookahead(tfa.optimizers.AdamW(weight_decay=1e-2, learning_rate=1e-2)), "mse")
losses += model.fit(x, y, epochs=3, verbose=0, shuffle=False).history["loss"]
turned = np.allclose(tfa.image.rotate(x, np.pi), x[:, ::-1, ::-1])
try:
    tfa.image.connected_components(x[..., 0])
    gone = ""
except tf.errors.NotFoundError as error:
    gone = str(error)
print(json.dumps([losses, turned, gone]))
"""


def test_layers_and_optimizers_give_the_losses_of_tensorflow_2_2(tmp_path):
    """Expected: TensorFlow 2.2.3 with TensorFlow Addons 0.10.0."""
    (tmp_path / "train.py").write_text(SCRIPT)
    ran = scripts.run("--quiet", "train.py", folder=tmp_path)
    assert ran.returncode == 0, ran.stderr
    losses, turned, gone = json.loads(ran.stdout.splitlines()[-1])
    of_then = [0.5828470587730408, 0.5697780847549438, 0.5475174784660339]
    of_then += [40.55491256713867, 37.53780746459961, 34.69599533081055]
    np.testing.assert_allclose(losses, of_then, rtol=1e-5)
    assert turned
    assert "addons_image_connected_components, which TensorFlow Addons compiled for TensorFlow 2.2" in gone


def test_check_does_not_ask_for_it(tmp_path):
    (tmp_path / "train.py").write_text("import tensorflow_addons\nfrom tensorflow import keras\n")
    found = project.check(str(tmp_path))
    assert not found.missing
    assert list(found.eras) == ["tf.keras-2.2"]
