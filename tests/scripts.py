"""Scripts in processes of their own, forked from one that has imported TensorFlow: its import takes three seconds.

    run("--era", "keras-2.2.4", "train.py", folder=tmp_path)    # parallel-compat run ...
    python("train.py", folder=tmp_path)                         # python ..., for scripts of Keras 3

A test of the start itself (what is imported first, what is printed meanwhile, how a process is killed) starts a real
process by `subprocess`.
"""

from __future__ import annotations

import atexit
import functools
import gc
import importlib
import importlib.abc
import importlib.util
import json
import os
import runpy
import signal
import subprocess
import sys
import tempfile
import threading
from pathlib import Path
from types import ModuleType
from typing import IO, TYPE_CHECKING, Any

from parallel_compat import startup_log

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

PROJECT = Path(__file__).parents[1]
SECONDS = 300  # for one script


def run(
    *arguments: str, folder: Path, seconds: int = SECONDS, together: bool = False, **environment: str
) -> subprocess.CompletedProcess[str]:
    """Run `parallel-compat run ARGUMENTS...` on an original.

    Args:
        arguments: options, and a script, `-c CODE` or `-m MODULE`.
        folder: where to work.
        seconds: when the process is killed.
        together: whether what it prints to stderr is in `stdout`, too, in the order in which it was printed.
        environment: more environment variables.
    """
    return _server("originals").start(["run", *arguments], folder, "", environment, seconds, together)


def python(
    *arguments: str, folder: Path, keras: bool = True, stdin: str = "", together: bool = False, **environment: str
) -> subprocess.CompletedProcess[str]:
    """Run `python ARGUMENTS...`.

    Args:
        arguments: a script, `-c CODE` or `-m MODULE`, and its arguments.
        folder: where to work.
        keras: whether Keras 3 is imported; without, the script may choose an original.
        stdin: what it reads.
        together: as in `run`.
        environment: more environment variables.
    """
    return _server("today" if keras else "originals").start(arguments, folder, stdin, environment, SECONDS, together)


