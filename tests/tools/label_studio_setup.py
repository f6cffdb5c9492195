"""Label Studio setup of docs/files.md."""

import re

from tests.toolbox.paths import ROOT


def setup_of_the_docs() -> str:
    """Return the setup of the docs, with all grades and rubrics of the study."""
    page = (ROOT / "docs" / "files" / "annotation-tools.md").read_text(encoding="utf-8")
    setup = re.search(r"    <View>.*?</View>", page, re.DOTALL)[0]
    choices, labels = (
        re.search(rf" *<{tag} .*?</{tag}>\n", setup, re.DOTALL)[0] for tag in ("Choices", "Labels")
    )
    grade_choices = "".join(f'<Choice value="{grade}"/>' for grade in range(10))
    rubrics = ("graded", "answerable", "question-type")
    rubric_choices = "".join(
        f'<Choices name="{slug}" toName="text">{grade_choices}</Choices>' for slug in rubrics
    )
    of_spans = "".join(f'<Label value="{slug}"/>' for slug in rubrics)
    return setup.replace(choices, rubric_choices).replace(
        labels, labels.replace('<Label value="graded"/>', of_spans)
    )
