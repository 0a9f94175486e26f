"""Which description a passage is from: Embedding and Conv1D on word ids, on two logical devices.

The texts are the descriptions of data sets that scikit-learn ships; a passage is 20 words in a row.

    python text_classification.py --replicas 2
"""

from __future__ import annotations

import argparse
import re

import keras
import numpy as np
from keras import layers
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits, load_iris, load_wine

import parallel_compat

parser = argparse.ArgumentParser()
parser.add_argument("--replicas", type=int, default=2)
parser.add_argument("--epochs", type=int, default=20)
arguments = parser.parse_args()
parallel_compat.simulate_devices(arguments.replicas)
keras.utils.set_random_seed(0)

WORDS = 20
SETS = {"breast cancer": load_breast_cancer, "diabetes": load_diabetes, "digits": load_digits, "iris": load_iris}
SETS["wine"] = load_wine

texts = [re.findall(r"[a-z]+", load().DESCR.lower()) for load in SETS.values()]
vocabulary = {word: i + 1 for i, word in enumerate(sorted({word for text in texts for word in text}))}


def passages(tested: bool) -> tuple[np.ndarray, np.ndarray]:
    """All passages in the tested quarter of each text or in the rest, which have no sentence in common.

    Returns:
        Word ids `(passages, WORDS)` int32 and class ids `(passages,)` int32.
    """
    x, y = [], []
    for label, text in enumerate(texts):
        ids = [vocabulary[word] for word in text]
        for part, start in enumerate(range(0, len(ids), 3 * WORDS)):
            if (part % 4 == 3) == tested:
                stop = min(start + 3 * WORDS, len(ids))
                x += [ids[i : i + WORDS] for i in range(start, stop - WORDS + 1)]
                y += [label] * (len(x) - len(y))
    return np.array(x, "int32"), np.array(y, "int32")


template = keras.Sequential(
    [
        layers.Input((WORDS,), dtype="int32"),
        layers.Embedding(len(vocabulary) + 1, 32),
        layers.Conv1D(32, 3, activation="relu"),
        layers.GlobalMaxPooling1D(),
        layers.Dropout(0.5),
        layers.Dense(len(SETS), activation="softmax"),
    ]
)
parallel = parallel_compat.parallelize(template, gpus=arguments.replicas)
parallel.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"])
parallel.fit(*passages(tested=False), batch_size=64, epochs=arguments.epochs, verbose=2)

loss, accuracy = parallel.evaluate(*passages(tested=True), verbose=0)
print(f"Accuracy on unseen passages: {accuracy:.4f} (by chance {1 / len(SETS):.4f})")
