"""`%load_ext parallel_compat`: legacy names in the cells of a notebook."""

from __future__ import annotations

from typing import Any

from parallel_compat.run import install, usage


def load_ipython_extension(shell: Any) -> None:
    """Turn the legacy names on; `%legacy_names` lists what was used.

    Args:
        shell: IPython's shell.
    """
    install.install()
    shell.register_magic_function(legacy_names, "line", "legacy_names")


def unload_ipython_extension(shell: Any) -> None:
    """Turn the legacy names off.

    Args:
        shell: IPython's shell.
    """
    install.uninstall()
    shell.magics_manager.magics["line"].pop("legacy_names", None)


def legacy_names(_line: str = "") -> None:
    """Print the legacy names that were used so far."""
    print(usage.summary() or "parallel-compat: no legacy names used")
