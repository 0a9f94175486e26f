"""Old Keras code on today's Keras: the table of legacy names, and what stands in for the names that went."""

from __future__ import annotations
