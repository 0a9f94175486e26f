"""What a hand-written MirroredStrategy gives, and a parallel model, where one device is the measure.

    python benchmarks/handwritten_differences.py

Each line is run in a process of its own, on two simulated devices: an error in one aborts MirroredStrategy's
collective operations in the whole process. "Off by" is the greatest difference of a weight from those that one
device has after three epochs on the same batches.
"""

from __future__ import annotations

import os
import tempfile

from step_time import in_a_process

REPLICAS = 2
ROWS = 96


def main() -> None:
    os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
    print("| | hand-written MirroredStrategy | parallel_compat |\n|---|---|---|")
    for title, measure in MEASURES.items():
        cells = [in_a_process(run, measure.__name__, way) for way in ("MirroredStrategy", "parallel_compat")]
        print(f"| {title} | {' | '.join(cells)} |", flush=True)


def run(measure: str, way: str) -> str:
    """Run one measure in this process, and say what came out."""
    import parallel_compat

    parallel_compat.simulate_devices(REPLICAS)
    return globals()[measure](way)


def train(way, make, rows=ROWS, batch_size=32, epochs=3, **compile_arguments):
    """Train a model on fixed data and return it."""
    import keras
    import numpy as np
    import ways

    keras.utils.set_random_seed(0)
    arguments = {"optimizer": lambda: keras.optimizers.SGD(0.1), "loss": "mse", **compile_arguments}
    model = ways.build(way, make, REPLICAS, **arguments)
    generator = np.random.default_rng(0)
    if model.inputs[0].dtype.startswith("int"):  # texts of 1 to 5 words, padded with 0
        x = np.where(np.arange(5) < generator.integers(1, 6, (rows, 1)), generator.integers(1, 10, (rows, 5)), 0)
    else:
        x = generator.normal(size=(rows, *model.inputs[0].shape[1:]))
    y = generator.random((rows, *model.outputs[0].shape[1:]))
    model.fit(x, y, batch_size=batch_size, epochs=epochs, shuffle=False, verbose=0)
    return model


def off_by(way, make, **arguments):
    import numpy as np

    weights = [train(each, make, **arguments).get_weights() for each in ("one device", way)]
    off = max(np.abs(a - b).max() for a, b in zip(*weights, strict=True))
    return f"off by {off:.0e}" if off else "equal"


def outcome(way, make, **arguments):
    """Whether training works, and where it does, how far off it is."""
    try:
        return off_by(way, make, **arguments)
    except Exception as error:
        return f"crashes: `{type(error).__name__}`"


def dense(*extra):
    import keras
    from keras import layers

    return lambda: keras.Sequential(
        [layers.Input((8,)), layers.Dense(16, "tanh"), *(layer() for layer in extra), layers.Dense(3, "sigmoid")]
    )


def uneven_batches(way):
    return off_by(way, dense(), rows=103)


def dice(y_true, y_pred):
    from keras import ops

    return 1 - (2 * ops.sum(y_true * y_pred) + 1) / (ops.sum(y_true) + ops.sum(y_pred) + 1)


def batch_loss(way):
    return off_by(way, dense(), loss=dice)


def one_number_loss(way):
    from keras import ops

    return off_by(way, dense(), loss=lambda y_true, y_pred: ops.mean(ops.square(y_true - y_pred)))


def clipnorm(way):
    import keras

    return off_by(way, dense(), optimizer=lambda: keras.optimizers.SGD(0.1, clipnorm=0.01))


def masked_loss(way):
    import keras
    from keras import layers

    def make():
        return keras.Sequential(
            [
                layers.Input((5,), dtype="int32"),
                layers.Embedding(10, 4, mask_zero=True),
                layers.LSTM(4, return_sequences=True),
            ]
        )

    return off_by(way, make)


def dropout_masks(way):
    import keras
    import numpy as np
    import ways

    class AlwaysDropout(keras.layers.Dropout):
        def call(self, inputs):
            return super().call(inputs, training=True)

    model = ways.build(
        way, lambda: keras.Sequential([keras.Input((64,)), AlwaysDropout(0.5)]), REPLICAS, optimizer="sgd", loss="mse"
    )
    first, second = model.predict(np.ones((2, 64)), batch_size=2, verbose=0)
    return "the same on every replica" if np.array_equal(first, second) else "different"


def saved_batch_norm(way):
    import keras
    import numpy as np

    model = train(way, dense(keras.layers.BatchNormalization))
    x = np.random.default_rng(1).random((64, 8), "float32")
    with tempfile.TemporaryDirectory() as folder:
        model.save(f"{folder}/model.keras")
        saved = keras.models.load_model(f"{folder}/model.keras")
    off = np.abs(model.predict(x, verbose=0) - saved.predict(x, verbose=0)).max()
    return f"off by {off:.0e}" if off else "equal"


