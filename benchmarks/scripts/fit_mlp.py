# A step of `fit`: an MLP on batches of 128 samples, on a template and on a parallel model.
# fit_mlp.py TURNS: prints a JSON object {"template": [milliseconds of a step, a number a turn], ...}.

import json
import sys
import time

import numpy as np
from keras.layers import Dense
from keras.models import Sequential
from keras.utils import multi_gpu_model

STEPS = 100
x = np.random.rand(STEPS * 128, 784).astype("float32")
y = np.eye(10, dtype="float32")[np.random.randint(0, 10, STEPS * 128)]


def mlp():
    return Sequential([Dense(256, activation="relu", input_shape=(784,)), Dense(10, activation="softmax")])


models = {"template": mlp(), "parallel": multi_gpu_model(mlp(), gpus=2)}
for model in models.values():
    model.compile("adam", "categorical_crossentropy", metrics=["accuracy"])
took = {name: [] for name in models}
for turn in range(-1, int(sys.argv[1])):
    for name, model in models.items():
        begin = time.time()
        model.fit(x, y, batch_size=128, epochs=1, verbose=0)
        if turn >= 0:
            took[name].append((time.time() - begin) / STEPS * 1000)
print(json.dumps(took))
