"""Origin of the text on the page of a reply, and the mark on a judge of the same family."""

from annotation.models import Text
from annotation.origins import origin
from judging.models import Judge
from tests.toolbox.responses import text_of_page


def test_page_tells_the_origin_and_marks_a_judge_of_the_writers_family(rosa, reply_study):
    url = reply_study.url(reply_study.first, "passage", 1)
    assert "Origin of the text: unknown" in text_of_page(rosa.get(url))
    Judge.objects.filter(pk=reply_study.first.pk).update(model="meta-llama/Llama-3.3-70B")
    Text.objects.update(origins=[origin("wrote", "llama-3"), origin("retrieved", "bm25")])
    page = text_of_page(rosa.get(url))
    assert "written by llama-3 (family llama); retrieved by bm25" in page
    assert f"{reply_study.first.slug}: judge and writer are of one family (llama)" in page
    Text.objects.update(origins=[origin("wrote", "gpt-4o")])
    assert "of one family" not in text_of_page(rosa.get(url))
