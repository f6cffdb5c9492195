"""Export of a dataset: the page that lists the files, and each file."""

from django.http import FileResponse, Http404, HttpResponseBase, StreamingHttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_safe

from annotation.db_version import snapshot
from annotation.formats.writing import ExportError
from annotation.http import AuthenticatedRequest, researchers_only
from annotation.models import Dataset
from crux_site.datasets.export_scope import EXPORT_OMISSIONS
from crux_site.exports.folders import export_to_file
from crux_site.exports.page import files_by_name, sections
from crux_site.exports.query import PublicationQuery
from evaluation.data.selection import SelectionError
from evaluation.http import selection_error_page

TYPES = {
    "csv": "text/csv; charset=utf-8",
    "jsonl": "application/jsonl; charset=utf-8",
    "parquet": "application/vnd.apache.parquet",
    "zip": "application/zip",
}
# Current names by `format` of the former URLs: export/?format=...&rater=...
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
    """List the export files of the dataset, and the reasons for those that are unavailable."""
    dataset = get_object_or_404(Dataset, slug=slug)
    for_team = request.user.is_authenticated  # visitors by a link are not
    with snapshot():
        all_sections = sections(dataset, for_team=for_team)
    context = {
        "room": "datasets",
        "dataset": dataset,
        "sections": all_sections,
        "not_carried": EXPORT_OMISSIONS,
    }
    return render(request, "crux_site/exports/exports.html", context)


@require_safe
@researchers_only
def file(request: AuthenticatedRequest, slug: str, name: str) -> HttpResponseBase:
    """Send an export file: lines are streamed, any other is completed on disk first."""
    dataset = get_object_or_404(Dataset, slug=slug)
    with snapshot():
        offers, lacks = files_by_name(dataset, for_team=request.user.is_authenticated)
    if name not in offers:
        reason = lacks.get(name) or f"There is no {name} among the exports of this dataset."
        return selection_error_page(request, dataset, reason, status=404)
    offer = offers[name]
    file_name = offer.download_name(dataset)
    kind = TYPES.get(file_name.rpartition(".")[2], "text/plain; charset=utf-8")
    if offer.lines:
        response = StreamingHttpResponse(offer.lines(), content_type=kind)
        response["Content-Disposition"] = f'attachment; filename="{file_name}"'
        return response
    assert offer.write is not None
    write = offer.write
    try:
        url = request.build_absolute_uri(dataset.get_absolute_url())
        metadata = PublicationQuery(request.GET).metadata(url)
        content = export_to_file(lambda path: write(path, metadata), file_name.removesuffix(".zip"))
    except SelectionError as error:
        return selection_error_page(request, dataset, str(error))
    except ExportError as error:
        return selection_error_page(
            request, dataset, f"The file cannot be written: {error}.", status=422
        )
    return FileResponse(content, as_attachment=True, filename=file_name, content_type=kind)


@require_safe
@researchers_only
def export(request: AuthenticatedRequest, slug: str) -> HttpResponseBase:
    """Redirect the former export URL (?format=...&rater=...) to the file."""
    format_name = request.GET.get("format", "")
    if format_name not in MOVED:
        raise Http404(f"There is no format {format_name!r}.")
    name = MOVED[format_name].format(request.GET.get("rater", ""))
    return redirect("export_file", slug=slug, name=name, permanent=True)
