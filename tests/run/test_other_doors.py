"""The same as `run`: a function, a notebook extension, a pytest plugin."""

from __future__ import annotations

from tests import scripts


def test_install_in_the_script_itself(tmp_path):
    (tmp_path / "train.py").write_text(
        "import parallel_compat\nparallel_compat.install()\nparallel_compat.install()\n"
        "from keras.utils import np_utils, multi_gpu_model\nprint(np_utils.to_categorical([1], 2).tolist())\n"
    )
    theirs = scripts.python("train.py", folder=tmp_path, keras=False)
    assert theirs.stdout == "[[0.0, 1.0]]\n", theirs.stderr


def test_install_after_tensorflow_says_where_to_put_it(tmp_path):
    (tmp_path / "train.py").write_text(
        "import tensorflow\nimport parallel_compat\nparallel_compat.install(era='keras-2.2.4')\n"
    )
    theirs = scripts.python("train.py", folder=tmp_path, keras=False)
    assert "Expected to choose the era before tensorflow is imported" in theirs.stderr
    assert "Move `parallel_compat.install()` to the first line" in theirs.stderr


def test_two_eras_in_one_process_are_refused(tmp_path):
    (tmp_path / "train.py").write_text(
        "import parallel_compat\nparallel_compat.install(era='keras-2.2.4')\n"
        "parallel_compat.install(era='tf.keras-2.2')\n"
    )
    theirs = scripts.python("train.py", folder=tmp_path, keras=False)
    assert "Expected one era per process. Received: tf.keras-2.2 after keras-2.2.4" in theirs.stderr


def test_the_pytest_plugin(tmp_path):
    (tmp_path / "conftest.py").write_text("import keras\n")
    (tmp_path / "test_old.py").write_text(
        "import subprocess, sys\nimport keras\nfrom keras.utils import np_utils\n\ndef test_labels():\n"
        "    assert np_utils.to_categorical([1], 2).tolist() == [[0, 1]]\n"
        "    assert len(keras.backend.tensorflow_backend._get_available_gpus()) == 3\n\n"
        "def test_processes_that_it_starts_have_it_too():\n"
        "    code = 'import keras; print(keras.__version__)'\n"
        "    child = subprocess.run([sys.executable, '-c', code], text=True, capture_output=True)\n"
        "    assert child.stdout == '2.2.4\\n', child.stderr\n"
    )
    options = ["--legacy-replicas", "3", "--legacy-era", "keras-2.2.4"]
    theirs = scripts.python(
        "-m", "pytest", "-q", "-p", "parallel_compat.pytest", *options, "test_old.py", folder=tmp_path, keras=False
    )
    assert theirs.returncode == 0, theirs.stdout + theirs.stderr
    assert "parallel-compat: ran Keras 2.2.4 (--legacy-era keras-2.2.4)" in theirs.stdout


NOTEBOOK = """
from IPython.core.interactiveshell import InteractiveShell
shell = InteractiveShell.instance()
shell.run_line_magic("load_ext", "parallel_compat")
{magic}
result = shell.run_cell("from keras.utils import np_utils\\nimport keras, tensorflow as tf\\nprint(keras.__version__)")
assert result.success
shell.run_line_magic("legacy_names", "")
"""


def test_a_notebook_takes_its_era_from_its_cells(tmp_path):
    (tmp_path / "notebook.py").write_text(NOTEBOOK.format(magic=""))
    theirs = scripts.python("notebook.py", folder=tmp_path, keras=False)
    assert theirs.stdout.startswith("2.2.4\n"), theirs.stdout + theirs.stderr
    assert "parallel-compat: assumed Keras 2.2.4" in theirs.stdout


def test_a_notebook_may_choose_its_era(tmp_path):
    magic = 'shell.run_line_magic("legacy_names", "--era keras-2.3")'
    (tmp_path / "notebook.py").write_text(NOTEBOOK.format(magic=magic))
    theirs = scripts.python("notebook.py", folder=tmp_path, keras=False)
    assert theirs.stdout.startswith("2.3.1\n"), theirs.stdout + theirs.stderr


def test_the_plugin_says_what_to_do_and_names_its_own_option(tmp_path):
    (tmp_path / "test_old.py").write_text(
        "from keras.layers import Dense\nfrom keras.models import Sequential\n"
        "from keras.utils import multi_gpu_model\n\n"
        "def test_towers():\n    multi_gpu_model(Sequential([Dense(1, input_shape=(2,))]), gpus=4)\n"
    )
    options = ["--legacy-replicas", "2", "--legacy-era", "keras-2.2.4", "--legacy-report", "r.html"]
    theirs = scripts.python(
        "-m", "pytest", "-q", "-p", "parallel_compat.pytest", *options, "test_old.py", folder=tmp_path, keras=False
    )
    assert theirs.returncode == 1
    assert (
        "this process has 2 GPUs. To try the same code on simulated GPUs: pytest --legacy-replicas 4" in theirs.stdout
    )
    page = (tmp_path / "r.html").read_text()
    assert page.startswith("<!doctype html>")
    assert "--legacy-replicas 2 --legacy-era keras-2.2.4" in page


def test_the_plugin_pretends_devices_for_migrated_tests_too(tmp_path):
    (tmp_path / "test_new.py").write_text(
        "import keras\nimport parallel_compat\n\n"
        "def test_devices():\n    assert parallel_compat.available_devices() == ['CPU:0', 'CPU:1', 'CPU:2']\n"
    )
    options = ["--legacy-replicas", "3", "--legacy-era", "today"]
    command = ("-m", "pytest", "-q", "-p", "parallel_compat.pytest", *options, "test_new.py")
    theirs = scripts.python(*command, folder=tmp_path, keras=False)
    assert theirs.returncode == 0, theirs.stdout + theirs.stderr


def test_a_notebook_pretends_gpus_silences_start_up_lines_and_says_what_to_do(tmp_path, python):
    magic = 'shell.run_line_magic("legacy_names", "--era keras-2.2.4 --replicas 2")'
    cell = (
        "shell.run_cell('from keras.layers import Dense; from keras.models import Sequential; "
        "from keras.utils import multi_gpu_model; multi_gpu_model(Sequential([Dense(1, input_shape=(2,))]), 3)')\n"
    )
    (tmp_path / "notebook.py").write_text(
        "import os; os.environ.pop('TF_CPP_MIN_LOG_LEVEL')\n" + NOTEBOOK.format(magic=magic) + cell
    )
    theirs = python("notebook.py")
    assert theirs.stdout.startswith("2.2.4\n"), theirs.stdout + theirs.stderr
    assert (
        "this process has 2 GPUs. To try the same code on simulated GPUs: `%legacy_names --replicas 3`" in theirs.stderr
    )
    assert "cuda" not in theirs.stderr.lower()
    assert "absl::InitializeLog" not in theirs.stderr
