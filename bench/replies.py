"""Comparison of two parsers on replies that are not exactly one grade.

    python -m bench.replies

Ours, and a parser that takes the first digit. The replies are those of
tests/toolbox/judge_replies.py, as models write them.
"""

import json
import re

from judging.grading.pairs import State
from tests.toolbox import judge_replies


def main() -> None:
    parsed = {reply: judge_replies.parse_reply(reply) for reply in judge_replies.ALL_REPLIES}
    unreadable = [reply for reply, outcome in parsed.items() if outcome.state is not State.GRADED]
    first = [reply for reply in unreadable if re.search("[0-5]", reply)]
    counts = {
        "replies": len(parsed),
        "not one grade": len(unreadable),
        "a grade by ours": sum(parsed[reply].grade is not None for reply in unreadable),
        "a grade by the first digit": len(first),
    }
    print(json.dumps(counts, indent=2))


if __name__ == "__main__":
    main()
