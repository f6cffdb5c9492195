"""The rating matrices: the topics of a dataset, and the matrix of one of them."""
