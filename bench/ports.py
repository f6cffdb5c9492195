"""Ports for servers that begin to listen only later."""

import secrets
import socket

PORTS = range(10_000, 30_000)


def free_port(host: str = "127.0.0.1") -> int:
    """Return a random port of PORTS on which nobody listens.

    The system gives none of these to a socket that asks for any port: such a socket could take the port before
    the server, which needs seconds to start.
    """
    while True:
        port = secrets.choice(PORTS)
        with socket.socket() as probe:
            try:
                probe.bind((host, port))
            except OSError:
                continue
        return port
