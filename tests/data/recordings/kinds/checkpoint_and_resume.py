"""A checkpoint is written, loaded, and trained further."""

import os
import shutil
import tempfile

from stack import L, callbacks, data, models, optimizers

folder = tempfile.mkdtemp()
x = data(12, 3)
model = models.Sequential([L.Dense(4, activation="tanh", input_shape=(3,)), L.Dense(1)])
model.compile(optimizers.Adam(0.02), "mse")
path = os.path.join(folder, "model.h5")
model.fit(x, x[:, :1], batch_size=6, epochs=1, shuffle=False, verbose=0, callbacks=[callbacks.ModelCheckpoint(path)])
model = models.load_model(path)
model.fit(x, x[:, :1], batch_size=6, epochs=2, initial_epoch=1, shuffle=False, verbose=0)
shutil.rmtree(folder)
