"""Runs a script of questions on a real old stack: on_old_stack.py SCRIPT.py keras|tf.keras OUT.json [REPLICAS]

By the Python of the old environment. The towers of a parallel model are placed on the CPU, and Keras 2.2.4's step
counter is written after everything of the step has read it: there it raced.
"""

import os
import runpy
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir, "differential"))
from run_scripts import prepare_old_stack

prepare_old_stack()
sys.argv = sys.argv[1:]
runpy.run_path(sys.argv[0], run_name="__main__")
