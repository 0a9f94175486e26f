from __future__ import annotations

import pytest

import parallel_compat


@pytest.fixture
def legacy_names():
    """The legacy names are on, for the code of the test as for any user's."""
    with parallel_compat.legacy_names():
        yield
