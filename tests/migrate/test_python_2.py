"""`migrate --python2`: Python 2 becomes Python 3, then the rules run."""

from __future__ import annotations

import pytest

from parallel_compat.command import main
from parallel_compat.migrate import process_file, python_2
from parallel_compat.migrate.engine import Options
from parallel_compat.migrate.findings import FileStatus

OLD = "import numpy as np\nfrom keras.layers import Dense\nprint 'width', np.float(3)\nx = Dense(output_dim=3)\n"
NEW = (
    "# parallel-compat: migrated from keras-2.2.4\n"
    "import numpy as np\nfrom keras.layers import Dense\nprint('width', float(3))\nx = Dense(units=3)\n"
)


def test_a_source_is_rewritten_and_then_by_the_rules(tmp_path):
    pytest.importorskip("fissix", reason="fissix rewrites Python 2")
    (tmp_path / "train.py").write_text(OLD)
    (tmp_path / "tool.py").write_text("print 'no Keras here'")
    assert main(["migrate", "--write", "--python2", str(tmp_path)]) == 0
    assert (tmp_path / "train.py").read_text() == NEW
    assert (tmp_path / "tool.py").read_text() == "print('no Keras here')"


def test_without_the_option_and_for_other_sources_nothing_changes(tmp_path):
    (tmp_path / "train.py").write_text(OLD)
    report = process_file.file(str(tmp_path / "train.py"), Options())
    assert report.status is FileStatus.FAILED
    assert "migrate --python2 --write" in report.reason
    (tmp_path / "train.py").write_text("x = 3\n")
    assert process_file.file(str(tmp_path / "train.py"), Options(python_2=True)).status is FileStatus.UNCHANGED
    (tmp_path / "train.py").write_text("def f(:\n")
    assert process_file.file(str(tmp_path / "train.py"), Options(python_2=True)).status is FileStatus.UNCHANGED


def test_without_a_converter_it_is_said(tmp_path, monkeypatch):
    def missing():
        raise python_2.NoConverter

    monkeypatch.setattr(python_2, "_converter", missing)
    (tmp_path / "train.py").write_text(OLD)
    report = process_file.file(str(tmp_path / "train.py"), Options(python_2=True))
    assert (report.status, "pip install fissix" in report.reason) == (FileStatus.FAILED, True)
