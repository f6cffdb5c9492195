"""The page datasets/<slug>/paper/, and its files against those of the command.

Numbers: see material.py.
"""

import re
import sys
from copy import deepcopy
from io import StringIO
from urllib.parse import parse_qs, urlsplit

import pytest
from django.core.management import call_command

from annotation.models import Dataset, Rater, Rating
from annotation.models.standard import STANDARD, add_standard
from evaluation.replications.crux_paper.export import TYPES
from evaluation.replications.crux_paper.inline_svg import inline_svg
from tests.evaluation.replications.crux_paper.archives import archive_members, folder_contents
from tests.evaluation.replications.crux_paper.material import make_mill
from tests.toolbox.html_tables import tables
from tests.toolbox.responses import links, markup, text_of_page

pytestmark = pytest.mark.any_database

PAGE = "/datasets/mill/paper/"
OPTIONS = {
    "source": "people:judge",
    "eta": "4",
    "rules": "authors",
    "cutoff": "10",
    "intervals": "1",
}
SCORING = [name for name in OPTIONS if name != "intervals"]
MISSING = "Drawing figures needs matplotlib, an extra: make env EXTRAS=figures."


@pytest.fixture(scope="module")
def command_output(shared_world, tmp_path_factory):
    """The study, and what the command writes of it under OPTIONS."""
    folder = tmp_path_factory.mktemp("mill")

    def make():
        mill = make_mill()
        command = ["tables", "mill", f"--out={folder}", "--intervals"]
        call_command(
            *command, *(f"--{name}={OPTIONS[name]}" for name in SCORING), stdout=StringIO()
        )
        return mill

    return shared_world(make), folder_contents(folder)


@pytest.fixture
def mill(db, command_output) -> Dataset:
    return deepcopy(command_output[0])


@pytest.fixture
def rosa(cast):
    return cast.client("researcher")


