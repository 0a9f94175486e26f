"""The user's settings for the original of a process."""

from __future__ import annotations

from dataclasses import dataclass

from parallel_compat.names.eras import Era


@dataclass(frozen=True)
class Settings:
    """The user's settings for the original."""

    era: Era  # whose Keras runs
    replicas: int | None = None  # number of GPUs to simulate if there are fewer; None simulates none
    allow_lambdas: bool = False  # whether code in files is run
    resume: str | None = None  # the folder that keeps the state of each `fit`; None for none
    tensorflow: int = 1  # the TensorFlow that the code was written for, 1 or 2, where the era had both: Keras 2.3

    @property
    def is_tensorflow_1(self) -> bool:
        """Whether the code of this process was written for TensorFlow 1."""
        return self.era is not Era.TF_KERAS_2_2 and not (self.era is Era.KERAS_2_3 and self.tensorflow == 2)
