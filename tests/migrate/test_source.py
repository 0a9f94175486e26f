"""Encodings, line ends, byte order marks, and what does not parse."""

from __future__ import annotations

import codecs
import time

import pytest

from parallel_compat.migrate import process_file, project_facts
from parallel_compat.migrate.edits import Edit, apply
from parallel_compat.migrate.engine import Options
from parallel_compat.migrate.file import File
from parallel_compat.migrate.findings import FileStatus, Finding, Status
from parallel_compat.migrate.rewriting import Rewriting
from tests.migrate.check import LINE, check_transformed, without_line


def after(data: bytes) -> bytes:
    done = process_file.source("a.py", data, Options()).data
    return without_line(done.decode("latin-1")).encode("latin-1")


@pytest.mark.parametrize(
    "data",
    [
        b"from keras.utils import multi_gpu_model\r\nx = 1\r\n",
        b"from keras.utils import multi_gpu_model\rx = 1\r",
        b"from keras.utils import multi_gpu_model",
        codecs.BOM_UTF8 + b"from keras.utils import multi_gpu_model\n",
        "# ä € 漢\nfrom keras.utils import multi_gpu_model  # ü\n".encode(),
        "# -*- coding: latin-1 -*-\n# ä\nfrom keras.utils import multi_gpu_model\n".encode("latin-1"),
        "# -*- coding: cp1252 -*-\ns = '€'; from keras.utils import multi_gpu_model\n".encode("cp1252"),
        b"\x0cfrom keras.utils import multi_gpu_model\n",
        b"s = '\\d'\nfrom keras.utils import multi_gpu_model\n\n\n\n",
    ],
)
def test_only_the_name_changes(data):
    assert after(data) == data.replace(b"keras.utils", b"parallel_compat")


@pytest.mark.parametrize(
    ("before", "expected"),
    [
        ("import keras\r\nkeras.utils.multi_gpu_model(m)\r\n", f"{LINE[:-1]}\r\nimport keras\r\n"),
        ("#!/usr/bin/env python\n# mine\n'''What it does.'''\nfrom __future__ import division\n\n"
         "from keras.utils import multi_gpu_model\n", f"division\n\n{LINE}from parallel_compat import"),
        ("import os; import keras\nkeras.utils.multi_gpu_model(m)\n", f"{LINE}import os; import keras"),
        ("if True:\n    from keras.utils import multi_gpu_model\n", f"{LINE}if True:\n"),
        ("@f\ndef g():\n    from keras.utils import multi_gpu_model\n", f"{LINE}@f\ndef g"),
        ("'''Text.'''; from keras.utils import multi_gpu_model\n", f"{LINE}'''Text.'''; from"),
    ],
)  # fmt: skip
def test_a_line_says_what_the_source_was_written_for(before, expected):
    done = process_file.source("a.py", before.encode(), Options()).data.decode()
    assert expected in done
    assert done.count("parallel-compat") == 1
    compile(done, "a.py", "exec")
    assert process_file.source("a.py", done.encode(), Options()).data.decode() in ("", done)


def test_positions_after_wide_characters():
    data = "import keras\ns = '漢字'; m = keras.utils.multi_gpu_model('é'); n = keras.utils.multi_gpu_model(3)\n"
    assert after(data.encode()).decode() == (
        "import keras\nfrom parallel_compat import multi_gpu_model\n"
        "s = '漢字'; m = multi_gpu_model('é'); n = multi_gpu_model(3)\n"
    )


def test_what_is_written_is_imported_before_it_is_used():
    data = (
        b"import numpy\nimport train\n\nmodel = train.model()\nmodel.save_weights('m.h5')\n"
        b"from keras.models import load_model\nload_model('n.h5').save_weights('n.h5')\n"
    )
    text = process_file.source("a.py", data, Options(unsafe=True)).data.decode()
    assert text.index("import parallel_compat.legacy.models\n") < text.index("model = train.model()")


def test_inserted_lines_end_as_the_others_do():
    assert after(b"import keras\r\nkeras.utils.multi_gpu_model(m)\r\n") == (
        b"import keras\r\nfrom parallel_compat import multi_gpu_model\r\nmulti_gpu_model(m)\r\n"
    )


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"import keras\nprint 'x'\n", "Python 2"),
        (b"import keras\ntry: pass\nexcept ImportError, e: pass\n", "Python 2"),
        (b"import keras\nraise ValueError, 'x'\n", "Python 2"),
        (b"import keras\nx = (\n", "does not parse"),
        (b"import keras\nx = '\xff'\n", "decoded"),
        (b"# coding: klingon\nimport keras\n", "decoded"),
        (b"import keras\nx = '\0'\n", "does not parse"),
        (b"import keras\nx = " + b"(" * 500 + b")" * 500, ""),
        (b"import keras\nx = " + b"-" * 100_000 + b"1", "too deeply nested"),
    ],
)
def test_what_cannot_be_read_is_left_with_a_reason(data, reason):
    report = process_file.source("a.py", data, Options())
    assert report.status is FileStatus.FAILED
    assert reason in report.reason
    assert report.data == b""


def test_places_of_very_many_edits_are_found_at_once():
    """For each finding all edits were sorted again: a source of 20,000 old calls took an hour."""
    count = 3_000
    edits = tuple(Edit(3 * number, 3 * number + 1, "longer") for number in range(count))
    findings = tuple(Finding("rule", 3 * number, "", Status.REWRITTEN) for number in range(count))
    start = time.process_time()
    moved = list(Rewriting("", findings, (edits,), legacy=True, has_hints=False).moved_findings())
    assert time.process_time() - start < 2
    assert [one.offset for one in moved] == [8 * number for number in range(count)]


