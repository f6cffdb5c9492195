"""Broken files are refused whole, by file and row, without a change of the database."""

from contextlib import suppress

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from django.core.management import CommandError, call_command
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from annotation.models import NuggetSpan, Rating, SubQuestion, Text, Topic
from judging.engine.selection import Selection
from judging.models import Attempt, Batch, JudgeRun, Shard
from judging.offline import cluster, exchange
from judging.offline.job import ExchangeError
from judging.offline.parquet import RESULTS, read_results
from tests.judging.offline.conftest import Threes, judge_of
from tests.toolbox.factories import make_dataset

NAME = "results-00001.parquet"


@pytest.fixture
def graded(export, tmp_path):
    """A folder with one good file of eight replies."""
    _, job, folder = export
    results_folder = tmp_path / "back"
    results_folder.mkdir()
    list(cluster.grade_files(Threes(job.spec), job, job.pairs_files(folder), results_folder))
    return results_folder


def everything():
    return [
        list(model.objects.order_by("pk").values())
        for model in (Attempt, Rating, NuggetSpan, Batch, Shard, JudgeRun)
    ]


def refused(folder, complaint, dataset="ferry"):
    before = everything()
    with pytest.raises(CommandError, match=complaint) as caught:
        call_command("judge_import", dataset, folder, verbosity=0)
    assert everything() == before
    return str(caught.value)


def rewritten(folder, change):
    """The same file with other rows, as our own writer would have written them."""
    path = folder / NAME
    table = pq.read_table(path)
    rows = table.to_pylist()
    change(rows)
    pq.write_table(pa.Table.from_pylist(rows, schema=table.schema), path)


def set_in_row_3(**values):
    return lambda rows: rows[2].update(values)


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        (set_in_row_3(grade=9), "the grade 9 is no level of the rubric"),
        (set_in_row_3(grade=-1), "the grade -1 is no level"),
        (set_in_row_3(grade=None), "exactly when it is graded"),
        (set_in_row_3(state="fine"), "'fine' is none of graded, unparseable"),
        (set_in_row_3(state="error"), "exactly when it is graded"),
        (set_in_row_3(state="error", grade=None), "says why it has no grade"),
        (set_in_row_3(failure="empty"), "says why it has no grade, and only then"),
        (set_in_row_3(state="error", grade=None, failure="bored"), "'bored' is none of"),
        (set_in_row_3(probabilities=[0.5, 0.5]), "2 probabilities for 6 grades"),
        (set_in_row_3(probabilities=[2.0, 0, 0, 0, 0, 0]), "probability is 2.0, not from 0 to 1"),
        (set_in_row_3(probabilities=[float("nan")] * 6), "probability is nan"),
        (set_in_row_3(expected_grade=float("inf")), "expected_grade is inf, not from 0 to 5"),
        (set_in_row_3(label_mass=-0.5), "label_mass is -0.5"),
        (set_in_row_3(prompt_tokens=-1), "prompt_tokens is -1"),
        (set_in_row_3(completion_tokens=2**40), "completion_tokens is"),
        (set_in_row_3(raw="x" * 64_001), "longer than 64,000"),
        (set_in_row_3(prompt_hash="0" * 16), "sent another prompt"),
        (set_in_row_3(prompt_hash="0" * 17), "longer than 16"),
        (set_in_row_3(evidence=[None]), "no list of quotations|not a list of quotations"),
        (set_in_row_3(sha256="0" * 64), "has other words now"),
        (set_in_row_3(text_id=10**6), "text 1000000 and question .* are no pair of shard 1"),
        (set_in_row_3(question_id=10**6), "are no pair of shard 1"),
        (set_in_row_3(text_id=-(2**63)), "are no pair of shard 1"),
        (set_in_row_3(shard=7), "are no pair of shard 7"),
        (set_in_row_3(fingerprint="f" * 64), "a reply of the judge ffffffff, and judge run"),
        (lambda rows: rows.insert(2, rows[0]), "the same pair as in row 1"),
    ],
)
def test_row_that_cannot_be_is_named_and_the_whole_file_is_left_out(graded, change, complaint):
    rewritten(graded, change)
    assert f"{NAME}, row 3: " in refused(graded, complaint)


def test_value_that_must_not_miss_is_named_by_row(graded):
    good = pq.read_table(graded / NAME)
    for index, field in enumerate(RESULTS):
        if field.nullable:
            continue
        values = good[field.name].to_pylist()
        values[4] = None
        column = pa.field(field.name, field.type)
        pq.write_table(good.set_column(index, column, pa.array(values, field.type)), graded / NAME)
        refused(graded, f"{NAME}, row 5: there is no {field.name}")


def test_missing_column_is_named(graded):
    good = pq.read_table(graded / NAME)
    for name in RESULTS.names[:-1]:
        pq.write_table(good.drop_columns(name), graded / NAME)
        refused(graded, f"{NAME} has no column {name}")


def test_file_of_before_has_no_reasoning_and_is_read(graded):
    good = pq.read_table(graded / NAME)
    pq.write_table(good.drop_columns("reasoning"), graded / NAME)
    _, rows = read_results(graded / NAME)
    assert {row["reasoning"] for row in rows} == {None}


