"""File formats for provenance: origins of runs, writers, and generated drafts."""