def rows_of_train_on_batch(way):
    import keras
    import numpy as np
    import tensorflow as tf
    import ways

    rows = []

    class CountRows(keras.layers.Layer):
        def call(self, inputs):
            return tf.ensure_shape(tf.py_function(self.count, [inputs], inputs.dtype), inputs.shape)

        def count(self, inputs):
            rows.append(len(inputs))
            return inputs

    model = ways.build(way, dense(CountRows), REPLICAS, optimizer="sgd", loss="mse")
    model.train_on_batch(np.ones((8, 8)), np.ones((8, 3)))
    rows.clear()
    model.train_on_batch(np.ones((8, 8)), np.ones((8, 3)))
    return " + ".join(str(count) for count in rows)


def rows_of_predict_on_batch(way):
    import numpy as np
    import ways

    model = ways.build(way, dense(), REPLICAS, optimizer="sgd", loss="mse")
    return str(len(model.predict_on_batch(np.ones((8, 8)))))


def batches_of_a_generator(way):
    import keras
    import numpy as np
    import ways

    def generator():
        for _ in range(6):
            yield np.ones((8, 8)), np.ones((8, 3))

    trained = []
    callback = keras.callbacks.LambdaCallback(on_train_batch_end=lambda batch, logs: trained.append(batch))
    model = ways.build(way, dense(), REPLICAS, optimizer="sgd", loss="mse")
    model.fit(generator(), callbacks=[callback], verbose=0)
    return str(len(trained))


def arrays_behind_a_dataset(way):
    import keras
    import numpy as np
    import tensorflow as tf
    import ways

    def aligned(shape):
        """An array as it happens to lie in memory now and then: TensorFlow then uses it without a copy."""
        memory = np.empty(int(np.prod(shape)) * 4 + 64, "uint8")
        start = -memory.ctypes.data % 64
        array = memory[start : start + int(np.prod(shape)) * 4].view("float32").reshape(shape)
        array[...] = np.random.default_rng(0).random(shape)
        return array

    x, y = aligned((ROWS, 8)), aligned((ROWS, 3))
    before = x.copy(), y.copy()

    def generator():
        for start in range(0, ROWS, 16):
            yield x[start : start + 16], y[start : start + 16]

    signature = (tf.TensorSpec((None, 8)), tf.TensorSpec((None, 3)))
    dataset = tf.data.Dataset.from_generator(generator, output_signature=signature)
    keras.utils.set_random_seed(0)
    model = ways.build(way, dense(), REPLICAS, optimizer="sgd", loss="mse")
    model.fit(dataset, epochs=2, verbose=0)
    changed = sum(int((a != b).sum()) for a, b in zip((x, y), before, strict=True))
    return f"{changed} of {x.size + y.size} numbers changed" if changed else "as they were"


def one_row(way):
    return outcome(way, dense(), rows=1)


def steps_per_execution(way):
    return outcome(way, dense(), steps_per_execution=3)


def ema(way):
    import keras

    return outcome(way, dense(), optimizer=lambda: keras.optimizers.SGD(0.1, use_ema=True, ema_overwrite_frequency=2))


def accumulation(way):
    import keras

    return outcome(way, dense(), optimizer=lambda: keras.optimizers.SGD(0.1, gradient_accumulation_steps=3))


MEASURES = {
    "103 rows in batches of 32": uneven_batches,
    "a loss of the whole batch (dice)": batch_loss,
    "a loss function that returns one number": one_number_loss,
    "`clipnorm`": clipnorm,
    "a mask (`Embedding(mask_zero=True)`, LSTM)": masked_loss,
    "dropout masks": dropout_masks,
    "`BatchNormalization`: predictions of the saved model": saved_batch_norm,
    "8 rows to `train_on_batch`: rows that replicas compute": rows_of_train_on_batch,
    "8 rows to `predict_on_batch`: rows that come back": rows_of_predict_on_batch,
    "a generator of 6 batches: batches trained": batches_of_a_generator,
    "your arrays after `fit` on a dataset `from_generator` that yields slices of them": arrays_behind_a_dataset,
    "a batch with fewer rows than replicas": one_row,
    "`steps_per_execution=3`": steps_per_execution,
    "`use_ema=True, ema_overwrite_frequency=2`": ema,
    "`gradient_accumulation_steps=3`": accumulation,
}

if __name__ == "__main__":
    main()
