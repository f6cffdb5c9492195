"""What two readers make of replies that are not exactly one grade: ours, and one that takes the first digit.

    python -m bench.replies

The replies are those of tests/judging/grading/test_parse_integer.py, as models write them.
"""

import inspect
import json
import re

from judging.grading.pairs import State
from tests.judging.grading import test_parse_integer as tests


def replies() -> set[str]:
    """All that the tests are given by name."""
    cases = set()
    for _, test in inspect.getmembers(tests, inspect.isfunction):
        for mark in getattr(test, "pytestmark", ()):
            if mark.name == "parametrize" and "reply" in mark.args[0]:
                cases |= {case if isinstance(case, str) else case[0] for case in mark.args[1]}
    return cases


def main() -> None:
    parsed = {reply: tests.read(reply) for reply in replies()}
    unreadable = [reply for reply, outcome in parsed.items() if outcome.state is not State.GRADED]
    first = [reply for reply in unreadable if re.search("[0-5]", reply)]
    counted = {
        "replies": len(parsed),
        "not one grade": len(unreadable),
        "a grade by ours": sum(parsed[reply].grade is not None for reply in unreadable),
        "a grade by the first digit": len(first),
    }
    print(json.dumps(counted, indent=2))


if __name__ == "__main__":
    main()
