# Six calls on eight samples, on a template and on a parallel model, as a script of 2018 makes them.
# six_calls.py TURNS: prints a JSON object {"template predict": [milliseconds of a call, a number a turn], ...}.

import json
import sys
import time

import numpy as np
from keras.layers import Dense
from keras.models import Sequential
from keras.utils import multi_gpu_model

CALLS = 15
x = np.random.rand(8, 20).astype("float32")
y = np.eye(3, dtype="float32")[np.random.randint(0, 3, 8)]


def mlp():
    return Sequential(
        [Dense(64, activation="relu", input_shape=(20,)), Dense(64, activation="relu"), Dense(3, activation="softmax")]
    )


models = {"template": mlp()}
models["parallel"] = multi_gpu_model(mlp(), gpus=2)
calls = {}
for kind, model in models.items():
    model.compile("adam", "categorical_crossentropy", metrics=["accuracy"])
    calls[kind, "predict"] = lambda m=model: m.predict(x)
    calls[kind, "predict_on_batch"] = lambda m=model: m.predict_on_batch(x)
    calls[kind, "fit"] = lambda m=model: m.fit(x, y, verbose=0)
    calls[kind, "train_on_batch"] = lambda m=model: m.train_on_batch(x, y)
    calls[kind, "evaluate"] = lambda m=model: m.evaluate(x, y, verbose=0)
    calls[kind, "test_on_batch"] = lambda m=model: m.test_on_batch(x, y)
took = {" ".join(name): [] for name in calls}
for turn in range(-1, int(sys.argv[1])):
    for name, call in calls.items():
        begin = time.time()
        for _ in range(CALLS if turn >= 0 else 3):
            call()
        if turn >= 0:
            took[" ".join(name)].append((time.time() - begin) / CALLS * 1000)
print(json.dumps(took))
