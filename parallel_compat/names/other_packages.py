"""What `run` does not answer of other packages (`other_packages.tsv`): names with a way out, and packages' names."""

from __future__ import annotations

from parallel_compat.names import tsv


def _of(kind: str) -> dict[str, str]:
    return {name: what for of, name, what in tsv.rows("other_packages.tsv", 3) if of == kind}


# numpy's old names -> what they were.
NUMPY = _of("numpy name")
# Packages -> how they are installed.
PACKAGES = _of("package")
# Options of pytest -> the module of the plugin that has them.
PYTEST_OPTIONS = _of("pytest option")
# (module, attribute) -> what to do.
ATTRIBUTES = {(name.rpartition(".")[0], name.rpartition(".")[2]): what for name, what in _of("attribute").items()}
