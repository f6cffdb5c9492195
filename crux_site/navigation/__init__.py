"""List of a dataset's pages, beside each of them, and the parameters that its links take along."""