class Server:
    """The process that has imported TensorFlow, seen from the tests.

    Args:
        kind: "originals" for TensorFlow alone, "today" for Keras 3 as well.
    """

    def __init__(self, kind: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tests.scripts", kind],
            cwd=PROJECT,
            env={**os.environ, "PYTHONPATH": str(PROJECT), "TF_CPP_MIN_LOG_LEVEL": "3"},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        atexit.register(self.stop)

    def start(
        self,
        arguments: Sequence[str],
        folder: Path,
        stdin: str,
        environment: dict[str, str],
        seconds: int,
        together: bool,
    ) -> subprocess.CompletedProcess[str]:
        """Fork a process that runs the arguments, and wait for its end."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        with tempfile.TemporaryDirectory() as out:
            files = [Path(out) / name for name in ("stdin", "stdout", "stdout" if together else "stderr")]
            files[0].write_text(stdin)
            variables = {**os.environ, "PYTHONPATH": str(PROJECT), "TF_CPP_MIN_LOG_LEVEL": "3", **environment}
            print(json.dumps([arguments, str(folder), variables, [*map(str, files)], seconds]), file=self.process.stdin)
            self.process.stdin.flush()
            answer = self.process.stdout.readline()
            assert answer, "the process that forks for each script has ended"
            return subprocess.CompletedProcess(arguments, int(answer), *(file.read_text() for file in files[1:]))

    def stop(self) -> None:
        """End the process."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait(SECONDS)


_server = functools.cache(Server)


class _Imported(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds a package that is there, when a script (or `activate`, before it) first imports it."""

    def __init__(self, module: ModuleType) -> None:
        self.module, self.spec = module, module.__spec__

    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> Any:
        return importlib.util.spec_from_loader(fullname, self) if fullname == self.module.__name__ else None

    def create_module(self, spec: Any) -> ModuleType:
        return self.module

    def exec_module(self, module: ModuleType) -> None:
        module.__spec__, module.__loader__ = self.spec, self.spec.loader if self.spec else None


class _Replaced(BaseException):
    """`parallel-compat run` would replace the process by another Python."""


def _import(kind: str) -> None:
    """Import what every script needs, but make no device and no session: their threads would not be forked."""
    if kind == "today":
        importlib.import_module("keras")
        return
    importlib.import_module("parallel_compat.run.process")
    importlib.import_module("parallel_compat.run.run_command")
    os.environ["TF_ENABLE_ONEDNN_OPTS"] = "0"  # as `activate` sets it before TensorFlow is imported
    with importlib.import_module("parallel_compat.originals.activate")._without_keras_3():
        importlib.import_module("tensorflow")
    for name in ("scipy.ndimage", "scipy.special", "scipy.linalg", "pandas", "PIL.Image"):  # what old Keras imports
        importlib.import_module(name)
    for name in ("tensorflow", "scipy", "pandas", "PIL"):
        sys.meta_path.insert(0, _Imported(sys.modules.pop(name)))


def _serve(requests: IO[str], answers: IO[str]) -> list[str]:
    """Fork for each request; return its arguments in the forked process."""
    for line in requests:
        arguments, folder, variables, files, seconds = json.loads(line)
        child = os.fork()
        if child:
            print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), file=answers, flush=True)
            continue
        signal.alarm(seconds)
        for number, file in enumerate(files):
            opened = os.open(file, os.O_CREAT | os.O_RDWR | (os.O_APPEND if number else 0), 0o600)
            os.dup2(opened, number)
            os.close(opened)
        os.chdir(folder)
        os.environ.clear()
        os.environ.update(variables)
        sys.stdout.reconfigure(write_through=True)  # type: ignore[union-attr]  # in the order of what goes to stderr
        return arguments
    sys.exit()


def _become(arguments: Sequence[str]) -> None:
    """Run what a new Python would run with these arguments."""
    first, *rest = arguments
    sys.path[0] = os.path.dirname(os.path.abspath(first)) if first[0] != "-" else os.getcwd() if first == "-m" else ""
    sys.path[1:1] = [each for each in os.environ["PYTHONPATH"].split(os.pathsep) if each not in sys.path]
    if first == "-m":
        sys.argv = rest
        runpy.run_module(rest[0], run_name="__main__", alter_sys=True)
        return
    main = sys.modules["__main__"] = ModuleType("__main__")
    if first == "-c":
        sys.argv = [first, *rest[1:]]
        code = compile(rest[0], "<string>", "exec", dont_inherit=True)
    else:
        main.__file__, sys.argv = first, [first, *rest]
        code = compile(Path(first).read_bytes(), first, "exec", dont_inherit=True)
    exec(code, main.__dict__)


def _run(arguments: Sequence[str]) -> None:
    from parallel_compat.command import main
    from parallel_compat.run import process

    command: list[str] = []

    def execve(path: str, given: list[str], environment: dict[str, str]) -> None:
        command.extend(given[1 + len(subprocess._args_from_interpreter_flags()) :])  # type: ignore[attr-defined]
        os.environ.update(environment)
        raise _Replaced

    real, os.execve = os.execve, execve  # type: ignore[assignment]
    try:
        sys.exit(main(arguments))
    except _Replaced:
        os.execve = real
    process.start(os.environ["PARALLEL_COMPAT_RUN"])
    _become(command)


def _end_after(start: Callable[[Sequence[str]], None], arguments: Sequence[str]) -> None:
    """End the process as Python does, but without taking TensorFlow's modules apart, which takes 0.2 seconds."""
    code: Any = 0
    try:
        start(arguments)
    except SystemExit as error:
        code = 0 if error.code is None else error.code
    except Exception:
        sys.excepthook(*sys.exc_info())
        code = 1
    if not isinstance(code, int):
        print(code, file=sys.stderr)
        code = 1
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code & 0xFF)


if __name__ == "__main__":
    server = sys.modules["__main__"]  # kept: a module that nobody holds loses its names
    with startup_log.filtered():
        _import(sys.argv[1])
    gc.freeze()
    given = _serve(sys.stdin, sys.stdout)
    _end_after(_run if given[0] == "run" else _become, given)
