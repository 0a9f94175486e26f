"""The same as `run`: a function, a block, a notebook extension, a pytest plugin."""

from __future__ import annotations

import pytest
from IPython.core.interactiveshell import InteractiveShell


@pytest.mark.slow
def test_install_in_the_script_itself(tmp_path, python):
    (tmp_path / "train.py").write_text(
        "import parallel_compat\nparallel_compat.install()\n"
        "from keras.utils import np_utils, multi_gpu_model\nprint(np_utils.to_categorical([1], 2).tolist())\n"
    )
    theirs = python("train.py")
    assert theirs.stdout == "[[0.0, 1.0]]\n", theirs.stderr


@pytest.mark.slow
def test_a_block(tmp_path, python):
    (tmp_path / "train.py").write_text(
        "import parallel_compat\n"
        "with parallel_compat.legacy_names():\n    from keras.utils import np_utils\n"
        "try:\n    from keras.utils import multi_gpu_model\nexcept ImportError:\n    print('off')\n"
    )
    theirs = python("train.py")
    assert theirs.stdout == "off\n", theirs.stderr


@pytest.mark.slow
def test_the_pytest_plugin(tmp_path, python):
    (tmp_path / "test_old.py").write_text(
        "import subprocess, sys\nfrom keras.utils import np_utils\n\ndef test_labels():\n"
        "    assert np_utils.to_categorical([1], 2).tolist() == [[0, 1]]\n\n"
        "def test_processes_that_it_starts_know_the_names():\n"
        "    code = 'import sys; print(\"parallel_compat.run.modules\" in sys.modules)'\n"
        "    child = subprocess.run([sys.executable, '-c', code], text=True, capture_output=True)\n"
        "    assert (child.stdout, child.stderr) == ('True\\n', '')\n"
    )
    theirs = python("-m", "pytest", "-q", "-p", "parallel_compat.pytest", "test_old.py")
    assert theirs.returncode == 0, theirs.stdout + theirs.stderr
    assert "  test_old.py\n    :5  keras.utils.np_utils.to_categorical -> keras.utils.to_categorical" in theirs.stdout
    without = python("-m", "pytest", "-q", "test_old.py")
    assert without.returncode != 0


@pytest.mark.slow
def test_the_pytest_plugin_simulates_devices_before_a_conftest_imports_keras(tmp_path, python):
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "conftest.py").write_text("import keras\n")
    (tmp_path / "tests" / "test_old.py").write_text(
        "import keras\n\ndef test_devices():\n"
        "    assert len(keras.backend.tensorflow_backend._get_available_gpus()) == 3\n"
    )
    theirs = python("-m", "pytest", "-q", "-p", "parallel_compat.pytest", "--legacy-replicas", "3", "tests")
    assert theirs.returncode == 0, theirs.stdout + theirs.stderr


@pytest.mark.slow
def test_replicas_asked_for_after_tensorflow_was_imported(tmp_path, python):
    (tmp_path / "train.py").write_text(
        "import parallel_compat, tensorflow\nfrom parallel_compat.legacy.device_lib import get_available_gpus\n"
        "parallel_compat.install()\nparallel_compat.install(replicas=3)\nprint(len(get_available_gpus()))\n"
    )
    theirs = python("train.py")
    assert theirs.stdout == "3\n", theirs.stderr


@pytest.mark.slow
def test_a_block_keeps_the_options_from_before(tmp_path, python):
    (tmp_path / "train.py").write_text(
        "import parallel_compat\nfrom parallel_compat.run import callers\n"
        "parallel_compat.install(also=['old_package'])\n"
        "with parallel_compat.legacy_names(also=['other_package']):\n    print(sorted(callers.asked()))\n"
        "print(sorted(callers.asked()))\n"
    )
    theirs = python("train.py")
    assert theirs.stdout == "['old_package', 'other_package']\n['old_package']\n", theirs.stderr


def test_the_notebook_extension():
    import keras

    import parallel_compat

    class Shell:
        """As much of IPython's shell as an extension touches."""

        def __init__(self) -> None:
            self.magics_manager = self
            self.magics = {"line": {}}

        def register_magic_function(self, function, kind, name):
            self.magics[kind][name] = function

    shell = Shell()
    parallel_compat.load_ipython_extension(shell)
    try:
        assert hasattr(keras.utils, "np_utils")
        assert list(shell.magics["line"]) == ["legacy_names"]
    finally:
        parallel_compat.unload_ipython_extension(shell)
    assert not hasattr(keras.utils, "np_utils")
    assert shell.magics["line"] == {}


def test_a_cell_of_a_notebook_is_the_users_code():
    shell = InteractiveShell()
    shell.run_line_magic("load_ext", "parallel_compat")
    result = shell.run_cell("from keras.utils import np_utils\nprint(np_utils.to_categorical([1], 2))")
    shell.run_line_magic("unload_ext", "parallel_compat")
    assert result.success


def test_places_in_a_notebook_are_its_prompts_and_the_hint_names_it(monkeypatch, capsys):
    monkeypatch.setenv("JPY_SESSION_NAME", "work/train.ipynb")
    shell = InteractiveShell.instance()
    try:
        shell.run_line_magic("load_ext", "parallel_compat")
        for cell in ("x = 1", "\nfrom keras.utils import np_utils", "np_utils.to_categorical([1], 2)"):
            shell.run_cell(cell, store_history=True)
        capsys.readouterr()
        shell.run_line_magic("legacy_names", "")
        told = capsys.readouterr().out.splitlines()
        shell.run_line_magic("unload_ext", "parallel_compat")
    finally:
        InteractiveShell.clear_instance()
    assert told[1:3] == [
        "  work/train.ipynb",
        "    In [3]:1  keras.utils.np_utils.to_categorical -> keras.utils.to_categorical",
    ]
    assert (
        "  To rewrite them: parallel-compat migrate work/train.ipynb    (shows the changes; --write makes them)" in told
    )
