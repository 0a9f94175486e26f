"""`get_ipython()` in a script that was exported from a notebook: `%time` runs its code, `!` does nothing."""

from __future__ import annotations

import sys
from typing import Any

from parallel_compat.packages.notes import note

_RUN = ("capture", "time", "timeit", "prun")


class Shell:
    """What a script asks of IPython, without IPython."""

    def run_line_magic(self, magic_name: str, line: str = "", *rest: Any) -> Any:
        """Run the code of `%time`; `%matplotlib` and others are ignored."""
        note(f"%{magic_name}", "its code is run" if magic_name in _RUN else "left out, as there is no notebook")
        if magic_name in _RUN and line:
            exec(line, vars(sys.modules["__main__"]))

    def run_cell_magic(self, magic_name: str, line: str, cell: str) -> Any:
        """Run the code of a cell with `%%time`."""
        self.run_line_magic(magic_name, cell)

    def magic(self, arg_s: str) -> Any:
        """Run a line as it stands in the notebook, without the `%`."""
        name, _, line = arg_s.lstrip("%").partition(" ")
        self.run_line_magic(name, line)

    def system(self, cmd: str) -> None:
        """Leave a command of the system out."""
        note(f"!{cmd}", "left out: run it before, if it is needed")

    getoutput = system


def answer() -> None:
    """Let the main script, and no module, find `get_ipython`; IPython's own is not touched."""
    main = sys.modules.get("__main__")
    if main is not None and "IPython" not in sys.modules:
        vars(main).setdefault("get_ipython", Shell)
