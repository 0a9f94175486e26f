"""`run --resume`: an unmodified script that is killed goes on, with the results of one that was not."""

from __future__ import annotations

import json
import signal

import pytest

SCRIPT = """
import json, os, random, signal, sys
import numpy as np
import tensorflow as tf
random.seed(3)
np.random.seed(1)
tf.compat.v1.set_random_seed(2)
from {keras}.callbacks import Callback, ReduceLROnPlateau
from {keras}.layers import Dense
from {keras}.models import Sequential
from {keras}.optimizers import SGD

out, kill = sys.argv[1], int(sys.argv[2])
batches = 0

class Count(Callback):
    def on_batch_end(self, batch, logs=None):
        global batches
        batches += 1
        if batches == kill:
            os.kill(os.getpid(), signal.SIGKILL)

x, y = np.random.rand(30, 4), np.random.rand(30, 2)
model = Sequential([Dense(5, activation='tanh', input_shape=(4,)), Dense(2)])
model.compile(SGD(lr=0.1, decay=0.01, momentum=0.9), 'mse', metrics=['mae'])
callbacks = [ReduceLROnPlateau(monitor='loss', patience=1, min_delta=1.), Count()]
first = model.fit(x, y, batch_size=10, epochs=4, verbose=0, callbacks=callbacks, shuffle={shuffle})

def generator():
    while True:
        yield x[:10], y[:10]

second = model.fit_generator(generator(), 3, epochs=3, verbose=0, callbacks=[Count()])
weights = [w.tolist() for w in model.get_weights()]
json.dump([first.history, second.history, first.epoch, second.epoch, weights], open(out, 'w'), default=float)
"""


@pytest.mark.parametrize(
    ("era", "keras", "shuffle"),
    [
        ("keras-2.2.4", "keras", True),
        pytest.param("tf.keras-2.2", "tensorflow.keras", False, marks=pytest.mark.slow),
        pytest.param("keras-2.3", "keras", True, marks=pytest.mark.slow),
        ("tf.keras-1.15", "tensorflow.keras", True),
    ],
)
def test_a_killed_script_goes_on_with_the_results_of_one_that_was_not(tmp_path, forked, era, keras, shuffle):
    (tmp_path / "train.py").write_text(SCRIPT.format(keras=keras, shuffle=shuffle))
    options = ("--quiet", "--era", era, "--resume")
    assert forked(*options, "whole-state", "train.py", "whole.json", "-1").returncode == 0
    # In the third epoch of the first training; then in the second epoch of the second one, after 2 epochs of the first.
    for kill, told in ((7, ""), (6 + 5, "training 1 continues at epoch 3 of 4")):
        killed = forked(*options, "state", "train.py", "killed.json", str(kill))
        assert killed.returncode == -signal.SIGKILL, killed.stderr
        assert told in killed.stderr
    resumed = forked(*options, "state", "train.py", "killed.json", "-1")
    assert resumed.returncode == 0, resumed.stderr
    assert "training 1 is complete" in resumed.stderr
    assert "training 2 continues at epoch 2 of 3" in resumed.stderr
    whole, killed_results = (json.loads((tmp_path / f"{name}.json").read_text()) for name in ("whole", "killed"))
    assert killed_results == whole


def test_the_state_of_another_training_is_refused(tmp_path, forked):
    script = (
        "import numpy as np, sys\nfrom keras.layers import Dense\nfrom keras.models import Sequential\n"
        "model = Sequential([Dense(int(sys.argv[1]), input_dim=2)])\nmodel.compile('sgd', 'mse')\n"
        "model.fit(np.ones((4, 2)), np.ones((4, int(sys.argv[1]))), verbose=0)\n"
    )
    (tmp_path / "train.py").write_text(script)
    assert forked("--quiet", "--resume", "state", "train.py", "1").returncode == 0
    refused = forked("--quiet", "--resume", "state", "train.py", "2")
    assert refused.returncode == 1
    assert "Expected the training whose state is in" in refused.stderr
