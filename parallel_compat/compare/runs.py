"""The runs of a comparison: the original twice, and what it is compared with, each in a copy of the project.

The original's second run begins with weights that are moved by their last digit and takes its sums in another order
(oneDNN, one thread): how far it ends from the first run is what rounding does in this project.
"""

from __future__ import annotations

import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from parallel_compat.compare import recorder_command
from parallel_compat.compare.recordings import Recording, read_recording
from parallel_compat.names.eras import Era
from parallel_compat.names.project_era import era_of_project
from parallel_compat.names.project_files import files_of_project
from parallel_compat.names.project_sources import sources_of_process
from parallel_compat.recover.errors import without_colours

_FLAGS = ["--steps", "5", "--masks", "--seed"]
_MB = 1_000  # of the arrays in a recording that is made here, however well they can be compressed
_LINES = 12  # of a script that stopped
_COMPARED = ("steps", "losses", "evaluate", "predict")  # of a model in a recording
_COPIED, _ALL_COPIED, _MOST_FILES = 64_000_000, 1_000_000_000, 50_000
_DATA_FOLDER = 1_000  # files from which on a folder without sources is linked
_KERAS = ("keras", "tensorflow", "tf_keras")
_LEFT_OUT = frozenset(("__pycache__", "node_modules", "site-packages", ".git", ".hg", ".tox", ".venv", "venv"))
# The original's second run: sums in another order.
_OTHER_SUMS = {"TF_ENABLE_ONEDNN_OPTS": "1", "TF_NUM_INTRAOP_THREADS": "1", "OMP_NUM_THREADS": "1"}


class CannotRun(Exception):
    """A run that gives nothing to compare; its text is a sentence for the user."""


@dataclass(frozen=True)
class Script:
    """What is run."""

    path: Path  # the script
    arguments: tuple[str, ...]  # its arguments
    root: Path  # the folder that holds its project

    @classmethod
    def of(cls, path: str, arguments: Sequence[str]) -> Script:
        """Find a script's project: the folder of git, the one that the command is given in, or one with a README.

        If the script imports the package that it lies in, the project is the folder that holds the package.
        """
        script = Path(path).resolve()
        root = Path(files_of_project(str(script.parent), os.getcwd()).root).resolve()
        files = cls(script, (), root).files()
        while root / "__init__.py" in files:
            root = root.parent
        return cls(script, tuple(arguments), root)

    def files(self) -> list[Path]:
        """Return the sources that it reads: its own, and those of the project that it imports."""
        found = sources_of_process(str(self.path), None, str(self.root)).files
        return [self.path, *(path for each in found if (path := Path(each).resolve()) != self.path)]

    def sources(self) -> str:
        """Return the texts of these files."""
        return "\n".join(each.read_text("utf-8", "replace") for each in self.files())


def original_era(script: str, asked: str | None) -> Era:
    """Return the original of a script."""
    if not os.path.isfile(script):
        raise CannotRun(f"expected a script. Received: {script}, which is not a file")
    decision = era_of_project(script=script)
    era = decision.era if asked is None else Era(asked)
    if era is Era.TODAY:
        raise CannotRun(
            f"expected a script of old Keras, which has an original. Received: {script}: {decision.reason}. "
            "If it is old, name its Keras with --era"
        )
    return era


