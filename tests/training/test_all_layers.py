"""Every layer of Keras on two replicas: outputs, and what one step trains, are those of one device."""

from __future__ import annotations

import keras
import numpy as np
import pytest
import tensorflow as tf
from keras import layers

from parallel_compat import parallelize

SAMPLES = 5

INPUTS = {
    "flat": (6,),
    "series": (4, 6),
    "image": (6, 6, 4),
    "volume": (4, 4, 4, 2),
    "first": (2, 4, 4, 4),  # a volume, channels first
    "frames": (3, 5, 5, 2),
    "lines": (3, 5, 2),
    "volumes": (2, 4, 4, 4, 1),
    "sound": (256, 1),
}


class OwnXla(layers.Layer):
    """A user's layer that has XLA compile what reads its variables."""

    def build(self, shape):
        self.kernel = self.add_weight(shape=(shape[-1], 2), name="kernel")
        self.offset = self.add_weight(shape=(2,), trainable=False, initializer="ones", name="offset")

    def call(self, inputs):
        @tf.function(jit_compile=True)
        def compiled(x):
            return tf.matmul(x, self.kernel) + self.offset

        return compiled(inputs)


def cell():
    return layers.LSTMCell(2)


def if_there(name):
    return [getattr(layers, name)(2)] if hasattr(layers, name) else []


# Layer, and what it is called on: the name of an input, or names.
TRAINED = {
    "flat": [
        layers.Dense(3), layers.Activation("tanh"), layers.PReLU(), layers.LeakyReLU(), layers.ELU(), layers.ReLU(),
        layers.Softmax(), layers.Reshape((2, 3)), layers.RepeatVector(2), layers.Identity(), layers.Rescaling(2.0),
        layers.UnitNormalization(), layers.LayerNormalization(), layers.RMSNormalization(),
        layers.GroupNormalization(2), layers.EinsumDense("ab,bc->ac", 3), layers.Lambda(lambda x: x * 2),
        layers.ActivityRegularization(0.01), OwnXla(), layers.SpectralNormalization(layers.Dense(3)),
        layers.Pipeline([layers.Rescaling(2.0)]), *if_there("TernaryDense"),
    ],
    "series": [
        layers.Conv1D(4, 2), layers.Conv1D(4, 2, groups=2), layers.Conv1D(4, 2, padding="causal"),
        layers.Conv1DTranspose(3, 2), layers.DepthwiseConv1D(2), layers.SeparableConv1D(3, 2), layers.LSTM(3),
        layers.GRU(3), layers.SimpleRNN(3), layers.RNN(layers.StackedRNNCells([cell(), cell()])),
        layers.Bidirectional(layers.SimpleRNN(2)), layers.TimeDistributed(layers.Dense(2)), layers.Permute((2, 1)),
        layers.Cropping1D(1), layers.ZeroPadding1D(1), layers.UpSampling1D(2),
        layers.AveragePooling1D(2), layers.MaxPooling1D(2), layers.GlobalAveragePooling1D(),
        layers.GlobalMaxPooling1D(), *if_there("AdaptiveAveragePooling1D"), *if_there("AdaptiveMaxPooling1D"),
    ],
    "image": [
        layers.Conv2D(4, 3, groups=2), layers.Conv2D(4, 3), layers.Conv2D(8, 3, groups=4, strides=2),
        layers.Conv2DTranspose(3, 3), layers.DepthwiseConv2D(3), layers.SeparableConv2D(3, 3), layers.Cropping2D(1),
        layers.ZeroPadding2D(1), layers.UpSampling2D(2), layers.AveragePooling2D(2), layers.MaxPooling2D(2),
        layers.GlobalAveragePooling2D(), layers.GlobalMaxPooling2D(), *if_there("AdaptiveAveragePooling2D"),
        *if_there("AdaptiveMaxPooling2D"), layers.Resizing(4, 4), layers.CenterCrop(4, 4),
    ],
    "volume": [
        layers.Conv3D(2, 2), layers.Conv3D(4, 2, groups=2), layers.Conv3DTranspose(2, 2), layers.Cropping3D(1),
        layers.ZeroPadding3D(1), layers.UpSampling3D(2), layers.AveragePooling3D(2), layers.MaxPooling3D(2),
        layers.GlobalAveragePooling3D(), layers.GlobalMaxPooling3D(), *if_there("AdaptiveAveragePooling3D"),
        *if_there("AdaptiveMaxPooling3D"),
    ],
    "first": [layers.Conv3D(2, 2, data_format="channels_first")],
    "frames": [layers.ConvLSTM2D(2, 2), layers.TimeDistributed(layers.Conv2D(2, 2, groups=2))],
    "lines": [layers.ConvLSTM1D(2, 2)],
    "volumes": [layers.ConvLSTM3D(1, 2)],
    "sound": [layers.STFTSpectrogram(frame_length=64, frame_step=32, fft_length=64)],
    ("flat", "flat"): [
        layers.Add(), layers.Average(), layers.Maximum(), layers.Minimum(), layers.Multiply(), layers.Subtract(),
        layers.Concatenate(), layers.Dot(1),
    ],
    ("series", "series"): [layers.Attention(), layers.AdditiveAttention()],
    "two of series": [layers.MultiHeadAttention(2, 2), layers.GroupQueryAttention(2, 2, 1)],
}  # fmt: skip

