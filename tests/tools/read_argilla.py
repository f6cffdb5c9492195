"""FILE ANOTHER, run by Argilla's Python: reads the records and writes them again. Neither takes a server."""

import sys

from argilla.records._io import JsonIO

source, again = sys.argv[1:]
JsonIO.to_json(JsonIO._records_from_json(source), again)
