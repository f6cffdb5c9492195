"""Metrics of the paper's tables: their keys in files, and their titles."""

from __future__ import annotations

from dataclasses import dataclass

from evaluation.replications.crux_paper.table_layout import Column


@dataclass(frozen=True, slots=True)
class Metric:
    """Metric of a retrieval context Z or of a report y, with plain and LaTeX titles.

    `score` is its name among the scores of a row, and `of_report` selects the row of a system.
    """

    key: str
    title: str
    latex: str
    score: str
    of_report: bool = False

    def column(self, prefix: str = "", group: str = "") -> Column:
        return Column(f"{prefix}{self.key}", self.title, self.latex, group)


COVERAGE_Z = Metric("coverage_z", "Cov(Z)", "Cov($Z$)", "coverage")
ALPHA_NDCG = Metric("alpha_ndcg", "α-nDCG", r"$\alpha$-nDCG", "alpha_ndcg")
COVERAGE_Y = Metric("coverage_y", "Cov(y)", "Cov($y$)", "coverage", of_report=True)
DENSITY_Z = Metric("density_z", "Den(Z)", "Den($Z$)", "density")
DENSITY_Y = Metric("density_y", "Den(y)", "Den($y$)", "density", of_report=True)
RECALL = Metric("recall", "Recall", "Recall", "recall")
MAP = Metric("average_precision", "MAP", "MAP", "average_precision")
NDCG = Metric("ndcg", "nDCG", "nDCG", "ndcg")

# Depth of the values of a line.
SIZE_Z = Column("passages_z", "|Z|", "$|Z|$", is_ranked=False)

TABLE_1 = (COVERAGE_Z, ALPHA_NDCG, COVERAGE_Y, DENSITY_Z, DENSITY_Y)
TABLE_3 = (COVERAGE_Z, ALPHA_NDCG, RECALL, MAP, NDCG, DENSITY_Z)
FIGURE_5 = (COVERAGE_Z, RECALL, MAP, NDCG, ALPHA_NDCG, COVERAGE_Y)

# The report metric that each retrieval metric is correlated with: coverage, or density.
AGAINST = {
    COVERAGE_Z: COVERAGE_Y,
    ALPHA_NDCG: COVERAGE_Y,
    RECALL: COVERAGE_Y,
    MAP: COVERAGE_Y,
    NDCG: COVERAGE_Y,
    DENSITY_Z: DENSITY_Y,
}
