"""The examples in docstrings, in README.md, migration_guide.md and docs/ run; what they show is what comes out."""

from __future__ import annotations

import argparse
import ast
import doctest
import importlib
import json
import os
import pkgutil
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import parallel_compat
from parallel_compat.command import SUBCOMMANDS
from parallel_compat.names import results_page
from parallel_compat.names_command import counts
from tests import scripts

ROOT = Path(__file__).parents[1]
# What docstrings call `old_parallel.h5`.
OLD_FILE = ROOT / "tests" / "data" / "oracle" / "h5" / "sgd_even.parallel.h5"
STARTS: dict[str, list[str]] = {"parallel-compat": ["-m", "parallel_compat"], "python": []}
# Legacy names are answered to the files of a user's project, which a docstring is not: tests/run has what they do.
FOR_PROJECTS_ONLY = ("parallel_compat.run.install",)
MODULES = [module.name for module in pkgutil.walk_packages(parallel_compat.__path__, "parallel_compat.")]


class Block(NamedTuple):
    """A fenced block of a Markdown file.

    Attributes:
        file: the file's name.
        line: the line of the file that its text starts after.
        section: the `##` heading above it, empty before the first.
        language: what stands after the fence.
        text: what is in it.
        shared: whether the blocks that follow in the section start with it: the sentence above says "blocks share".
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
        found.append(Block(name, line, section, match[1], match[2], "blocks share" in paragraph))
    return found


DOCS = sorted(str(path.relative_to(ROOT)) for path in (ROOT / "docs").rglob("*.md"))
PAGES = ("README.md", "migration_guide.md", *DOCS)
BLOCKS = [block for name in PAGES for block in blocks(name)]
# What stands here is shared by all sections of its page.
INTRODUCTIONS = ("",)
# The pages of the rules are run by tests/migrate/test_rules.py, against the rules.
RULES = "docs/reference/rules.md"
CODE = [b for b in BLOCKS if b.language in ("python", "diff") and not b.shared and b.file != RULES]


def name_of(block: Block) -> str:
    return f"{block.file}:{block.line}"


def slow_but_on_the_first_page(blocks: list[Block]) -> list[Any]:
    """Return what is run, marked as slow where it is not on the page that each newcomer reads."""
    return [block if block.file == PAGES[0] else pytest.param(block, marks=pytest.mark.slow) for block in blocks]


@pytest.mark.parametrize("name", [name for name in MODULES if name not in FOR_PROJECTS_ONLY])
def test_docstrings(name, tmp_path, monkeypatch):
    if name.endswith(".opencv_2"):
        pytest.importorskip("cv2", reason="OpenCV is not among what the tests install: it takes 72 MB")
    monkeypatch.chdir(tmp_path)
    shutil.copy(OLD_FILE, "old_parallel.h5")
    module = importlib.import_module(name)
    assert doctest.testmod(module, raise_on_error=False).failed == 0


def test_no_example_in_a_docstring_is_skipped():
    assert [path for path in Path(parallel_compat.__file__).parent.rglob("*.py") if "+SKIP" in path.read_text()] == []


def test_every_public_name_has_an_example():
    without = [name for name in parallel_compat.__all__ if ">>>" not in (getattr(parallel_compat, name).__doc__ or "")]
    assert without == ["ParallelModel", "install"]  # shown where `parallelize` is; one process has one Keras


@pytest.mark.parametrize("block", slow_but_on_the_first_page(CODE), ids=name_of)
def test_block_runs(block, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    copy_files_of_the_project(block.text, tmp_path)
    if block.file == "README.md":  # as a newcomer runs it: copied into a file, in a Python of its own
        (tmp_path / "copied.py").write_text(block.after(), encoding="utf-8")
        scripts.python("copied.py", folder=tmp_path).check_returncode()
        return
    beginning = [
        other
        for other in BLOCKS
        if other.shared and other.file == block.file and other.section in (*INTRODUCTIONS, block.section)
    ]
    namespace: dict[str, object] = {"__name__": "__main__"}
    for part in (*beginning, block):
        # As many empty lines in front as the block has lines above it: an error names the line of the file.
        exec(compile("\n" * part.line + part.after(), ROOT / part.file, "exec"), namespace)


@pytest.mark.parametrize("block", [block for block in CODE if block.language == "diff"], ids=name_of)
def test_both_sides_of_a_diff_are_python(block):
    assert ast.dump(ast.parse(block.before())) != ast.dump(ast.parse(block.after()))


@pytest.mark.parametrize(
    "block", slow_but_on_the_first_page([block for block in BLOCKS if block.language == "console"]), ids=name_of
)
def test_commands_print_what_the_page_shows(block, tmp_path):
    """Lines with a `$` are commands, run one after the other in one folder; a line `...` stands for any lines."""
    copy_files_of_the_project(block.text, tmp_path)
    environment = {
        **os.environ, "PYTHONPATH": str(ROOT), "PYTHONIOENCODING": "utf-8", "PYTHONUNBUFFERED": "1", "COLUMNS": "80",
        "TF_CPP_MIN_LOG_LEVEL": "3",
    }  # fmt: skip
    commands = re.findall(r"^\$ (.+)\n((?:(?!\$ ).*\n)*)", block.text, re.MULTILINE)
    assert commands
    for command, shown in commands:
        program, *words = shlex.split(command)
        done = _run([*STARTS[program], *words], tmp_path, environment, fork=block.file == PAGES[0])
        # TensorFlow's own log, which the pages leave out: it differs from machine to machine.
        printed = re.sub(
            r"^(WARNING: All log messages before absl|[IWE]\d{4} \d|WARNING:absl:).*\n", "", done.stdout, flags=re.M
        )
        lines = ["(?:.*\n)*" if line == "...\n" else re.escape(line) for line in shown.splitlines(keepends=True)]
        assert re.fullmatch("".join(lines), printed), f"$ {command}\n{printed}"


def _run(words: list[str], folder: Path, environment: dict[str, str], fork: bool) -> subprocess.CompletedProcess[str]:
    if not fork:
        return subprocess.run(
            [sys.executable, *words], cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            encoding="utf-8", check=False, timeout=600,
        )  # fmt: skip
    if words[:3] == ["-m", "parallel_compat", "run"]:
        return scripts.run(*words[3:], folder=folder, together=True, **environment)
    return scripts.python(*words, folder=folder, together=True, **environment)


def commands_of(name: str) -> Iterator[tuple[str, list[str]]]:
    """Yield each `parallel-compat` command of a page, in blocks and in sentences: the subcommand, its options."""
    text = (ROOT / name).read_text(encoding="utf-8").replace("\\|", "|")
    for match in re.finditer(r"parallel-compat ([a-z]+)((?: +[^\s`|()]+)*)", text):
        options = []
        for word in match[2].split():
            if re.search(r"(\.py|SCRIPT)$", word):
                break  # the rest is of the script
            if word.startswith("-"):
                options.append(word.rstrip(".,;:").partition("=")[0])
        if match[1] in SUBCOMMANDS:
            yield match[1], options


def options_of(subcommand: str) -> set[str]:
    parser = argparse.ArgumentParser()
    importlib.import_module(SUBCOMMANDS[subcommand][0]).add_arguments(parser)
    groups = [action.choices for action in parser._actions if isinstance(action, argparse._SubParsersAction)]
    parsers = [parser, *(each for choices in groups for each in choices.values())]
    return {option for each in parsers for option in each._option_string_actions}


@pytest.mark.parametrize("page", [*PAGES, "SECURITY.md", "CONTRIBUTING.md", "ARCHITECTURE.md", "CHANGELOG.md"])
def test_commands_have_options_that_exist(page):
    found = list(commands_of(page))
    assert found or page not in PAGES[:2]
    for subcommand, options in found:
        assert set(options) <= options_of(subcommand), f"{page}: parallel-compat {subcommand} {options}"


def copy_files_of_the_project(text, folder):
    """Put the files that a block names where it looks for them: what it writes is not written here."""
    for part in ("examples/old_project", "examples/old_script", "tests/data/oracle/h5", "tests/data/old"):
        if f"{part}/" in text:
            shutil.copytree(ROOT / part, folder / part)


def test_the_page_of_names_has_their_counts():
    assert "\n".join(["", *counts(), ""]) in (ROOT / "docs" / "reference" / "names.md").read_text(encoding="utf-8")


def test_the_page_of_the_api_has_each_public_name():
    page = (ROOT / "docs" / "reference" / "api.md").read_text(encoding="utf-8")
    shown = re.findall(r"^::: (\S+)$", page, re.MULTILINE)
    assert sorted(path.rpartition(".")[2] for path in shown) == sorted(parallel_compat.__all__)
    for path in shown:
        module, _, name = path.rpartition(".")
        assert getattr(importlib.import_module(module), name) is getattr(parallel_compat, name)


def test_the_page_of_results_is_written_from_the_tables():
    assert (ROOT / "docs" / "reference" / "differences.md").read_text(encoding="utf-8") == results_page.page()


def test_the_page_of_compatibility_is_written_from_its_data():
    written = subprocess.run(
        [sys.executable, str(ROOT / "docs" / "evidence" / "compatibility.py"), "--check"],
        check=False,
        timeout=300,
        cwd=ROOT,
    )
    assert written.returncode == 0, "run docs/evidence/compatibility.py"
    data = json.loads((ROOT / "docs" / "evidence" / "compatibility.json").read_text(encoding="utf-8"))
    assert len({one["repository"] for one in data["projects"]}) == len(data["projects"])
    for one in data["projects"]:
        assert re.fullmatch("[0-9a-f]{40}", one["commit"]), one
        assert all(one[part] for part in ("name", "kind", "keras", "tried", "run", "migrated")), one


def test_the_page_of_run_counts_what_is_equal():
    page = (ROOT / "docs" / "guide" / "run.md").read_text(encoding="utf-8")
    evidence = (ROOT / "docs" / "evidence" / "compatibility.md").read_text(encoding="utf-8")
    counted = dict(re.findall(r"^\| ([\w.-]+) \| (\d+ of \d+) \| (?:\d+ of|not recorded)", evidence, re.MULTILINE))
    assert dict(re.findall(r"^\| `([\w.-]+)` \| .* \| (\d+ of \d+) \|$", page, re.MULTILINE)) == counted != {}


def test_ratios_of_benchmarks_follow_from_their_columns():
    """What a reader can check with the table alone: quotients, differences, multiples of another column or row."""
    text = (ROOT / "docs" / "evidence" / "benchmarks.md").read_text(encoding="utf-8")
    checked = 0
    for table in re.findall(r"(?:^\|.*\n)+", text, re.MULTILINE):
        header, _, *rows = ([cell.strip() for cell in row.strip("|\n").split("|")] for row in table.splitlines())
        wanted = []
        for row, place in ((row, place) for row in rows for place in range(1, len(header)) if row[place]):
            name, printed = header[place], row[place]
            if name in ("ratio", "more"):
                first, second = map(float, row[place - 2 : place])
                wanted.append((printed, second / first if name == "ratio" else second - first))
            elif name == "x Keras":
                wanted.append((printed, float(row[place - 1]) / float(row[1])))
            elif name.startswith("x "):
                wanted.append((printed, float(row[header.index("`fit`")]) / float(row[header.index(name[2:])])))
            elif name == "time":
                (plain,) = (one for one in rows if one[:2] == [row[0], "MirroredStrategy"])
                wanted.append((printed.removesuffix(" x"), float(row[2]) / float(plain[2])))
        for printed, value in wanted:
            digits = len(printed.partition(".")[2])
            assert abs(float(printed) - value) <= 0.5001 * 10**-digits, (printed, value, table)
        checked += len(wanted)
    assert checked > 20


def test_the_entry_of_the_guide_names_each_of_its_pages():
    text = (ROOT / "migration_guide.md").read_text(encoding="utf-8")
    listed = text[text.index("The pages of the guide:") :]
    for page in (ROOT / "docs" / "guide").glob("*.md"):
        assert f"(docs/guide/{page.name})" in listed, page.name


def test_each_page_is_reached_from_the_readme():
    seen, following = set(), [ROOT / "README.md"]
    while following:
        page = following.pop()
        if page not in seen:
            seen.add(page)
            links = re.findall(r"\]\((?!https?:)([^)#]+)", page.read_text(encoding="utf-8"))
            following += [path for link in links if (path := (page.parent / link).resolve()).suffix == ".md"]
    assert {ROOT / page for page in DOCS} <= seen


def test_the_readme_is_short():
    assert len((ROOT / "README.md").read_text(encoding="utf-8").splitlines()) <= 150


def test_the_versions_are_those_of_their_file():
    done = subprocess.run([sys.executable, str(ROOT / "docs" / "versions.py"), "--check"], check=False, timeout=60)
    assert done.returncode == 0, "run docs/versions.py"


(TRY_IT,) = (block.text.splitlines() for block in BLOCKS if block.file == "README.md" and block.language == "bash")


def test_ci_makes_the_environment_of_the_readme():
    ci = re.sub(r'"\$venv([^"]*)"', r"venv\1", (ROOT / ".ci" / "run").read_text(encoding="utf-8"))
    assert TRY_IT[0].partition('".[examples]"')[0] in ci


@pytest.mark.parametrize("command", TRY_IT[1:])
def test_the_first_commands_of_the_readme(command, tmp_path):
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    program, *words = shlex.split(command, comments=True)
    done = _run([*STARTS[program], *words], tmp_path, {}, fork=True)
    assert done.returncode == 0, done.stdout[-3000:]
    assert re.search(r"accuracy 0\.9\d", done.stdout)


TRAINED = """import numpy as np
from keras.layers import LSTM, Dense
from keras.models import Sequential

