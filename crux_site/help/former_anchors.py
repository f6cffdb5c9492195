"""Former anchors of help pages, so that old addresses still lead to their sections."""

# Former anchors of renamed headings, by path and anchor.
FORMER_ANCHORS: dict[str, dict[str, str]] = {
    "CONTRIBUTING.md": {
        "structure-of-the-code": "the-way-through-the-code",
        "import-rules": "who-may-import-whom",
        "benchmark-of-the-task-pages": "the-bench-of-the-task-pages",
        "benchmark-of-a-crowd": "the-bench-of-a-crowd",
    },
    "README.md": {
        "main-features": "why-take-it",
        "documentation": "where-to-read-on",
        "architecture": "the-rooms-of-the-house",
    },
    "bench/README.md": {
        "benchmarks": "measuring",
        "smoke-runs-of-all-benchmarks": "all-benches-at-a-tiny-size",
        "task-pages-effort-and-load-time": "the-task-pages-what-a-person-does",
        "result-pages-layout": "the-result-pages-where-the-numbers-are",
        "metrics-against-other-libraries": "the-metrics-beside-what-else-computes-them",
        "result-pages-while-people-annotate": "results-while-people-work",
        "result-pages-of-a-large-study": "pages-of-a-large-study",
        "coverage-of-the-intervals": "how-often-the-intervals-hold",
        "throughput-against-a-minimal-insert-server": "beside-the-minimal-insert-server",
        "cpu-time-of-one-answer": "where-an-answers-time-goes",
        "building-a-collection": "what-building-does-with-the-database-and-its-client",
    },
    "docs/admins.md": {
        "imports-during-a-study": "what-an-import-does-to-a-running-study",
        "guarantees-of-an-import": "what-you-can-rely-on",
        "monitoring": "watching-it",
        "database-tables": "tables-as-they-are",
        "text-edits": "new-words",
        "text-edits-by-an-import": "new-words-by-an-import",
    },
    "docs/campaigns.md": {
        "monitoring-a-campaign": "while-it-runs",
        "how-participants-join": "how-people-come-in",
        "studies-among-colleagues": "among-colleagues",
        "settings-of-a-draft": "building-for-a-crowd",
    },
    "docs/researchers.md": {
        "search": "finding-words",
        "systems": "retrieval",
        "matrix": "rating-matrix",
        "question-types": "by-type-of-question",
        "from-a-number-to-the-text-in-three-clicks": "from-a-number-to-the-words-in-three-clicks",
        "basic-terms": "the-words",
    },
    "docs/fleet.md": {
        "reproducibility": "how-much-of-this-can-be-repeated",
        "cost": "what-it-costs",
    },
    "docs/judging.md": {
        "inspecting-judges": "looking-at-judges",
        "judge-runs": "a-run",
        "trial-of-a-judge": "try-before-it-counts",
        "parameters-of-servers": "what-a-server-takes",
        "definition-of-a-judge": "what-makes-a-judge",
    },
    "docs/building.md": {
        "filter-questions-by-their-grades": "questions-kept-by-their-grades",
        "writing-tasks-and-failures-of-replies": "writing-tasks-and-what-a-reply-can-fail-by",
        "models-on-servers": "models-at-servers",
        "lucene-in-a-child-process": "lucene-itself",
        "bm25-as-in-lucene": "as-lucene-ranks",
        "creating-a-retrieval-run": "making-a-run",
        "search": "searching",
        "reports": "reading-reports",
        "review-of-outputs": "deciding",
        "the-whole-pipeline-in-one-command": "the-whole-way-by-one-command",
    },
    "docs/api.md": {
        "rate-limits": "how-often",
        "errors": "when-something-is-refused",
        "ratings-of-an-external-judge": "ratings-of-a-judge-that-works-elsewhere",
        "agreement-and-scores": "numbers",
        "pagination": "pages",
        "permissions": "who-may-do-what",
        "tokens": "a-token",
    },
    "docs/comparison.md": {
        "features-that-we-found-nowhere-else": "what-we-know-of-nobody-else",
        "measured-server": "what-the-server-does-measured",
        "measured-annotation": "what-people-do-measured",
        "purpose-of-each-tool": "what-each-is-for",
    },
    "docs/client.md": {
        "calls-and-data-frames": "what-there-is",
    },
    "docs/replies.md": {
        "two-numbers-without-a-grade": "two-numbers-and-so-no-grade",
    },
    "docs/faq.md": {
        "the-same-judge-gives-another-grade-the-second-time": "the-same-judge-grades-otherwise-the-second-time",
        "if-nothing-here-helps": "when-nothing-here-helps",
        "before-you-start": "before-you-begin",
    },
    "docs/tables.md": {
        "definitions": "what-the-numbers-are",
        "output-files": "what-is-written",
        "on-the-command-line": "by-a-command",
    },
    "docs/deploy/containers.md": {
        "data-and-backup": "what-is-kept",
    },
    "docs/terms.md": {
        "grades-and-raters": "grades-and-who-gives-them",
        "metrics": "what-is-scored",
        "agreement-of-raters": "how-far-raters-agree",
    },
    "docs/workers.md": {
        "how-you-join-a-study": "coming-in",
    },
    "docs/papers/crux.md": {
        "not-reproduced": "what-cannot-be-reproduced-and-why",
        "reproduced-results": "what-is-reproduced",
        "open-points-of-the-paper": "what-the-paper-leaves-open-and-what-is-done-here",
    },
    "docs/papers/rel-and-rel-prime.md": {
        "not-reproduced": "what-cannot-be-reproduced",
        "reproduced-results": "what-is-reproduced",
        "open-points-of-the-paper": "what-the-paper-leaves-open-and-what-is-done-here",
        "definitions": "the-numbers",
    },
    "docs/papers/nuggets.md": {
        "not-reproduced": "what-it-cannot-and-why",
        "reproduced-results": "what-this-reproduces",
    },
    "docs/papers/crud-rag.md": {
        "differences-of-paper-and-code": "what-the-paper-says-and-what-the-code-does",
        "not-reproduced": "what-it-cannot-and-why",
        "reproduced-results": "what-this-reproduces",
    },
    "docs/papers/know-your-rag.md": {
        "open-points-of-the-paper": "what-the-paper-leaves-open-and-what-is-done",
        "storage-of-a-pair": "how-a-pair-is-kept",
        "not-reproduced": "what-it-cannot-and-why",
        "reproduced-results": "what-this-reproduces",
    },
}

