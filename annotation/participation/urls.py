"""URLs of a study's participant pages: entry, work and completion."""

from django.urls import URLPattern, path

from annotation.participation import entry_views, feedback_views, survey_views, views

urlpatterns: list[URLPattern] = [
    path("start/<slug:slug>/", entry_views.start, name="start"),
    path("start/<slug:slug>/again/", entry_views.guest_logged_out, name="guest_logged_out"),
    path("take-part/<str:token>/", entry_views.join_study, name="join_study"),
    path("invited/<str:token>/", entry_views.invited, name="invited"),
    path("work/", views.work_home, name="work_home"),
    path("work/in/<slug:slug>/", views.work_campaign, name="work_campaign"),
    path("work/in/<slug:slug>/begin/", views.begin, name="begin"),
    path("work/in/<slug:slug>/consent/", views.consent, name="consent"),
    path("work/in/<slug:slug>/check/", views.check, name="check"),
    path("work/in/<slug:slug>/questions-before/", survey_views.survey_before, name="survey_before"),
    path("work/in/<slug:slug>/questions-after/", survey_views.survey_after, name="survey_after"),
    path(
        "work/in/<slug:slug>/feedback/", feedback_views.campaign_feedback, name="campaign_feedback"
    ),
    path(
        "work/in/<slug:slug>/feedback/<int:item_pk>/<int:question_pk>/",
        feedback_views.disagree,
        name="disagree",
    ),
    path("work/in/<slug:slug>/end/", views.study_end, name="study_end"),
    path("work/in/<slug:slug>/leave/", views.leave, name="leave"),
    path("work/in/<slug:slug>/messages/", views.messages_seen, name="messages_seen"),
    path("work/in/<slug:slug>/messages/write/", views.write_message, name="write_message"),
]
