"""--format label-studio, potato, argilla and web-annotation: files of other origin."""

import json

import pytest

from annotation.formats.summary import Conversion
from annotation.models import NuggetSpan, Rating
from crux_site.imports.importing import import_dataset
from tests.crux_site.imports.foreign.tool_files import (
    BODY,
    PAIR,
    STUDY,
    annotation,
    array,
    choice,
    record,
    task,
)
from tests.toolbox.foreign_files import read, refused, write
from tests.toolbox.rubric_studies import faults_of_answers

pytestmark = [pytest.mark.django_db, pytest.mark.any_database]

SECOND = BODY.rindex("wheel")  # 24 code points, 25 units of UTF-16
OTHER_PAIR = "mill-1/0/passage//mill-1:0%230"


@pytest.fixture(autouse=True)
def mill(tmp_path_factory):
    import_dataset(write(tmp_path_factory.mktemp("mill"), STUDY), "other")


def ratings() -> list[tuple]:
    fields = ("rater__name", "rater__kind", "rubric__slug", "question__position", "grade")
    return list(Rating.objects.order_by("pk").values_list(*fields))


def spans() -> list[tuple]:
    fields = ("start", "end", "quote", "source_quote", "located")
    return list(NuggetSpan.objects.order_by("rating", "position").values_list(*fields))


def label(start: int, end: int, text: str) -> dict:
    value = {"start": start, "end": end, "text": text, "labels": ["graded"]}
    return {"from_name": "evidence", "to_name": "text", "type": "labels", "value": value}


def test_label_studio(tmp_path):
    """Offsets in code points, in units of versions before 1.4, with its line ends, and lost."""
    tasks = [
        task(
            choice("4"),
            label(SECOND, SECOND + 5, "wheel"),
            label(SECOND + 1, SECOND + 6, "wheel"),
            label(2, 18, "The wheel\\nturned"),
            label(0, 3, "broke"),
            label(0, 3, "nowhere"),
            {"type": "relation", "from_id": "a", "to_id": "b", "direction": "right"},
        ),
        task(choice(3, kind="rating"), by={"id": 9, "email": "eve@mill.org"}),
        task(choice(2, kind="number"), by={"id": 8})
        | {
            "predictions": [
                {"model_version": "m-1", "result": [choice("0"), label(0, 3, "x")]},
                {"model_version": "m-2", "result": [label(2, 5, "The")]},
            ]
        },
    ]
    tasks[1]["annotations"].append({"completed_by": 7, "was_cancelled": True, "result": []})
    summary = read(write(tmp_path, {"export.json": array(*tasks)}), "label-studio")
    assert ratings() == [
        ("7", "human", "graded", 1, 4),
        ("eve-mill-org", "human", "graded", 1, 3),
        ("8", "human", "graded", 1, 2),
        ("m-1", "model", "graded", 1, 0),
    ]
    broke = BODY.index("broke")
    assert spans() == [
        (SECOND, SECOND + 5, "wheel", "", "exact"),
        (SECOND, SECOND + 5, "wheel", "", "exact"),
        (2, 18, "The wheel\nturned", "", "exact"),
        (broke, broke + 5, "broke", "", "exact"),
        (None, None, "", "nowhere", "unlocated"),
        (None, None, "", "x", "unlocated"),
    ]
    assert {str(reason): n for reason, n in summary.mapped.items()} == {
        "spans whose words are not where their file says: looked for in the text": 3,
        "spans whose words are not in the text: kept without a place": 2,
        "answers in a tool that are no grades: no row": 1,
        "answers that were skipped, discarded or left as drafts in a tool: no row": 1,
        "highlights without a grade, left out": 1,
    }


def test_label_studios_own_export_of_what_was_sent_to_it(tmp_path):
    """Annotations get other ids and keep ours as `import_id`; predictions are numbered."""
    sent = {"completed_by": 1, "lead_time": None, "updated_by": 1}
    exported = task(choice("2"), by=1, meta={"raters": {"77": "ann", "3": "bob"}})
    exported["annotations"] = [
        # That of ann, by the account that imported it and once by one that is deleted, and one of its own.
        sent | {"id": 5, "import_id": 77, "result": [choice("4")]},
        sent
        | {"id": 6, "import_id": 77, "result": [choice("1", "answerable")], "completed_by": None},
        sent | {"id": 3, "import_id": None, "result": [choice("2")]},
    ]
    exported |= {"predictions": [8, 9], "drafts": [{"user": "c@d.e", "result": [choice("1")]}]}
    summary = read(write(tmp_path, {"export.json": array(exported)}), "label-studio")
    assert ratings() == [
        ("ann", "human", "graded", 1, 4),
        ("ann", "human", "answerable", 1, 1),
        ("1", "human", "graded", 1, 2),
    ]
    assert {str(reason): n for reason, n in summary.mapped.items()} == {
        "predictions of which a tool's export has the number alone: no row": 2,
        "answers that were skipped, discarded or left as drafts in a tool: no row": 1,
    }


