"""Continuation lines stay under what they are aligned with."""

from __future__ import annotations

import ast
import json

import pytest

from parallel_compat.migrate.engine import Options, analyse, edits_of
from parallel_compat.migrate.notebooks import read
from tests.migrate.check import migrated
from tests.migrate.native.check import rewriting

HEAD = "from keras import backend as K\n"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        # under the first argument, in a call within a call
        (
            "x = K.dot(K.sum(y,\n                axis=1),\n          z)\n",
            "x = ops.dot(ops.sum(y,\n                    axis=1),\n            z)\n",
        ),
        # a hanging indent stays, and what is aligned within it moves
        ("x = K.sum(\n    K.abs(y),\n    axis=1)\n", "x = ops.sum(\n    ops.abs(y),\n    axis=1)\n"),
        (
            "x = [K.sum(\n        a, 1), K.mean(b,\n                      #\n                      1)]\n",
            "x = [ops.sum(\n        a, 1), ops.mean(b,\n                        #\n                        1)]\n",
        ),
        # what hangs from a line that moves, moves with it
        (
            "x = K.sum(f(\n              y),\n          axis=1)\n",
            "x = ops.sum(f(\n                y),\n            axis=1)\n",
        ),
        # lines of strings are no continuation lines; those after them are
        (
            'x = K.sum(y, """\n          a\n""",\n          1)\n',
            'x = ops.sum(y, """\n          a\n""",\n            1)\n',
        ),
        # columns of tabs are not known
        ("if 1:\n\tx = K.sum(y,\n\t          1)\n", "if 1:\n\tx = ops.sum(y,\n\t          1)\n"),
    ],
)
def test_lines_move_with_their_bracket(old, new):
    text = rewriting(HEAD + old).text
    assert text == "from keras import ops\n" + new
    ast.parse(text)


def test_it_holds_for_the_names_of_this_package_too():
    old = "import keras\nkeras.layers.core.Dense(3,\n                        activation='relu')\n"
    assert "keras.layers.Dense(3,\n                   activation='relu')" in migrated(old)


def test_in_a_cell_of_a_notebook():
    lines = ["import keras\n", "keras.layers.core.Dense(3,\n", "                        activation='relu')"]
    cell = {"cell_type": "code", "execution_count": 1, "metadata": {}, "outputs": [], "source": lines}
    book = read(json.dumps({"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 2}, indent=1))
    after = book.rewritten(edits_of(analyse(book.module, Options()), hints=False))
    assert json.loads(after)["cells"][0]["source"][1:] == [
        "keras.layers.Dense(3,\n",
        "                   activation='relu')",
    ]


def test_in_a_statement_that_comes_under_a_with():
    old = (
        "from keras import backend as K, layers, models, utils\n"
        "model = models.Sequential(\n    [\n        layers.Dense(3, input_shape=(2,)),\n"
        "        layers.Lambda(lambda x: K.clip(x,\n                                       0, 1)),\n    ]\n)\n"
        "model = utils.multi_gpu_model(model, gpus=2)\nmodel.compile('sgd', 'mse')\n"
    )
    assert (
        "    model = models.Sequential(\n        [\n            layers.Dense(3, input_shape=(2,)),\n"
        "            layers.Lambda(lambda x: ops.clip(x,\n                                             0, 1)),\n"
        "        ]\n    )\n"
    ) in rewriting(old).text
