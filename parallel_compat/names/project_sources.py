"""The sources that a process will run, read without running them: a script with what it imports, code, a module."""

from __future__ import annotations

import functools
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import NamedTuple

from parallel_compat.names.evidence import NONE, Evidence, evidence_of_file, evidence_of_source, together
from parallel_compat.names.named_versions import Named, in_magics, in_notebook, in_prose
from parallel_compat.names.project_files import read_text

# Of one source, of all, and of a notebook with its pictures.
_BYTES, _ALL_BYTES, _NOTEBOOK_BYTES = 1_000_000, 1_000_000, 20_000_000
_FILES_OF_PACKAGE = 40
# A project of more files says enough in these.
_FILES_OF_PROJECT = 200
_COMMENT = re.compile(r"(?m)^[ \t]*#.*$")
_DOCSTRING = re.compile(r'\A(?:\s|#.*\n)*[ru]*("""|\'\'\')((?s:.*?))\1')
# Packages that nobody trains Keras's models through.
_OTHERS = frozenset(
    (
        *sys.stdlib_module_names,
        *("numpy", "scipy", "pandas", "sklearn", "matplotlib", "PIL", "cv2", "h5py", "skimage", "nltk", "gym", "tqdm"),
        *("keras", "tensorflow", "tensorboard", "tf_keras", "torch", "theano", "pytest", "IPython", "seaborn", "yaml"),
    )
)


class Source(NamedTuple):
    """A source of the process: its file's name, and what it says."""

    name: str
    said: Evidence


class Sources(NamedTuple):
    """The sources of a process."""

    main: Source  # the script, the code or the module
    imported: list[Source]  # what it imports of the project, and what that imports
    files: list[str]  # their files
    commands: list[Named]  # versions that a notebook's commands choose, and that it printed
    prose: list[Named]  # versions that the script's comments name
    python: list[Named]  # the Python of a notebook


def sources_of_process(main: str, code: str | None, root: str, package: str = "") -> Sources:
    """Read a process's sources.

    Args:
        main: the file that runs; the place where it would be for code without a file.
        code: the code, if it has no file.
        root: the project's root, whose modules can be imported.
        package: the only package whose modules are followed, for one that is installed.
    """
    commands: list[Named] = []
    prose: list[Named] = []
    python: list[Named] = []
    left = _ALL_BYTES

    def read(file: str) -> Evidence:
        nonlocal left
        if file == main:
            text, notes = (code, "") if code is not None else (read_text(file, _NOTEBOOK_BYTES), "")
            if file.endswith(".ipynb"):
                text, notes, printed, version = in_notebook(text)
                commands.extend(printed)
                python.extend(version)
            commands.extend(in_magics(text))
            prose.extend(in_prose("\n".join((notes, *_comments(text)))))
        else:
            text = read_text(file, min(_BYTES, left))
            left -= len(text)
        said = evidence_of_source(text, file == main) if text else NONE
        if package:
            said = said._replace(imports=tuple(name for name in said.imports if name.startswith((".", package))))
        return said

    roots = [root, os.path.join(root, "src")]
    read_once = functools.cache(read)
    found = dict(of_project(main, roots, read_once))
    sure = set(found)
    if any(said.conditional_imports for said in found.values()):
        # Modules that only one of two versions imports say nothing of the version.
        sure = {file for file, _ in of_project(main, roots, lambda file: _without_conditional(read_once(file)))}
    sources = []
    for file, said in found.items():
        if file not in sure:
            said = said._replace(keras_2_3="", tensorflow_1="", tensorflow_2="", keras_3="", like_tensorflow_2="")
        sources.append(Source(os.path.basename(file), said))
    name = "the code" if code is not None else sources[0].name
    return Sources(Source(name, sources[0].said), sources[1:], list(found), commands, prose, python)


def of_project(
    main: str, root: str | Iterable[str] = "", read: Callable[[str], Evidence] | None = None
) -> Iterator[tuple[str, Evidence]]:
    """Yield the files that a script is made of and what each says: itself, then those next to it that it imports.

    Args:
        root: a further folder that modules are imported from, or several.
    """
    folder = top = os.path.dirname(os.path.abspath(main))
    while os.path.isfile(os.path.join(top, "__init__.py")):
        top = os.path.dirname(top)
    waiting = [os.path.abspath(main)]
    seen: set[str] = set()
    places = dict.fromkeys((folder, top, *((root or top,) if isinstance(root, str) else root)))
    while waiting and len(seen) < _FILES_OF_PROJECT:
        file = waiting.pop(0)
        if file in seen:
            continue
        seen.add(file)
        said = (read or evidence_of_file)(file)
        yield file, said
        for module in said.imports:
            for place in places:
                waiting += _files_of(module, file, place)


def _files_of(module: str, by: str, folder: str) -> Iterator[str]:
    """Yield the file of a module and those of the packages it is in, where these stand in the project."""
    dots = len(module) - len(module.lstrip("."))
    for _ in range(dots):
        folder = by = os.path.dirname(by)
    parts = [part for part in module[dots:].split(".") if part]
    for count in range(1, len(parts) + 1):
        place = os.path.join(folder, *parts[:count])
        for file in (f"{place}.py", os.path.join(place, "__init__.py")):
            if os.path.isfile(file):
                yield file
        if not os.path.isdir(place):
            return


def _without_conditional(said: Evidence) -> Evidence:
    return said._replace(imports=tuple(name for name in said.imports if name not in said.conditional_imports))


def _comments(text: str) -> list[str]:
    docstring = _DOCSTRING.match(text)
    return [*_COMMENT.findall(text), *([docstring[2]] if docstring else [])]


def file_of_module(module: str, folders: list[str]) -> str | None:
    """Return the file that `python -m` runs; None if there is none."""
    parts = module.split(".")
    for folder in folders:
        place = os.path.join(folder, *parts)
        for file in (f"{place}.py", os.path.join(place, "__main__.py"), os.path.join(place, "__init__.py")):
            if os.path.isfile(file):
                return file
    return None


def installed_packages(sources: Sources) -> list[Source]:
    """Read the installed packages that the sources import, such as keras_contrib.

    Args:
        sources: the sources, none of which imports Keras itself.
    """
    imports = [name for source in (sources.main, *sources.imported) for name in source.said.imports]
    found = []
    for name in dict.fromkeys(path.partition(".")[0] for path in imports):
        place = next((os.path.join(path, name) for path in sys.path if os.path.isdir(os.path.join(path, name))), None)
        if name and name not in _OTHERS and place is not None:
            found.append(Source(name, together(_of_package(place))))
    return found


def _of_package(place: str) -> list[Evidence]:
    files = []
    for folder, folders, names in os.walk(place):
        folders[:] = [name for name in sorted(folders) if name not in ("tests", "test", "__pycache__")]
        files += [os.path.join(folder, name) for name in sorted(names) if name.endswith(".py")]
        if len(files) >= _FILES_OF_PACKAGE:
            break
    texts = (read_text(file, _BYTES) for file in islice(files, _FILES_OF_PACKAGE))
    return [evidence_of_source(text) for text in texts if "keras" in text]
