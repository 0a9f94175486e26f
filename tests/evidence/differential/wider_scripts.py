"""Random scripts of seeds above `FIRST`: what the others seldom meet, each of them in many of these.

States and masks of recurrent layers, stateful layers, models in models, layers that are shared, each optimizer on an
`Embedding`, weights of samples and classes together, several outputs with losses by name, callbacks that read and set
what the model has, models that are compiled again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .random_scripts import RandomScript

FIRST = 1000
_OPTIMIZERS = ("SGD", "RMSprop", "Adagrad", "Adadelta", "Adam", "Adamax", "Nadam")


def write(s: RandomScript) -> None:
    """Write the script behind its imports."""
    kind = s.one(_states, _states, _stateful, _nested, _outputs, _outputs, _words, _words, _windows)
    kind(s)
    s.add("print(json.dumps(RESULT))")


def _optimizer(s: RandomScript) -> str:
    name = s.one(*_OPTIMIZERS)
    given = {"lr": s.one(0.05, 0.01, 0.02)} if s.maybe(0.7) else {}
    if name != "Nadam" and s.maybe(0.3):
        given["decay"] = s.one(0.1, 0.01)
    if name == "SGD" and s.maybe(0.6):
        given["momentum"] = 0.9
        if s.maybe(0.5):
            given["nesterov"] = True
    if name == "Adam" and s.maybe(0.4):
        given["amsgrad"] = True
    if s.maybe(0.3):
        given[s.one("clipnorm", "clipvalue")] = s.one(0.05, 0.2)
    return s.call(f"optimizers.{name}", **given)


def _recurrent(s: RandomScript, **given: object) -> str:
    name = s.one("LSTM", "LSTM", "GRU", "SimpleRNN")
    if s.maybe(0.2):
        given["kernel_regularizer"] = "'l2'"
    if s.maybe(0.2):
        given["go_backwards"] = True
    if s.maybe(0.15):
        given["unroll"] = True
    return s.call(f"L.{name}", 3, **given)


def _parallel(s: RandomScript, chance: float = 0.35) -> str:
    """Write the parallel model, if there is to be one, and return its name."""
    if not s.maybe(chance):
        return "model"
    s.add(f"parallel = utils.multi_gpu_model(model, {s.one(2, 2, 3, 4)})")
    return "parallel"


def _words_and_masks(s: RandomScript) -> None:
    s.add("words = draw.randint(1, 8, (12, 5)) * (np.arange(5) < draw.randint(1, 6, (12, 1)))")


def _states(s: RandomScript) -> None:
    """An encoder and a decoder over masked words, by way of the states."""
    _words_and_masks(s)
    kind = s.one("LSTM", "GRU", "SimpleRNN")
    states = "h, c" if kind == "LSTM" else "h"
    masked = s.one("True", "True", "False")
    s.add(f"a, b = L.Input((5,)), L.Input((4, 2))\nx = L.Embedding(9, 3, mask_zero={masked})(a)")
    if s.maybe(0.4):
        s.add(f"x = L.Bidirectional({_recurrent(s, return_sequences=True)}, merge_mode={s.one('sum', 'ave')!r})(x)")
    elif s.maybe(0.5):
        s.add("x = L.TimeDistributed(L.Dense(3, activation='tanh'))(x)")
    s.add(f"coder = L.{kind}(3, return_state=True, return_sequences={s.one('True', 'False')}, name='coder')")
    s.add(f"x, {states} = coder(x)\nreader = L.{kind}(3, return_sequences=True, return_state=True, name='reader')")
    s.add(f"y = reader(b, initial_state=[{states}])")
    last = s.one("L.TimeDistributed(L.Dense(2, activation='softmax'))", "L.Dense(2, activation='softmax')")
    s.add(f"model = start(models.Model([a, b], {last}(y[0])))")
    s.add(f"states = models.Model([a, b], {'y[1:]' if s.maybe(0.6) else '[' + states + ']'})")
    s.add("other, y = draw.normal(size=(12, 4, 2)), np.eye(2)[draw.randint(0, 2, (12, 4))]")
    name = _parallel(s)
    mode = s.maybe(0.4)
    loss = s.one("'categorical_crossentropy'", "'mse'", "'binary_crossentropy'")
    more = ", sample_weight_mode='temporal'" if mode else ""
    s.add(f"{name}.compile({_optimizer(s)}, {loss}, metrics=['accuracy', 'mae']{more})")
    weights = "draw.uniform(0, 2, (12, 4))" if mode else s.one("None", "draw.uniform(0, 2, 12)")
    s.add(f"weights = {weights}")
    s.add(
        f"history = {name}.fit([words, other], y, batch_size=5, epochs=2, shuffle=False, "
        "sample_weight=weights, verbose=0)"
    )
    s.add("note('history', history.history)\nnote('weights', model.get_weights())")
    s.add(f"note('evaluate', {name}.evaluate([words, other], y, batch_size=5, sample_weight=weights, verbose=0))")
    s.add("note('states', states.predict([words, other], batch_size=5))")


def _stateful(s: RandomScript) -> None:
    """Layers that keep their states from batch to batch."""
    s.add("model = models.Sequential()")
    s.add(f"model.add({_recurrent(s, batch_input_shape=(4, 3, 2), stateful=True, return_sequences=True)})")
    if s.maybe(0.5):
        s.add(f"model.add({_recurrent(s, stateful=True)})")
        shape = "(12, 1)"
    else:
        shape = "(12, 3, 1)"
    s.add(f"model.add(L.Dense(1))\nstart(model)\nx, y = draw.normal(size=(12, 3, 2)), draw.normal(size={shape})")
    s.add(f"model.compile({_optimizer(s)}, {s.one(repr('mse'), repr('mae'))}, metrics=['mae'])")
    s.add("seen = []\nfor epoch in range(2):")
    s.add("seen.append(model.fit(x, y, batch_size=4, epochs=1, shuffle=False, verbose=0).history)", 4)
    if s.maybe(0.7):
        s.add("model.reset_states()", 4)
    s.add("note('seen', seen)\nnote('predict', model.predict(x, batch_size=4))")
    if s.maybe(0.5):
        s.add("model.layers[0].reset_states()")
    s.add("note('again', [model.predict(x[:4], batch_size=4), model.predict_on_batch(x[4:8])])")
    s.add("note('steps', [model.train_on_batch(x[:4], y[:4]), model.test_on_batch(x[4:8], y[4:8])])")
    s.add("note('evaluate', model.evaluate(x, y, batch_size=4, verbose=0))\nnote('weights', model.get_weights())")


def _nested(s: RandomScript) -> None:
    """Models in models, one of them called twice; compiled again with a part frozen."""
    normal = s.maybe(0.3)
    middle = s.one("L.LeakyReLU(0.1)", "L.Dropout(0.)", "L.Activation('tanh')", "L.PReLU()")
    if normal:
        middle = "L.Activation('tanh'), L.BatchNormalization(momentum=0.8)"
    first = "L.Dense(4, input_shape=(5,), kernel_regularizer='l2')" if s.maybe(0.5) else "L.Dense(4, input_shape=(5,))"
    s.add(f"base = models.Sequential([{first}, {middle}, L.Dense(3)], name='base')")
    s.add("a, b = L.Input((5,), name='a'), L.Input((5,), name='b')")
    if normal:
        s.add("one, two = base(a), L.Dense(3)(b)")
    else:
        s.add("one, two = base(a), base(b)")
    merge = s.one("add", "multiply", "concatenate", "maximum", "average")
    s.add(f"both = models.Model([a, b], L.{merge}([one, two]), name='both')")
    s.add("c, d = L.Input((5,)), L.Input((5,))\nx = L.Dense(3, activation='relu', name='last')(both([c, d]))")
    s.add("model = start(models.Model([c, d], L.Dense(1, activation='sigmoid', name='out')(x)))")
    s.add("x = [draw.normal(size=(12, 5)) for _ in range(2)]\ny = draw.randint(0, 2, (12, 1))")
    name = "model" if normal else _parallel(s)
    loss = s.one("'binary_crossentropy'", "'mse'", "'hinge'")
    s.add(f"{name}.compile({_optimizer(s)}, {loss}, metrics=['accuracy'])")
    s.add("weights = draw.uniform(0, 2, 12)")
    s.add(
        f"note('steps', [{name}.train_on_batch([each[at:at + 5] for each in x], y[at:at + 5], "
        "sample_weight=weights[at:at + 5], class_weight={0: 0.5, 1: 2.0}) for at in (0, 5, 10)])"
    )
    s.add(
        s.one("base.trainable = False", "base.layers[0].trainable = False", "model.get_layer('last').trainable = False")
    )
    if s.maybe(0.8):
        s.add(f"{name}.compile({_optimizer(s)}, {loss}, metrics=['accuracy'])")
    s.add(
        f"history = {name}.fit(x, y, batch_size=5, epochs=2, shuffle=False, validation_data=(x, y, weights), verbose=0)"
    )
    s.add("note('history', history.history)\nnote('weights', model.get_weights())")
    s.add("note('counts', [len(model.trainable_weights), len(model.non_trainable_weights), model.count_params()])")
    s.add("note('base', base.predict(x[0]))\nnote('both', both.predict(x))")
    s.add(f"note('evaluate', {name}.evaluate(x, y, batch_size=5, sample_weight=weights, verbose=0))")


def _outputs(s: RandomScript) -> None:
    """Several outputs, with losses, metrics, weights and targets by name; callbacks that read and set."""
    s.add("a = L.Input((5,), name='a')\nx = L.Dense(4, activation='tanh')(a)\nshared = L.Dense(3)")
    s.add("one = L.Dense(3, activation='softmax', name='one')(shared(x))")
    s.add("two = L.Dense(1, name='two')(L.Activation('relu')(shared(x)))")
    s.add("three = L.Dense(2, activation='sigmoid', name='three')(x)")
    s.add("model = start(models.Model(a, [one, two, three]))\nx = draw.normal(size=(12, 5))")
    s.add("targets = {'one': np.eye(3)[draw.randint(0, 3, 12)], 'two': draw.normal(size=(12, 1)),")
    s.add("'three': draw.randint(0, 2, (12, 2)).astype('float32')}", 11)
    name = _parallel(s, 0.3)
    by_name = name == "model"
    losses = {"one": s.one("categorical_crossentropy", "kld"), "two": s.one("mse", "mae", "logcosh"),
              "three": s.one("binary_crossentropy", "mse")}  # fmt: skip
    loss = repr(losses) if by_name else repr(list(losses.values()))
    more = ""
    if s.maybe(0.6):
        more += ", loss_weights=" + (repr({"one": 0.5, "two": 2.0, "three": 1.0}) if by_name else "[0.5, 2.0, 1.0]")
    if by_name and s.maybe(0.6):
        more += ", metrics=" + s.one(
            "{'one': 'accuracy', 'three': ['accuracy', 'mae']}", "{'two': 'mse', 'one': ['acc']}"
        )
    elif s.maybe(0.5):
        more += ", metrics=['mae']"
    s.add(f"{name}.compile({_optimizer(s)}, {loss}{more})")
    targets = "targets" if by_name and s.maybe(0.6) else "[targets[each] for each in ('one', 'two', 'three')]"
    s.add(f"y = {targets}\nlast = [targets[each] for each in ('one', 'two', 'three')]")
    s.add(
        """class Reads(callbacks.Callback):
    def on_train_begin(self, logs=None):
        self.rates, self.norms = [], []

    def on_batch_end(self, batch, logs=None):
        rate, count = self.model.optimizer.lr, self.model.optimizer.iterations
        self.rates.append([float(K.get_value(rate)), int(K.get_value(count))])
        DO

    def on_epoch_end(self, epoch, logs=None):
        self.norms.append([sorted(logs), float(np.abs(self.model.get_weights()[0]).sum())])
        STOP

