"""The examples in docstrings, in README.md and in migration_guide.md run."""

from __future__ import annotations

import ast
import doctest
import importlib
import pkgutil
import re
from pathlib import Path
from typing import NamedTuple

import pytest

import parallel_compat

ROOT = Path(__file__).parents[1]
# Legacy names are answered to the files of a user's project, which a docstring is not: tests/run has what they do.
FOR_PROJECTS_ONLY = ("parallel_compat.legacy.install",)
MODULES = [module.name for module in pkgutil.walk_packages(parallel_compat.__path__, "parallel_compat.")]


class Block(NamedTuple):
    """A fenced block of a Markdown file.

    Attributes:
        file: the file's name.
        line: the line of the file that its text starts after.
        section: the `##` heading above it, empty before the first.
        language: what stands after the fence.
        text: what is in it.
        shared: whether the blocks that follow in the section start with it: the sentence above says "share".
    """

    file: str
    line: int
    section: str
    language: str
    text: str
    shared: bool

    def after(self) -> str:
        """The code of today: in a diff, all but the lines with a minus."""
        return self._without("-")

    def before(self) -> str:
        """The code of old: in a diff, all but the lines with a plus."""
        return self._without("+")

    def _without(self, sign: str) -> str:
        if self.language != "diff":
            return self.text
        # A line left out is left empty, so that an error names the line of the file.
        return "".join(
            "\n" if line.startswith(sign) else line[1:] or "\n" for line in self.text.splitlines(keepends=True)
        )


def blocks(name: str) -> list[Block]:
    """Read the fenced blocks of a Markdown file."""
    text = (ROOT / name).read_text(encoding="utf-8")
    found = []
    for match in re.finditer(r"^```(\w+)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL):
        above = text[: match.start()]
        headings = re.findall(r"^## (.+)$", above, re.MULTILINE)
        paragraph = above.rstrip().rsplit("\n\n", 1)[-1]
        line = text.count("\n", 0, match.start(2))
        section = headings[-1] if headings else ""
        found.append(Block(name, line, section, match[1], match[2], "share" in paragraph))
    return found


PAGES = ("README.md", "migration_guide.md")
BLOCKS = [block for name in PAGES for block in blocks(name)]
# The pages of the rules are run by tests/migrate/test_rules.py, against the rules.
RULES = "Rules of `parallel-compat migrate`"
CODE = [b for b in BLOCKS if b.language in ("python", "diff") and not b.shared and b.section != RULES]


def name_of(block: Block) -> str:
    return f"{block.file}:{block.line}"


@pytest.mark.parametrize("name", [name for name in MODULES if name not in FOR_PROJECTS_ONLY])
def test_docstrings(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "tests").symlink_to(ROOT / "tests")  # which examples read files of
    module = importlib.import_module(name)
    assert doctest.testmod(module, raise_on_error=False).failed == 0


def test_every_public_name_has_an_example():
    without = [name for name in parallel_compat.__all__ if ">>>" not in (getattr(parallel_compat, name).__doc__ or "")]
    assert without == ["ParallelModel", "uninstall"]  # shown where `parallelize` and `install` are


@pytest.mark.parametrize("block", CODE, ids=name_of)
def test_block_runs(block, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    beginning = [
        other for other in BLOCKS if other.shared and other.file == block.file and other.section in ("", block.section)
    ]
    namespace: dict[str, object] = {"__name__": "__main__"}
    for part in (*beginning, block):
        # As many empty lines in front as the block has lines above it: an error names the line of the file.
        exec(compile("\n" * part.line + part.after(), ROOT / part.file, "exec"), namespace)


@pytest.mark.parametrize("block", [block for block in CODE if block.language == "diff"], ids=name_of)
def test_both_sides_of_a_diff_are_python(block):
    assert ast.dump(ast.parse(block.before())) != ast.dump(ast.parse(block.after()))


def test_ci_installs_and_tests_as_the_readme_says():
    commands = [block.text.strip() for block in BLOCKS if block.file == "README.md" and block.language == "bash"]
    assert len(commands) == 2
    ci = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    assert commands[1] in re.sub(r'"\$venv([^"]*)"', r"venv\1", ci)


@pytest.mark.parametrize("page", PAGES)
def test_links_between_files_and_sections_lead_somewhere(page):
    text = (ROOT / page).read_text(encoding="utf-8")
    for target in re.findall(r"\]\((?!https?:)([^)]+)\)", text):
        path, _, section = target.partition("#")
        linked = ROOT / path if path else ROOT / page
        assert linked.exists(), target
        if section:
            headings = re.findall(r"^#+ (.+)$", linked.read_text(encoding="utf-8"), re.MULTILINE)
            assert section in {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}, (
                target
            )
