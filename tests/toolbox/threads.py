"""Concurrent calls in real threads, each with its own database connection."""

from concurrent.futures import ThreadPoolExecutor

from django.db import connections


def in_threads(work, arguments, threads=8):
    """Return the results of `work` for each argument; re-raise a thread's first exception."""

    def call(argument):
        try:
            return work(argument)
        finally:
            connections.close_all()

    with ThreadPoolExecutor(threads) as pool:
        return list(pool.map(call, arguments))
