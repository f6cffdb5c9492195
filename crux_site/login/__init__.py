"""Login: rate limit, sessions, known browsers, and the first account."""
