"""What a package index shows and ships: links that work there, and one version everywhere."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

import parallel_compat

ROOT = Path(__file__).parents[1]
PYPROJECT = (ROOT / "pyproject.toml").read_text(encoding="utf-8")


def test_links_and_pictures_of_the_readme_are_absolute_on_a_package_index():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    rules = re.findall(r"^pattern = '(.+)'\nreplacement = '(.+)'$", PYPROJECT, re.MULTILINE)
    assert len(rules) == 2
    for pattern, replacement in rules:
        text = re.sub(pattern, replacement, text)
    targets = re.findall(r"\]\(([^)]+)\)", text)
    assert targets
    assert [target for target in targets if not target.startswith(("https://", "#"))] == []
    pictures = re.findall(r"!\[[^]]*\]\(([^)]+)\)", text)
    assert pictures
    assert all(picture.startswith("https://raw.githubusercontent.com/") for picture in pictures)


def test_what_the_sdist_names_is_there_and_has_no_test_data():
    (listed,) = re.findall(r"\[tool\.hatch\.build\.targets\.sdist\]\ninclude = \[(.*?)\n\]", PYPROJECT, re.DOTALL)
    included = re.findall(r'"/([^"]+)"', listed)
    assert {"parallel_compat", "LICENSE", "*.md"} <= set(included)
    assert "tests" not in included
    assert [path for path in included if path != "*.md" and not (ROOT / path).exists()] == []


def test_the_version_is_the_same_everywhere():
    (version,) = re.findall(r'^version = "(.+)"$', PYPROJECT, re.MULTILINE)
    assert parallel_compat.__version__ == version
    assert f"\nversion: {version}\n" in (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert re.search(r"^## \[(.+?)\]", changes, re.MULTILINE)[1] == version
    assert len(changes.splitlines()) <= 80


@pytest.mark.skipif(sys.platform == "win32", reason="the commands are run on a pseudo-terminal")
def test_the_picture_is_what_the_commands_print():
    pytest.importorskip("pty")
    done = subprocess.run([sys.executable, ROOT / "docs" / "terminal_svg.py", "--check"], check=False, timeout=300)
    assert done.returncode == 0, "run `python docs/terminal_svg.py`"
    picture = (ROOT / "docs" / "terminal.svg").read_text(encoding="utf-8")
    assert "@font-face" not in picture  # it loads nothing
