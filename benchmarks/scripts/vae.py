# The grid of a variational autoencoder: 900 calls of `predict`. Prints the seconds without imports.
import json
import time

import numpy as np
from keras.layers import Dense
from keras.models import Sequential

begin = time.time()
decoder = Sequential([Dense(256, input_dim=2, activation="relu"), Dense(784, activation="sigmoid")])
figure = np.zeros((28 * 30, 28 * 30))
for i, y in enumerate(np.linspace(-4, 4, 30)):
    for j, x in enumerate(np.linspace(-4, 4, 30)):
        digit = decoder.predict(np.array([[x, y]]))[0].reshape(28, 28)
        figure[i * 28 : (i + 1) * 28, j * 28 : (j + 1) * 28] = digit
print(json.dumps({"whole": [time.time() - begin]}))
