from __future__ import annotations

import pytest

from parallel_compat.command import main
from parallel_compat.migrate.findings import Status
from tests.migrate.check import check_noop, check_transformed, found, messages, migrated


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("from keras.utils import multi_gpu_model\n", "from parallel_compat import multi_gpu_model\n"),
        ("from keras.utils import multi_gpu_model as mgm\n", "from parallel_compat import multi_gpu_model as mgm\n"),
        ("from keras.utils.training_utils import multi_gpu_model\n", "from parallel_compat import multi_gpu_model\n"),
        ("from tensorflow.keras.utils import multi_gpu_model\n", "from parallel_compat import multi_gpu_model\n"),
        (
            "from tensorflow.python.keras.utils.multi_gpu_utils import multi_gpu_model\n",
            "from parallel_compat import multi_gpu_model\n",
        ),
        ("from keras.layers.core import Dense, Dropout\n", "from keras.layers import Dense, Dropout\n"),
        ("from keras.layers.core import Dense as D\n", "from keras.layers import Dense as D\n"),
        ("from keras.optimizers import SGD, adam\n", "from keras.optimizers import SGD, Adam as adam\n"),
        (
            "from tensorflow.python.keras.layers import Dense\n",
            "from tensorflow.keras.layers import Dense\n",
        ),
        ("from tensorflow.python import keras\n", "from tensorflow import keras\n"),
        ("from tensorflow.contrib import keras\n", "from tensorflow import keras\n"),
        ("from keras.engine.topology import Layer, InputSpec\n", "from keras.layers import Layer, InputSpec\n"),
        ("from keras.objectives import mse\n", "from keras.losses import mean_squared_error as mse\n"),
        (
            "from keras.preprocessing.image import ImageDataGenerator\n",
            "from tensorflow.keras.preprocessing.image import ImageDataGenerator\n",
        ),
        (
            "from keras.layers import merge\nx = merge.concatenate([a, b])\n",
            "from keras import layers as merge\nx = merge.concatenate([a, b])\n",
        ),
        ("from keras.utils import np_utils\nnp_utils.to_categorical(y)\n", None),
        ("import keras.backend as K\nK.mean(x)\n", "import parallel_compat.legacy.backend as K\nK.mean(x)\n"),
        ("import keras.backend as K\nK.lesser(x, 3)\n", "import parallel_compat.legacy.backend as K\nK.less(x, 3)\n"),
        (
            "from keras import backend\nbackend.mean(x)\n",
            "from parallel_compat.legacy import backend\nbackend.mean(x)\n",
        ),
        ("import keras.layers.core as core\ncore.Dense(3)\n", "import keras.layers as core\ncore.Dense(3)\n"),
        (
            "import keras\nkeras.layers.core.Dense(3)\n",
            "import keras\nkeras.layers.Dense(3)\n",
        ),
        (
            "import keras\nmodel = keras.utils.multi_gpu_model(model, gpus=2)\n",
            "import keras\nfrom parallel_compat import multi_gpu_model\nmodel = multi_gpu_model(model, gpus=2)\n",
        ),
        (
            "import tensorflow as tf\nmodel = tf.keras.utils.multi_gpu_model(model)\n",
            "import tensorflow as tf\nfrom parallel_compat import multi_gpu_model\nmodel = multi_gpu_model(model)\n",
        ),
        ("import tensorflow as tf\ny = tf.log(x)\n", "import tensorflow as tf\ny = tf.math.log(x)\n"),
        (
            "from tensorflow.python.client import device_lib\nn = len(device_lib.list_local_devices())\n",
            "from parallel_compat.legacy import device_lib\nn = len(device_lib.list_local_devices())\n",
        ),
        (
            "from alt_model_checkpoint.keras import AltModelCheckpoint\n",
            "from parallel_compat.legacy.callbacks import AltModelCheckpoint\n",
        ),
        (
            "from keras_preprocessing.image import ImageDataGenerator, load_img\n",
            "from tensorflow.keras.preprocessing.image import ImageDataGenerator, load_img\n",
        ),
        (
            "from keras_preprocessing import text\ntext.Tokenizer()\n",
            "from tensorflow.keras.preprocessing import text\ntext.Tokenizer()\n",
        ),
        (
            "from keras.utils import multi_gpu_utils as u\nu._get_available_devices()\n",
            "from parallel_compat.legacy import utils as u\nu._get_available_devices()\n",
        ),
    ],
)
def test_moves_imports(before, after):
    check_transformed(before, after or "from keras import utils as np_utils\nnp_utils.to_categorical(y)\n")


