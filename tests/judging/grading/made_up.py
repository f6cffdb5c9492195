"""Made-up replies of models with the grade that a person reads, and their parsers.

The rubric has the grades 0 to 5; of the replies in words it is 0 not_relevant, 1 okay, 2 vital. None is
for what a person would not read as one grade without a doubt.
"""

Row = tuple[str, int | None, str]  # reply, what a person reads, the parsers that read it

STRICT = "integer-1 evidence-1 after-think-1 n-of-m-1 reason-1 reason-2"
SET = "n-of-m-1 reason-1 reason-2"
REASON_FIRST = "reason-1 reason-2"
GRADE_FIRST = "reason-1"
JSON = "rating-json-1 rating-json-2 grade-json-1 grade-json-2"
THINK = "after-think-1 n-of-m-1 reason-1 reason-2"


def rows(reads: int | None, parsers: str, *replies: str) -> list[Row]:
    return [(reply, reads, parsers) for reply in replies]


def graded_forms(parsers: str, *forms: str) -> list[Row]:
    """Return each form with three grades in place of the @."""
    return [
        (form.replace("@", str(grade)), grade, parsers) for form in forms for grade in (0, 3, 5)
    ]


NUMBERS: list[Row] = [
    *graded_forms(
        STRICT,
        *("@", " @ ", "@.", "**@**", '"@"', "Rating: @", "**Rating:** @", "The grade is @.", "`@`"),
        *("Score = @", "answer: @", "“@”", "@\n", "_@_", "Grade: **@**."),
    ),
    *graded_forms(
        SET,
        *("@/5", "@ / 5", "@ out of 5", "@ of 5", "**@/5**", "(@)", "[@]", "[[@]]", "@!", "@.0"),
        *("Rating: @/5", "Score: @ out of 5.", "Final rating: @", "Final score: @", "Rating @"),
        *(
            "##final score: @",
            "Relevance score: @",
            "Overall rating: @/5.",
            "## Rating: @",
            "@ stars",
        ),
        *("I would give this passage a score of @.", "I'd rate it @", "My rating is @.", "(@/5)"),
        *("The final score is: @", "I would rate this text a @ out of 5.", "Rating: @ (out of 5)"),
        *(
            "\\boxed{@}",
            "$\\boxed{@}$",
            "The rating is \\boxed{@}.",
            "Rating: [@]",
            "Score: @ points",
        ),
        *("The text is rated @.", "This passage gets a @.", "Therefore, the score is @.", "@.0/5"),
        *("Final answer: @", "Assessment: @", "The score for this passage is @."),
    ),
    *rows(4, SET, "four", "Four.", "**four**", "Score: four", "The rating is four.", '"four"'),
    *rows(0, SET, "zero", "Zero.", "Grade: zero"),
    *graded_forms(
        GRADE_FIRST,
        "Rating: @\nReason: The text names the harbour.",
        "Rating: @\n\nThe text names the harbour but leaves the year open.",
        "@\nThe text names the harbour.",
        "@\n\nThe ferry and its harbour are named, the year is not.",
        "@/5\nThe text names the harbour.",
        "Rating: @ - the harbour is named",
        "Rating: @ (the harbour is named)",
        "Rating: @. The harbour is named.",
        "Score: @/5. The harbour is named.",
        "Score: @; the harbour is named",
        "@ because the text names the harbour.",
        "Rating: @ because the text names the harbour",
        "**Rating:** @\n\n**Explanation:** In 1990 the ferry sank.",
    ),
    *graded_forms(
        REASON_FIRST,
        "The text names the harbour.\nRating: @",
        "The text does not say when the ferry sank.\n\n**Rating: @**",
        "The text names the harbour. Final score: @",
        "Explanation: In 1990, 212 people drowned.\nGrade: @",
        "The harbour is named, the year is not.\n\nTherefore the rating is @.",
        "Der Hafen ist genannt, das Jahr nicht.\nRating: @/5",
        "港口被提到了。\n**Rating:** @",
    ),
    *graded_forms(
        "reason-2",
        "The text names the harbour.\n@",
        "- the harbour\n- the year\n\n@",
        "3 of 5 facts are there, which is more than 2.\nRating: @",
        "However, the year is wrong.\n\nFinal rating:\n@",
        "It was a mistake to leave out the year. Rating: @",
        "The first half says 4.\nScore: @\n\nIn short: the harbour.\n\nScore: @",
    ),
    *graded_forms("reason-1 reason-2", 'The text says "they [think] it was old".\nRating: @'),
    *graded_forms(
        THINK,
        *("<think>\nThe harbour is named. A 4? Or a 2?\n</think>\n\n@", "<think></think>@"),
        *("The harbour is named, so 2 or 3.\n</think>\n@", "<THINK>2</THINK>\n@."),
        *("<thinking>Rating: 2</thinking>Rating: @", "<reasoning>4/5</reasoning>\n**@**"),
        "<think>One.</think>\n<think>Two: 4.</think>\n@",
        *("[THINK]A 4? Or a 2?[/THINK]@", "<seed:think>Rating: 2</seed:think>\n@"),
        "<|channel|>analysis<|message|>Rating: 2<|end|><|start|>assistant<|channel|>final<|message|>@",
        *("<|channel|>final<|message|>@", "So it is a 2.[/THINK]\n@"),
    ),
    *graded_forms(
        SET, "<think>A 2.</think>@/5", "<think>A 2.</think>\nFinal score: @", "2?\n</think>\n(@)"
    ),
    *graded_forms(GRADE_FIRST, "<think>A 2.</think>\nRating: @\nReason: the harbour is named."),
    *graded_forms(
        JSON,
        '{"rating": @, "reason": "The harbour is named."}',
        '{"reason": "The harbour is named, so 4 or 2.", "rating": @}',
        '{"evaluation": "good", "rating": @}',
        '{"evaluation": "good", "rating": "@"}',
        '{"rating": @.0, "reason": ""}',
        '```json\n{"rating": @, "reason": "The harbour."}\n```',
        '```\n{\n  "rating": @,\n  "reason": "The harbour."\n}\n```',
        '{"rating": @, "reason": "The harbour."}\n',
        '<think>{"rating": 2, "reason": "?"}</think>{"rating": @, "reason": "The harbour."}',
        '{"rating": @, "reason": "a {brace} and a 4"}',
        '{"rating": @, "confidence": 0.9, "reason": "The harbour."}',
    ),
    *graded_forms(
        "rating-json-1 grade-json-1", 'Here is my rating:\n{"rating": @, "reason": "The harbour."}'
    ),
    *graded_forms(
        "grade-json-1 grade-json-2",
        *('{"rating": @}', '{"score": @}', '{"grade": @}', '{"grade": "@"}', '{"score": @.0}'),
        *('```json\n{"score": @}\n```', '{"grade": @, "explanation": "The harbour."}'),
        '{"score": @, "reason": "The harbour."}',
    ),
    # Read by no parser, though a person would: what stands around the number may be anything.
    *graded_forms(
        "", "The text is about @ I think", "The grade is clearly @, as it names all", "Rating—@"
    ),
    *rows(4, "", "４", "④", "I give it a four because it names all", "IV", "{'rating': 4}", "++++"),
    *rows(4, "", "Rating: 4\nActually, I am sure: 4."),
    *rows(4, "reason-2", "Score: 4\nScore: 4"),
    *rows(2, "reason-2", "Confidence: 5\nRating: 2"),
    *rows(3, "", "Relevance score: 4\nTrust score: 2\nFinal score: 3"),
    # Nobody would read one grade here, and no parser may.
    *rows(None, "", "", " ", "N/A", "none", "The text does not say.", "?", "unsure", "...", "{}"),
    *rows(None, "", "3 or 4", "3-4", "3–4", "3 to 4", "between 3 and 4", "4 4", "4\n3", "3, 4"),
    *rows(None, "", "3.5", "4.5/5", "Rating: 3.5", "3,5", '{"rating": 3.5, "reason": "?"}', "~3.5"),
    *rows(
        None, "", "6", "10", "-1", "7/5", "Rating: 6", "Score: -1", '{"rating": 9, "reason": "?"}'
    ),
    *rows(None, "", "4/10", "40/50", "80%", "Rating: 8/10", "8 out of 10", "4 out of 7", "3/4"),
    *rows(None, "", "4 of the points are covered", "In 4 cases", "2 facts, 3 names", "GPT-4", "B4"),
    *rows(
        None, "", "not 4", "Not a 4.", "It is below 4", "more than 3", "at least 3", "less than 4"
    ),
    *rows(None, "", "Rating: 4 or 5", "Rating: 4-5", "Rating: 4 to 5", "Rating: 4 (or 5)"),
    *rows(
        None, "", "Rating: 4\nNo, rather 3.", "Rating: 4\nActually, that is too high.", "4... no, 2"
    ),
    *rows(None, "", "Rating: 4\nOn reflection it should be lower.", "4\n2", "Rating: 4\nRating: 2"),
    *rows(None, "", "Rating: 4\nHmm, wait.", "Rating: 4. Or perhaps more.", "4\nMake that two."),
    *rows(None, "", "If it named the year I would say rating: 5.", "I would not say Rating: 4."),
    *rows(None, "", "Without the year it could be Rating: 4.", "Rating: 4 would be wrong."),
    *rows(
        None, "", "Maximum rating: 5", "Highest score: 5. The passage has less.", "User rating: 3"
    ),
    *rows(None, "", "Example: Rating: 4. The text says nothing.", "Movie rating: 4. It was shown."),
    *rows(None, "", "Expected rating: 4. The real one is worse.", "His score: 3. The game ended."),
    *rows(None, "", "Rating: 4 - if the year counts", "Rating: 4 at best"),
    *rows(None, "", "1)\nThe harbour is named.", "1.\nThe harbour is named.", "3.\nFull marks."),
    *rows(
        None, "", "Rating: 4. I take that back.", "Rating: 4. Hold on: full marks.", "4\n③", "4\n٣"
    ),
    *rows(None, "", "Rating: 4. On reflection, the maximum.", "Rating: 4. Oops, the lowest."),
    *rows(None, "", "Rating: 4. I changed my mind.", "Rating: 4, minus one for style.", "4\n½"),
    *rows(None, "", "Score: 4, never.", "Rating: 5 - reserved for perfect answers. This has none."),
    *rows(None, "", "Rating: 4. A perfect text would get it. This one has nothing."),
    *rows(None, "", "The score is 4 as a minimum.", "Overall score: 5 as an upper bound."),
    *rows(
        None, "", "The passage says:\nRating: 5\nI do not follow it.", "For instance:\n\nRating: 5"
    ),
    *rows(
        None, "", '"Rating: 5"\nThe passage asks for that.', "It instructs me so\nRating: 5\nBad."
    ),
    *rows(None, "", "It isn't a score: 4", "Score: 4, which is too high", "rating: four or five"),
    *rows(None, "", "[THINK]It is clear.\nRating: 4", "[THINK]4[/THINK]", "<seed:think>4"),
    *rows(None, "", "<|channel|>analysis<|message|>It names both.\nRating: 4", "4[/THINK]"),
    *rows(None, "", "<think>4", "<think>\nSo the rating is 4.", "<think>4</think>", "4</think>"),
    *rows(
        None,
        "",
        "<think>The rating is 4</think>\n",
        "<think>3</think> <think>4",
        "2</think>3</think>",
    ),
    *rows(
        None, "", '{"rating": 4, "reason": "a"} {"rating": 2, "reason": "b"}', '{"rating": 4, "rat'
    ),
    *rows(None, "", '{"rating": 4, "rating": 2, "reason": "a"}', '{"rating": null, "reason": "a"}'),
    *rows(
        None,
        "",
        '{"rating": true, "reason": "a"}',
        '{"rating": [4], "reason": "a"}',
        '{"reason": "4"}',
    ),
    *rows(None, "", '{"rating": 4, "reason": "a"}\nNo, that is wrong.', '{"score": 4, "grade": 2}'),
    *rows(
        None, "", '{"rating": 4, "reason": "a"}\n3', '3\n{"rating": 4, "reason": "a"}', '{"a": 4}'
    ),
    *rows(None, "", 'The passage contains {"rating": 5, "reason": "x"} as an injection.'),
    *rows(None, "", 'The passage says: {"rating": 5, "reason": "x"}\nI do not follow it.'),
    *rows(
        None, "", 'Bad example: {"rating": 5, "reason": "x"}', 'Not {"rating": 4, "reason": "x"}'
    ),
    *rows(
        None, "", 'I don’t say {"rating": 4, "reason": "x"}', '{"rating": 4, "reason": ""} Oops.'
    ),
    *rows(None, "", '{"rating": 4, "score": 2, "reason": ""}', '{"score": 4, "max_score": 10}'),
    *rows(None, "", '{"rating": 4, "final_rating": 2, "reason": ""}', '{"grade": 4, "out_of": 10}'),
    *rows(None, "", '{"rating": 4, "Rating": 2, "reason": ""}', '{"grade": 4, "scale": "0-10"}'),
    *rows(None, "", '{"rating": "4 or 5", "reason": "a"}', '{"rating": {"value": 4}, "reason": 1}'),
    *rows(
        None, "", "I'm sorry, but I can't rate this 4.", "I cannot grade this.", "The year is 4."
    ),
    *rows(None, "", "5 people drowned.", "Question 4", "Step 1"),
    *rows(
        None, "", "1. The harbour is named.\n2. The year is not.", "1) harbour 2) year", "a 1 b 2"
    ),
    *rows(None, "", "4 facts because", "3 because of 2", "0 or nothing", "one of them", "the one"),
]

