"""`get_file` unpacks archives where Keras 2 did, so that paths that scripts put together lead there."""

from __future__ import annotations

import io
import os
import tarfile
import zipfile

import pytest


def write_tar(path, *names):
    with tarfile.open(path, "w:gz") as archive:
        for name in names:
            info = tarfile.TarInfo(name)
            info.size = 4
            archive.addfile(info, io.BytesIO(b"text"))


def test_archives_are_unpacked_beside_themselves(tmp_path):
    from keras.utils import get_file
    from keras.utils.data_utils import get_file as get_file_of_data_utils

    (tmp_path / "datasets").mkdir()
    write_tar(tmp_path / "datasets" / "flowers.tar.gz", "flowers/rose.txt")
    with zipfile.ZipFile(tmp_path / "datasets" / "pets.zip", "w") as archive:
        archive.writestr("pets/cat.txt", "text")
    origin = (tmp_path / "none").as_uri()  # nothing is there: what is in the cache is taken
    for ask in (get_file, get_file_of_data_utils):
        root = ask("flowers", origin, untar=True, cache_dir=str(tmp_path))
        assert root == str(tmp_path / "datasets" / "flowers")
        assert os.listdir(root) == ["rose.txt"]
        path = ask("pets.zip", origin=origin, extract=True, cache_dir=str(tmp_path))
        assert path == str(tmp_path / "datasets" / "pets.zip")
        assert os.path.isfile(os.path.join(os.path.dirname(path), "pets", "cat.txt"))
    assert not os.path.exists(tmp_path / "datasets" / "flowers_extracted")
    assert not os.path.exists(tmp_path / "datasets" / "pets_extracted")


def test_a_name_that_is_a_path_and_an_archive_that_is_none(tmp_path):
    import tensorflow as tf

    (tmp_path / "source.txt").write_text("text")
    wanted = tmp_path / "here" / "plain.txt"
    path = tf.keras.utils.get_file(str(wanted), (tmp_path / "source.txt").as_uri(), extract=True)
    assert path == str(wanted)
    assert wanted.read_text() == "text"
    assert os.listdir(tmp_path / "here") == ["plain.txt"]


def test_no_archive_writes_outside_of_its_folder(tmp_path):
    from keras.utils import get_file

    (tmp_path / "datasets").mkdir()
    write_tar(tmp_path / "datasets" / "bad.tar.gz", "../../outside.txt")
    with pytest.raises(tarfile.TarError):
        get_file("bad", (tmp_path / "none").as_uri(), untar=True, cache_dir=str(tmp_path / ""))
    assert not os.path.exists(tmp_path.parent / "outside.txt")


def test_nothing_is_unpacked_by_a_python_that_does_not_keep_paths_inside(tmp_path, monkeypatch):
    from keras.utils import get_file

    (tmp_path / "datasets").mkdir()
    write_tar(tmp_path / "datasets" / "good.tar.gz", "good/a.txt")
    monkeypatch.delattr(tarfile, "data_filter")
    with pytest.raises(RuntimeError, match=r"3\.10\.12"):
        get_file("good", (tmp_path / "none").as_uri(), untar=True, cache_dir=str(tmp_path))