# docs/files.md had the sections of the pages below it: its links to them have their former anchors as ids. An
# anchor is unchanged unless it is listed here, by link.
_SPLIT_PAGE = "docs/files.md"
_RENAMED = {
    "campaigns.md#export": "the-export-of-a-campaign",
    "files/annotation-tools.md": "annotation-tools",
    "files/datasets.md#notesjsonl": "notesjsonl-ours",
    "files/datasets.md#reports_citedjsonl": "reports_citedjsonl-ours",
    "files/datasets.md#systemsjsonl": "systemsjsonl-ours",
    "files/datasets.md#text_historyjsonl": "text_historyjsonl-ours",
    "files/datasets.md#valuesjsonl": "valuesjsonl-ours",
    "files/datasets.md#writersjsonl-and-writtenjsonl": "writersjsonl-and-writtenjsonl-ours",
    "files/exports.md#export-of-a-whole-dataset": "what-an-export-of-a-whole-dataset-gives",
    "files/exports.md#the-page-exports": "the-page-of-exports",
    "files/ratings.md#ratersjsonl": "ratersjsonl-ours",
    "files/retrieval.md#originsjsonl": "originsjsonl-ours",
    "judging.md#attempts-as-files": "attempts-of-a-judge",
}


def former_anchor_of_link(path: str, href: str) -> str:
    """Return the anchor that the target of a link had in docs/files.md; empty if it had none."""
    if path != _SPLIT_PAGE:
        return ""
    default = href.partition("#")[2] if href.startswith("files/") else ""
    return _RENAMED.get(href, default)
