"""TensorFlow functions on symbolic tensors: what they compute, and the files of models with them."""

from __future__ import annotations

import keras
import numpy as np
import pytest
import tensorflow as tf

import parallel_compat.legacy.backend
import parallel_compat.legacy.symbolic_functions
from parallel_compat.legacy import layers, models, op_layers
from tests import scripts

B = np.random.default_rng(1).random((3, 4, 3)).astype("float32")
# Functions in many forms: lists of tensors, tensors in shapes, dtypes, old names, operators, parts.
FUNCTIONS = {
    "reduce_max": lambda h: tf.reduce_max(h, 2),
    "reduce_sum": lambda h: tf.reduce_sum(h, axis=1, keepdims=True),
    "concat": lambda h: tf.concat([h, h], 1),
    "matmul": lambda h: tf.matmul(h, h, transpose_b=True),
    "old log": lambda h: tf.math.log(h),
    "one_hot": lambda h: tf.one_hot(tf.cast(h * 3, "int32"), 4),
    "where": lambda h: tf.compat.v1.where(h > 0.5, h, tf.zeros_like(h)),
    "gather": lambda h: tf.gather(h, [0, 2], axis=1),
    "reshape": lambda h: tf.reshape(h, [tf.shape(h)[0], -1]),
    "stack": lambda h: tf.reshape(h, tf.stack([tf.shape(h)[0], 12])),
    "constant": lambda h: tf.constant([1.0, 2.0, 3.0]) + h,
    "compare": lambda h: tf.compat.v1.to_float(tf.constant(0.5) > h),
    "top_k": lambda h: tf.nn.top_k(h, 2)[0],
    "unstack": lambda h: tf.unstack(h, axis=1)[1],
    "numbers of numpy": lambda h: h[:, np.int64(1)] + h[:, np.int32(0) : np.int64(1)][:, 0],
    "slices": lambda h: h[..., tf.newaxis, 1:2, 0] + tf.cast(tf.shape(h), "float32")[None],
    "index": lambda h: h[:, : tf.shape(h)[1] - 1],
    "resize": lambda h: tf.compat.v1.image.resize(h[..., None], (2, 2)),
    "clip": lambda h: tf.clip_by_value(h, 0.2, 0.4),
    "old div": lambda h: tf.compat.v1.div(h, 2.0),
    "moments": lambda h: tf.nn.moments(h, [1])[0],
    "a list": lambda h: (h - [1.0, 2.0, 3.0]) * [[2.0]],
    "a list first": lambda h: [1.0, 2.0, 3.0] - h,
    "an array first": lambda h: np.array([1.0, 2.0, 4.0]) / (h + 1),
    "sizes and a list": lambda h: tf.ones(tf.shape(h) * [1, 1, 2]),
    "a list of tensors": lambda h: h[:, 0] + [h[0, 0, 0], 2.0, 3.0],
    "gather_nd": lambda h: tf.gather_nd(h, tf.constant([[0, 0], [1, 1]])),
}
OF_PYTHON = {
    "map_fn": lambda h: tf.map_fn(lambda row: row * 2, h),
    "scan": lambda h: tf.scan(lambda total, row: total + row, h),
}


def model_of(functions):
    inputs = keras.Input((4, 3))
    return keras.Model(inputs, [function(inputs) for function in functions.values()])


def check(model, functions):
    for (name, function), got in zip(functions.items(), model(tf.constant(B)), strict=True):
        np.testing.assert_allclose(got, function(tf.constant(B)), rtol=1e-6, err_msg=name)


def test_a_random_function_of_sizes_draws_one_seed():
    K, x = parallel_compat.legacy.backend, layers.Input((4,))
    np.random.seed(0)
    found = [np.random.rand()]
    for shape in (K.shape(x), (K.shape(x)[0], 3)):
        K.random_normal(shape)
        found.append(np.random.rand())
    K.random_uniform(K.shape(x))
    # As Keras 2.2.4 left the numbers of numpy.
    assert [*found, np.random.rand()] == pytest.approx([0.5488135, 0.84426575, 0.84725174, 0.38438171])


