"""The files that tell how a collection came about: origins of runs, writers, and what they wrote."""
