"""The HTML reports: one file, no network, every finding with the lines around it; and a browser shows it."""

from __future__ import annotations

import html
import json
import re
import shutil
import subprocess
from collections import Counter
from html.parser import HTMLParser
from pathlib import Path

import pytest

from parallel_compat import html_report
from parallel_compat.command import main
from parallel_compat.compare import page as compare_page
from parallel_compat.compare.comparison import Comparison, Layer, Step
from parallel_compat.compare.curves import Curve
from parallel_compat.compare.differences import Finding
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
        self.elements: list[tuple[str, dict[str, str | None], str]] = []
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag, attributes):
        self.tags.add(tag)
        if tag not in VOID:
            self.open.append(tag)
        given = dict(attributes)
        self.elements.append((tag, given, self.open[-2] if len(self.open) > 1 else ""))
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
            command="parallel-compat run --replicas 2 train.py",
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


def of_compare() -> str:
    differs = Finding("loss", "mse", 0.5, f"loss `mse` of step 0 differs: {'0123456789' * 9}")
    found = Comparison(("Keras 2.2.4", "Keras 3.15"), ["model 0 (name)"], [[Step([differs], {"loss": 0.5}), Step()]])
    found.findings = [(0, Finding("loss", "mse", 0.5, "`half a sentence"))]
    found.curves = [Curve([0.5, 0.25, 0.125], [0.5, 0.26, 0.2], [0.5, 0.25, 0.125])]
    found.layers = [[Layer("dense_1" * 9, "Dense", 0.0, "equal"), Layer("lstm_1", "LSTM", 0.5, "differs")]]
    found.machines = [["TensorFlow 2.21", "2 GPUs " * 20], ["TensorFlow 2.21"]]
    found.seconds = {"the original": 3.0}
    return compare_page.page(found, "a folder/train.py", ["compare", "old.h5", "a folder/train.py"])


PAGES = ["migrate", "run", "compare"]


@pytest.fixture
def pages(migrated):
    return {"migrate": migrated, "run": of_run(), "compare": of_compare()}


@pytest.mark.parametrize("of", PAGES)
def test_keyboards_and_screen_readers_find_their_way(pages, of):
    page = Page(pages[of])
    tags = Counter(tag for tag, _, _ in page.elements)
    assert tags["main"] == tags["h1"] == 1
    assert tags["table"] > 0
    viewport = [given["content"] for tag, given, _ in page.elements if given.get("name") == "viewport"]
    assert viewport == ["width=device-width, initial-scale=1"]
    for tag, given, _ in page.elements:
        if tag == "th":
            assert given["scope"] in ("col", "row")
        if tag == "pre":
            assert given["tabindex"] == "0"
    boxes = [given for tag, given, _ in page.elements if tag == "div" and given.get("class") == "wide"]
    assert len(boxes) == tags["table"]
    assert all(parent == "div" for tag, _, parent in page.elements if tag == "table")
    assert all(given["role"] == "img" for tag, given, _ in page.elements if tag == "svg")
    names = {given["id"] for _, given, _ in page.elements if "id" in given}
    for box in boxes:
        assert box["tabindex"] == "0"
        assert box["role"] == "region"
        assert box["aria-labelledby"] in names


@pytest.mark.parametrize(
    ("of", "command"),
    [
        ("migrate", "parallel-compat migrate --html report.html train.py broken.py"),
        ("run", "parallel-compat run --replicas 2 train.py"),
        ("compare", "parallel-compat compare old.h5 'a folder/train.py'"),
    ],
)
def test_script_command_and_date_are_on_top(pages, of, command):
    top = pages[of].partition("</dl>")[0]
    assert "train.py" in top
    assert html.escape(command, quote=False) in top
    assert re.search(r"<dt>date</dt><dd>20\d\d-\d\d-\d\d \d\d:\d\d UTC</dd>", top)


@pytest.mark.parametrize("of", PAGES)
def test_no_backtick_is_bare(pages, of):
    prose = re.sub(r"(?s)<(style|pre|code)[ >].*?</\1>", "", pages[of])
    assert "`" not in prose


def test_a_backtick_of_a_command_is_shown():
    assert html_report.text(html_report.code("echo `date` <b>")) == "<code>echo &#96;date&#96; &lt;b&gt;</code>"
    assert html_report.text("``a `` and one ` alone") == "<code>a </code> and one  alone"
    assert html_report.text("`a ** 2` **is** `b ** 3`") == "<code>a ** 2</code> <b>is</b> <code>b ** 3</code>"


