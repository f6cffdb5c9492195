"""Any text is imported sign by sign, or refused with its place."""

from uuid import uuid4

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from annotation.models import Text
from crux_site.imports.importing import DatasetImportError, import_dataset
from tests.toolbox.import_study import write
from tests.toolbox.text_strategies import NASTY, any_text

few = settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
    deadline=None,
    max_examples=10,
)


@few
@given(bodies=st.lists(any_text, min_size=1, max_size=20))
@example(bodies=NASTY)
def test_imported_text_is_the_file_s_sign_by_sign(db, tmp_path, bodies):
    slug = f"any-{uuid4().hex[:8]}"
    names = [f"t:{number}" for number in range(len(bodies))]
    rows = [{"id": name, "contents": body} for name, body in zip(names, bodies, strict=True)]
    import_dataset(write(tmp_path / slug, {"passages.jsonl": rows}), slug)
    stored = dict(Text.objects.filter(dataset__slug=slug).values_list("name", "body"))
    assert [stored[name] for name in names] == bodies


@few
@given(
    prefix=any_text,
    suffix=any_text,
    bad=st.sampled_from(["\0", "\ud83d", "\udc00", "\udfff\ud800"]),
)
def test_import_refuses_what_no_text_can_hold_and_says_where(db, tmp_path, prefix, suffix, bad):
    slug = f"bad-{uuid4().hex[:8]}"
    rows = [{"id": "t:0", "contents": "Good."}, {"id": "t:1", "contents": prefix + bad + suffix}]
    with pytest.raises(DatasetImportError) as failed:
        import_dataset(write(tmp_path / slug, {"passages.jsonl": rows}), slug)
    (problem,) = failed.value.problems
    assert (problem.file, problem.line, problem.field) == ("passages.jsonl", 2, "contents")
    assert not Text.objects.exists()
