"""The page of error messages: each one happens on the Keras underneath, and the page has what helps."""

from __future__ import annotations

import json
from pathlib import Path

import keras
import pytest

from parallel_compat.command import main
from parallel_compat.names import search
from parallel_compat.names.error_messages import errors, page
from tests import scripts

PROJECT = Path(__file__).parents[1]
H5 = PROJECT / "tests" / "data" / "oracle" / "h5"

PARALLEL = str(H5 / "sgd_even.parallel.h5")

# What happens without this package (`OURS`: with it), by the title of the page.
HAPPEN = {
    "cannot import name 'multi_gpu_model'": "from keras.utils import multi_gpu_model",
    "module 'tensorflow' has no attribute 'Session'": "tf.Session()",
    "module 'tensorflow' has no attribute 'ConfigProto'": "tf.ConfigProto()",
    "module 'tensorflow' has no attribute 'placeholder'": "tf.placeholder(tf.float32)",
    "has no attribute 'fit_generator'": "model().fit_generator(None)",
    "No module named 'keras.layers.core'": "import keras.layers.core",
    "Argument(s) not recognized: {'lr'": "keras.optimizers.SGD(lr=0.1)",
    "unexpected keyword argument 'nb_epoch'": "compiled().fit(x, y, nb_epoch=1)",
    "Argument `decay` is no longer supported and will be ignored": "keras.optimizers.SGD(0.1, decay=1e-6)",
    "KeyError: 'acc'": "compiled(['accuracy']).fit(x, y, verbose=0).history['acc']",
    "The filepath provided must end in `.keras`": "keras.callbacks.ModelCheckpoint('model.hdf5')",
    "The filename must end in `.weights.h5`": "model().save_weights('weights.h5')",
    "Requested the deserialization of a `Lambda` layer": f"keras.saving.load_model({PARALLEL!r})",
    "bad marshal data": f"keras.saving.load_model({PARALLEL!r}, safe_mode=False)",
    "Unknown layer": "keras.saving.deserialize_keras_object({'class_name': 'Mine', 'config': {}})",
    "Could not deserialize 'keras.metrics.mse'": "compiled().save('mse.h5'); keras.saving.load_model('mse.h5')",
    "Weight count mismatch for layer": (f"model().load_weights({str(H5 / 'sgd_even.parallel_weights.h5')!r})"),
    "AddN ... must have the same size and shape": "on_replicas().fit(x[:1], y[:1], verbose=0)",
    "You must feed a value for placeholder tensor": (
        "on_replicas(steps_per_execution=3).fit(x, y, batch_size=4, verbose=0)"
    ),
    "merge_call called while defining a new graph or a tf.function": (
        "on_replicas(use_ema=True, ema_overwrite_frequency=2).fit(x, y, verbose=0)"
    ),
    "Expected at least 2 devices for `gpus`": "parallel_compat.multi_gpu_model(model(), gpus=1)",
    "before TensorFlow starts, but it has started": "parallel_compat.simulate_devices(3)",
    "Expected `jit_compile` to be False or 'auto'": (
        "parallel_compat.parallelize(model(), gpus=2).compile('sgd', 'mse', jit_compile=True)"
    ),
    "module 'numpy' has no attribute 'float'": "np.float",
    "'str' object has no attribute 'decode'": (
        f"import h5py; h5py.File({PARALLEL!r}, 'r').attrs['keras_version'].decode('utf8')"
    ),
    "Segmentation fault": "raise RuntimeError(crashed)",
}
# Errors of plain Keras that Keras 3.16 no longer raises.
UNTIL_3_15 = (
    "Could not deserialize 'keras.metrics.mse'",
    "merge_call called while defining a new graph or a tf.function",
)
# The other texts of a title, which people search for as well.
ALSO = {
    "No module named 'keras.engine'": "import keras.engine",
    "No module named 'keras.utils.np_utils'": "import keras.utils.np_utils",
    "unexpected keyword argument 'workers'": "compiled().fit(x, y, workers=1)",
    "unexpected keyword argument 'period'": "keras.callbacks.ModelCheckpoint('model.keras', period=1)",
    "KeyError: 'val_acc'": ("compiled(['accuracy']).fit(x, y, validation_data=(x, y), verbose=0).history['val_acc']"),
    # Which of the two it is depends on the Pythons; here the byte code ends where an object should follow.
    "EOFError: EOF read where object expected": (
        "keras.config.enable_unsafe_deserialization(); keras.layers.Lambda.from_config({'function': {"
        "'class_name': '__lambda__', 'config': {'code': 'KQE=\\n', 'defaults': None, 'closure': None}}})"
    ),
}
SCRIPT = """
import faulthandler, json, os, sys, traceback, warnings
import tensorflow as tf

def crash():  # in a process that is forked before TensorFlow has threads
    with open("crash", "w") as file:
        child = os.fork()
        if not child:
            faulthandler.enable(file)
            x, kernel = tf.ones((1, 12, 12, 4)), tf.ones((1, 1, 4, 4))
            for _ in range(100):
                with tf.GradientTape() as tape:
                    tape.watch(x)
                    y = tf.nn.conv2d(x, kernel, 2, "VALID")
                tape.gradient(y, x)
            os._exit(0)
    os.waitpid(child, 0)
    return open("crash").read()

crashed = crash()

cpu = tf.config.list_physical_devices("CPU")[0]
tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)
import keras
import numpy as np

x, y = np.ones((12, 8), "float32"), np.ones((12, 3), "float32")

def model():
    return keras.Sequential([keras.Input((8,)), keras.layers.Dense(3)])

def compiled(metrics=None, **arguments):
    made = model()
    made.compile("sgd", "mse", metrics=metrics, **arguments)
    return made

def on_replicas(steps_per_execution=1, **arguments):
    with tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"]).scope():
        made = model()
        made.compile(keras.optimizers.SGD(0.1, **arguments), "mse", steps_per_execution=steps_per_execution)
    return made

texts = {}
for title, code in json.load(sys.stdin).items():
    if "parallel_compat" in code or "legacy" in code:
        import parallel_compat
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        try:
            exec(code)
            texts[title] = ""
        except Exception as error:
            texts[title] = "".join(traceback.format_exception_only(error))
    texts[title] += "".join(str(warning.message) for warning in warned)
print("TEXTS", json.dumps(texts))
"""