def test_splits_an_import_and_keeps_its_layout():
    check_transformed(
        """\
        from keras.layers import (
            Dense,  # the last layer
            CuDNNLSTM,
            Dropout,
        )  # layers
        """,
        """\
        from keras.layers import (
            Dense,  # the last layer
            Dropout,
        )  # layers
        from parallel_compat.legacy.layers import CuDNNLSTM
        """,
    )


def test_splits_an_import_in_the_middle_of_a_line():
    check_transformed(
        "from keras.utils import to_categorical, multi_gpu_model, Sequence\n",
        "from keras.utils import to_categorical, Sequence\nfrom parallel_compat import multi_gpu_model\n",
    )
    check_transformed(
        "from keras.utils import to_categorical, \\\n    multi_gpu_model\n",
        "from keras.utils import to_categorical\nfrom parallel_compat import multi_gpu_model\n",
    )


def test_imports_in_functions_try_and_conditions():
    check_transformed(
        """\
        try:
            from keras.utils import multi_gpu_model
        except ImportError:
            from keras.utils.training_utils import multi_gpu_model
        if gpus > 1:
            from keras.layers import Dense, CuDNNGRU
        def f():
            from keras.layers.core import Dense; return Dense
        try: from keras.utils import Sequence, multi_gpu_model
        except ImportError: multi_gpu_model = None
        """,
        """\
        try:
            from parallel_compat import multi_gpu_model
        except ImportError:
            from parallel_compat import multi_gpu_model
        if gpus > 1:
            from keras.layers import Dense
            from parallel_compat.legacy.layers import CuDNNGRU
        def f():
            from keras.layers import Dense; return Dense
        try: from keras.utils import Sequence; from parallel_compat import multi_gpu_model
        except ImportError: multi_gpu_model = None
        """,
    )


def test_aliases_of_aliases():
    check_transformed(
        """\
        import tensorflow as tf
        keras = tf.keras
        L = keras.layers
        K = keras.backend
        KK = K
        L.CuDNNLSTM(3)
        KK.mean(x)
        L.Dense(3)
        """,
        """\
        import tensorflow as tf
        from parallel_compat.legacy.layers import CuDNNLSTM
        import parallel_compat.legacy.backend
        keras = tf.keras
        L = keras.layers
        K = parallel_compat.legacy.backend
        KK = K
        CuDNNLSTM(3)
        KK.mean(x)
        L.Dense(3)
        """,
    )


def test_what_hangs_on_the_old_backend():
    check_transformed(
        """\
        from keras import backend as K
        gpus = len(K.tensorflow_backend._get_available_gpus())
        K.set_session(K.tf.Session(config=K.tf.ConfigProto()))
        """,
        """\
        from parallel_compat.legacy import backend as K
        from parallel_compat.legacy.session import ConfigProto, Session
        gpus = len(K._get_available_gpus())
        K.set_session(Session(config=ConfigProto()))
        """,
    )


def test_star_imports():
    check_transformed(
        """\
        from keras.layers import *
        from keras.layers.core import *
        x = CuDNNLSTM(3)(Dense(4)(x))
        y = K.mean(x)
        """,
        """\
        from keras.layers import *
        from parallel_compat.legacy import backend as K
        from parallel_compat.legacy.layers import CuDNNLSTM
        x = CuDNNLSTM(3)(Dense(4)(x))
        y = K.mean(x)
        """,
    )
    # Dense is that of the last star.
    check_transformed(
        "from keras.layers.core import *\nfrom own import Dense\nfrom keras.layers.core import *\n",
        "from keras.layers import *\nfrom own import Dense\nfrom keras.layers import *\n",
    )
    # What one star brought and another brings today needs no import of its own.
    check_transformed(
        """\
        from keras.layers.core import *
        from keras.models import *
        x = Input((3,))
        """,
        """\
        from keras.layers import *
        from keras.models import *
        x = Input((3,))
        """,
    )
    check_transformed(
        "from keras.backend import *\nmean(x)\n", "from parallel_compat.legacy.backend import *\nmean(x)\n"
    )