def test_the_ending_of_the_file_decides_what_migrate_reports(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("train.py").write_text(SOURCE)
    assert main(["migrate", "--report", "report.json", "--html", "page.html", "train.py"]) == 0
    assert {"files", "findings", "results"} <= json.loads(Path("report.json").read_text("utf-8")).keys()
    assert main(["migrate", "--report", "report.html", "train.py"]) == 0
    pages = [Path(name).read_text("utf-8").partition("<section")[2] for name in ("report.html", "page.html")]
    assert pages[0] == pages[1] != ""
    capsys.readouterr()
    assert main(["migrate", "--report", "missing/report.json", "train.py"]) == 2
    assert "argument --report: " in capsys.readouterr().err


def test_what_cannot_be_written_is_refused_before_the_work(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("train.py").write_text(SOURCE)
    assert main(["migrate", "--write", "--html", "missing/report.html", "train.py"]) == 2
    assert "a folder that exists" in capsys.readouterr().err
    assert Path("train.py").read_text() == SOURCE


def test_only_results_that_the_sources_are_concerned_by():
    assert "`clipnorm`" in [row[0] for row in results.differing([(None, "SGD(clipnorm=1.)")], "migrate")]
    assert results.differing([(None, "x = 1")], "migrate") == []
    frozen = "base = MobileNet(weights=None)\nbase.layers[0].trainable = False"
    told = [row[0] for row in results.differing([(None, frozen)], "migrate")]
    assert "`BatchNormalization`, moving statistics" in told  # which that network is made of


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
    found = [
        any(each.startswith(what) for each in told) for what in ("`BatchNormalization`, moving", "`hinge`", "`LSTM`")
    ]
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
        assert f">{heading}</h2>" in done.stdout
        assert "<script>" not in done.stdout
        assert shot.read_bytes().startswith(b"\x89PNG")
        assert shot.stat().st_size > 30_000  # not an empty sheet


# Shows a page at some width, and says what sticks out of it and which boxes cannot be scrolled by keyboard.
MEASURE = """<!doctype html><body><iframe width="{width}" height="844" style="border: 0" srcdoc="{page}"></iframe>
<script>
document.querySelector("iframe").onload = event => {{
  const page = event.target.contentDocument, found = [];
  const wide = page.documentElement.scrollWidth;
  if (wide > {width}) found.push("the page is " + wide + " wide");
  for (const closed of page.querySelectorAll("details")) closed.open = true;
  for (const box of page.querySelectorAll("*")) {{
    const style = event.target.contentWindow.getComputedStyle(box);
    if (box.scrollWidth > box.clientWidth + 1 && box.clientWidth && style.display != "inline") {{
      const scrolls = style.overflowX == "auto" && box.tabIndex == 0;
      const inside = box.closest("[tabindex]");
      if (!scrolls && !inside) found.push(box.tagName + " " + box.className + " is cut");
    }}
  }}
  for (const box of page.querySelectorAll(".wide")) {{
    box.focus(); box.scrollLeft = 1e6;
    const cell = [...box.querySelectorAll("tr:first-child > :last-child")][0];
    if (page.activeElement != box) found.push("a box takes no focus");
    if (cell && cell.getBoundingClientRect().right > {width} + 1) found.push("a last column is out of reach");
  }}
  document.body.textContent = "found: " + (found.join("; ") || "nothing");
}};</script>"""


@pytest.mark.skipif(BROWSER is None, reason="no chromium here: the page's structure is tested above without one")
@pytest.mark.parametrize("width", [390, 1400])
@pytest.mark.parametrize("of", PAGES)
def test_on_a_phone_and_a_screen_every_column_can_be_reached(pages, of, width, tmp_path):
    measure = MEASURE.format(page=html.escape(pages[of], quote=True), width=width)
    (tmp_path / "measure.html").write_text(measure, "utf-8")
    done = subprocess.run(
        [BROWSER, "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={tmp_path / 'profile'}",
         "--window-size=1440,1000", "--virtual-time-budget=5000", "--dump-dom", (tmp_path / "measure.html").as_uri()],
        capture_output=True, text=True, timeout=600, check=False,
    )  # fmt: skip
    assert "found: nothing" in done.stdout, done.stdout[-500:]
