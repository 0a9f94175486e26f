"""What is not as it was in an era, with the reason that nobody can mend.

A row is here if the real stacks answer otherwise than `parallel-compat run`; the documentation is made of it.
"""

from __future__ import annotations

from typing import NamedTuple

from parallel_compat.names.eras import Era

_STANDALONE = (Era.KERAS_2_2_4, Era.KERAS_2_3)
_GRAPHS = (*_STANDALONE, Era.TF_KERAS_1_15)
_ALL = (*_GRAPHS, Era.TF_KERAS_2_2)


class Difference(NamedTuple):
    """One difference to an era.

    Attributes:
        eras: whose.
        what: what differs.
        reason: why it stays.
    """

    eras: tuple[Era, ...]
    what: str
    reason: str


DIFFERENCES: tuple[Difference, ...] = (
    Difference(
        _STANDALONE,
        "`Orthogonal` (the recurrent kernels of LSTM and GRU) draws the same matrix from `np.random`; the signs of "
        "its columns may be others.",
        "They are those of LAPACK's singular vectors, which its releases choose otherwise.",
    ),
    Difference(
        _STANDALONE,
        "A layer that is in two models which are layers of a third one (the generators of a CoGAN) is stepped once, "
        "and counted once by `clipnorm` and in `get_weights()` of the third.",
        "Keras 2.2.4 listed its weights twice and assigned them twice at once, each by moments of its own: of two runs "
        "of one script no loss after the second agreed, but by chance.",
    ),
    Difference(
        (Era.KERAS_2_2_4,),
        "The losses of networks of several layers are those of its formulas, from which its own runs differ: by 4e-5 "
        "in the first epochs of three Dense layers, by much more with Adam or RMSprop and few samples.",
        "TensorFlow 1 wrote a weight as soon as its gradient was there, while the gradient of the layer before was "
        "being computed from it: three runs of one script with its seeds set gave three results. (tf.keras and Keras "
        "2.3 read a copy, and give one.)",
    ),
    Difference(
        _GRAPHS,
        "After `np.random.seed`, the masks of recurrent layers, of layers in `TimeDistributed`, and of those that "
        "a layer of the script's own calls more than once are others, and so is what `K.random_normal` and its "
        "relatives draw in these (and how often, in `TimeDistributed`), and in layers that a model of the script's own "
        "class calls more than once; on several devices, and with `Resume`, also those of Dropout, of noise layers and "
        "of `K.random_normal` in others. (On one device the sampling of a variational autoencoder is as it was, also "
        "in a model that is called several times, and so is a discriminator with Dropout in a GAN.)",
        "Recurrent layers drew inside a loop whose iterations ran side by side: three runs of one script gave three "
        "results in Keras 2.2.4 itself. Several devices, and calls by the script's own code, had an operation, and a "
        "stream, each; today's steps are functions that may be traced again.",
    ),
    Difference(
        _GRAPHS,
        "After `np.random.seed`, a loss that draws (`K.random_normal` in a loss function or in what `add_loss` gets) "
        "draws other numbers, and so does `np.random` after `compile`. `K.batch_flatten` in a `Lambda` or in a layer "
        "of the script's own draws nothing, from which Keras 2.3 drew one number.",
        "A graph's loss was made, and took its seed, when the model was compiled; here it is called first in training. "
        "Keras 2.3 drew the name of each such operation; here they have none.",
    ),
    Difference(
        (Era.TF_KERAS_1_15,),
        "After `tf.set_random_seed`, initial weights, masks of Dropout, orders of data sets, and what "
        "`tf.random_normal` and its like draw in a Lambda layer or between layers, are others where they have "
        "no seed of their own.",
        "Their seeds counted the operations of the graph before them, which today's layers do not make.",
    ),
    Difference(
        (Era.TF_KERAS_2_2,),
        "After `np.random.seed` and `tf.random.set_seed`, the masks of recurrent layers are others, and what "
        "`K.random_normal` and its like draw in these. On several devices, with `Resume`, in a `K.function`, and in "
        "a `tf.function` of the script's own whose first call makes variables, so is what GaussianNoise, "
        "GaussianDropout, AlphaDropout and `K.random_normal` draw in other layers, and with `Resume` the masks of "
        "Dropout. (On one device these, initial weights and the order of samples are as they were.)",
        "Recurrent layers drew inside a loop. Several devices had an operation, and a stream, each. A resumed training "
        "needs a generator whose state can be kept. `K.function` had the operations that were made with the layers, "
        "where today's are made as it is traced. A function that made variables was traced twice, and drew seeds from "
        "`np.random` in both traces.",
    ),
    Difference(
        _STANDALONE,
        "Two runs of Adam, Adamax, Nadam, `decay`, or an optimizer of the user's with `get_updates` (RAdam, Lookahead, "
        "AdaBound, one that accumulates gradients) give the same weights.",
        "Keras 2.2.4 wrote its step counter while other operations of the step read it, so that a step saw its own "
        "count or the next: asked repeatedly, dense networks saw the next one nearly always, LSTMs mostly their own, "
        "those with an Embedding either. Of eight runs of an Adam that accumulates the gradients of three batches no "
        "two agreed. Here all is read before anything is written, as the formulas mean.",
    ),
    Difference(
        _STANDALONE,
        "The gradient of a layer is that of the weights which the step began with, also where a layer above it has "
        "been updated.",
        "Keras 2.2.4 kept weights in TensorFlow 1's reference variables: a kernel could be written before the gradient "
        "of the layers below had read it. Seen with SGD, an Embedding or a Conv3D below a Dense layer, losses 2% off "
        "and others from run to run; with an LSTM below one and RMSprop at 0.01 (`lstm_text_generation`) the first "
        "epoch's loss was 4.6 for 3.4. With `tf.enable_resource_variables()` that stack gives what is given here.",
    ),
    Difference(
        (Era.KERAS_2_2_4,),
        "Layers that a layer of the user's holds are trained and saved where it lists no weights itself "
        "(`self.trainable_weights = ...`), and a BatchNormalization among them moves its statistics; a warning names "
        "them.",
        "Keras 2.2.4 passed over them, and Keras 2.3 began to train them. Programs of both import `keras`, and read in "
        "`keras.__version__` that it is newer.",
    ),
    Difference(
        _GRAPHS,
        "`keras.applications` are those of Keras-Applications 1.0.8 (2019): the BatchNormalization of ResNet50 has "
        "`epsilon=1.001e-5`.",
        "Up to 1.0.6 (2018) it was 1e-3, and the layers had other names, by which `get_layer` and `load_weights` still "
        "find them; a warning tells of the epsilon. Programs of both versions look the same.",
    ),
    Difference(
        _GRAPHS,
        "An `add_loss` of several numbers is shown as their sum, which is what is trained on.",
        "Keras 2.2.4 and TensorFlow 1.15 showed an array, and in epochs a mean of arrays. Logs hold numbers today.",
    ),
    Difference(
        _ALL,
        "On replicas the moving statistics of BatchNormalization are the mean over the replicas, weighted by samples.",
        "`multi_gpu_model` updated one variable from each tower, in an order that changed from run to run.",
    ),
    Difference(
        (Era.TF_KERAS_1_15, Era.TF_KERAS_2_2),
        "On replicas a cross-entropy is computed from logits where one device computes it so.",
        "`multi_gpu_model` of tf.keras concatenated the outputs, so that the loss saw probabilities. Labels that sum "
        "to 1 give the same, except of saturated outputs, which were clipped there; others have another gradient. The "
        "results of one device are kept.",
    ),
    Difference(
        (Era.TF_KERAS_1_15, Era.TF_KERAS_2_2),
        "A learning rate that is given as a whole number (`Adadelta(lr=1)`) can be set to a fraction.",
        "tf.keras kept it in a variable of int32, so that 0.5, set by a callback, became 0, and training stood still.",
    ),
    Difference(
        _STANDALONE,
        "`SGD().get_weights()` without momentum has zeros for its moments.",
        "Keras 2.2.4 kept the last step there, which no later step used.",
    ),
    Difference(
        (Era.TF_KERAS_1_15, Era.TF_KERAS_2_2),
        "On replicas an activity regularizer, or a mean given to `add_loss`, is one mean over the batch's samples, and "
        "`model.losses` has it once.",
        "`multi_gpu_model` of tf.keras added up the means of the towers, so that the loss grew with their number. The "
        "results of one device are kept.",
    ),
    Difference(
        (Era.TF_KERAS_1_15,),
        "What `add_metric` of a model within a model, or of one on replicas, logs is in `history` and `metrics_names` "
        "too; on replicas it is the mean over them, as in TensorFlow 2.2.",
        "TensorFlow 1.15 returned it from `evaluate` and `train_on_batch` alone, and on several devices as one tower "
        "had it, which changed from run to run.",
    ),
    Difference(
        (Era.TF_KERAS_1_15,),
        "A loss of one's own with `K.log(y + 1.)` has its own value in `evaluate` and validation.",
        "TensorFlow 1's graph optimizer rewrote the logarithm to another function there: without its arithmetic "
        "rewriting it gives what is given here.",
    ),
    Difference(
        (Era.TF_KERAS_2_2,),
        '`metrics=["accuracy"]` with integer labels of shape (samples, 1) from a generator is their accuracy.',
        "TensorFlow 2.2 did not know the last axis of what a generator yields, took the labels for one-hot rows, and "
        "gave the share of predictions of class 0.",
    ),
    Difference(
        _GRAPHS,
        "What layers and functions of TensorFlow compute from an iterator's `get_next()` (`model(images)`) has the "
        "value of the first element in each `session.run`.",
        "TensorFlow 2 computes it when the line runs. The elements themselves, and what functions of `keras.backend` "
        "compute from them, are the next ones in each run. Make the model with `Input(tensor=images)`, or call it in "
        "the loop: `model(session.run(images))`.",
    ),
    Difference(
        _ALL,
        "`CuDNNLSTM` and `CuDNNGRU` have the arrays of `LSTM` and `GRU(reset_after=True)`, also in `get_weights()` and "
        "`set_weights()`: a bias of 4 times the units, and one of 2 rows.",
        "These layers compute them, as no layer is cuDNN's alone today. Theirs had flat biases of 8 and 6 times the "
        "units: `load_weights` converts those in files, `set_weights` refuses them for their shapes.",
    ),
    Difference(
        (Era.TF_KERAS_2_2,),
        "The vocabulary of `experimental.preprocessing.TextVectorization` is that of later releases: "
        "`get_vocabulary()` lists the entries for padding and unknown words too, as strings, `max_tokens` counts "
        "both, outputs are not padded to it, and with `tf-idf` unknown words weigh the mean.",
        "Sources of TensorFlow 2.3 and later spell it the same, and an `Embedding(max_tokens)` of theirs has no row "
        "for the one word more that 2.2 kept. For the width of 2.2 give `pad_to_max_tokens=True`.",
    ),
    Difference(
        (Era.TF_KERAS_1_15, Era.TF_KERAS_2_2),
        "After `add_loss` or `add_metric` of a tensor `model.layers` has the layers that it is computed by, and "
        "neither those of single operations nor `AddLoss`. In 1.15 `trainable_weights` lists each weight once, and "
        "so does `get_weights` of layers that a cross-entropy reaches within a model.",
        "`tf.keras` made a layer of each operation, and listed those of models inside a second time. Keras 3 does not. "
        "A cross-entropy was computed from the logits, and so from layers within the model whose output it got.",
    ),
    Difference(
        (Era.TF_KERAS_1_15, Era.TF_KERAS_2_2),
        "What a metric has counted that a layer or model holds is not in a folder that `model.save` writes: after "
        "`load_model` it begins with nothing. It is in `.h5` files and in checkpoints.",
        "`tf.keras` kept it with the layer. A layer whose class is not known is made of the folder's functions here, "
        "and has no metrics; `fit` and `evaluate` begin metrics anew anyway.",
    ),
    Difference(
        (Era.TF_KERAS_1_15, Era.TF_KERAS_2_2),
        "A layer lists each weight once that it puts into `_trainable_weights` or `_non_trainable_weights` itself, or "
        "in 1.15 takes from a layer within (`self.v = self.layer.kernel`), and so do `get_weights` and the number of "
        "parameters. What is trained is the same.",
        "`tf.keras` put what is set on an attribute into these lists, too: a weight was there twice, or in both. Keras "
        "3 keeps it in one.",
    ),
    Difference(
        (Era.KERAS_2_2_4,),
        "Each gradient is that of the weights before the step.",
        "Keras 2.2.4 stepped a weight as soon as it had its gradient, while those of earlier layers were still "
        "computed from it. Asked twelve times for a batch of `Dense`, `Activation`, `Dense` under `SGD(1.0)`, it gave "
        "the first layer the gradient of the last one's new kernel seven times; an `LSTM` before a `Dense` had that in "
        "each of three runs, a `GRU` and a `SimpleRNN` in two. Keras 2.3.1 has the gradients of here: 75 of 75 values.",
    ),
    Difference(
        _GRAPHS,
        "A BatchNormalization that is called more than once in a model takes the batches of its calls in one after "
        "another.",
        "TensorFlow 1 ran the updates of all calls side by side: asked five times, the real stacks gave now the one "
        "call's statistics, now the other's, of the mean and of the variance apart.",
    ),
    Difference(
        _ALL,
        "On replicas, some of which get no samples of a batch, a depthwise kernel (also of `SeparableConv2D`) has the "
        "gradient of the samples.",
        "The kernel for that gradient in TensorFlow 1.15 and 2.2 gave whatever was in memory where there are no "
        "samples (numbers of 1e38 among them), so that no two runs were the same; today's gives 0, as one device does.",
    ),
    Difference(
        _ALL,
        "A generator that is given to two `fit` goes on with the batch behind those that the first one trained on.",
        "The queues of the eras had read ahead, and what they held was lost: how much depended on which thread was "
        "faster. TensorFlow 2.2 lost none in one run and one batch in the next. (Within one `fit`, validations lose "
        "what they lost then.)",
    ),
    Difference(
        _ALL,
        "A weight whose gradient is nearly 0, such as a bias before a BatchNormalization, may differ after a step of "
        "RMSprop, Adam and their like.",
        "They divide a gradient by its own size, also one that is made of the rounding errors of float32, which follow "
        "from the order in which a processor adds.",
    ),
    Difference(
        (Era.TF_KERAS_1_15,),
        "Trained eagerly on a `tf.data.Dataset`, Adam and RMSprop move the weights of an Embedding otherwise from the "
        "second epoch on, by some 1e-4 of a loss.",
        "The step that found the dataset at its end had made the moments smaller by then, as parts of a step without "
        "gradients do not wait for the batch. Moments that are made smaller once more after an epoch give its losses, "
        "as they are in code of TensorFlow 2.2.",
    ),
    Difference(
        _GRAPHS,
        "Layers that nothing but the function of a Lambda layer reaches (`Lambda(lambda t: t + h)`, with `h` of "
        "another layer) are layers of the model: trained, listed and saved.",
        "Those stacks computed with weights that no model knew: nothing trained them and no file held them. Without "
        "them a model that is loaded could not compute what it computed before.",
    ),
    Difference(
        (Era.KERAS_2_2_4, Era.TF_KERAS_1_15),
        'Callbacks of Keras that watch a log in today\'s spelling (`monitor="val_accuracy"`) find it; their stacks had '
        "`val_acc` alone, and did nothing but warn.",
        "With `import keras` the code may be of Keras 2.3, which had `val_accuracy`: its best models would be lost.",
    ),
    Difference(
        (Era.TF_KERAS_2_2,),
        "In the first epoch on a dataset of unknown length, variables of the user's that a layer changes in `call` "
        "(`self.count.assign_add(1)`), and operations that draw numbers of a fixed shape, are run once a batch.",
        "The step that found the dataset at its end failed there, but had run what needs no batch by then: which of "
        "the user's operations those are is known to a graph that has begun alone.",
    ),
    Difference(
        (Era.TF_KERAS_1_15,),
        "Data sets that are shuffled within a function that `flat_map` or `interleave` is given are in another order.",
        "What a shuffle in a function has drawn is kept from one call to the next otherwise today.",
    ),
    Difference(
        (Era.TF_KERAS_2_2,),
        "The angles, shifts, factors and cuts that RandomRotation, RandomTranslation, RandomContrast and RandomCrop "
        "draw are others, also with a seed.",
        "They drew from generators and by operations that today's layers do not have.",
    ),
    Difference(
        (Era.TF_KERAS_2_2,),
        "Under a strategy of `tf.distribute`, `fit` and `experimental_distribute_dataset` take a shuffled "
        "`tf.data.Dataset` in another order, also after `tf.random.set_seed`.",
        "TensorFlow 2.2 drew that order anew in each run of a script, whatever the seed. Without `shuffle` the results "
        "are equal.",
    ),
    Difference(
        (Era.TF_KERAS_1_15, Era.TF_KERAS_2_2),
        "An activity regularizer in a model that `TimeDistributed` wraps is added to the loss once.",
        "TensorFlow had it twice in the loss.",
    ),
    Difference(
        (Era.TF_KERAS_1_15,),
        "A BatchNormalization in a model that `TimeDistributed` wraps moves its statistics twice in a step, one time "
        "after the other.",
        "TensorFlow 1.15 moved them twice at once: what came out differed from run to run.",
    ),
    Difference(
        (Era.TF_KERAS_2_2,),
        "A `tf.Variable` of any size (`shape=tf.TensorShape(None)`) that is assigned to a layer and is not trained is "
        "none of its weights: `get_weights` and files have one array less.",
        "A weight of Keras 3 has one shape.",
    ),
    Difference(
        (Era.TF_KERAS_2_2,),
        "Losses that a script calls on whole numbers alone, targets and predictions, are computed as of floats.",
        "TensorFlow 2.2 refused most of them, and gave `mse` and `mae` without their fractions: an error of 2.5 was 2.",
    ),
    Difference(
        _STANDALONE,
        "`samples_per_epoch`, `nb_val_samples` and `val_samples` count samples.",
        "They did in Keras 1, which a script that has them was written for. Keras 2 took them for numbers of batches, "
        "with a warning that they are not the same: a batch size's number of epochs in each.",
    ),
    Difference(
        _ALL,
        "The bar of `verbose=1` is that of Keras 3, in colours; it counts batches where Keras 2 and TensorFlow 1.15 "
        "counted the samples of arrays. The numbers behind it, and the lines of `verbose=2`, are the era's.",
        "A bar is for people: what scripts read from logs is the lines of `verbose=2`, and the numbers.",
    ),
)
