"""API: conventions of all endpoints, and the endpoints of the test collection."""
