"""The catalogue is of the eras, and where the cache is follows the user's settings."""

from __future__ import annotations

import os
import re
from dataclasses import replace
from pathlib import Path

import pytest

from parallel_compat.names.eras import Era
from parallel_compat.originals import cache, pip_download
from parallel_compat.originals.catalogue import ADDONS, ORIGINALS
from parallel_compat.originals.fetching import FetchError, megabytes

WHEELS = [(name, wheel) for name, original in ORIGINALS.items() for wheel in original.wheels]


def test_each_era_but_today_has_an_original():
    assert list(ORIGINALS) == [*(era.value for era in Era if era is not Era.TODAY), ADDONS]
    assert all(original.name == name for name, original in ORIGINALS.items())
    assert {need for original in ORIGINALS.values() for need in original.needs} <= set(ORIGINALS)


@pytest.mark.parametrize(("name", "wheel"), WHEELS, ids=[f"{name}-{wheel.file}" for name, wheel in WHEELS])
def test_a_wheel_is_said_alike_in_all_its_fields(name, wheel):
    project, _, version = wheel.requirement.partition("==")
    file_project, file_version, python, abi, platform = wheel.file.removesuffix(".whl").split("-")
    assert (file_project.lower(), file_version) == (project.lower().replace("-", "_"), version)
    assert re.fullmatch("[0-9a-f]{64}", wheel.sha256)
    if wheel.python is None:
        assert (abi, platform, wheel.abi, wheel.platform) == ("none", "any", None, None)
    else:
        assert (python, abi, platform) == (f"cp{wheel.python.replace('.', '')}", wheel.abi, wheel.platform)
    assert all(prefix.endswith("/") for prefix in wheel.keep)


def test_pip_is_asked_for_one_python_at_a_time():
    for original in ORIGINALS.values():
        assert len({wheel.python for wheel in original.wheels if wheel.python}) <= 1


def test_another_catalogue_has_another_folder(monkeypatch):
    name = "keras-2.2.4"
    before = cache.folder(name)
    assert re.fullmatch(r"keras-2\.2\.4-[0-9a-f]{12}", before.name)
    original = ORIGINALS[name]
    for change in ({"keep": ("keras/engine/",)}, {"sha256": "0" * 64}, {"top": ("keras/", "old/")}):
        other = replace(original, wheels=(replace(original.wheels[0], **change), *original.wheels[1:]))
        monkeypatch.setitem(ORIGINALS, name, other)
        assert cache.folder(name) != before


def test_where_the_cache_is(monkeypatch, tmp_path):
    monkeypatch.setenv("HOME", "/home/somebody")
    monkeypatch.delenv(cache.VARIABLE, raising=False)
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    assert cache.root() == Path("/home/somebody/.cache/parallel_compat/originals")
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")  # which is to be ignored
    assert cache.root() == Path("/home/somebody/.cache/parallel_compat/originals")
    monkeypatch.setenv("XDG_CACHE_HOME", "/caches")
    assert cache.root() == Path("/caches/parallel_compat/originals")
    monkeypatch.setenv(cache.VARIABLE, "~/here")
    assert cache.root() == Path("/home/somebody/here")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv(cache.VARIABLE, "here")
    assert cache.root() == tmp_path / "here"


def test_without_a_home_it_says_what_to_set(monkeypatch):
    monkeypatch.delenv(cache.VARIABLE, raising=False)
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setattr(os.path, "expanduser", lambda path: path)
    with pytest.raises(FetchError, match=f"Set {cache.VARIABLE} to a folder"):
        cache.root()


def test_the_page_has_the_commands_and_the_sizes():
    page = (Path(__file__).parents[2] / "docs" / "guide" / "originals.md").read_text("utf-8")
    for name, original in ORIGINALS.items():
        assert f"python -m pip {' '.join(pip_download.arguments(original.wheels))} --dest wheels\n" in page
        row = (
            rf"\| `{re.escape(name)}` \| .+ \| {megabytes(sum(wheel.size for wheel in original.wheels))} \| \d+ MB \|\n"
        )
        assert re.search(row, page), row