def test_the_name_that_a_plain_import_binds_stays_bound():
    check_transformed(
        "import keras.backend.tensorflow_backend\nkeras.backend.tensorflow_backend.set_session(s)\n",
        "import keras\nfrom parallel_compat.legacy import backend as K\nK.set_session(s)\n",
    )


@pytest.mark.parametrize(
    "source",
    [
        "import keras\nkeras.layers.Dense(3)\nkeras.ops.sum(x)\n",
        "from keras import backend as K\nK.epsilon()\n",
        "from keras.layers import Dense, MultiHeadAttention\n",
        "from keras.utils import to_categorical\n",
        "import tensorflow as tf\ntf.keras.layers.Dense(3)\ntf.zeros(x)\n",
        "from .keras.utils import multi_gpu_model\n",
        "from mykeras.utils import multi_gpu_model\nimport keras\n",
        "import keras\ndef multi_gpu_model(m): return m\nmulti_gpu_model(3)\n",
        "import keras\nclass utils:\n    def multi_gpu_model(self): pass\nutils.multi_gpu_model()\n",
        "import keras\ndef f(keras):\n    return keras.utils.multi_gpu_model(3)\n",
        "import keras\nfor keras in x:\n    keras.utils.multi_gpu_model(3)\n",
        "import keras\n[keras.utils.multi_gpu_model for keras in x]\n",
        "import keras\ns = 'keras.utils.multi_gpu_model'  # from keras.utils import multi_gpu_model\n",
        "from keras.layers import *\ndef CuDNNLSTM(n): return n\nCuDNNLSTM(3)\n",
    ],
)
def test_leaves_alone(source):
    check_noop(source, rule="imports")


def test_a_shadowed_backend_is_left_alone():
    source = "from keras import backend as K\ndef f(K):\n    return K.gradients(a, b)\nK.mean(x)\n"
    assert found(source, "imports") == [(1, "rewritten")]


def test_what_is_gone_is_reported_with_a_way_out():
    source = """\
    import tensorflow as tf
    from keras import backend as K
    from keras.legacy import interfaces
    from keras.layers import Merge
    K.placeholder((2,), Merge)
    tf.placeholder(tf.float32)
    tf.contrib.rnn.LSTMCell(3)
    """
    assert found(source, "imports") == [
        (3, "rewritten"),
        (4, "attention"),
        (5, "attention"),
        (6, "attention"),
        (7, "attention"),
    ]
    assert any("keras.Input" in message for message in messages(source, Status.ATTENTION))


def test_graphs_under_compat_v1():
    source = """\
    import tensorflow.compat.v1 as tf
    tf.disable_v2_behavior()
    tf.logging.set_verbosity(tf.logging.ERROR)
    """
    assert found(source, "imports") == [(2, "attention")]
    assert found(source.replace("disable_v2_behavior()", "variable_scope('a')"), "imports") == [(2, "attention")]
    check_transformed(
        "import tensorflow.compat.v1 as tf\ns = tf.Session()\n",
        "import tensorflow.compat.v1 as tf\nfrom parallel_compat.legacy.session import Session\ns = Session()\n",
    )


def test_merge_that_is_called_is_not_the_module():
    check_transformed(
        "from keras.layers import Dense, merge\nmerge([a, b], mode='sum')\n",
        "from keras.layers import Dense\nfrom parallel_compat.legacy.merging import merge\nmerge([a, b], mode='sum')\n",
    )


def test_a_taken_name_is_not_overwritten():
    source = "import keras\nparallel_compat = 3\nkeras.utils.multi_gpu_model(model)\n"
    check_noop(source)
    assert found(source, "imports") == [(3, "attention")]


