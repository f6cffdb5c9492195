"""The ways from rows of the database to arrays."""
