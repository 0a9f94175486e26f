"""`migrate --verify`: which findings change the results of a project, in figures."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from parallel_compat.command import main
from parallel_compat.compare.comparison import Comparison
from parallel_compat.compare.curves import Curve
from parallel_compat.compare.differences import Finding
from parallel_compat.migrate.verify import Verified, lines
from parallel_compat.names.eras import Era

PAGE = Path(__file__).parents[2] / "docs" / "guide" / "compare.md"
SOURCE = """import numpy as np
from keras.models import Sequential
from keras.layers import LSTM, Dense
from keras.utils import np_utils

x, y = np.random.rand(64, 5, 3), np.random.rand(64, 1)
model = Sequential([LSTM(8, input_shape=(5, 3)), Dense(1)])
model.compile("adagrad", "mse")
model.fit(x, y, batch_size=16, epochs=5, verbose=0)
"""


def compared(losses, findings=()):
    old = [1.0, 0.5, 0.25]
    curve = Curve(old, losses, old)
    found = [(0, Finding("curve", "loss", 0.1, "the loss differs"))] if curve.differs_from is not None else []
    return Comparison(("keras 2.2.4", "keras 3"), ["net"], [[]], findings=[*found, *findings], curves=[curve])


def test_a_project_that_is_equal_has_no_finding_that_matters():
    told = lines(Verified(Era.KERAS_2_2_4, compared([1.0, 0.5, 0.25]), known=["`LSTM`, `GRU`"]))
    equal = "equal to the original, the loss differs by 0 % after 3 steps (two runs of the original: 0 %)"
    assert told == [
        f"as it is rewritten: {equal}",
        "known differences that were not seen: `LSTM`, `GRU`",
    ]


def test_each_finding_is_told_with_its_figure():
    without = {
        "the LSTM's activation. (Unsafe: newer code.)": compared([1.0, 0.51, 0.2575]),
        "the clipping. (Unsafe: newer code.)": compared([1.0, 0.5, 0.25]),
        "the tenth": None,
    }
    found = Verified(Era.KERAS_2_2_4, compared([1.0, 0.51, 0.2575]), compared([1.0, 0.5, 0.25]), without)
    told = lines(found)
    assert told[0].startswith("as it is rewritten: the loss differs by 3 % after 3 steps")
    assert told[1].startswith("with --unsafe: equal to the original")
    assert told[2] == "matters: without --unsafe the loss differs by 3 % after 3 steps: the LSTM's activation."
    assert told[3] == "does not matter: the clipping."
    assert told[4] == "not tried: the tenth"
    assert re.fullmatch(shown_in_the_guide()[-1], told[3])


def test_weights_of_other_shapes_matter():
    shapes = [(0, Finding("weights", "initial", None, "the recorded weights could not be set"))]
    without = {"reset_after": compared([1.0, 0.5, 0.25], shapes)}
    found = Verified(Era.KERAS_2_2_4, compared([1.0, 0.6, 0.3]), compared([1.0, 0.5, 0.25]), without)
    assert "matters: without --unsafe the weights have other shapes: reset_after" in lines(found)


def test_a_rewrite_can_be_left_out(tmp_path, capsys):
    source = tmp_path / "train.py"
    source.write_text(
        'from keras.layers import LSTM\nfrom keras.utils import np_utils\nLSTM(3, activation="hard_sigmoid")\n'
    )
    assert main(["migrate", "--unsafe", "--format", "json", str(source)]) == 0
    whole = capsys.readouterr().out
    assert main(["migrate", "--unsafe", str(source)]) == 0
    assert "recurrent_activation=" in capsys.readouterr().out
    message = next(row["message"] for row in json.loads(whole)["findings"] if "`LSTM`" in row["message"])
    assert main(["migrate", "--unsafe", "--leave", message, str(source)]) == 0
    out = capsys.readouterr().out
    assert "recurrent_activation=" not in out
    assert "hard_sigmoid" in out


@pytest.mark.parametrize(
    "more", [["--check"], ["--write"], ["--select", "imports"], ["--format", "json"], ["train.py"]]
)
def test_options_that_contradict_are_refused(more, capsys):
    assert main(["migrate", "--verify", "train.py", *more]) == 2
    assert "--verify rewrites a copy" in capsys.readouterr().err


def test_replicas_are_those_of_its_runs(monkeypatch, capsys):
    given = []
    monkeypatch.setattr("parallel_compat.migrate.verify.Runs", lambda *_, **options: given.append(options) or 1 / 0)
    with pytest.raises(ZeroDivisionError):
        main(["migrate", "--verify", __file__, "--era", "keras-2.2.4", "--replicas", "2"])
    assert given[0]["replicas"] == 2
    assert main(["migrate", "--replicas", "2", __file__]) == 2
    assert "--replicas is for the runs of --verify" in capsys.readouterr().err


def test_a_script_that_is_none_is_refused(capsys):
    assert main(["migrate", "--verify", "nowhere.py"]) == 2
    assert "nowhere.py, which is not a file" in capsys.readouterr().err


@pytest.mark.slow  # six processes that import TensorFlow
def test_figures_of_a_project(tmp_path):
    (tmp_path / "train.py").write_text(SOURCE)
    command = [sys.executable, "-m", "parallel_compat", "migrate", "--verify", "train.py --epochs 1"]  # the guide's
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=900, check=False)
    assert done.returncode == 1, done.stderr
    told = done.stdout.splitlines()
    assert [
        line for line in told if line.startswith("matters: without --unsafe the loss differs by") and "`LSTM`" in line
    ]
    assert [
        line
        for line in told
        if line.startswith("matters: without --unsafe the loss differs by") and "`adagrad`" in line
    ]
    assert [line for line in told if line.startswith("matters: `RMSprop`, `Adagrad`") and "--to native" in line]
    assert (tmp_path / "train.py").read_text() == SOURCE
    for line in shown_in_the_guide()[:-1]:  # all that it does otherwise matters
        assert [each for each in told if re.fullmatch(line, each)], (line, told)


def shown_in_the_guide():
    """Return the lines of the guide's output as patterns: figures are others elsewhere, `...` stands for any text."""
    text = re.search(r"^```text\n(as it is rewritten: .*?)^```$", PAGE.read_text("utf-8"), re.MULTILINE | re.DOTALL)
    assert text is not None
    figures = [re.sub(r"[\d.e-]+ %", "FIGURE", line) for line in text[1].splitlines()]
    return [re.escape(line).replace("FIGURE", "[0-9.e-]+ %").replace(r"\.\.\.", ".*") for line in figures]


def test_the_output_in_the_guide_is_found():
    first = shown_in_the_guide()[0]
    said = "as it is rewritten: the loss differs by 12 % after 10 steps (two runs of the original: 3.1e-07 %)"
    assert re.fullmatch(first, said)
    assert not re.fullmatch(first, said.replace("loss", "result"))
