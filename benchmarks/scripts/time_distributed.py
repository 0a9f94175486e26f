# The first call of a model that runs an LSTM over each of twenty sentences. Prints its seconds.
import json
import time

import numpy as np
from keras.layers import LSTM, Dense, TimeDistributed
from keras.models import Sequential

model = Sequential([TimeDistributed(LSTM(32), input_shape=(20, 10, 8)), LSTM(16), Dense(1)])
model.compile("adam", "mse")
x, y = np.random.rand(16, 20, 10, 8), np.random.rand(16, 1)
begin = time.time()
model.train_on_batch(x, y)
print(json.dumps({"first call": [time.time() - begin]}))
