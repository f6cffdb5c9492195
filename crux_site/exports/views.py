"""A dataset as files: the page that offers them, and each of them."""

from django.http import FileResponse, Http404, HttpResponseBase, StreamingHttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_safe

from annotation.formats.writing import ExportError
from annotation.http import AuthenticatedRequest, researchers_only
from annotation.models import Dataset
from crux_site.datasets.carried import NOT_CARRIED
from crux_site.exports.folders import one_file
from crux_site.exports.page import offered, sections
from crux_site.exports.params import StatedForm
from evaluation.data.selection import SelectionError
from evaluation.http import refusal

TYPES = {
    "csv": "text/csv; charset=utf-8",
    "jsonl": "application/jsonl; charset=utf-8",
    "parquet": "application/vnd.apache.parquet",
    "zip": "application/zip",
}
# What the addresses of before are called now: export/?format=...&rater=...
MOVED = {
    "csv": "ratings.csv",
    "jsonl": "ratings.jsonl",
    "qlabels": "labels/{}.t1-labels.jsonl",
    "qrels": "labels/{}.t2-labels.jsonl",
    "qac": "pairs.qac.jsonl",
    "t5": "pairs.t5.jsonl",
}


@require_safe
@researchers_only
def exports(request: AuthenticatedRequest, slug: str) -> HttpResponseBase:
    """What the dataset can be taken away as, and why not as something else."""
    dataset = get_object_or_404(Dataset, slug=slug)
    for_team = request.user.is_authenticated  # visitors by a link are not
    context = {
        "room": "datasets",
        "dataset": dataset,
        "sections": sections(dataset, for_team=for_team),
        "not_carried": NOT_CARRIED,
    }
    return render(request, "crux_site/exports/exports.html", context)


@require_safe
@researchers_only
def file(request: AuthenticatedRequest, slug: str, name: str) -> HttpResponseBase:
    """One of the files: lines as they are read, anything else from the disk, where it is made whole first."""
    dataset = get_object_or_404(Dataset, slug=slug)
    offers, lacks = offered(dataset, for_team=request.user.is_authenticated)
    if name not in offers:
        why = lacks.get(name) or f"There is no {name} among the exports of this dataset."
        return refusal(request, dataset, why, status=404)
    offer = offers[name]
    called = offer.called(dataset)
    kind = TYPES.get(called.rpartition(".")[2], "text/plain; charset=utf-8")
    if offer.lines:
        response = StreamingHttpResponse(offer.lines(), content_type=kind)
        response["Content-Disposition"] = f'attachment; filename="{called}"'
        return response
    assert offer.write is not None
    write = offer.write
    try:
        url = request.build_absolute_uri(dataset.get_absolute_url())
        stated = StatedForm(request.GET).stated(url)
        made = one_file(lambda path: write(path, stated), called.removesuffix(".zip"))
    except SelectionError as error:
        return refusal(request, dataset, str(error))
    except ExportError as error:
        return refusal(request, dataset, f"It cannot be written: {error}.", status=422)
    return FileResponse(made, as_attachment=True, filename=called, content_type=kind)


@require_safe
@researchers_only
def export(request: AuthenticatedRequest, slug: str) -> HttpResponseBase:
    """The address of before leads to the file of now."""
    wanted = request.GET.get("format", "")
    if wanted not in MOVED:
        raise Http404(f"There is no format {wanted!r}.")
    name = MOVED[wanted].format(request.GET.get("rater", ""))
    return redirect("export_file", slug=slug, name=name, permanent=True)
