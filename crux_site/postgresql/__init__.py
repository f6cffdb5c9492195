"""PostgreSQL backend, also behind a connection pooler such as PgBouncer."""