def test_label_studio_on_lines_beside_files_of_ours(tmp_path):
    lines = [task(choice("4"), by={"email": "李@mill.org"})]
    read(write(tmp_path, STUDY | {"tasks.jsonl.gz": lines}), "label-studio")
    assert ratings() == [("u674e-mill-org", "human", "graded", 1, 4)]


USER = "0b2e9d5e-2d0b-4a1c-9df1-57a10dfb6a0f"


def test_argilla(tmp_path):
    """Places in units of UTF-16, as its page counts: 25 to 30 is the second wheel."""
    answers = {
        "graded": [
            {"value": 5, "user_id": USER, "status": "submitted"},
            {"value": 1, "user_id": "someone", "status": "draft"},
        ],
        "comment": [{"value": "Well.", "user_id": USER}],
        "nugget-spans": [{"value": [{"start": 25, "end": 30, "label": "graded"}], "user_id": USER}],
    }
    suggested = {
        "graded": {"value": 2, "score": 0.5, "agent": "m-1"},
        "nugget-spans": {
            "value": [{"start": 0, "end": 2, "label": "graded"}],
            "score": None,
            "agent": "m-1",
        },
    }
    records = array(record(responses=answers, suggestions=suggested))
    summary = read(write(tmp_path, {"records.json": records}), "argilla")
    assert ratings() == [(USER, "human", "graded", 1, 5), ("m-1", "model", "graded", 1, 2)]
    assert spans() == [(SECOND, SECOND + 5, "wheel", "", "exact"), (0, 1, "🚢", "", "exact")]
    assert sorted(map(str, summary.mapped)) == [
        "answers in a tool that are no grades: no row",
        "answers that were skipped, discarded or left as drafts in a tool: no row",
    ]


def test_potato_lines_and_states(tmp_path):
    line = {
        "instance_id": PAIR,
        "user_id": "ann",
        "labels": {"graded": {"scale_4": "4"}, "comment": {"text_box": "Well."}},
        "spans": {
            "evidence": [{"start": SECOND, "end": SECOND + 5, "label": "graded", "text": "wheel"}]
        },
        "links": {},
    }
    pairs = {PAIR: [[{"schema": "graded", "name": "3"}, "true"]]}
    position = {
        "schema": "evidence",
        "name": "graded",
        "title": "graded",
        "start": 0,
        "end": 1,
        "id": "s",
    }
    state = {
        "user_id": "bob@mill.org",
        "instance_id_to_label_to_value": pairs
        | {OTHER_PAIR: {"graded": {"0": "true", "1": False}}},
        "instance_id_to_span_to_value": {PAIR: [[position, "true"]]},
        "max_assignments": -1,
    }
    files = {"annotations.jsonl": [line], "bob/user_state.json": [json.dumps(state)]}
    read(write(tmp_path, files), "potato")
    assert ratings() == [
        ("ann", "human", "graded", 1, 4),
        ("bob-mill-org", "human", "graded", 0, 0),
        ("bob-mill-org", "human", "graded", 1, 3),
    ]
    assert spans() == [(SECOND, SECOND + 5, "wheel", "", "exact"), (0, 1, "🚢", "", "exact")]


def test_choices_in_words_are_levels_and_labels(tmp_path):
    """The value of a choice of Potato may be the key that chooses it: its words count."""
    faults_of_answers()
    faults = {"from_name": "faults", "type": "choices", "value": {"choices": ["false", "unclear"]}}
    tasks = [task(choice("Not answerable", "answerable"), faults)]
    read(write(tmp_path / "studio", {"export.json": array(*tasks)}), "label-studio")
    labels = record(responses={"faults": [{"value": ["false", "incomplete"], "user_id": "u"}]})
    read(write(tmp_path / "argilla", {"records.json": array(labels)}), "argilla")
    keyed = {"answerable": {"not answerable": "1"}, "faults": {"unclear": "3", "false": "2"}}
    likert = {"graded": {"scale_4": "4"}}
    lines = [
        {"instance_id": PAIR, "user_id": "ann", "labels": keyed},
        {"instance_id": PAIR, "user_id": "bob", "labels": likert},
    ]
    read(write(tmp_path / "potato", {"annotations.jsonl": lines}), "potato")
    assert ratings() == [
        ("7", "human", "answerable", 1, 0),
        ("7", "human", "faults", 1, 6),
        ("u", "human", "faults", 1, 3),
        ("ann", "human", "answerable", 1, 0),
        ("ann", "human", "faults", 1, 6),
        ("bob", "human", "graded", 1, 4),
    ]


