import numpy as np
from keras.layers import Dense
from keras.models import Sequential
from keras.optimizers import SGD
from keras.utils import multi_gpu_model

np.random.seed(1)
x = np.random.normal(size=(1000, 8))
y = x.dot(np.random.normal(size=(8, 3)))

model = Sequential([Dense(32, activation='relu', input_shape=(8,)), Dense(3)])
parallel_model = multi_gpu_model(model, gpus=2)
parallel_model.compile(loss='mse', optimizer=SGD(lr=0.01))
history = parallel_model.fit(x, y, batch_size=50, epochs=20, verbose=0)
print('loss: %.2f, then %.2f' % (history.history['loss'][0], history.history['loss'][-1]))
model.save('model.h5')
