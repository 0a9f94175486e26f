"""`yaml.load` without a loader reads what models write, Python's types and shapes too, and makes no other objects.

Seen in PyYAML 6.
"""

from __future__ import annotations

from typing import Any

from parallel_compat.originals.mends.register import Register

# Python's types by their tags -> what the safe loader reads alike.
_SAFE = {
    "bool": "bool", "float": "float", "int": "int", "str": "str", "dict": "map", "list": "seq", "long": "int",
    "none": "null", "unicode": "str",
}  # fmt: skip


def apply(mends: Register) -> None:
    try:
        import yaml
    except ImportError:
        return
    mends.once(yaml, mend)


def mend(mends: Register, yaml: Any) -> None:
    """Let `load` do without a loader."""

    class Loader(yaml.SafeLoader):  # type: ignore[misc]
        """The safe loader, Python's own types, and the shapes of TensorFlow."""

    def shape(loader: Any, node: Any) -> Any:
        from tensorflow.python.framework import tensor_shape

        return tensor_shape.TensorShape(*loader.construct_sequence(node, deep=True))

    python = "tag:yaml.org,2002:python/"
    made_by = f"{python}object/apply:tensorflow.python.framework.tensor_shape."
    Loader.add_constructor(f"{python}tuple", lambda loader, node: tuple(loader.construct_sequence(node)))
    Loader.add_constructor(f"{python}complex", lambda loader, node: complex(loader.construct_scalar(node)))
    for was, name in _SAFE.items():
        Loader.add_constructor(f"{python}{was}", yaml.SafeLoader.yaml_constructors[f"tag:yaml.org,2002:{name}"])
    Loader.add_constructor(f"{made_by}TensorShape", shape)
    Loader.add_constructor(f"{made_by}Dimension", lambda loader, node: loader.construct_sequence(node)[0])

    for name in ("load", "load_all"):
        mends.around(yaml, name, lambda load, stream, Loader=Loader: load(stream, Loader=Loader))
