"""The networks."""
from keras.engine.topology import Layer
from keras.layers import Convolution2D, Input, merge
from keras.layers.advanced_activations import LeakyReLU
from keras.layers.core import Dense, Dropout, Flatten
from keras.layers.normalization import BatchNormalization
from keras.layers.pooling import MaxPooling2D
from keras.models import Model
from keras.regularizers import l2
from keras import backend as K


class Scale(Layer):
    """Divides by what the loudest pixel can be."""

    def __init__(self, maximum=16.0, **kwargs):
        super(Scale, self).__init__(**kwargs)
        self.maximum = maximum

    def call(self, inputs):
        return K.clip(inputs / self.maximum, 0.0, 1.0)

    def compute_output_shape(self, input_shape):
        return input_shape

    def get_config(self):
        config = super(Scale, self).get_config()
        config['maximum'] = self.maximum
        return config


def block(x, filters):
    x = Convolution2D(filters, 3, 3, border_mode='same', init='he_normal', W_regularizer=l2(l=1e-4))(x)
    x = BatchNormalization()(x)
    x = LeakyReLU(alpha=0.1)(x)
    return MaxPooling2D((2, 2), border_mode='same')(x)


def small_net(image_shape=(8, 8, 1), classes=10):
    image = Input(shape=image_shape, name='image')
    scaled = x = Scale(name='scale')(image)
    for filters in (16, 32):
        x = block(x, filters)
    print('features: %s' % (K.int_shape(x),))
    features = merge.concatenate([Flatten()(x), Flatten()(scaled)])
    x = Dropout(p=0.2)(features)
    x = Dense(output_dim=classes, activation='softmax', name='digit')(x)
    return Model(input=image, output=x)
