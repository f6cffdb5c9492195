"""Generation tasks and their prompts: passages, requests, questions, nuggets, reports."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from building.writing import pairs, parse, prompt_files
from building.writing.outputs import ParsedReply, Product, Source, Statement
from judging.llm.sampling import Sampling

__all__ = [
    "TASKS",
    "ParsedReply",
    "Product",
    "Source",
    "Statement",
    "Task",
    "check_prompt",
    "render",
    "shown_passages",
]

Message = dict[str, str]
PLACEHOLDERS = (
    *("document", "request", "context", "have", "n", "words", "max_words"),
    *("kind", "type", "statement"),
)
NO_QUESTIONS = "(none so far)"
_PLACEHOLDER = re.compile(r"\{(" + "|".join(PLACEHOLDERS) + r")\}")
_LOOKS_LIKE_ONE = re.compile(r"\{\s*([^\W\d]\w*)\s*\}")
_PLACEHOLDER_NAMES = {
    "document": "the document",
    "request": "the request",
    "context": "the passages of the context",
    "kind": "the type of question that is wanted",
    "statement": "the statement that it is made from",
}


@dataclass(frozen=True)
class Task:
    """A generation task: its prompt's placeholders, defaults, and reply parser.

    `allowed` are the placeholders of its prompts, `required` those that must be there; `n` is how many
    are asked for and `words` how long each shall be, where a source says neither. `max_tokens` of the
    sampling is what these need; a length asked for has its own.
    """

    name: str
    title: str
    says: str
    allowed: frozenset[str]
    required: frozenset[str]
    sampling: Sampling
    n: int
    words: int
    reader: Callable[[str, str | None, Source], ParsedReply]

    @property
    def wording(self) -> prompt_files.PromptText:
        """Return the default prompt, which people may replace."""
        return prompt_files.load(self.name)

    @property
    def system(self) -> str:
        return self.wording.system

    @property
    def prompt(self) -> str:
        return self.wording.prompt

    @property
    def shows_existing(self) -> bool:
        """Return whether its prompt lists existing items, so that the rest can be asked for."""
        return "have" in self.allowed

    def read(self, reply: str, finish_reason: str | None, source: Source) -> ParsedReply:
        """Parse a reply. Any text gives a result, and none raises.

        `finish_reason` is the server's: "stop", "length" and the like; None or "" where it tells none.
        """
        return self.reader(reply, finish_reason, self.whole(source))

    def whole(self, source: Source) -> Source:
        """Fill in the task's default number and length where the source has none."""
        return replace(source, n=source.n or self.n, words=source.words or self.words)


def _task(
    name: str,
    title: str,
    description: str,
    may: str,
    must: str,
    max_tokens: int,
    n: int,
    n_words: int,
) -> Task:
    return Task(
        name=name,
        title=title,
        says=description,
        allowed=frozenset(f"{may} {must}".split()),
        required=frozenset(must.split()),
        sampling=Sampling(0.7, 0.95, max_tokens, seed=None, logprobs=False),
        n=n,
        words=n_words,
        reader=_READERS[name],
    )