@pytest.mark.parametrize("labels", [{"bad_text": "0"}, {"mostly": "1"}])
def test_choice_of_potato_that_is_no_level_is_refused(tmp_path, labels):
    (problem,) = refused(write(tmp_path, {"lines.jsonl": [potato(**labels)]}), "potato")
    assert f"'{min(labels)}' is no grade of the rubric graded" in problem


def version_1(pair: str = PAIR, **labels: str) -> dict:
    span = {"start": SECOND, "end": SECOND + 5, "span": "wheel", "annotation": "graded"}
    return {
        "id": pair,
        "displayed_text": BODY.replace("\n", "<br>"),
        "label_annotations": {"graded": labels or {"scale_4": "4"}},
        "span_annotations": [span],
        "behavioral_data": {"time": "Time spent: 0d 0h 0m 7s "},
    }


def test_files_of_users_of_potato_1(tmp_path):
    files = {
        "annotated_instances.jsonl": [version_1(), version_1(OTHER_PAIR)],  # of all, without names
        "ann/annotated_instances.jsonl": [version_1(), version_1(OTHER_PAIR, **{"2": "key"})],
        "ann/annotation_order.txt": [PAIR, OTHER_PAIR],
        "ann/assigned_user_data.json": [json.dumps({PAIR: {"text": BODY}})],
        "bob/annotated_instances.jsonl": [version_1()],
        "bob/annotation_order.txt": [PAIR],
    }
    read(write(tmp_path / "annotation_output", files), "potato")
    assert ratings() == [
        ("ann", "human", "graded", 1, 4),
        ("ann", "human", "graded", 0, 2),
        ("bob", "human", "graded", 1, 4),
    ]
    assert set(spans()) == {(SECOND, SECOND + 5, "wheel", "", "exact")}
    bob = import_dataset(tmp_path / "annotation_output" / "bob", "other", form="potato")
    assert (bob.changed, bob.unchanged) == (False, 1)


def test_file_of_potato_1_without_users_is_refused(tmp_path):
    files = {"annotated_instances.jsonl": [version_1()]}
    (problem,) = refused(write(tmp_path / "annotation_output", files), "potato")
    assert problem.startswith("annotated_instances.jsonl:1: has no names of users: import the")


def test_potato_counts_places_in_what_it_shows(tmp_path):
    """Offsets skip controls and repeated spaces. The last of two occurrences counts."""
    body = "  A mill,\ta  wheel 🚢\r\nturned: a wheel.\r\n"
    visible = "A mill,a wheel 🚢\nturned: a wheel."
    topic = {"id": "mill-1:0#1", "contents": body}
    import_dataset(write(tmp_path / "text", {"passages.jsonl": [topic]}), "other")
    pair = PAIR.replace("%230", "%231")
    marked = []
    for quote in ("wheel", "mill,a wheel 🚢\nturned"):
        start = visible.rindex(quote)
        marked.append({"start": start, "end": start + len(quote), "name": "graded", "text": quote})
    line = {"instance_id": pair, "user_id": "ann", "labels": {"graded": {"4": "4"}}}
    untitled = [[{**position, "schema": "nugget-spans", "text": ""}, 1] for position in marked]
    state = {
        "user_id": "bob",
        "instance_id_to_label_to_value": {pair: [[{"schema": "graded", "name": "2"}, "2"]]},
        "instance_id_to_span_to_value": {pair: untitled},
    }
    files = {
        "annotations.jsonl": [line | {"spans": {"nugget-spans": marked}}],
        "bob/user_state.json": [json.dumps(state)],
    }
    read(write(tmp_path / "out", files), "potato")
    last, long = body.rindex("wheel"), body.index("mill")
    expected = [
        (last, last + 5, "wheel", "", "exact"),
        (long, long + 24, "mill,\ta  wheel 🚢\r\nturned", "", "exact"),
    ]
    assert spans() == expected * 2


