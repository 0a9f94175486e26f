"""`yaml.load` without a loader: one that reads what models write, tuples too, and makes no other objects.

Seen in PyYAML 6.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from parallel_compat.originals.mends.register import Register


def apply(mends: Register) -> None:
    """Give `load` and `load_all` that loader where none is passed."""
    try:
        import yaml
    except ImportError:
        return

    class Loader(yaml.SafeLoader):  # type: ignore[misc]
        """The safe loader, and tuples."""

    Loader.add_constructor(
        "tag:yaml.org,2002:python/tuple", lambda loader, node: tuple(loader.construct_sequence(node))
    )

    def with_loader(load: Any) -> Any:
        def loads(stream: Any, Loader: Any = Loader) -> Any:
            return load(stream, Loader=Loader)

        return loads

    mends.replace(yaml, "load", with_loader)
    mends.replace(yaml, "load_all", with_loader)
