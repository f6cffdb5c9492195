"""Many at once: real threads, each with a connection of its own to the real database."""

from concurrent.futures import ThreadPoolExecutor

from django.db import connections


def in_threads(work, arguments, threads=8):
    """What `work` returned for each argument; the first exception of a thread is raised here."""

    def call(argument):
        try:
            return work(argument)
        finally:
            connections.close_all()

    with ThreadPoolExecutor(threads) as pool:
        return list(pool.map(call, arguments))
