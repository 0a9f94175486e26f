"""What is fetched, from where, and what is kept of it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from typing import TYPE_CHECKING

import made_up_originals
import pytest

from parallel_compat.originals import cache, catalogue, pip_download
from parallel_compat.originals.fetching import FetchError, fetch

if TYPE_CHECKING:
    from pathlib import Path


def kept(name: str) -> set[str]:
    sources = cache.folder(name) / cache.SOURCES
    return {path.relative_to(sources).as_posix() for path in sources.rglob("*") if path.is_file()}


def test_python_sources_alone_are_kept(wheels, capsys):
    place = fetch("small", wheels_from=wheels)
    assert place == cache.folder("small")
    assert kept("small") == {"made_up_keras/__init__.py", "made_up_companion/__init__.py"}
    assert (place / cache.SOURCES / "made_up_keras" / "__init__.py").read_text() == "one = 1\n"
    assert sorted(os.listdir(place)) == [cache.LIST_OF_FILES, cache.SOURCES]
    assert capsys.readouterr() == ("", f"Small Keras is fetched (0.0 MB; 0.0 MB are kept in {place})\n")
    assert cache.state("small") == cache.COMPLETE
    assert made_up_originals.left_over() == []


def test_the_top_folder_is_renamed(wheels):
    fetch("large", wheels_from=wheels)
    found = kept("large")
    assert {"top/__init__.py", "top/part_0/module.py", "made_up_companion/__init__.py"} <= found
    assert len(found) == made_up_originals.MODULES + 2
    assert (cache.folder("large") / cache.SOURCES / "top" / "__init__.py").read_text() == ""  # not the wheel's own


def test_what_it_needs_is_fetched_too(wheels):
    fetch("needing", wheels_from=wheels)
    assert [cache.state(name) for name in ("small", "large", "needing")] == [
        cache.NOT_FETCHED, cache.COMPLETE, cache.COMPLETE,
    ]  # fmt: skip


def test_it_is_fetched_once(wheels, capsys, monkeypatch):
    fetch("small", wheels_from=wheels)
    monkeypatch.setattr(pip_download, "download", None)
    capsys.readouterr()
    assert fetch("small") == cache.folder("small")
    assert capsys.readouterr() == ("", "")


def test_quiet_prints_nothing(wheels, capsys):
    fetch("small", wheels_from=wheels, quiet=True)
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize("name", ["small", "large"])
def test_pip_downloads(pip_finds, name, tmp_path, monkeypatch):
    """Also wheels for another Python; and a script's folder hides no module from pip."""
    for module in ("random", "runpy", "threading"):
        (tmp_path / f"{module}.py").write_text("raise SystemExit(5)")
    monkeypatch.chdir(tmp_path)
    fetch(name)
    assert cache.is_complete(name, contents=True)
    assert made_up_originals.left_over() == []


def test_pip_is_asked_once_for_all_wheels_of_an_original(wheels):
    assert pip_download.arguments(catalogue.ORIGINALS["large"].wheels) == [
        "download", "--no-deps", "--only-binary=:all:", "--implementation", "cp", "--python-version", "3.8",
        "--abi", "cp38", "--platform", "manylinux2010_x86_64", "made_up_tensorflow==1.0", "made_up_companion==1.0",
    ]  # fmt: skip


def test_settings_of_this_package_do_not_reach_pip(pip_finds, monkeypatch):
    """`PARALLEL_COMPAT_RUN` makes each Python that is started prepare old Keras."""
    seen = {}
    popen = subprocess.Popen

    def started(command, **options):
        seen.update(options["env"])
        return popen(command, **options)

    monkeypatch.setenv("PARALLEL_COMPAT_RUN", "{}")
    monkeypatch.setattr(subprocess, "Popen", started)
    fetch("small")
    assert "PIP_FIND_LINKS" in seen
    assert [name for name in seen if name.startswith("PARALLEL_COMPAT_")] == []


def damage_file_size(place: Path) -> None:
    (place / cache.SOURCES / "made_up_keras" / "__init__.py").write_text("changed by somebody\n")


def damage_missing_file(place: Path) -> None:
    (place / cache.SOURCES / "made_up_companion" / "__init__.py").unlink()


def damage_missing_list(place: Path) -> None:
    (place / cache.LIST_OF_FILES).unlink()


def damage_cut_list(place: Path) -> None:
    (place / cache.LIST_OF_FILES).write_bytes((place / cache.LIST_OF_FILES).read_bytes()[:-5])


def damage_empty_list(place: Path) -> None:
    (place / cache.LIST_OF_FILES).write_text("{}")


def damage_other_list(place: Path) -> None:
    (place / cache.LIST_OF_FILES).write_text('["made_up_keras/__init__.py"]')


def damage_folder_for_file(place: Path) -> None:
    file = place / cache.SOURCES / "made_up_keras" / "__init__.py"
    file.unlink()
    file.mkdir()


@pytest.mark.parametrize(
    "damage",
    [
        damage_file_size, damage_missing_file, damage_missing_list, damage_cut_list, damage_empty_list,
        damage_other_list, damage_folder_for_file,
    ],
)  # fmt: skip
def test_what_is_damaged_is_fetched_again(wheels, capsys, damage):
    place = fetch("small", wheels_from=wheels)
    damage(place)
    assert cache.state("small") == cache.DAMAGED
    assert not cache.is_complete("small")
    capsys.readouterr()
    assert fetch("small", wheels_from=wheels) == place
    assert capsys.readouterr().err.startswith("Small Keras is fetched again: ")
    assert cache.state("small") == cache.COMPLETE
    assert made_up_originals.left_over() == []


