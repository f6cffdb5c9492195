from evaluation.csv_tables import csv_response


def test_a_table():
    response = csv_response("runs", ["run", "value"], [["bm25", 0.1], ["a, “b”", None]])
    assert response["Content-Type"] == "text/csv; charset=utf-8"
    assert response["Content-Disposition"] == 'attachment; filename="runs.csv"'
    assert response.content.decode() == 'run,value\nbm25,0.1\n"a, “b”",\n'


def test_words_are_no_formula():
    # A spreadsheet would run the first; a negative number stays one.
    response = csv_response("x", ["a", "b"], [["=1+1", -1]])
    assert response.content.decode() == "a,b\n'=1+1,-1\n"
