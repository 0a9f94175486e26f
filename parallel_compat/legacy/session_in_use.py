"""The session that is in use, by which operations run by themselves."""

from __future__ import annotations

import threading

current = threading.local()  # its `session`: that which was entered or set, in this thread
