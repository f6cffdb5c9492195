"""Results over the API: retrieval runs, and the numbers of the agreement page and the retrieval room."""
