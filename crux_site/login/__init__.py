"""Login: rate limit, sessions, known browsers."""
