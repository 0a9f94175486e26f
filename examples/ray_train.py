"""Ray starts the workers, which train one model together, each on its part of every batch: scikit-learn's digits.

    pip install "parallel-compat[ray]" scikit-learn
    python ray_train.py [--workers 2] [--gpus]

On a cluster `ray job submit -- python ray_train.py --workers 4 --gpus` does the same on its machines.
"""

from __future__ import annotations

import argparse
import os
import tempfile
from typing import Any


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--gpus", action="store_true", help="one GPU for each worker")
    parser.add_argument("--epochs", type=int, default=10)
    parser.add_argument("--storage", default=tempfile.gettempdir(), help="a folder that all machines see")
    arguments = parser.parse_args()

    from ray.train import RunConfig, ScalingConfig
    from ray.train.tensorflow import TensorflowTrainer

    trainer = TensorflowTrainer(
        train,
        train_loop_config={"epochs": arguments.epochs},
        scaling_config=ScalingConfig(num_workers=arguments.workers, use_gpu=arguments.gpus),
        run_config=RunConfig(name="digits", storage_path=os.path.abspath(arguments.storage)),
    )
    result = trainer.fit()
    print(f"{arguments.workers} workers: test accuracy {result.metrics['accuracy']:.4f}, {result.checkpoint.path}")


def train(config: dict[str, Any]) -> None:
    """Train in one of the workers, to which Ray has given its `TF_CONFIG`."""
    import tensorflow as tf

    strategy = tf.distribute.MultiWorkerMirroredStrategy()  # before anything else of TensorFlow

    import keras
    import ray.train
    from sklearn.datasets import load_digits
    from sklearn.model_selection import train_test_split

    from parallel_compat import parallelize

    # Every worker reads the same data, in the same order, and computes its own samples of each batch.
    keras.utils.set_random_seed(0)
    digits = load_digits()
    x_train, x_test, y_train, y_test = train_test_split(digits.data / 16, digits.target, random_state=0)

    model = keras.Sequential([keras.Input((64,)), keras.layers.Dense(64, "relu"), keras.layers.Dense(10, "softmax")])
    parallel = parallelize(model, strategy=strategy)
    parallel.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"])
    parallel.fit(x_train, y_train, batch_size=64, epochs=config["epochs"], verbose=0)
    _, accuracy = parallel.evaluate(x_test, y_test, verbose=0)
    with tempfile.TemporaryDirectory() as folder:
        checkpoint = None
        if parallel.is_chief:
            parallel.save(os.path.join(folder, "digits.keras"))
            checkpoint = ray.train.Checkpoint.from_directory(folder)
        ray.train.report({"accuracy": accuracy}, checkpoint=checkpoint)


if __name__ == "__main__":
    main()
