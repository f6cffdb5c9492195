"""Addresses of the adjudication pages of the served site."""

LIST = "/campaigns/differ-answerable/adjudication/"


def address(site, number: int) -> str:
    """Return the page of a question (from 1) of the report that all raters have rated."""
    ((item, question),) = site.rows(
        "select q.item_id, q.question_id from annotation_itemquestion q"
        " join annotation_item i on i.id = q.item_id"
        " join annotation_campaign c on c.id = i.campaign_id"
        " join annotation_text t on t.id = i.text_id"
        " where c.slug = 'differ-answerable' and t.system = 'annotated.oracle' and q.position = ?",
        number - 1,
    )
    return f"{LIST}{item}/{question}/"
