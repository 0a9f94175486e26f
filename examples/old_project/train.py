"""Trains the small net on several GPUs.

    python train.py --gpus 2 --epochs 6
"""
from __future__ import print_function

import argparse
import random

import numpy as np
import tensorflow as tf
from keras import backend as K
from keras.callbacks import EarlyStopping, ReduceLROnPlateau
from keras.models import Model
from keras.optimizers import SGD
from keras.utils.training_utils import multi_gpu_model

from digits.callbacks import PrintRate, TemplateCheckpoint, in_folder
from digits.generators import Batches, batches, load
from digits.losses import dice_and_crossentropy, top_two
from digits.models import small_net

parser = argparse.ArgumentParser()
parser.add_argument('--gpus', type=int, default=len(K.tensorflow_backend._get_available_gpus()))
parser.add_argument('--epochs', type=int, default=6)
parser.add_argument('--batch_size', type=int, default=100)
parser.add_argument('--folder', default='out')


def main(args):
    random.seed(1)
    np.random.seed(1)
    tf.set_random_seed(1)
    config = tf.ConfigProto()
    config.gpu_options.allow_growth = True
    K.set_session(tf.Session(config=config))

    (x, y), (x_val, y_val) = load()
    with tf.device('/cpu:0'):
        template = small_net()
    template.summary()
    if args.gpus > 1:
        model = multi_gpu_model(template, gpus=args.gpus)
    else:
        model = Model(template.inputs, template.outputs)

    model.compile(SGD(lr=0.05, momentum=0.9, decay=1e-3, nesterov=True), dice_and_crossentropy, ['accuracy', top_two])
    history = model.fit_generator(
        batches(x, y, args.batch_size),
        steps_per_epoch=len(x) // args.batch_size,
        nb_epoch=args.epochs,
        validation_data=Batches(x_val, y_val, args.batch_size),
        callbacks=[
            PrintRate(every=4),
            TemplateCheckpoint(template, in_folder(args.folder, 'weights.{epoch:02d}.hdf5'),
                               monitor='val_acc', save_weights_only=True, period=2),
            ReduceLROnPlateau(monitor='val_loss', patience=5, epsilon=1e-3),
            EarlyStopping('val_acc', patience=20),
        ],
        max_q_size=4,
        verbose=2)

    template.save_weights(in_folder(args.folder, 'weights.h5'))
    template.save(in_folder(args.folder, 'model.h5'))
    print('training accuracy %.3f' % history.history['acc'][-1])


if __name__ == '__main__':
    main(parser.parse_args())