@pytest.fixture(scope="module")
def texts(tmp_path_factory):
    assert list(HAPPEN) == [error.title for error in errors()]
    folder = tmp_path_factory.mktemp("errors")
    result = scripts.python("-c", SCRIPT, folder=folder, stdin=json.dumps({**HAPPEN, **ALSO}))
    lines = [line for line in result.stdout.splitlines() if line.startswith("TEXTS ")]
    assert lines, result.stderr
    return json.loads(lines[0].removeprefix("TEXTS "))


@pytest.mark.parametrize("title", [*HAPPEN, *ALSO])
def test_it_happens_and_is_found(title, texts):
    if title in UNTIL_3_15 and not keras.__version__.startswith(("3.12.", "3.13.", "3.14.", "3.15.")):
        pytest.skip("Keras 3.16 does not raise this error any more")
    first = next((error for error in errors() if error.matches(texts[title])), None)
    assert first is not None, texts[title]
    assert title in (first.title, *first.also), texts[title]
    assert title == first.title or title in texts[title]
    assert search.answers(texts[title])[-1].endswith(f"{first.cause} {first.remedy}")


def test_every_text_of_the_page_is_made_to_happen():
    assert list(ALSO) == [text for error in errors() for text in error.also]


def test_the_page_is_written_from_the_table():
    assert (PROJECT / "docs" / "reference" / "errors.md").read_text("utf-8") == page()


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("multi_gpu_model", "keras.utils.multi_gpu_model: provided, parallel_compat.multi_gpu_model"),
        ("np_utils", "keras.utils.np_utils: a module, today keras.utils"),
        ("K.int_shape", "keras.backend.int_shape: provided, parallel_compat.legacy.backend.int_shape"),
        ("fit_generator", "keras.Model.fit_generator(): provided, parallel_compat.fit_generator"),
        ("Model.fit_generator", "keras.Model.fit_generator(): provided, parallel_compat.fit_generator"),
        ("nb_epoch", "nb_epoch= of Model.fit: renamed, epochs="),
        ("tf.log", "tensorflow.log: moved, tensorflow.math.log"),
    ],
)
def test_what_people_type_is_understood(question, answer):
    assert search.answers(question)[0] == answer


@pytest.mark.parametrize(
    ("question", "first"),
    [
        ("model.fit_generator", "keras.Model.fit_generator(): provided, parallel_compat.fit_generator"),
        ("acc", "'acc' as a log: today 'accuracy'"),
        ("from keras.layers.core import Dense", "keras.layers.core.Dense: moved, keras.layers.Dense"),
        ("ModuleNotFoundError: No module named 'keras.utils.np_utils'", "keras.utils.np_utils: a module"),
        ("No module named keras.engine", "keras.engine: a module"),
        ("'Sequential' object has no attribute 'predict_classes'", "keras.Model.predict_classes(): provided"),
        ("module 'keras.backend' has no attribute 'set_session'", "keras.backend.set_session: provided"),
        (
            "AttributeError: module 'keras.api._v2.keras.utils' has no attribute 'multi_gpu_model'",
            "keras.utils.multi_gpu_model: provided",
        ),
        (
            "module 'tensorflow._api.v2.train' has no attribute 'AdamOptimizer'",
            "tensorflow.train.AdamOptimizer: provided",
        ),
        ("TypeError: Adam.__init__() got an unexpected keyword argument 'decay'", "decay= of optimizers.Adam: "),
        ("TypeError: Model.__init__() got an unexpected keyword argument 'input'", "input= of Model: renamed, inputs="),
        ("ValueError: decay is deprecated in the new Keras optimizer, please", "decay is deprecated"),
        ("To call `multi_gpu_model` with `gpus=2`, we expect the following", "To call `multi_gpu_model` with"),
    ],
)
def test_a_message_is_answered_by_what_it_names(question, first):
    assert search.answers(question)[0].startswith(first), search.answers(question)


def test_a_message_whose_quotes_the_shell_took_away(capsys):
    assert main(["names", *["ImportError:", "cannot", "import", "name", "multi_gpu_model", "from", "keras.utils"]]) == 0
    assert capsys.readouterr().out.startswith("keras.utils.multi_gpu_model: provided")
    assert main(["names", "np_utils", "K.int_shape"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 2


def test_near_misses_are_suggested():
    assert search.answers("fit_generater") == []
    assert "fit_generator" in search.near("fit_generater")