def test_the_import_is_not_put_before_the_docstring_or_the_future():
    check_transformed(
        '''\
        """Doc."""
        from __future__ import print_function
        def f():
            import keras
            return keras.utils.multi_gpu_model(m)
        ''',
        '''\
        """Doc."""
        from __future__ import print_function
        from parallel_compat import multi_gpu_model
        def f():
            import keras
            return multi_gpu_model(m)
        ''',
    )


def test_a_name_that_stands_for_one_of_several_modules():
    check_transformed(
        """\
        def load(f, layers):
            try:
                from keras.engine import saving
            except ImportError:
                from keras.engine import topology as saving
            saving.load_weights_from_hdf5_group_by_name(f, layers)
        """,
        """\
        def load(f, layers):
            try:
                from parallel_compat.legacy import saving
            except ImportError:
                from parallel_compat.legacy import saving
            saving.load_weights_from_hdf5_group_by_name(f, layers)
        """,
    )


@pytest.mark.parametrize(
    "source",
    [
        "from keras import backend as K\nK.mean(x)\nK.placeholder((3,))\n",
        "from keras import backend as K\nK.mean(x)\nK.no_such_function(3)\n",
        "from keras.backend import placeholder, mean\nplaceholder\n",
        "from keras.engine.topology import Layer, Node\nNode\n",
        "from keras.utils.generic_utils import func_load, has_arg\nfunc_load\n",
        "from keras.initializers import _compute_fans\n_compute_fans\n",
        "from keras.legacy.interfaces import conv2d_args_preprocessor\nconv2d_args_preprocessor\n",
        "from keras import initializations\ninitializations\n",
        "import tensorflow as tf\ntf.contrib.rnn.LSTMCell(3)\n",
    ],
)
def test_what_is_gone_is_reported_again_in_a_second_run(source):
    reported = {"attention", "unsafe"}
    assert reported & dict(map(reversed, found(source, "imports"))).keys()
    assert reported & dict(map(reversed, found(migrated(source), "imports"))).keys()


def test_what_is_gone_and_not_used_is_not_imported():
    before = """
        import numpy as np
        import tensorflow.contrib.slim as slim
        from tensorflow.contrib import rnn, seq2seq
        from keras.engine.topology import Layer, Node
        from keras.layers import Merge
        seq2seq.f(Layer)
    """
    after = """
        import numpy as np
        from tensorflow.contrib import seq2seq
        from keras.layers import Layer
        seq2seq.f(Layer)
    """
    check_transformed(before, after)
    head = "from keras.layers.core import Dense\n"
    for kept in (
        "from keras.layers import Merge\n__all__ = ['Merge']\n",
        "try:\n    from keras.layers import Merge\nexcept ImportError:\n    pass\n",
    ):
        assert kept.splitlines()[0] in migrated(head + kept)


def test_an_import_is_written_where_one_goes():
    before = "import os\nfrom keras.layers import Merge\nimport tensorflow as tf\ntf.Session().run(tf.log(x))\n"
    after = (
        "import os\nfrom parallel_compat.legacy.session import Session\nimport tensorflow as tf\n"
        "Session().run(tf.math.log(x))\n"
    )
    check_transformed(before, after)
    check_transformed(before.removeprefix("import os\n"), after.removeprefix("import os"))


def test_what_is_gone_stays_where_another_file_imports_it(tmp_path):
    (tmp_path / "one.py").write_text("from keras.layers import Merge\n")
    (tmp_path / "two.py").write_text("from one import Merge\nMerge()\n")
    main(["migrate", "--write", str(tmp_path)])
    assert "Merge" in (tmp_path / "one.py").read_text()


@pytest.mark.parametrize(
    "path", ["keras.layers.Merge", "keras.initializations", "tensorflow.examples.tutorials.mnist.input_data"]
)
def test_a_gone_name_is_reported_where_it_is_imported(path):
    module, _, name = path.rpartition(".")
    used = f"import keras\nfrom {module} import {name}\nthing = {name}.get(3)\n"
    assert found(used, "imports", unsafe=True) == [(2, "attention")]
    check_noop(used)


