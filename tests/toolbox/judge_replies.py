"""Replies of judges as models write them, and their parser."""

from judging.grading.pairs import Failure, State
from judging.grading.parse import Parsed, parse

GRADES = range(6)


def parse_reply(reply: str, finish_reason: str | None = "stop", max_tokens: int = 16) -> Parsed:
    return parse("integer-1", reply, GRADES, finish_reason=finish_reason, max_tokens=max_tokens)


# A grade of 4, within other signs.
MARKED_GRADES = [
    *("4", " 4", "4 ", "\n4\n", "\t4\r\n", "\u00a04\u2003", "4.", "4 .", " 4. "),
    *('"4"', "'4'", "“4”", "‘4’", "`4`", "```\n4\n```", '"4."', '"4".'),
    *("**4**", "*4*", "_4_", "__4__", "**4.**", "**4**.", " **4** \n"),
    *("Rating: 4", "rating:4", "GRADE = 4", "Score is 4.", "answer: 4", "Answer=4"),
    *("**Rating:** 4", "**Rating**: 4", "Rating: **4**", "**Rating: 4**", 'Grade: "4"'),
    *("Rating:\n4", "The grade is 4.", "the score: 4", '"Answer": "4"'),
]

BLANK = ["", " ", "\n\t\r\n", "\u00a0\u2003\u3000"]

TEXT_ALONE = [
    *("four", "Grade:", "Rating: high", "N/A", ".", '""', "**", "-", "{}", "\0", "\u200b"),
    "The text does not answer the question.",
    "I'm sorry, but the text leaves this open.",
    "I cannot find the answer in this text.",
]

INTEGERS_AMONG_SIGNS = [
    "The grade is clearly 4 because the text names the harbour.",
    "4 because the text names the harbour.",
    "4 of the points are covered.",
    "I would say 4",
    "Rating 4",  # neither a colon nor "is" says that the number is the rating
    "Final rating: 4",  # two words in front
    "Grade: Rating: 4",  # two labels
    "GPT-4",
    *(
        "4!",
        "4?",
        "4..",
        "4%",
        "4+",
        "+4",
        ">4",
        "~4",
        "(4)",
        "(4",
        "[4]",
        "# 4",
        "- 4",
        "{4}",
        "4th",
    ),
    *("Grade is4x", "is 4", ": 4", '{"grade": 4}', "<think>4", "4</s>", "4\0", "\ufeff4"),
]

DECIMALS = ["4.5", "4,5", "0.5", "4.0", "Rating: 4.5", "1.000.000"]

SEVERAL_NUMBERS = [
    *("4/5", "3 or 4", "3-4", "3–4", "3 - 4", "4 4", "4\n4", "4, 4", "1, 2", "4 out of 5"),
    *("Rating: 4/5", "Grade: 4 (of 5)", "4 because of 2 facts", "10 or 12", "4.5 or 5"),
]

INTEGERS_OUT_OF_RANGE = [
    *("6", "9", "10", "45", "100", "-1", "−1", "-4", "Rating: 6", "Rating: -1", "**7**"),
    *("04", "00", "007", "I give it a 10, no less", "9" * 5_000),
]

OTHER_DIGITS = [
    "٤",
    "４",
    "۴",
    "४",
    "④",
    "⁴",
    "₄",
    "❹",
    "Ⅳ",
    "𝟒",
    "½",
    "Rating: ４",
    "4️⃣",
    "4\u0338",
]

# (reply, finish reason, most tokens, outcome)
BY_FINISH_REASON = [
    # One token: every reply is as long as it may be, by design.
    ("4", "length", 1, Parsed(State.GRADED, 4)),
    ("The", "length", 1, Parsed(State.UNPARSEABLE, failure=Failure.NO_GRADE)),
    ("", "length", 1, Parsed(State.UNPARSEABLE, failure=Failure.EMPTY)),
    ("4", None, 1, Parsed(State.GRADED, 4)),
    # More tokens: the reply would have gone on, even if what came looks like a grade.
    ("4", "length", 2, Parsed(State.TRUNCATED, failure=Failure.CUT)),
    ("4 because", "length", 16, Parsed(State.TRUNCATED, failure=Failure.CUT)),
    ("", "length", 16, Parsed(State.TRUNCATED, failure=Failure.CUT)),
    ("4", "abort", 1, Parsed(State.TRUNCATED, failure=Failure.CUT)),
    ("4", "stop", 16, Parsed(State.GRADED, 4)),
    ("4", None, 16, Parsed(State.GRADED, 4)),
    ("4", "content_filter", 16, Parsed(State.REFUSED, failure=Failure.REFUSAL)),
    ("", "content_filter", 1, Parsed(State.REFUSED, failure=Failure.REFUSAL)),
]

REFUSALS = [
    "I'm sorry, but I can't help with that.",
    "I’m sorry, but I can’t assist with that request.",
    "I am sorry, I cannot grade this text.",
    "Sorry, I am unable to rate this on a scale from 0 to 5.",
    "I apologise, but I won't do that.",
    "I'm very sorry, but as an AI, I'm not able to read this.",
    "I can't help with that.",
    "I cannot provide a grade for this content.",
    "As an AI language model, I cannot assist with this.",
    "Unfortunately, I am unable to process this.",
    '"I\'m unable to comply."',
]
ALL_REPLIES = frozenset(
    [
        *MARKED_GRADES,
        *BLANK,
        *TEXT_ALONE,
        *INTEGERS_AMONG_SIGNS,
        *DECIMALS,
        *SEVERAL_NUMBERS,
        *INTEGERS_OUT_OF_RANGE,
        *OTHER_DIGITS,
        *REFUSALS,
        *(case[0] for case in BY_FINISH_REASON),
    ]
)
