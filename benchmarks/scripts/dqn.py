# A deep Q-network on a toy environment: `predict` and `fit` at every move. Prints the seconds without imports.
import json
import random
import time
from collections import deque

import numpy as np
from keras.layers import Dense
from keras.models import Sequential
from keras.optimizers import Adam

begin = time.time()
model = Sequential([Dense(24, input_dim=4, activation="relu"), Dense(24, activation="relu"), Dense(2)])
model.compile(loss="mse", optimizer=Adam(lr=0.001))
memory, state = deque(maxlen=2000), np.zeros((1, 4))
for move in range(150):
    action = random.randrange(2) if random.random() < 0.2 else np.argmax(model.predict(state)[0])
    following = 0.9 * state + 0.1 * (2 * action - 1) + 0.01 * np.random.randn(1, 4)
    memory.append((state, action, -float(np.abs(following).sum()), following))
    state = following
    for was, taken, reward, then in random.sample(list(memory), min(len(memory), 4)):
        target = model.predict(was)
        target[0][taken] = reward + 0.95 * np.amax(model.predict(then)[0])
        model.fit(was, target, epochs=1, verbose=0)
print(json.dumps({"whole": [time.time() - begin]}))
