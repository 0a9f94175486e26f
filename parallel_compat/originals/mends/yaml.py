"""`yaml.load` without a loader: the safe one, which reads what models write and makes no objects.

Seen in PyYAML 6.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from parallel_compat.originals.mends.register import Register


def apply(mends: Register) -> None:
    """Give `load` and `load_all` the safe loader where none is passed."""
    try:
        import yaml
    except ImportError:
        return

    def with_loader(load: Any) -> Any:
        def loads(stream: Any, Loader: Any = yaml.SafeLoader) -> Any:
            return load(stream, Loader=Loader)

        return loads

    mends.replace(yaml, "load", with_loader)
    mends.replace(yaml, "load_all", with_loader)