def test_column_of_another_type_is_named(graded):
    good = pq.read_table(graded / NAME)
    for index, name in enumerate(RESULTS.names):
        table = good.set_column(index, name, pa.array([b"x"] * len(good), pa.binary()))
        pq.write_table(table, graded / NAME)
        refused(graded, f"{NAME}: {name} is binary, not ")


def test_column_too_many_is_named(graded):
    table = pq.read_table(graded / NAME)
    pq.write_table(table.append_column("colour", pa.array(["red"] * 8)), graded / NAME)
    refused(graded, "a column 'colour' that does not belong there")


def test_file_that_does_not_say_whose_it_is_is_refused(graded):
    table = pq.read_table(graded / NAME)
    pq.write_table(table.replace_schema_metadata({}), graded / NAME)
    refused(graded, "does not say to which judge run it belongs")


def about(folder, **changes):
    table = pq.read_table(folder / NAME)
    metadata = table.schema.metadata[b"judging"].decode()
    for old, new in changes.values():
        assert old in metadata
        metadata = metadata.replace(old, new)
    pq.write_table(table.replace_schema_metadata({b"judging": metadata}), folder / NAME)


def test_other_format_is_refused(graded):
    about(graded, format=('"format": 1', '"format": 2'))
    refused(graded, "has the format 2, and this code reads the format 1")


def test_foreign_judge_is_refused_and_both_are_named(graded, export):
    run, _, _ = export
    about(graded, judge=("tiny-judge", "big-judge"), print=(run.judge.fingerprint, "f" * 64))
    refused(graded, r"the judge big-judge \(ffffffff\), and judge run .* is one of tiny-judge \(")


def test_replies_for_another_run_of_another_judge_are_refused(graded, export, dataset, tmp_path):
    other_judge = judge_of("other-judge", model="other")
    run, _ = exchange.export_run(other_judge, dataset, Selection(), tmp_path / "other")
    about(graded, run=(f'"run": {export[0].pk}', f'"run": {run.pk}'))
    refused(graded, rf"judge tiny-judge \(.*\), and judge run {run.pk} is one of other-judge")


def test_run_of_another_dataset_or_of_no_one_is_refused(graded, export):
    make_dataset("dam")
    refused(graded, "for judge run .* of ferry, which is no run of dam here", dataset="dam")
    about(graded, run=(f'"run": {export[0].pk}', '"run": 99'))
    refused(graded, "for judge run 99 of ferry, which is no run of ferry here")


def test_text_or_question_that_was_reworded_meanwhile_is_refused(graded):
    question = SubQuestion.objects.get(position=1)
    SubQuestion.objects.filter(pk=question.pk).update(body="Was somebody hurt?")
    refused(graded, f"{NAME}, row 2: the model was sent another prompt")
    SubQuestion.objects.filter(pk=question.pk).update(body=question.body)
    passage = Text.objects.get(kind="passage", body__isnull=False)
    passage.body += " More."
    passage.save()
    refused(graded, f"{NAME}, row 5: the text .* has other words now")


def test_request_that_the_prompt_does_not_show_may_change(graded):
    Topic.objects.update(request="Another request.")
    call_command("judge_import", "ferry", graded, verbosity=0)
    assert Attempt.objects.count() == 12


@pytest.mark.parametrize("n", [0, 3, 4, 100, 1_000, -1, -8])
def test_file_that_was_cut_is_refused(graded, n):
    path = graded / NAME
    path.write_bytes(path.read_bytes()[:n])
    refused(graded, f"{NAME} is not a whole Parquet file")


def test_bytes_that_changed_on_their_way_are_never_taken_for_other_replies(graded):
    path = graded / NAME
    good = path.read_bytes()
    _, expected = read_results(path)

    @settings(
        max_examples=200,
        deadline=None,
        suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
    )
    @given(position=st.integers(0, len(good) - 1), flip=st.integers(1, 255))
    def flipped(position, flip):
        changed = bytearray(good)
        changed[position] ^= flip
        path.write_bytes(changed)
        replies = None
        with suppress(ExchangeError):
            _, replies = read_results(path)
        assert replies in (None, expected)

    flipped()


def test_bad_file_does_not_stop_the_good_ones(dataset, judge, tmp_path):
    _, job = exchange.export_run(judge, dataset, Selection(), tmp_path / "out", rows=4)
    files = job.pairs_files(tmp_path / "out")
    (tmp_path / "back").mkdir()
    list(cluster.grade_files(Threes(job.spec), job, files, tmp_path / "back"))
    rewritten(tmp_path / "back", set_in_row_3(grade=9))
    with pytest.raises(CommandError, match=r"nothing was imported:\nresults-00001.parquet, row 3"):
        call_command("judge_import", "ferry", tmp_path / "back", verbosity=0)
    assert set(Attempt.objects.values_list("text__kind", flat=True)) == {"passage"}


def test_pairs_are_not_taken_for_replies(export, tmp_path):
    _, _, folder = export
    (tmp_path / "back").mkdir()
    (folder / "pairs-00001.parquet").rename(tmp_path / "back" / NAME)
    refused(tmp_path / "back", "has no column fingerprint")