class Runs:
    """Runs of one script, each in a folder of its own, which are removed in the end.

    Args:
        replicas: how many devices are pretended; None for those that there are.
        most: after how many steps a run ends; None for the script's own end.
    """

    def __init__(
        self, script: Script, era: Era, *, replicas: int | None = None, most: int | None = None, verbose: bool = False
    ) -> None:
        self.script, self.era = script, era
        self.seconds: dict[str, float] = {}
        self.failed: list[str] = []  # a sentence for each run that ended with an error
        self._replicas, self._most, self._verbose = replicas, most, verbose
        self._temporary = tempfile.TemporaryDirectory(prefix="parallel-compat-")
        self._folder = Path(self._temporary.name)
        self._recorder = str(recorder_command.write(self._folder))

    def __enter__(self) -> Runs:
        return self

    def __exit__(self, *given: object) -> None:
        self._temporary.cleanup()

    def original(self) -> Recording:
        """Run the script on its original."""
        return self._run(f"the original ({self.era.value})", "original", self._copy(), _FLAGS, self.era)

    def recorded(self, recording: Recording) -> Recording:
        """Run the script where it lies, each step from a recording's weights and on its batch."""
        steps = max((len(model["steps"]) for model in recording.models), default=1)
        recorder = ["--steps", str(max(steps, 1)), "--replay", os.path.abspath(recording.path)]
        facts = recording.facts
        recorder += ["--no-dropout"] if facts.get("no_dropout") else ["--masks"] if facts.get("masks") else []
        return self._run(self.script.path.name, "here", self.script.root, recorder, self.era)

    def original_again(self) -> Recording:
        """Run it on its original once more, with other sums."""
        recorder = ["--nudge", *self._from_original()]
        name = "the original with sums in another order"
        return self._run(name, "again", self._copy(), recorder, self.era, _OTHER_SUMS)

    def migrated(self, *options: str, name: str = "the migrated copy") -> tuple[Recording, dict[str, Any]]:
        """Run a copy of the project that `migrate` rewrites; return its report, too."""
        copy = self._copy()
        command = [sys.executable, "-m", "parallel_compat", "migrate", "--write", "--format", "json", *options]
        done = subprocess.run([*command, str(copy)], capture_output=True, text=True, check=False)
        try:
            report: dict[str, Any] = json.loads(done.stdout)
        except ValueError:
            raise CannotRun(f"`migrate` ended with {done.returncode}:\n{_end(done.stderr)}") from None
        try:
            return self._run(name, "here", copy, self._from_original(), Era.TODAY), report
        except CannotRun as error:
            left = sum(finding["status"] == "unsafe" for finding in report["findings"])
            if not left:
                raise
            raise CannotRun(
                f"{error}\n`migrate` left {left} places that it rewrites only with --unsafe: add it"
            ) from None

    def folder(self, folder: Path) -> Recording:
        """Run the script of the same name in a user's folder."""
        within = self.script.path.relative_to(self.script.root)
        inside = next((each for each in (within, Path(within.name)) if (folder / each).is_file()), None)
        if inside is None:
            raise CannotRun(f"expected {within} in the folder of `--with`. Received: {folder}, which has no such file")
        other = Runs(Script(folder / inside, self.script.arguments, folder), Era.TODAY, replicas=self._replicas)
        with other:
            return self._run(f"{folder}", "here", other._copy(), self._from_original(), Era.TODAY, inside=inside)

    def _from_original(self) -> list[str]:
        return [*_FLAGS, "--free", "--max-mb", str(_MB), "--replay", str(self._folder / "original.h5")]

    def _copy(self) -> Path:
        copy = Path(tempfile.mkdtemp(prefix="copy-", dir=self._folder)) / self.script.root.name
        copy_project(self.script.root, copy)
        return copy

    def _run(
        self,
        what: str,
        name: str,
        copy: Path,
        recorder: list[str],
        era: Era,
        variables: dict[str, str] | None = None,
        inside: Path | None = None,
    ) -> Recording:
        script = copy / (inside or self.script.path.relative_to(self.script.root))
        out = self._folder / f"{name}.h5"
        out.unlink(missing_ok=True)
        command = [self._recorder, "--out", str(out), *recorder]
        command += ["--most", str(self._most)] if self._most else []
        command += [str(script), *self.script.arguments]
        start = [sys.executable]
        if era is not Era.TODAY or self._replicas is not None:
            start += ["-m", "parallel_compat", "run", "--quiet", "--era", era.value]
            start += ["--replicas", str(self._replicas)] if self._replicas is not None else []
        here = Path.cwd().resolve()
        place = copy / here.relative_to(self.script.root) if here.is_relative_to(self.script.root) else script.parent
        path = os.pathsep.join([*map(str, self._import_folders(copy)), *filter(None, [os.environ.get("PYTHONPATH")])])
        environment = {**os.environ, "MPLBACKEND": "Agg", "PYTHONPATH": path, **(variables or {})}
        begun = time.monotonic()
        code, printed = _call([*start, *command], what, place, environment, self._verbose)
        self.seconds[name] = time.monotonic() - begun
        recording = read_recording(out, 2 * _MB * 1_000_000) if out.exists() else None
        if recording is None or not any(model.get(kind) for model in recording.models for kind in _COMPARED):
            told = f"{self.script.path.name} trained no model" + (f": it ended with {code}" if code else "")
            by_itself = ". There is nothing to compare: custom loops, as with `GradientTape`, are not recorded"
            raise CannotRun(f"{what}: {told}" + (f":\n{_end(printed)}" if code else by_itself))
        if code:
            lines = _end(printed)
            print(f"compare: {what} ended with {code}:\n{lines}", file=sys.stderr)
            last = lines.rpartition("\n")[2].strip()
            self.failed.append(f"{what} ended with {code}: {last}")
        if era is Era.TODAY and copy != self.script.root:
            self._check_modules(what, copy, recording)
        return recording

    def _import_folders(self, copy: Path) -> list[Path]:
        """Return the folders of a copy that modules are imported from before those that Python finds elsewhere.

        A project that is installed, or on `PYTHONPATH`, would be imported from the user's folder: without what
        `migrate` rewrites.
        """
        root = self.script.root
        found = [place for each in sys.path[1:] if each and (place := Path(each).resolve()).is_relative_to(root)]
        for file in self.script.files()[1:]:
            place = next((each for each in (root / "src", root) if file.is_relative_to(each)), file.parent)
            name = file.relative_to(place).parts[0].removesuffix(".py")
            if name not in _KERAS and importlib.util.find_spec(name) is not None:
                found.append(place)
        return [copy / place.relative_to(root) for place in dict.fromkeys(found) if place.is_relative_to(root)]

    def _check_modules(self, what: str, copy: Path, recording: Recording) -> None:
        """Refuse a run that imported sources of old Keras from outside of its copy."""
        for file in map(Path, recording.facts.get("files", [])):
            if any(file.is_relative_to(each) for each in (copy.resolve(), Path(__file__).parents[1])):
                continue
            old = file.is_file() and "keras" in file.read_text("utf-8", "replace")
            own = file.is_relative_to(self.script.root)
            if old or own:
                raise CannotRun(
                    f"{what}: expected modules of the project {self.script.root}, of which it is a copy. Received: "
                    f"{file}, which `migrate` has not rewritten. "
                    + ("Import it by a relative path" if own else "Run the command in a folder that contains both")
                )


