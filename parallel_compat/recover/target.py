"""For whom a model is translated: plain Keras 3, or a process that has more than that."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Target:
    """The names that exist in the process or file that a model is translated for."""

    # Classes of layers in addition to those that Keras 2 and Keras 3 have in common.
    layers: frozenset[str] = frozenset()
    # How a config names an activation that computes Keras 2's `hard_sigmoid`; None where Keras 3's has to do, for which
    # the weights in front of it are changed.
    hard_sigmoid: dict[str, str] | None = field(default=None, hash=False)
    # Names of classes of Keras that are the user's own there, whose configs are not changed.
    own: frozenset[str] = frozenset()


PLAIN_KERAS = Target()
