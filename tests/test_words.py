"""Pages, messages and docstrings are read once: turns that need a second reading are found by their words."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "parallel_compat").rglob("*.tsv")])
SOURCES = sorted((ROOT / "parallel_compat").rglob("*.py"))
# What is written, and what is meant.
TURNS = {
    r"\bas then\b": "as before",
    r"\b(?:results|predictions|default|values|names|years) of then\b": "old",
    r"(?<!sixth )\bof the (?:time|day)(?=[,.;:)])": "old",
    r"\bof the user's(?=[.,;:)])": "the user's ...",
    r"\bof (?:one's|your|a project's) own\b(?! \w)": "custom",
    r"\b(?:layers?|classe?s?|loops?|schedules?|cells?|losse?s?) of (?:one's|your) own\b": "custom",
    r"\bstays? otherwise\b": "differs",
    r"\botherwise than\b": "differently from",
    r"\b(?:calls?|spells?|computes?|predicts?) \w+ otherwise\b": "differently",
    r"\bwithout a word\b": "silently",
    r"\bin the place of\b": "instead of",
    r"\b(?:is|are) told (?:by|of|in|so)\b": "is said, is found",
    r"\bis left(?! (?:alone|out|over|to|with|in|unchanged))\b": "remains",
    r"\bhand(?:s|ed)? (?:it |them )?over (?:itself|as)\b": "passes",
    r"\bbegins? anew\b": "starts again",
    r"\bfor want of\b": "without",
    r"\bwhich (?:\w+ )?has not(?=[.,;:)]|$)": "does not have",
    r"\bby (?:its|their) names? alone\b": "only by name",
    r"\bcounts? alike\b": "has the same weight",
    r"\bnumbers? of an array of one\b": "one-element array",
    r"\bis a guess\.?\)": "is assumed to be",
}
# Sentences that needed a second reading; a part of each.
SENTENCES = (
    "ran into a time limit on a busy machine",
    "a model that it makes parallel is one of this package",
    "an import once for all names that are called through it",
    "A seed repeats the run of its time",
    "A file that names nothing old may be today's",
    "the name is there and is that thing",
    "has one layer for the whole single model",
    "only plain arrays and text come out",
    "means today what it meant then",
    "known to keep the samples of a batch apart",
    "loads nothing, without a word",
    '"Of" are the eras that computed it',
    "both have two axes, and are floats",
    "newer code means the default of today",
    "is not Keras: it is not installed",
    "for multi-GPU usage to be effective. Expected",
    "computes here what was recorded there",
    "With the right names an old script runs",
    "What has no counterpart is listed with its place",
    "functions that stand for methods of models ask",
    "that a program made itself and that the code is in",
)


def words(text: str) -> str:
    return " ".join(text.split())


def strings(path: Path) -> list[tuple[int, str]]:
    """Return each text of a module with its line: docstrings and messages, those with fields in them as one."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    parts = {id(part) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for part in node.values}
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            text = "".join(str(part.value) if isinstance(part, ast.Constant) else "X" for part in node.values)
            found.append((node.lineno, text))
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in parts:
            found.append((node.lineno, node.value))
    return found


def faults(text: str) -> list[str]:
    """Return the turns that a text has, each with what is meant."""
    text = words(text)
    turns = [f"{match[0]!r}: {meant}" for turn, meant in TURNS.items() if (match := re.search(turn, text))]
    return turns + [sentence for sentence in SENTENCES if sentence in text]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_pages(page):
    assert faults(page.read_text(encoding="utf-8")) == []


def test_docstrings_and_messages():
    found = {}
    for path in SOURCES:
        for line, text in strings(path):
            if faults(text):
                found[f"{path.relative_to(ROOT)}:{line}"] = faults(text)
    assert found == {}


@pytest.mark.parametrize(
    ("text", "is_found"),
    [
        ("The function\n    computes as then.", True),
        ("It loads nothing without a word, then stops.", True),
        ("Files without old names are left alone; the source is left alone.", False),
        ("The processes of the user's script.", False),
        ("One of the user's.", True),
        ("The first, then the second.", False),
        ("A seed repeats the run of its time: ...", True),
    ],
)
def test_turns_are_found_and_plain_sentences_are_not(text, is_found):
    assert bool(faults(text)) == is_found
