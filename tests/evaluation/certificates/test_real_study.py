"""Certificates on the authors' own study: too few pairs have grades of two people."""

import pytest

from evaluation.certificates.assessment import RefusedError
from evaluation.certificates.testing import judge_test
from evaluation.models import Certificate


@pytest.mark.any_database
def test_study_refuses_with_its_numbers(real_study):
    with pytest.raises(RefusedError) as refused:
        judge_test(real_study, rubric="graded", judge="llama33_70b").store(by=None)
    assert str(refused.value) == (
        "31 pairs have grades of two people, 23 of them also of the judge, in 6 topics: annotator1 21, "
        "annotator2 21, annotator3 4. The test needs 2 people with 30 of these pairs each."
    )
    assert not Certificate.objects.exists()
