"""Files that edit a question and a report of the small study."""

from annotation.models import SubQuestion, Text
from tests.toolbox.import_study import QUESTIONS, study

NEW_QUESTION = "What failed on the Halden?"
REPORT = "A coupling failed in port.\n\nNobody  was\nhurt. The coupling was old."
REPORT_KEY = ("t-1", "annotated.oracle")


def edited_files():
    """Of a question and of a report; the reports repeat the questions in their old words."""
    reports = study()["reports_annotated.jsonl"]
    reports[0]["response"] = REPORT
    row = {"id": "t-1", "subquestions": [NEW_QUESTION, *QUESTIONS["t-1"][1:]]}
    return {"subquestions.jsonl": [row], "reports_annotated.jsonl": reports}


def report():
    return Text.objects.get(name=REPORT_KEY[0], system=REPORT_KEY[1])


def question():
    return SubQuestion.objects.get(topic__name="t-1", position=0)
