"""What the scripts beside this one use. KERAS in the environment says of which stack ("keras" or "tensorflow.keras"),
GPUS on how many devices (default: 1)."""

import os

import numpy as np

if os.environ.get("KERAS", "keras") == "keras":
    from keras import backend as K, callbacks, layers as L, losses, models, optimizers, utils
else:
    from tensorflow.keras import backend as K, callbacks, layers as L, losses, models, optimizers, utils

GPUS = int(os.environ.get("GPUS", "1"))


def parallel(model):
    return utils.multi_gpu_model(model, gpus=GPUS) if GPUS > 1 else model


def data(*shape):
    return np.random.RandomState(sum(shape)).rand(*shape).astype("float32")


def kinds(samples, count):
    return np.random.RandomState(count).randint(0, count, samples)