SIZED = {
    "fill": lambda h: tf.fill(tf.shape(h), 2.0),
    "random": lambda h: h + 0.0 * tf.random.normal(tf.shape(h)),
}


@pytest.mark.parametrize("function", SIZED.values(), ids=SIZED)
def test_sizes_of_other_tensors_are_known(function, tmp_path):
    inputs = keras.Input((4, 3))
    outputs = layers.Dense(2)(function(inputs))  # which needs the last size
    assert outputs.shape[1:] == (4, 2)
    model = keras.Model(inputs, outputs)
    models.save_model(model, str(tmp_path / "m.keras"))
    again = models.load_model(str(tmp_path / "m.keras"))
    assert again.output_shape == (None, 4, 2)
    np.testing.assert_allclose(again.predict(B), model.predict(B), rtol=1e-6)


def test_they_train_on_replicas():
    from parallel_compat import multi_gpu_model

    def made(gpus):
        keras.utils.set_random_seed(1)
        inputs = keras.Input((4, 3))
        outputs = tf.reduce_max(layers.Dense(5)(inputs), 2) * 2
        model = keras.Model(inputs, outputs)
        used = multi_gpu_model(model, gpus) if gpus > 1 else model
        used.compile("sgd", "mse")
        used.fit(B, B[:, :, 0], batch_size=3, epochs=2, verbose=0)
        return model.get_weights()

    for one, other in zip(made(1), made(2), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-5)


def test_a_file_names_functions_on_tensors_only():
    harmful = """
        tensorflow.io.write_file tensorflow.py_function tensorflow.numpy_function tensorflow.compat.v1.py_func
        tensorflow.print tensorflow.load_library tensorflow.load_op_library tensorflow.raw_ops.WriteFile
        tensorflow.keras.models.load_model tensorflow.saved_model.load tensorflow.math.__class__
        tensorflow.math._sys tensorflow.nn.os.system tensorflow.strings.__loader__.exec_module
        tensorflow.__operators__.__dict__ tensorflow.image.io.write_file tensorflow.function tensorflow.constant.x
        keras.backend.np K.function keras.backend.__getattr__ keras.backend.tf.io os.system builtins.eval
        tensorflow keras.backend
    """
    for path in harmful.split():
        with pytest.raises(ValueError, match="Expected the path of a function"):
            op_layers.resolve(path)
    config = {"function": "tensorflow.io.read_file", "args": ["/etc/passwd"], "kwargs": {"dict": {}}}
    with pytest.raises(ValueError, match="has been changed"):
        op_layers.TensorFlowOpLayer.from_config(config)


def test_operators_between_layers_are_read_from_an_hdf5_file(tmp_path):
    """`x * 2` is an operation of Keras by the name of a layer, `Multiply`, and the file says no more than the name."""
    x = keras.Input((4,))
    y = layers.Dense(3)(x) * 2 + 1
    y = keras.layers.Add()([y, 1 - y / 4])
    model = keras.Model(x, keras.layers.Multiply()([y, y]) - y)
    models.save_model(model, str(tmp_path / "model.h5"))
    loaded = models.load_model(str(tmp_path / "model.h5"))
    rows = np.random.default_rng(0).random((5, 4))
    np.testing.assert_allclose(loaded.predict(rows), model.predict(rows), rtol=1e-6)


def test_a_product_of_a_symbolic_tensor_and_an_array_is_not_sparse(tmp_path):
    """Keras 3.15 takes an array for a sparse tensor there, which functions of TensorFlow refuse in migrated code."""
    (tmp_path / "program.py").write_text(
        "import numpy as np, tensorflow as tf\nimport parallel_compat.legacy.symbolic_functions\n"
        "x = tf.keras.Input((2,))\ny = tf.concat([tf.exp(x) * np.ones(2, 'float32'), x], axis=-1)\n"
        "print(tf.keras.Model(x, y).predict(np.zeros((1, 2)), verbose=0).tolist())\n"
    )
    ran = scripts.python("program.py", folder=tmp_path)
    assert ran.stdout.strip() == "[[1.0, 1.0, 0.0, 0.0]]", ran.stderr
