"""A study as its participants see it: coming in, the way through, and the end."""

from django.urls import URLPattern, path

from annotation.participation import arrival, views

urlpatterns: list[URLPattern] = [
    path("start/<slug:slug>/", arrival.start, name="start"),
    path("start/<slug:slug>/again/", arrival.come_again, name="come_again"),
    path("invited/<str:token>/", arrival.invited, name="invited"),
    path("work/", views.work_home, name="work_home"),
    path("work/in/<slug:slug>/", views.work_campaign, name="work_campaign"),
    path("work/in/<slug:slug>/begin/", views.begin, name="begin"),
    path("work/in/<slug:slug>/consent/", views.consent, name="consent"),
    path("work/in/<slug:slug>/check/", views.check, name="check"),
    path("work/in/<slug:slug>/end/", views.study_end, name="study_end"),
    path("work/in/<slug:slug>/leave/", views.leave, name="leave"),
    path("work/in/<slug:slug>/messages/", views.messages_seen, name="messages_seen"),
]
