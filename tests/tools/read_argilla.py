"""Read records by Argilla's Python and write them again: FILE TARGET, without a server."""

import sys

from argilla.records._io import JsonIO

source, target = sys.argv[1:]
JsonIO.to_json(JsonIO._records_from_json(source), target)
