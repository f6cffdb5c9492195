"""Options of recipe steps: parsing, validation, and their form fields."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from building.anserini.index import LANGUAGES
from building.retrieval import bm25
from building.retrieval.recipe import RecipeError
from evaluation.scoring.options import DEFAULT_ETA

Chosen = Literal["judge", "server", "run"]
Options = Mapping[str, str]


@dataclass(frozen=True)
class Option:
    """An option of a step: its key, its help text, and its default.

    `of`: it names one of these that there are. `is_file`: it names a file or folder of the server.
    """

    key: str
    says: str
    default: str = ""
    of: Chosen | None = None
    is_file: bool = False

    def words(self, options: Options) -> str:
        return options.get(self.key, self.default)

    def check(self, step: str, text: str) -> None:
        """Raise RecipeError for an invalid text; names are not looked up."""


@dataclass(frozen=True)
class Number(Option):
    most: float = 1.0

    def read(self, step: str, options: Options) -> float:
        return number(f"{step}: {self.key}", self.words(options), self.most)

    def check(self, step: str, text: str) -> None:
        self.read(step, {self.key: text})


@dataclass(frozen=True)
class WholeNumber(Option):
    def read(self, step: str, options: Options) -> int:
        text = self.words(options)
        if not text.isascii() or not text.isdecimal() or len(text) > 6:
            raise RecipeError(f"{step}: {self.key} is a whole number, not “{text}”.")
        return int(text)

    def read_optional(self, step: str, options: Options) -> int | None:
        return self.read(step, options) if self.key in options else None

    def check(self, step: str, text: str) -> None:
        self.read(step, {self.key: text})


@dataclass(frozen=True)
class ChoiceOption(Option):
    choices: tuple[str, ...] = ()

    def read(self, step: str, options: Options) -> str:
        text = self.words(options)
        if text not in self.choices:
            raise RecipeError(f"{step}: {self.key} is {' or '.join(self.choices)}, not “{text}”.")
        return text

    def check(self, step: str, text: str) -> None:
        self.read(step, {self.key: text})


def number(label: str, text: str, maximum: float) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0 <= value <= maximum:
        raise RecipeError(f"{label} is a number from 0 to {maximum:g}, not “{text}”.")
    return value


K1 = Number("k1", "term frequency saturation", str(bm25.K1), most=1_000.0)
B = Number("b", "length normalisation", str(bm25.B))
BACKGROUND = Option("background", "file with the statistics of a larger corpus", is_file=True)
LANGUAGE = ChoiceOption(
    "language", "language of the passages, for Lucene", "en", choices=tuple(LANGUAGES)
)
STATIC = Option("model", "the folder of a static model", is_file=True)
VECTORS = Option("vectors", "the folder of a static model, in place of a server", is_file=True)
RUN = Option("name", "a run of this dataset", of="run")
SERVER = Option("server", "a server that judge runs can use", of="server")
MODEL = Option("model", "name of the model at the server")
TOKENS = WholeNumber("tokens", "maximum tokens of a text; empty: as reported by the server")
TOKENS_OF_A_REPLY = WholeNumber("tokens", "maximum tokens of a reply; empty: chosen by the window")
KIND = ChoiceOption(
    "kind", "/v1/rerank, or /v1/score of vLLM", "rerank", choices=("rerank", "score")
)
WINDOW = WholeNumber("window", "passages in one request", "20")
STRIDE = WholeNumber("stride", "passages by which the window moves up", "10")
LAMBDA = Number("lambda", "1: the previous order; 0: only novelty", "0.5")
LAMBDA_OF_QUESTIONS = Number("lambda", "0: the previous order; 1: only the questions", "0.5")
JUDGE = Option("judge", "whose grades", of="judge")
AGGREGATE = ChoiceOption(
    "aggregate",
    "the sum of the grades, or the text that adds most answers",
    "sum",
    choices=("sum", "coverage"),
)
ETA = WholeNumber("eta", "the grade from which a passage answers", str(DEFAULT_ETA))
BY = ChoiceOption(
    "by",
    "by ranks, raw scores, or scores scaled to 0..1",
    choices=("rrf", "raw", "minmax"),
    default="rrf",
)
K = WholeNumber("k", "of rrf: 1 / (k + rank)", "60")
WEIGHTS = Option("weights", "weight of each ranking, such as 2:1")
