"""Comparison of two parsers on replies that are not exactly one grade.

    python -m bench.replies

Ours, and a parser that takes the first digit. The replies are those of
tests/toolbox/judge_replies.py, as models write them.
"""

import json
import re

from judging.grading.pairs import State
from tests.toolbox import judge_replies


def count_grades() -> dict[str, int]:
    """Count the replies that are not one grade, and those of them that get one."""
    parsed = {reply: judge_replies.parse_reply(reply) for reply in judge_replies.ALL_REPLIES}
    unreadable = [reply for reply, outcome in parsed.items() if outcome.state is not State.GRADED]
    first = [reply for reply in unreadable if re.search("[0-5]", reply)]
    return {
        "replies": len(parsed),
        "not one grade": len(unreadable),
        "a grade by ours": sum(parsed[reply].grade is not None for reply in unreadable),
        "a grade by the first digit": len(first),
    }


def smoke() -> str:
    """Parse all replies; see bench.smoke."""
    counts = count_grades()
    assert 0 < counts["not one grade"] < counts["replies"]
    return f"{counts['replies']} replies parsed"


def main() -> None:
    print(json.dumps(count_grades(), indent=2))


if __name__ == "__main__":
    main()
