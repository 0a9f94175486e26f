"""Functions that networkx had before version 3."""

from __future__ import annotations

import pickle
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


def read_gpickle(path: Any) -> Any:
    """Read a graph from a pickle; it runs code if the file is not yours."""
    with open(path, "rb") as file:
        return pickle.load(file)


def write_gpickle(G: Any, path: Any, protocol: int = pickle.HIGHEST_PROTOCOL) -> None:
    """Write a graph as a pickle."""
    with open(path, "wb") as file:
        pickle.dump(G, file, protocol)


def graph_clique_number(G: Any, cliques: Any = None) -> int:
    """Return the size of the largest clique."""
    import networkx

    return max((len(clique) for clique in cliques or networkx.find_cliques(G)), default=0)


def graph_number_of_cliques(G: Any, cliques: Any = None) -> int:
    """Return the number of maximal cliques."""
    import networkx

    return len(list(cliques or networkx.find_cliques(G)))


def _change(module: Any) -> None:
    gone = ("add_cycle", "add_path", "add_star", "nodes_with_selfloops", "number_of_selfloops", "selfloop_edges")
    member([module.Graph], node=property(lambda self: self.nodes), **{name: _method(module, name) for name in gone})


def _method(module: Any, name: str) -> Callable[..., Any]:
    return lambda self, *args, **options: getattr(module, name)(self, *args, **options)


CHANGES: dict[str, Callable[[Any], None]] = {"networkx": _change}
