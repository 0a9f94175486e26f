"""Functions that networkx had before version 3."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from parallel_compat.packages.arguments import member


def to_numpy_matrix(G: Any, nodelist: Any = None, dtype: Any = None, order: Any = None, **options: Any) -> Any:
    """Return the adjacency as a `numpy.matrix`."""
    import networkx

    return np.asmatrix(networkx.to_numpy_array(G, nodelist, dtype, order, **options))


def to_scipy_sparse_matrix(
    G: Any, nodelist: Any = None, dtype: Any = None, weight: Any = "weight", format: str = "csr"
) -> Any:
    """Return the adjacency as a sparse matrix, for which `*` is the matrix product."""
    import networkx
    from scipy import sparse

    found = networkx.to_scipy_sparse_array(G, nodelist, dtype, weight, format)
    return getattr(sparse, f"{format}_matrix")(found)


def info(G: Any, n: Any = None) -> str:
    """Describe a graph in a few lines."""
    nodes, edges = G.number_of_nodes(), G.number_of_edges()
    lines = [f"Name: {G.name}", f"Type: {type(G).__name__}", f"Number of nodes: {nodes}", f"Number of edges: {edges}"]
    if nodes and G.is_directed():
        lines += [f"Average in degree: {edges / nodes:8.4f}", f"Average out degree: {edges / nodes:8.4f}"]
    elif nodes:
        lines.append(f"Average degree: {2 * edges / nodes:8.4f}")
    return "\n".join(lines)


def _subgraphs(components: str) -> Callable[..., Iterator[Any]]:
    def subgraphs(G: Any, copy: bool = True) -> Iterator[Any]:
        import networkx

        for nodes in getattr(networkx, components)(G):
            yield G.subgraph(nodes).copy() if copy else G.subgraph(nodes)

    return subgraphs


connected_component_subgraphs = _subgraphs("connected_components")
strongly_connected_component_subgraphs = _subgraphs("strongly_connected_components")
weakly_connected_component_subgraphs = _subgraphs("weakly_connected_components")


def _change(module: Any) -> None:
    member([module.Graph], node=property(lambda self: self.nodes))


CHANGES: dict[str, Callable[[Any], None]] = {"networkx": _change}
