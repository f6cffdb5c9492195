"""The line of a recipe: what it says, and where it is wrong."""

import numpy as np
import pytest

from building.retrieval.fusion import by_coverage, by_sum, reciprocal_rank
from building.retrieval.recipe import RecipeError, Stage, parse_recipe


@pytest.mark.parametrize(
    "line",
    [
        *("bm25", "bm25 % 100", "bm25(b=0.4, k1=0.9) % 100", "a(x=/var/file.json)", "a(b(c))"),
        "fuse(bm25 % 100, bm25(k1=1.2) % 10 > by_ratings(judge=llama33_70b), k=60) > x(y=z) % 20",
    ],
)
def test_recipe_reads_as_it_is_written(line: str) -> None:
    assert str(parse_recipe(line)) == line
    spaced = line.replace("%", "  %").replace(",", " ,\n").replace("(", "( ")
    assert parse_recipe(f"  {spaced} ") == parse_recipe(line)


def test_recipe_is_parsed_into_stages() -> None:
    fused, cut = parse_recipe("fuse(bm25 % 100, dense, k=60) > rerank(model=a b) % 20").stages
    assert cut == Stage("rerank", (), (("model", "a b"),), 20)
    assert (fused.name, fused.options, fused.cut) == ("fuse", (("k", "60"),), None)
    assert [str(part) for part in fused.arguments] == ["bm25 % 100", "dense"]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("", "Character 1 of the recipe: expected the name of a step, found the end."),
        ("bm25 %", "Character 7 of the recipe: expected a whole number from 1, found the end."),
        ("bm25 % 0", "expected a whole number from 1, found “0”"),
        ("bm25 % 12345678", "a whole number from 1"),
        ("bm25(", "Character 6"),
        ("bm25(k1=)", "expected a value of k1"),
        ("bm25(k1=1", "Character 10 of the recipe: expected “,” or “)”, found the end."),
        ("bm25(k1=1, k1=2)", "bm25: the option k1 is a duplicate."),
        ("bm25 bm25", "Character 6 of the recipe: expected “>” and another step"),
        ("bm25 > ", "Character 8 of the recipe"),
        ("a(b(c(d(e(f)))))", "at most 5 levels deep"),
        ("x" * 2_001, "at most 2,000 characters"),
    ],
)
def test_invalid_recipe_error_names_the_place(line: str, message: str) -> None:
    with pytest.raises(RecipeError) as error:
        parse_recipe(line)
    assert message in str(error.value)


def test_ranks_are_fused_by_their_reciprocals() -> None:
    # 2: 1/62 + 1/61; 1: 1/61; 3: 1/62; 4: 1/63 twice.
    fused = reciprocal_rank([[(1, 9.0), (2, 8.0), (4, 1.0)], [(2, 5.0), (3, 4.0), (4, 1.0)]])
    assert [text for text, _ in fused] == [2, 4, 1, 3]
    assert fused[0][1] == pytest.approx(1 / 62 + 1 / 61)
    assert fused[1][1] == pytest.approx(2 / 63)
    assert reciprocal_rank([[(7, 1.0)], [(8, 1.0)]])[0][0] == 7  # equal: the one met first
    assert reciprocal_rank([[], []]) == []


NAN = float("nan")
GRADES = np.array([[5, 0, 0], [0, 3, 3], [NAN, NAN, NAN], [3, 2, 0]])


def test_texts_by_the_sum_of_their_grades() -> None:
    # 5, 6, nothing rated, 5: equal sums keep their order.
    assert by_sum([1, 2, 3, 4], GRADES) == [(2, 6.0), (1, 5.0), (4, 5.0), (3, 0.0)]


def test_texts_by_what_each_adds() -> None:
    # 2 answers two questions, 1 and 4 the first: 1 came earlier. Then 3 and 4 as they were.
    assert [text for text, _ in by_coverage([1, 2, 3, 4], GRADES, 3)] == [2, 1, 3, 4]
    assert [score for _, score in by_coverage([1, 2, 3, 4], GRADES, 3)] == [4.0, 3.0, 2.0, 1.0]
    assert [text for text, _ in by_coverage([1, 2], GRADES[2:], 3)] == [2, 1]
    assert by_coverage([], np.zeros((0, 3)), 3) == []
