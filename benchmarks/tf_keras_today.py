"""What tf_keras, Keras 2 for today's TensorFlow, has of Keras 2.2.4: the figures of `docs/evidence/alternatives.md`.

python -m pip install tf_keras
python benchmarks/tf_keras_today.py
"""

from __future__ import annotations

import os
from pathlib import Path

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import tensorflow as tf
import tf_keras

FILES = Path(__file__).resolve().parents[1] / "tests" / "data" / "oracle" / "h5"


def loaded(pattern: str) -> str:
    """Say how many of the files tf_keras loads."""
    files = sorted(FILES.glob(pattern))
    count = 0
    for file in files:
        try:
            tf_keras.models.load_model(file, compile=False)
            count += 1
        except (EOFError, ValueError):  # of the byte code in Lambda layers
            pass
    return f"{count} of {len(files)}"


def main() -> None:
    """Print the figures, one a line."""
    print("tf_keras", tf_keras.__version__, "with TensorFlow", tf.__version__)
    print("has multi_gpu_model:", hasattr(tf_keras.utils, "multi_gpu_model"))
    print("files of multi-GPU models:", loaded("*.parallel.h5"))
    print("files of single models:", loaded("*.template.h5"))
    for name in ("Adagrad", "Adadelta", "Adamax", "Nadam"):
        print(f"{name}: learning_rate={float(getattr(tf_keras.optimizers, name)().learning_rate):.3f}")
    print("LSTM:", tf_keras.layers.LSTM(1).get_config()["recurrent_activation"])
    print("GRU: reset_after =", tf_keras.layers.GRU(1).get_config()["reset_after"])


if __name__ == "__main__":
    main()