model = Sequential([LSTM(4, input_shape=(5, 3)), Dense(1)])
model.compile("sgd", "mse")
model.fit(np.random.rand(32, 5, 3), np.random.rand(32, 1), batch_size=16, verbose=0)
"""
SHELL = [block for block in BLOCKS if block.language == "bash"]


def test_each_block_for_a_shell_is_run():
    """Those of one line with an output are run in tests/compare and tests/migrate/test_verify.py."""
    of_commands = [block for block in SHELL if block.file in ("docs/guide/compare.md", "docs/guide/originals.md")]
    short = [block.text for block in of_commands if block.text.count("\n") == 1 and "originals" not in block.text]
    assert short == ["parallel-compat compare train.py\n", 'parallel-compat migrate --verify "train.py --epochs 1"\n']
    assert len(of_commands) == 6


@pytest.mark.slow  # trains, or downloads up to 260 MB
@pytest.mark.parametrize(
    ("page", "start"),
    [
        ("docs/guide/compare.md", "parallel-compat recorder"),
        *(("docs/guide/originals.md", f"{each} ") for each in ("parallel-compat originals  ", "python -m pip")),
        ("docs/guide/originals.md", "parallel-compat originals remove"),
    ],
)
def test_commands_of_a_guide_run(page, start, tmp_path):
    """In a project with a migrated copy. `run` is the old environment; originals have a cache of its own."""
    (block,) = [block for block in SHELL if block.file == page and block.text.startswith(start)]
    for path in (tmp_path / "train.py", tmp_path / "migrated" / "train.py"):
        path.parent.mkdir(exist_ok=True)
        path.write_text(TRAINED)
    variables = {**os.environ, "PYTHONPATH": str(ROOT), "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    before = ["parallel-compat migrate --write --era keras-2.2.4 migrated"]
    if "originals" in page:
        variables["PARALLEL_COMPAT_ORIGINALS"] = str(tmp_path / "cache")
        before = ["parallel-compat originals fetch keras-2.2.4"] * ("remove" in start)
    for line in [*before, *filter(None, block.text.splitlines())]:
        old = "parallel-compat run --era keras-2.2.4 record"
        command = line.replace("python record", old) if "old environment" in line else line
        done = subprocess.run(
            command, shell=True, cwd=tmp_path, env=variables, capture_output=True, text=True, check=False, timeout=900
        )
        assert done.returncode == 0, f"{command}\n{done.stdout[-2000:]}{done.stderr[-3000:]}"


@pytest.mark.parametrize("page", PAGES)
def test_links_between_files_and_sections_lead_somewhere(page):
    text = (ROOT / page).read_text(encoding="utf-8")
    for target in re.findall(r"\]\((?!https?:)([^)]+)\)", text):
        path, _, section = target.partition("#")
        linked = (ROOT / page).parent / path if path else ROOT / page
        assert linked.exists(), target
        if section:
            headings = re.findall(r"^#+ (.+)$", linked.read_text(encoding="utf-8"), re.MULTILINE)
            assert section in {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}, (
                target
            )


def test_no_public_name_is_shadowed_by_a_module():
    """A module `parallel_compat.parallelize` would take the place of the function once it is imported."""
    folder = Path(parallel_compat.__file__).parent
    assert not {path.stem for path in folder.iterdir()} & set(parallel_compat.__all__)
