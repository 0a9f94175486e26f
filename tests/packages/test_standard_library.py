"""Python's library and numpy answer what they did in 2018: Python 3.7.16 and numpy 1.16.6, recorded."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

PROJECT = Path(__file__).parents[2]

# Also run by Python 3.7 with numpy 1.16.
SCRIPT = """
import array, json, math, os, random, sys, threading
import xml.etree.ElementTree as ElementTree
from html.parser import HTMLParser
import numpy as np

matrix, tree = np.arange(6.0).reshape(2, 3), ElementTree.fromstring("<a><b/><c><b/></c></a>")
matrix.itemset(1, 9)
matrix.itemset((0, 2), 8)
matrix.itemset(1, 0, 7)
matrix[1, 1] = np.array([[4.5]])
draws = random.Random(3)
random.seed(3)
order = list(range(6))
random.shuffle(order, random.random)
answers = [
    [len(random.sample({5, 6, 7}, 2)), order, random.sample(range(9), 3), draws.sample(range(9), 3)],
    json.loads('{"a": 1}', encoding="utf-8"),
    [math.factorial(5.0), os.errno.EEXIST, threading.current_thread().isAlive(), HTMLParser().unescape("&lt;")],
    [array.array("b", [65]).tostring().decode(), open(sys.argv[1], "rU").read(), open(sys.argv[1], "U").read()],
    [[child.tag for child in tree.getchildren()], [child.tag for child in tree.getiterator("b")]],
    [np.linspace(0, 1, 3.0).tolist(), np.vstack(row for row in matrix).tolist(), np.hstack(map(list, matrix)).tolist()],
    [float(np.array([[2.5]])), int(np.array([3])), "%d %.1f" % (np.array([3]), np.array([2.0])), bool(np.array([]))],
    [matrix.ptp().item(), matrix.tolist(), np.histogram([1, 2], 2, normed=True)[0].tolist(), np.mat("1 2").tolist()],
]
for wrong in (lambda: float(np.ones(2)), lambda: bool(np.ones(2)), lambda: math.factorial(1.5)):
    try:
        answers.append(wrong())
    except (TypeError, ValueError) as error:
        answers.append(type(error).__name__)
print(json.dumps(answers))
"""
RECORDED = [
    [2, [0, 4, 3, 5, 2, 1], [7, 4, 8], [3, 2, 7]],
    {"a": 1},
    [120, 17, True, "<"],
    ["A", "a\nb\n", "a\nb\n"],
    [["b", "c"], ["b", "b"]],
    [[0.0, 0.5, 1.0], [[0.0, 9.0, 8.0], [7.0, 4.5, 5.0]], [0.0, 9.0, 8.0, 7.0, 4.5, 5.0]],
    [2.5, 3, "3 2.0", False],
    [9.0, [[0.0, 9.0, 8.0], [7.0, 4.5, 5.0]], [1.0, 1.0], [[1, 2]]],
    "TypeError",
    "ValueError",
    "ValueError",
]


def test_what_was_accepted_is_answered(tmp_path):
    (tmp_path / "lines.txt").write_bytes(b"a\r\nb\n")
    prepared = "from parallel_compat import packages\nfrom parallel_compat.names.eras import Era\n"
    before_1_16 = "import numpy as np\nnp.set_printoptions(threshold=np.nan)\n"
    code = f"{prepared}packages.answer(Era.KERAS_2_2_4)\n{before_1_16}{SCRIPT}"
    environment = {**os.environ, "PYTHONPATH": str(PROJECT)}
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code, "lines.txt"],
        cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == RECORDED


def test_types_in_c_stay_closed():
    code = "import numpy as np; from parallel_compat import packages; packages.answer(); np.ndarray.own = 1"
    environment = {**os.environ, "PYTHONPATH": str(PROJECT)}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False)
    assert "immutable type" in done.stderr
