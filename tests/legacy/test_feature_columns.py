"""`DenseFeatures` and `SequenceFeatures`; numbers of TensorFlow 2.2.3 and 1.15.5 (eager) with the same weights."""

from __future__ import annotations

import keras
import numpy as np
import pytest
import tensorflow as tf

import parallel_compat
from parallel_compat.legacy.feature_columns import DenseFeatures, SequenceFeatures

KINDS = ["fixed", "normal", "reversible"]


def _data(samples=16):
    rng = np.random.RandomState(0)
    return {
        "age": (rng.rand(samples) * 60 + 20).astype("float32"),
        "thal": rng.choice(KINDS, samples),
    }, rng.randint(0, 2, samples)


def _columns():
    columns = tf.feature_column
    age = columns.numeric_column("age")
    between = columns.bucketized_column(age, boundaries=[25, 35, 45, 55])
    thal = columns.categorical_column_with_vocabulary_list("thal", KINDS)
    crossed = columns.crossed_column([between, thal], hash_bucket_size=20)
    return {
        "age": age,
        "between": between,
        "one": columns.indicator_column(thal),
        "table": columns.embedding_column(thal, dimension=4),
        "crossed": columns.indicator_column(crossed),
    }


def _batches(samples=16):
    return tf.data.Dataset.from_tensor_slices(_data(samples)).batch(8)


def test_each_kind_of_column():
    features = {"age": tf.constant([30.0, 61.5]), "thal": tf.constant(["normal", "unknown"])}
    columns = _columns()
    assert DenseFeatures(columns["age"])(features).numpy().tolist() == [[30.0], [61.5]]
    assert DenseFeatures([columns["between"]])(features).numpy().tolist() == [[0, 1, 0, 0, 0], [0, 0, 0, 0, 1]]
    assert DenseFeatures(iter([columns["one"]]))(features).numpy().tolist() == [[0, 1, 0], [0, 0, 0]]
    assert DenseFeatures([columns["crossed"]])(features).numpy().argmax(1).tolist() == [1, 16]
    of_lists = {"age": [[30.0], [61.5]], "thal": [["normal"], ["unknown"]]}
    assert DenseFeatures([columns["age"], columns["one"]])(of_lists).numpy().tolist() == [
        [30, 0, 1, 0],
        [61.5, 0, 0, 0],
    ]
    table = DenseFeatures([columns["table"]])
    assert table(features).shape == (2, 4)
    assert np.allclose(table(features)[0], table.get_weights()[0][1])


def test_columns_are_in_the_order_of_their_names():
    features = {"age": tf.constant([30.0]), "thal": tf.constant(["normal"])}
    columns, seen = _columns(), {}
    layer = DenseFeatures([columns["one"], columns["between"], columns["age"]])
    found = layer(features, cols_to_output_tensors=seen).numpy().tolist()
    assert found == [[30.0, 0, 1, 0, 0, 0, 0, 1, 0]]
    assert seen[columns["age"]].numpy().tolist() == [[30.0]]


def _model(optimizer, functional):
    features = DenseFeatures(list(_columns().values()))
    rest = [keras.layers.Dense(3, "relu"), keras.layers.Dense(1)]
    if functional:
        inputs = {"age": keras.Input((), name="age"), "thal": keras.Input((), name="thal", dtype="string")}
        model = keras.Model(inputs, rest[1](rest[0](features(inputs))))
    else:
        model = keras.Sequential([features, *rest])
    model.compile(optimizer, keras.losses.BinaryCrossentropy(from_logits=True), metrics=["accuracy"])
    return model


# A table's rows have gradients of their own: what momentum does to the others shows.
OLD = {
    "adam": (
        [0.683766, 0.683272],
        [
            0.0825814,
            -0.0312878,
            -0.0248241,
            -0.0553873,
            0.04267,
            -0.114868,
            0.0864125,
            -0.0369947,
            0.0134752,
            -0.0115114,
            0.0702672,
            -0.099739,
        ],
    ),
    "rmsprop": (
        [0.684682, 0.683549],
        [
            0.086686,
            -0.0343306,
            -0.0211144,
            -0.0590454,
            0.0383977,
            -0.112293,
            0.0823151,
            -0.032902,
            0.0109007,
            -0.0108742,
            0.0683232,
            -0.0979435,
        ],
    ),
    "momentum": (
        [0.686368, 0.674813],
        [
            0.0812364,
            -0.0305918,
            -0.0263766,
            -0.0537113,
            0.0432737,
            -0.115078,
            0.0872458,
            -0.0380709,
            0.0159158,
            -0.0124611,
            0.073046,
            -0.102889,
        ],
    ),
}


@pytest.mark.parametrize("gpus", [1, 2])
@pytest.mark.parametrize("name", ["momentum"])
def test_training(name, gpus):
    model = _model(keras.optimizers.SGD(0.1, momentum=0.9) if name == "momentum" else name, functional=gpus > 1)
    model.predict(_batches(), verbose=0)
    rng = np.random.RandomState(1)
    model.set_weights([rng.randn(*weight.shape) * 0.05 for weight in model.get_weights()])
    trained = model if gpus == 1 else parallel_compat.parallelize(model, gpus=gpus)
    if gpus > 1:
        trained.compile(model.optimizer, model.loss, metrics=["accuracy"])
    history = trained.fit(_batches(), epochs=2, verbose=0)
    losses, table = OLD[name]
    assert history.history["loss"] == pytest.approx(losses, rel=1e-5)
    assert model.get_weights()[0].ravel() == pytest.approx(np.array(table), abs=2e-6)


def test_sequences():
    columns = tf.feature_column
    words = columns.sequence_categorical_column_with_vocabulary_list("word", ["a", "b"])
    layer = SequenceFeatures([columns.sequence_numeric_column("t"), columns.indicator_column(words)])
    given = {
        "t": tf.sparse.from_dense([[20.0, 21.0], [19.0, 0.0]]),
        "word": tf.sparse.from_dense([["a", "b"], ["b", ""]]),
    }
    tensor, lengths = layer(given)
    assert tensor.numpy().tolist() == [[[20, 1, 0], [21, 0, 1]], [[19, 0, 1], [0, 0, 0]]]
    assert lengths.numpy().tolist() == [2, 1]


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: DenseFeatures([]), "must not be empty"),
        (lambda: DenseFeatures({"age": 1}), "found dict"),
        (lambda: DenseFeatures(["age"]), "must be a FeatureColumn"),
        (lambda: DenseFeatures([_columns()["age"], _columns()["age"]]), "Duplicate feature column name"),
        (lambda: DenseFeatures([_columns()["one"].categorical_column]), "indicator_column"),
        (lambda: DenseFeatures([_columns()["age"]], partitioner=1), "Leave it out"),
        (lambda: DenseFeatures([_columns()["age"]])(tf.zeros((2, 1))), "expected a dictionary"),
    ],
)
def test_refusals(make, words):
    with pytest.raises(ValueError, match=words):
        make()
