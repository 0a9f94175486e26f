"""Write models to folders of TensorFlow's SavedModel format: run this under TensorFlow 2.2.3.

make_old_folders.py OUT_DIR

A folder for each case, and `results.npz` with what the old stack predicted, and logged when it trained on after loading.
The functions in `saved_model.pb` are taken out (they are 3 MB): they are not read.
"""

import os
import sys

import numpy as np
import tensorflow as tf

L, Model, Sequential = tf.keras.layers, tf.keras.Model, tf.keras.Sequential


class Scale(L.Layer):
    """A layer of one's own."""

    def __init__(self, factor=2.0, **keywords):
        super(Scale, self).__init__(**keywords)
        self.factor = factor

    def build(self, shape):
        self.by = self.add_weight(name="by", shape=(shape[-1],), initializer="ones")
        super(Scale, self).build(shape)

    def call(self, x):
        return x * self.by * self.factor

    def get_config(self):
        return dict(super(Scale, self).get_config(), factor=self.factor)


def largest(y_true, y_pred):
    return tf.reduce_max(y_pred)


def recurrent():
    x = L.Input((5,))
    h = L.Bidirectional(L.LSTM(2, return_sequences=True))(L.Embedding(9, 3)(x))
    h = Sequential([L.Flatten(input_shape=(5, 4)), L.Dense(3)], name="inside")(h)
    model = Model(x, [L.Dense(2, name="a")(h), L.Dense(1, name="b", trainable=False)(h)])
    optimizer = tf.keras.optimizers.SGD(0.001, momentum=0.9, nesterov=True)
    model.compile(optimizer, {"a": "mse", "b": tf.keras.losses.Huber()}, {"a": ["mae"]}, loss_weights={"a": 0.5, "b": 2})
    return model


def own():
    model = Sequential([L.Dense(3, activation="tanh", input_shape=(5,)), L.BatchNormalization(), Scale(3.0), L.Dense(1)])
    model.compile("adam", "mse", [largest])
    return model


class Subclassed(Model):
    """A model of a class, which no configuration describes."""

    def __init__(self):
        super(Subclassed, self).__init__()
        self.last = L.Dense(1)

    def call(self, x):
        return self.last(x)


def subclassed():
    model = Subclassed()
    model.compile("sgd", "mse")
    return model


CASES = {"recurrent": recurrent, "own": own, "subclassed": subclassed}
OWN = {"Scale": Scale, "largest": largest}


def data(name):
    drawn = np.random.RandomState(0)
    x, y = drawn.randint(0, 9, (6, 5)).astype("float32"), drawn.rand(6, 2).astype("float32")
    return x, ([y, y[:, :1]] if name == "recurrent" else y[:, :1])


def results(name, model):
    """Return what a model predicts, and the logs of two more epochs, in the order of their names."""
    x, y = data(name)
    predicted = model.predict(x)
    history = model.fit(x, y, epochs=2, batch_size=3, shuffle=False, verbose=0).history
    predicted = np.concatenate([np.ravel(each) for each in (predicted if isinstance(predicted, list) else [predicted])])
    return predicted, np.array([history[log] for log in sorted(history)])


if __name__ == "__main__":
    from tensorflow.core.protobuf import saved_model_pb2

    found = {}
    for name, make in CASES.items():
        made, folder = make(), os.path.join(sys.argv[1], name)
        x, y = data(name)
        made.fit(x, y, epochs=1, shuffle=False, verbose=0)
        drawn = np.random.RandomState(1)
        made.set_weights([drawn.uniform(0.1, 1, weight.shape) for weight in made.get_weights()])
        made.fit(x, y, epochs=1, shuffle=False, verbose=0)
        made.save(folder)
        found[name], found[name + "_logs"] = results(name, tf.keras.models.load_model(folder, OWN))
        path = os.path.join(folder, "saved_model.pb")
        whole = saved_model_pb2.SavedModel()
        with open(path, "rb") as file:
            whole.ParseFromString(file.read())
        for each in whole.meta_graphs:
            each.ClearField("graph_def")
            each.ClearField("signature_def")
            each.object_graph_def.concrete_functions.clear()
            del each.object_graph_def.nodes[1:]
        with open(path, "wb") as file:
            file.write(whole.SerializeToString())
    np.savez(os.path.join(sys.argv[1], "results.npz"), **found)
