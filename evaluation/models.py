"""Retrieval runs: named rankings of texts per topic."""

from django.db import models


class RetrievalRun(models.Model):
    """A named ranking of texts for each topic. One topic's list is a retrieval context, Z."""

    dataset = models.ForeignKey(
        "annotation.Dataset", on_delete=models.CASCADE, related_name="runs", db_index=False
    )
    name = models.CharField(max_length=120)
    tag = models.CharField(max_length=120, blank=True, help_text="the last column of its file")

    class Meta:
        ordering = ["dataset_id", "name"]
        constraints = [
            models.UniqueConstraint(fields=["dataset", "name"], name="run_name_unique"),
        ]

    def __str__(self) -> str:
        return self.name


class RankedText(models.Model):
    """A text at its rank, counted from 1, in the order of the run's file."""

    run = models.ForeignKey(
        RetrievalRun, on_delete=models.CASCADE, related_name="ranked", db_index=False
    )
    topic = models.ForeignKey("annotation.Topic", on_delete=models.CASCADE, related_name="ranked")
    text = models.ForeignKey("annotation.Text", on_delete=models.CASCADE, related_name="ranked")
    rank = models.PositiveIntegerField()
    score = models.FloatField(null=True)

    class Meta:
        ordering = ["run_id", "topic_id", "rank"]
        constraints = [
            models.UniqueConstraint(fields=["run", "topic", "rank"], name="rank_unique"),
            models.UniqueConstraint(fields=["run", "topic", "text"], name="ranked_text_unique"),
        ]

    def __str__(self) -> str:
        return f"{self.run} {self.topic} {self.rank}: {self.text}"
