"""Each function of the old backend and what it becomes give the same numbers."""

from __future__ import annotations

import ast

import keras
import numpy as np
import pytest
import tensorflow as tf

from parallel_compat.legacy import models
from parallel_compat.migrate.engine import Options
from parallel_compat.migrate.findings import Status
from parallel_compat.migrate.native import legacy_numerics, process
from parallel_compat.names.identifiers import larger_is_better
from parallel_compat.names.native import BACKEND, functions
from tests.migrate.native.check import check_native, questions, rewriting

rng = np.random.RandomState(0)
VALUES = {
    "x": rng.normal(size=(3, 4)).astype("float32"),
    "z": rng.normal(size=(3, 4)).astype("float32"),
    "w": rng.normal(size=(4, 5)).astype("float32"),
    "b": rng.normal(size=(3, 4)).astype("float32") > 0,
    "p": rng.dirichlet(np.ones(4), 3).astype("float32"),
    "t": np.eye(4, dtype="float32")[[0, 2, 1]],
    "c": np.array([0, 2, 1]),
    "u": rng.normal(size=(2, 5, 3, 4)).astype("float32"),
    "v": rng.normal(size=(2, 5, 4, 6)).astype("float32"),
    "g": rng.normal(size=(2, 6, 6, 3)).astype("float32"),
    "k4": rng.normal(size=(3, 3, 3, 4)).astype("float32"),
    "m": rng.normal(size=(3, 1, 4)).astype("float32"),
}
# What is called where `K.name(x)` would not do; several for one name are separated by semicolons.
CALLS = {
    "all": "K.all(b); K.all(b, 1, True)",
    "any": "K.any(b, axis=-1)",
    "arange": "K.arange(2, 7, 2); K.arange(4)",
    "argmax": "K.argmax(x); K.argmax(x, 0)",
    "argmin": "K.argmin(x); K.argmin(x, axis=0)",
    "batch_dot": "K.batch_dot(u, v); K.batch_dot(x, z, 1); K.batch_dot(m, x, axes=(2, 1))",
    "batch_get_value": "K.batch_get_value([K.variable(x), K.variable(z)])",
    "binary_crossentropy": "K.binary_crossentropy(t, p); K.binary_crossentropy(t, x, from_logits=True)",
    "cast": "K.cast(b, 'float32')",
    "categorical_crossentropy": "K.categorical_crossentropy(t, p); K.categorical_crossentropy(t, x, True)",
    "clip": "K.clip(x, -0.5, 0.5); K.clip(x, min_value=0., max_value=1.)",
    "concatenate": "K.concatenate([x, z]); K.concatenate([x, z], axis=0)",
    "constant": "K.constant(3) + x; K.constant(3, dtype='int64') + c; K.constant([1., 2.], 'float64')",
    "conv2d": "K.conv2d(g, k4); K.conv2d(g, k4, (2, 2), 'same', dilation_rate=(1, 1))",
    "batch_flatten": "K.batch_flatten(u)",
    "backend": "K.backend()",
    "relu": "K.relu(x); K.relu(x, 0.2); K.relu(x, max_value=0.5)",
    "cumprod": "K.cumprod(x); K.cumprod(x, axis=1)",
    "cumsum": "K.cumsum(x); K.cumsum(x, 1)",
    "dot": "K.dot(x, w); K.dot(u, w)",
    "dtype": "K.dtype(K.constant(3))",
    "elu": "K.elu(x); K.elu(x, 0.5)",
    "epsilon": "K.epsilon()",
    "equal": "K.equal(c, c); K.equal(x, y=z)",
    "expand_dims": "K.expand_dims(x); K.expand_dims(x, 0)",
    "eye": "K.eye(3)",
    "floatx": "K.floatx()",
    "gather": "K.gather(x, c)",
    "greater": "K.greater(x, z)",
    "greater_equal": "K.greater_equal(x, z)",
    "image_data_format": "K.image_data_format()",
    "in_top_k": "K.in_top_k(p, c, 2)",
    "in_test_phase": "K.in_test_phase(x, z, training=True); K.in_test_phase(lambda: x, z, False)",
    "in_train_phase": "K.in_train_phase(x, z, training=True); K.in_train_phase(x, lambda: z, False)",
    "int_shape": "K.int_shape(u); K.int_shape(x + z)",
    "is_keras_tensor": "K.is_keras_tensor(K.constant(1))",
    "l2_normalize": "K.l2_normalize(x, axis=-1); K.l2_normalize(x * 0., 1)",
    "less": "K.less(x, z)",
    "less_equal": "K.less_equal(x, z)",
    "log": "K.log(p)",
    "logsumexp": "K.logsumexp(x, axis=1, keepdims=True)",
    "map_fn": "K.map_fn(lambda row: row * 2, x)",
    "max": "K.max(x, 1); K.max(x, axis=0, keepdims=True)",
    "maximum": "K.maximum(x, z); K.maximum(x, 0.)",
    "mean": "K.mean(x); K.mean(b, axis=1); K.mean(u, axis=[1, 2])",
    "minimum": "K.minimum(x, y=z)",
    "not_equal": "K.not_equal(c, 2)",
    "one_hot": "K.one_hot(c, 5); K.one_hot(indices=c, num_classes=3)",
    "permute_dimensions": "K.permute_dimensions(u, (0, 2, 1, 3)); K.permute_dimensions(u, pattern=[3, 2, 1, 0])",
    "pow": "K.pow(p, 2.); K.pow(p, a=0.5)",
    "repeat": "K.repeat(x, 2)",
    "repeat_elements": "K.repeat_elements(x, 2, axis=1); K.repeat_elements(x, rep=3, axis=0)",
    "reshape": "K.reshape(x, (4, 3)); K.reshape(x, shape=(-1,))",
    "reverse": "K.reverse(x, 1); K.reverse(u, axes=[1, 2])",
    "shape": "K.shape(x)[1]; K.shape(u)[0] + K.shape(x)[0]",
    "slice": "K.slice(x, [1, 0], [2, 3])",
    "softmax": "K.softmax(x); K.softmax(x, axis=0)",
    "sparse_categorical_crossentropy": "K.sparse_categorical_crossentropy(c, p)",
    "sqrt": "K.sqrt(x); K.sqrt(x + z)",
    "squeeze": "K.squeeze(m, 1)",
    "stack": "K.stack([x, z]); K.stack([x, z], axis=-1)",
    "std": "K.std(x, axis=1)",
    "sum": "K.sum(x, axis=(0, 1)); K.sum(x, 1, keepdims=True)",
    "switch": "K.switch(b, x, z); K.switch(b[:, 0], x, lambda: z); K.switch(x[0, 0] > 0, x, z)",
    "tile": "K.tile(x, [2, 1]); K.tile(x, n=(1, 2))",
    "var": "K.var(x, 1)",
    "variable": "K.variable(x) + 0.; K.variable(1, 'float64') * 2.; K.variable(value=3., name='v') * 1.",
}
# Without a value to compare: they draw, set, name or forget something.
DRAWS = {
    "_get_available_gpus": "len(K._get_available_gpus())",  # simulated ones are GPUs to this package alone
    "dropout": "K.dropout(x, 0.5)",
    "random_normal": "K.random_normal((3, 4)); K.random_normal(shape=(2,), mean=1., stddev=2.); K.random_normal((2,), seed=1)",
    "random_uniform": "K.random_uniform((3, 4), 0., 2.)",
    "truncated_normal": "K.truncated_normal((5,))",
}
STATEMENTS = {
    "clear_session": "K.clear_session()\nr = 1",
    "get_uid": "r = K.get_uid('a_name')",
    "name_scope": "with K.name_scope('block'):\n    r = x + z",
    "set_epsilon": "K.set_epsilon(1e-5)\nr = K.epsilon()\nK.set_epsilon(1e-7)",
    "set_floatx": "K.set_floatx('float64')\nr = K.floatx()\nK.set_floatx('float32')",
    "set_image_data_format": "K.set_image_data_format('channels_last')\nr = K.image_data_format()",
    "set_value": "k = K.variable(1.)\nK.set_value(k, 3.)\nr = K.get_value(k)",
    "update": "k = K.variable(1.)\nK.update(k, 4.)\nr = K.get_value(k)",
    "update_add": "k = K.variable(1.)\nK.update_add(k, 4.)\nr = K.get_value(k)",
    "update_sub": "k = K.variable(1.)\nK.update_sub(k, 4.)\nr = K.get_value(k)",
}
NAMES = sorted(path.rpartition(".")[2] for path in functions() if path.startswith(BACKEND))


