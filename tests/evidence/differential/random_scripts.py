"""Random scripts of an era, each made of its seed alone: the same text for the real stack and for `parallel-compat run`.

    python -m tests.evidence.differential.random_scripts keras-2.2.4 1 100 FOLDER

writes the scripts of seeds 1 to 100 into FOLDER, and with `float64` behind it those scripts in double precision: where
two stacks differ in single precision alone, they round otherwise. What a script does is chosen by the seed: layers with
their arguments, losses, metrics, an optimizer, weights of samples and classes, masks, callbacks, generators, loops of
`train_on_batch`, files, one to four replicas. What it computes depends on no random number but those of `numpy.random`
and `random`: weights are set by the script, layers that drop or add noise do so at a rate of zero. Where an era would
draw an order from TensorFlow's own random numbers (`fit` of tf.keras 2.2), nothing is shuffled.

Each script notes values by name in `RESULT` and prints it. `tests/data/differential/run_scripts.py` runs many of them,
and `count.py` compares.
"""

from __future__ import annotations

import random
import re
import sys
from pathlib import Path
from typing import Any

from . import api_scripts, other_scripts, parallel_scripts, wider_scripts

ERAS = ("keras-2.2.4", "keras-2.3", "tf.keras-1.15", "tf.keras-2.2")

SAMPLES = 12

PRELUDE = '''
RESULT = {}
K.clear_session()
np.random.seed(SEED)
random.seed(SEED)


def plain(value):
    """Numbers, names and small arrays as they are; of a larger array its shape, sums and ends."""
    if hasattr(value, "numpy"):
        value = value.numpy()
    if isinstance(value, dict):
        return {str(key): plain(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(each) for each in value]
    if isinstance(value, np.ndarray) and value.size > 6:
        flat = value.astype("float64").ravel()
        mixed = [np.abs(flat).sum(), (flat * np.cos(np.arange(flat.size))).sum()]
        return {"shape": list(value.shape), "sums": plain(mixed), "ends": plain(flat[[0, 1, -1]])}
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    if isinstance(value, np.generic):
        value = value.item()
    return float("%.8g" % value) if isinstance(value, float) else value


def note(name, value):
    RESULT[name] = plain(value)


def start(model, seed=SEED):
    """Give a model weights that depend on its order of weights and their shapes alone."""
    draw = np.random.RandomState(seed)
    model.set_weights(
        [draw.normal(0, 0.4, w.shape) if w.ndim > 1 else w + draw.uniform(-0.1, 0.1, w.shape) for w in model.get_weights()]
    )
    return model


draw = np.random.RandomState(SEED)
'''


