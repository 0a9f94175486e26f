"""Notebooks: cells change, everything else stays byte for byte."""

from __future__ import annotations

import json

import pytest

from parallel_compat.migrate import process_file, report
from parallel_compat.migrate.engine import Options
from parallel_compat.migrate.findings import FileStatus, Status
from tests.migrate.check import LINE, without_line


def notebook(*cells: str | list[str], indent: int | None = 1, **metadata: object) -> str:
    return json.dumps(
        {
            "cells": [
                {
                    "cell_type": "code",
                    "execution_count": number,
                    "metadata": {},
                    "outputs": [{"output_type": "stream", "text": ["from keras.utils import multi_gpu_model\n"]}],
                    "source": cell if isinstance(cell, list) else cell.splitlines(keepends=True),
                }
                for number, cell in enumerate(cells)
            ],
            "metadata": metadata,
            "nbformat": 4,
            "nbformat_minor": 2,
        },
        indent=indent,
    )


def after(text: str) -> str:
    report = process_file.notebook("a.ipynb", text.encode(), Options())
    assert report.status in (FileStatus.CHANGED, FileStatus.UNCHANGED), report.reason
    return without_line(report.after)


def sources(text: str) -> list[str]:
    return ["".join(cell["source"]) for cell in json.loads(text)["cells"]]


def test_cells_are_one_module():
    before = notebook("from keras.models import Model\nmodel = Model(x, y)", "model.fit_generator(g)\n")
    assert sources(after(before)) == [
        "from keras.models import Model\nfrom parallel_compat import fit_generator\nmodel = Model(x, y)",
        "fit_generator(model, g)\n",
    ]


CELL = '"cell_type": "code", "source": "import keras"'


@pytest.mark.parametrize(
    ("text", "status"),
    [
        (f'{{"metadata": [1], "cells": [{{{CELL}}}]}}', FileStatus.UNCHANGED),
        (
            f'{{"metadata": {{"language_info": [1], "kernelspec": "x"}}, "cells": [{{{CELL}}}, 1, []]}}',
            FileStatus.UNCHANGED,
        ),
        (f'{{"cells": [{{{CELL}, "source": "1"}}]}}', FileStatus.SKIPPED),
        (f'{{"cells": [{{{CELL}}}], "cells": [{{{CELL}}}]}}', FileStatus.SKIPPED),
        ('{"cells": [{"cell_type": "code", "source": ["import keras", 5]}]}', FileStatus.SKIPPED),
        ('{"keras": ' + "[" * 100_000 + "]" * 100_000 + "}", FileStatus.FAILED),
        (notebook("import keras\n", "-" * 100_000 + "1"), FileStatus.UNCHANGED),
    ],
)
def test_what_no_notebook_program_writes_ends_in_a_reason(text, status):
    report = process_file.notebook("a.ipynb", text.encode(), Options())
    assert report.status is status
    assert bool(report.reason) is (status is not FileStatus.UNCHANGED)


def test_the_line_that_remembers_is_in_the_cell_of_the_first_import():
    before = notebook("%matplotlib inline\n", "%%time\nfrom keras.utils import multi_gpu_model\n")
    done = process_file.notebook("a.ipynb", before.encode(), Options()).after
    assert sources(done)[1] == f"%%time\n{LINE}from parallel_compat import multi_gpu_model\n"
    assert process_file.notebook("a.ipynb", done.encode(), Options()).after == done


def test_places_after_are_lines_of_cells_of_the_new_notebook():
    cells = "from keras.utils import multi_gpu_model\nimport keras\nkeras.utils.multi_gpu_model(m)\n", "x = 1\nK.foo(x)"
    before = notebook("import keras.backend as K\n" + cells[0] + "K.foo(1)\n", cells[1])
    report = process_file.notebook("a.ipynb", before.encode(), Options())
    again = process_file.notebook("a.ipynb", report.data, Options())
    places = [one for one in report.places_after if one.status is Status.ATTENTION]
    assert [(one.cell, one.line) for one in places] == [(1, sources(report.after)[0].count("\n")), (2, 2)]
    assert places == [one for one in again.places if one.status is Status.ATTENTION]


@pytest.mark.parametrize("indent", [None, 1, 4])
def test_all_else_stays(indent):
    before = notebook("x = 1\nfrom keras.utils import multi_gpu_model\ny = 2", "z = 3", indent=indent)
    old = '"from keras.utils import multi_gpu_model\\n"'
    position = before.index(old, before.index('"source"'))
    expected = before[:position] + old.replace("keras.utils", "parallel_compat") + before[position + len(old) :]
    assert after(before) == expected


def test_new_lines_are_strings_of_their_own():
    before = notebook("import keras\nkeras.utils.multi_gpu_model(m)\n")
    assert after(before) == before.replace(
        '"import keras\\n",\n    "keras.utils.multi_gpu_model(m)\\n"',
        '"import keras\\n",\n    "from parallel_compat import multi_gpu_model\\n",\n    "multi_gpu_model(m)\\n"',
    )


