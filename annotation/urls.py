"""Where people do and prepare annotation."""

from django.urls import include, path

from annotation.views import campaigns, people, rubrics, work

work_urls = [
    path("", work.work_home, name="work_home"),
    path("in/<slug:slug>/", work.work_campaign, name="work_campaign"),
    path("<int:pk>/", work.work, name="work"),
    path("<int:pk>/answers/<int:question_pk>/", work.answer, name="answer"),
    path("<int:pk>/submit/", work.submit, name="submit"),
    path("<int:pk>/skip/", work.skip, name="skip"),
]

campaign_urls = [
    path("", campaigns.campaigns, name="campaigns"),
    path("new/", campaigns.campaign_new, name="campaign_new"),
    path("<slug:slug>/", campaigns.campaign, name="campaign"),
    path("<slug:slug>/state/", campaigns.campaign_state, name="campaign_state"),
]

rubric_urls = [
    path("", rubrics.rubrics, name="rubrics"),
    path("<slug:slug>/", rubrics.rubric, name="rubric"),
]

people_urls = [
    path("", people.people, name="people"),
    path("<int:pk>/", people.person, name="person"),
]

urlpatterns = [
    path("work/", include(work_urls)),
    path("campaigns/", include(campaign_urls)),
    path("rubrics/", include(rubric_urls)),
    path("people/", include(people_urls)),
]
