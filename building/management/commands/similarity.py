"""`manage.py similarity DATASET --server NAME --model MODEL`: cosine to references."""

from argparse import ArgumentParser
from typing import Any

from annotation.management.base import SiteCommand
from annotation.models import Dataset
from annotation.plurals import n_of
from building.asking.client import Client
from building.asking.embeddings import ServerEmbedder
from building.engine.similarity import Cosine, measure_of, measure_reports
from evaluation.data.selection import one_of
from judging.engine.grader_choice import addresses_of


class Command(SiteCommand):
    help = (
        "Cosines of reports and the references of their topics, by vectors of a server that speaks "
        "/v1/embeddings. It is no BERTScore. Values are kept and shown on the grid; again, it adds "
        "what is new."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("dataset", help="the dataset's slug")
        parser.add_argument("--server", required=True, help="a name of JUDGE_ENDPOINTS")
        parser.add_argument("--model", required=True, help="as the server calls it")
        parser.add_argument(
            "--tokens", type=int, help="of a text that are read; as many as the server tells"
        )
        parser.add_argument("--system", nargs="+", default=[], help="whose reports; all")

    def handle(self, *args: Any, **options: Any) -> None:
        slugs = Dataset.objects.values_list("slug", flat=True)
        dataset = Dataset.objects.get(slug=one_of("dataset", options["dataset"], slugs))
        client = Client(addresses_of(options["server"]), options["model"])
        nearness = Cosine(ServerEmbedder(client, options["tokens"]))
        stored = list(measure_reports(dataset, nearness, options["system"]))
        n, cut = (sum(counts) for counts in zip(*stored, strict=True)) if stored else (0, 0)
        self.stdout.write(f"{measure_of(nearness)}: {n_of(n, 'value', ',')}. Texts cut: {cut:,}.")
