from __future__ import annotations

from tests.migrate.check import check_noop, check_transformed, found

MADE = """\
import tensorflow as tf
from keras.layers import concatenate
from keras.models import Model

def split_over(model, gpu_count):
    outputs = []
    for i in range(gpu_count):
        with tf.device('/gpu:%d' % i):
            outputs.append(model(model.inputs))
    return Model(model.inputs, concatenate(outputs, axis=0))

model = split_over(model, gpu_count=4)
"""


def test_a_function_with_towers():
    assert [status for _, status in found(MADE, "home-made-towers")] == ["attention", "unsafe"]
    check_transformed(
        MADE,
        MADE.replace("as tf\n", "as tf\nfrom parallel_compat import multi_gpu_model\n").replace(
            "model = split_over(model, gpu_count=4)", "model = multi_gpu_model(model, gpus=4)"
        ),
        unsafe=True,
    )


def test_an_imported_one():
    check_transformed(
        "import keras\nfrom utils.multi_gpu import to_multi_gpu\nmodel = to_multi_gpu(model, n_gpus=4)\n",
        "import keras\nfrom parallel_compat import multi_gpu_model\nfrom utils.multi_gpu import to_multi_gpu\n"
        "model = multi_gpu_model(model, gpus=4)\n",
        unsafe=True,
    )


def test_leaves_alone():
    check_noop(
        """\
        import tensorflow as tf
        def build():
            with tf.device('/cpu:0'):
                return tf.keras.Model(x, y)
        for i in range(3):
            build()
        """,
        rule="home-made-towers",
    )
