"""Escaping of text for LaTeX: special signs, other scripts, and code points."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.latex import latex_table
from evaluation.latex_text import code_points, escape
from tests.toolbox.latex import compile_latex, needs_latex

NASTY = "_ & % # ~ ^ \\ { } < > \" € $ | ` ' -- ,, << ?`"


@pytest.mark.parametrize(
    ("text", "latex"),
    [
        ("a_1 & 50%", r"a\_1 \& 50\%"),
        ("\\{}~^", r"\textbackslash{}\{\}\textasciitilde{}\textasciicircum{}"),
        ("Zürich, Łódź", "Zürich, Łódź"),
        ("κ Σ Α ά", r"$\kappa$ $\Sigma$ A $\acute{\alpha}$"),
        ("ệ ǰ ẹ", r"\^{\d{e}} \v{\j} \d{e}"),
        ("5 €", r"5 \texteuro{}"),
        ("--x ,, ''", r"-{}-x ,{}, '{}'"),
        ("中 😀", "{[U+4E2D]} {[U+1F600]}"),
        ("a\x00\ud800", "a{[U+0000]}{[U+D800]}"),
        ("[U+4E2D]", "[U+4E2D]"),
        ("two\n\nlines", "two lines"),
    ],
)
def test_text_is_escaped(text, latex):
    assert escape(text) == latex


def test_code_points_are_named_in_comments():
    assert code_points(escape("a 😀 中 😀")) == [
        "% pdfLaTeX cannot print these characters; they stand as code points in brackets:",
        "% U+4E2D CJK UNIFIED IDEOGRAPH-4E2D",
        "% U+1F600 GRINNING FACE",
    ]
    assert code_points(escape("{[U+4E2D]} Zürich")) == []


def test_table_names_its_code_points():
    text = latex_table(["system"], [["中"]], label="x", caption="Δ", source="site\nx")
    assert text.splitlines()[2] == "% U+4E2D CJK UNIFIED IDEOGRAPH-4E2D"


@given(st.text())
def test_escaped_text_has_no_special_sign_and_no_unknown_character(text):
    escaped = escape(text)
    assert not re.search(r"(?<!\\)[&#%_]", escaped.replace(r"\textbackslash{}", ""))
    assert not re.search(r"[<>|\"\n]", escaped.replace(r"\"{", ""))
    assert all(ord(sign) < 0x220 or sign in "‘’‚„‹›" for sign in escaped)
    braces = re.sub(r"\\[{}]", "", escaped)
    assert braces.count("{") == braces.count("}")
    assert escaped.replace(r"\$", "").count("$") % 2 == 0


@given(st.text(st.characters(exclude_categories=["Zs", "Zl", "Zp", "Cc"]), max_size=3))
def test_escaped_names_stay_different(text):
    assert escape(text) != escape(f"{text}x")


@needs_latex
def test_characters_of_all_scripts_compile(tmp_path):
    signs = [
        chr(code)
        for code in [*range(0x20, 0x600), *range(0x1E00, 0x2300), *range(0x2E80, 0xFFFF, 97)]
    ]
    signs += ["😀", "\ud800", "\U0010ffff"]
    lines = [escape(" ".join(signs[start : start + 12])) for start in range(0, len(signs), 12)]
    name = escape(NASTY)
    table = latex_table([NASTY, "n"], [[f"中{NASTY}", 1]], label=NASTY, caption=NASTY, source=NASTY)
    compile_latex(tmp_path, "\n\n".join([table, rf"\textbf{{{name}}}\underline{{{name}}}", *lines]))
