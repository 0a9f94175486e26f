"""The site: its link checker finds what is broken, and its pages are all in the navigation."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


def load(name):
    """Load a program of `docs/`, which is no package."""
    spec = importlib.util.spec_from_file_location(name, ROOT / "docs" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    ("page", "fault"),
    [
        ('<h2 id="one"></h2><a href="#one">', None),
        ('<a href="other/">', None),
        ('<a href="other/#there">', None),
        ('<a href="https://example.org/gone">', None),
        ('<a href="missing/">', "no file for missing/"),
        ('<a href="#two">', "no section for #two"),
        ('<a href="other/#two">', "no section for other/#two"),
        ('<img src="missing.svg">', "no file for missing.svg"),
        ('<script src="https://example.org/a.js">', "loads https://example.org/a.js"),
        ('<link rel="stylesheet" href="//example.org/a.css">', "loads //example.org/a.css"),
    ],
)
def test_broken_links_are_found(page, fault, tmp_path):
    (tmp_path / "other").mkdir()
    (tmp_path / "index.html").write_text(page)
    (tmp_path / "other" / "index.html").write_text('<h2 id="there"></h2><a href="..">')
    assert load("check_links").faults(tmp_path) == ([f"index.html: {fault}"] if fault else [])


def test_a_folder_without_pages_is_a_fault(tmp_path):
    assert load("check_links").faults(tmp_path) == [f"{tmp_path}: no pages"]


def test_each_page_is_in_the_navigation():
    text = (ROOT / "mkdocs.yml").read_text(encoding="utf-8").partition("\nnav:\n")[2]
    for page in (ROOT / "docs").rglob("*.md"):
        assert str(page.relative_to(ROOT / "docs")) in text, page


def test_links_that_leave_the_folder_of_the_pages_are_rewritten():
    hooks = pytest.importorskip("mkdocs", reason="the extra `docs` has it") and load("site_hooks")
    text = "[a](../../README.md) [b](../../examples) [c](../reference/rules.md#imports) [d](https://example.org)"
    assert hooks._rewritten(text, "guide/compare.md", "https://host/repository") == (
        "[a](../index.md) [b](https://host/repository/blob/main/examples) [c](../reference/rules.md#imports) "
        "[d](https://example.org)"
    )
    with pytest.raises(hooks.PluginError, match=r"guide/compare\.md: the link missing\.md leads nowhere"):
        hooks._rewritten("[a](missing.md)", "guide/compare.md", "https://host/repository")