def test_extra_fields_of_potato_are_ignored(tmp_path):
    files = {
        "ann/annotation_history.jsonl": [{"instance_id": PAIR, "user_id": "ann", "new_value": 1}],
        "annotations.jsonl": [potato(**{"4": "4", "free_response": "Well."})],
        "phase_responses.jsonl": [{"user_id": "ann", "phase": "consent", "value": "Yes"}],
        "pocket/device_visits.json": [{"ann": {"visits": {"desktop": 1}}}],
    }
    summary = read(write(tmp_path, files), "potato")
    assert ratings() == [("a", "human", "graded", 1, 4)]
    assert summary.mapped[Conversion.NO_GRADES] == 1


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        ([[1, 2]], f"answers of {PAIR} are neither by scheme nor pairs"),
        ([["graded"]], f"answers of {PAIR} are neither by scheme nor pairs"),
        (1, "labels: Input should be a valid dictionary"),
    ],
)
def test_broken_state_of_potato_is_named(tmp_path, labels, message):
    state = {"user_id": "a", "instance_id_to_label_to_value": {PAIR: labels}}
    (problem,) = refused(write(tmp_path, {"user_state.json": [json.dumps(state)]}), "potato")
    assert message in problem


def test_web_annotations_of_a_page(tmp_path):
    quote = {"type": "TextQuoteSelector", "exact": "The wheel turned"}
    position = {"type": "TextPositionSelector", "start": SECOND, "end": SECOND + 5}
    xpath = {"type": "XPathSelector", "value": "/p[1]"}
    targets = [{"source": "x", "selector": selector} for selector in (quote, position, [xpath])]
    software = {"type": "Software", "name": "m-1"}
    items = [annotation(target=targets), annotation(creator=software)]
    page = {
        "@context": "http://www.w3.org/ns/anno.jsonld",
        "type": "AnnotationPage",
        "items": items,
    }
    summary = read(write(tmp_path, {"page.json": [json.dumps(page)]}), "web-annotation")
    assert ratings() == [("eve", "human", "graded", 1, 4), ("m-1", "model", "graded", 1, 4)]
    assert spans() == [
        (2, 18, "The wheel\nturned", "The wheel turned", "normalised"),
        (SECOND, SECOND + 5, "wheel", "", "exact"),
    ]
    assert list(summary.mapped) == ["targets of other selectors than places and quotes: no span"]


def potato(pair: str = PAIR, **labels: str) -> dict:
    return {"instance_id": pair, "user_id": "a", "labels": {"graded": labels or {"1": "1"}}}


def answered(value: object = 1, question: str = "graded", user: str = "a", **more: object) -> dict:
    return record(responses={question: [{"value": value, "user_id": user}]}, **more)


BEYOND = [{"start": 90, "end": 99, "label": "graded"}]
BROKEN: dict[str, list[tuple[object, str]]] = {
    "label-studio": [
        (task() | {"data": {"text": BODY}}, "data.pair: is missing"),
        (task(choice("good")), "value: 'good' is no grade of the rubric graded (0, 1, 2, 3, 4, 5)"),
        (task(choice(True)), "annotations.0.result.0.value.choices.0: must be a grade, in"),
        (task(choice(True, kind="rating")), "result.0.value.rating: must be a grade"),
        (task(choice("9")), "value: 9 is no grade of the rubric graded (0, 1, 2, 3, 4, 5)"),
        (task(choice("1", "tone")), "from_name: there is no rubric 'tone'"),
        (
            task({"type": "labels", "value": {"labels": ["a"]}}),
            "annotations.0.result.0: labels without start",
        ),
        (task({"type": ["a"]}), "annotations.0.result.0.type: "),
        (task(choice("4"), by=None), "annotations of no account"),
        (
            task(choice("4"), by=None, meta={"raters": {"4": "ann"}}),
            "annotations of no account",
        ),
        (task(choice("4"), choice("5")), "annotations.0.result: has several grades under graded"),
        (task(choice("4"), label(11, 12, "\n")), "value: a span of white space alone"),
    ],
    "potato": [
        (potato("mill-1"), "instance_id: must be TOPIC/QUESTION/KIND/SYSTEM/TEXT"),
        (potato("mill%20/0/passage//x"), "instance_id: must have 1 to 250 characters and no white"),
        (potato("no/0/passage//x:1"), "instance_id: topic 'no' is not in the dataset"),
        (potato("mill-1/7/passage//mill-1:0%230"), "instance_id: mill-1 has 2 questions"),
        (potato("mill-1/0/report/s/r"), "instance_id: the report r of s is not in the dataset"),
        (potato("mill-1/0/page//r"), "instance_id: 'page' is none of passage, report, reference"),
        (potato(**{"1": "1", "2": "2"}), "labels.graded: must have one label that is chosen"),
    ],
    "argilla": [
        (record(responses={"graded": [{"value": 1}]}), "annotations of no account"),
        (
            answered(fields={"text": BODY, "question": "Else?"}),
            "fields.question: mill-1 does not ask 'Else?' at 1",
        ),
        (
            record(
                responses={
                    "graded": [{"value": 1, "user_id": "a"}],
                    "nugget-spans": [{"value": BEYOND, "user_id": "a"}],
                }
            ),
            "nugget-spans: a span ends at 99, beyond the text of 38 characters",
        ),
        (answered("{", "nugget-words"), "nugget-words.0.value: must be a JSON list of"),
    ],
    "web-annotation": [
        (annotation(body=[]), "body: must have one value for assessing"),
        (annotation(creator=""), "annotations of no account"),
        (annotation(target=[{"selector": [{"start": 1}]}]), "target.0.selector.0.type: is missing"),
    ],
}


