"""Two topics and two systems, small enough to work every number out by hand.

Passages of t1, and the questions of t1 that `judge` says they answer (a fourth question is filtered):

    t1:0#0   q1            brook saw #0 and #1, and lake #0
    t1:0#1   -  (q2: 2)
    t1:0#2   q2
    t1:0#3   not rated

So q1 and q2 are answerable, q3 is not. The reports, and what `ann` says that they answer:

    brook t1   q1 q2    cites #0, then #0 and #2, then [9], which names nothing
    lake t1    q1       cites nothing
    brook t2   -        cites nothing
    lake t2    -        is not there

t2 has one question, which t2:0#0 answers; brook saw t2:0#1, which does not.

Answers by ann, Rel = answerable:

    report     Out     Rel     seen   precision  recall  recall'  ceiling  precision'  not seen
    brook t1   q1 q2   q1 q2   q1     2/2        2/2     1/1      1/2      1/2         1
    brook t2   -       q1      -      undefined  0/1     undef.   0/1      undefined   0
    lake t1    q1      q1 q2   q1     1/1        1/2     1/1      1/2      1/1         0

Citations: Rel = #0 #2 in t1.

    brook t1   #0 #2 [9]   seen #0 #1   precision 2/3, recall 2/2, recall' 1/1, ceiling 1/2, precision' 1/3
               with repeats #0 #0 #2 [9]: precision 3/4, precision' 2/4
"""

from pathlib import Path

from annotation.models import Dataset, Text
from crux_site.imports.importing import import_dataset
from tests.toolbox.import_study import write

BODY = "The weir was mended. Ida Brandt paid. Nobody knows why."
FILES = {
    "topics.jsonl": [{"id": "t1", "request": "The weir?"}, {"id": "t2", "request": "The lock?"}],
    "subquestions.jsonl": [
        {
            "id": "t1",
            "subquestions": ["What was mended?", "Who paid?", "Why?", "When?"],
            "filtered": {"3": {"because": "no passage answers it", "eta": 3}},
        },
        {"id": "t2", "subquestions": ["Who keeps the lock?"]},
    ],
    "passages.jsonl": [
        {"id": f"t1:0#{number}", "contents": f"Passage {number} of the weir."}
        for number in range(4)
    ]
    + [{"id": f"t2:0#{number}", "contents": f"Passage {number} of the lock."} for number in (0, 1)],
    "reports_cited.jsonl": [
        {
            "topic": "t1",
            "system": "brook",
            "body": BODY,
            "statements": [
                {"start": 0, "end": 20, "cited": [["1", "t1:0#0"]]},
                {"start": 21, "end": 37, "cited": [["1", "t1:0#0"], ["3", "t1:0#2"]]},
                {"start": 38, "end": 55, "cited": [["9", None]]},
            ],
        },
        {"topic": "t2", "system": "brook", "body": "Nothing is known.", "statements": []},
        {"topic": "t1", "system": "lake", "body": "It was mended.", "statements": []},
    ],
    "runs/brook.run": [
        "t1 Q0 t1:0#0 1 2 brook",
        "t1 Q0 t1:0#1 2 1 brook",
        "t2 Q0 t2:0#1 1 1 brook",
    ],
    "runs/lake.run": ["t1 Q0 t1:0#0 1 1 lake"],
    "judgements/judge.judgements.jsonl": [
        {"id": "t1", "pid": "t1:0#0", "rating": [5, 0, 0, 0]},
        {"id": "t1", "pid": "t1:0#1", "rating": [0, 2, 0, 0]},
        {"id": "t1", "pid": "t1:0#2", "rating": [0, 3, 0, 0]},
        {"id": "t2", "pid": "t2:0#0", "rating": [4]},
        {"id": "t2", "pid": "t2:0#1", "rating": [1]},
    ],
    "ratings.jsonl": [
        {
            "rater": "ann", "kind": "human", "rubric": "answerable", "topic": topic, "grade": grade,
            "question_index": index, "text_kind": "report", "system": system, "text": topic,
        }
        for system, topic, grades in (
            ("brook", "t1", (1, 1, 0)), ("brook", "t2", (0,)), ("lake", "t1", (1, 0, 0)),
        )
        for index, grade in enumerate(grades)
    ],
}  # fmt: skip


def make_weir(folder: Path) -> Dataset:
    import_dataset(write(folder, FILES), "weir")
    return Dataset.objects.get(slug="weir")


def report(system: str, topic: str) -> Text:
    return Text.objects.get(kind="report", system=system, name=topic)