def test_modules_that_a_star_brings():
    """`from keras import *` brings `layers` today as well, of which `core` is no part."""
    before = """\
    from keras import *
    from keras.layers import *
    x = layers.core.Dense(3)(y)
    z = layers.Dense(3)(utils.np_utils.to_categorical(x))
    s = layers.CuDNNLSTM(3)(z)
    """
    after = """\
    from keras import *
    import parallel_compat.legacy.layers
    from keras.layers import *
    x = layers.Dense(3)(y)
    z = layers.Dense(3)(utils.to_categorical(x))
    s = parallel_compat.legacy.layers.CuDNNLSTM(3)(z)
    """
    check_transformed(before, after)
    gone = "from keras import *\nfrom keras.layers import *\nm = merge([a, b], mode='sum')\nlayers.Merge([a, b])\n"
    assert found(gone, "imports") == [(3, "rewritten"), (4, "attention")]


def test_names_of_the_first_tensorflow():
    check_transformed(
        "import tensorflow as tf\ny = tf.pack([a, b])\n", "import tensorflow as tf\ny = tf.stack([a, b])\n"
    )


def test_what_the_backend_imported_itself():
    check_transformed(
        "from keras import backend as K\nimport tensorflow as tf\n"
        "y = K.control_flow_ops.while_loop(c, b, [K.mean(x)], K.tf.float32)\n",
        "from parallel_compat.legacy import backend as K\nimport tensorflow as tf\n"
        "y = tf.while_loop(c, b, [K.mean(x)], tf.float32)\n",
    )


TF_2 = "import tensorflow as tf\nmodel = tf.keras.Sequential()\n"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("tf.losses.mean_absolute_error(x, y)\n", "tf.keras.losses.MAE(x, y)\n"),
        ("tf.metrics.categorical_crossentropy(x, y)\ntf.losses.mse(x, y)\n", None),
        ("tf.optimizers.Adam(lr=0.1)\n", "tf.optimizers.Adam(learning_rate=0.1)\n"),
        ("f = tf.initializers.he_normal\ng = tf.losses.MeanSquaredError()\n", None),
    ],
)
def test_modules_of_tensorflow_2_that_are_those_of_keras(before, after):
    if after is None:
        check_noop(TF_2 + before)
    else:
        check_transformed(TF_2 + before, TF_2 + after)


def test_a_function_that_each_tensorflow_has_is_rewritten_where_asked_for():
    """The mean of all in TensorFlow 1, one value per sample in TensorFlow 2: the name alone does not tell."""
    before = TF_2 + "tf.losses.mean_squared_error(x, y)\n"
    assert "per sample" in " ".join(messages(before, Status.UNSAFE))
    check_transformed(before, TF_2 + "tf.keras.losses.MSE(x, y)\n", unsafe=True)
    of_1 = "import tensorflow as tf\ntf.enable_eager_execution()\ntf.losses.mean_squared_error(x, y)\n"
    check_transformed(of_1, of_1.replace("tf.", "tf.compat.v1."))


@pytest.mark.parametrize("name", ["keras.experimental.LinearModel", "keras.utils.SequenceEnqueuer"])
def test_what_tensorflow_2_2_had_and_today_has_not_is_named(name):
    assert "is gone" in " ".join(messages(f"{TF_2}tf.{name}()\n"))


def test_a_name_joins_the_import_of_its_module_where_another_import_is_written_behind_it():
    """Both edits are at the end of the same line: the names come first."""
    source = (
        "import tensorflow as tf\nfrom parallel_compat import multi_gpu_model\nlayer = tf.keras.layers.LSTM(3, "
        "recurrent_activation='hard_sigmoid')\nmodel = multi_gpu_model(layer, 2)\nmodel.fit_generator(g, 3)\n"
    )
    lines = migrated(source, unsafe=True).splitlines()
    assert lines[1:3] == [
        "from parallel_compat import multi_gpu_model, fit_generator",
        "from parallel_compat.legacy.activations import hard_sigmoid",
    ]


def test_modules_that_a_module_of_keras_imported_itself():
    check_transformed(
        "from keras.layers import Dense, activations\nfrom keras.models import K\n"
        "x = K.mean(activations.relu(Dense))\n",
        "from keras.layers import Dense\nfrom keras import activations\n"
        "from parallel_compat.legacy import backend as K\nx = K.mean(activations.relu(Dense))\n",
    )
