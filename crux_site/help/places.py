"""From each room of the site to the section of the docs about it."""

import inspect

from django.urls import ResolverMatch, reverse

# By the folder of the room, whatever its addresses are called: the folder is the page. None opens the index.
PLACES = {
    "annotation.adjudication": "campaigns#where-raters-differ",
    "annotation.builder": "campaigns#building-for-a-crowd",
    "annotation.monitoring": "campaigns#while-it-runs",
    "annotation.participation": "campaigns#how-people-come-in",
    "annotation.people": "admins#accounts-and-roles",
    "annotation.rubrics": "admins#rubrics",
    "annotation.task": "workers",
    "building.filtering": "building#questions-that-no-passage-answers",
    "building.overview": "building#the-whole-way-by-one-command",
    "building.reports": "building#reading-reports",
    "building.review": "building#deciding",
    "building.runs": "building#making-a-run",
    "building.search": "building#searching",
    "building.side_by_side": "building#two-rankings-side-by-side",
    "building.writings": "building#writing",
    "crux_site.account": "api#a-token",
    "crux_site.admin": "admins#tables-as-they-are",
    "crux_site.api": "api",
    "crux_site.calibration": "metrics#calibration-of-a-judge",
    "crux_site.judge_ranking": "judging#judges-on-the-same-pairs",
    "crux_site.contents": "admins#history-and-what-can-be-taken-back",
    "crux_site.datasets": "researchers#overview",
    "crux_site.exports": "researchers#exports",
    "crux_site.history": "admins#history-and-what-can-be-taken-back",
    "crux_site.imports": "admins#import",
    "crux_site.projects": "admins#projects",
    "crux_site.versions": "admins#new-words",
    "crux_site.search": "researchers#finding-words",
    "evaluation.agreement": "researchers#agreement",
    "evaluation.by_type": "researchers#by-type-of-question",
    "evaluation.grid": "researchers#reports-against-references",
    "evaluation.labelling": "researchers#what-to-label-next",
    "evaluation.matrix": "researchers#rating-matrix",
    "evaluation.mixed_model": "metrics#tests",
    "evaluation.nuggets": "researchers#nuggets",
    "evaluation.pairs": "researchers#disagreements",
    "evaluation.paper": "tables",
    "evaluation.power": "metrics#tests",
    "evaluation.quality": "campaigns#quality",
    "evaluation.retrieval": "researchers#retrieval",
    "evaluation.seen": "researchers#recall-of-what-was-seen",
    "judging.attempts": "judging#what-a-reply-becomes",
    "judging.endpoints": "judging#model-servers-of-a-project",
    "judging.compare": "judging#looking-at-judges",
    "judging.judges": "judging#what-makes-a-judge",
    "judging.replies": "judging#what-a-reply-becomes",
    "judging.runs": "judging#a-run",
}


def help_with(match: ResolverMatch | None) -> str:
    """Where the help about the page at an address begins."""
    place = PLACES.get(folder_of(match)) if match else None
    if place is None:
        return reverse("help")
    name, _, anchor = place.partition("#")
    return reverse("help_page", args=[name]) + (f"#{anchor}" if anchor else "")


def folder_of(match: ResolverMatch) -> str:
    """The folder of a page, as `evaluation.agreement`."""
    view = getattr(match.func, "view_class", match.func)
    return ".".join(inspect.unwrap(view).__module__.split(".")[:2])
