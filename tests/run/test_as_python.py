"""A script under `parallel-compat run` finds what it would find under `python`."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

SHOW = """
import sys, os
print(sys.argv, sys.path[0], __name__, globals().get("__file__"), __spec__ and __spec__.name, sys.flags.dev_mode)
print(sys.modules["__main__"].__dict__ is globals(), os.getcwd(), sys.excepthook is not None)
print([p for p in sys.path if "parallel_compat" in p and "startup" in p])
"""


def test_a_script_is_started_as_python_starts_it(tmp_path, run, python):
    (tmp_path / "scripts").mkdir()
    (tmp_path / "scripts" / "show.py").write_text(SHOW)
    theirs = python("scripts/show.py", "--epochs", "3", "-c", "x")
    ours = run("scripts/show.py", "--epochs", "3", "-c", "x")
    assert ours.stdout == theirs.stdout != ""
    assert (ours.stderr, ours.returncode) == (theirs.stderr, theirs.returncode) == ("", 0)


@pytest.mark.parametrize(
    ("arguments", "stdin"),
    [(("-m", "package.show", "--epochs", "3"), None), (("-c", SHOW, "-m", "x"), None), (("-", "a", "-q"), SHOW)],
)
def test_modules_code_and_stdin_too(tmp_path, run, python, arguments, stdin):
    (tmp_path / "package").mkdir()
    (tmp_path / "package" / "__init__.py").write_text("")
    (tmp_path / "package" / "show.py").write_text(SHOW)
    theirs, ours = python(*arguments, stdin=stdin), run(*arguments, stdin=stdin)
    assert ours.stdout == theirs.stdout != ""
    assert (ours.stderr, ours.returncode) == (theirs.stderr, theirs.returncode)


@pytest.mark.parametrize(
    "code",
    [
        "raise SystemExit(3)",
        "import sys; sys.exit('a message')",
        "import sys; sys.exit()",
        "1 / 0",
        "raise KeyboardInterrupt",
        "def f():\n  try:\n    1 / 0\n  except ZeroDivisionError as e:\n    raise KeyError('x') from e\nf()",
        "import helper",
        "import traceback\ntry:\n    import helper\nexcept ZeroDivisionError:\n    traceback.print_exc()",
        "x = (",
        "import threading\nt = threading.Thread(target=lambda: 1 / 0, name='t')\nt.start()\nt.join()",
        "import traceback\ntraceback.print_stack()",
    ],
)
def test_exit_codes_and_tracebacks_are_pythons(tmp_path, run, python, code):
    (tmp_path / "helper.py").write_text("def divide():\n    return 1 / 0\n\n\ndivide()\n")
    (tmp_path / "script.py").write_text(code + "\n")
    theirs, ours = python("script.py"), run("script.py")
    assert ours.returncode == theirs.returncode
    assert ours.stderr == theirs.stderr
    assert ours.stdout == theirs.stdout


def test_a_package_that_is_not_there_is_named_after_the_traceback(tmp_path, run, python):
    (tmp_path / "script.py").write_text("import nowhere\n")
    theirs, ours = python("script.py"), run("script.py")
    assert ours.returncode == theirs.returncode
    assert ours.stderr == theirs.stderr + (
        "parallel-compat: script.py:1: `nowhere` is not Keras: it is not installed: `pip install nowhere`, or what the "
        "project's requirements name.\n"
    )


@pytest.mark.slow
def test_an_error_in_keras_shows_the_users_frames_and_keras_own(tmp_path, run):
    (tmp_path / "script.py").write_text("import keras\n\nlayer = keras.layers.Dense(output_dim='many')\n")
    ours = run("script.py")
    assert ours.returncode == 1
    assert 'script.py", line 3, in <module>' in ours.stderr
    assert "parallel_compat/" not in ours.stderr.partition("parallel-compat: ")[0]


def test_a_gone_name_is_refused_with_its_line_the_reason_and_the_way_out(tmp_path, run):
    (tmp_path / "script.py").write_text("import tensorflow as tf\n\nx = tf.placeholder_with_default(0.5, [])\n")
    ours = run("script.py", "--epochs", "3")
    assert ours.returncode == 1
    last = ours.stderr.strip().splitlines()[-1]
    assert re.search(
        r"script\.py:3: `tensorflow\.placeholder_with_default` is gone\. A placeholder needs a TensorFlow 1 graph\.",
        last,
    )
    assert "Use `keras.Input(shape)`" in last
    assert "parallel_compat/" not in ours.stderr


@pytest.mark.slow
def test_allowed_lambdas_are_loaded_as_keras_2_did(tmp_path, run):
    loading = "print(load_model('model.h5', {'tf': tf}).predict(np.exp([[3.0]]))[0, 0])\n"
    (tmp_path / "saves.py").write_text(
        "import numpy as np, tensorflow as tf\nfrom keras import backend as K\nfrom keras.layers import Lambda\n"
        "from keras.models import Sequential, load_model\n"
        "Sequential([Lambda(lambda x: K.square(tf.log(x)), input_shape=(1,))]).save('model.h5')\n" + loading
    )
    (tmp_path / "loads.py").write_text(
        f"import numpy as np, tensorflow as tf\nfrom keras.models import load_model\n{loading}"
    )
    own = run("--quiet", "saves.py")
    assert own.stdout == "9.0\n", own.stderr  # its own code
    assert "--allow-lambdas" in run("--quiet", "loads.py").stderr.strip().splitlines()[-1]
    assert run("--quiet", "--allow-lambdas", "loads.py").stdout == "9.0\n"


@pytest.mark.slow
def test_named_functions_of_lambda_layers_are_found_in_another_process(tmp_path, run):
    """Train in one script, predict in another: Keras 2 wrote the bytecode of named functions as well."""
    (tmp_path / "train.py").write_text(
        "import numpy as np\nfrom keras import backend as K\nfrom keras.layers import Dense, Input, Lambda\n"
        "from keras.models import Model\n"
        "def normalized(x, axis=-1):\n    return K.l2_normalize(x, axis=axis)\n"
        "def shape(s):\n    return s\n"
        "x = Input((3,))\nmodel = Model(x, Dense(2)(Lambda(normalized, output_shape=shape)(x)))\n"
        "model.save('model.h5')\nmodel.save('model.keras')\nmodel.save_weights('weights.h5')\n"
        "open('model.json', 'w').write(model.to_json())\nnp.save('expected.npy', model.predict(np.eye(3)))\n"
    )
    (tmp_path / "predict.py").write_text(
        "import numpy as np\nfrom keras import backend as K\nfrom keras.models import load_model, model_from_json\n"
        "def check(model):\n    print(bool(np.allclose(model.predict(np.eye(3)), np.load('expected.npy'))))\n"
        "for path in ('model.h5', 'model.keras'):\n"
        "    try:\n        load_model(path)\n"
        "    except ValueError as error:\n"
        "        print('normalized' in str(error) and '--allow-lambdas' in str(error))\n"
        "    check(load_model(path, safe_mode=False))\n"
        "custom = {'normalized': lambda x, axis=-1: K.l2_normalize(x, axis=axis), 'shape': lambda s: s}\n"
        "model = model_from_json(open('model.json').read(), custom)\n"
        "model.load_weights('weights.h5')\ncheck(model)\ncheck(load_model('model.keras', custom))\n"
    )
    written = run("--quiet", "train.py")
    assert written.returncode == 0, written.stderr
    read = run("--quiet", "predict.py")
    assert read.stdout.split() == ["True"] * 6, read.stdout + read.stderr


def test_old_version_switches_find_an_import_error(tmp_path, run):
    (tmp_path / "script.py").write_text(
        "try:\n    from keras.layers import ConvRecurrent2D\nexcept ImportError as e:\n"
        "    print('without', e.name)\n"
        "import tensorflow as tf\nprint(hasattr(tf, 'get_variable'), hasattr(tf, 'log'), hasattr(tf, 'nonsense'))\n"
    )
    ours = run("--quiet", "script.py")
    assert ours.stdout == "without ConvRecurrent2D\nFalse True False\n", ours.stderr


@pytest.mark.parametrize(("era", "version"), [("tf.keras-1.15", 1), ("tf.keras-2.2", 2)])
def test_scripts_that_ask_what_tensorflow_has_find_that_of_their_time(tmp_path, run, era, version):
    (tmp_path / "script.py").write_text(
        "import tensorflow as tf\n"
        "asked = [hasattr(tf, 'Session'), getattr(tf, 'log', None) is not None, hasattr(tf.image, 'resize_images'),"
        " hasattr(tf, 'layers'), hasattr(tf.train, 'AdamOptimizer')]\n"
        "print(set(asked), hasattr(tf, 'compat'), hasattr(tf.image, 'resize'), hasattr(tf.saved_model, 'load'),"
        " tf.log is not None)\n"
    )
    ours = run("--quiet", "--era", era, "script.py")
    assert ours.stdout == f"{ {version == 1} } True True True True\n", ours.stderr


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGINT for one process")
def test_ctrl_c_ends_it_as_it_ends_python(tmp_path):
    script = "import time\nprint('ready', flush=True)\ntime.sleep(60)\n"
    (tmp_path / "script.py").write_text(script)
    codes, errors = [], []
    for command in ([sys.executable], [sys.executable, "-m", "parallel_compat", "run"]):
        with subprocess.Popen(
            [*command, str(tmp_path / "script.py")],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=Path(__file__).parents[2],
        ) as process:
            assert process.stdout is not None
            assert process.stdout.readline() == "ready\n"
            time.sleep(0.1)
            process.send_signal(signal.SIGINT)
            _, error = process.communicate(timeout=300)
            codes.append(process.returncode)
            errors.append(error)
    assert codes == [-signal.SIGINT, -signal.SIGINT]
    assert errors[0] == errors[1]


def test_the_users_sitecustomize_is_imported_all_the_same(tmp_path, run):
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "sitecustomize.py").write_text("import sys\nsys.customized = True\n")
    import os

    path = os.pathsep.join([str(Path(__file__).parents[2]), str(tmp_path / "site")])
    ours = run("-c", "import sys; print(sys.customized)", PYTHONPATH=path)
    assert ours.stdout == "True\n", ours.stderr


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((), "expected SCRIPT, -m MODULE, -c CODE or -"),
        (("--replicas", "none", "x.py"), "expected a whole number from 1. Received: none"),
        (("-m",), "argument -m: expected one argument"),
    ],
)
def test_wrong_calls_are_refused_with_code_2(run, arguments, words):
    ours = run(*arguments)
    assert ours.returncode == 2
    assert words in ours.stderr


def test_a_script_that_is_not_there(run, python):
    theirs, ours = python("nowhere.py"), run("nowhere.py")
    assert (ours.returncode, ours.stderr) == (theirs.returncode, theirs.stderr)


@pytest.mark.slow
def test_what_keras_does_not_import_is_not_imported(run, python):
    # Keras 3.15 and TensorFlow import some of these by themselves where they are installed.
    names = "scipy", "pandas", "tensorboard", "rich", "matplotlib", "sklearn", "PIL"
    told = f"print(*sorted({{name.partition('.')[0] for name in sys.modules}} & set({names})), flush=True)"
    script = f"""
