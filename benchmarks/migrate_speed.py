"""How long `migrate` takes on a project of 100,000 lines of which 50 files mention Keras, on one core.

    python benchmarks/migrate_speed.py
    python benchmarks/migrate_speed.py --lines-per-file 2000   # the 50 files are all of the project

The yardstick is parsing those 50 files with the same parser (`ast.parse`), measured in the same run: the ratio says
how much scopes, names, kinds, the rules and reading the other files cost beyond it. The whole command is timed as a
child process, from the start of Python to its exit, and it must not have imported TensorFlow.
"""

from __future__ import annotations

import argparse
import ast
import subprocess
import sys
import tempfile
import time
from pathlib import Path

LINES, WITH_KERAS = 100_000, 50

HEAD = '''\
"""Module {number}."""
import os
import tensorflow as tf
from keras import backend as K
from keras.layers.core import Dense, Dropout
from keras.layers import Convolution2D, Input
from keras.models import Model
from keras.optimizers import SGD
from keras.utils import multi_gpu_model, to_categorical

'''
WITH = """\
def build_{number}(width, gpus):
    inputs = Input((width, width, 3))
    x = Convolution2D(64, 3, 3, border_mode='same', init='he_normal')(inputs)
    x = Dropout(p=0.5)(Dense(output_dim=10)(x))
    model = Model(input=inputs, output=x)
    parallel = multi_gpu_model(model, gpus=gpus)
    parallel.compile(SGD(lr=0.01, decay=1e-6), loss=lambda a, b: K.mean(K.square(a - b)), metrics=['accuracy'])
    parallel.fit_generator(batches(width), steps_per_epoch=10, nb_epoch=3, workers=4)
    model.save_weights(os.path.join('out', 'w%d.h5' % width))
    return {{'name': 'block_{number}', 'shape': x.get_shape().as_list(), 'log': tf.log(3.0)}}

"""
WITHOUT = '''\
def helper_{number}(values, scale=1.0):
    """Scale and sum what is positive."""
    total = 0.0
    for index, value in enumerate(values):
        if value > 0 and index % 2 == 0:
            total += value * scale
        else:
            total -= abs(value) / (index + 1)
    return {{'total': total, 'count': len(values), 'name': 'helper_{number}'}}

'''


def write(folder: Path, lines_per_file: int) -> list[Path]:
    """Write the project; return the files that mention Keras."""
    with_keras = []
    for number in range(LINES // lines_per_file):
        mentions = number < WITH_KERAS
        text = HEAD.format(number=number) if mentions else f'"""Module {number}."""\nimport os\n\n'
        block = WITH if mentions else WITHOUT
        blocks = (lines_per_file - text.count("\n")) // block.count("\n")
        text += "".join(block.format(number=index) for index in range(blocks))
        path = folder / f"package{number % 10}" / f"module{number}.py"
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
        if mentions:
            with_keras.append(path)
    return with_keras


def main() -> None:
    """Write the project, time the command and the parser, print both and their ratio."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lines-per-file", type=int, default=200)
    parser.add_argument("--repeat", type=int, default=3)
    arguments = parser.parse_args()
    code = (
        "import sys; from parallel_compat.command import main; code = main(); "
        "assert 'tensorflow' not in sys.modules; sys.exit(code)"
    )
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with_keras = write(folder, arguments.lines_per_file)
        texts = [path.read_text() for path in with_keras]
        lines = sum(text.count("\n") for text in texts)
        command = [sys.executable, "-c", code, "migrate", "--format", "json", str(folder)]
        whole, parsing = [], []
        for _ in range(arguments.repeat):
            start = time.perf_counter()
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
            whole.append(time.perf_counter() - start)
            start = time.perf_counter()
            for text in texts:
                ast.parse(text)
            parsing.append(time.perf_counter() - start)
    print(f"{LINES:,} lines in {LINES // arguments.lines_per_file} files, {lines:,} of them in {len(texts)} with Keras")
    print(f"the command   {min(whole):6.2f} s")
    print(f"the parser    {min(parsing):6.2f} s")
    print(f"ratio         {min(whole) / min(parsing):6.1f}")


if __name__ == "__main__":
    main()
