"""The command `compare`, for tests that run scripts."""

from __future__ import annotations

import subprocess

import pytest

from parallel_compat.command import main
from tests import scripts


@pytest.fixture
def run_compare(monkeypatch, capsys):
    """Run the command; each run of the script forks from a process that has imported TensorFlow."""

    def call(command, what, place, environment, verbose):
        words = command[1:]
        of_an_original = words[:3] == ["-m", "parallel_compat", "run"]
        start, words = (scripts.run, words[3:]) if of_an_original else (scripts.python, words)
        done = start(*words, folder=place, **environment)
        return done.returncode, done.stdout + done.stderr

    monkeypatch.setattr("parallel_compat.compare.runs._call", call)

    def run(*arguments, **environment):
        for name, value in environment.items():
            monkeypatch.setenv(name, value)
        code = main(["compare", *map(str, arguments)])
        return subprocess.CompletedProcess(arguments, code, *capsys.readouterr())

    return run
