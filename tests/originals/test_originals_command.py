"""`parallel-compat originals`: the list, `fetch` and `remove`."""

from __future__ import annotations

import json
import os
import re
import shutil
import sys

import made_up_originals
import pytest

from parallel_compat import command
from parallel_compat.originals import cache, cache_changes
from parallel_compat.originals.catalogue import ORIGINALS


def originals(*words: object) -> int:
    return command.main(["originals", *map(str, words)])


def test_the_list(own_cache, capsys):
    """A line for each, under a header."""
    assert originals() == 0
    header, *lines = capsys.readouterr().out.splitlines()
    assert header.split() == ["name", "original", "state", "download", "on", "disk", "folder"]
    assert [line.split()[0] for line in lines] == list(ORIGINALS)
    for line, original in zip(lines, ORIGINALS.values(), strict=True):
        assert f" {original.title} " in line
        assert " not fetched " in line
        assert line.endswith(f" {cache.folder(original.name)}")
    assert not own_cache.exists()


def test_the_list_on_a_terminal_fits(own_cache, capsys, monkeypatch):
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "80")
    assert originals() == 0
    *table, place = re.sub(r"\x1b\[\d*m", "", capsys.readouterr().out).splitlines()
    assert max(map(len, table)) <= 80
    assert len(table) == len(ORIGINALS) + 4
    assert place == f"in {own_cache}"


def test_the_list_as_json(wheels, capsys):
    originals("fetch", "small", "--from", wheels)
    capsys.readouterr()
    assert originals("--json") == 0
    small, large, _ = json.loads(capsys.readouterr().out)
    assert small == {
        "name": "small",
        "title": "Small Keras",
        "state": "complete",
        "download_bytes": sum(wheel.size for wheel in ORIGINALS["small"].wheels),
        "bytes": cache.size("small"),
        "folder": str(cache.folder("small")),
    }
    assert (large["state"], large["bytes"]) == ("not fetched", 0)


def test_fetch_and_remove(wheels, capsys):
    assert originals("fetch", "small", "--from", wheels) == 0
    assert cache.state("small") == cache.COMPLETE
    assert "Small Keras is fetched (" in capsys.readouterr().err
    assert originals("fetch", "small") == 0
    assert capsys.readouterr() == (f"Small Keras is there: {cache.folder('small')}\n", "")
    assert originals("remove", "small") == 0
    assert originals("remove", "small") == 0
    assert capsys.readouterr() == ("Small Keras is removed\nSmall Keras was not there\n", "")
    assert cache.state("small") == cache.NOT_FETCHED
    assert made_up_originals.left_over() == []


def test_names_may_follow_the_options(wheels):
    assert originals("fetch", "--from", wheels, "small", "large") == 0
    assert [cache.state(name) for name in ORIGINALS] == [cache.COMPLETE, cache.COMPLETE, cache.NOT_FETCHED]


def test_without_names_all_are_meant(wheels):
    assert originals("fetch", "--from", wheels) == 0
    assert {cache.state(name) for name in ORIGINALS} == {cache.COMPLETE}
    assert originals("remove") == 0
    assert {cache.state(name) for name in ORIGINALS} == {cache.NOT_FETCHED}


def test_remove_without_a_cache(own_cache):
    assert originals("remove") == 0
    assert not own_cache.exists()


def test_what_another_catalogue_kept_is_removed_too(wheels, own_cache):
    originals("fetch", "small", "--from", wheels)
    (own_cache / "small-0123456789ab").mkdir()
    (own_cache / "small-and-more-0123456789ab").mkdir()  # of another name
    originals("remove", "small")
    assert made_up_originals.left_over() == ["small-and-more-0123456789ab"]


def test_a_change_that_keeps_the_size_is_listed_and_mended(wheels, capsys):
    originals("fetch", "small", "--from", wheels)
    (cache.folder("small") / cache.SOURCES / "made_up_keras" / "__init__.py").write_text("one = 2\n")
    originals()
    assert "  damaged  " in capsys.readouterr().out
    assert originals("fetch", "small", "--from", wheels) == 0
    assert "is fetched again: made_up_keras/__init__.py has changed" in capsys.readouterr().err
    assert cache.state("small") == cache.COMPLETE


@pytest.mark.parametrize("action", ["fetch", "remove"])
def test_an_unknown_name_is_answered_with_the_known_ones(own_cache, capsys, action):
    assert originals(action, "keras-2.2.4", "keras-2.2.5") == 2
    assert capsys.readouterr().err == (
        "parallel-compat originals: error: Expected keras-2.2.4, keras-2.3, tf.keras-1.15, tf.keras-2.2, "
        "addons-0.10. Received: keras-2.2.5.\n"
    )


def test_what_could_not_be_fetched_is_one_line(wheels, capsys):
    shutil.rmtree(wheels)
    assert originals("fetch", "small", "--from", wheels) == 2
    captured = capsys.readouterr()
    assert captured.err.startswith("parallel-compat originals: error: Expected a folder of wheels. Received: ")
    assert captured.err.count("\n") == 1


def test_what_could_not_be_removed_is_one_line(wheels, capsys, monkeypatch):
    originals("fetch", "small", "--from", wheels)
    capsys.readouterr()

    def refuse(*_):
        raise OSError(30, "Read-only file system", str(cache.folder("small")))

    monkeypatch.setattr(cache_changes.os, "rename", refuse)
    assert originals("remove", "small") == 2
    said = capsys.readouterr().err
    assert said.endswith(f"Expected to remove Small Keras from {cache.root()}. Received: Read-only file system.\n")
    assert cache.state("small") == cache.COMPLETE


def test_without_a_home_the_list_is_one_line(capsys, monkeypatch):
    monkeypatch.delenv(cache.VARIABLE, raising=False)
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setattr(os.path, "expanduser", lambda path: path)
    assert originals() == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_another_folder_for_the_cache(wheels, tmp_path, own_cache):
    """The option may stand before the action or after it."""
    assert originals("--cache", tmp_path / "before", "fetch", "small", "--from", wheels) == 0
    assert originals("fetch", "small", "--from", wheels, "--cache", tmp_path / "after") == 0
    assert [(tmp_path / name / cache.folder("small").name).is_dir() for name in ("before", "after")] == [True, True]
    assert not own_cache.exists()
