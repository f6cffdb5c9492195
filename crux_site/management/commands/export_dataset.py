"""manage.py export_dataset SLUG --format crux --out DIR"""

import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser

from annotation.formats import gradings, long_table, qlabels, qrels, tracks
from annotation.formats import qac as pairs
from annotation.formats.foreign import qac
from annotation.formats.trec_qrels import QRELS
from annotation.management.base import SiteCommand
from annotation.models import Dataset, Rater, Rating
from annotation.models.rating import raters_of
from annotation.models.standard import GRADED, IMPORTANCE, UMBRELA
from building.formats import answers
from crux_site.datasets.export import write
from crux_site.exports.folders import FOLDERS
from crux_site.exports.publication import PublicationMetadata
from evaluation.data.selection import raters_under
from evaluation.formats.trec_run import ForTrecTools
from evaluation.models import RetrievalRun

OF_TRACKS = (*answers.LINES, "topics", "requests", "nuggets", "assignments", "trec-qrels")


class Command(SiteCommand):
    help = "Write a dataset as a folder that import_dataset reads, or as a single file."
    expected_errors = (OSError,)

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("dataset", metavar="SLUG")
        parser.add_argument(
            "--format",
            choices=[
                *FOLDERS,
                *("long", "qlabels", "qrels", "run"),
                *OF_TRACKS,
                *QRELS,
                *pairs.PAIRS,
                *gradings.TOOLS,
            ],
            default="crux",
            help="crux: the whole dataset, a folder. publication: the same with a datasheet. hugging-face: a "
            "folder for the hub, as Parquet with a card. long: one row a rating, .csv or .jsonl. "
            "qlabels, qrels: the T1 or T2 labels of --rater. run: the ranking of --run, for tools "
            "that sort by score. As tracks of TREC have them: topics, requests, the answers of "
            "--system (trec-rag, ragtime), nuggets, assignments of --rater, and trec-qrels, "
            "grades of --rater for whole requests. graded-qrels, diversity-qrels: grades of passages by "
            "--rater, the highest of a topic or each by its question. qac: questions with their contexts "
            "and answers, as docling-sdg has them. t5: the same to train T5 on. For annotation tools, all "
            "grades and spans: label-studio, argilla and web-annotation (a .json), potato (a .jsonl)",
        )
        parser.add_argument("--out", required=True, help="a new folder, a file, or - for stdout")
        parser.add_argument(
            "--rater",
            metavar="NAME",
            help="for qlabels, qrels, nuggets, assignments, trec-qrels; for qac whose critiques are "
            f"written, by default {qac.CRITIC}; for t5 who says the types, by default {qac.REQUESTED}",
        )
        parser.add_argument("--run", metavar="NAME", help="for run")
        parser.add_argument(
            "--system",
            default="",
            help="for qlabels and qrels: labels of the reports of this system, or of the "
            "reference summaries ('reference'), and not the usual ones; for trec-rag and ragtime "
            "whose answers; for assignments of whose reports, all if it is left out",
        )
        parser.add_argument(
            "--rubric",
            help=f"for trec-qrels, by default {UMBRELA.slug}; for graded-qrels and diversity-qrels, by "
            f"default {GRADED.slug}",
        )
        for name in ("licence", "creator", "url"):
            parser.add_argument(
                f"--{name}",
                default="",
                help="for publication and hugging-face: what they say of it",
            )
        parser.add_argument("--team", metavar="NAME", help="for trec-rag and ragtime: the team_id")
        parser.add_argument(
            "--type", choices=answers.TYPES, default=answers.AUTOMATIC, help="for trec-rag"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        dataset = Dataset.objects.filter(slug=options["dataset"]).first()
        if dataset is None:
            raise CommandError(f"There is no dataset {options['dataset']}.")
        if options["format"] in FOLDERS:
            if options["out"] == "-":
                raise CommandError("A whole dataset is a folder: --out needs its name.")
            metadata = PublicationMetadata(options["licence"], options["creator"], options["url"])
            summary = FOLDERS[options["format"]](dataset, Path(options["out"]), metadata)
            self.stdout.write(str(summary))
        elif options["format"] == "run":
            run = ForTrecTools(self._run(dataset, options["run"]))
            self._write(run.lines(), options["out"])
            if run.note:
                self.stderr.write(run.note)
        else:
            self._write(self._lines(dataset, options), options["out"])

    def _write(self, lines: Iterator[str], out: str) -> None:
        if out == "-":
            sys.stdout.writelines(lines)
        else:
            n = write(Path(out), lines)
            self.stdout.write(f"{n}  {out}" if n else "There is nothing to write.")

    def _run(self, dataset: Dataset, name: str | None) -> RetrievalRun:
        run = RetrievalRun.objects.filter(dataset=dataset, name=name or "").first()
        if run is None:
            names = ", ".join(dataset.runs.values_list("name", flat=True))
            if not names:
                raise CommandError(f"{dataset.slug} has no retrieval runs.")
            raise CommandError(f"--run must be one of: {names}.")
        return run

    def _lines(self, dataset: Dataset, options: dict[str, Any]) -> Iterator[str]:
        if options["format"] == "long":
            return self._table(dataset, options["out"])
        if options["format"] in OF_TRACKS:
            return self._of_a_track(dataset, options)
        if options["format"] in pairs.PAIRS:
            return self._pairs(dataset, raters_of(dataset), options)
        if options["format"] in gradings.TOOLS:
            if n := gradings.n_aggregated(dataset):
                self.stderr.write(f"Grades left out, for they are aggregates of others: {n:,}.")
            return gradings.TOOLS[options["format"]](dataset)
        rater = self._rater(raters_of(dataset), options["rater"])
        if options["format"] in QRELS:
            return QRELS[options["format"]](dataset, rater, options["rubric"] or GRADED.slug)
        format_ = qlabels if options["format"] == "qlabels" else qrels
        return format_.lines(dataset, rater, options["system"])

    def _rater(self, raters: Mapping[str, Rater], name: str | None) -> Rater:
        if name is None or name not in raters:
            if not raters:
                raise CommandError("The dataset has no raters.")
            raise CommandError(f"--rater must be one of: {', '.join(sorted(raters))}.")
        return raters[name]

    def _of_a_track(self, dataset: Dataset, options: dict[str, Any]) -> Iterator[str]:
        form = options["format"]
        if form in answers.LINES:
            return self._answers(dataset, options)
        if form in ("topics", "requests"):
            return tracks.topics(dataset) if form == "topics" else tracks.requests(dataset)
        if form == "nuggets":
            return tracks.nuggets(dataset, self._weigher(dataset, options["rater"]))
        rater = self._rater(raters_of(dataset), options["rater"])
        if form == "trec-qrels":
            return tracks.trec_qrels(dataset, rater, options["rubric"] or UMBRELA.slug)
        weighed = Rating.objects.of_dataset(dataset).filter(
            rater=rater, rubric__slug=IMPORTANCE.slug
        )
        weigher = rater if weighed.exists() else self._weigher(dataset, None)
        return tracks.assignments(dataset, rater, weigher, options["system"])

    def _weigher(self, dataset: Dataset, name: str | None) -> Rater | None:
        """Return the rater of nugget importance of this name, else the nuggets page's default."""
        weighers = {column.name: column.pk for column in raters_under(dataset, IMPORTANCE.slug)}
        if name is not None and name not in weighers:
            if not weighers:
                message = f"Nobody has rated nuggets under {IMPORTANCE.slug}: leave out --rater."
                raise CommandError(message)
            raise CommandError(f"--rater must be one of: {', '.join(weighers)}.")
        return (
            Rater.objects.filter(pk=weighers[name or next(iter(weighers))]).first()
            if weighers
            else None
        )

    def _answers(self, dataset: Dataset, options: dict[str, Any]) -> Iterator[str]:
        if not options["team"]:
            raise CommandError("--team is missing: each line of a run says whose it is.")
        run = answers.Run(options["system"], options["team"], options["type"])
        notes: Counter[str] = Counter()
        yield from answers.lines(dataset, options["format"], run, notes)
        for note, n in notes.items():
            if n:
                self.stderr.write(f"{n}  {note}")

    def _pairs(
        self, dataset: Dataset, raters: dict[str, Rater], options: dict[str, Any]
    ) -> Iterator[str]:
        rater_name = options["rater"]
        if rater_name:
            self._rater(raters, rater_name)
        if n := pairs.n_filtered(dataset):
            self.stderr.write(f"Pairs left out, for their questions are filtered: {n:,}.")
        return pairs.PAIRS[options["format"]](dataset, raters.get(rater_name or ""))

    def _table(self, dataset: Dataset, out: str) -> Iterator[str]:
        if out == "-" or out.endswith(".csv"):
            return long_table.csv_lines(dataset)
        if out.endswith(".jsonl"):
            return long_table.jsonl_lines(dataset)
        raise CommandError("--out of the long table ends with .csv or .jsonl.")
