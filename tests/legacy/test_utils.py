"""Helpers of `keras.utils` and `keras.applications` that old code imports."""

from __future__ import annotations

import itertools

import pytest
from keras.src.applications.imagenet_utils import obtain_input_shape

from parallel_compat.legacy.utils import _obtain_input_shape

SHAPES = (None, (32, 32, 3), (224, 224, 3), (8, 300, 3), (None, None, 3), (3, None, None), (5, 32, 32), (7, 7))


def answer(function, *arguments):
    try:
        return function(*arguments)
    except ValueError:
        return "refused"


@pytest.mark.filterwarnings("ignore:This model usually expects")
def test_shapes_of_pictures_are_those_of_keras():
    cases = itertools.product(SHAPES, ["channels_first", "channels_last"], [True, False], [None, "imagenet"])
    found = {(shape, *rest): answer(_obtain_input_shape, shape, 224, 32, *rest) for shape, *rest in map(tuple, cases)}
    assert found == {(shape, *rest): answer(obtain_input_shape, shape, 224, 32, *rest) for shape, *rest in found}
    assert "refused" in found.values()
