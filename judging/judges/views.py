"""Pages of judges: list, detail, new."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.core.exceptions import PermissionDenied, ValidationError
from django.core.paginator import Paginator
from django.db import transaction
from django.db.models import Count
from django.http import Http404, HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from annotation.form_versions import for_post, locked_post
from annotation.http import AuthenticatedRequest, admins_only, is_key, researchers_only
from annotation.models import Dataset, Project, Rubric, User
from annotation.models.projects import visibility_filter
from annotation.models.rating import rater_name_in
from judging.engine import progress
from judging.engine.endpoints import choices_for, endpoint_named
from judging.engine.grader_choice import addresses_of
from judging.engine.judges import JudgeError, make_judge
from judging.forms import focus
from judging.grading import prompts
from judging.grading.parse import PARSERS
from judging.grading.presets import CONSTRAINTS, PRESETS
from judging.grading.prompt import check_template
from judging.grading.prompts import PromptFileError
from judging.judges.checks import required_placeholders
from judging.judges.family import FamilyForm
from judging.judges.forms import (
    JudgeForm,
    format_ids,
    of_constraint,
    of_file,
    of_judge,
    of_post,
    of_preset,
    rubric_text_of,
    spec_of,
)
from judging.judges.listing import KINDS, STATES, Listing
from judging.judges.parser_trial import changes_of, parser_trial_problem, try_parser
from judging.judges.preview import pick, preview
from judging.judges.trial import try_out
from judging.llm.errors import BackendError
from judging.llm.model_names import names_model
from judging.llm.probe import Probe, probe
from judging.models import Attempt, Judge, JudgeRun

RUNS_SHOWN = 20


@require_safe
@researchers_only
def judges(request: AuthenticatedRequest) -> HttpResponseBase:
    """List judges with the count of their replies, and judges imported from files."""
    user = request.user
    listing = Listing(user, request.GET)
    context = {
        "listing": listing,
        "page": listing.page,
        "kinds": KINDS,
        "states": STATES,
        "query": listing.query,
        "imported": progress.imported(user),
        "datasets": Dataset.objects.visible_to(user),
        "room": "judges",
    }
    return render(request, "judging/judges/judges.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
@researchers_only
@locked_post
def judge(request: AuthenticatedRequest, pk: int) -> HttpResponseBase:
    """Show a judge, with a preview of its prompt about any pair. POST: set the family by hand."""
    judges = Judge.objects.visible_to(request.user).select_related(
        "rater__dataset", "rubric", "created_by", "family_set_by"
    )
    judge = get_object_or_404(for_post(request, judges), pk=pk)
    if request.method != "POST":
        return _judge_page(request, judge, FamilyForm(instance=judge))
    if judge.is_baseline:
        raise Http404("A baseline is no model, and has no family.")
    if not _may_archive(request.user, judge):
        raise PermissionDenied(
            "Only admins can set the family of a judge that the site or several projects have."
        )
    form = FamilyForm(request.POST, instance=judge)
    if form.is_valid():
        form.store(judge, request.user)
        messages.success(request, f"The family of {judge} is saved.")
        return redirect("judge", pk)
    focus(form)
    judge.refresh_from_db(fields=["family_override"])  # the form has changed it
    return _judge_page(request, judge, form, 409 if form.conflicts else 422)


def _judge_page(
    request: AuthenticatedRequest, judge: Judge, family_form: FamilyForm, status: int = 200
) -> HttpResponseBase:
    user = request.user
    runs = judge.runs.visible_to(user).select_related("dataset", "created_by")
    recent = list(runs[:RUNS_SHOWN])
    tallies = progress.by_run(recent)
    own_dataset = judge.rater.dataset
    picked = None
    if judge.prompt:
        picked = pick(
            request.GET, [own_dataset] if own_dataset else list(Dataset.objects.visible_to(user))
        )
    context = {
        "judge": judge,
        "tally": progress.by_judge(user).get(judge.pk, progress.NOTHING),
        "datasets": [
            (dataset, rater_name_in(dataset, judge.rater), tally)
            for dataset, tally in progress.by_dataset(judge, user)
        ],
        "runs": [(run, tallies.get(run.pk, progress.NOTHING)) for run in recent],
        "n_runs": runs.count(),
        "kinds": Attempt.objects.filter(
            visibility_filter("batch__run__dataset", user), batch__run__judge=judge
        )
        .exclude(state="graded")
        .order_by()
        .values_list("failure")
        .annotate(n=Count("pk"))
        .order_by("-n", "failure"),
        "picked": picked,
        "all_datasets": Dataset.objects.visible_to(user),
        "sent": preview(judge.spec, picked),
        "may_archive": _may_archive(user, judge),
        "family_form": family_form,
        "room": "judges",
    }
    return render(request, "judging/judges/judge.html", context, status=status)


@require_POST
@admins_only
def judge_visibility(request: AuthenticatedRequest, pk: int) -> HttpResponseBase:
    """Make a judge visible to every researcher of the site, or only in its projects.

    Its projects are those where it runs.
    """
    judge = get_object_or_404(Judge.objects.select_related("rater"), pk=pk)
    is_site_wide = "everybody" in request.POST
    Judge.objects.filter(pk=pk).update(is_site_wide=is_site_wide)
    audience = (
        "every researcher of the site" if is_site_wide else "members of the projects where it runs"
    )
    messages.success(request, f"The judge {judge} is visible to {audience}.")
    return redirect("judge", pk)


@require_POST
@researchers_only
def judge_archive(request: AuthenticatedRequest, pk: int) -> HttpResponseBase:
    """Archive a judge, or restore it to the list and to new runs.

    Its grades stay as they are. Owners archive judges that only their projects have, admins any.
    """
    with transaction.atomic():
        judges = Judge.objects.visible_to(request.user)
        judge = get_object_or_404(judges.select_for_update(of=("self",)), pk=pk)
        if not _may_archive(request.user, judge):
            raise PermissionDenied(
                "Only admins can archive a judge that the site or several projects have."
            )
        is_restored = "restore" in request.POST
        open_run = judge.runs.filter(state__in=JudgeRun.OPEN).first()
        if open_run and not is_restored:
            messages.error(
                request,
                f"{open_run.display_name} is in progress: wait until it ends, or cancel it first.",
            )
            return redirect("judge", pk)
        archived = None if is_restored else (judge.archived or timezone.now())
        Judge.objects.filter(pk=pk).update(archived=archived)
    done = "restored to the list" if is_restored else "archived; its grades and replies are kept"
    messages.success(request, f"The judge {judge} is {done}.")
    return redirect("judge", pk)


def _may_archive(user: User, judge: Judge) -> bool:
    return Judge.objects.archivable_by(user).filter(pk=judge.pk).exists()


CHANGES_SHOWN = 50


@require_safe
@researchers_only
def parser_test(request: AuthenticatedRequest, pk: int) -> HttpResponseBase:
    """Try another parser on the stored replies of a judge. Nothing is stored."""
    judges = Judge.objects.visible_to(request.user).select_related("rater", "rubric")
    judge = get_object_or_404(judges, pk=pk)
    parser = request.GET.get("parser", "")
    if judge.parser not in PARSERS:
        raise Http404(f"{judge} has no replies to parse.")
    if parser and parser not in PARSERS:
        raise Http404(f"There is no parser {parser!r}. There are: {', '.join(PARSERS)}.")
    descriptions = {name: rules.says for name, rules in PARSERS.items() if not rules.reads_several}
    context: dict[str, Any] = {
        "judge": judge,
        "parsers": list(descriptions.items()),
        "none_because": parser_trial_problem(judge),
        "room": "judges",
    }
    if parser in descriptions and not context["none_because"]:
        tried = try_parser(judge, parser, request.user)
        page = Paginator(tried.changes, CHANGES_SHOWN).get_page(request.GET.get("page"))
        context |= {"tried": tried, "page": page, "says": PARSERS[parser].says}
        context["changes"] = list(changes_of(judge, list(page.object_list)))
    return render(request, "judging/judges/parser.html", context)


FIRST = "question-first"


@require_http_methods(["GET", "HEAD", "POST"])
@researchers_only
def judge_new(request: AuthenticatedRequest) -> HttpResponseBase:
    """Create a judge.

    All buttons but one only fill in the form, or show what it would send.
    """
    if not request.user.owns_any_project:
        raise PermissionDenied(
            "Judges are created by owners of a project, and by admins of the site. The page of your project "
            "names its owners."
        )
    if request.method != "POST":
        return _page(request, JudgeForm(user=request.user, initial=_beginning(request)))
    if "save" in request.POST:
        return _save(request)
    if "try" in request.POST:
        return _try(request)
    typed = of_post(request.POST)
    extra: dict[str, Any] = {}
    if "load" in request.POST and typed["prompt_file"]:
        typed |= _file(typed["prompt_file"])
    elif "family" in request.POST and typed["preset"] in PRESETS:
        typed |= of_preset(typed)
        extra = {"preset_note": PRESETS[typed["preset"]].note}
    elif "hold" in request.POST and typed["constraint"] in ("", *CONSTRAINTS):
        extra = _constrained(typed, request.user)
    elif "words" in request.POST:
        rubric = get_object_or_404(Rubric.objects.visible_to(request.user), slug=typed["rubric"])
        typed["wording"] = rubric_text_of(rubric)
    elif "ask" in request.POST:
        extra = _ask(typed, request.user)
    elif "look" in request.POST:
        required = required_placeholders(
            Rubric.objects.visible_to(request.user).filter(slug=typed["rubric"]).first()
        )
        extra = {"problems": check_template(typed["system"], typed["prompt"], required)}
    return _page(request, JudgeForm(user=request.user, initial=typed), **extra)


def _beginning(request: AuthenticatedRequest) -> dict[str, Any]:
    """Return initial values: the project in the URL, and a copy of its judge or a prompt."""
    return {"project": request.GET.get("project", "")} | _copied(request)


def _copied(request: AuthenticatedRequest) -> dict[str, Any]:
    if copied := request.GET.get("from"):
        models = Judge.objects.visible_to(request.user).exclude(backend=Judge.Backend.LEXICAL)
        copy = of_judge(get_object_or_404(models, pk=copied if is_key(copied) else None))
        parser = request.GET.get("parser")
        return copy | {"parser": parser} if parser in PARSERS else copy
    rubrics = Rubric.objects.offered().visible_to(request.user)
    rubric = get_object_or_404(rubrics, slug=request.GET.get("rubric") or "graded")
    return {
        **_file(request.GET.get("prompt") or FIRST),
        "rubric": rubric.slug,
        "wording": rubric_text_of(rubric),
    }


def _file(name: str) -> dict[str, Any]:
    try:
        return of_file(name)
    except PromptFileError as error:
        raise Http404(str(error)) from None


def _constrained(typed: dict[str, Any], user: User) -> dict[str, Any]:
    """Add the chosen form of reply to the further settings, or say why they are invalid."""
    rubric = get_object_or_404(Rubric.objects.visible_to(user), slug=typed["rubric"])
    try:
        typed |= of_constraint(typed, list(rubric.grades()))
    except ValidationError as error:
        return {"not_held": f"Further settings: {error.messages[0]}"}
    return {}


def _ask(typed: dict[str, Any], user: User) -> dict[str, Any]:
    """Probe a server for the model; return what it tells, or why there is no answer.

    The fields that its answer determines are filled in.
    """
    names = [name for name, _ in choices_for(user, *Project.objects.owned_by(user))]
    if typed["endpoint"] not in names:
        return {"silent": "Choose a server." if names else "This site has no server."}
    rubric = Rubric.objects.visible_to(user).filter(slug=typed["rubric"]).first()
    try:
        sent = JudgeForm.base_fields["extra"].clean(typed["extra"])
        row = endpoint_named(typed["endpoint"])
        project = row.project if row else None
        server = addresses_of(typed["endpoint"], project)[
            0
        ]  # they all serve the same, or are dropped
        facts = probe(
            server.url,
            server.key,
            typed["model"].strip(),
            labels=[str(grade) for grade in rubric.grades()] if rubric else [],
            template_kwargs=sent.get("chat_template_kwargs"),
            route=server.route,
        )
    except BackendError as error:
        return {"silent": str(error)}
    except ValidationError as error:
        return {"silent": f"No request was sent. Further settings: {error.messages[0]}"}
    _fill_in(typed, facts)
    is_named_otherwise = bool(facts.named) and facts.named == typed["reply_model"]
    return {"probe": facts, "is_named_otherwise": is_named_otherwise}


def _fill_in(typed: dict[str, Any], facts: Probe) -> None:
    if len(facts.models) == 1 and not typed["model"].strip():
        typed["model"] = facts.models[0]
    if facts.revision:
        typed["revision"] = facts.revision
    if facts.template_hash:
        typed["template_hash"] = facts.template_hash
    expected = typed["reply_model"].strip() or typed["model"].strip()
    if facts.named and not names_model(expected, facts.named, typed["revision"].strip()):
        typed["reply_model"] = facts.named
    if facts.label_ids:
        typed["label_ids"] = format_ids(facts.label_ids)


def _save(request: AuthenticatedRequest) -> HttpResponseBase:
    form = JudgeForm(request.POST, user=request.user)
    existing = None
    if form.is_valid():
        project = form.chosen_project()
        stored = (
            Judge.objects.filter(fingerprint=form.fingerprint()).select_related("rater").first()
        )
        # The same judge of another project, which this one could never make: its fingerprint is unique.
        if stored and project and not Judge.objects.visible_to(request.user).filter(pk=stored.pk):
            stored.projects.add(project)
            messages.success(
                request,
                f"The judge {stored} with these settings exists already. Members of {project} can see it.",
            )
            return redirect("judge", stored.pk)
        try:
            with transaction.atomic():
                created = make_judge(
                    form.cleaned_data["slug"], created_by=request.user, **form.fields_of_judge()
                )
                if project:
                    created.projects.add(project)
        except JudgeError as error:
            existing = Judge.objects.filter(fingerprint=form.fingerprint()).first()
            form.add_error(None if existing else "slug", str(error))
        else:
            messages.success(
                request, f"The judge {created} is created. Start a judge run to get grades."
            )
            return redirect("judge", created.pk)
    focus(form)
    return _page(request, form, 422, there=existing)


def _try(request: AuthenticatedRequest) -> HttpResponseBase:
    """Try the judge as typed on some pairs at the chosen server.

    It needs no name yet.
    """
    form = JudgeForm(request.POST, user=request.user)
    if set(form.errors) - {"slug"}:
        focus(form)
        return _page(request, form, 422)
    values = of_post(request.POST)
    typed = JudgeForm(user=request.user, initial=values)
    picked = pick(request.POST, list(Dataset.objects.visible_to(request.user)))
    endpoint = form.cleaned_data["endpoint"]
    try:
        if picked is None:
            raise BackendError("There is no dataset yet, so there are no pairs for a trial.")
        if not endpoint:
            raise BackendError("Choose a server under Model.")
        draft = form.draft()
        sent = request.POST.dict()
        other_judge = sent.get("other", "")
        if (
            not is_key(other_judge)
            or not Judge.objects.visible_to(request.user).filter(pk=other_judge).exists()
        ):
            sent["other"] = ""
        trial = try_out(draft.spec, draft.rubric, endpoint, picked, sent)
    except BackendError as error:
        return _page(request, typed, not_tried=str(error))
    if trial.named:
        typed = JudgeForm(user=request.user, initial=values | {"reply_model": trial.named})
    return _page(request, typed, trial=trial)


def _page(
    request: AuthenticatedRequest, form: JudgeForm, status: int = 200, **extra: Any
) -> HttpResponseBase:
    datasets = list(Dataset.objects.visible_to(request.user))
    picked = pick(request.POST, datasets)
    typed = of_post(request.POST) if form.is_bound else form.initial
    file = typed.get("prompt_file")
    context = {
        "form": form,
        "prompt_note": prompts.load(file).note if file in prompts.names() else "",
        "picked": picked,
        "all_datasets": datasets,
        "sent": preview(spec_of(typed), picked),
        "others": Judge.objects.visible_to(request.user)
        .filter(rubric__slug=typed.get("rubric"))
        .select_related("rater"),
        "room": "judges",
        **extra,
    }
    return render(request, "judging/judges/judge_new.html", context, status=status)