def test_a_change_that_keeps_the_size_is_found_by_the_contents(wheels):
    place = fetch("small", wheels_from=wheels)
    (place / cache.SOURCES / "made_up_keras" / "__init__.py").write_text("one = 2\n")
    assert cache.is_complete("small")  # the quick look, at each start
    assert cache.state("small") == cache.DAMAGED
    fetch("small", wheels_from=wheels, contents=True)
    assert cache.state("small") == cache.COMPLETE


def test_what_else_is_in_the_folder_does_not_count(wheels):
    """Byte code is kept beside the sources."""
    place = fetch("small", wheels_from=wheels)
    (place / "bytecode").mkdir()
    (place / "bytecode" / "one.pyc").write_bytes(b"x" * 100)
    assert cache.state("small") == cache.COMPLETE
    files = json.loads((place / cache.LIST_OF_FILES).read_text())
    listed = (place / cache.LIST_OF_FILES).stat().st_size
    assert cache.size("small") == 100 + listed + sum(size for size, _ in files.values())


def test_a_copied_cache_is_complete(wheels, tmp_path, monkeypatch):
    """Whatever its times: for machines without a network."""
    fetch("small", wheels_from=wheels)
    subprocess.run(["cp", "-r", cache.root(), tmp_path / "copy"], check=True)
    monkeypatch.setenv(cache.VARIABLE, str(tmp_path / "copy"))
    assert cache.state("small") == cache.COMPLETE


def test_threads_that_fetch_at_once_do_so_once(wheels, capsys):
    threads = [threading.Thread(target=fetch, args=("large",), kwargs={"wheels_from": wheels}) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert capsys.readouterr().err.count("is fetched") == 1
    assert made_up_originals.left_over() == []


def test_a_second_process_waits_and_finds_it(wheels, own_cache):
    fcntl = pytest.importorskip("fcntl", reason="the lock is one of POSIX")
    own_cache.mkdir()
    with open(own_cache / ".lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        second = made_up_originals.started("small", wheels)
        assert second.stderr.readline() == "Small Keras: waiting for another process that fetches\n"
        # What the first would have done meanwhile, without its lock.
        (own_cache / "other").mkdir()
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv(cache.VARIABLE, str(own_cache / "other"))
            fetch("small", wheels_from=wheels, quiet=True)
            os.rename(cache.folder("small"), own_cache / cache.folder("small").name)
        (own_cache / "other" / ".lock").unlink()
        (own_cache / "other").rmdir()
    _, said = second.communicate(timeout=60)
    assert (second.returncode, said) == (0, "")
    assert made_up_originals.left_over() == []


def test_processes_that_fetch_at_once_do_so_once(wheels):
    processes = [made_up_originals.started("needing", wheels) for _ in range(4)]
    said = [process.communicate(timeout=60)[1] for process in processes]
    assert [process.returncode for process in processes] == [0] * 4
    assert sum("Needing Keras is fetched" in each for each in said) == 1
    assert sum("Large Keras is fetched" in each for each in said) == 1
    assert made_up_originals.left_over() == []
    assert cache.state("needing") == cache.state("large") == cache.COMPLETE


def test_where_files_cannot_be_locked_it_still_fetches(wheels, monkeypatch):
    fcntl = pytest.importorskip("fcntl", reason="the lock is one of POSIX")

    def unsupported(*_):
        raise OSError(95, "Operation not supported")

    monkeypatch.setattr(fcntl, "flock", unsupported)
    fetch("small", wheels_from=wheels)
    assert cache.state("small") == cache.COMPLETE


def test_without_locks_the_second_to_arrive_takes_what_is_there(wheels, monkeypatch):
    """On such a disk two may prepare the same; the rename decides."""
    first = fetch("small", wheels_from=wheels)
    hidden = first.with_name("hidden")
    os.rename(first, hidden)
    rename = os.rename

    def other_was_first(source, target):
        if os.path.basename(source) == "new" and hidden.exists():
            rename(hidden, target)
        rename(source, target)

    monkeypatch.setattr(os, "rename", other_was_first)
    fetch("small", wheels_from=wheels)
    assert cache.state("small") == cache.COMPLETE
    assert made_up_originals.left_over() == []


def test_fetching_needs_no_tensorflow():
    program = (
        "import sys; sys.modules['tensorflow'] = sys.modules['keras'] = None\n"
        "from parallel_compat.originals import fetching, originals_command"
    )
    environment = {**os.environ, "PYTHONPATH": str(made_up_originals.PROJECT)}
    subprocess.run([sys.executable, "-c", program], check=True, env=environment, timeout=60)


def test_keras_2_2_4_is_fetched_by_pip(own_cache):
    """The real one, from the index that pip is configured for."""
    try:
        place = fetch("keras-2.2.4")
    except FetchError as error:
        if "connection broken" not in str(error):
            raise
        pytest.skip(f"pip cannot reach its package index: {error}")
    assert cache.state("keras-2.2.4") == cache.COMPLETE
    tops = sorted(os.listdir(place / cache.SOURCES))
    assert tops == ["keras", "keras_applications", "keras_preprocessing"]
    assert (place / cache.SOURCES / "keras" / "__init__.py").is_file()
