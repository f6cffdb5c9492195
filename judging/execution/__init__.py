"""Execution of runs of any kind: states, limits, leases, background workers."""