# Random in training, or of the statistics of one replica's samples: compared as they predict.
PREDICTED = {
    "flat": [
        layers.BatchNormalization(),
        layers.Dropout(0.5),
        layers.AlphaDropout(0.5),
        layers.GaussianDropout(0.5),
        layers.GaussianNoise(0.5),
    ],
    "series": [layers.SpatialDropout1D(0.5)],
    "image": [layers.SpatialDropout2D(0.5), layers.RandomFlip(), layers.RandomRotation(0.1), layers.RandomZoom(0.1)],
    "volume": [layers.SpatialDropout3D(0.5)],
}

ELSEWHERE = {
    # Abstract, containers, of other backends, and files.
    "InputLayer", "InputSpec", "Layer", "Wrapper", "FlaxLayer", "JaxLayer", "TorchModuleWrapper", "TFSMLayer",
    "LSTMCell", "GRUCell", "SimpleRNNCell",
    # Masks: `test_masks_and_weights`.
    "Masking",
    # Integers and strings: `test_of_integers`.
    "Embedding", "ReversibleEmbedding", "CategoryEncoding", "Discretization", "HashedCrossing", "Hashing",
    "IntegerLookup", "StringLookup", "TextVectorization", "Normalization",
    # Images before training, no weights: they stand in the data pipeline.
    "AugMix", "AutoContrast", "ContrastLimitedAdaptiveHistogramEqualization", "CutMix", "Equalization",
    "MaxNumBoundingBoxes", "MelSpectrogram", "MixUp", "Mosaic", "RandAugment", "RandomBrightness",
    "RandomColorDegeneration", "RandomColorJitter", "RandomContrast", "RandomCrop", "RandomElasticTransform",
    "RandomErasing",
    "RandomGaussianBlur", "RandomGrayscale", "RandomHue", "RandomInvert", "RandomPerspective", "RandomPosterization",
    "RandomSaturation", "RandomSharpness", "RandomShear", "RandomTranslation", "Solarization",
}  # fmt: skip


def one_number(tensor):
    """Make one number for each sample of what a layer gave, along which every value has a gradient of its own."""
    flat = layers.Flatten()(tensor)
    return keras.ops.mean(keras.ops.sin(flat + keras.ops.cumsum(flat, -1)), axis=-1, keepdims=True)


def again(layer):
    """Make a layer like another one, with a name that no operation has."""
    name = f"the_{layer.name}"
    if isinstance(layer, layers.Lambda):
        return layers.Lambda(layer.function, name=name)
    return type(layer).from_config({**layer.get_config(), "name": name})


def model_of(table, begin=0, step=1):
    """One model of the layers of a table, so that they are traced once; of each kind from one on, in steps."""
    inputs = {name: keras.Input(shape, name=name) for name, shape in INPUTS.items()}
    outputs = []
    for of, made in table.items():
        for layer in map(again, made[begin::step]):
            if of == "two of series":
                outputs.append(layer(inputs["series"], inputs["series"]))
            else:
                outputs.append(layer([inputs[name] for name in of] if isinstance(of, tuple) else inputs[of]))
    used = {name: tensor for name, tensor in inputs.items() if name in table or table is TRAINED}
    return keras.Model(used, layers.Concatenate()([one_number(output) for output in outputs]))


