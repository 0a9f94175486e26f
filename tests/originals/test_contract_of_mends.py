"""What the mends need of TensorFlow is read in their sources, and what is gone is named."""

from __future__ import annotations

import ast

import pytest

from parallel_compat.originals import contract
from parallel_compat.originals.mends import numpy as mended_numpy


def test_the_installed_tensorflow_has_all_of_it() -> None:
    assert len(contract.needed()) > 150
    assert contract.check() == []


def test_what_a_release_takes_away_is_named_with_its_mend(monkeypatch) -> None:
    from tensorflow.python.trackable import autotrackable

    name = "tensorflow.python.trackable.autotrackable"
    monkeypatch.delattr(autotrackable, "AutoTrackable")
    gone = contract.check()
    assert f"{name}.AutoTrackable is gone (originals/mends/gone_names.py)" in gone
    assert all(sentence.startswith(name) for sentence in gone)


def test_what_a_mend_reads_and_replaces_is_needed_and_what_it_sets_is_not() -> None:
    source = """
from tensorflow.python.framework import ops
from tensorflow.python.eager import context as eager

def apply(mends, session):
    ops.read()
    ops.written = 1
    mends.replace(eager.Context, "replaced", make)
    mends.around(eager.Context, "wrapped", function)
    mends.add(ops, added=1)
    session.other
"""
    assert set(contract._used(ast.parse(source))) == {
        "tensorflow.python.framework.ops",
        "tensorflow.python.eager.context",
        "tensorflow.python.framework.ops.read",
        "tensorflow.python.eager.context.Context",
        "tensorflow.python.eager.context.Context.replaced",
        "tensorflow.python.eager.context.Context.wrapped",
    }


@pytest.mark.parametrize(("is_numpy_2", "copy"), [(True, None), (False, False)])
def test_an_array_is_copied_only_where_it_must_be(is_numpy_2: bool, copy: bool | None, monkeypatch) -> None:
    """`copy=False` was a wish; numpy 2 says so with None, which numpy 1.26 refuses."""
    monkeypatch.setattr(mended_numpy, "_IS_NUMPY_2", is_numpy_2)
    assert mended_numpy._makes_arrays(lambda *args, **options: options, [1], copy=False) == {"copy": copy}
