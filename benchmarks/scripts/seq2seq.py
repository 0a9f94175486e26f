# The decoder of a sequence-to-sequence model: `predict` for each letter. Prints the seconds without imports.
import json
import time

import numpy as np
from keras.layers import LSTM, Dense, Input
from keras.models import Model

begin = time.time()
letters, units = 30, 32
encoder_inputs = Input(shape=(None, letters))
_, h, c = LSTM(units, return_state=True)(encoder_inputs)
encoder = Model(encoder_inputs, [h, c])
inputs, state_h, state_c = Input(shape=(None, letters)), Input(shape=(units,)), Input(shape=(units,))
outputs, h, c = LSTM(units, return_sequences=True, return_state=True)(inputs, initial_state=[state_h, state_c])
decoder = Model([inputs, state_h, state_c], [Dense(letters, activation="softmax")(outputs), h, c])
for sentence in range(10):
    states = encoder.predict(np.random.rand(1, 5 + sentence, letters))
    letter = np.zeros((1, 1, letters))
    for _ in range(30):
        probabilities, h, c = decoder.predict([letter] + states)
        letter = np.eye(letters)[np.argmax(probabilities[0, -1])].reshape(1, 1, letters)
        states = [h, c]
print(json.dumps({"whole": [time.time() - begin]}))
