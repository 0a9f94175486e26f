"""`parallel-compat check`: what a project needs before it can run."""
