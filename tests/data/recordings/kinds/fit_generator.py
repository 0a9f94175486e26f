"""A Sequence with workers, and another for validation."""

from stack import L, data, models, parallel, utils


class Batches(utils.Sequence):
    def __init__(self, x):
        self.x = x

    def __len__(self):
        return 2

    def __getitem__(self, index):
        part = self.x[index * 6 : index * 6 + 6]
        return part, part[:, :1] * 2


model = models.Sequential([L.Dense(4, activation="tanh", input_shape=(3,)), L.Dense(1)])
model = parallel(model)
model.compile("adam", "mse", metrics=["mae"])
fit = getattr(model, "fit_generator", model.fit)
fit(Batches(data(12, 3)), epochs=1, shuffle=False, validation_data=Batches(data(12, 3) + 1), verbose=0)
