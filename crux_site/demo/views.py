"""Page that loads the demo."""

from django.http import HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods
from django.views.decorators.vary import vary_on_headers

from annotation.http import AuthenticatedRequest, admins_only
from crux_site.demo import loading


@vary_on_headers("HX-Request")
@require_http_methods(["GET", "HEAD", "POST"])
@admins_only
def demo(request: AuthenticatedRequest) -> HttpResponseBase:
    """GET: show how far loading is; Home once it is done. POST: start it."""
    at_work = loading.is_at_work()
    if not at_work and request.htmx:
        return HttpResponse(headers={"HX-Refresh": "true"})
    if not at_work and loading.is_loaded():
        return redirect("home")
    if request.method == "POST":
        loading.start()
        return redirect("demo")
    steps = loading.steps()
    context = {
        "at_work": at_work,
        "steps": steps,
        "interrupted": loading.is_interrupted(steps),
        "room": "datasets",
    }
    part = "_demo_work" if request.htmx else "demo"
    return render(request, f"crux_site/demo/{part}.html", context)
