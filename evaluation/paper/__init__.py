"""Tables and figures of the CRUX paper, from a dataset, as files."""