def _call(command: list[str], what: str, place: Path, environment: dict[str, str], verbose: bool) -> tuple[int, str]:
    """Run a command with a line on stderr that says how long it takes; return its code and the end of its output."""
    terminal = sys.stderr.isatty()
    with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as output:
        stream = None if verbose else output
        process = subprocess.Popen(
            command, cwd=place, env=environment, stdin=subprocess.DEVNULL, stdout=stream, stderr=stream
        )
        begun = time.monotonic()
        print(f"compare: {what} runs", file=sys.stderr, end="" if terminal else "\n", flush=True)
        try:
            while True:
                try:
                    code = process.wait(1.0)
                    break
                except subprocess.TimeoutExpired:
                    if terminal:
                        seconds = time.monotonic() - begun
                        print(f"\rcompare: {what} runs, {seconds:.0f} s", file=sys.stderr, end="", flush=True)
        finally:
            process.kill()
            if terminal:
                print(file=sys.stderr)
        output.seek(0)
        return code, output.read()


def _end(printed: str) -> str:
    """Return the last lines of what a run printed. Its advice on devices is for `run`: the option is the same."""
    told = re.sub(r"parallel-compat run (--replicas \d+) SCRIPT", r"give \1", printed)
    lines = [line for line in without_colours(told).rstrip().splitlines() if line.strip()]
    return "\n".join(f"  {line[:400]}" for line in lines[-_LINES:])


def copy_project(root: Path, copy: Path) -> None:
    """Copy a project, so that its runs write none of the user's files; what is large is linked."""
    copied = files = 0
    for folder, folders, names in os.walk(root):
        files += len(names)
        if files > _MOST_FILES:
            raise CannotRun(
                f"expected a project of at most {_MOST_FILES:,} files. Received: {root}, which has more. "
                "Put the script into a folder of its own"
            )
        to = copy / Path(folder).relative_to(root)
        to.mkdir(parents=True, exist_ok=True)
        for name in list(folders):
            inner = Path(folder, name)
            if name in _LEFT_OUT or (inner / "pyvenv.cfg").exists():
                folders.remove(name)
            elif inner.is_symlink() or _is_data(inner):
                folders.remove(name)
                place = inner.resolve()
                within = inner.is_symlink() and place.is_relative_to(root.resolve())
                target = copy / place.relative_to(root.resolve()) if within else place
                (to / name).symlink_to(target, target_is_directory=True)
        for name in names:
            path = Path(folder, name)
            size = path.stat().st_size if path.is_file() else -1
            if size < 0:  # a socket, or a link to nothing
                continue
            if name.endswith(".py") or (size <= _COPIED and copied + size <= _ALL_COPIED):
                shutil.copy2(path, to / name)
                copied += size
            else:
                (to / name).symlink_to(path.resolve())


def _is_data(folder: Path) -> bool:
    """Say whether a folder holds many files and no source."""
    files = 0
    for _, _, names in os.walk(folder):
        files += len(names)
        if any(name.endswith((".py", ".ipynb")) for name in names):
            return False
        if files > _DATA_FOLDER:
            return True
    return False
