"""A training script of 2018, for two GPUs, on the handwritten digits that scikit-learn ships.

    python digits_2018.py --replicas 2

Only the lines marked "changed" are not of 2018. On a machine with GPUs the two lines marked "no GPU" are not needed.
"""

import argparse
import os
import random

import numpy as np
import tensorflow as tf
from keras.callbacks import Callback
from keras.layers import Conv2D, Dense, Dropout, Flatten, MaxPooling2D
from keras.models import Sequential, load_model
from keras.utils import to_categorical
from parallel_compat import ParallelModelCheckpoint, multi_gpu_model  # changed; were keras.utils and a copied file
from parallel_compat import simulate_devices  # no GPU
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

parser = argparse.ArgumentParser()
parser.add_argument('--replicas', type=int, default=2)
parser.add_argument('--epochs', type=int, default=20)
parser.add_argument('--batch_size', type=int, default=64)
parser.add_argument('--folder', default='digits_checkpoints')
parser.add_argument('--seed', type=int, default=None)
args = parser.parse_args()
simulate_devices(args.replicas)  # no GPU

if args.seed is not None:
    random.seed(args.seed)
    np.random.seed(args.seed)

if not os.path.exists(args.folder):
    os.makedirs(args.folder)


class SaveTemplate(Callback):
    """Saves the single model: the parallel one cannot be loaded where there are no GPUs."""

    def __init__(self, model_to_save):
        self.model_to_save = model_to_save

    def on_epoch_end(self, epoch, logs=None):
        self.model_to_save.save(os.path.join(args.folder, 'last.h5'))


def batches(x, y, batch_size):
    order = np.arange(len(x))
    while True:
        np.random.shuffle(order)
        for start in range(0, len(x), batch_size):
            rows = order[start:start + batch_size]
            yield [x[rows]], [y[rows]]


digits = load_digits()
images = digits.images[..., np.newaxis].astype('float32') / 16
x_train, x_test, y_train, y_test = train_test_split(
    images, to_categorical(digits.target, 10), test_size=0.2, random_state=0)
x_train, x_val, y_train, y_val = train_test_split(x_train, y_train, test_size=0.1, random_state=0)

with tf.device('/cpu:0'):
    model = Sequential()
    model.add(Conv2D(32, (3, 3), activation='relu', padding='same', input_shape=(8, 8, 1)))
    model.add(MaxPooling2D((2, 2)))
    model.add(Conv2D(64, (3, 3), activation='relu', padding='same'))
    model.add(Flatten())
    model.add(Dropout(0.25))
    model.add(Dense(10, activation='softmax'))

parallel_model = multi_gpu_model(model, gpus=args.replicas)
parallel_model.compile(loss='categorical_crossentropy', optimizer='adam', metrics=['accuracy'])

parallel_model.fit_generator(
    batches(x_train, y_train, args.batch_size),
    steps_per_epoch=int(np.ceil(len(x_train) / float(args.batch_size))),
    epochs=args.epochs,
    validation_data=batches(x_val, y_val, args.batch_size),
    validation_steps=int(np.ceil(len(x_val) / float(args.batch_size))),
    callbacks=[
        SaveTemplate(model),
        ParallelModelCheckpoint(model, os.path.join(args.folder, 'best.h5'), monitor='val_acc', save_best_only=True),
    ],
    verbose=2)

for name in ('last.h5', 'best.h5'):
    single_model = load_model(os.path.join(args.folder, name))
    predicted = np.argmax(single_model.predict(x_test), axis=1)
    print('%s on one device: test accuracy %.4f' % (name, np.mean(predicted == np.argmax(y_test, axis=1))))
