"""The recorded runs of the real `multi_gpu_model` (tests/data/oracle), and their models in today's Keras."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import keras
import numpy as np
from keras import layers as L
from keras import ops as K

FOLDER = Path(__file__).parents[1] / "data" / "oracle"
CASES = sorted(path.stem for path in FOLDER.glob("*.json"))


def dice_loss(y_true, y_pred):
    """One number for the whole batch: it does not decompose over samples."""
    inter = K.sum(y_true * y_pred)
    return 1.0 - (2.0 * inter + 1.0) / (K.sum(y_true) + K.sum(y_pred) + 1.0)


def batch_f1(y_true, y_pred):
    """A metric computed inside one batch (also not decomposable)."""
    p = K.round(y_pred)
    tp = K.sum(y_true * p)
    return 2.0 * tp / (K.sum(y_true) + K.sum(p) + keras.backend.epsilon())


FUNCTIONS = {"dice_loss": dice_loss, "batch_f1": batch_f1}


def mlp(reg=None, bn=False):
    x = L.Input((8,), name="x")
    h = L.Dense(16, activation="relu", kernel_regularizer=reg, name="hidden")(x)
    if bn:
        h = L.BatchNormalization(name="bn")(h)
    return keras.Model(x, L.Dense(3, activation="softmax", name="probs")(h), name="mlp")


def sequential():
    return keras.Sequential(
        [
            L.Input((12, 4)),
            L.Conv1D(6, 3, activation="relu", name="conv"),
            L.MaxPooling1D(2, name="pool"),
            L.Flatten(name="flat"),
            L.Dense(3, activation="softmax", name="probs"),
        ],
        name="text",
    )


def multi_io():
    a, b = L.Input((6,), name="a"), L.Input((5,), name="b")
    da, db = L.Dense(8, activation="tanh", name="da")(a), L.Dense(8, activation="tanh", name="db")(b)
    h = L.concatenate([da, db], name="cat")
    outputs = [L.Dense(1, name="out_a")(h), L.Dense(3, activation="softmax", name="out_b")(h)]
    return keras.Model([a, b], outputs, name="multi_io")


def segmenter():
    x = L.Input((8, 8, 1), name="image")
    h = L.Conv2D(4, 3, padding="same", activation="relu", name="conv")(x)
    return keras.Model(x, L.Conv2D(1, 1, activation="sigmoid", name="mask")(h), name="segmenter")


def siamese():
    twin = keras.Sequential(
        [L.Input((4,)), L.Dense(8, activation="relu", name="t1"), L.Dense(1, name="t2")], name="twin"
    )
    a, b = L.Input((4,), name="a"), L.Input((4,), name="b")
    sa, sb = twin(a), twin(b)
    return keras.Model([a, b], [L.Add(name="add")([sa, sb]), sa, sb], name="siamese")


MODELS = {
    "momentum_l2": lambda: mlp(keras.regularizers.L2(0.01)),
    "batch_norm_even_split": lambda: mlp(bn=True),
    "multi_input_output": multi_io,
    "sequential_text": sequential,
    "batch_level_dice_loss": segmenter,
    "siamese_outputs": siamese,
}


@dataclass
class Case:
    """One recorded run."""

    name: str
    record: dict[str, Any]
    arrays: dict[str, np.ndarray]

    def series(self, tag: str) -> list[np.ndarray]:
        found = []
        while f"{tag}_{len(found)}" in self.arrays:
            found.append(self.arrays[f"{tag}_{len(found)}"])
        return found

    def data(self, tag: str, rows: int | None = None) -> Any:
        arrays = [array[:rows] for array in self.series(tag)]
        return arrays if len(arrays) > 1 else arrays[0]

    def template(self) -> keras.Model:
        model = MODELS.get(self.name, mlp)()
        model.set_weights(self.series("w_init"))
        return model

    def compile_arguments(self) -> dict[str, Any]:
        options = {{"lr": "learning_rate"}.get(k, k): v for k, v in self.record["optimizer_args"].items()}
        return {
            "optimizer": getattr(keras.optimizers, self.record["optimizer"])(**options),
            "loss": FUNCTIONS.get(str(self.record["loss"]), self.record["loss"]),
            "loss_weights": self.record["loss_weights"],
            "metrics": [FUNCTIONS.get(metric, metric) for metric in self.record["metrics"]] or None,
        }

    def fit_arguments(self) -> dict[str, Any]:
        weights = self.record["class_weight"]
        return {
            "batch_size": self.record["batch_size"],
            "epochs": self.record["epochs"],
            "shuffle": False,
            "verbose": 0,
            "sample_weight": self.arrays.get("sample_weight"),
            "class_weight": weights and {int(k): v for k, v in weights.items()},
            "validation_data": (self.data("val_x"), self.data("val_y")) if "val_x_0" in self.arrays else None,
        }


def load(name: str) -> Case:
    record = json.loads((FOLDER / f"{name}.json").read_text())
    return Case(name, record, dict(np.load(FOLDER / f"{name}.npz")))
