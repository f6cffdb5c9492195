"""Help: index, search, pages and pictures."""

from django.contrib.auth.decorators import login_not_required
from django.contrib.auth.views import redirect_to_login
from django.core.exceptions import PermissionDenied
from django.http import FileResponse, Http404, HttpRequest, HttpResponseBase
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.cache import cache_control
from django.views.decorators.http import require_safe

from crux_site.help.docs import INDEX, PICTURES, decision_of, doc, images, paths
from crux_site.help.page import all_docs, first_page, index_sections, may_read
from crux_site.help.query import LONGEST, SearchForm
from crux_site.help.search import find
from crux_site.language import activate_last_language

MAX_RESULTS = 40


@login_not_required
@require_safe
def help_index(request: HttpRequest) -> HttpResponseBase:
    """Show the index or the search results; redirect workers and visitors to their first page."""
    user = request.user
    if not user.is_authenticated or not user.is_researcher:
        return redirect("help_page", first_page(user))
    form = SearchForm(request.GET)
    context = {
        "room": "help",
        "doc": doc(INDEX),
        "words": request.GET.get("q", ""),
        "longest": LONGEST,
    }
    if not form.is_valid():
        refused = {"refused": form.errors["q"][0]}
        return render(request, "crux_site/help/help_index.html", context | refused, status=400)
    if query := form.cleaned_data["q"]:
        results = find(all_docs(), query)
        context |= {
            "words": query,
            "found": results[:MAX_RESULTS],
            "n_found": len(results),
            "is_search": True,
        }
    else:
        context["sections"] = index_sections(user.is_admin)
    return render(request, "crux_site/help/help_index.html", context)


@login_not_required
@require_safe
def help_page(request: HttpRequest, name: str) -> HttpResponseBase:
    """Show a page of the docs, if the reader may read it."""
    activate_last_language(request)
    if name not in paths() and (renamed := decision_of(name)):
        return redirect("help_page", renamed, permanent=True)
    if name == INDEX or name not in paths():
        raise Http404(f"There is no help page {name!r}.")
    if not may_read(request.user, name):
        if not request.user.is_authenticated:
            return redirect_to_login(request.get_full_path())
        raise PermissionDenied(_("This page is for researchers."))
    context = {"room": "help", "doc": doc(name), "longest": LONGEST}
    return render(request, "crux_site/help/help_page.html", context)


@login_not_required
@require_safe
@cache_control(max_age=3600)
def help_image(request: HttpRequest, name: str) -> HttpResponseBase:
    """Send a picture of the docs."""
    if name not in images():
        raise Http404(f"There is no picture called {name!r}.")
    path = images()[name]
    return FileResponse(path.open("rb"), content_type=PICTURES[path.suffix])
