"""What `build` of a layer of the user's gets, in code of tf.keras."""

from __future__ import annotations

SCRIPT = """
import tensorflow as tf

class Two(tf.keras.layers.Layer):
    def build(self, input_shape):
        one, other = input_shape
        print(one.as_list(), other.ndims, int(one[-1]))
        self.dense = tf.keras.layers.Dense(int(one[-1]))

    def call(self, both):
        return self.dense(both[0])

x = tf.keras.Input((3,))
model = tf.keras.Model(x, Two()([x, tf.keras.layers.Dense(2)(x)]))
model.compile("sgd", "mse")
model.save_weights("weights")
model.save("model.h5")
print(*sorted(name for name, _ in tf.train.list_variables("weights") if "layer" in name or "compat" in name), sep="\\n")
"""


def test_has_the_methods_of_a_tensor_shape(run, tmp_path):
    """TensorFlow 2.2 gave it a `tf.TensorShape`, and its checkpoint has these names."""
    (tmp_path / "train.py").write_text(SCRIPT)
    done = run("train.py")
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [
        "[None, 3] 2 3",
        *(
            f"layer_with_weights-{layer}/.ATTRIBUTES/VARIABLE_VALUE"
            for layer in ("0/bias", "0/kernel", "1/dense/bias", "1/dense/kernel")
        ),
    ]
