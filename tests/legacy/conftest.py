from __future__ import annotations

import pytest

import parallel_compat


@pytest.fixture
def legacy_names():
    """The legacy names are on, for the code of the test as for any user's."""
    with parallel_compat.legacy_names():
        yield


@pytest.fixture(params=["keras-2.2.4", "tf.keras-1.15", "tf.keras-2.2"])
def era(request):
    """Each era in its turn: its name, whose legacy names are on, with names of layers counted anew."""
    with parallel_compat.legacy_names(era=request.param):
        from keras import backend

        backend.clear_session()
        yield request.param
