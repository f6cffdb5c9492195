"""URL of the reply of one cell."""

from django.urls import URLPattern, path

from judging.replies import views

urlpatterns: list[URLPattern] = [
    path(
        "replies/<int:rater_id>/<int:text_id>/<int:question_id>/", views.reply, name="judge_reply"
    ),
]
