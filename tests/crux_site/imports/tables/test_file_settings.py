"""Settings of the columns page: header row, delimiter, encoding, records, missing values."""

import html
import json

import pytest

from annotation.models import Rating, Text
from tests.crux_site.imports.tables.columns_page import (
    GRADES,
    columns_page,
    fields,
    post,
    table,
    upload,
)
from tests.toolbox.import_previews import import_previewed


def apply(client, url, **changes):
    """Press Apply with changed fields, and return the fields of the page after it."""
    names = {name.replace("__", "-"): value for name, value in changes.items()}
    data = fields(columns_page(client, url)) | names | {"action": "apply"}
    assert client.post(url, data).url == url
    return fields(columns_page(client, url))


def mapping(client, url):
    return json.loads(client.get(url.replace("columns/", "mapping.json")).content)


def test_header_row_is_chosen_and_fitting_choices_stay(cast):
    content = b"Grades of May,for the mill,,,,,\n" + GRADES
    client = cast.client("admin")
    url = upload(client, table(content)).url
    form = apply(client, url, **{"t0-header": "1"})
    assert form["t0-header"] == "1"
    assert "Role of Grades of May" in columns_page(client, url)
    form = apply(client, url, **{"t0-header": "2"})
    assert (form["t0-c0-role"], form["t0-c5-role"]) == ("topic.id", "grade")
    form = apply(client, url, **{"t0-c6-role": "comment", "t0-c3-role": ""})
    form = apply(client, url, **{"t0-until": "Mean"})  # read again: the choices stay
    assert (form["t0-c6-role"], form["t0-c3-role"]) == ("comment", "")
    form = apply(client, url, **{"t0-until": "", "t0-c3-role": "text.body"})
    import_previewed(client, post(client, url, columns_page(client, url)).url)
    assert Rating.objects.count() == 3


def test_delimiter_is_chosen(cast):
    content = GRADES.replace(b",", b"~")
    client = cast.client("admin")
    url = upload(client, table(content)).url
    page = columns_page(client, url)
    assert fields(page)["t0-c0-role"] == "?"
    form = fields(page) | {"action": "preview", "t0-delimiter": "~"}
    assert client.post(url, form).url == url  # the columns are new: they are looked at first
    form = fields(columns_page(client, url))
    assert (form["t0-delimiter"], form["t0-c5-role"]) == ("~", "grade")
    import_previewed(client, post(client, url, columns_page(client, url)).url)
    assert Rating.objects.count() == 3


def test_delimiter_that_cannot_be_detected_is_asked(cast):
    content = b"question,answer;rater,grade;note\nWhy?,It is so;anna,4;x\nWho?,Ida;ben,3;y\n"
    client = cast.client("admin")
    url = upload(client, table(content, "tie.csv")).url
    page = columns_page(client, url)
    assert "tie.csv the cells may be separated by" in page
    refused = client.post(url, fields(page) | {"action": "preview"})
    assert refused.status_code == 422
    form = apply(client, url, **{"t0-delimiter": ","})
    assert form["t0-c0-role"] == "topic.request"


@pytest.mark.parametrize(
    ("text", "encoding", "sample"),
    [
        ("Příliš žluťoučký kůň běží", "cp1250", "Windows-1250 (Central Europe): říliš žluťo"),
        ("伊达在一九三六年建造的渡轮。", "gb18030", "GB 18030 and GBK (Chinese): 伊达在一"),
    ],
)
def test_encoding_is_chosen(cast, text, encoding, sample):
    content = f"question,passage,annotator,score\nCo to je?,{text},anna,4\n"
    client = cast.client("admin")
    url = upload(client, table(content.encode(encoding))).url
    page = columns_page(client, url)
    assert "grades.csv:2 is n" in page
    assert "Windows-1252: choose the encoding" in page
    assert sample in page
    apply(client, url, **{"t0-encoding": encoding})
    apply(client, url, **{"t0-constant-rubric": "graded"})
    assert text in columns_page(client, url)
    import_previewed(client, post(client, url, columns_page(client, url)).url)
    assert Text.objects.get().body == text


def test_records_of_a_json_file_are_chosen(cast):
    value = {
        "meta": [{"version": 1}],
        "results": {"rows": [{"question": "Why?", "answer": "So it is.", "contexts": ["a b c"]}]},
    }
    client = cast.client("admin")
    url = upload(client, table(json.dumps(value).encode(), "out.json")).url
    assert fields(columns_page(client, url))["t0-records"] == ""
    form = apply(client, url, **{"t0-records": "results.rows"})
    assert (form["t0-records"], form["t0-c0-role"]) == ("results.rows", "topic.request")
    assert mapping(client, url)["tables"][0]["records"] == "results.rows"


