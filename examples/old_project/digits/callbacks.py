"""Callbacks."""
import os

from keras import backend as K
from keras.callbacks import Callback, ModelCheckpoint


class TemplateCheckpoint(ModelCheckpoint):
    """Saves the single model where the parallel one is trained."""

    def __init__(self, template, filepath, monitor='val_loss', verbose=0, save_best_only=False,
                 save_weights_only=False, mode='auto', period=1):
        self.template = template
        super(TemplateCheckpoint, self).__init__(filepath, monitor, verbose, save_best_only,
                                                 save_weights_only, mode, period)

    def on_epoch_end(self, epoch, logs=None):
        self.model = self.template
        super(TemplateCheckpoint, self).on_epoch_end(epoch, logs)


class PrintRate(Callback):
    """Prints and halves the learning rate."""

    def __init__(self, every=3):
        super(PrintRate, self).__init__()
        self.every = every

    def on_epoch_end(self, epoch, logs=None):
        rate = float(K.get_value(self.model.optimizer.lr))
        if (epoch + 1) % self.every == 0:
            rate = rate / 2
            K.set_value(self.model.optimizer.lr, rate)
        print('epoch %d: accuracy %.3f, next rate %.5f' % (epoch, logs['acc'], rate))


def in_folder(folder, name):
    if not os.path.exists(folder):
        os.makedirs(folder)
    return os.path.join(folder, name)
