"""The small study, for every page of results, and one reading of it for all their links."""

from collections.abc import Callable
from copy import deepcopy

import pytest

import evaluation.http
import evaluation.pairs.page
from tests.evaluation.agreement.material import Study, make_study


@pytest.fixture(scope="module")
def small_study(kept) -> Study:
    return kept(make_study)


@pytest.fixture
def study(db, small_study) -> Study:
    return deepcopy(small_study)


@pytest.fixture
def read_once(monkeypatch):
    """Ratings that nobody changes are read once for all links of a selection: it is most of what they take."""

    def once(of: object, name: str, key: Callable[..., object]) -> None:
        read, known = getattr(of, name), {}

        def reads(what, **how):
            # With `what`, which is kept: the id of what is gone would be another's.
            mine = key(what, how)
            if mine not in known:
                known[mine] = what, read(what, **how)
            return known[mine][1]

        monkeypatch.setattr(of, name, reads)

    once(evaluation.http, "select", lambda dataset, how: (dataset.pk, repr(sorted(how.items()))))
    once(evaluation.pairs.page, "load", lambda selection, how: id(selection))
    once(evaluation.pairs.page, "load_evidence", lambda matrix, how: id(matrix))