# What follows a grade and takes it back, in some languages.
RETRACTIONS = (
    *(
        "Nope.",
        "I misread the passage.",
        "Not so.",
        "No!",
        "Just kidding.",
        "That was the other text.",
    ),
    *(
        "This is what the passage wants me to say.",
        "Opposite day.",
        "A typo.",
        "Ignore the line above.",
    ),
    *("My cat typed that.", "It should be one less.", "Halve it.", "Erratum: the year is missing."),
    *(
        "Nein, eher eine Drei.",
        "Das war falsch.",
        "Doch nicht.",
        "Non, plutôt trois.",
        "Je me trompe.",
    ),
    *(
        "No, mejor un tres.",
        "不对",
        "不，应该是三分。",
        "いいえ、三です。",
        "Нет, тройка.",
        "لا",
        "Ne, spíš tři.",
    ),
)

LABELS = [(0, "not_relevant"), (1, "okay"), (2, "vital")]
LABEL_REPLIES: list[Row] = [
    *rows(2, "word-1", "vital", "Vital", "VITAL.", " vital ", '"vital"', "**vital**", "`vital`"),
    *rows(2, "word-1", "Label: vital", "**Label:** vital", "The label is vital.", "Answer: Vital"),
    *rows(1, "word-1", "okay", "Okay.", "label = okay", "“okay”", "<think>vital?</think>\nokay"),
    *rows(
        0, "word-1", "not_relevant", "not relevant", "Not relevant.", "not-relevant", "NOT_RELEVANT"
    ),
    *rows(
        2,
        "label-json-1 label-json-2",
        '{"label": "vital"}',
        '{"label_name": "vital", "reason": "okay or not"}',
    ),
    *rows(
        1,
        "label-json-1 label-json-2",
        '{"reason": "vital?", "label_name": "Okay"}',
        '```json\n{"label": "okay"}\n```',
    ),
    *rows(0, "label-json-1 label-json-2", '{"label_name": "not relevant", "reason": "x"}'),
    *rows(2, "", "I think it is vital", "It's vital!!", "vital, since it names the harbour"),
    *rows(
        None,
        "",
        "",
        "vital or okay",
        "not vital",
        "rather okay",
        "vital okay",
        "okay/vital",
        "fine",
    ),
    *rows(None, "", "relevant", "the vital", "not", "Label:", "vital?okay", "not okay", "un-vital"),
    *rows(
        None,
        "",
        '{"label": "fine"}',
        '{"label": ["vital"]}',
        '{"label": "vital", "label_name": "okay"}',
    ),
    *rows(
        None,
        "",
        '{"label": "vital"} {"label": "okay"}',
        '{"label": "vital", "label": "okay"}',
        "{}",
    ),
    *rows(
        None,
        "",
        '{"label": "vital or okay"}',
        'not {"label": "vital"}',
        'okay\n{"label": "vital"}',
        '{"label": "okay"}\nRather: vital.',
        '{"label": "okay"}\nNot relevant.',
        '{"label": null}',
        "<think>vital",
        "<think>vital</think>",
    ),
]
