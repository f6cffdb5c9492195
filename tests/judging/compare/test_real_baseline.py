"""The baseline beside the models, against the human labels of the authors' own study."""

from io import StringIO

import pytest
from django.core.management import call_command

from evaluation.agreement.judges import compare_with_people
from judging.models import Judge


def output(*arguments: str) -> list[str]:
    out = StringIO()
    call_command(*arguments, stdout=out)
    return out.getvalue().splitlines()


def row(lines: list[str], name: str) -> list[str]:
    """The cells of the row of this name, in the table of judges."""
    start = next(index for index, line in enumerate(lines) if line.startswith("judges, eta 3"))
    return next(line for line in lines[start:] if line.startswith(name))[len(name) :].split()


@pytest.mark.any_database
def test_baseline_is_printed_beside_the_models_and_called_a_baseline(real_study):
    (summary,) = output("judge", "crux-duc04", "--texts=passages")
    assert "of lexical (a baseline, not a model) is finished" in summary
    # Binary kappa, quadratic kappa, share of equal answers, ratings without its grade, ratings.
    without_baseline = output(
        "agreement", "crux-duc04", "--rubric=graded", "--raters=annotator1,annotator2"
    )
    everybody = output("agreement", "crux-duc04", "--rubric=graded")
    assert row(everybody, "lexical (baseline)") == ["0.075", "0.172", "0.587", "0", "155"]
    assert row(everybody, "llama33_70b") == ["0.186", "0.183", "0.643", "43", "112"]
    assert row(without_baseline, "llama33_70b") == ["0.221", "0.180", "0.657", "43", "108"]
    assert row(without_baseline, "lexical (baseline)")[3:] == ["0", "151"]
    judge = Judge.objects.get()
    (judged,) = compare_with_people(real_study, judge.rater_id)
    assert judged.n_people == 3
    assert f"{judged.scores.cohen_binary.value:.3f}" == "0.075"
