"""What `fit` eats: batches of generators and Sequences, read ahead, in worker processes, cut into epochs."""

from __future__ import annotations