GOOD = {
    "label-studio": task(choice("4"), by=99),
    "potato": potato(OTHER_PAIR, **{"2": "2"}),
    "argilla": answered(user="b"),
    "web-annotation": annotation(),
}


def by_somebody_else(line: object, n: int) -> str:
    text = json.dumps(line).replace('"user_id": "a"', f'"user_id": "a{n}"')
    return text.replace('"completed_by": 7', f'"completed_by": {n}')


@pytest.mark.parametrize("form", BROKEN)
def test_wrong_answers_are_left_out_and_listed(tmp_path, form):
    lines, expected = zip(*BROKEN[form], strict=True)
    wrong_lines = [by_somebody_else(line, n) for n, line in enumerate(lines)]
    summary = read(write(tmp_path, {"lines.jsonl": [GOOD[form], *wrong_lines]}), form)
    assert len(ratings()) == 1
    left_out = sorted(summary.left_out_rows, key=lambda answer: answer.line)
    assert [answer.line for answer in left_out] == list(range(2, len(expected) + 2))
    for answer, message in zip(left_out, expected, strict=True):
        assert message in str(answer)
    assert sum(summary.mapped.values()) == len(expected)


@pytest.mark.parametrize("form", BROKEN)
def test_file_without_a_right_answer_is_refused(tmp_path, form):
    line, expected = BROKEN[form][-1]
    (problem,) = refused(write(tmp_path, {"lines.jsonl": [line]}), form)
    assert problem.startswith("lines.jsonl:1: item 1, ")
    assert expected in problem


DRAFT = {"value": 1, "user_id": "a", "status": "draft"}
UNUSED = [
    ("label-studio", [task(choice("4"), by=None)], "no account: no row. Export the file with"),
    (
        "label-studio",
        [task(choice("4"), by=None), task(choice("3"), by=None)],
        "no account: no row (and 1 more). Export the file with",
    ),
    ("label-studio", [task(by=7) | {"annotations": [], "predictions": [8]}], "Export a snapshot"),
    (
        "label-studio",
        [task(choice("4")), task(choice("3"))],
        "7 graded mill-1:0#0 under graded as 4, 3 in annotations 3 and 3 (and 1 more). Choose",
    ),
    ("potato", [potato(**{"4": "4"}) | {"user_id": None}], "no account: no row. Export the file"),
    ("potato", [potato(text_box="Well.")], "no grades: no row. Name the question of the grade"),
    ("argilla", [record(responses={"graded": [DRAFT]})], "no row. Submit the answers in the tool"),
    (
        "argilla",
        [record(suggestions={"graded": {"value": 2, "agent": None}})],
        "suggestions without an agent: no row. Write the name of the model",
    ),
    ("web-annotation", [annotation(creator="")], "no account: no row. Export the file with"),
]


@pytest.mark.parametrize(("form", "lines", "expected"), UNUSED)
def test_file_whose_answers_all_become_no_grade_is_refused(tmp_path, form, lines, expected):
    (problem,) = refused(write(tmp_path, {"lines.jsonl": lines}), form)
    assert problem.startswith("lines.jsonl:1: item 1")
    assert expected in problem


def test_file_of_tasks_without_answers_is_read(tmp_path):
    nothing = task() | {"annotations": []}
    assert not read(write(tmp_path, {"tasks.jsonl": [nothing]}), "label-studio").changed


def test_broken_array_names_its_line(tmp_path):
    good = json.dumps(task(choice("4")))
    files = {"export.json": ["[", f"{good},", good]}
    (problem,) = refused(write(tmp_path, files), "label-studio")
    assert problem == "export.json:4: the file ends where , or ] is missing"