@pytest.fixture
def no_matplotlib(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    for module in ("bundle", "drawing", "painting"):
        monkeypatch.delitem(
            sys.modules, f"evaluation.replications.crux_paper.{module}", raising=False
        )


def test_tables_as_they_are_printed(rosa, mill):
    response = rosa.get(f"{PAGE}?cutoff=size")
    page_tables = tables(response)
    page = text_of_page(response)
    assert "Retrieval contexts Z of mill and the reports y written from them" in page
    # The last rows of Table 1: fair, good, mid, poor, then tau. Cov(Z) 1/2, 1, 3/4, 1/4.
    assert re.search(
        r"human_eval\.fair 50\.0 n = 2 .*human_eval\.good 100\.0 greatest n = 2 "
        r".*human_eval\.mid 75\.0 n = 2 .*human_eval\.poor 25\.0 least n = 2 "
        r".*Kendall τ [a-z] 0\.667 n = 4 .* [a-z] Reversed pairs: Cov\(Z\) 0 of 3, [^;]*; no interval",
        page,
    )
    assert "Undefined, because there are no reports from it." in page
    # Two raters with the judge, then six reports by three raters.
    assert len(page_tables["Correlations between raters"]) == 2
    assert [row[0] for row in page_tables["Values of Figure 4"]] == [
        f"human_eval.{name}, mill-{n}" for name in ("good", "mid", "poor") for n in (1, 2)
    ]
    good = page_tables["Values of Figure 4"][0]
    assert good[1:] == ["66.7 n = 3", "100.0 n = 3", "66.7 n = 3"]
    assert len(page_tables["Values of Figure 5"]) == 15  # pairs of six metrics
    # Intervals are a switch, of the page and of LaTeX.
    assert "[" not in page
    with_intervals = text_of_page(rosa.get(f"{PAGE}?cutoff=size&intervals=1"))
    assert re.search(r"human_eval\.good 100\.0 greatest \[100\.0, 100\.0\] n = 2", with_intervals)
    assert "no interval" in with_intervals
    tex = [rosa.get(f"{PAGE}table1.tex?intervals={on}").content.decode() for on in "01"]
    assert [r"$\pm$" in text for text in tex] == [False, True]


def test_drawings_hold_no_style_and_no_id_twice(rosa, mill):
    page = rosa.get(PAGE).content.decode()
    drawings = re.findall(r"<svg viewBox=.*?</svg>", page, re.DOTALL)
    assert len(drawings) == 2
    for drawing, name in zip(drawings, ("Figure 4. Coverage", "Figure 5. Rank"), strict=True):
        assert "style" not in drawing
        assert f'role="img" aria-label="{name}' in drawing
        defined_ids = set(re.findall(r' id="([^"]+)"', drawing))
        assert defined_ids
        assert set(re.findall(r"url\(#([^)]+)\)", drawing)) <= defined_ids
        assert set(re.findall(r'href="#([^"]+)"', drawing)) <= defined_ids
    ids = re.findall(r'\sid="([^"]+)"', page)
    assert len(ids) == len(set(ids))


def test_style_becomes_the_attributes_of_its_names():
    svg = (
        b'<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" '
        b'width="9pt" viewBox="0 0 9 9"><!-- \x0b --><metadata>when</metadata><defs><style>*{}</style>'
        b'<path id="a" d="M 0 0"/></defs><use xlink:href="#a" style="fill: url(#b); stroke: #fff"/></svg>'
    )
    assert inline_svg(svg, "one", "<Two> & three") == (
        '<svg viewBox="0 0 9 9" role="img" aria-label="&lt;Two&gt; &amp; three" '
        'stroke-linejoin="round" stroke-linecap="butt"><defs><path id="one-a" d="M 0 0" /></defs>'
        '<use href="#one-a" fill="url(#one-b)" stroke="#fff" /></svg>'
    )


@pytest.mark.soak  # it draws every figure
def test_archive_is_the_folder_of_the_command(rosa, mill, command_output):
    response = rosa.get(f"{PAGE}paper.zip", OPTIONS)
    assert response["Content-Disposition"] == 'attachment; filename="mill-paper.zip"'
    assert archive_members(response) == command_output[1]


def test_single_files_equal_those_of_the_command(rosa, mill, command_output):
    page = rosa.get(PAGE, OPTIONS)
    addresses = {
        urlsplit(link).path.removeprefix(PAGE): link
        for link in links(page)
        if PAGE in link and urlsplit(link).path != PAGE
    }
    assert addresses.keys() == command_output[1].keys() - {"provenance.json"} | {"paper.zip"}
    for name, link in addresses.items():
        # Nothing is left to a default that could become another.
        assert {
            option: values
            for option, values in parse_qs(urlsplit(link).query).items()
            if OPTIONS.get(option) != values[0]
        } == {"ideal": ["standard"], "questions": ["all"], "zeros": ["none"]}
        if name not in ("paper.zip", "figure4.png", "figure4.pdf"):
            response = rosa.get(link)
            assert response.content == command_output[1][name], name
            assert response["Content-Disposition"] == f'attachment; filename="{name}"'
            assert response["Content-Type"] == TYPES[name.rpartition(".")[2]]


@pytest.mark.soak  # it draws every figure
def test_chosen_systems_are_ticked_and_kept_and_their_files_are_those_of_the_command(
    rosa, mill, tmp_path
):
    make_mill("other").runs.create(name="bm25")  # of another dataset: not to choose here
    url = f"{PAGE}?systems=human_eval.mid&systems=human_eval.good,human_eval.fair&cutoff=size"
    page = rosa.get(url)
    boxes = re.findall(r'name="systems"\s+value="human_eval\.(\w+)"\s*(checked)?', markup(page))
    assert dict(boxes) == {
        **dict.fromkeys(("direct", "oracle", "poor"), ""),
        **dict.fromkeys(("fair", "good", "mid"), "checked"),
    }
    assert re.search(
        r"Kendall τ [a-z] 0\.333 n = 3 .* [a-z] Reversed pairs: [^;]*; [^;]* none holds",
        text_of_page(page),
    )
    systems = "human_eval.fair,human_eval.good,human_eval.mid"
    archive = next(link for link in links(page) if "paper.zip" in link)
    assert parse_qs(urlsplit(archive).query)["systems"] == [systems]
    command = ["tables", "mill", f"--out={tmp_path}", "--cutoff=size", f"--systems={systems}"]
    call_command(*command, stdout=StringIO())
    files = archive_members(rosa.get(archive))
    assert files == folder_contents(tmp_path)
    assert f"--systems {systems}" in files["provenance.json"].decode()


def test_without_a_tick_all_systems_are_taken(rosa, mill):
    page = rosa.get(f"{PAGE}?systems=")
    assert not re.search(r'name="systems"[^>]*checked', markup(page))
    assert "systems" not in next(link for link in links(page) if "paper.zip" in link)
    two = "systems=human_eval.mid&systems=human_eval.good"
    assert "2 are chosen." in rosa.get(f"{PAGE}table1.tex?{two}").content.decode()
    assert "are chosen" not in rosa.get(f"{PAGE}table1.tex?systems=").content.decode()


def test_cache_is_invalidated_by_data_changes(rosa, mill, monkeypatch):
    first = rosa.get(f"{PAGE}table1.csv").content
    with monkeypatch.context() as patch:
        patch.setattr("evaluation.replications.crux_paper.parts.make_parts", None)
        assert rosa.get(f"{PAGE}table1.csv").content == first
    rating = Rating.objects.filter(rater__name="judge", grade=5, text__kind="passage").first()
    Rating.objects.filter(pk=rating.pk).update(grade=0)
    assert rosa.get(f"{PAGE}table1.csv").content != first


def test_undefined_part_displays_the_reason(rosa, mill):
    mill.runs.all().delete()
    page = text_of_page(rosa.get(PAGE))
    reason = "because the dataset has no retrieval runs but those of an oracle."
    assert page.count(f"Not available, {reason}") == 3
    assert "Table 1. Systems" in page
    for name in ("table2.csv", "figure5.pdf"):
        response = rosa.get(f"{PAGE}{name}")
        assert response.status_code == 404
        assert f"{name.partition('.')[0]} is not made, {reason}" in text_of_page(response)


def test_further_tables_are_listed_without_being_computed(rosa, mill, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr("evaluation.supplement.Supplement.files_of", None)
        response = rosa.get(f"{PAGE}?whole=1")
    addresses = [urlsplit(link).path for link in links(response)]
    assert f"{PAGE}agreement_pairs_answerable.tex" in addresses
    assert f"{PAGE}refs.bib" in addresses
    page = text_of_page(response)
    assert "Agreement of pairs of raters: T1, answerable or not:" in page
    assert "calibration_answerable: judge has no stored probabilities" in page
    answer = rosa.get(f"{PAGE}calibration_answerable.tex")
    assert answer.status_code == 404
    assert "is not made, because judge has no stored probabilities." in text_of_page(answer)


def test_table_that_the_values_do_not_allow_is_404_with_the_reason(rosa, mill):
    Rating.objects.filter(rater__kind="human", text__topic__name="mill-2").delete()
    mill.texts.filter(kind="report", topic__name="mill-1").update(system="human_eval.good")
    response = rosa.get(f"{PAGE}mixed_model_answerable.csv")
    assert response.status_code == 404
    assert "mixed_model_answerable is not made, because people" in text_of_page(response)


def test_without_a_judge_people_count_and_are_compared(rosa, mill):
    Rating.objects.filter(rater__name="judge").delete()
    page = text_of_page(rosa.get(PAGE))
    assert "Grades: ann;" in page
    assert "the chosen judge has rated none of them" in page
    assert "Not available, because no correlation is defined: fewer than two metrics" in page


def test_page_of_a_single_kind_of_question(rosa, mill):
    rubric = add_standard(STANDARD["question-type"])
    lee = Rater.objects.create(dataset=mill, name="lee", kind="human")
    for text in mill.texts.filter(kind="passage"):
        for question in text.topic.questions.filter(position=0):
            lee.ratings.create(rubric=rubric, text=text, question=question, grade=1)
    page = text_of_page(rosa.get(f"{PAGE}?questions=question-type:lee:1"))
    assert "Of the questions only those count" in page
    assert "Not available, because it is of all questions, and not of one kind." in page


@pytest.mark.parametrize(
    ("query", "answer"),
    [
        ("source=eve", "“eve”. There are: judge, ann, ben, majority"),
        ("eta=6", "There are: 1, 2, 3, 4, 5"),
        ("rules=mine", "There are: paper, authors"),
        ("cutoff=0", "There are: size, oracle, 10, 20"),
        ("ideal=best", "There are: standard, paper_eq4"),
        ("questions=odd", "There are: all"),
        (
            "systems=human_eval.mid&systems=bm25",
            "no system “bm25”. There are: human_eval.direct, hum",
        ),
        ("systems=a%0Ab", "Systems must be names separated by commas"),
        ("intervals=yes", "no switch of intervals “yes”. There are: 0, 1"),
    ],
)
def test_unknown_choice_is_answered_with_the_choices(rosa, mill, query, answer):
    for page in ("", "table1.csv", "paper.zip"):
        response = rosa.get(f"{PAGE}{page}?{query}")
        assert response.status_code == 400
        assert answer in text_of_page(response)


@pytest.mark.parametrize("name", ["table9.csv", "table1.png", "provenance.json", "table1"])
def test_unknown_file_is_404(rosa, mill, name):
    response = rosa.get(f"{PAGE}{name}")
    assert response.status_code == 404
    assert f"There is no file “{name}” of these tables and figures." in text_of_page(response)


def test_site_without_matplotlib_gives_tables_and_numbers(rosa, mill, no_matplotlib):
    response = rosa.get(PAGE)
    page = text_of_page(response)
    assert page.count(MISSING) == 1
    assert "<svg viewBox" not in response.content.decode()
    assert tables(response)["Values of Figure 5"]
    files = {urlsplit(link).path.removeprefix(PAGE) for link in links(response) if PAGE in link}
    assert {"table1.tex", "figure4.csv", "figure4.tex"} <= files
    assert files.isdisjoint({"figure4.svg", "paper.zip"})
    assert rosa.get(f"{PAGE}table1.csv").status_code == 200
    for name in ("figure4.svg", "figure5.png", "paper.zip"):
        response = rosa.get(f"{PAGE}{name}")
        assert response.status_code == 404
        assert MISSING in text_of_page(response)


def test_dataset_without_ratings(rosa, db):
    Dataset.objects.create(slug="bare", title="Bare")
    response = rosa.get("/datasets/bare/paper/")
    assert response.status_code == 200
    assert "This dataset has no ratings" in text_of_page(response)
    assert rosa.get("/datasets/bare/paper/paper.zip").status_code == 404
    assert rosa.get("/datasets/nowhere/paper/").status_code == 404


@pytest.mark.parametrize("page", ["", "table1.csv", "paper.zip"])
def test_page_is_for_researchers(cast, mill, page):
    assert cast.client("worker").get(f"{PAGE}{page}").status_code == 403
    assert cast.client("stranger").get(f"{PAGE}{page}").status_code == 302
    assert cast.client("researcher").post(f"{PAGE}{page}").status_code == 405


def test_way_to_it(cast, mill):
    client = cast.client("admin")
    assert PAGE in links(client.get("/datasets/mill/"))
    retrieval = client.get("/datasets/mill/systems/?eta=4&source=majority")
    assert f"{PAGE}?source=majority&eta=4&carried=1" in links(retrieval)
