"""`%load_ext parallel_compat`: legacy names in the cells of a notebook.

`%legacy_names` lists what was used; `%legacy_names --era tf.keras-1.15` says whose results all cells from here on
shall give.
"""

from __future__ import annotations

from typing import Any

from parallel_compat.run import callers, install, usage


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


def legacy_names(line: str = "") -> None:
    """Print the legacy names that were used so far, or choose an era.

    Args:
        line: "", or `--era NAME`.

    Raises:
        ValueError: it is something else, or there is no such era.
    """
    if line.strip():
        option, _, era = line.strip().replace("=", " ").partition(" ")
        if option != "--era":
            raise ValueError(f"Expected nothing or `--era NAME` after `%legacy_names`. Received: {line.strip()}")
        install.install(also=callers.asked(), era=era.strip())
        return
    print(usage.summary() or "parallel-compat: no legacy names used")
