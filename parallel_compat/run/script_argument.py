"""Mistakes in the arguments of `run`: a folder, a notebook, a file that does not exist, options after the script."""

from __future__ import annotations

import difflib
import os
import re
import shlex
from collections.abc import Sequence
from itertools import islice

from parallel_compat.names.project_files import read_text

_MOST = 5  # scripts that a message names
_SOURCES, _BYTES = 200, 1_000_000


def why_not_a_script(path: str) -> str | None:
    """Say why Python cannot run a path, and suggest others; None if it can."""
    if os.path.isfile(path) and path.endswith(".ipynb"):
        return (
            f"expected a script. Received: {path}, a notebook. In Jupyter, begin with a cell "
            "`%load_ext parallel_compat`. Or make a script of it: jupyter nbconvert --to script " + shlex.quote(path)
        )
    if os.path.isfile(path) or (os.path.exists(path) and not os.path.isdir(path)):
        return None
    if os.path.isdir(path):
        if os.path.exists(os.path.join(path, "__main__.py")):
            return None
        scripts = [os.path.join(path, name) for name in _scripts(path)]
        found = f"It has: {', '.join(map(os.path.normpath, scripts[:_MOST]))}" if scripts else "It has no .py file"
        return f"expected a script. Received: {path}, a folder without __main__.py. {found}"
    folder, name = os.path.split(path)
    near = difflib.get_close_matches(name, _scripts(folder or "."), n=3, cutoff=0.75)
    suggestion = f". Is it {' or '.join(os.path.join(folder, each) for each in near)}?" if near else ""
    return f"expected a script. Received: {path}, which does not exist{suggestion}"


def _scripts(folder: str) -> list[str]:
    """Return the scripts of a folder, those that are probably started first."""
    try:
        names = sorted(name for name in os.listdir(folder) if name.endswith(".py") and name != "__init__.py")
    except OSError:
        return []
    return sorted(names, key=lambda name: not re.search(r"train|main|run", name))


def options_after_script(script: str, arguments: Sequence[str], own: Sequence[str]) -> list[str]:
    """Return the options of `run` that were given after the script, and that the script does not take itself."""
    given = [each.partition("=")[0] for each in arguments]
    options = [option for option in dict.fromkeys(given) if option in own]
    if not options:
        return []
    # By name, without the dashes: argparse, click, absl and fire each spell it in their own way.
    text = _sources_beside(script)
    return [o for o in options if not re.search(rf"\b{o.strip('-').replace('-', '[-_]')}\b", text)]


def _sources_beside(script: str) -> str:
    """Return the text of a script and of the modules beside it."""
    texts = [read_text(script, _BYTES)]
    folder = os.path.dirname(os.path.abspath(script))
    for root, folders, names in islice(os.walk(folder), 20):
        folders[:] = sorted(name for name in folders if not name.startswith((".", "venv", "site-packages")))
        for name in sorted(names):
            if name.endswith(".py") and len(texts) < _SOURCES:
                texts.append(read_text(os.path.join(root, name), _BYTES))
    return "\n".join(filter(None, texts))
