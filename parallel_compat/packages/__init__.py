"""Old names and arguments of other packages (numpy, SciPy, pandas, ...), for old scripts under `run`.

Names that the installed package lacks are found by the table in `names/old_packages.tsv`; methods, arguments and
defaults are in one module a package. A package that still has a name keeps its own.
"""

from __future__ import annotations

from parallel_compat.packages.answering import answer
from parallel_compat.packages.notes import answered

__all__ = ["answer", "answered"]