import sys
import numpy as np
from keras.layers import Dense
from keras.models import Sequential
model = Sequential([Dense(2, input_shape=(3,))])
model.compile("sgd", "mse")
x, y = np.ones((4, 3)), np.ones((4, 2))
model.fit(x, y, verbose=0)
model.evaluate(x, y, verbose=0)
model.predict(x)
{told}
"""
    theirs, ours = python("-c", f"import sys, tensorflow, keras\n{told}"), run("--quiet", "-c", script)
    assert ours.returncode == theirs.returncode == 0, ours.stderr
    assert ours.stdout == theirs.stdout
    assert "tensorboard" not in ours.stdout


@pytest.mark.slow
def test_imports_leave_random_as_the_script_seeded_it(run):
    script = "import random\nrandom.seed(1)\nimport keras, tensorflow\nprint(random.random())"
    assert run("--quiet", "-c", script).stdout == "0.13436424411240122\n"


@pytest.mark.slow
@pytest.mark.parametrize("switch", ["enable", "disable"])
def test_imports_are_not_collected_and_leave_the_collector_as_it_was(run, switch):
    script = f"""
import gc
gc.{switch}()
before = gc.get_stats()[2]["collections"]
import tensorflow, keras
print(gc.get_stats()[2]["collections"] - before, gc.isenabled())
"""
    assert run("--quiet", "-c", script).stdout == f"0 {switch == 'enable'}\n"
