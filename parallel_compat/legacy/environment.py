"""The environment variables by which `parallel-compat run` speaks to the processes of the user's script."""

from __future__ import annotations

# A JSON object: also, replicas, report, quiet; for child processes also folder, where they hand in what they used.
SETTINGS = "PARALLEL_COMPAT_RUN"
# Set for the script's own process alone, which takes it away: the one that reports.
MAIN = "PARALLEL_COMPAT_RUN_MAIN"
