"""`python -m evaluation.golden FILE`: our answers to the cases of a golden file, as JSON.

Prints {"case id": result} in the schema of the cases. A case that is refused has {"error": why} for a
result, and the others are answered all the same. A file that cannot be read or is not such a file: one
message that names the file and the field, on standard error, and exit code 2.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from evaluation.golden.answers import GoldenFileError, answers


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m evaluation.golden", description=__doc__)
    parser.add_argument("file", type=Path, help="a golden file, with the cases of one family")
    path = parser.parse_args(arguments).file
    try:
        results = answers(path)
    except GoldenFileError as error:
        sys.stderr.write(f"{path}: {error}\n")
        return 2
    json.dump(results, sys.stdout, indent=1, ensure_ascii=False, allow_nan=False)
    sys.stdout.write("\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