def samples():
    generator = np.random.default_rng(0)
    return {name: generator.normal(size=(SAMPLES, *shape)).astype("float32") for name, shape in INPUTS.items()}


def test_every_layer_is_in_the_list():
    listed = {type(layer) for table in (TRAINED, PREDICTED) for made in table.values() for layer in made}
    listed |= {getattr(layers, name, None) for name in ELSEWHERE} | {layers.StackedRNNCells, layers.Flatten, layers.RNN}
    kinds = {kind for kind in vars(layers).values() if isinstance(kind, type)}
    assert not {kind.__name__ for kind in kinds - listed}


def test_predictions_on_two_replicas():
    template = model_of(PREDICTED)
    x = {name: value for name, value in samples().items() if name in PREDICTED}
    expected = template.predict_on_batch(x)
    np.testing.assert_allclose(parallelize(template, 2).predict_on_batch(x), expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("begin", [0, pytest.param(1, marks=pytest.mark.slow), pytest.param(2, marks=pytest.mark.slow)])
def test_training_on_two_replicas(begin, plain_graphs):
    x, one, template = samples(), model_of(TRAINED, begin, 3), model_of(TRAINED, begin, 3)
    y = np.random.default_rng(1).normal(size=(SAMPLES, one.output_shape[-1])).astype("float32")
    template.set_weights(one.get_weights())
    parallel = parallelize(template, 2)
    for model in (one, parallel):  # one step of Keras itself is computed sooner than traced
        model.compile(keras.optimizers.SGD(0.5), "mse", run_eagerly=model is one)
    before = one.get_weights()
    losses = [model.train_on_batch(x, y) for model in (one, parallel)]
    after = zip(before, one.get_weights(), template.get_weights(), one.weights, strict=True)
    differ, moved = [], 0
    for was, expected, got, variable in after:
        moved += not np.allclose(was, expected)
        if not np.allclose(got, expected, rtol=1e-3, atol=2e-5):
            differ.append((variable.path, float(np.abs(got - expected).max())))
    assert not differ
    assert losses[1] == pytest.approx(losses[0], rel=1e-5)
    assert moved > 15


def test_of_integers():
    ids = np.array([[1, 2, 0], [3, 1, 1], [2, 2, 0], [0, 3, 3], [1, 0, 2]])
    inputs = keras.Input((3,), dtype="int32")
    words = layers.Embedding(4, 3, mask_zero=True)(inputs)
    lookup = layers.IntegerLookup(vocabulary=[3, 2, 1])
    normal, cut = layers.Normalization(mean=1.0, variance=2.0), layers.Discretization([0.5, 1.5])
    numbers = [
        layers.Embedding(4, 3)(inputs), layers.ReversibleEmbedding(4, 3)(inputs), lookup(inputs),
        layers.CategoryEncoding(4)(inputs), layers.Hashing(5)(inputs), cut(inputs), normal(inputs),
        layers.HashedCrossing(5)((inputs[:, 0], inputs[:, 1])), layers.LSTM(2)(words),
    ]  # fmt: skip
    template = keras.Model(inputs, [layers.Flatten()(keras.ops.cast(each, "float32")) for each in numbers])
    expected = template.predict_on_batch(ids)
    parallel = parallelize(template, 2)
    for got, wanted in zip(parallel.predict_on_batch(ids), expected, strict=True):
        np.testing.assert_allclose(got, wanted, rtol=1e-5, atol=1e-6)
    words = keras.Input((), dtype="string")
    strings = [
        layers.StringLookup(vocabulary=["b", "a"])(words),
        layers.TextVectorization(vocabulary=["b", "a"], output_sequence_length=2)(words),
    ]
    template = keras.Model(words, strings)
    text = tf.constant(["a", "b", "c", "a b", "b"])
    for got, wanted in zip(
        parallelize(template, 2).predict_on_batch(text), template.predict_on_batch(text), strict=True
    ):
        np.testing.assert_array_equal(got, wanted)
