"""Cells of a notebook, as the user knows them: `In [3]` rather than the file that IPython makes of a cell."""

from __future__ import annotations

import os
import sys
from typing import Any


def prompt_of(file: str) -> str:
    """Return the prompt of the cell that a file of IPython's stands for, as in `In [3]`; "" for any other file.

    Args:
        file: as in a frame's code: `/tmp/ipykernel_7/123.py`, `<ipython-input-3-0f1e>`.
    """
    shell = _shell()
    name_of = getattr(getattr(shell, "compile", None), "format_code_name", None)
    told = name_of(file) if name_of is not None else None
    number = str(told[1]).removeprefix("In").strip("[] ") if told else ""
    return f"In [{number}]" if number.isdecimal() else ""


def notebook() -> str:
    """Return the path of the notebook that runs, where the program around it tells, else `NOTEBOOK.ipynb`."""
    # Jupyter's server names the session by the notebook's path; VS Code puts it among the notebook's names.
    told = os.environ.get("JPY_SESSION_NAME") or getattr(_shell(), "user_ns", {}).get("__vsc_ipynb_file__")
    return str(told) if told else "NOTEBOOK.ipynb"


def _shell() -> Any:
    module = sys.modules.get("IPython")
    return module.get_ipython() if module is not None else None
