"""A server with nothing but errors ends the job."""

from judging.engine.selection import Selection
from judging.offline import cluster, exchange
from tests.toolbox.scripted_server import status


def test_errors_alone_end_the_job_and_say_so(dataset, judge, server, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(cluster, "MAX_CONSECUTIVE_ERRORS", 6)
    exchange.export_run(judge, dataset, Selection(), tmp_path / "out", rows=4)
    for question in dataset.topics.first().questions.values_list("body", flat=True):
        server.script(question, status(400, "no such parameter"))
    arguments = [str(tmp_path / "out"), "--out", str(tmp_path / "back"), "--no-ray"]
    assert cluster.main([*arguments, "--url", server.url, "--concurrency", "1"]) == 1
    assert (
        "6 replies in a row were errors. The last: The server said: 400 no"
        in capsys.readouterr().err
    )
    # The first four are written, and can be asked again with --retry.
    assert len(list((tmp_path / "back").glob("results-*.parquet"))) == 1
