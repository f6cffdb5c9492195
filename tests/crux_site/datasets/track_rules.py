"""What tracks of TREC ask of a file, as their guidelines and validators say it, in words of our own.

TREC RAG 2025: metadata with team, run and narrative; places within the references, of which there are at most
100, none twice; 400 words at most, counted by white space after NFKC. RAGTIME and NeuCLIR: metadata with team,
run and one of topic and request; names of texts, here also of the references.
"""

import unicodedata

STRINGS = (str,)


def words(text: str) -> int:
    return len(unicodedata.normalize("NFKC", text.strip()).split())


def faults_of_rag(lines: list[dict], topics: dict[str, str]) -> list[str]:
    found = [] if len(lines) == len({_id(line) for line in lines}) else ["a topic is there twice"]
    for line in lines:
        metadata, references, answer = line["metadata"], line["references"], line["answer"]
        if not {"team_id", "run_id", "narrative_id"} <= metadata.keys():
            found.append("metadata")
        if _id(line) not in topics or metadata.get("narrative") != topics[_id(line)]:
            found.append("no topic of the track")
        if metadata["type"] not in ("automatic", "manual"):
            found.append("type")
        if len(references) > 100 or len(set(references)) < len(references):
            found.append("references")
        if not all(isinstance(name, str) for name in references):
            found.append("names of references")
        if sum(words(each["text"]) for each in answer) > 400:
            found.append("words")
        for each in answer:
            if set(each) != {"text", "citations"} or not isinstance(each["text"], str):
                found.append("statement")
            if not all(type(n) is int and 0 <= n < len(references) for n in each["citations"]):
                found.append("citation")
    return found


def _id(line: dict) -> str:
    return str(line["metadata"].get("narrative_id", ""))


def faults_of_ragtime(lines: list[dict]) -> list[str]:
    found = []
    topics = [
        line["metadata"].get("topic_id", line["metadata"].get("request_id")) for line in lines
    ]
    if len(set(topics)) < len(topics):
        found.append("a topic is there twice")
    for line in lines:
        metadata = line["metadata"]
        if not all(isinstance(metadata.get(key), str) for key in ("team_id", "run_id")):
            found.append("metadata")
        if ("topic_id" in metadata) == ("request_id" in metadata):
            found.append("one of topic_id and request_id")
        for each in line["responses"]:
            if not isinstance(each["text"], str):
                found.append("text")
            if not set(each["citations"]) <= set(line["references"]):
                found.append("citation")
    return found


def faults_of_nuggets(lines: list[dict], *, assigned: bool) -> list[str]:
    """What a nuggetizer's scores are computed from: every nugget has a weight, and an assignment."""
    found = []
    for line in lines:
        for nugget in line["nuggets"]:
            if nugget["importance"] not in ("vital", "okay", "failed"):
                found.append("importance")
            grades = ("support", "partial_support", "not_support", "failed")
            if assigned and nugget["assignment"] not in grades:
                found.append("assignment")
        keys = {"query", "run_id", "answer_text", "response_length"}
        if not isinstance(line["qid"], str) or (assigned and not keys <= line.keys()):
            found.append("line")
    return found
