"""Runs every script of this folder, one after another, as programs of their own."""

import os
import runpy

import numpy as np
from stack import K

folder = os.path.dirname(os.path.abspath(__file__))
for name in sorted(os.listdir(folder)):
    if name.endswith(".py") and name not in ("every.py", "stack.py"):
        K.clear_session()
        np.random.seed(1)
        runpy.run_path(os.path.join(folder, name), run_name="__main__")
