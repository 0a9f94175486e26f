"""What the user asked of the original of a process."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from parallel_compat.names.eras import Era


@dataclass(frozen=True)
class Settings:
    """What the user asked of the original.

    Attributes:
        era: whose Keras runs.
        replicas: how many GPUs to pretend where there are fewer; None pretends none.
        allow_lambdas: whether code in files is run.
        resume: the folder that keeps the state of each `fit`; None for none.
    """

    era: Era
    replicas: int | None = None
    allow_lambdas: bool = False
    resume: str | None = None
