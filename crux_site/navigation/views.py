"""View that counts the ratings that came after a page of results was opened."""

import re

from django.http import HttpResponseBadRequest, HttpResponseBase, JsonResponse
from django.shortcuts import get_object_or_404
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from annotation.http import AuthenticatedRequest, researchers_only
from annotation.models import Dataset, Rating

KEY = re.compile(r"[0-9]{1,18}")


@require_safe
@researchers_only
@never_cache
def new_ratings(request: AuthenticatedRequest, slug: str) -> HttpResponseBase:
    """Return the number of ratings of the dataset with a key above `since`, as JSON.

    They are counted from that key, so the time does not depend on the ratings before it.
    """
    since = request.GET.get("since", "")
    if not KEY.fullmatch(since):
        return HttpResponseBadRequest("`since` is the key of a rating: a whole number.")
    dataset = get_object_or_404(Dataset, slug=slug)
    n = Rating.objects.of_dataset(dataset).filter(pk__gt=int(since)).count()
    return JsonResponse({"n": n})