def result_of(text: str) -> object:
    """Run a source and return what it calls `r`, as plain values."""
    space = {name: tf.constant(value) for name, value in VALUES.items()}
    exec(compile(text, "<test>", "exec"), space)
    return keras.tree.map_structure(
        lambda each: (
            np.asarray(keras.ops.convert_to_numpy(each))
            if isinstance(each, (tf.Tensor, keras.Variable, tf.Variable, np.ndarray))
            else each
        ),
        space["r"],
    )


def sources(name: str) -> list[str]:
    if name in STATEMENTS:
        return [STATEMENTS[name]]
    calls = CALLS.get(name) or DRAWS.get(name) or f"K.{name}(x)"
    return [f"r = {call}" for call in calls.split("; ")]


@pytest.fixture(autouse=True)
def _helpers(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "legacy_numerics", legacy_numerics)


def test_every_row_computes_the_same():
    """All rows in one test: what is slow is the first use of each operation."""
    for name in NAMES:
        for source in sources(name):
            old = f"from keras import backend as K\n{source}\n"
            new = rewriting(old).text
            assert "parallel_compat" not in new, new
            assert "K." not in new or hasattr(keras.backend, name), new  # what is there may stay
            ast.parse(new)
            before = result_of(old.replace("from keras import", "from parallel_compat.legacy import"))
            after = result_of(new)
            if name in DRAWS or name == "get_uid":
                assert np.shape(before) == np.shape(after), source
                continue
            for mine, theirs in zip(keras.tree.flatten(after), keras.tree.flatten(before), strict=True):
                if isinstance(theirs, np.ndarray):
                    np.testing.assert_allclose(mine, theirs, rtol=2e-6, atol=1e-6, err_msg=source)
                else:
                    assert mine == theirs, source


