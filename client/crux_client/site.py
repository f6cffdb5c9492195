"""Site and Dataset: each method reads one list of the API as a pandas frame."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain
from typing import Any
from urllib.parse import quote

import httpx
import pandas as pd

from crux_client import frames
from crux_client.connection import Connection, Query

ROWS, NUMBERS = 1000, 10_000  # as many to a page as the API gives


class Site:
    """A site of the workbench, read as the account that a token belongs to.

    `url` is the address of its first page, `token` one of `/account/`; researchers and admins have a use for
    it. Where the site answers that it is busy (429, 503) a request waits as long as it says, and for
    `patience` seconds in all; then, as with every refusal, it raises SiteError with the site's sentence.
    `transport` is how requests travel, as httpx has it.
    """

    def __init__(
        self,
        url: str,
        token: str,
        *,
        patience: float = 120.0,
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        self._connection = Connection(url, token, patience, transport)

    def datasets(self) -> pd.DataFrame:
        """All datasets: slug, title, created, n_topics, n_questions, n_texts."""
        return _fetch_frame(self._connection, "datasets/", frames.DATASETS, {})

    def dataset(self, slug: str) -> Dataset:
        """A dataset by its slug. Raises SiteError where there is none."""
        return Dataset(
            self._connection, self._connection.get(f"datasets/{quote(slug, safe='')}/", {})
        )


class Dataset:
    """A dataset; a filter that is None does not filter."""

    def __init__(self, connection: Connection, row: dict[str, Any]) -> None:
        self.slug: str = row["slug"]
        self.title: str = row["title"]
        self._connection = connection

    def __repr__(self) -> str:
        return f"<Dataset {self.slug}>"

    def topics(self) -> pd.DataFrame:
        """The topics in the order of the study: id, name, position, request, n_questions."""
        return self._fetch_frame("topics", frames.TOPICS)

    def questions(self, *, topic: str | None = None) -> pd.DataFrame:
        """The questions, topic by topic, filtered ones too.

        Columns: id, topic, position (from 0), body, is_filtered, filtered_because, filtered_eta, origins.
        """
        return self._fetch_frame("questions", frames.QUESTIONS, topic=topic)

    def texts(
        self, *, topic: str | None = None, kind: str | None = None, system: str | None = None
    ) -> pd.DataFrame:
        """Texts with their words: id, kind, system, name, topic, body, sha256, origins.

        `kind` is passage, report or reference; `system` what generated a report. `body` is missing where
        runs or ratings name a text whose words the site does not have. `origins` is a list of the models that
        wrote it: role, model, and revision where it is known; empty where nothing is known.
        """
        return self._fetch_frame("texts", frames.TEXTS, topic=topic, kind=kind, system=system)

    def runs(self) -> pd.DataFrame:
        """The retrieval runs: name, tag, n_topics, n_ranked, origins."""
        return self._fetch_frame("runs", frames.RUNS)

    def raters(self) -> pd.DataFrame:
        """The raters: name, kind (human, model, baseline, aggregate), is_of_dataset."""
        return self._fetch_frame("raters", frames.RATERS)

    def ratings(
        self,
        *,
        rater: str | None = None,
        rubric: str | None = None,
        topic: str | None = None,
        kind: str | None = None,
        system: str | None = None,
    ) -> pd.DataFrame:
        """Grades, one line a rating, with the rater, the text and the question that each is of.

        A pair without a grade has no line. `spans` is a list of the marked words: start and end in code
        points of the text, half open. `topic` is that of the question. With pyarrow the ratings are read
        as one Parquet file if the site has it, otherwise as pages of JSON: the frame is the same.
        """
        path = f"datasets/{self.slug}/ratings/"
        query = _query_params(
            {"rater": rater, "rubric": rubric, "topic": topic, "kind": kind, "system": system}
        )
        if frames.can_read_parquet():
            file = self._connection.get_file(f"{path}parquet/", query, frames.PARQUET)
            if file is not None:
                return frames.ratings_of_parquet(file)
        return frames.ratings(_rows(self._connection.pages(path, query | {"limit": ROWS})))

    def agreement(
        self,
        *,
        scope: str | None = None,
        rubric: str | None = None,
        campaign: str | None = None,
        raters: Iterable[str] | None = None,
        judge: str | None = None,
        eta: int | None = None,
        majority: str | None = None,
        by: str | None = None,
    ) -> pd.DataFrame:
        """The numbers of the agreement page, a line each.

        Columns: scope, name, measure, value, low and high (of a 95% interval), n, missing, reason. A value
        that is undefined is NaN and has a reason; a count has a value and neither n nor missing. What is not
        given is chosen as on the page, and `.attrs["selection"]` says what was taken; `judge=""` takes none.
        Raises SiteError for a choice that is not there, with those that are.
        """
        names = (
            None if raters is None else ",".join([raters] if isinstance(raters, str) else raters)
        )
        return self._fetch_numbers(
            "agreement",
            scope=scope,
            rubric=rubric,
            campaign=campaign,
            raters=names,
            judge=judge,
            eta=eta,
            majority=majority,
            by=by,
        )

    def scores(
        self,
        *,
        scope: str | None = None,
        source: str | None = None,
        eta: int | None = None,
        cutoff: str | int | None = None,
        ideal: str | None = None,
        rules: str | None = None,
        questions: str | None = None,
    ) -> pd.DataFrame:
        """Scores of runs, systems with reports and reference bounds, a line a number.

        Columns as in `agreement`. `scope` is runs, reports or bounds for means over topics, and topic
        for each topic, named "ROW, TOPIC". `.attrs["selection"]` says what was chosen, also by default.
        Raises SiteError for a choice that is not there, or where nobody has rated.
        """
        return self._fetch_numbers(
            "scores",
            scope=scope,
            source=source,
            eta=eta,
            cutoff=cutoff,
            ideal=ideal,
            rules=rules,
            questions=questions,
        )

    def certificates(self) -> pd.DataFrame:
        """The judges that graded what people graded, each with the state of its certificate.

        Columns: judge, rubric, state (holds, not shown, void, not tested), void_because, tested, epsilon,
        winning_rate, advantage, n_pairs, n_topics; the last six are missing where nobody has tested.
        """
        return self._fetch_frame("certificates", frames.CERTIFICATES)

    def certificate(self, judge: str, rubric: str) -> dict[str, Any]:
        """The newest certificate of a judge under a rubric, with evidence, slices and parameters.

        Raises SiteError where nobody has tested the judge.
        """
        path = f"datasets/{self.slug}/certificates/{rubric}/{quote(judge, safe='')}/"
        return self._connection.get(path, {})

    def _fetch_frame(self, endpoint: str, columns: tuple[str, ...], **filters: Any) -> pd.DataFrame:
        return _fetch_frame(self._connection, f"datasets/{self.slug}/{endpoint}/", columns, filters)

    def _fetch_numbers(self, endpoint: str, **filters: Any) -> pd.DataFrame:
        query = _query_params(filters) | {"limit": NUMBERS}
        pages = list(self._connection.pages(f"datasets/{self.slug}/{endpoint}/", query))
        numbers = frames.frame(_rows(pages), frames.NUMBERS)
        numbers.attrs["selection"] = pages[0]["selection"]
        numbers.attrs["certificates"] = pages[0].get("certificates", "")  # of sites from before
        return numbers


def _fetch_frame(
    connection: Connection, path: str, columns: tuple[str, ...], filters: Query
) -> pd.DataFrame:
    pages = connection.pages(path, _query_params(filters) | {"limit": ROWS})
    return frames.frame(_rows(pages), columns)


def _rows(pages: Iterable[dict[str, Any]]) -> Iterable[dict[str, Any]]:
    return chain.from_iterable(page["results"] for page in pages)


def _query_params(filters: Query) -> dict[str, Any]:
    return {name: value for name, value in filters.items() if value is not None}
