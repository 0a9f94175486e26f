"""A catalogue of small originals, and a cache of its own, for each test that asks for them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import made_up_originals
import pytest

from parallel_compat.originals import cache, catalogue

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache; its folder is not there yet."""
    monkeypatch.setenv(cache.VARIABLE, str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def wheels(tmp_path: Path, own_cache: Path) -> Iterator[Path]:
    """The folder with the wheels of the made-up originals, which are in the catalogue."""
    folder = tmp_path / "given"
    folder.mkdir()
    real = dict(catalogue.ORIGINALS)
    made_up_originals.write(folder)
    yield folder
    catalogue.ORIGINALS.clear()
    catalogue.ORIGINALS.update(real)


@pytest.fixture
def pip_finds(monkeypatch: pytest.MonkeyPatch, wheels: Path) -> Path:
    """The same folder, as the one place that pip knows."""
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(wheels))
    return wheels
