"""URLs of one item: its page, its answers, submit and skip."""

from django.urls import URLPattern, path

from annotation.task import views

urlpatterns: list[URLPattern] = [
    path("answers/", views.answer_queue, name="answer_queue"),
    path("<int:pk>/", views.work, name="work"),
    path("<int:pk>/answers/<int:question_pk>/", views.answer, name="answer"),
    path("<int:pk>/answers/<int:question_pk>/<slug:rubric>/", views.answer, name="answer"),
    path("<int:pk>/checks/<int:check_pk>/", views.check_answer, name="check_answer"),
    path("<int:pk>/state/", views.state, name="work_state"),
    path("<int:pk>/submit/", views.submit, name="submit"),
    path("<int:pk>/skip/", views.skip, name="skip"),
    path("<int:pk>/feedback/", views.feedback, name="feedback"),
]
