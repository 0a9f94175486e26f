"""A pytest plugin: `pytest -p parallel_compat.pytest` runs an old project's tests with its legacy names.

The names that were used are listed at the end of the run.
"""

from __future__ import annotations

import json
import os
import tempfile
from typing import TYPE_CHECKING, Any

import pytest

from parallel_compat.names.eras import Era
from parallel_compat.run import install, usage
from parallel_compat.run.environment import SETTINGS, settings, startup_folder

if TYPE_CHECKING:
    import argparse

_before: dict[str, str | None] = {}
_folder: list[tempfile.TemporaryDirectory[str]] = []  # where child processes hand in what they used


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options that `parallel-compat run` has as well."""
    group = parser.getgroup("parallel_compat")
    group.addoption(
        "--legacy-also", action="append", default=[], metavar="PACKAGE", help="answer legacy names to this package, too"
    )
    group.addoption("--legacy-report", metavar="FILE", help="write the legacy names that were used to FILE, as JSON")
    group.addoption(
        "--legacy-era",
        choices=[era.value for era in Era],
        help="whose defaults and arithmetic all files get (default: each that of the Keras it imports)",
    )
    group.addoption("--legacy-replicas", type=int, metavar="N", help="simulate N devices where there are fewer GPUs")


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests(early_config: pytest.Config) -> None:
    """Turn the legacy names on before a conftest is imported, which may import TensorFlow: that splits its devices."""
    options: argparse.Namespace = early_config.known_args_namespace
    install.install(also=options.legacy_also, replicas=options.legacy_replicas, era=options.legacy_era)


def pytest_configure(config: pytest.Config) -> None:
    """Turn them on where the plugin is named by `pytest_plugins` in a conftest, and not by `-p`."""
    also, replicas, era = (config.getoption(f"--legacy-{name}") for name in ("also", "replicas", "era"))
    install.install(also=also, replicas=replicas, era=era)
    # Worker processes that draw batches import the tests' modules as well.
    _before.update({name: os.environ.get(name) for name in (SETTINGS, "PYTHONPATH")})
    _folder.append(tempfile.TemporaryDirectory(prefix="parallel-compat-"))
    os.environ[SETTINGS] = json.dumps({**settings(also=also, era=era, quiet=True), "folder": _folder[0].name})
    os.environ["PYTHONPATH"] = os.pathsep.join([startup_folder(), *filter(None, [os.environ.get("PYTHONPATH")])])


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    """List what was used."""
    report = config.getoption("--legacy-report")
    if report:
        usage.write(report)
    text = usage.summary()
    if text:
        terminalreporter.section("legacy names")
        terminalreporter.write_line(text)


def pytest_unconfigure() -> None:
    """Turn the legacy names off again."""
    for name, value in _before.items():
        os.environ.pop(name, None)
        if value is not None:
            os.environ[name] = value
    _before.clear()
    while _folder:
        _folder.pop().cleanup()
    install.uninstall()
