"""Sessions and device listings: what chose GPUs has that effect, what ran a graph is refused."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import keras
import numpy as np
import pytest
import tensorflow as tf

import parallel_compat
from parallel_compat.legacy import device_lib, first_values, session

pytestmark = pytest.mark.usefixtures("legacy_names")


@pytest.fixture
def settings(monkeypatch):
    """A machine with three GPUs, whose settings are written down."""
    gpus = [tf.config.PhysicalDevice(f"/physical_device:GPU:{i}", "GPU") for i in range(3)]
    calls = []
    visible = list(gpus)
    monkeypatch.setattr(tf.config, "list_physical_devices", lambda kind=None: list(gpus))
    monkeypatch.setattr(tf.config, "get_visible_devices", lambda kind=None: list(visible))

    def set_visible(devices, kind):
        visible[:] = devices
        calls.append(("visible", [device.name[-1] for device in devices]))

    monkeypatch.setattr(tf.config, "set_visible_devices", set_visible)
    monkeypatch.setattr(
        tf.config.experimental, "set_memory_growth", lambda gpu, on: calls.append(("growth", gpu.name[-1], on))
    )
    monkeypatch.setattr(session.backend_devices, "set_memory_fraction", lambda part: calls.append(("part", part)))
    return calls


def test_gpu_options_have_their_effect(settings):
    config = tf.ConfigProto(gpu_options=tf.GPUOptions(per_process_gpu_memory_fraction=0.5))
    config.gpu_options.allow_growth = True
    config.gpu_options.visible_device_list = "1,2"
    keras.backend.set_session(tf.Session(config=config))
    assert settings == [("visible", ["1", "2"]), ("growth", "1", True), ("growth", "2", True), ("part", 0.5)]


def test_no_gpu_at_all(settings):
    tf.Session(config=tf.ConfigProto(device_count={"GPU": 0}))
    assert settings == [("visible", [])]


def test_a_configuration_that_comes_too_late_says_so(monkeypatch):
    def late(*_arguments, **_keywords):
        raise RuntimeError("started")

    monkeypatch.setattr(session, "limit_gpu_memory", late)
    config = tf.ConfigProto()
    config.gpu_options.allow_growth = True
    with pytest.warns(UserWarning, match="after TensorFlow had started .* configure the session before"):
        tf.Session(config=config)


def test_a_session_reads_and_its_graph_is_refused():
    weight, before = keras.Variable(np.ones(2)), tf.get_default_session()
    with tf.Session() as current:
        current.run(tf.global_variables_initializer())
        assert tf.get_default_session() is current is keras.backend.get_session()
        assert current.run([tf.constant(3), weight])[1].tolist() == [1, 1]
        with pytest.raises(NotImplementedError, match="Call the model or the function directly"):
            current.run(tf.constant(1), feed_dict={"x": 1})
        with pytest.raises(NotImplementedError, match="no TensorFlow 1 graph"):
            current.run(keras.Input((2,)))
    assert tf.get_default_session() is before
    with tf.get_default_graph().as_default():
        assert keras.ops.ones(1).numpy() == 1
    with pytest.raises(AttributeError, match="no TensorFlow 1 graph"):
        tf.get_default_graph().get_operations()


def test_listings_name_what_parallelize_would_use():
    import parallel_compat

    count = len(parallel_compat.available_devices())
    assert count == 4
    from tensorflow.python.client import device_lib as old

    names = [f"/device:GPU:{i}" for i in range(count)]
    assert keras.backend.tensorflow_backend._get_available_gpus() == names
    assert [d.name for d in old.list_local_devices() if d.device_type == "GPU"] == names
    assert [d.name for d in keras.backend.get_session().list_devices() if "GPU" in d.name] == names
    short = ["/cpu:0", *(f"/gpu:{i}" for i in range(count))]
    assert keras.utils.multi_gpu_utils._get_available_devices() == short
    assert keras.utils.multi_gpu_utils._normalize_device_name("/device:GPU:1") == "/gpu:1"
    assert device_lib.normalize_device_name("/job:localhost/replica:0/task:0/device:CPU:0") == "/cpu:0"


def test_settings_and_strategies_of_contrib():
    settings = tf.contrib.training.HParams(rate=0.1, units=[4, 2], bias=True, name="a")
    assert settings.parse("rate=1,units=[8,8],bias=false").values() == {
        "rate": 1.0, "units": [8, 8], "bias": False, "name": "a",
    }  # fmt: skip
    settings.add_hparam("steps", 3)
    settings.set_hparam("name", "b")
    assert (settings.steps, settings.get("name"), settings.get("none", 5), "units" in settings) == (3, "b", 5, True)
    assert tf.contrib.training.HParams().override_from_dict({}).parse_json("{}").to_json() == "{}"
    settings.del_hparam("steps")
    assert "steps" not in repr(settings)
    for wrong, said in ((lambda: settings.parse("other=1"), "other"), (lambda: settings.parse("bias=5"), "bias")):
        with pytest.raises(ValueError, match=said):
            wrong()
    with pytest.raises(ValueError, match="reserved"):
        settings.add_hparam("rate", 1)
    with pytest.raises(KeyError):
        settings.set_hparam("none", 1)

    assert tf.contrib.distribute.MirroredStrategy is tf.distribute.MirroredStrategy
    assert tf.contrib.distribute.TPUStrategy is tf.distribute.TPUStrategy


def test_a_graph_that_a_program_makes_itself_has_its_own_session():
    """As migrated sources have it, by the names of this package."""
    with tf.Graph().as_default() as graph:
        fed = tf.compat.v1.placeholder(tf.float32, ())
        result = fed * tf.compat.v1.get_variable("v", initializer=2.0)
        assert session.get_default_graph() is graph
        with session.Session() as own:
            own.run(first_values.global_variables_initializer())
            assert own.run(result, {fed: 4.0}) == 8.0
    assert session.get_default_graph() is not graph


def test_tensors_and_operations_run_by_themselves():
    """In the session that is in use. Numbers of Keras 2.2.4."""
    with parallel_compat.legacy_names(era="keras-2.2.4"):
        backend = keras.backend
        x, y = tf.placeholder(tf.float32, (None, 2)), tf.placeholder(tf.float32, (None, 1))
        output = keras.layers.Dropout(0.9999)(keras.layers.Dense(1, kernel_initializer="ones")(x))
        loss = tf.reduce_mean(tf.square(output - y))
        step = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
        count = backend.variable(1.0)
        add = backend.update(count, tf.reduce_mean(x))
        feed = {x: [[1.0, 2.0], [3.0, -1.0]], y: [[1.0], [0.0]], backend.learning_phase(): 0}
        with tf.Session() as current:
            assert output.eval(feed).tolist() == [[3], [2]]
            losses = [loss.eval(feed_dict=feed)]
            for given in ({"feed_dict": feed}, {"feed_dict": feed, "session": current}):
                step.run(**given)
                losses.append(loss.eval(**given))
            add.op.run(feed)
    assert losses == pytest.approx([4.0, 0.26, 0.039400026])
    assert backend.get_value(count) == 1.25


def test_assignments_of_variables_wait_for_a_session():
    """As Keras 2.2.4 and tf.keras 1.15 had it: `variable.assign(value)` was an operation, made once and run often."""
    for era in ("keras-2.2.4", "tf.keras-1.15"):
        with parallel_compat.legacy_names(era=era):
            v, u = tf.Variable(1.0), tf.Variable(5.0)
            fed = tf.placeholder(tf.float32)  # a number
            mixed, more, less = v.assign(0.5 * v + 0.5 * u), v.assign_add(fed), v.assign_sub(u)
            weights = [keras.layers.Dense(1, kernel_initializer=name, use_bias=False) for name in ("ones", "zeros")]
            for layer in weights:
                layer.build((None, 2))
            source, target = (layer.kernel for layer in weights)
            soft = tf.group([target.assign(0.5 * source + 0.5 * target)], u.assign_add(1.0))
            with tf.Session() as current:
                assert current.run([v, u]) == [1.0, 5.0]
                assert [float(current.run(mixed)), float(current.run(mixed))] == [3.0, 4.0]
                assert [float(current.run(more, {fed: 2.0})), float(less.eval())] == [6.0, 1.0]
                assert current.run(mixed.op) is None
                assert float(current.run(v)) == 3.0
                v.assign(7.0)  # which nothing runs
                assert float(current.run(v)) == 3.0
                current.run(soft)
                assert current.run(soft) is None
                assert [*keras.backend.get_value(target).ravel(), current.run(u)] == [0.75, 0.75, 7.0]
                with pytest.raises(ValueError, match=r"Expected `shape` of the placeholder .* Received: none"):
                    current.run(fed * 2.0, {fed: [1.0, 2.0]})


# Losses of four steps of Keras 2.2.4, where the learning phase is fed.
STEPS = {
    "Adam": [4.0, 2.7250006, 2.0203545, 1.5686207],
    "RMSprop": [4.0, 0.8228116, 0.2035929, 0.0484505],
    "Nadam": [4.0, 2.6604788, 1.9186180, 1.3730140],
    "AdamOptimizer": [4.0, 2.7249997, 1.7088214, 0.9501960],
}


@pytest.mark.parametrize("name", STEPS)
def test_an_optimizer_goes_on_from_step_to_step_of_a_training(name):
    """Its moments and its count were those of the first step where layers that tell training apart were told so."""
    with parallel_compat.legacy_names(era="keras-2.2.4"):
        backend, phase = keras.backend, keras.backend.learning_phase()
        x, y = keras.layers.Input((2,)), keras.backend.placeholder((None, 1))
        dense = keras.layers.Dense(1, kernel_initializer="ones")
        loss = backend.mean(backend.square(dense(x) - y))
        given = [np.array([[1.0, 2.0], [3.0, -1.0]]), np.array([[1.0], [0.0]]), 1]
        if name == "AdamOptimizer":
            step = tf.train.AdamOptimizer(0.1).minimize(loss, var_list=dense.trainable_weights)
            feed = dict(zip((x, y, phase), given, strict=True))
            losses = [tf.Session().run([loss, step], feed)[0] for _ in range(4)]
        else:
            optimizer = getattr(keras.optimizers, name)(0.1, **({"decay": 0.5} if name == "Adam" else {}))
            updates = optimizer.get_updates(loss, dense.trainable_weights)
            train = backend.function([x, y, phase], [loss], updates=updates)
            losses = [train(given)[0] for _ in range(4)]
    assert losses == pytest.approx(STEPS[name], rel=1e-5)


@pytest.fixture
def small():
    """Predictions and losses of Keras 2.2.4 are below."""
    with parallel_compat.legacy_names(era="keras-2.2.4"):
        model = keras.models.Sequential([keras.layers.Dense(1, input_shape=(2,), kernel_initializer="ones")])
        model.compile("sgd", "mse")
        yield model, np.arange(12.0).reshape(6, 2) / 10


def test_each_model_of_a_server_has_a_graph_and_a_session(small, tmp_path):
    model, x = small
    model.save(tmp_path / "model.h5")

    def served():
        with tf.Graph().as_default() as graph:
            own = tf.Session(graph=graph)
            with own.as_default():
                return graph, own, keras.models.load_model(tmp_path / "model.h5")

    def answer(graph, own, model):
        with graph.as_default(), own.as_default():
            return model.predict(x)[:, 0]

    with ThreadPoolExecutor(2) as threads:
        for answered in threads.map(lambda one: answer(*one), [served(), served()]):
            np.testing.assert_allclose(answered, [0.1, 0.5, 0.9, 1.3, 1.7, 2.1], rtol=1e-6)


def test_a_model_trains_within_a_graph_of_the_program(small):
    _, x = small

    def batches():
        while True:
            yield x, x[:, :1]

    with tf.Graph().as_default() as graph, tf.Session(graph=graph).as_default():
        model = keras.models.Sequential([keras.layers.Dense(1, input_shape=(2,), kernel_initializer="ones")])
        model.compile("sgd", "mse")
        losses = model.fit(x, x[:, :1], epochs=2, batch_size=3, shuffle=False, verbose=0).history["loss"]
        losses += model.fit_generator(batches(), 1, verbose=0).history["loss"]
        losses += [model.evaluate(x, x[:, :1], verbose=0), model.train_on_batch(x, x[:, :1])]
        outputs = keras.backend.function([model.input], [model.output])([x])[0]
    expected = [0.4680653400719166, 0.41108785942196846, 0.36760130524635315, 0.344955712556839, 0.3449557]
    np.testing.assert_allclose([float(loss) for loss in losses], expected, rtol=1e-6)
    np.testing.assert_allclose(outputs[:2, 0], [0.02852434664964676, 0.4086208641529083], rtol=1e-5)
    np.testing.assert_allclose(model.get_weights()[1], [-0.06616894], rtol=1e-5)


def test_a_trained_model_is_read_within_a_graph_of_the_program(small, tmp_path):
    """With what its optimizer keeps of the weights."""
    _, x = small
    path = str(tmp_path / "model.h5")
    with tf.Graph().as_default() as graph, tf.Session(graph=graph).as_default():
        model = keras.models.Sequential([keras.layers.Dense(1, input_shape=(2,))])
        model.compile("adam", "mse")
        model.train_on_batch(x, x[:, :1])
        model.save(path)
        read = keras.models.load_model(path)
        np.testing.assert_allclose(read.predict(x), model.predict(x), rtol=1e-6)
        assert [value.shape for value in read.optimizer.get_weights()][:5] == [(), (2, 1), (1,), (2, 1), (1,)]
        assert read.layers[0](x.astype("float32")).numpy().shape == (6, 1)


def test_what_is_no_part_of_keras_is_a_graph_there_still():
    with tf.Graph().as_default() as graph:
        x = tf.placeholder("float32", (None, 2))
        total = tf.reduce_sum(x)
    with tf.Session(graph=graph) as own:
        assert own.run(total, {x: [[1.0, 2.0]]}) == 3.0


def test_variables_get_their_first_values_once_more():
    """As in the graphs of Keras 2.2.4 and TensorFlow 1.15, whose values these are."""
    x, y = np.ones((2, 2)), np.ones((2, 1))
    with parallel_compat.legacy_names(era="tf.keras-1.15"):
        backend = keras.backend
        backend.clear_session()
        model = keras.Sequential([keras.layers.Dense(1, kernel_initializer="ones", input_shape=(2,))])
        model.add(keras.layers.Dense(1, kernel_initializer="glorot_uniform"))
        model.compile(keras.optimizers.SGD(0.1, momentum=0.9), "mse")
        begun, own = model.get_weights(), backend.get_session()
        own.run(tf.global_variables_initializer())
        assert all(map(np.array_equal, model.get_weights(), begun))  # they had them
        model.set_weights([begun[0], begun[1], np.ones((1, 1)), begun[3]])
        losses = [float(model.train_on_batch(x, y)) for _ in range(2)]
        with tf.Session() as other:
            trained = model.get_weights()
            other.run(tf.global_variables_initializer())  # has variables of its own
        assert all(map(np.array_equal, model.get_weights(), trained))
        own.run(tf.global_variables_initializer())
        kernel, bias, drawn, _ = model.get_weights()
        assert [kernel.tolist(), bias.tolist(), drawn == trained[2]] == [[[1.0], [1.0]], [0.0], False]
        model.set_weights([begun[0], begun[1], np.ones((1, 1)), begun[3]])
        assert [float(model.train_on_batch(x, y)) for _ in range(2)] == losses  # without the momentum of before
        before = model.get_weights()
        model.layers[0].kernel.initializer.run(session=own)
        own.run(tf.variables_initializer([model.layers[1].bias]))
        after = model.get_weights()
        assert [after[0].tolist(), after[3].tolist()] == [[[1.0], [1.0]], [0.0]]
        assert [after[1] == before[1], after[2] == before[2]] == [True, True]
        backend.clear_session()
