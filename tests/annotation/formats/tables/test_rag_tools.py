"""Presets of tools whose row is a question with its answer, contexts and metrics."""

from annotation.formats.tables.presets.recognition import recognise
from tests.annotation.formats.tables.preset_files import grades_of, read_preset, write_file

RAGAS_FRAME = """,user_input,retrieved_contexts,response,faithfulness
0,How old?,['It was built in 1820.'],Two hundred years.,0.5
1,How long?,['It has 90 m.'],Ninety metres.,1.0
"""


def test_ragas_frame_with_row_numbers_has_no_metric_of_them(tmp_path):
    file = write_file(tmp_path, "bot.csv", RAGAS_FRAME)
    assert recognise([file]) == "ragas"
    rows, _ = read_preset("ragas", [file])
    assert [report["body"] for report in rows["cited"]] == ["Two hundred years.", "Ninety metres."]
    assert {value["measure"] for value in rows["values"]} == {"faithfulness"}
    assert not grades_of(rows)