""".replace("DO", s.one("K.set_value(self.model.optimizer.lr, 0.9 * K.get_value(self.model.optimizer.lr))", "pass"))
        .replace("STOP", s.one("self.model.stop_training = epoch == 1", "pass"))
        .replace("self.model.get_weights()", "model.get_weights()" if not by_name else "self.model.get_weights()")
    )
    weights = ""
    if s.maybe(0.4):
        s.add("weights = [draw.uniform(0, 2, 12) for _ in range(3)]")
        weights = ", sample_weight=weights" if not s.tf2 or targets != "targets" else ""
    valid = ", validation_data=(x, y)" if s.maybe(0.5) else s.one("", ", validation_split=0.25")
    valid = "" if "split" in valid and targets == "targets" else valid
    s.add(f"reads = Reads()\nhistory = {name}.fit(x, y, batch_size=5, epochs=3, shuffle=False{weights}{valid}, "
          "callbacks=[reads], verbose=0)")  # fmt: skip
    s.add("note('history', history.history)\nnote('read', [reads.rates, reads.norms])")
    if not s.tf2:
        s.add(f"note('order', [list(history.history), {name}.metrics_names])")
    again = s.one("'adam'", "optimizers.SGD(0.1)", f"{name}.optimizer")
    s.add(f"{name}.compile({again}, {loss}{more})")
    s.add(
        f"note('steps', [{name}.train_on_batch(x[at:at + 5], [each[at:at + 5] for each in last]) for at in (0, 5, 10)])"
    )
    s.add(f"note('weights', model.get_weights())\nnote('evaluate', {name}.evaluate(x, y, batch_size=7, verbose=0))")
    s.add(f"note('predict', {name}.predict(x, batch_size=5))")


def _words(s: RandomScript) -> None:
    """Each optimizer on an Embedding that is looked up twice, from a generator."""
    _words_and_masks(s)
    given = {"mask_zero": "True"} if s.maybe(0.5) else {}
    if s.maybe(0.2):
        given["embeddings_regularizer"] = "'l2'"
    s.add(f"table = {s.call('L.Embedding', 9, 3, **given)}\na, b = L.Input((5,)), L.Input((5,))")
    s.add(f"reader = {_recurrent(s)}")
    s.add("x = L.concatenate([reader(table(a)), reader(table(b))])")
    s.add("model = start(models.Model([a, b], L.Dense(3, activation='softmax')(x)))")
    s.add("other, y = words[::-1], draw.randint(0, 3, (12, 1))\nweights = draw.uniform(0, 2, 12)")
    name = _parallel(s, 0.45)
    s.add(f"{name}.compile({_optimizer(s)}, 'sparse_categorical_crossentropy', metrics=['accuracy'])")
    s.add(
        """class Batches(utils.Sequence):
    def __len__(self):
        return 3

    def __getitem__(self, index):
        at = slice(5 * index, 5 * index + 5)
        return [words[at], other[at]], y[at]WEIGHTS

