"""Classifies the validation digits with the single model that train.py saved.

    python predict.py out/model.h5
"""
from __future__ import print_function

import sys

import numpy as np
from keras.models import load_model

from digits.generators import Batches, load
from digits.losses import dice_and_crossentropy, top_two
from digits.models import Scale

model = load_model(sys.argv[1], custom_objects={
    'Scale': Scale, 'dice_and_crossentropy': dice_and_crossentropy, 'top_two': top_two})
(_, _), (x, y) = load()
probabilities = model.predict_generator(Batches(x, y, 50), workers=1)
print('accuracy %.3f' % np.mean(probabilities.argmax(axis=-1) == y.argmax(axis=-1)))