def test_removed_lines():
    before = notebook("from keras.optimizers import Adam\nAdam(\n    lr=1.0,\n    decay=0.0,\n    beta_1=0.5,\n)\n")
    text = after(before)
    assert sources(text) == ["from keras.optimizers import Adam\nAdam(\n    learning_rate=1.0,\n    beta_1=0.5,\n)\n"]
    assert '""' not in text


def test_a_source_that_is_one_string():
    text = notebook("x")
    document = json.loads(text)
    document["cells"][0]["source"] = "from keras.utils import multi_gpu_model\nx = 1"
    assert sources(after(json.dumps(document))) == ["from parallel_compat import multi_gpu_model\nx = 1"]


def test_magics_stay():
    cell = (
        "%matplotlib inline\n!pip install keras\nfiles = !ls\nkeras?\n?keras\nif x:\n    %time f()\n"
        "from keras.utils import multi_gpu_model\n"
    )
    timed = "%%time\nkeras.utils.multi_gpu_model(m)\n"
    bash = "%%bash\necho from keras.utils import multi_gpu_model\n"
    text = after(notebook("import keras\n", cell, timed, bash))
    assert sources(text) == [
        "import keras\nimport parallel_compat\n",
        cell.replace("keras.utils", "parallel_compat"),
        timed.replace("keras.utils.", "parallel_compat."),
        bash,
    ]


def test_letters_stay_as_they_are_written():
    raw = notebook("s = 'ä'  # keras\nfrom keras.utils import multi_gpu_model  # ü\n")
    assert "\\u00e4" in raw
    assert "\\u00fc" in after(raw)
    plain = json.dumps(json.loads(raw), ensure_ascii=False)
    assert "# ü" in after(plain)


def test_await_at_the_top():
    assert sources(after(notebook("x = await f()\nfrom keras.utils import multi_gpu_model\n")))[0].startswith(
        "x = await"
    )


def test_a_cell_that_does_not_parse_is_reported_and_the_others_are_read():
    before = notebook("print 'x'\n", "from keras.utils import multi_gpu_model\n")
    report = process_file.notebook("a.ipynb", before.encode(), Options())
    assert sources(report.after) == ["print 'x'\n", f"{LINE}from parallel_compat import multi_gpu_model\n"]
    assert [(place.cell, place.rule) for place in report.places] == [(1, "notebook"), (2, "imports")]


def test_places_are_told_by_cell():
    before = notebook("x = 1\n", "y = 2\nfrom keras.utils import multi_gpu_model\n")
    (place,) = process_file.notebook("a.ipynb", before.encode(), Options()).places
    assert (place.cell, place.line, place.column) == (2, 2, 25)


def test_places_are_named_by_the_prompt():
    document = json.loads(notebook("x = 1\n", "import tensorflow as tf\ntf.add_to_collection(3)\n"))
    for cell, count in zip(document["cells"], (7, 9), strict=True):
        cell["execution_count"] = count
    for count, prompt in ((9, "In [9]"), (None, "cell 2")):
        document["cells"][1]["execution_count"] = count
        told = process_file.notebook("a.ipynb", json.dumps(document).encode(), Options())
        (line,) = report.lines([told], written=False)
        assert line.startswith(f"a.ipynb:{prompt}:2:1: attention [")


def test_a_second_run_changes_nothing():
    once = after(notebook("from keras import backend as K\nK.mean(x)\n", "K.tf.Session()\n"))
    assert after(once) == once


@pytest.mark.parametrize(
    "text",
    [
        "[]",
        '{"worksheets": [{"cells": [{"input": "import keras"}]}], "nbformat": 3}',
        notebook("library(keras)\n", kernelspec={"language": "R", "name": "ir"}),
    ],
)
def test_what_is_no_python_notebook_is_skipped(text):
    assert process_file.notebook("a.ipynb", b"{", Options()).status is FileStatus.FAILED  # as a broken source

    report = process_file.notebook("a.ipynb", text.encode(), Options())
    assert report.status is FileStatus.SKIPPED
    assert report.reason


@pytest.mark.parametrize("cell", ["fit_generator = None\n", "%run tools.py\n", "def fit_generator(): pass\n"])
def test_a_name_that_another_cell_may_bind_is_not_imported(cell):
    before = notebook("from keras.models import Model\nmodel = Model(x, y)\n", "model.fit_generator(g)\n", cell)
    once = after(before)
    assert sources(once) == [
        "from keras.models import Model\nimport parallel_compat\nmodel = Model(x, y)\n",
        "parallel_compat.fit_generator(model, g)\n",
        cell,
    ]
    assert after(once) == once