""".replace("WEIGHTS", s.one("", ", weights[at]"))
    )
    workers = s.one("", ", workers=1", ", workers=0", ", workers=2, max_queue_size=2")
    classes = ", class_weight={0: 1.0, 1: 2.0, 2: 0.5}" if s.maybe(0.3) and ", weights" not in s.lines[-2] else ""
    s.add(f"history = {name}.fit_generator(Batches(), epochs=2, shuffle=False{workers}{classes}, "
          "validation_data=Batches(), verbose=0)")  # fmt: skip
    s.add("note('history', history.history)\nnote('weights', model.get_weights())")
    s.add(f"note('evaluate', {name}.evaluate_generator(Batches()))")
    s.add(f"note('predict', {name}.predict_generator(Batches()))")
    s.add(f"note('steps', [{name}.train_on_batch([words[:n], other[:n]], y[:n]) for n in (7, 3, 12)])")
    s.add("note('weights at last', model.get_weights())")


def _windows(s: RandomScript) -> None:
    """Pictures in steps: a model for each step, pooled and read; weights go to a file and back."""
    s.add("eye = models.Sequential([L.Conv2D(2, 2, activation='relu', input_shape=(4, 4, 1)),")
    s.add(f"{s.one('L.MaxPooling2D(2)', 'L.AveragePooling2D(2)', 'L.Dropout(0.)')}, L.Flatten(), L.Dense(3)])", 4)
    s.add("a = L.Input((3, 4, 4, 1))\nx = L.TimeDistributed(eye)(a)")
    if s.maybe(0.5):
        s.add(f"x = L.Bidirectional({_recurrent(s, return_sequences=True)})(x)")
    s.add(f"x = {_recurrent(s)}(x)\nmodel = start(models.Model(a, L.Dense(2, activation='softmax')(x)))")
    s.add("x, y = draw.normal(size=(12, 3, 4, 4, 1)).astype('float32'), np.eye(2)[draw.randint(0, 2, 12)]")
    name = _parallel(s, 0.3)
    s.add(f"{name}.compile({_optimizer(s)}, 'categorical_crossentropy', metrics=['accuracy'])")
    s.add(f"history = {name}.fit(x, y, batch_size=5, epochs=2, shuffle=False, validation_split=0.25, verbose=0)")
    s.add("note('history', history.history)\nmodel.save_weights('weights.h5')\nkept = model.get_weights()")
    s.add("start(model, 5)\nmodel.load_weights('weights.h5')\nnote('weights', [kept, model.get_weights()])")
    s.add("note('eye', eye.predict(x[:, 0]))\nnote('names', [layer.name for layer in model.layers])")
    s.add(f"note('evaluate', {name}.evaluate(x, y, batch_size=5, verbose=0))")
