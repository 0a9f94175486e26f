"""Two workers on one machine train one model, each on its part of every batch, on scikit-learn's digits.

    python two_workers.py

On two machines each starts `python two_workers.py --index 0` (and `1`) with `--workers host:port,host:port`.
"""

from __future__ import annotations

import argparse
import json
import os
import socket
import subprocess
import sys
from contextlib import closing


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--workers", default="", help="addresses, host:port,host:port; default: two on this machine")
    parser.add_argument("--index", type=int, help="which of the workers this is; default: start all of them")
    parser.add_argument("--epochs", type=int, default=10)
    parser.add_argument("--model", default="digits.keras", help="the file that the chief writes")
    arguments = parser.parse_args()
    if arguments.index is None:
        start_two_workers(arguments)
    else:
        # TensorFlow reads TF_CONFIG when it starts, so it is set before the import.
        cluster = {"worker": arguments.workers.split(",")}
        os.environ["TF_CONFIG"] = json.dumps({"cluster": cluster, "task": {"type": "worker", "index": arguments.index}})
        train(arguments)


def start_two_workers(arguments: argparse.Namespace) -> None:
    addresses = ",".join(f"127.0.0.1:{port}" for port in free_ports(2))
    options = ["--workers", addresses, "--epochs", str(arguments.epochs), "--model", arguments.model]
    workers = [subprocess.Popen([sys.executable, __file__, *options, "--index", str(i)]) for i in range(2)]
    sys.exit(max(worker.wait() for worker in workers))


def free_ports(n: int) -> list[int]:
    """Ports of this machine that nobody listens on."""
    with closing(socket.socket()) as first, closing(socket.socket()) as second:
        sockets = [first, second][:n]
        for s in sockets:
            s.bind(("127.0.0.1", 0))
        return [s.getsockname()[1] for s in sockets]


def train(arguments: argparse.Namespace) -> None:
    import tensorflow as tf

    strategy = tf.distribute.MultiWorkerMirroredStrategy()  # before anything else of TensorFlow

    import keras
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
    parallel.fit(x_train, y_train, batch_size=64, epochs=arguments.epochs, verbose=2 if parallel.is_chief else 0)
    _, accuracy = parallel.evaluate(x_test, y_test, verbose=0)
    if parallel.is_chief:
        parallel.save(arguments.model)
    print(f"worker {arguments.index} of 2: test accuracy {accuracy:.4f}", flush=True)


if __name__ == "__main__":
    main()
