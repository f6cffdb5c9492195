"""Usual names of columns, and the roles that they stand for."""

from __future__ import annotations

import re
import unicodedata

from annotation.formats.tables.mapping import Role

_PLAIN = re.compile(r"[\s_.\-]+")
_NAMES = {
    Role.TOPIC: "topic_id qid query_id question_id example_id request_id narrative_id topicid id_topic thema",
    Role.REQUEST: (
        "question query prompt input user_input request topic frage vraag pregunta requête 问题 task narrative "
        "user_question inputs.question inputs.query vars.question attributes.input.value"
    ),
    Role.QUESTION: "subquestion sub_question nugget criterion claim aspect item",
    Role.QUESTION_NUMBER: "no number question_no question_number nr subquestion_number",
    Role.QUESTION_INDEX: "question_index subquestion_index",
    Role.TEXT: (
        "doc_id docid docno pid passage_id chunk_id text_id document_id report_id answer_id id"
    ),
    Role.CONTEXTS: (
        "contexts retrieved_contexts retrieval_context retrieved_context source_documents documents docs "
        "retrieved_documents"
    ),
    Role.GOLD: "reference_contexts gold_contexts ideal_contexts",
    Role.REFERENCE: (
        "reference ground_truth ground_truths gt_answer expected_output expected target ideal gold_answer gold "
        "reference_answer expected_answer correct_answer gold_standard"
    ),
    Role.SYSTEM: (
        "system system_id model model_name provider app_name run_id experiment pipeline variant bot"
    ),
    Role.RATER: (
        "rater rater_id annotator annotator_id coder worker worker_id participant judge evaluator "
        "reviewer user assessor"
    ),
    Role.RATER_KIND: "rater_kind rater_type",
    Role.RUBRIC: "rubric",
    Role.GRADE: (
        "grade score rating label relevance relevancy judgment judgement verdict vote note bewertung quality "
        "answerable"
    ),
    Role.COMMENT: "comment notes reason rationale explanation feedback remark",
    Role.SPAN: "quote span highlight evidence",
    Role.RUN: "run run_name tag",
    Role.RANK: "rank position",
    Role.KIND: "text_kind kind",
    Role.GROUP: "group category domain",
}
_ANSWER_NAMES = (
    "answer response output actual_output generated_answer completion prediction report summary antwort "
    "model_answer model_response model_output llm_answer llm_response system_answer bot_answer rag_answer "
    "generated_response predicted_answer "
    "outputs.answer outputs.output attributes.output.value"
)
_PASSAGE_NAMES = "passage context document chunk segment text body contents absatz content"


def plain_name(header: str) -> str:
    """Return a header as names are compared: lower case, no blanks, _, -, ., no plural s."""
    name = _PLAIN.sub("", unicodedata.normalize("NFC", header)).casefold()
    return name[:-1] if len(name) > 3 and name.endswith("s") else name


BY_NAME = {plain_name(name): role for role, names in _NAMES.items() for name in names.split()}
ANSWERS = {plain_name(name) for name in _ANSWER_NAMES.split()}
PASSAGES = {plain_name(name) for name in _PASSAGE_NAMES.split()}


def is_usual_name(header: str) -> bool:
    """Return whether a header is a usual name of a column with a role."""
    return plain_name(header) in {*BY_NAME} | ANSWERS | PASSAGES


def is_question(header: str) -> bool:
    """Return whether a header is a usual name of a request or a sub-question."""
    return BY_NAME.get(plain_name(header)) in (Role.REQUEST, Role.QUESTION)