@pytest.mark.parametrize(
    "call",
    [
        "K.sum(*arguments)",
        "K.constant(3, shape=(2, 2))",
        "K.l2_normalize(x)",
        "K.map_fn(f, x, dtype='float32')",
        "K.switch(*arguments)",
        "K.in_train_phase(a, b)",
        "K.learning_phase()",
        "K.zeros((3,))",
        "K.shape(x) * 2",
        "K.function([a, K.learning_phase()], [b])",
    ],
)
def test_what_has_no_one_spelling_is_a_question(call):
    source = f"from keras import backend as K\nr = {call}\n"
    assert [one for one in questions(source) if one.startswith("native-")]


def test_a_comment_within_a_call_is_kept():
    source = "from keras import backend as K\nr = K.mean(\n    x,  # of all\n    axis=1)\n"
    assert rewriting(source).text == "from keras import ops\nr = ops.mean(\n    x,  # of all\n    axis=1)\n"


def test_places_are_those_of_the_source():
    source = "import keras.backend as K\n\nr = K.learning_phase()\n"
    found = process.rewrite(source, Options(target="native"), None, hints=True).findings
    assert {source.count("\n", 0, one.offset) for one in found if one.status is Status.ATTENTION} == {2}


@pytest.mark.parametrize("mode", ["auto", "min", "max"])
@pytest.mark.parametrize("monitor", ["val_loss", "acc", "val_acc", "fmeasure", "val_auc"])
def test_a_copied_checkpoint_takes_the_better_value_as_keras_2_did(monitor, mode):
    larger = legacy_numerics.ModelCheckpoint("w.h5", monitor=monitor, mode=mode).monitor_op is np.greater
    assert larger == larger_is_better(monitor, mode)


def test_zeros_in_a_function_are_a_tensor():
    source = "from keras import backend as K\ndef loss(y):\n    return y + K.{}((3,), dtype='float32')\n"
    for name in ("zeros", "ones"):
        expected = f"from keras import ops\ndef loss(y):\n    return y + ops.{name}((3,), dtype='float32')\n"
        assert rewriting(source.format(name)).text == expected
    kept = "from keras import backend as K\nclass A:\n    def build(self):\n        self.n = K.zeros((3,))\nK.update(a.n, 1)\n"
    assert [one for one in questions(kept) if "K.zeros" in one]


