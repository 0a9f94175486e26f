"""A subclass of a Keras layer whose `call` returns something else gets its base class from this package.

Keras 3 computes the output shape of some layers (`Embedding`) with the method of the base class, and ignores `call`.
The layers of `parallel_compat.legacy.layers` find it by calling the layer, as in Keras 2.

```diff
 from keras.layers import Embedding
+import parallel_compat.legacy.layers

-class WithTable(Embedding):
+class WithTable(parallel_compat.legacy.layers.Embedding):
     def compute_output_shape(self, shape):
         return [super().compute_output_shape(shape), (self.input_dim, self.output_dim)]

     def call(self, x):
         return [super().call(x), self.embeddings]
```
"""

from __future__ import annotations

from parallel_compat.migrate.file import File
from parallel_compat.migrate.findings import Findings
from parallel_compat.migrate.scopes import methods_of

# Layers of Keras 2 that say themselves what their `call` gives, also for a subclass with another `call`.
SAYING_WHAT_THEY_GIVE = frozenset(("Attention", "Embedding", "Flatten", "Permute", "Reshape"))


def find(file: File) -> Findings:
    """Find such classes."""
    for class_ in file.tree.classes:
        if "call" not in methods_of(class_):
            continue
        for base in class_.bases:
            path = file.names.path(base) or ""
            target = file.names.target(base) or ""
            if not target.startswith("keras.layers.") or path.startswith("parallel_compat."):
                continue
            name = target.rpartition(".")[2]
            edits = file.replaced_by(f"parallel_compat.legacy.layers.{name}", base)
            if name in SAYING_WHAT_THEY_GIVE and edits is not None:
                message = f"`{class_.name}` returns something else than `{name}`, whose output shape Keras 3 uses."
                yield file.found(base, message, edits, hint=not file.old)
