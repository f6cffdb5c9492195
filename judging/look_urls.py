"""Where judges are looked at: replies, comparisons, exports."""

from django.urls import URLPattern, path

from judging.views.compare import compare, compare_csv
from judging.views.exports import judge_attempts, run_attempts
from judging.views.replies import reply

urlpatterns: list[URLPattern] = [
    path("replies/<int:rater_id>/<int:text_id>/<int:question_id>/", reply, name="judge_reply"),
    path("judges/compare/", compare, name="judge_compare"),
    path("judges/compare.csv", compare_csv, name="judge_compare_csv"),
    path("judges/<int:pk>/attempts.<slug:form>", judge_attempts, name="judge_attempts"),
    path("judge-runs/<int:pk>/attempts.<slug:form>", run_attempts, name="judge_run_attempts"),
]
