"""Functions of TensorFlow 1 that give something else under the same name and arguments in TensorFlow 2."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path
    from subprocess import CompletedProcess

SCRIPT = """
import numpy as np, tensorflow as tf, keras
from keras import backend as K
from keras.layers import Dense, Input, Lambda
from keras.models import Model
a = K.constant(np.arange(9.0).reshape(3, 3))
b = a - 10
rows = tf.where(K.constant([1, 0, 1]) > 0.5, a, b)
print(np.ravel(K.eval(rows)).astype(int).tolist())
print(np.ravel(K.eval(tf.where(a > 5))).tolist(), np.ravel(K.eval(tf.where(a > 4, a, b))).astype(int).tolist())
images = K.constant(np.arange(16.0).reshape(1, 4, 4, 1))
print(["%.3f" % each for each in np.ravel(K.eval(tf.image.resize(images, (3, 2))))])
logits = Input((2,))
both = Model(logits, [Dense(2, kernel_initializer="ones", activation="sigmoid")(logits), logits])
loss = tf.nn.softmax_cross_entropy_with_logits(labels=both.outputs[0], logits=both.outputs[1])
print(["%.4f" % each for each in K.function([logits], K.gradients(loss, logits))([np.array([[0.5, -1.0]])])[0][0]])
inputs = Input((3,))
hidden = Dense(
    300, kernel_initializer=tf.random_normal_initializer(), bias_initializer=tf.random_uniform_initializer()
)(inputs)
outputs = Lambda(lambda x: tf.where(x[:, 0] > 0, x, -x))(hidden)
model = Model(inputs, outputs)
kernel, bias = model.get_weights()
print(abs(kernel.std() - 1) < 0.1, bias.min() >= 0, bias.max() > 0.8)
print((model.predict(np.ones((4, 3)))[:, 0] > 0).tolist())
"""
# Printed by TensorFlow 1.15.5 with Keras 2.2.4.
EXPECTED = """
[0, 1, 2, -7, -6, -5, 6, 7, 8]
[2, 0, 2, 1, 2, 2] [-10, -9, -8, -7, -6, 5, 6, 7, 8]
['0.000', '2.000', '5.333', '7.333', '10.667', '12.667']
['0.4400', '-0.1951']
True True True
[True, True, True, True]
"""


@pytest.mark.slow
def test_a_script_gets_what_they_gave(run: Callable[..., CompletedProcess[str]], tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(SCRIPT)
    done = run("--quiet", "script.py")
    assert done.returncode == 0, done.stderr
    assert done.stdout == EXPECTED.lstrip()


@pytest.mark.slow
@pytest.mark.parametrize("era", [pytest.param("tf.keras-2.2", marks=pytest.mark.slow), "today"])
def test_code_of_tensorflow_2_has_its_own(era: str, run: Callable[..., CompletedProcess[str]], tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text("""
import tensorflow as tf
x = tf.keras.backend.constant([[1.0, 2.0], [3.0, 4.0]])
print(tf.where([True, False], x, -x).numpy().tolist())
print(tf.random_normal_initializer().stddev)
""")
    done = run("--quiet", "--era", era, "script.py")
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == ["[[1.0, -2.0], [3.0, -4.0]]", "0.05"]
