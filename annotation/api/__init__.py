"""The test collection over the API: how every endpoint answers, and annotation's own endpoints."""
