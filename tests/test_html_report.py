"""The HTML reports: one file, no network, every finding with the lines around it; and a browser shows it."""

from __future__ import annotations

import shutil
import subprocess
from html.parser import HTMLParser
from pathlib import Path

import pytest

from parallel_compat.command import main
from parallel_compat.names import results
from parallel_compat.names.eras import Era
from parallel_compat.run import report_file
from parallel_compat.run.report import Report

BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
VOID = {"meta", "br", "link", "img", "input", "hr"}

SOURCE = """import keras
from keras.optimizers import Adadelta, Nadam
from keras.utils import multi_gpu_model
import tensorflow as tf

title = "<script>alert(1)</script>"
x = tf.add_to_collection(3, name="<b>")
optimizer = Adadelta()
other = Nadam(lr=0.1)
"""


class Page(HTMLParser):
    """Reads a page: is each element closed, what stands in which section, what does it load?"""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.section = ""
        self.text: dict[str, str] = {}
        self.marked: list[str] = []
        self.tags: set[str] = set()
        self.loads: list[str] = []
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag, attributes):
        self.tags.add(tag)
        if tag not in VOID:
            self.open.append(tag)
        given = dict(attributes)
        self.loads += [given[name] for name in ("src", "href", "data", "action") if name in given]
        if tag == "section":
            self.section = given["id"]

    def handle_endtag(self, tag):
        assert self.open.pop() == tag
        if tag == "section":
            self.section = ""

    def handle_data(self, data):
        self.text[self.section] = self.text.get(self.section, "") + data
        if self.open and self.open[-1] == "mark":
            self.marked.append(data)


@pytest.fixture
def migrated(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("train.py").write_text(SOURCE)
    Path("broken.py").write_text("import keras\nprint 'x'\n")
    assert main(["migrate", "--html", "report.html", "train.py", "broken.py"]) == 2
    return (tmp_path / "report.html").read_text("utf-8")


def of_run() -> str:
    return report_file.page(
        Report(
            era="keras-2.2.4",
            original="Keras 2.2.4",
            why="it imports <b>keras</b>",
            certain=False,
            hint="if it was written for Keras 2.3, add --era keras-2.3",
            devices="2 GPUs",
            versions={"Python": "3.11.7"},
            mends=["Names that left numpy."],
            packages=["scipy.misc.imresize: as SciPy 1.2 had it"],
            script="train.py",
        )
    )


def test_migrate(migrated):
    page = Page(migrated)
    assert {"rules", "files", "left", "results", "devices", "done"} <= page.text.keys()
    assert "1 of 2files would be rewritten" in page.text[""]
    assert "imports" in page.text["rules"]
    assert "train.py" in page.text["files"]
    left = page.text["left"]
    assert "train.py:7:5 attention imports" in left
    assert "train.py:8:13 unsafe changed-defaults" in left
    assert "broken.py failed" in left
    assert '7  x = tf.add_to_collection(3, name="<b>")' in page.marked
    assert '6  title = "<script>alert(1)</script>"' in left  # around it, as text
    assert "RMSprop" not in page.text["results"]
    assert "beta_1 * (1 - 0.5 * 0.96 ** t)" in page.text["results"]  # of Nadam, which migrate leaves as Keras 3 has it
    assert "+from parallel_compat import multi_gpu_model" in page.text["done"]


def test_run():
    page = Page(of_run())
    assert {"choice", "versions", "mends", "packages"} <= page.text.keys()
    assert "it imports <b>keras</b>" in page.text["choice"]  # as text
    assert "add --era keras-2.3" in page.text["choice"]
    assert "Names that left numpy." in page.text["mends"]
    assert "scipy.misc.imresize" in page.text["packages"]


def test_one_file_without_a_network(migrated):
    for text in (migrated, of_run()):
        page = Page(text)
        assert page.loads == []
        assert page.tags.isdisjoint({"script", "link", "img", "iframe", "object"})
        assert "url(" not in text
        assert "@import" not in text


def test_what_cannot_be_written_is_refused_before_the_work(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("train.py").write_text(SOURCE)
    assert main(["migrate", "--write", "--html", "missing/report.html", "train.py"]) == 2
    assert "a folder that exists" in capsys.readouterr().err
    assert Path("train.py").read_text() == SOURCE


def test_only_results_that_the_sources_are_concerned_by():
    assert "`clipnorm`" in [row[0] for row in results.differing([(None, "SGD(clipnorm=1.)")], "migrate")]
    assert results.differing([(None, "x = 1")], "migrate") == []


@pytest.mark.parametrize(
    ("era", "statistics", "hinges", "gates"),
    [
        (Era.KERAS_2_2_4, True, True, True),
        (Era.KERAS_2_3, True, False, False),
        (Era.TF_KERAS_1_15, False, False, True),
        (Era.TF_KERAS_2_2, False, False, False),
        (None, True, True, True),
    ],
)
def test_only_results_that_their_era_computed_otherwise(era, statistics, hinges, gates):
    told = [row[0] for row in results.differing([(era, "BatchNormalization LSTM hinge clipnorm")], "migrate")]
    assert ("`clipnorm`" in told) == statistics
    found = [any(each.startswith(what) for each in told) for what in ("`BatchNorm", "`hinge`", "`LSTM`")]
    assert found == [statistics, hinges, gates]
    assert "`ConvLSTM2D`" in [row[0] for row in results.differing([(era, "ConvLSTM2D")], "migrate")]


@pytest.mark.skipif(BROWSER is None, reason="no chromium here: the page's structure is tested above without one")
def test_a_browser_shows_it(migrated, tmp_path):
    (tmp_path / "run.html").write_text(of_run())
    for name, heading in (("report.html", "Left to do (3)"), ("run.html", "Which Keras, and why")):
        shot = tmp_path / f"{name}.png"
        done = subprocess.run(
            [BROWSER, "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={tmp_path / 'profile'}",
             "--window-size=1200,1600", f"--screenshot={shot}", "--dump-dom", (tmp_path / name).as_uri()],
            capture_output=True, text=True, timeout=600, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        assert f"<h2>{heading}</h2>" in done.stdout
        assert "<script>" not in done.stdout
        assert shot.read_bytes().startswith(b"\x89PNG")
        assert shot.stat().st_size > 30_000  # not an empty sheet
