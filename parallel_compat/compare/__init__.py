"""Did the port change my results: record what a script computes in one environment, compare it in another."""
