"""Systems by a mixed model: contrasts with a base system, and whether two are equivalent."""
