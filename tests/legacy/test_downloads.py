"""`get_file` unpacks archives where Keras 2 did, so that paths that scripts put together lead there."""

from __future__ import annotations

import io
import os
import tarfile

import pytest

import parallel_compat.legacy.downloads


def write_tar(path, *names):
    with tarfile.open(path, "w:gz") as archive:
        for name in names:
            info = tarfile.TarInfo(name)
            info.size = 4
            archive.addfile(info, io.BytesIO(b"text"))


def test_a_name_that_is_a_path_and_an_archive_that_is_none(tmp_path):

    (tmp_path / "source.txt").write_text("text")
    wanted = tmp_path / "here" / "plain.txt"
    path = parallel_compat.legacy.downloads.get_file(str(wanted), (tmp_path / "source.txt").as_uri(), extract=True)
    assert path == str(wanted)
    assert wanted.read_text() == "text"
    assert os.listdir(tmp_path / "here") == ["plain.txt"]


def test_no_archive_writes_outside_of_its_folder(tmp_path):
    from parallel_compat.legacy.downloads import get_file

    (tmp_path / "datasets").mkdir()
    write_tar(tmp_path / "datasets" / "bad.tar.gz", "../../outside.txt")
    with pytest.raises(tarfile.TarError):
        get_file("bad", (tmp_path / "none").as_uri(), untar=True, cache_dir=str(tmp_path / ""))
    assert not os.path.exists(tmp_path.parent / "outside.txt")


def test_nothing_is_unpacked_by_a_python_that_does_not_keep_paths_inside(tmp_path, monkeypatch):
    from parallel_compat.legacy.downloads import get_file

    (tmp_path / "datasets").mkdir()
    write_tar(tmp_path / "datasets" / "good.tar.gz", "good/a.txt")
    monkeypatch.delattr(tarfile, "data_filter")
    with pytest.raises(RuntimeError, match=r"3\.10\.12"):
        get_file("good", (tmp_path / "none").as_uri(), untar=True, cache_dir=str(tmp_path))
