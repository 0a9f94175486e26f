"""Processes that fetch are killed with -9 at many moments: an original is whole or not there, and nothing stays."""

from __future__ import annotations

import random
import time
from typing import TYPE_CHECKING

import made_up_originals
import pytest

from parallel_compat.originals import cache, cache_changes
from parallel_compat.originals.fetching import fetch

if TYPE_CHECKING:
    from pathlib import Path


def begun(*wheels_from: Path):
    process = made_up_originals.started("large", *wheels_from)
    assert process.stdout.readline() == "begins\n"
    return process


@pytest.mark.parametrize(("by", "times"), [("folder", 30), ("pip", 12)])
def test_killed_at_any_moment(pip_finds, by, times):
    given = (pip_finds,) if by == "folder" else ()
    process = begun(*given)
    start = time.monotonic()
    assert process.wait(60) == 0
    takes = time.monotonic() - start
    draw = random.Random(5)
    seen = {cache.COMPLETE: 0, cache.NOT_FETCHED: 0}
    for number in range(times):
        cache_changes.remove("large", lambda: None)
        process = begun(*given)
        # One moment of each of as many equal parts of the time that it takes.
        time.sleep((number + draw.random()) / times * takes)
        process.kill()
        process.communicate()
        seen[cache.state("large")] += 1
    assert seen[cache.NOT_FETCHED] > 0
    fetch("large", wheels_from=pip_finds)
    assert cache.state("large") == cache.COMPLETE
    assert made_up_originals.left_over() == []


def test_killed_while_it_replaces_what_is_damaged(wheels):
    place = fetch("large", wheels_from=wheels)
    draw = random.Random(6)
    for number in range(20):
        if cache.is_complete("large"):
            (place / cache.LIST_OF_FILES).unlink()
        process = begun(wheels)
        time.sleep((number + draw.random()) / 20 * 0.3)
        process.kill()
        process.communicate()
    fetch("large", wheels_from=wheels)
    assert cache.state("large") == cache.COMPLETE
    assert made_up_originals.left_over() == []


def test_killed_while_it_removes(wheels):
    """It is renamed first: what remains of it is no original any more."""
    fetch("large", wheels_from=wheels)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cache_changes.shutil, "rmtree", lambda *_, **__: None)  # as if killed before it
        assert cache_changes.remove("large", lambda: None)
    assert cache.state("large") == cache.NOT_FETCHED
    assert len(made_up_originals.left_over()) == 1
    fetch("large", wheels_from=wheels)
    assert made_up_originals.left_over() == []