class RandomScript:
    """The script of one seed.

    Args:
        era: one of `ERAS`.
        seed: what it is made of.
    """

    def __init__(self, era: str, seed: int) -> None:
        self.era = era
        self.seed = seed
        self.standalone = era in ("keras-2.2.4", "keras-2.3")
        self.has_classes = era != "keras-2.2.4"  # of losses and metrics, and what came to Keras with them
        self.tf2 = era == "tf.keras-2.2"
        self.random = random.Random(f"{era} {seed}")
        self.lines: list[str] = []
        self.replicas = self.random.choice((0, 0, 0, 0, 0, 0, 2, 2, 3, 4))
        self.count = 0
        self.has_state = False  # a layer with moving statistics: on replicas they are no fact of the era
        self.custom: dict[str, str] = {}  # what files of the model need to be loaded

    # ---- small choices ----------------------------------------------------------------------------------------------

    def maybe(self, chance: float) -> bool:
        return self.random.random() < chance

    def one(self, *choices: Any) -> Any:
        return self.random.choice(choices)

    def add(self, text: str = "", indent: int = 0) -> None:
        self.lines += [" " * indent + line if line else "" for line in text.split("\n")]

    def name(self, start: str) -> str:
        self.count += 1
        return f"{start}{self.count}"

    @staticmethod
    def call(function: str, *args: Any, **kwargs: Any) -> str:
        return f"{function}({', '.join([*map(str, args), *(f'{key}={value}' for key, value in kwargs.items())])})"

    def activation(self) -> str:
        names = ["relu", "tanh", "sigmoid", "elu", "selu", "softplus", "softsign", "hard_sigmoid", "linear", "softmax"]
        if self.standalone or self.tf2:
            names.append("exponential")
        return repr(self.one(*names[:9])) if self.maybe(0.9) else f"activations.{self.one(*names[:8])}"

    def regularizer(self) -> str:
        return self.one(
            "regularizers.l2(0.01)", "regularizers.l1(0.003)", "'l2'", "regularizers.l1_l2(l1=0.001, l2=0.02)", "'l1'"
        )

    def constraint(self) -> str:
        return self.one(
            "constraints.max_norm(0.9)",
            "constraints.MaxNorm(0.7, axis=0)",
            "constraints.non_neg()",
            "constraints.unit_norm()",
            "constraints.MinMaxNorm(0.3, 0.8, rate=0.9)",
            "'non_neg'",
        )

    def initializer(self) -> str:
        return self.one(
            "'he_normal'", "'glorot_normal'", "'lecun_uniform'", "initializers.RandomNormal(stddev=0.1)", "'orthogonal'"
        )

    def weight_arguments(self, kernel: str = "kernel", bias: bool = True) -> dict[str, str]:
        """Return what layers with a kernel and a bias take."""
        given = {}
        if self.maybe(0.2):
            given[f"{kernel}_regularizer"] = self.regularizer()
        if self.maybe(0.12):
            given[f"{kernel}_constraint"] = self.constraint()
        if self.maybe(0.15):
            given[f"{kernel}_initializer"] = self.initializer()
        if bias and self.maybe(0.12):
            given["bias_regularizer"] = self.regularizer()
        if bias and self.maybe(0.08):
            given["bias_constraint"] = "'non_neg'"
        if self.maybe(0.08) and (self.standalone or not self.replicas):  # `tf.keras` added up the towers' means
            given["activity_regularizer"] = self.regularizer()
        return given

    # ---- layers: the text of one, and the shape after it ------------------------------------------------------------

    def layer(self, shape: tuple[int, ...]) -> tuple[str, tuple[int, ...]]:
        """Return a layer for an input of this shape (without the samples), and its output's shape."""
        return (self.layer_1, self.layer_2, self.layer_3, self.layer_4)[len(shape) - 1](shape)

    def any_rank(self, shape: tuple[int, ...]) -> tuple[str, tuple[int, ...]]:
        kind = self.random.randrange(11)
        if kind == 0:
            return self.call("L.Activation", self.activation()), shape
        if kind == 1:
            return self.call("L.LeakyReLU", **({"alpha": self.one(0.1, 0.25)} if self.maybe(0.7) else {})), shape
        if kind == 2:
            return self.call("L.ELU", **({"alpha": self.one(0.5, 1.5)} if self.maybe(0.7) else {})), shape
        if kind == 3:
            given = {"shared_axes": list(range(1, len(shape)))} if len(shape) > 1 and self.maybe(0.7) else {}
            return self.call("L.PReLU", **given), shape
        if kind == 4:
            return self.call("L.ThresholdedReLU", theta=self.one(0.1, 0.3)), shape
        if kind == 5:
            given = {}
            if self.maybe(0.5):
                given["max_value"] = self.one("6.", "1.")
            if self.maybe(0.4):
                given["negative_slope"] = 0.1
            if self.maybe(0.3):
                given["threshold"] = 0.2
            return self.call("L.ReLU", **given), shape
        if kind in (6, 7):
            return self.batch_normalization(len(shape)), shape
        if kind == 8:
            zero = self.one("L.Dropout(0.)", "L.GaussianNoise(0.)", "L.GaussianDropout(0.)", "L.AlphaDropout(0.)")
            return zero, shape
        if kind == 9 and not self.standalone and self.replicas:
            return "L.Activation('tanh')", shape
        if kind == 9:
            given = {"l2": self.one(0.01, 0.002), **({"l1": 0.001} if self.maybe(0.5) else {})}
            return self.call("L.ActivityRegularization", **given), shape
        text = self.one(
            "x * 2.", "K.square(x) - 0.1", "K.abs(x)", "x / (1. + K.abs(x))", "K.clip(x, -1., 1.)", "K.exp(-x)"
        )
        if self.maybe(0.3):
            return f"L.Lambda(lambda x, a: {text} + a, arguments={{'a': 0.5}})", shape
        return f"L.Lambda(lambda x: {text})", shape

    def batch_normalization(self, rank: int) -> str:
        self.has_state = True
        given: dict[str, Any] = {}
        if self.maybe(0.4):
            given["momentum"] = self.one(0.5, 0.8, 0.9)
        if self.maybe(0.3):
            given["epsilon"] = self.one(1e-2, 1e-4)
        if self.maybe(0.2):
            given[self.one("center", "scale")] = False
        if self.maybe(0.15):
            given["gamma_regularizer"] = "'l2'"
        if self.maybe(0.1):
            given["beta_constraint"] = "'non_neg'"
        return self.call("L.BatchNormalization", **given)

    def layer_1(self, shape: tuple[int, ...]) -> tuple[str, tuple[int, ...]]:
        if self.maybe(0.5):
            return self.dense(shape)
        if self.maybe(0.1):
            return self.call("L.RepeatVector", 3), (3, *shape)
        if shape[0] % 2 == 0 and self.maybe(0.15):
            return self.call("L.Reshape", f"({shape[0] // 2}, 2)"), (shape[0] // 2, 2)
        if self.maybe(0.1):
            return self.call("L.Softmax"), shape
        return self.any_rank(shape)

    def dense(self, shape: tuple[int, ...], **more: Any) -> tuple[str, tuple[int, ...]]:
        units = self.one(3, 4, 6)
        given: dict[str, Any] = self.weight_arguments()
        if self.maybe(0.7):
            given["activation"] = self.activation()
        if self.maybe(0.15):
            given["use_bias"] = False
            given = {key: value for key, value in given.items() if not key.startswith("bias")}
        if self.standalone and self.maybe(0.08):
            old = {"kernel_regularizer": "W_regularizer", "kernel_constraint": "W_constraint", "use_bias": "bias"}
            old.update(
                {"kernel_initializer": "init", "bias_regularizer": "b_regularizer", "bias_constraint": "b_constraint"}
            )
            given = {old.get(key, key): value for key, value in given.items()}
            return self.call("L.Dense", output_dim=units, **given, **more), (*shape[:-1], units)
        return self.call("L.Dense", units, **given, **more), (*shape[:-1], units)

    def layer_2(self, shape: tuple[int, ...]) -> tuple[str, tuple[int, ...]]:
        steps, channels = shape
        kind = self.random.randrange(16)
        if kind <= 2 and steps >= 4:
            name = self.one("Conv1D", "Conv1D", "SeparableConv1D", "LocallyConnected1D")
            return self.convolution(name, shape)
        if kind == 3 and steps >= 4:
            name = self.one("MaxPooling1D", "AveragePooling1D")
            return self.pool(name, shape)
        if kind == 4:
            return self.call(f"L.{self.one('GlobalMaxPooling1D', 'GlobalAveragePooling1D')}"), (channels,)
        if kind == 5:
            kinds = [("ZeroPadding1D", steps + 2, 1), ("UpSampling1D", steps * 2, 2)]
            if steps > 3:
                kinds.append(("Cropping1D", steps - 2, 1))
            name, after, argument = self.one(*kinds)
            return self.call(f"L.{name}", argument), (after, channels)
        if kind <= 9:
            return self.recurrent(shape)
        if kind == 10:
            inner, after = self.dense((channels,))
            return f"L.TimeDistributed({inner})", (steps, *after)
        if kind == 11:
            return self.dense(shape)
        if kind == 12:
            return "L.Permute((2, 1))", (channels, steps)
        if kind == 13:
            return "L.Flatten()", (steps * channels,)
        if kind == 14:
            return self.cells(shape)
        if kind == 15 and self.maybe(0.4):
            return self.one("L.SpatialDropout1D(0.)", "L.Softmax()", "L.Softmax(axis=1)"), shape
        return self.any_rank(shape)

    def cells(self, shape: tuple[int, ...]) -> tuple[str, tuple[int, ...]]:
        """Return an RNN of one cell, or of several."""
        cells, units = [], 2
        for _ in range(self.one(1, 2, 3)):
            units = self.one(2, 3)
            given: dict[str, Any] = {"kernel_regularizer": "'l2'"} if self.maybe(0.2) else {}
            if self.maybe(0.3):
                given["activation"] = self.one("'relu'", "'sigmoid'")
            cells.append(self.call(f"L.{self.one('LSTMCell', 'GRUCell', 'SimpleRNNCell')}", units, **given))
        text = cells[0] if len(cells) == 1 else f"[{', '.join(cells)}]"
        if self.maybe(0.4):
            return f"L.RNN({text}, return_sequences=True)", (shape[0], units)
        return f"L.RNN({text})", (units,)

    def recurrent(self, shape: tuple[int, ...], sequences: bool | None = None) -> tuple[str, tuple[int, ...]]:
        name = self.one("LSTM", "GRU", "SimpleRNN")
        units = self.one(2, 3)
        sequences = self.maybe(0.4) if sequences is None else sequences
        given: dict[str, Any] = self.weight_arguments()
        if self.maybe(0.15):
            given["recurrent_regularizer"] = self.regularizer()
        if self.maybe(0.1):
            given["recurrent_constraint"] = self.constraint()
        if self.maybe(0.2):
            given["activation"] = self.one("'relu'", "'sigmoid'", "'softsign'")
        if name != "SimpleRNN" and self.maybe(0.25):
            given["recurrent_activation"] = self.one("'sigmoid'", "'hard_sigmoid'")
        if self.maybe(0.12):
            given["go_backwards"] = True
        if self.maybe(0.08):
            given["unroll"] = True
        if name == "GRU" and self.maybe(0.2):
            given["reset_after"] = self.one(True, False)
        if name == "LSTM" and self.maybe(0.15):
            given["unit_forget_bias"] = False
        if name != "SimpleRNN" and self.maybe(0.15):
            given["implementation"] = self.one(1, 2)
        if sequences:
            given["return_sequences"] = True
        if given.get("use_bias") is False:
            given = {key: value for key, value in given.items() if not key.startswith("bias")}
        text = self.call(f"L.{name}", units, **given)
        if self.maybe(0.3):
            mode = self.one("concat", "concat", "sum", "mul", "ave")
            text = f"L.Bidirectional({text}" + (
                f", merge_mode={mode!r})" if mode != "concat" or self.maybe(0.3) else ")"
            )
            units *= 2 if mode == "concat" else 1
        return text, (shape[0], units) if sequences else (units,)

    def size_after(self, size: int, kernel: int, stride: int, padding: str, dilation: int = 1) -> int:
        if padding == "same":
            return -(-size // stride)
        return (size - (kernel - 1) * dilation - 1) // stride + 1

    def convolution(self, name: str, shape: tuple[int, ...]) -> tuple[str, tuple[int, ...]]:
        *sizes, channels = shape
        filters, kernel = self.one(2, 3, 4), self.one(2, 3)
        local, depthwise, transposed = "Locally" in name, "Depthwise" in name, "Transpose" in name
        padding = "valid" if local else self.one("valid", "same")
        stride = self.one(1, 1, 2)
        given: dict[str, Any] = {}
        if padding == "same" or (self.maybe(0.2) and not local):
            given["padding"] = repr(padding)
        if name == "Conv1D" and padding == "same" and stride == 1 and self.maybe(0.4):
            given["padding"] = "'causal'"
        if stride > 1:
            given["strides"] = stride
        dilation = 1
        if (
            stride == 1
            and not local
            and not transposed
            and not depthwise
            and self.maybe(0.15)
            and min(sizes) > 2 * kernel
        ):
            dilation = given["dilation_rate"] = 2
        if self.maybe(0.6):
            given["activation"] = self.activation()
        if self.maybe(0.15):
            given["use_bias"] = False
        if "Separable" in name:
            more = self.weight_arguments("depthwise", "use_bias" not in given)
            if self.maybe(0.3):
                given["pointwise_regularizer"] = self.regularizer()
        else:
            more = self.weight_arguments("depthwise" if depthwise else "kernel", "use_bias" not in given)
        given.update(more)
        if ("Separable" in name or depthwise) and self.maybe(0.3):
            given["depth_multiplier"] = 2
        if depthwise:
            filters = channels * given.get("depth_multiplier", 1)
        if transposed:
            after = [size * stride if padding == "same" else size * stride + max(kernel - stride, 0) for size in sizes]
        else:
            after = [self.size_after(size, kernel, stride, padding, dilation) for size in sizes]
        args = [kernel] if depthwise else [filters, kernel]
        if name == "Conv2D" and self.standalone and self.maybe(0.08):
            given = {key: value for key, value in given.items() if key in ("activation", "padding", "strides")}
            if "padding" in given:
                given["border_mode"] = given.pop("padding")
            if "strides" in given:
                given["subsample"] = f"({stride}, {stride})"
                del given["strides"]
            if dilation > 1:
                after = [self.size_after(size, kernel, stride, padding) for size in sizes]
            return self.call("L.Convolution2D", filters, kernel, kernel, **given), (*after, filters)
        return self.call(f"L.{name}", *args, **given), (*after, filters)

    def pool(self, name: str, shape: tuple[int, ...]) -> tuple[str, tuple[int, ...]]:
        *sizes, channels = shape
        size = self.one(2, 3)
        padding = self.one("valid", "same")
        given: dict[str, Any] = {"pool_size": size} if size != 2 or self.maybe(0.4) else {}
        stride = size
        if self.maybe(0.3):
            stride = given["strides"] = self.one(1, 2)
        if padding == "same":
            given["padding"] = "'same'"
        return self.call(f"L.{name}", **given), (*(self.size_after(s, size, stride, padding) for s in sizes), channels)

    def layer_3(self, shape: tuple[int, ...]) -> tuple[str, tuple[int, ...]]:
        height, width, channels = shape
        kind = self.random.randrange(13)
        roomy = min(height, width) >= 4
        if kind <= 4 and roomy:
            names = ("Conv2D", "Conv2D", "SeparableConv2D", "DepthwiseConv2D", "Conv2DTranspose", "LocallyConnected2D")
            if height * width <= 64:
                return self.convolution(self.one(*names), shape)
        if kind <= 6 and roomy:
            return self.pool(self.one("MaxPooling2D", "AveragePooling2D"), shape)
        if kind == 7:
            return self.call(f"L.{self.one('GlobalMaxPooling2D', 'GlobalAveragePooling2D')}"), (channels,)
        if kind == 8 and height * width <= 36:
            given = {"interpolation": "'bilinear'"} if self.maybe(0.3) else {}
            return self.call("L.UpSampling2D", **given), (height * 2, width * 2, channels)
        if kind == 9:
            if roomy and self.maybe(0.5):
                return "L.Cropping2D(((1, 0), (0, 1)))", (height - 1, width - 1, channels)
            return "L.ZeroPadding2D(((1, 0), (2, 1)))", (height + 1, width + 3, channels)
        if kind == 10:
            return self.call("L.Reshape", f"({height * width}, {channels})"), (height * width, channels)
        if kind == 11:
            return "L.Flatten()", (height * width * channels,)
        if kind == 12 and self.maybe(0.5):
            text, axes = self.one(
                ("Permute((2, 1, 3))", (1, 0, 2)),
                ("SpatialDropout2D(0.)", (0, 1, 2)),
                ("Permute((3, 2, 1))", (2, 1, 0)),
            )
            return f"L.{text}", (shape[axes[0]], shape[axes[1]], shape[axes[2]])
        return self.any_rank(shape)

    def layer_4(self, shape: tuple[int, ...]) -> tuple[str, tuple[int, ...]]:
        frames, height, width, channels = shape
        kind = self.random.randrange(11)
        if kind <= 1:
            return self.convolution(self.one("Conv3D", "Conv3D", "Conv3DTranspose"), shape)
        if kind == 2:
            return self.pool(self.one("MaxPooling3D", "AveragePooling3D"), shape)
        if kind == 3:
            return self.call(f"L.{self.one('GlobalMaxPooling3D', 'GlobalAveragePooling3D')}"), (channels,)
        if kind == 4:
            return "L.ZeroPadding3D(1)", (frames + 2, height + 2, width + 2, channels)
        if kind == 5:
            inner, after = self.convolution("Conv2D", shape[1:])
            return f"L.TimeDistributed({inner})", (frames, *after)
        if kind == 6:
            given: dict[str, Any] = {"padding": "'same'"} if self.maybe(0.5) else {}
            size = height if given else height - 1
            if self.maybe(0.3):
                given["recurrent_activation"] = "'sigmoid'"
            if self.maybe(0.3):
                given["go_backwards"] = True
            if self.maybe(0.4):
                return self.call("L.ConvLSTM2D", 2, 2, return_sequences=True, **given), (frames, size, size, 2)
            return self.call("L.ConvLSTM2D", 2, 2, **given), (size, size, 2)
        if kind == 7:
            return "L.UpSampling3D((1, 2, 1))", (frames, height * 2, width, channels)
        if kind == 8 and frames > 1 and min(height, width) > 2:
            return "L.Cropping3D(((1, 0), (0, 1), (1, 1)))", (frames - 1, height - 1, width - 2, channels)
        if kind == 9:
            return "L.SpatialDropout3D(0.)", shape
        return self.any_rank(shape)

    # ---- models -----------------------------------------------------------------------------------------------------

    def stack(self, shape: tuple[int, ...], count: int, before: str = "") -> tuple[list[str], tuple[int, ...]]:
        """Return some layers one after another; a layer before a BatchNormalization has no bias to be undone."""
        layers: list[str] = []
        for _ in range(count):
            text, after = self.layer(shape)
            # A bias that a BatchNormalization undoes has a gradient of rounding errors alone.
            if "BatchNormalization" in text and (layers or before):
                layers.append("L.Activation('tanh')")
            if min(after) < 1:
                continue
            layers.append(text)
            shape = after
        return layers, shape

    def kind_of_model(self) -> str:
        kinds = ["dense"] * 4 + ["images"] * 4 + ["text"] * 4 + ["masked"] * 3 + ["sequence"] * 3 + ["volumes"] * 1
        kinds += [*["several"] * 5, *["nested"] * 2, *["own"] * 3, *["segmentation"] * 2, "states"]
        return self.one(*kinds, *["subclass"] * 2) if self.tf2 and not self.replicas else self.one(*kinds)

    def write(self) -> str:
        """Return the text of the script."""
        self.imports()
        if self.seed > parallel_scripts.FIRST:
            parallel_scripts.write(self)
            self.add("print(json.dumps(RESULT))")
            return "\n".join(self.lines) + "\n"
        if self.seed > wider_scripts.FIRST:
            (api_scripts if self.seed > api_scripts.FIRST else wider_scripts).write(self)
            return "\n".join(self.lines) + "\n"
        if self.maybe(0.1):
            self.one(other_scripts.gan, other_scripts.autoencoder, other_scripts.siamese)(self)
            return "\n".join(self.lines) + "\n"
        self.kind = self.kind_of_model()
        self.outputs: list[dict[str, Any]] = []
        self.inputs: list[str] = []
        getattr(self, f"model_{self.kind}")()
        if self.replicas and self.has_state:
            self.replicas = 0
        self.add("start(model)")
        if self.maybe(0.7):
            self.add("note('layers', [layer.name for layer in model.layers])")
            self.add("note('names of weights', [w.name for w in model.weights])")
        self.data()
        self.train()
        self.add("print(json.dumps(RESULT))")
        return "\n".join(self.lines) + "\n"

    def imports(self) -> None:
        self.add(f'"""A random script for {self.era}."""')
        self.add("import json")
        self.add("import random\n\nimport numpy as np")
        names = "activations, callbacks, constraints, initializers, losses, metrics, models, optimizers, regularizers, utils"
        if self.standalone:
            self.add("import keras\nfrom keras import backend as K, layers as L")
            self.add(f"from keras import {names}")
        else:
            self.add("import tensorflow as tf\nfrom tensorflow import keras")
            self.add("from tensorflow.keras import backend as K, layers as L")
            self.add(f"from tensorflow.keras import {names}")
            if not self.tf2:
                self.add("\ntf.set_random_seed(0)")
        self.add(f"\nSEED = {self.seed}")
        self.add(PRELUDE)

    def chain(self, layers: list[str], shape: tuple[int, ...], embedding: str = "") -> None:
        """Write layers one after another: as a Sequential model, or as functions."""
        if self.maybe(0.45):
            if embedding:
                layers = [embedding, *layers]
            elif self.maybe(0.5) and layers[0].endswith(")") and not layers[0].startswith("L.Bidirectional"):
                separator = "" if layers[0].endswith("()") else ", "
                layers = [f"{layers[0][:-1]}{separator}input_shape={shape})", *layers[1:]]
            else:
                layers = [f"L.InputLayer({shape})", *layers]
            if self.maybe(0.5):
                self.add("model = models.Sequential([")
                self.add("\n".join(f"{layer}," for layer in layers), 4)
                self.add("])")
            else:
                self.add("model = models.Sequential()")
                self.add("\n".join(f"model.add({layer})" for layer in layers))
            return
        if embedding:
            self.add(f"inputs = L.Input(({shape[0]},))")
            self.add(f"x = {embedding.split(', input_length')[0]})(inputs)")
        else:
            self.add(f"inputs = x = L.Input({shape})")
        self.add("\n".join(f"x = {layer}(x)" for layer in layers))
        self.add(
            "model = models.Model(inputs, x)"
            if self.maybe(0.7)
            else "model = models.Model(inputs=[inputs], outputs=[x])"
        )

    def head(self, shape: tuple[int, ...], name: str = "") -> list[str]:
        """Return the last layers, and write down what the output is."""
        layers = []
        if len(shape) == 4:
            layers.append("L.GlobalAveragePooling3D()")
            shape = shape[-1:]
        if len(shape) == 3 and self.kind != "segmentation":
            layers.append(self.one("L.Flatten()", "L.GlobalAveragePooling2D()"))
            shape = (shape[0] * shape[1] * shape[2],) if "Flatten" in layers[-1] else shape[-1:]
        if len(shape) == 2 and self.kind not in ("sequence",) and self.maybe(0.75):
            layers.append(self.one("L.Flatten()", "L.GlobalMaxPooling1D()") if self.kind != "masked" else "L.LSTM(3)")
            shape = (shape[0] * shape[1],) if "Flatten" in layers[-1] else (3 if "LSTM" in layers[-1] else shape[-1],)
        goal = self.goal(name)
        given = {"activation": repr(goal["activation"])} if goal["activation"] != "linear" else {}
        separate = given and self.maybe(0.2) and len(shape) == 1
        named = {"name": repr(name)} if name else {}
        if len(shape) == 3:
            layers.append(self.call("L.Conv2D", goal["units"], 1, **given, **named))
        elif separate:
            layers.append(self.call("L.Dense", goal["units"]))
            layers.append(self.call("L.Activation", *given.values(), **named))
        elif len(shape) == 2 and self.maybe(0.6):
            layers.append(
                f"L.TimeDistributed({self.call('L.Dense', goal['units'], **given)}{', name=' + repr(name) if name else ''})"
            )
        else:
            layers.append(self.call("L.Dense", goal["units"], **given, **named))
        goal["shape"] = (*shape[:-1], goal["units"])
        self.outputs.append(goal)
        return layers

    def goal(self, name: str) -> dict[str, Any]:
        """Return what an output is trained for: activation, units, loss, metrics, targets."""
        kind = self.one("number", "number", "positive", "bit", "bits", "class", "class", "class", "whole class", "sign")
        units = {"number": self.one(1, 2, 3), "positive": self.one(1, 2), "bit": 1, "bits": 3}.get(kind, self.one(3, 6))
        common = ["mse", "mae", "mean_squared_error", "metrics.mean_absolute_error"]
        every = {
            "number": (
                "linear",
                ["mse", "mae", "mean_squared_error", "logcosh", "mean_absolute_error", *self.cosine(units)],
                [*common, *self.cosine(units)],
            ),
            "positive": (
                "softplus",
                ["mape", "msle", "mean_absolute_percentage_error", "poisson", "losses.mean_squared_logarithmic_error"],
                [*common, "mape", "msle", "poisson"],
            ),
            "bit": (
                "sigmoid",
                ["binary_crossentropy", "losses.binary_crossentropy", "mse"],
                ["accuracy", "acc", "binary_accuracy", "metrics.binary_accuracy", *common],
            ),
            "bits": (
                self.one("sigmoid", "sigmoid", "softmax"),
                ["binary_crossentropy", "binary_crossentropy", "mse"],
                ["accuracy", "binary_accuracy", "mse", "binary_crossentropy"],
            ),
            "class": (
                "softmax",
                ["categorical_crossentropy"] * 3
                + ["kullback_leibler_divergence", "categorical_hinge", "mse", "losses.categorical_crossentropy", "kld"],
                ["accuracy", "acc", "categorical_accuracy", "categorical_crossentropy", "kullback_leibler_divergence"]
                + (["top_k_categorical_accuracy"] if units == 6 else []),
            ),
            "whole class": (
                "softmax",
                ["sparse_categorical_crossentropy", "losses.sparse_categorical_crossentropy"],
                ["accuracy", "acc", "sparse_categorical_accuracy", "sparse_categorical_crossentropy"]
                + (["sparse_top_k_categorical_accuracy"] if units == 6 and not self.standalone else []),
            ),
            "sign": ("tanh", ["hinge", "squared_hinge"], ["mse", "hinge", "accuracy", "squared_hinge"]),
        }
        activation, losses, metrics = every[kind]
        loss = self.one(*losses)
        if self.has_classes and self.maybe(0.3):
            classes = {
                "mse": "MeanSquaredError()",
                "mae": "MeanAbsoluteError()",
                "logcosh": "LogCosh()",
                "mape": "MeanAbsolutePercentageError()",
                "msle": "MeanSquaredLogarithmicError()",
                "poisson": "Poisson()",
                "hinge": "Hinge()",
                "squared_hinge": "SquaredHinge()",
                "categorical_hinge": "CategoricalHinge()",
                "kullback_leibler_divergence": "KLDivergence()",
                "binary_crossentropy": self.one("BinaryCrossentropy()", "BinaryCrossentropy(label_smoothing=0.1)"),
                "categorical_crossentropy": self.one(
                    "CategoricalCrossentropy()",
                    "CategoricalCrossentropy(from_logits=True)",
                    "CategoricalCrossentropy(label_smoothing=0.2)",
                ),
                "sparse_categorical_crossentropy": self.one(
                    "SparseCategoricalCrossentropy()", "SparseCategoricalCrossentropy(from_logits=True)"
                ),
                "mean_squared_error": "Huber(delta=0.5)",
            }
            if loss in classes:
                loss = f"losses.{classes[loss]}"
        if loss[0] != "l" or loss in ("logcosh",):
            loss = repr(loss)
        chosen = self.random.sample(metrics, self.one(0, 1, 1, 2, 2, 3) if len(metrics) > 2 else 1)
        chosen = [each if each.startswith("metrics.") else repr(each) for each in chosen]
        chosen = self.unlike(chosen)
        if self.has_classes and self.maybe(0.3):
            classes = {
                "number": [
                    "metrics.MeanAbsoluteError()",
                    "metrics.RootMeanSquaredError()",
                    "metrics.MeanSquaredError(name='m')",
                ],
                "positive": ["metrics.MeanAbsolutePercentageError()", "metrics.MeanSquaredLogarithmicError()"],
                "bit": ["metrics.AUC(num_thresholds=20)", "metrics.Precision()", "metrics.Recall(thresholds=0.4)"],
                "bits": [
                    "metrics.BinaryAccuracy(threshold=0.3)",
                    "metrics.TruePositives()",
                    "metrics.FalseNegatives()",
                ],
                "class": [
                    "metrics.CategoricalAccuracy()",
                    "metrics.Precision(class_id=1)",
                    "metrics.CategoricalCrossentropy()",
                ],
                "whole class": [
                    "metrics.SparseCategoricalAccuracy()",
                    "metrics.SparseCategoricalCrossentropy(name='s')",
                ],
                "sign": ["metrics.Hinge()", "metrics.SquaredHinge()"],
            }[kind]
            added = self.one(*classes)
            same = re.sub(r"(?<!^)(?=[A-Z])", "_", added[len("metrics.") : added.index("(")]).lower()
            if not any(same in each for each in chosen):
                chosen.append(added)
        return {"name": name, "kind": kind, "activation": activation, "units": units, "loss": loss, "metrics": chosen}

    def cosine(self, units: int) -> list[str]:
        """Return the cosine of two vectors by the era's names; of numbers it is 1 or -1, which rounding decides."""
        if units < 2:
            return []
        return {"keras-2.2.4": ["cosine", "cosine_proximity"], "tf.keras-1.15": ["cosine_proximity"]}.get(
            self.era, ["cosine_similarity"]
        )

    @staticmethod
    def unlike(names: list[str]) -> list[str]:
        """Return metrics without those that would be one and the same by name."""
        alias = {
            "'cosine'": "cosine_proximity",
            "'mse'": "mean_squared_error",
            "'mae'": "mean_absolute_error",
            "'acc'": "accuracy",
        }
        seen, kept = set(), []
        for each in names:
            known = alias.get(each, each.strip("'").replace("metrics.", ""))
            if known not in seen:
                kept.append(each)
            seen.add(known)
        return kept

    def model_dense(self) -> None:
        self.inputs = ["normal(size=(SAMPLES, 5))"]
        layers, shape = self.stack((5,), self.one(1, 1, 2, 2, 3))
        self.chain(layers + self.head(shape), (5,))

    def model_images(self) -> None:
        shape = self.one((6, 6, 2), (7, 7, 1), (8, 8, 3), (5, 8, 2))
        self.inputs = [f"normal(size=(SAMPLES,) + {shape})"]
        first, after = self.convolution(self.one("Conv2D", "Conv2D", "SeparableConv2D"), shape)
        layers, after = self.stack(after, self.one(0, 1, 1, 2), first)
        self.chain([first, *layers, *self.head(after)], shape)

    def model_segmentation(self) -> None:
        self.inputs = ["normal(size=(SAMPLES, 6, 6, 2))"]
        layers = [
            "L.Conv2D(3, 3, padding='same', activation='relu')",
            self.one("L.MaxPooling2D(2)", "L.AveragePooling2D(2)"),
            self.one("L.Conv2D(3, 2, padding='same', activation='tanh')", "L.SeparableConv2D(3, 3, padding='same')"),
            self.one("L.UpSampling2D(2)", "L.Conv2DTranspose(2, 2, strides=2)"),
        ]
        channels = 2 if "Transpose" in layers[-1] else 3
        self.chain([*layers, *self.head((6, 6, channels))], (6, 6, 2))

    def model_volumes(self) -> None:
        self.inputs = ["normal(size=(SAMPLES, 3, 4, 4, 2))"]
        layers, after = self.stack((3, 4, 4, 2), self.one(1, 2))
        self.chain([*layers, *self.head(after)] if layers else ["L.Flatten()", *self.head((96,))], (3, 4, 4, 2))

    def embedding(self, masked: bool, steps: int) -> tuple[str, int]:
        words, size = 9, self.one(2, 3, 4)
        given: dict[str, Any] = {}
        if masked:
            given["mask_zero"] = True
        if self.maybe(0.15):
            given["embeddings_regularizer"] = self.one("'l2'", "regularizers.l1(0.002)")
        if self.maybe(0.12):
            given["embeddings_constraint"] = self.constraint()
        given["input_length"] = steps
        return self.call("L.Embedding", words, size, **given), size

    def model_text(self) -> None:
        steps = self.one(5, 6, 8)
        embedding, size = self.embedding(False, steps)
        self.inputs = [f"randint(0, 8, (SAMPLES, {steps}))"]
        layers, shape = self.stack((steps, size), self.one(0, 1, 2, 2))
        self.chain(layers + self.head(shape), (steps,), embedding)

    def model_masked(self) -> None:
        steps = 5
        layers: list[str] = []
        embedding = ""
        if self.maybe(0.7):
            embedding, size = self.embedding(True, steps)
            self.inputs = [
                f"randint(1, 8, (SAMPLES, {steps})) * (np.arange({steps}) < draw.randint(1, {steps + 1}, (SAMPLES, 1)))"
            ]
            shape: tuple[int, ...] = (steps,)
        else:
            size = 2
            mask = f"(np.arange({steps}) < draw.randint(1, {steps + 1}, (SAMPLES, 1)))[:, :, None]"
            self.inputs = [f"normal(size=(SAMPLES, {steps}, 2)) * {mask}"]
            shape = (steps, 2)
            layers.append("L.Masking()" if self.maybe(0.6) else "L.Masking(mask_value=0.)")
        after: tuple[int, ...] = (steps, size)
        for _ in range(self.one(0, 1, 1, 2)):
            kind = self.random.randrange(4)
            if kind <= 1:
                text, after = self.recurrent(after, True)
            elif kind == 2:
                inner, last = self.dense(after[1:])
                text, after = f"L.TimeDistributed({inner})", (steps, *last)
            else:
                text = self.one("L.Activation('tanh')", "L.Dropout(0.)", "L.LeakyReLU()", "L.ELU()")
            layers.append(text)
        if self.maybe(0.5):
            text, after = self.recurrent(after, False)
            layers.append(text)
        self.chain(layers + self.head(after), shape, embedding)

    def model_sequence(self) -> None:
        self.inputs = ["normal(size=(SAMPLES, 5, 3))"]
        first, after = self.recurrent((5, 3), True)
        layers = [first]
        if self.maybe(0.5):
            text, after = self.recurrent(after, True)
            layers.append(text)
        if self.maybe(0.3):
            text, after = self.any_rank(after)
            layers += ["L.Activation('tanh')", text] if "BatchNormalization" in text else [text]
        self.chain(layers + self.head(after), (5, 3))

    def model_several(self) -> None:
        """Inputs and outputs in numbers, layers that merge, shared layers."""
        two = self.maybe(0.7)
        self.inputs = ["normal(size=(SAMPLES, 5))", "normal(size=(SAMPLES, 4))"][: 2 if two else 1]
        self.add("a = L.Input((5,), name='a')")
        units = self.one(3, 4)
        self.add(f"x = {self.call('L.Dense', units, activation=self.activation(), **self.weight_arguments())}(a)")
        if two:
            self.add("b = L.Input((4,), name='b')")
            self.add(f"y = {self.call('L.Dense', units, activation=self.activation())}(b)")
        else:
            self.add(f"y = {self.call('L.Dense', units, activation=self.activation())}(a)")
        merges = ["Add()", "Multiply()", "Average()", "Maximum()", "Concatenate()", "Subtract()", "Dot(1)", "Minimum()"]
        merge = self.one(*merges, "Dot(-1, normalize=True)")
        if merge == "Concatenate()" and self.maybe(0.5):
            self.add("x = L.concatenate([x, y])")
        else:
            self.add(f"x = L.{merge}([x, y])")
        shape = (units * 2,) if "Conc" in merge else (1,) if "Dot" in merge else (units,)
        if self.maybe(0.3):
            self.add("shared = L.Dense(4, activation='tanh')")
            self.add("x = L.add([shared(x), shared(L.Activation('relu')(x))])")
            shape = (4,)
        count = self.one(1, 2, 2, 2, 3) if two else self.one(2, 2, 3)
        names = [self.one("out", "head", "o") + f"_{letter}" for letter in "xyz"[:count]]
        texts = []
        for index, name in enumerate(names):
            layers = self.head(shape, name)
            text = "x"
            for layer in layers:
                text = f"{layer}({text})"
            texts.append(f"z{index}")
            self.add(f"z{index} = {text}")
        inputs = "[a, b]" if two else "a"
        self.add(
            f"model = models.Model({inputs}, [{', '.join(texts)}])"
            if count > 1
            else f"model = models.Model({inputs}, z0)"
        )

    def model_nested(self) -> None:
        self.inputs = ["normal(size=(SAMPLES, 5))"]
        inner, shape = self.stack((5,), 2)
        while len(shape) > 1 or not inner:
            inner, shape = self.stack((5,), 2)
        self.add("base = models.Sequential([L.InputLayer((5,)),")
        self.add("\n".join(f"{layer}," for layer in inner), 4)
        self.add("], name='base')")
        if self.maybe(0.5):
            self.add(f"base.layers[{self.one(0, -1)}].trainable = False")
        elif self.maybe(0.3):
            self.add("base.trainable = False")
        layers, shape = self.stack(shape, self.one(0, 1), "base")
        self.chain(["base", *layers, *self.head(shape)], (5,))

    def model_own(self) -> None:
        """A layer of one's own."""
        self.inputs = ["normal(size=(SAMPLES, 5))"]
        self.custom["Own"] = "Own"
        build = self.one(
            "self.kernel = self.add_weight(name='kernel', shape=(input_shape[-1], self.units), initializer='uniform', trainable=True)",
            "self.kernel = self.add_weight('kernel', (int(input_shape[-1]), self.units), initializer='glorot_uniform')",
        )
        body = self.one(
            "K.dot(x, self.kernel) + self.bias",
            "K.tanh(K.dot(x, self.kernel) + self.bias)",
            "K.dot(x, K.abs(self.kernel)) * self.bias",
        )
        self.add("class Own(L.Layer):")
        self.add(
            "def __init__(self, units, **kwargs):\n    super(Own, self).__init__(**kwargs)\n    self.units = units", 4
        )
        self.add(f"\ndef build(self, input_shape):\n    {build}", 4)
        self.add("self.bias = self.add_weight(name='bias', shape=(self.units,), initializer='ones')", 8)
        self.add("super(Own, self).build(input_shape)", 8)
        loss = ""
        if not self.replicas and self.maybe(0.25):
            loss = "    self.add_loss(0.01 * K.sum(K.square(x)), inputs=x)\n" if not self.tf2 or self.maybe(0.5) else ""
            loss = loss or "    self.add_loss(0.01 * K.mean(K.abs(x)))\n"
        self.add(f"\ndef call(self, x):\n{loss}    return {body}", 4)
        self.add("\ndef compute_output_shape(self, input_shape):\n    return (input_shape[0], self.units)", 4)
        self.add("\ndef get_config(self):\n    return dict(super(Own, self).get_config(), units=self.units)\n\n", 4)
        layers, shape = self.stack((4,), self.one(0, 1, 2), "Own")
        self.chain(["Own(4)", *layers, *self.head(shape)], (5,))

    def model_states(self) -> None:
        """An encoder whose states begin a decoder."""
        self.inputs = ["normal(size=(SAMPLES, 4, 3))", "normal(size=(SAMPLES, 5, 2))"]
        name = self.one("LSTM", "GRU", "SimpleRNN")
        self.add("a, b = L.Input((4, 3)), L.Input((5, 2))")
        states = "h, c" if name == "LSTM" else "h"
        self.add(f"x, {states} = L.{name}(3, return_state=True)(a)")
        self.add(f"x = L.{name}(3, return_sequences=True)(b, initial_state=[{states}])")
        text = "x"
        for layer in self.head((5, 3)):
            text = f"{layer}({text})"
        self.add(f"model = models.Model([a, b], {text})")

    def model_subclass(self) -> None:
        """A model of one's own class."""
        self.inputs = ["normal(size=(SAMPLES, 5))"]
        layers, shape = self.stack((5,), 2)
        while len(shape) > 1 or not layers:
            layers, shape = self.stack((5,), 2)
        self.kind = "dense"
        layers += self.head(shape)
        self.add("class Own(models.Model):")
        self.add("def __init__(self):\n    super(Own, self).__init__()", 4)
        self.add("\n".join(f"self.part_{i} = {layer}" for i, layer in enumerate(layers)), 8)
        self.add("\ndef call(self, x):", 4)
        self.add("\n".join(f"x = self.part_{i}(x)" for i in range(len(layers))) + "\nreturn x\n\n", 8)
        self.add("model = Own()\nmodel.build((None, 5))")
        self.kind = "subclass"

    # ---- data -------------------------------------------------------------------------------------------------------

    def data(self) -> None:
        self.add(f"SAMPLES = {SAMPLES}")
        names = []
        for index, text in enumerate(self.inputs):
            self.add(f"x{index} = draw.{text}" + (".astype('float32')" if "normal" in text else ""))
            names.append(f"x{index}")
        self.x = names[0] if len(names) == 1 else f"[{', '.join(names)}]"
        targets = []
        for index, goal in enumerate(self.outputs):
            *lead, units = goal["shape"]
            lead_text = "".join(f", {size}" for size in lead)
            text = {
                "number": f"draw.normal(size=(SAMPLES{lead_text}, {units}))",
                "positive": f"draw.uniform(0.5, 2., (SAMPLES{lead_text}, {units}))",
                "bit": f"draw.randint(0, 2, (SAMPLES{lead_text}, {units}))",
                "bits": f"draw.randint(0, 2, (SAMPLES{lead_text}, {units})).astype('float32')",
                "sign": f"draw.randint(0, 2, (SAMPLES{lead_text}, {units})) * 2. - 1",
                "whole class": f"draw.randint(0, {units}, (SAMPLES{lead_text}, 1))",
                "class": f"np.eye({units})[draw.randint(0, {units}, (SAMPLES{lead_text}))]"
                if lead
                else self.one(
                    f"np.eye({units})[draw.randint(0, {units}, SAMPLES)]",
                    f"utils.to_categorical(draw.randint(0, {units}, SAMPLES), {units})",
                ),
            }[goal["kind"]]
            text = text.replace("(SAMPLES)", "SAMPLES")
            if goal["kind"] == "class" and lead:
                text = f"np.eye({units})[draw.randint(0, {units}, (SAMPLES{lead_text}))]"
            self.add(f"y{index} = {text}")
            targets.append(f"y{index}")
        self.y = targets[0] if len(targets) == 1 else f"[{', '.join(targets)}]"
        if len(targets) > 1 and self.maybe(0.2) and not (self.tf2 and self.replicas):
            self.y = "{" + ", ".join(f"{goal['name']!r}: y{i}" for i, goal in enumerate(self.outputs)) + "}"
            if self.replicas:
                self.y = f"[{', '.join(targets)}]"

    # ---- compile ----------------------------------------------------------------------------------------------------

    def optimizer(self) -> str:
        name = self.one("SGD", "SGD", "RMSprop", "Adagrad", "Adadelta", "Adam", "Adam", "Adamax", "Nadam")
        if self.maybe(0.15):
            return repr(self.one(name, name.lower()))
        given: dict[str, Any] = {}
        rate = "lr" if not self.has_classes or self.maybe(0.5) else "learning_rate"
        if self.maybe(0.7):
            given[rate] = self.one(0.1, 0.05, 0.02, 0.5) if name in ("SGD", "Adadelta") else self.one(0.01, 0.02, 0.005)
        if name == "SGD" and self.maybe(0.6):
            given["momentum"] = self.one(0.9, 0.5)
            if self.maybe(0.5):
                given["nesterov"] = True
        if name in ("RMSprop", "Adadelta") and self.maybe(0.4):
            given["rho"] = self.one(0.8, 0.95)
        if name == "RMSprop" and not self.standalone and self.maybe(0.4):
            given[self.one("centered", "momentum")] = 0.5
            if "centered" in given:
                given["centered"] = True
        if name in ("Adam", "Adamax", "Nadam"):
            if self.maybe(0.3):
                given["beta_1"] = self.one(0.5, 0.8)
            if self.maybe(0.3):
                given["beta_2"] = self.one(0.9, 0.99)
        if name == "Adam" and self.maybe(0.3):
            given["amsgrad"] = True
        if name != "SGD" and self.maybe(0.4):
            given["epsilon"] = self.one("1e-4", "1e-3", "1e-7") if not self.standalone or self.maybe(0.8) else "None"
        if name == "Nadam" and self.maybe(0.4):
            given["schedule_decay"] = self.one(0.002, 0.01)
        if name != "Nadam" and self.maybe(0.35):
            given["decay"] = self.one(0.1, 0.01, 1e-3)
        if name == "Adagrad" and not self.standalone and self.maybe(0.3):
            given["initial_accumulator_value"] = 0.2
        if self.maybe(0.3):
            given["clipnorm"] = self.one(0.5, 0.1, 1.0)
        if self.maybe(0.3):
            given["clipvalue"] = self.one(0.02, 0.1, 0.5)
        if not self.standalone and self.tf2 is False and "clipnorm" in given and "clipvalue" in given:
            del given["clipvalue"]
        return self.call(f"optimizers.{name}", **given)

    def compile(self, model: str) -> None:
        given: dict[str, Any] = {}
        goals = self.outputs
        if self.maybe(0.12) and len(goals) == 1 and goals[0]["kind"] in ("number", "bit", "class", "positive"):
            self.own_loss(goals[0])
        if len(goals) == 1:
            given["loss"] = goals[0]["loss"]
            given["metrics"] = "[" + ", ".join(goals[0]["metrics"]) + "]"
            if self.maybe(0.15):
                self.add(
                    "def own_metric(y_true, y_pred):\n    return K.mean(K.abs(y_pred)) + 0. * K.mean(K.cast(y_true, 'float32'))\n"
                )
                given["metrics"] = given["metrics"].replace("]", (", " if goals[0]["metrics"] else "") + "own_metric]")
                self.custom["own_metric"] = "own_metric"
            if given["metrics"] == "[]" and self.maybe(0.7):
                del given["metrics"]
        else:
            names = [goal["name"] for goal in goals] if not self.replicas else None
            if names and self.maybe(0.5):
                given["loss"] = "{" + ", ".join(f"{goal['name']!r}: {goal['loss']}" for goal in goals) + "}"
            else:
                given["loss"] = "[" + ", ".join(goal["loss"] for goal in goals) + "]"
            if self.maybe(0.5):
                values = [self.one(0.5, 1.0, 2.0, 0.1) for _ in goals]
                if names and self.maybe(0.5):
                    given["loss_weights"] = (
                        "{" + ", ".join(f"{n!r}: {v}" for n, v in zip(names, values, strict=False)) + "}"
                    )
                else:
                    given["loss_weights"] = values
            if names and self.maybe(0.6):
                kept = self.random.sample(goals, self.one(1, len(goals)))
                given["metrics"] = (
                    "{"
                    + ", ".join(
                        f"{g['name']!r}: "
                        + (f"[{', '.join(g['metrics'])}]" if len(g["metrics"]) != 1 else g["metrics"][0])
                        for g in kept
                    )
                    + "}"
                )
            elif self.maybe(0.4):
                given["metrics"] = self.one("['mae']", "['mse', 'mae']")
        if self.weights_mode == "temporal":
            given["sample_weight_mode"] = "'temporal'"
        if self.weights and self.maybe(0.35) and len(goals) == 1:
            given["weighted_metrics"] = self.one("['mse']", "['mae', 'mse']")
            if (
                "mse" in given.get("metrics", "")
                or "mae" in given.get("metrics", "")
                or "mean_" in given.get("metrics", "")
            ):
                del given["weighted_metrics"]
        optimizer = self.optimizer()
        if self.maybe(0.3):
            self.add(f"optimizer = {optimizer}")
            optimizer = "optimizer"
        self.add(self.call(f"{model}.compile", **{"optimizer": optimizer, **given}))

    def own_loss(self, goal: dict[str, Any]) -> None:
        self.custom["own_loss"] = "own_loss"
        body = {
            "number": self.one(
                "K.mean(K.square(y_true - y_pred), axis=-1)",
                "K.mean(K.abs(y_true - y_pred) ** 1.5)",
                "K.sum(K.square(y_pred - y_true))",
            ),
            "positive": "K.mean(K.square(K.log(y_pred + 1.) - K.log(y_true + 1.)), axis=-1)",
            "bit": self.one(
                "K.mean(K.binary_crossentropy(y_true, y_pred), axis=-1)",
                "1. - (2. * K.sum(y_true * y_pred) + 1.) / (K.sum(y_true) + K.sum(y_pred) + 1.)",
                "-K.mean(0.25 * K.pow(1. - y_pred, 2.) * y_true * K.log(K.clip(y_pred, 1e-7, 1.)), axis=-1)",
            ),
            "class": self.one(
                "K.categorical_crossentropy(y_true, y_pred)",
                "-K.sum(y_true * K.log(K.clip(y_pred, K.epsilon(), 1.)), axis=-1)",
                "K.categorical_crossentropy(y_true, y_pred) + 0.1 * K.mean(K.square(y_pred), axis=-1)",
            ),
        }[goal["kind"]]
        cast = "" if self.standalone or not self.tf2 else "    y_true = K.cast(y_true, 'float32')\n"
        self.add(f"def own_loss(y_true, y_pred):\n{cast}    return {body}\n")
        goal["loss"] = "own_loss"

    def choose_weights(self) -> None:
        """Choose weights of samples, time steps or classes."""
        self.weights = self.weights_mode = self.classes = ""
        goal = self.outputs[0]
        if len(self.outputs) > 1:
            if self.maybe(0.3):
                self.add("\n".join(f"w{i} = draw.uniform(0, 2, SAMPLES)" for i in range(len(self.outputs))))
                every = [f"w{i}" for i in range(len(self.outputs))]
                self.weights = f"[{', '.join(every)}]"
            return
        if len(goal["shape"]) == 2 and self.maybe(0.35):
            self.add(f"w0 = draw.uniform(0, 2, (SAMPLES, {goal['shape'][0]}))")
            self.weights, self.weights_mode = "w0", "temporal"
            return
        if self.maybe(0.3):
            self.add(self.one("w0 = draw.uniform(0, 2, SAMPLES)", "w0 = draw.randint(0, 3, SAMPLES) * 0.7"))
            self.weights = "w0"
        if goal["kind"] in ("class", "whole class", "bit") and len(goal["shape"]) == 1 and self.maybe(0.25):
            classes = max(goal["units"], 2)
            self.classes = "{" + ", ".join(f"{i}: {self.one(0.5, 1.0, 2.0, 3.0)}" for i in range(classes)) + "}"

    # ---- training ---------------------------------------------------------------------------------------------------

    def train(self) -> None:
        self.choose_weights()
        self.model = "model"
        if self.replicas:
            self.add(f"parallel = utils.multi_gpu_model(model, gpus={self.replicas})")
            self.model = "parallel"
        if self.has_state and self.maybe(0.25):
            self.add("for layer in model.layers:\n    if 'batch' in layer.name:\n        layer.trainable = False")
        self.compile(self.model)
        if self.maybe(0.4):
            self.add(
                f"note('metrics_names at first', {self.model}.metrics_names)"
                if not self.tf2
                else f"note('losses', len({self.model}.losses))"
            )
        ways = ["fit", "fit", "fit", "fit_generator", "fit_generator", "batches", "batches"]
        simple = len(self.outputs) == 1 and len(self.inputs) == 1 and not self.weights and not self.classes
        if self.tf2 and simple and not self.replicas:
            ways += ["dataset", "tape"]
        self.way = self.one(*ways)
        getattr(self, f"train_{self.way}")()
        self.add(f"note('metrics_names', {self.model}.metrics_names)")
        self.ask("")
        self.afterwards()

    def ask(self, title: str) -> None:
        m, x, y = self.model, self.x, self.y
        self.add(f"note('weights{title}', model.get_weights())")
        if self.maybe(0.5):
            batch = f", batch_size={self.one(4, 5, 12)}" if self.maybe(0.7) else ""
            weights = f", sample_weight={self.weights}" if self.weights and self.maybe(0.5) else ""
            self.add(f"note('evaluate{title}', {m}.evaluate({x}, {y}{batch}{weights}, verbose=0))")
        if self.maybe(0.4):
            self.add(f"note('predict{title}', {m}.predict({x}, batch_size={self.one(3, 5, 12)}))")
        if self.maybe(0.12):
            if self.tf2:  # where they went on after `fit`
                self.add(f"{m}.reset_metrics()")
            self.add(f"note('test_on_batch{title}', {m}.test_on_batch({x}, {y}))")
        if self.maybe(0.1):
            self.add(f"note('predict_on_batch{title}', {m}.predict_on_batch({x}))")
        if self.maybe(0.25):
            self.add(f"note('learning rate{title}', K.get_value({m}.optimizer.lr))")
            self.add(f"note('iterations{title}', int(K.get_value({m}.optimizer.iterations)))")

    def callbacks(self) -> str:
        if self.maybe(0.4):
            return ""
        kinds = ["csv", "schedule", "plateau", "stopping", "own", "lambda", "checkpoint", "others"]
        chosen = self.random.sample(kinds, self.one(1, 1, 2))
        self.after_fit: list[str] = []
        texts = []
        val = "val_loss" if self.validates else "loss"
        for kind in chosen:
            if kind == "csv":
                texts.append("callbacks.CSVLogger('log.csv')")
                self.after_fit.append(
                    "rows = [line.rstrip('\\r\\n').split(',') for line in open('log.csv')]\n"
                    "note('csv', rows[:1] + [[float(each) for each in row] for row in rows[1:]])"
                )
            elif kind == "schedule":
                if self.maybe(0.5):
                    texts.append("callbacks.LearningRateScheduler(lambda epoch: 0.05 / (epoch + 1))")
                else:
                    texts.append("callbacks.LearningRateScheduler(lambda epoch, lr: lr * 0.5)")
            elif kind == "plateau":
                given = {
                    "monitor": repr(val),
                    "factor": 0.5,
                    "patience": self.one(0, 1),
                    "min_delta": self.one(0.0001, 10.0),
                }
                if self.maybe(0.4):
                    given.update(self.one({"cooldown": 1}, {"min_lr": 0.004}, {"mode": "'max'"}))
                texts.append(self.call("callbacks.ReduceLROnPlateau", **given))
            elif kind == "stopping":
                given = {"monitor": repr(val), "patience": self.one(0, 1), "min_delta": self.one(0, 5.0)}
                if self.maybe(0.4):
                    given["restore_best_weights"] = True
                if self.maybe(0.3):
                    given.update(self.one({"baseline": 0.1}, {"mode": "'min'"}, {"mode": "'max'"}))
                texts.append(self.call("callbacks.EarlyStopping", **given))
            elif kind == "own":
                self.add("class Seen(callbacks.Callback):")
                self.add(
                    "def on_train_begin(self, logs=None):\n    note('params', {k: v for k, v in sorted(self.params.items()) if k in ('epochs', 'steps', 'samples', 'batch_size', 'do_validation', 'verbose')})"
                    if self.standalone
                    else "def on_train_begin(self, logs=None):\n    note('epochs', self.params['epochs'])",
                    4,
                )
                self.add("self.batches, self.epochs = [], []", 8)
                self.add(
                    "\ndef on_batch_end(self, batch, logs=None):\n    self.batches.append([batch, sorted((k, float(v)) for k, v in logs.items() if k not in ('batch', 'size'))])",
                    4,
                )
                self.add(
                    "\ndef on_epoch_end(self, epoch, logs=None):\n    self.epochs.append([epoch, sorted((k, float(v)) for k, v in logs.items())])\n\n",
                    4,
                )
                self.add("seen = Seen()")
                texts.append("seen")
                self.after_fit.append("note('batches', seen.batches)\nnote('epochs', seen.epochs)")
            elif kind == "lambda":
                self.add("rates = []")
                texts.append(
                    "callbacks.LambdaCallback(on_epoch_end=lambda epoch, logs: rates.append([epoch, logs['loss']]))"
                )
                self.after_fit.append("note('lambda', rates)")
            elif kind == "others":
                texts.append(self.one("callbacks.TerminateOnNaN()", "callbacks.History()"))
            else:
                if self.replicas:
                    continue
                given = {"save_best_only": self.one(True, False), "monitor": repr(val)}
                if self.maybe(0.5):
                    given["save_weights_only"] = True
                if self.standalone and self.maybe(0.3):
                    given["period"] = 2
                texts.append(self.call("callbacks.ModelCheckpoint", "'at-{epoch:02d}-{" + val + ":.2f}.h5'", **given))
                self.add("import glob")
                self.after_fit.append("note('files', sorted(glob.glob('at-*')))")
        return f", callbacks=[{', '.join(texts)}]"

    def train_fit(self) -> None:
        self.validates = False
        more = ""
        if self.maybe(0.5):
            self.validates = True
            if self.maybe(0.4) and not self.y.startswith("{"):
                more += f", validation_split={self.one(0.25, 0.3)}"
            else:
                part = (
                    f"({self.x}, {self.y}, {self.weights})"
                    if self.weights and self.maybe(0.4)
                    else f"({self.x}, {self.y})"
                )
                more += f", validation_data={part}"
        if self.weights:
            more += f", sample_weight={self.weights}"
        if self.classes:
            more += f", class_weight={self.classes}"
        shuffle = "" if not self.tf2 and self.maybe(0.4) else ", shuffle=False"
        batch = f", batch_size={self.one(3, 4, 5, 6, 12)}" if self.maybe(0.9) else ""
        epochs = self.one("epochs=2", "epochs=2", "epochs=3")
        if self.standalone and self.maybe(0.05):
            epochs = epochs.replace("epochs", "nb_epoch")
        if self.maybe(0.1):
            more += ", initial_epoch=1"
        self.after_fit = []
        calls = self.callbacks()
        self.add(f"history = {self.model}.fit({self.x}, {self.y}{batch}, {epochs}{shuffle}{more}{calls}, verbose=0)")
        self.noted_history()

    def noted_history(self) -> None:
        self.add("note('history', history.history)\nnote('history epochs', history.epoch)")
        if self.standalone or self.tf2:
            self.add("note('history order', list(history.history))")
        for each in self.after_fit:
            self.add(each)

    def parts(self, text: str, inner: str) -> str:
        if text.startswith("["):
            return "[" + ", ".join(f"{each}[{inner}]" for each in text[1:-1].split(", ")) + "]"
        if text.startswith("{"):
            return "{" + ", ".join(f"{each}[{inner}]" for each in text[1:-1].split(", ")) + "}"
        return f"{text}[{inner}]"

    def train_fit_generator(self) -> None:
        batch = self.one(3, 4, 5, 6)
        sequence = self.maybe(0.5)
        steps = -(-SAMPLES // batch)
        give = f"{self.parts(self.x, 'at')}, {self.parts(self.y, 'at')}"
        if self.weights:
            give += f", {self.parts(self.weights, 'at')}"
        give = f"({give})"
        if sequence:
            self.add("class Batches(utils.Sequence):")
            self.add(f"def __len__(self):\n    return {steps}", 4)
            self.add(
                f"\ndef __getitem__(self, index):\n    at = slice(index * {batch}, (index + 1) * {batch})\n    return {give}",
                4,
            )
            if self.maybe(0.3):
                self.add("\ndef on_epoch_end(self):\n    pass", 4)
            self.add("\n")
            source, given = "Batches()", {}
            if self.maybe(0.3):
                given["steps_per_epoch"] = 2
            given["shuffle"] = self.one(True, False)
            if not self.standalone:
                given["shuffle"] = False
        else:
            self.add("def batches():\n    while True:")
            self.add(
                f"    for first in range(0, {SAMPLES}, {batch}):\n        at = slice(first, first + {batch})\n        yield {give}\n\n",
                4,
            )
            source, given = "batches()", {"steps_per_epoch": self.one(2, steps)}
        given["epochs"] = 2
        if self.maybe(0.4):
            given["workers"] = self.one(0, 1)
        elif not sequence or self.maybe(0.5):
            given["max_queue_size"] = self.one(1, 3)
        self.validates = self.maybe(0.5)
        if self.validates:
            if self.maybe(0.5):
                given["validation_data"] = source
                given["validation_steps"] = steps
            else:
                given["validation_data"] = f"({self.x}, {self.y})"
        if self.classes and not (self.weights):
            given["class_weight"] = self.classes
        self.after_fit = []
        calls = self.callbacks()
        given["verbose"] = 0
        name = "fit_generator" if not self.has_classes or self.maybe(0.7) else "fit"
        self.add(f"history = {self.call(f'{self.model}.{name}', source, **given)[:-1]}{calls})")
        self.noted_history()
        if self.maybe(0.4):
            self.add(
                f"note('evaluate_generator', {self.model}.evaluate_generator({source}, steps={self.one(2, steps)}))"
            )
        if self.maybe(0.3):
            self.add(f"note('predict_generator', {self.model}.predict_generator({source}, steps={self.one(2, steps)}))")

    def train_batches(self) -> None:
        batch = self.one(4, 5, 6)
        more = f", sample_weight={self.parts(self.weights, 'at')}" if self.weights else ""
        if self.classes:
            more += f", class_weight={self.classes}"
        self.add("steps = []")
        self.add(f"for epoch in range({self.one(1, 2)}):\n    for first in range(0, {SAMPLES}, {batch}):")
        self.add(f"at = slice(first, first + {batch})", 8)
        self.add(
            f"steps.append({self.model}.train_on_batch({self.parts(self.x, 'at')}, {self.parts(self.y, 'at')}{more}))",
            8,
        )
        if self.maybe(0.2):
            self.add(f"K.set_value({self.model}.optimizer.lr, 0.5 * K.get_value({self.model}.optimizer.lr))", 4)
        self.add("note('train_on_batch', steps)")

    def train_dataset(self) -> None:
        """`fit` of a tf.data.Dataset."""
        self.validates = self.maybe(0.5)
        made = f"tf.data.Dataset.from_tensor_slices(({self.x}, {self.y})).batch({self.one(4, 5)})"
        self.add(f"dataset = {made}")
        more = ", validation_data=dataset" if self.validates else ""
        if self.maybe(0.3):
            self.add("dataset = dataset.repeat()")
            more = ", steps_per_epoch=2" + (", validation_data=dataset, validation_steps=2" if self.validates else "")
        self.after_fit = []
        calls = self.callbacks()
        self.add(f"history = {self.model}.fit(dataset, epochs=2{more}{calls}, verbose=0)")
        self.noted_history()

    def train_tape(self) -> None:
        """A loop of one's own."""
        self.add("values = []\nfor first in range(0, SAMPLES, 4):\n    at = slice(first, first + 4)")
        self.add("with tf.GradientTape() as tape:", 4)
        self.add(f"out = model({self.parts(self.x, 'at')}, training=True)", 8)
        self.add("value = tf.reduce_mean(tf.square(out - 0.3)) + sum(model.losses)", 8)
        self.add("slopes = tape.gradient(value, model.trainable_variables)", 4)
        self.add("model.optimizer.apply_gradients(zip(slopes, model.trainable_variables))", 4)
        self.add("values.append(value)\nnote('values', values)")

    def afterwards(self) -> None:
        """Go on with the model: files, clones, a second compile."""
        kind = self.one(*["none"] * 5, "save", "save", "weights", "weights", "clone", "frozen", "again", "json")
        if self.replicas and kind in ("save", "clone", "json"):
            kind = "weights"
        if self.kind == "nested" and kind == "frozen":
            kind = "again"
        if self.kind == "subclass":
            kind = "none" if kind in ("save", "clone", "json", "weights") else kind
        objects = "{" + ", ".join(f"{name!r}: {name}" for name in self.custom) + "}"
        more = f", custom_objects={objects}" if self.custom else ""
        reset = f"{self.model}.reset_metrics()\n" if self.tf2 else ""
        step = f"{reset}note('further', [model.train_on_batch({self.x}, {self.y}) for _ in range(2)])"
        if "L.Lambda(" in "\n".join(self.lines) and kind in ("save", "json", "clone"):
            kind = "weights"
        if kind == "save":
            self.add(f"model.save('model.h5')\nmodel = models.load_model('model.h5'{more})")
            self.add("note('loaded weights', model.get_weights())")
            self.add(step)
        elif kind == "weights":
            self.add(
                "model.save_weights('weights.h5')\nstart(model, 1)\nmodel.load_weights('weights.h5'"
                + self.one("", ", by_name=True")
                + ")"
            )
        elif kind == "clone":
            self.add("model = start(models.clone_model(model), 2)")
            self.compile("model")
            self.add(step)
        elif kind == "json":
            self.add(f"model = start(models.model_from_json(model.to_json(){more}), 3)")
            self.compile("model")
            self.add(step)
        elif kind == "frozen":
            self.add("model.layers[1].trainable = False")
            self.compile(self.model)
            self.add(f"note('frozen', [len({self.model}.trainable_weights), len({self.model}.non_trainable_weights)])")
            self.add(step.replace("[model.", f"[{self.model}."))
        elif kind == "again":
            self.compile(self.model)
            self.add(
                f"history = {self.model}.fit({self.x}, {self.y}, batch_size=6, epochs=1, shuffle=False, verbose=0)"
            )
            self.add("note('history again', history.history)")
        else:
            return
        self.add("note('weights at last', model.get_weights())")


def script(era: str, seed: int) -> str:
    """Return the script of a seed."""
    return RandomScript(era, seed).write()


def in_double_precision(text: str) -> str:
    """Return a script that computes in float64."""
    return text.replace("K.clear_session()\n", "K.clear_session()\nK.set_floatx('float64')\n", 1)


def nudged(text: str, number: int) -> str:
    """Return a script whose weights begin with another last bit, at random: what a right stack may round as well.

    Args:
        text: the script.
        number: what the random bits are made of.
    """
    bits = f"2.0**-23 * np.random.RandomState({number}).randint(-1, 2, w.shape)"
    for drawn in ("draw.normal(0, 0.4, w.shape)", "draw.uniform(-0.1, 0.1, w.shape)"):
        text = text.replace(drawn, f"{drawn} * (1 + {bits})")
    return text


def script_of_causes(era: str) -> str:
    """Return a script that asks an era for what random scripts found to differ once, a few lines for each cause."""
    written = RandomScript(era, 0)
    written.imports()
    causes = CAUSES.replace("\n\nprint", CAUSES_OF_TENSORFLOW_2 + "\n\nprint") if written.tf2 else CAUSES
    if era == "keras-2.3":  # whose stateful layers raced as those of Keras 2.2.4, with another end
        causes = causes.replace("@cause\ndef stateful_layers_as_metrics", "def stateful_layers_as_metrics")
    written.add(causes)
    return "\n".join(written.lines) + "\n"


CAUSES = """
x, y, y2 = draw.normal(size=(12, 5)).astype("float32"), draw.normal(size=(12, 1)), np.eye(3)[draw.randint(0, 3, 12)]
steps = draw.normal(size=(6, 4, 3)).astype("float32")


def cause(function):
    K.clear_session()
    note(function.__name__, function())


@cause
def names_of_weights():
    layers = [L.Bidirectional(L.LSTM(2, return_sequences=True)), L.TimeDistributed(L.Dense(2)), L.GRU(2), L.Dense(1)]
    model = models.Sequential([L.InputLayer((4, 3))] + layers)
    inputs = L.Input((5,))
    other = models.Model(inputs, L.Dense(1)(L.BatchNormalization()(L.Dense(2, name="first")(inputs))))
    return [w.name for w in model.weights + other.weights] + [layer.name for layer in other.layers] + [other.name]


@cause
def learning_rate_in_logs():
    model = start(models.Sequential([L.Dense(1, input_shape=(5,))]))
    model.compile("sgd", "mse")
    schedule = callbacks.LearningRateScheduler(lambda epoch: 0.1 / (epoch + 1))
    history = model.fit(x, y, epochs=2, shuffle=False, verbose=0, callbacks=[schedule, callbacks.CSVLogger("log.csv")])
    return [history.history, open("log.csv").readline().split()]


@cause
def hard_sigmoid_as_a_function():
    model = start(models.Sequential([L.Dense(3, activation=activations.hard_sigmoid, input_shape=(5,))]))
    return model.predict(x)


@cause
def compiled_again_without_metrics():
    inputs = L.Input((5,))
    model = start(models.Model(inputs, [L.Dense(1, name="one")(inputs), L.Dense(1, name="two")(inputs)]))
    model.compile("sgd", "mse", metrics=["mae"])
    model.train_on_batch(x, [y, y])
    model.compile("sgd", "mse")
    return len(model.train_on_batch(x, [y, y]))


@cause
def classes_of_held_out_samples():
    model = start(models.Sequential([L.Dense(3, activation="softmax", input_shape=(5,))]))
    model.compile("sgd", "categorical_crossentropy")
    weights = {0: 0.5, 1: 2.0, 2: 3.0}
    noted = []
    for shuffle in (False, "tf" not in globals()):  # drawn from `np.random` in Keras 2.2.4
        np.random.seed(4)
        more = {"class_weight": weights, "validation_split": 0.5, "shuffle": shuffle}
        fitted = model.fit(x, y2, batch_size=4, epochs=2, verbose=0, **more)
        noted.append([fitted.history["loss"], fitted.history["val_loss"]])
    return noted


@cause
def bidirectional_of_a_layer_that_goes_backwards():
    both = L.Bidirectional(L.SimpleRNN(2, return_sequences=True, go_backwards=True), input_shape=(4, 3))
    return start(models.Sequential([both])).predict(steps)


@cause
def losses_of_frozen_layers():
    inner = models.Sequential([L.Dense(3, kernel_regularizer="l2", input_shape=(5,)), L.Dense(2, bias_regularizer="l2")])
    inner.layers[0].trainable = False
    inputs = L.Input((5,))
    model = start(models.Model(inputs, L.Dense(1, kernel_regularizer="l1")(inner(inputs))))
    model.layers[-1].trainable = False
    model.compile("sgd", "mse", metrics=["mse"])
    seen = [model.train_on_batch(x, y), model.evaluate(x, y, verbose=0), model.get_weights(), len(model.losses)]
    parallel = utils.multi_gpu_model(model, 2)
    parallel.compile("sgd", "mse")
    return [*seen, parallel.evaluate(x, y, verbose=0)]


@cause
def a_loss_without_targets():
    inputs = L.Input((5,))
    outputs = L.Dense(1)(inputs)
    model = start(models.Model(inputs, outputs))
    model.add_loss(K.mean(K.square(outputs)))
    model.compile("sgd", loss=None)
    rows = []
    each = callbacks.LambdaCallback(on_batch_end=lambda batch, logs: rows.append(float(logs["loss"])))
    for given in ([], [each]):
        seen = model.fit(x, None, batch_size=5, epochs=2, shuffle=False, verbose=0, callbacks=given).history
    return [seen, rows, model.evaluate(x, None, batch_size=5, verbose=0)]


class Rows(utils.Sequence):
    def __init__(self):
        self.ends = 0

    def __len__(self):
        return 4

    def __getitem__(self, index):
        return x[3 * index : 3 * index + 3], y[3 * index : 3 * index + 3]

    def on_epoch_end(self):
        self.ends += 1


@cause
def an_epoch_of_a_part_of_a_sequence():
    model = start(models.Sequential([L.Dense(1, input_shape=(5,))]))
    parallel = utils.multi_gpu_model(model, 2)
    noted = []
    for each in (model, parallel):
        each.compile(optimizers.SGD(0.0), "mse")
        for shuffle in (False, True):
            random.seed(3)
            more = {"validation_data": Rows(), "validation_steps": 3, "shuffle": shuffle}
            noted.append(each.fit_generator(Rows(), 3, epochs=3, verbose=0, workers=1, **more).history)
        noted.append(each.fit_generator(Rows(), 3, epochs=2, verbose=0, workers=0, shuffle=True).history)
    return noted


@cause
def activity_regularizer_of_a_layer_in_time_distributed():
    inner = L.Dense(2, activity_regularizer=regularizers.l1_l2(l1=0.1, l2=0.2))
    model = start(models.Sequential([L.TimeDistributed(inner, input_shape=(4, 3))]))
    model.compile("sgd", "mse", metrics=["mse"])
    seen = [model.train_on_batch(steps, np.ones((6, 4, 2))), model.get_weights()]
    if "tf" in globals():  # which added up the means of the towers
        return seen
    parallel = utils.multi_gpu_model(model, 2)
    parallel.compile("sgd", "mse")
    return [*seen, parallel.evaluate(steps, np.ones((6, 4, 2)), verbose=0)]


@cause
def losses_with_arguments_in_files():
    model = start(models.Sequential([L.Dense(2, input_shape=(5,)), L.ThresholdedReLU(0.1)]))
    noted = []
    both = np.concatenate([y, y + 1], axis=1)
    kinds = ["mse"]
    if "tf" in globals():
        kinds = [losses.Huber(delta=0.3), losses.MeanSquaredError(), losses.LogCosh()]
    for each in kinds:
        model.compile("sgd", each)
        model.save("model.h5")
        noted.append(models.load_model("model.h5").evaluate(x, both, verbose=0))
    return noted


@cause
def batches_after_an_epoch():
    inputs = L.Input((5,))
    model = start(models.Model(inputs, [L.Dense(1, name="one")(inputs), L.Dense(1, name="two")(inputs)]))
    noted = []
    for each in (model, utils.multi_gpu_model(model, 2)):
        each.compile("sgd", "mse", metrics=["mae"])
        each.fit(x, [y, y], batch_size=5, shuffle=False, verbose=0)
        noted += [each.train_on_batch(x[:4], [y[:4], y[:4]]) for _ in range(3)]
        each.evaluate(x, [y, y], batch_size=8, verbose=0)
        noted += [each.test_on_batch(x[:4], [y[:4], y[:4]]) for _ in range(2)]
        batches = ((x[at : at + 5], [y[at : at + 5], y[at : at + 5]]) for at in (0, 5, 10) * 9)
        each.fit_generator(batches, 3, epochs=1, verbose=0)
        noted += [each.train_on_batch(x[:4], [y[:4], y[:4]]) for _ in range(2)]
        if "tf" in globals():
            noted += [each.train_on_batch(x[:at], [y[:at], y[:at]], reset_metrics=False) for at in (3, 4)]
            noted += [each.test_on_batch(x[:4], [y[:4], y[:4]]) for _ in range(2)]
    return noted


@cause
def order_of_what_is_held_out():
    model = start(models.Sequential([L.Dense(1, input_shape=(5,))]))
    np.random.seed(5)
    noted = []

    def largest(y_true, y_pred):
        return K.max(y_pred)

    for each in (model, utils.multi_gpu_model(model, 2)):
        each.compile("sgd", "mse", metrics=[largest])
        noted.append(each.fit(x, y, batch_size=5, epochs=2, shuffle=False, validation_data=(x, y), verbose=0).history)
    return [noted, np.random.randint(1000)]


@cause
def nadam_from_a_file():
    model = start(models.Sequential([L.Dense(2, input_shape=(5,)), L.Dense(1)]))
    model.compile(optimizers.Nadam(0.02, schedule_decay=0.5), "mse")
    before = [model.train_on_batch(x, y) for _ in range(2)]
    model.save("model.h5")
    model = models.load_model("model.h5")
    return [before, [model.train_on_batch(x, y) for _ in range(3)], model.get_weights()]


@cause
def weights_of_losses_by_name():
    inputs = L.Input((5,))
    model = start(models.Model(inputs, [L.Dense(1, name=name)(inputs) for name in "zxy"]))
    noted = []
    for kind in (["mse", "mae", "mse"], {"z": "mse", "x": "mae", "y": "mse"}, "mse"):
        for weights in ({"z": 0.5, "y": 3.0, "x": 2.0}, [0.5, 2.0, 3.0]):
            model.compile("sgd", kind, loss_weights=weights)
            noted.append(model.evaluate(x, [y, y, y], verbose=0))
    return noted


@cause
def configurations_of_optimizers():
    noted = []
    sgd, adam = optimizers.SGD(0.1, momentum=0.5, decay=0.1), optimizers.Adam(lr=0.2, amsgrad=True, clipnorm=0.5)
    others = [optimizers.RMSprop(), optimizers.Adagrad(clipvalue=1.0), optimizers.Adadelta(decay=0.2)]
    nadam = optimizers.Nadam(lr=0.01, schedule_decay=0.02)
    for optimizer in [sgd, adam, nadam, optimizers.Adamax()] + others:
        config = optimizer.get_config()
        again = type(optimizer).from_config(config)
        noted.append([sorted(each.get_config().items()) for each in (optimizer, again)])
        model = start(models.Sequential([L.Dense(1, input_shape=(5,))]))
        model.compile(again, "mse")
        noted.append([model.train_on_batch(x, y) for _ in range(2)])
        weights = [K.get_value(each) for each in again.weights] + again.get_weights()
        noted.append([[each.shape, each.sum()] for each in weights])
        if "tf" in globals():
            noted.append([list(K.int_shape(each)) for each in again.variables()])
    return noted


class Settings(object):
    scale = 2.0


@cause
def attributes_that_change():
    settings, inputs = Settings(), L.Input((5,))
    model = start(models.Model(inputs, L.Dense(1)(L.Lambda(lambda t: t * settings.scale)(inputs))))
    settings.scale = 3.0
    noted = [model.predict(x)]

    def loss(y_true, y_pred):
        return settings.scale * K.mean(K.square(y_pred - y_true), axis=-1)

    model.compile("sgd", loss)
    settings.scale = 4.0
    noted.append(model.train_on_batch(x, y))
    settings.scale = 5.0
    return noted + [model.train_on_batch(x, y), model.evaluate(x, y, verbose=0)]


class Positives(L.Layer):
    def __init__(self, name="positives", **kwargs):
        super(Positives, self).__init__(name=name, **kwargs)
        self.stateful = True
        self.count = K.variable(value=0, dtype="float32")

    def reset_states(self):
        K.set_value(self.count, 0)

    def __call__(self, y_true, y_pred):
        found = K.sum(K.cast(K.greater(y_pred, 0.3), "float32"))
        current = self.count * 1
        self.add_update(K.update_add(self.count, found), inputs=[y_true, y_pred])
        return current + found


@cause
def stateful_layers_as_metrics():
    model = start(models.Sequential([L.Dense(1, activation="sigmoid", input_shape=(5,))]))
    model.compile("sgd", "binary_crossentropy", metrics=["acc", Positives()])
    ones = (y > 0).astype("float32")
    more = {"validation_data": (x[:6], ones[:6]), "verbose": 0}
    noted = [model.fit(x, ones, epochs=2, batch_size=5, shuffle=False, **more).history]
    noted.append(model.evaluate(x, ones, batch_size=5, verbose=0))
    noted.append(model.train_on_batch(x, ones))
    noted.append(model.train_on_batch(x, ones))
    noted.append(model.metrics_names)
    return noted


@cause
def clone_without_its_input():
    model = start(models.Sequential([L.InputLayer((5,)), L.Dense(3, activation="tanh"), L.Dense(1)]))
    np.random.seed(3)
    clone = models.clone_model(model)
    noted = [len(clone.get_weights()), len(clone.layers), clone.built]
    clone.set_weights(model.get_weights())
    noted.append(len(clone.get_weights()))
    clone.compile("sgd", "mse")
    noted += [clone.train_on_batch(x, y), clone.get_weights(), np.random.randint(1000)]
    if "tf" not in globals():
        for outer in ([L.InputLayer((5,)), model, L.Dense(2)], [model], [L.Dense(5, input_shape=(5,)), model]):
            np.random.seed(3)
            clone = models.clone_model(models.Sequential(outer))
            clone.set_weights(start(models.Sequential(outer)).get_weights())
            clone.compile("sgd", "mae")
            noted.append([clone.train_on_batch(x, np.repeat(y, 2, axis=1) if len(outer) == 3 else y)])
    return noted


@cause
def names_of_inputs():
    one = models.Sequential([L.Dense(3, input_shape=(5,)), L.Dense(2)])
    two = models.Sequential([one, L.Dense(1)])
    three = models.Sequential([L.InputLayer((5,)), L.Dense(2)])
    four = models.Sequential([models.Model(one.inputs, one.outputs), L.Dense(1)])
    inputs = L.Input((4, 4, 4, 1))
    both = models.Model([inputs, two.input], [L.ConvLSTM2D(1, 2)(inputs), two.output])
    names = [each.input_names + each.output_names for each in (one, two, three, four, both)]
    return names + [layer.name for layer in both.layers]


@cause
def names_of_weights_of_what_is_wrapped():
    cells = L.RNN([L.GRUCell(2), L.LSTMCell(3)], return_sequences=True)
    shapes = [(4, 3), (4, 3, 2), (3, 4, 4, 2)]
    inputs = [L.Input(shape) for shape in shapes]
    twice = L.TimeDistributed(L.TimeDistributed(L.Dense(2, name="inner")), name="outer")
    both = L.TimeDistributed(L.Bidirectional(L.SimpleRNN(2)))
    kernels = L.TimeDistributed(L.DepthwiseConv2D(2))
    outputs = [cells(inputs[0]), twice(inputs[1]), both(inputs[1]), kernels(inputs[2]), L.ConvLSTM2D(2, 2)(inputs[2])]
    return [w.name for w in models.Model(inputs, outputs).weights]


@cause
def history_that_is_given():
    model = start(models.Sequential([L.Dense(1, input_shape=(5,))]))
    model.compile("sgd", "mse")
    given = callbacks.History()
    plateau = callbacks.ReduceLROnPlateau(monitor="loss", patience=1, min_delta=10.0)
    found = model.fit(x, y, epochs=3, shuffle=False, verbose=0, callbacks=[given, plateau])
    return [list(found.history), list(given.history), found is given, found.history]


@cause
def logs_that_callbacks_add_to():
    seen = []

    class Before(callbacks.Callback):
        def on_epoch_begin(self, epoch, logs=None):
            seen.append(["begin", sorted(logs or {})])

        def on_epoch_end(self, epoch, logs=None):
            seen.append([list(logs), sorted((k, float(v)) for k, v in logs.items())])

    class Adds(callbacks.Callback):
        def on_epoch_end(self, epoch, logs=None):
            logs["own"] = epoch + 0.5

    model = start(models.Sequential([L.Dense(1, input_shape=(5,))]))
    model.compile("sgd", "mse", metrics=["mae"])

    def batches():
        while True:
            yield x[:6], y[:6]

    every = [Before(), Adds(), callbacks.LearningRateScheduler(lambda epoch: 0.1 / (epoch + 1))]
    noted = [model.fit(x, y, epochs=2, shuffle=False, verbose=0, validation_data=(x, y), callbacks=every).history]
    noted += [model.fit_generator(batches(), 2, epochs=2, verbose=0, validation_data=(x, y), callbacks=every).history]
    return [seen, noted]


@cause
def steps_of_loaded_optimizers():
    noted = []
    for kind in (optimizers.Adadelta, optimizers.RMSprop, optimizers.Adam):
        model = start(models.Sequential([L.Dense(1, input_shape=(5,))]))
        model.compile(kind(decay=0.5), "mse")
        for _ in range(3):
            model.train_on_batch(x, y)
        model.save("model.h5")
        model = models.load_model("model.h5")
        noted.append([model.train_on_batch(x, y) for _ in range(3)] + [int(K.get_value(model.optimizer.iterations))])
    return noted


print(json.dumps(RESULT))
"""

CAUSES_OF_TENSORFLOW_2 = """
class Own(models.Model):
    def __init__(self):
        super(Own, self).__init__()
        self.one, self.two = L.Dense(3, activation="tanh"), L.Dense(1)

    def call(self, x):
        return self.two(self.one(x))


@cause
def subclassed_model_that_is_built():
    model = Own()
    model.build((None, 5))
    start(model).compile("sgd", "mse")
    return [[w.name for w in model.weights], model.train_on_batch(x, y), model.get_weights()]


@cause
def added_cross_entropies():
    noted = []
    for last in ([L.Dense(5, activation="sigmoid")], [L.Dense(5), L.Activation("sigmoid")]):
        inputs, codes = L.Input((5,)), L.Input((2,))
        hidden = L.Dense(4, activation="tanh")(codes)
        for layer in last:
            hidden = layer(hidden)
        decoder = models.Model(codes, hidden)
        outputs = decoder(L.Dense(2)(inputs))
        model = start(models.Model(inputs, outputs))
        both = losses.binary_crossentropy(inputs, outputs), K.binary_crossentropy(inputs, outputs)
        model.add_loss(K.mean(both[0]) + K.mean(both[1]) + 0.1 * K.mean(K.square(outputs)))
        model.compile("adam")
        seen = model.fit(K.sigmoid(x).numpy(), None, batch_size=5, epochs=2, shuffle=False, verbose=0).history
        noted += [seen, model.get_weights()]
    return noted
"""


if __name__ == "__main__":
    era, first, last, folder = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), Path(sys.argv[4])
    folder.mkdir(parents=True, exist_ok=True)
    for seed in range(first, last + 1):
        text = script(era, seed)
        (folder / f"{era}_{seed:03d}.py").write_text(in_double_precision(text) if "float64" in sys.argv else text)
