"""Items of the browser tests: T1 of 300 words with 15 questions, and T2, with answers.

Nine questions are answerable with eleven spans, of which one overlaps another; six are not. The
text has an emoji, a combining accent, right-to-left words and Windows line ends before its spans.
"""

# By the position of a question: its grade, and its spans as (start, end, words).
Answers = dict[int, tuple[int, list[tuple[int, int, str]]]]

PASSWORD = "pass-word-1"  # of everybody on the tests' own server

T1_BODY = (
    "The night train from Varna Quay to Oldmere was cancelled on 3 November after a landslip at "
    "Cafe\u0301 Halt 🚂 buried both tracks under four metres of clay. Nobody was on the line at the "
    "time, although a freight train had passed eleven minutes earlier. The railway, Northline, closed "
    "the route between Pell and Oldmere the same night.\r\n\r\n"
    "Engineers blamed a culvert that had been blocked since the spring. A farmer, Ruth Amsel, had "
    "reported standing water beside the embankment in May, and again in August; both letters were "
    "filed as complaints about drainage, not about safety. The sign there reads \u05e9\u05dc\u05d5\u05dd in "
    "memory of the men who built the halt. Northline has since checked 340 culverts and found 27 "
    "that needed work at once.\r\n\r\n"
    "Buses replaced the trains from the second day. They took 95 minutes for a journey that had "
    "lasted 38, and the last one left Oldmere before the hospital's late shift ended. Nurses shared "
    "cars, and the hospital paid for three taxis a night until January. The sugar works at Pell moved "
    "its beet by road, at a cost of 12,000 a day, and asked the government for help. It was refused.\r\n\r\n"
    "The clay was cleared in five weeks. A wall of steel piles now holds the slope, and sensors in it "
    "send a warning when it moves by more than two millimetres. The work cost 4.1 million, of which "
    "the insurers paid half. Trains ran again on 14 December, at walking pace past the wall until "
    "the new year. Amsel was invited to ride in the cab of the first one. She said that she would "
    "rather have had an answer in May. The regulator has asked all railways to say by April how "
    "letters from neighbours reach the people who look after their earthworks, and will publish what "
    "they say. Northline has already named one person who must read every letter within two days, and "
    "has printed her telephone number at each halt between Pell and Oldmere."
)

# (question, spans): no span means that the report does not answer it.
T1_ANSWERS: list[tuple[str, list[str]]] = [
    ("Why was the night train cancelled?", ["a landslip at Cafe\u0301 Halt 🚂 buried both tracks"]),
    (
        "How close did a train come to being hit?",
        ["a freight train had passed eleven minutes earlier"],
    ),
    ("Who drove the freight train?", []),
    (
        "What caused the slope to fail?",
        ["Engineers blamed a culvert that had been blocked since the spring."],
    ),
    (
        "What warnings had there been?",
        [
            "had reported standing water beside the embankment in May, and again in August",
            "both letters were filed as complaints about drainage, not about safety",
        ],
    ),
    ("Was anybody dismissed over the letters?", []),
    ("What did other checks find?", ["found 27 that needed work at once"]),
    ("Which other routes were closed?", []),
    (
        "How much longer did the journey take?",
        ["They took 95 minutes for a journey that had lasted 38"],
    ),
    (
        "How did the hospital cope?",
        ["Nurses shared cars, and the hospital paid for three taxis a night until January."],
    ),
    ("How many patients were affected?", []),
    (
        "What did the closure cost the sugar works, and who paid?",
        ["at a cost of 12,000 a day", "asked the government for help. It was refused."],
    ),
    ("Did sugar become dearer?", []),
    ("Was the sugar works helped?", ["It was refused."]),
    ("When will the regulator report?", []),
]

T2_BODY = (
    "Water engineers began lowering Lisk reservoir on Monday after divers found a crack almost four "
    "metres long in the upstream face of the dam. The level will fall by 30 centimetres a day until "
    "it stands eleven metres below the spillway. The board has not said what the repair will cost."
)
# (question, grade, rationale)
T2_ANSWERS = [
    (
        "Why is the level of the reservoir being lowered?",
        5,
        "divers found a crack almost four metres long",
    ),
    ("How much will the repair cost?", 2, "The board has not said what the repair will cost."),
]


def spans_of(body: str, quotes: list[str]) -> list[tuple[int, int, str]]:
    """Return the positions of quotes in code points, in the order of the text."""
    return sorted((body.index(quote), body.index(quote) + len(quote), quote) for quote in quotes)


EXPECTED_T1: Answers = {
    position: (1 if quotes else 0, spans_of(T1_BODY, quotes))
    for position, (_, quotes) in enumerate(T1_ANSWERS)
}
EXPECTED_T2: Answers = {
    position: (grade, spans_of(T2_BODY, [quote]))
    for position, (_, grade, quote) in enumerate(T2_ANSWERS)
}
