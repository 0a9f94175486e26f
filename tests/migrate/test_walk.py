"""Which files are looked at."""

from __future__ import annotations

import os
import subprocess

import pytest

from parallel_compat.migrate import walk


@pytest.fixture
def tree(tmp_path, monkeypatch):
    for name in (
        "a.py",
        "sub/b.py",
        "sub/c.ipynb",
        "sub/d.txt",
        "ignored/e.py",
        ".hidden/f.py",
        "env/pyvenv.cfg",
        "env/lib/g.py",
        "__pycache__/h.py",
        "node_modules/i.py",
        "x.egg-info/j.py",
    ):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("")
    (tmp_path / ".gitignore").write_text("ignored/\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def git(folder, *arguments):
    subprocess.run(["git", "-C", str(folder), *arguments], check=True, capture_output=True)


def test_without_git(tree):
    assert list(walk.files(["."])) == ["./a.py", "./ignored/e.py", "./sub/b.py", "./sub/c.ipynb"]


def test_as_git_sees_them(tree):
    git(tree, "init")
    git(tree, "add", "a.py")
    found = list(walk.files(["."]))
    assert "./a.py" in found  # tracked
    assert "./sub/b.py" in found  # new
    assert not any("ignored" in path or "env" in path for path in found)
    assert list(walk.files(["sub"])) == ["sub/b.py", "sub/c.ipynb"]


def test_a_deleted_file_that_git_still_lists(tree):
    git(tree, "init")
    git(tree, "add", "a.py")
    os.unlink("a.py")
    assert "./a.py" not in list(walk.files(["."]))


def test_a_folder_that_is_asked_for_by_name(tree):
    git(tree, "init")
    assert list(walk.files(["ignored"])) == ["ignored/e.py"]


def test_a_file_that_is_asked_for_by_name(tree):
    assert list(walk.files(["sub/d.txt", "env/lib/g.py"])) == ["sub/d.txt", "env/lib/g.py"]


def test_each_file_once(tree):
    assert list(walk.files(["a.py", "./a.py", "sub", "sub/b.py"])) == ["a.py", "sub/b.py", "sub/c.ipynb"]


@pytest.mark.parametrize("pattern", ["sub", "sub/*", "b.py", "*/b.py", "./sub/b.py"])
def test_exclude(tree, pattern):
    assert "./sub/b.py" not in list(walk.files(["."], [pattern]))
    assert "./a.py" in list(walk.files(["."], [pattern]))


def test_links_are_not_followed(tree):
    os.symlink("a.py", "link.py")
    os.symlink("sub", "linked")
    assert not any("link" in path for path in walk.files(["."]))


def test_a_path_that_is_not_there():
    with pytest.raises(FileNotFoundError):
        list(walk.files(["no/such/path"]))