def test_decimal_missing_and_fill_down_are_part_of_the_mapping(cast):
    client = cast.client("admin")
    url = upload(client, table()).url
    form = {"t0-decimal": ",", "t0-missing": "k. A.\r\nnot seen", "t0-fill_down": "qid\r\nquestion"}
    form |= {"t0-passages_of": "topic", "t0-c5-cut": "0.5, 0.8", "t0-c5-scale": "100"}
    form |= {"t0-constant-topic.group": "water", "t0-constant-citations": "marks"}
    values = apply(client, url, **form)
    assert {name: values[name].replace("\n", "\r\n") for name in form} == form
    (part,) = mapping(client, url)["tables"]
    assert part["decimal"] == ","
    assert part["missing"] == ["k. A.", "not seen"]
    assert part["fill_down"] == ["qid", "question"]
    assert part["passages_of"] == "topic"
    assert part["columns"]["score"] == {"role": "grade", "cut": [0.5, 0.8], "scale": 100.0}
    assert part["constants"]["topic.group"] == "water"
    form = dict.fromkeys(form, "")
    apply(client, url, **form)
    (part,) = mapping(client, url)["tables"]
    assert not {"decimal", "missing", "fill_down", "passages_of"} & {*part}
    assert part["columns"]["score"] == "grade"


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"t0-header": "first"}, "write the number of a row"),
        ({"t0-header": "99"}, "row 99 is empty"),
        ({"t0-header": "99999999999"}, "write the number of a row"),
        ({"t0-header": "0"}, "write the number of a row"),
        ({"t0-header": "4"}, "no row is below this header"),
        ({"t0-delimiter": "ab"}, "must be one character"),
        ({"t0-delimiter": '"'}, "must be different characters"),
        ({"t0-encoding": "base64"}, "there is no 'base64'"),
        ({"t0-encoding": "klingon"}, "there is no 'klingon'"),
        ({"t0-encoding": "utf-16"}, "is not utf-16"),
        ({"t0-decimal": "x"}, "Input should be"),
        ({"t0-passages_of": "x"}, "Input should be"),
        ({"t0-fill_down": "quid"}, "did you mean 'qid'?"),
        ({"t0-c5-cut": "half"}, "“score”: write a number"),
        ({"t0-c5-scale": "nan"}, "“score”: write a number"),
    ],
)
@pytest.mark.parametrize("action", ["apply", "preview"])
def test_wrong_setting_is_told_beside_its_field(cast, changes, message, action):
    client = cast.client("admin")
    url = upload(client, table()).url
    before = columns_page(client, url)
    response = client.post(url, fields(before) | changes | {"action": action})
    assert response.status_code == 422
    page = response.content.decode()
    assert message in html.unescape(page)
    (name,) = changes
    assert f'aria-describedby="{name}-error"' in page
    assert fields(columns_page(client, url)) == fields(before)


def test_form_of_columns_that_were_read_again_in_another_tab_is_refused(cast):
    client = cast.client("admin")
    url = upload(client, table()).url
    old_form = fields(columns_page(client, url))
    apply(client, url, **{"t0-header": "2"})
    response = client.post(url, old_form | {"action": "preview"})
    assert response.status_code == 422
    assert "read in another way in another tab" in response.content.decode()


def test_columns_without_a_role_stay_when_nothing_is_guessed(cast):
    content = b"a,b\nx,y\nu,v\n"
    client = cast.client("admin")
    url = upload(client, table(content)).url
    form = apply(client, url, **{"t0-header": "2"})
    assert form["t0-header"] == "2"
    form = apply(client, url, **{"t0-c0-role": "text.body"})
    assert (form["t0-header"], form["t0-c0-role"]) == ("2", "text.body")


def test_error_of_a_preview_is_beside_its_column(cast):
    client = cast.client("admin")
    url = upload(client, table(GRADES.replace(b"ben,4", b"ben,4.5"))).url
    changes = {"t0-c5-role": "grade", "t0-constant-rubric": "graded", "action": "preview"}
    client.post(url, fields(columns_page(client, url)) | changes)
    page = columns_page(client, url)
    assert 'id="t0-c5-role-error">grades.csv:4: score (grade): ' in page
