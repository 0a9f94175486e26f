"""`use_multiprocessing=True` in scripts with and without `if __name__ == "__main__":`."""

from __future__ import annotations

import textwrap

import pytest

BATCHES = """
    import os
    import numpy as np
    from keras.utils import Sequence

    class Batches(Sequence):
        def __len__(self):
            return 3
        def __getitem__(self, index):
            return np.full((4, 2), index), np.full((4, 1), os.getpid())
"""
TRAINING = """
    from batches import Batches
    from keras.layers import Dense
    from keras.models import Sequential
    from keras.utils import multi_gpu_model

    pids = set()

    def main():
        model = Sequential([Dense(1, input_dim=2)])
        if {parallel}:
            model = multi_gpu_model(model, 2)
        model.compile("sgd", lambda y, p: y + 0 * p)
        pids.add(int(model.{call}))
        print("here" if pids == {{__import__("os").getpid()}} else "elsewhere")
"""
CALLS = (
    "fit_generator(Batches(), epochs=1, verbose=0, use_multiprocessing=True).history['loss'][0]",
    "fit(Batches(), epochs=1, verbose=0, workers=2, use_multiprocessing=True).history['loss'][0]",
    "evaluate_generator(Batches(), 3, use_multiprocessing=True)",
)


def written(folder, call, parallel, end):
    (folder / "batches.py").write_text(textwrap.dedent(BATCHES))
    (folder / "train.py").write_text(textwrap.dedent(TRAINING).format(call=call, parallel=parallel) + end)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("call", "parallel"),
    [
        pytest.param(call, parallel, marks=() if (number == 0) == parallel and number < 2 else pytest.mark.slow)
        for number, call in enumerate(CALLS)
        for parallel in (False, True)
    ],
)
def test_without_the_guard_batches_are_drawn_in_threads(tmp_path, run, call, parallel):
    written(tmp_path, call, parallel, "\nmain()\n")
    theirs = run("--replicas", "2", "train.py")
    assert theirs.returncode == 0, theirs.stderr
    assert theirs.stdout == "here\n"
    assert "(use_multiprocessing=True) -> threads: the main script has no" in theirs.stderr


@pytest.mark.slow
def test_with_the_guard_in_processes(tmp_path, run):
    written(tmp_path, CALLS[0], True, '\nif __name__ == "__main__":\n    main()\n')
    theirs = run("--replicas", "2", "train.py")
    assert theirs.returncode == 0, theirs.stderr
    assert theirs.stdout == "elsewhere\n"
    assert "threads" not in theirs.stderr


@pytest.mark.slow
@pytest.mark.parametrize("call", [CALLS[0], *(pytest.param(call, marks=pytest.mark.slow) for call in CALLS[1:])])
def test_what_cannot_be_sent_to_a_process_is_drawn_in_one_thread(tmp_path, run, call):
    written(tmp_path, call, True, '\nif __name__ == "__main__":\n    main()\n')
    with (tmp_path / "batches.py").open("a") as file:
        file.write("    def __init__(self):\n        self.random = (i for i in range(9))\n")
    theirs = run("--replicas", "2", "train.py")
    assert theirs.returncode == 0, theirs.stderr
    assert theirs.stdout == "here\n"
    assert "(use_multiprocessing=True) -> one thread: Batches cannot be sent to a process (TypeError" in theirs.stderr
