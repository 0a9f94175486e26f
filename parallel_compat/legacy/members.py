from __future__ import annotations
def put_on(patches): pass