_READERS = {
    "passages": parse.read_passages,
    "request": parse.read_request,
    "questions": parse.read_questions,
    "nuggets": parse.read_nuggets,
    "report": parse.read_report,
    "direct": parse.read_report,
    "pairs": pairs.read_pair,
    "statements": pairs.read_statements,
}
_TASKS = (
    _task(
        "passages",
        "Passages of a document",
        "Rewrites a document as two or three self-contained passages.",
        may="n words",
        must="document",
        max_tokens=1_200,
        n=3,
        n_words=200,
    ),
    _task(
        "request",
        "Request for a report",
        "Writes the request that a report (such as a reference summary) would answer.",
        may="words",
        must="document",
        max_tokens=300,
        n=1,
        n_words=50,
    ),
    _task(
        "questions",
        "Sub-questions",
        "Writes self-contained questions that a summary answers.",
        may="request n have",
        must="document",
        max_tokens=1_000,
        n=10,
        n_words=0,
    ),
    _task(
        "nuggets",
        "Nuggets",
        "Writes facts that a good answer to the request contains, each with its importance.",
        may="n have",
        must="request document",
        max_tokens=1_000,
        n=10,
        n_words=0,
    ),
    _task(
        "report",
        "Report from passages",
        "Writes a report for the request from the passages of a run, with citations.",
        may="words max_words",
        must="request context",
        max_tokens=600,
        n=1,
        n_words=300,
    ),
    _task(
        "direct",
        "Report without passages",
        "Writes a report for the request from the model’s own knowledge, without passages.",
        may="words max_words",
        must="request",
        max_tokens=600,
        n=1,
        n_words=300,
    ),
    _task(
        "statements",
        "Statements of a passage",
        "Extracts facts, summaries and conclusions of a passage, as a basis for questions.",
        may="",
        must="document",
        max_tokens=1_000,
        n=1,
        n_words=0,
    ),
    _task(
        "pairs",
        "Typed questions with answers",
        "Writes a question of a given type about a passage or one of its statements, and the answer.",
        may="type",
        must="document kind statement",
        max_tokens=400,
        n=1,
        n_words=0,
    ),
)
TASKS: Mapping[str, Task] = {task.name: task for task in _TASKS}


def render(task: Task, system: str, prompt: str, source: Source) -> list[Message]:
    """Render the chat messages: the system message, if any, then the user's.

    All placeholders are put in at once, so that braces in a text reach the model as they are. {context}
    are the passages numbered from 1, {have} the questions numbered from 1.
    """
    source = task.whole(source)
    values = {
        "document": source.document,
        "request": source.request,
        "context": "\n\n".join(shown_passages(source.passages)),
        "have": _numbered(source.existing) or NO_QUESTIONS,
        "n": str(source.n),
        "words": str(source.words),
        "max_words": str(source.max_words or source.words),
        "kind": pairs.KINDS.get(source.kind, ""),
        "type": source.kind,
        "statement": f" Ask for this: {source.statement}" if source.statement else "",
    }

    def filled(template: str) -> str:
        return _PLACEHOLDER.sub(
            lambda match: values[match[1]] if match[1] in task.allowed else match[0], template
        )

    messages = [{"role": "user", "content": filled(prompt)}]
    if system:
        messages.insert(0, {"role": "system", "content": filled(system)})
    return messages


def shown_passages(passages: Sequence[tuple[str, str]]) -> list[str]:
    """Format passages (name, body) as a prompt shows them; tokens are counted on this."""
    return [f"[{number}] {' '.join(body.split())}" for number, (_, body) in enumerate(passages, 1)]


def check_prompt(task: Task, prompt: str, system: str = "") -> list[str]:
    """Validate a prompt; return a sentence for each problem.

    A name in braces must be a placeholder of the task. Other braces are words like any others.
    """
    if not prompt.strip():
        return ["The prompt is empty."]
    both = f"{system}\n{prompt}"
    allowed = ", ".join(f"{{{name}}}" for name in PLACEHOLDERS if name in task.allowed)
    problems = [
        f"{written} is not a placeholder of this task. There are {allowed}."
        for written in dict.fromkeys(match[0] for match in _LOOKS_LIKE_ONE.finditer(both))
        if not _PLACEHOLDER.fullmatch(written) or written[1:-1] not in task.allowed
    ]
    used = {match[1] for match in _PLACEHOLDER.finditer(both)}
    if "type" in used:  # by its name, as a tuned model knows it, it is shown too
        used.add("kind")
    problems += [
        f"The prompt does not show {_PLACEHOLDER_NAMES[name]}: it needs {{{name}}}."
        for name in PLACEHOLDERS
        if name in task.required - used
    ]
    return problems


def _numbered(questions: Sequence[str]) -> str:
    return "\n".join(
        f"{number}. {' '.join(question.split())}" for number, question in enumerate(questions, 1)
    )
