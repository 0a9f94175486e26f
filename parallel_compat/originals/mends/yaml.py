"""`yaml.load` without a loader reads what models write, tuples and shapes too, and makes no other objects.

Seen in PyYAML 6.
"""

from __future__ import annotations

from typing import Any

from parallel_compat.originals.mends.register import Register


def apply(mends: Register) -> None:
    try:
        import yaml
    except ImportError:
        return

    class Loader(yaml.SafeLoader):  # type: ignore[misc]
        """The safe loader, tuples, and the shapes of TensorFlow."""

    def shape(loader: Any, node: Any) -> Any:
        from tensorflow.python.framework import tensor_shape

        return tensor_shape.TensorShape(*loader.construct_sequence(node, deep=True))

    made_by = "tag:yaml.org,2002:python/object/apply:tensorflow.python.framework.tensor_shape."
    Loader.add_constructor(
        "tag:yaml.org,2002:python/tuple", lambda loader, node: tuple(loader.construct_sequence(node))
    )
    Loader.add_constructor(f"{made_by}TensorShape", shape)
    Loader.add_constructor(f"{made_by}Dimension", lambda loader, node: loader.construct_sequence(node)[0])

    def with_loader(load: Any) -> Any:
        def loads(stream: Any, Loader: Any = Loader) -> Any:
            return load(stream, Loader=Loader)

        return loads

    mends.replace(yaml, "load", with_loader)
    mends.replace(yaml, "load_all", with_loader)