def test_the_dimension_ordering_of_keras_1_is_compared_by_todays_names():
    source = "from keras import backend as K\nif K.image_dim_ordering() == 'th':\n    print(1)\n"
    expected = 'import keras\nif keras.config.image_data_format() == "channels_first":\n    print(1)\n'
    assert rewriting(source).text == expected
    asked = "from keras import backend as K\nordering = K.image_dim_ordering()\n"
    assert any("channels_first" in one for one in questions(asked))


def test_a_function_that_is_given_away_is_written_or_asked_for():
    source = "from keras import backend as K\nfrom keras.layers import Lambda\nx = Lambda(K.{})(x)\n"
    assert "Lambda(ops.square)" in rewriting(source.format("square")).text
    assert [one for one in questions(source.format("expand_dims")) if "expand_dims" in one]


def test_a_method_of_the_same_name_does_not_hide_a_helper():
    source = "class Agent:\n    def reset_states(self):\n        model = Model(a, b)\n        model.reset_states()\n"
    found = rewriting(f"from keras.models import Model\n{source}").text
    assert "        reset_states(model)" in found
    assert "from legacy_numerics import reset_states" in found


def test_states_are_reset_of_whatever_has_them():
    class Process:
        reset = 0

        def reset_states(self):
            self.reset += 1

    process_, layer = Process(), keras.layers.LSTM(2, stateful=True)
    layer(np.ones((1, 2, 3)))
    legacy_numerics.reset_states(process_)
    models.reset_states(process_)
    assert process_.reset == 2
    for reset in (legacy_numerics.reset_states, models.reset_states):
        layer(np.ones((1, 2, 3)))
        assert np.any(layer.states[0])
        reset(layer)
        assert not np.any(layer.states[0])


def test_weights_are_loaded_by_name(tmp_path):
    def model(first, second):
        return keras.Sequential(
            [keras.Input((2,)), keras.layers.Dense(3, name=first), keras.layers.Dense(1, name=second)]
        )

    one, other = model("a", "b"), model("a", "c")
    path = str(tmp_path / "w.h5")
    legacy_numerics.save_weights(one, path)
    kept = other.layers[1].get_weights()
    legacy_numerics.load_weights(other, path, by_name=True)
    np.testing.assert_array_equal(other.layers[0].get_weights()[0], one.layers[0].get_weights()[0])
    np.testing.assert_array_equal(other.layers[1].get_weights()[0], kept[0])
    assert "load_weights(model, 'w.h5', by_name=True)" in rewriting(
        "from keras.models import Sequential\nmodel = Sequential()\nmodel.load_weights('w.h5', by_name=True)\n"
    ).text.replace("parallel_compat.", "!")


def test_an_import_of_this_package_that_stays_is_told():
    """Bound in two places, it cannot be said what the uses mean."""
    source = (
        "try:\n    from keras.utils import conv_utils\nexcept ImportError:\n    from other import conv_utils\n"
        "x = conv_utils.normalize_tuple(3, 2, 'x')\n"
    )
    assert [one for one in questions(source) if "conv_utils" in one]


def test_the_input_of_a_layer_that_may_be_an_input_is_asked_for():
    source = "from keras.models import load_model\nnet = load_model('a.h5')\nx = net.layers[0].input\n"
    assert [one for one in questions(source) if "model.inputs[0]" in one]


@pytest.mark.parametrize(
    "imported", ["import parallel_compat.legacy.models", "from parallel_compat.legacy.models import predict"]
)
def test_a_helper_takes_the_place_of_the_function_of_its_name(imported):
    name = "parallel_compat.legacy.models.predict" if imported.startswith("import") else "predict"
    check_native(
        f"import keras\n{imported}\nmodel = keras.Model(x, y)\n{name}(model, z)\n{name}(model, z, steps=3)\n",
        "import keras\nfrom legacy_numerics import predict\nmodel = keras.Model(x, y)\n"
        "predict(model, z)\npredict(model, z, steps=3)\n",
    )


def test_a_function_that_is_given_away_as_well_stays():
    source = (
        "import keras\nfrom parallel_compat.legacy.models import predict\npredict(keras.Model(x, y), z)\nf = predict\n"
    )
    assert rewriting(source).text == source
    assert len(questions(source)) == 2
