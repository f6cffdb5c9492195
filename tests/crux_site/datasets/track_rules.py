"""Rules of TREC tracks for files, from their guidelines and validators.

TREC RAG 2025: metadata with team, run and narrative; places within the references, of which there are at most
100, none twice; 400 words at most, counted by white space after NFKC. RAGTIME and NeuCLIR: metadata with team,
run and one of topic and request; names of texts, here also of the references.
"""

import unicodedata

STRINGS = (str,)


def n_words(text: str) -> int:
    return len(unicodedata.normalize("NFKC", text.strip()).split())


def faults_of_rag(lines: list[dict], topics: dict[str, str]) -> list[str]:
    faults = [] if len(lines) == len({_id(line) for line in lines}) else ["a topic is there twice"]
    for line in lines:
        metadata, references, answer = line["metadata"], line["references"], line["answer"]
        if not {"team_id", "run_id", "narrative_id"} <= metadata.keys():
            faults.append("metadata")
        if _id(line) not in topics or metadata.get("narrative") != topics[_id(line)]:
            faults.append("no topic of the track")
        if metadata["type"] not in ("automatic", "manual"):
            faults.append("type")
        if len(references) > 100 or len(set(references)) < len(references):
            faults.append("references")
        if not all(isinstance(name, str) for name in references):
            faults.append("names of references")
        if sum(n_words(sentence["text"]) for sentence in answer) > 400:
            faults.append("words")
        for sentence in answer:
            if set(sentence) != {"text", "citations"} or not isinstance(sentence["text"], str):
                faults.append("statement")
            if not all(type(n) is int and 0 <= n < len(references) for n in sentence["citations"]):
                faults.append("citation")
    return faults


def _id(line: dict) -> str:
    return str(line["metadata"].get("narrative_id", ""))


def faults_of_ragtime(lines: list[dict]) -> list[str]:
    faults = []
    topics = [
        line["metadata"].get("topic_id", line["metadata"].get("request_id")) for line in lines
    ]
    if len(set(topics)) < len(topics):
        faults.append("a topic is there twice")
    for line in lines:
        metadata = line["metadata"]
        if not all(isinstance(metadata.get(key), str) for key in ("team_id", "run_id")):
            faults.append("metadata")
        if ("topic_id" in metadata) == ("request_id" in metadata):
            faults.append("one of topic_id and request_id")
        for sentence in line["responses"]:
            if not isinstance(sentence["text"], str):
                faults.append("text")
            if not set(sentence["citations"]) <= set(line["references"]):
                faults.append("citation")
    return faults


def faults_of_nuggets(lines: list[dict], *, assigned: bool) -> list[str]:
    """Faults of a nuggetizer's file: scores need a weight and an assignment of each nugget."""
    faults = []
    for line in lines:
        for nugget in line["nuggets"]:
            if nugget["importance"] not in ("vital", "okay", "failed"):
                faults.append("importance")
            grades = ("support", "partial_support", "not_support", "failed")
            if assigned and nugget["assignment"] not in grades:
                faults.append("assignment")
        keys = {"query", "run_id", "answer_text", "response_length"}
        if not isinstance(line["qid"], str) or (assigned and not keys <= line.keys()):
            faults.append("line")
    return faults