def test_parentheses_that_are_never_closed_take_no_time(tmp_path):
    """Each was looked for up to the end of the file."""
    (tmp_path / "a.py").write_text(("from a import (" + " " * 100 + "\n") * 8_000)
    start = time.process_time()
    project_facts.read([str(tmp_path / "a.py")])
    assert time.process_time() - start < 2


def test_names_inside_f_strings():
    data = b"import keras.backend as K\ns = f'{K.tf.log(x)} {K.mean(x):.2f}'\n"
    text = after(data).decode()
    compile(text, "a.py", "exec")
    assert "K.mean(x):.2f" in text


def test_latin_1_without_a_coding_line_is_told_the_line_to_add():
    report = process_file.source("old.py", "# \xe4\nimport keras\n".encode("latin-1"), Options())
    assert report.status is FileStatus.FAILED
    assert "# -*- coding: latin-1 -*-" in report.reason


@pytest.mark.parametrize(
    ("imports", "module", "expected"),
    [
        ("import numpy as np\nfrom keras.models import A\n", "keras", "import keras\nimport numpy as np\nfrom"),
        ("import numpy\nimport keras\nimport sys\n", "tensorflow", "keras\nimport tensorflow\nimport sys"),
        ("import os\n\nfrom keras.layers import Dense\n", "keras", "import os\n\nimport keras\nfrom keras.layers"),
        ("from keras.layers import A\nfrom sklearn import svm\n", "tensorflow", "import tensorflow\nfrom keras"),
        ("from keras import ops\nimport numpy as np\nimport six\n", "tensorflow", "six\nimport tensorflow\n"),
    ],
)
def test_an_import_comes_where_the_order_of_its_group_wants_it(imports, module, expected):
    file = File(imports + "\nx = 1\n")
    assert expected in apply(imports + "\nx = 1\n", [file.import_after(f"import {module}")])


MODELS = "parallel_compat.legacy.models"
SAVING = "from keras.models import Sequential\n{}model = Sequential()\n{}model.save_weights('w.ckpt')\n"
SAVED = SAVING.replace("model.save_weights(", "{}(model, ")
BY_ITSELF = f"from {MODELS} import save_weights\n", "save_weights"
DOTTED = f"import {MODELS}\n", f"{MODELS}.save_weights"


@pytest.mark.parametrize(
    ("beside", "expected"),
    [
        ("", BY_ITSELF),
        ("net.save_weights = f(save_weights=1)\n", BY_ITSELF),
        ("save_weights = True\n", DOTTED),
        ("def f():\n    save_weights = True\n", DOTTED),
        ("def f(save_weights):\n    pass\n", DOTTED),
        ("def save_weights(): pass\n", DOTTED),
        ("class A:\n    def save_weights(self): pass\n", DOTTED),
        ("[save_weights for save_weights in x]\n", DOTTED),
        ("from tools import *\n", DOTTED),
        ("exec(code)\n", DOTTED),
    ],
)
def test_a_name_is_imported_by_itself_where_it_stands_for_nothing_else(beside, expected):
    imported, name = expected
    check_transformed(SAVING.format("", beside), SAVED.format(imported, beside, name))


@pytest.mark.parametrize(
    ("imported", "name"),
    [
        BY_ITSELF,
        DOTTED,
        (f"from {MODELS} import save_weights as save\n", "save"),
        (f"from {MODELS} import load_model, save_weights\n", "save_weights"),
    ],
)
def test_what_is_imported_already_is_used(imported, name):
    check_transformed(SAVING.format(imported, ""), SAVED.format(imported, "", name))


def test_an_import_within_a_function_or_after_the_use_is_none_of_the_use():
    within = f"def f():\n    from {MODELS} import save_weights\n"
    check_transformed(SAVING.format("", within), SAVED.format(DOTTED[0], within, DOTTED[1]))
    later = f"from {MODELS} import save_weights\n"
    check_transformed(SAVING.format("", "") + later, SAVED.format(DOTTED[0], "", DOTTED[1]) + later)


def test_names_of_one_module_are_imported_together_and_once():
    check_transformed(
        """
        import os
        def first(model: Model):
            model.save_weights('w.ckpt')
        from keras.models import Sequential
        model = Sequential()
        model.load_weights('w.ckpt')
        model.save_weights('w.ckpt')
        """,
        f"""
        import os
        from {MODELS} import save_weights
        def first(model: Model):
            save_weights(model, 'w.ckpt')
        from keras.models import Sequential
        from {MODELS} import load_weights
        model = Sequential()
        load_weights(model, 'w.ckpt')
        save_weights(model, 'w.ckpt')
        """,
        unsafe=True,
    )
    check_transformed(
        SAVING.format("", "model.load_weights('w.ckpt')\n"),
        SAVED.format(
            f"from {MODELS} import load_weights, save_weights\n", "load_weights(model, 'w.ckpt')\n", "save_weights"
        ),
    )


def test_names_of_the_backend_come_by_an_alias():
    def written(name):
        return f"y = {name}.sum(x,\n{' ' * len(f'y = {name}.sum(')}axis=1) + {name}.int_shape(x)[0]\n"

    old, full = "import keras\n" + written("keras.backend"), "parallel_compat.legacy.backend"
    check_transformed(old, "import keras\nfrom parallel_compat.legacy import backend as K\n" + written("K"))
    # Where the name is another's, the module has its own.
    check_transformed(old + "K = 3\n", f"import keras\nimport {full}\n" + written(full) + "K = 3\n")
