"""Exit with a message if a port is taken, before a server starts.

python -m crux_site.port_check PORT=8000

Servers that share a port are not told: two of them would take turns at answering, each from a database of
its own. A probe that does not share its port is refused.
"""

import argparse
import errno
import socket
import sys


def port_problem(host: str, port: str) -> str:
    """Return a sentence that says why the port cannot be used; empty if it is free."""
    if not (port.isascii() and port.isdecimal() and 0 < int(port) < 65536):
        return f"{port!r} is no port: give a number from 1 to 65535"
    with socket.socket() as probe:
        # A server that has just ended leaves connections behind, and they are no obstacle.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, int(port)))
        except OSError as error:
            if error.errno == errno.EADDRINUSE:
                return f"port {port} of {host} is taken: stop what serves there"
            return f"port {port} of {host} cannot be used: {error.strerror}"
    return ""


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m crux_site.port_check",
        description="Say whether ports are free: status 0 if all are, else 1 and a sentence.",
    )
    parser.add_argument("ports", nargs="+", metavar="NAME=PORT")
    parser.add_argument("--host", default="127.0.0.1")
    chosen = parser.parse_args()
    for argument in chosen.ports:
        name, _, port = argument.rpartition("=")
        if problem := port_problem(chosen.host, port):
            sys.exit(f"Not started: {problem}, or take another port with {name or 'PORT'}=NUMBER.")


if __name__ == "__main__":
    main()
