"""URLs of the list of pairs behind a number, and of one pair."""

from django.urls import URLPattern, path

from evaluation.pairs import views

urlpatterns: list[URLPattern] = [
    path("disagreements/", views.pairs, name="pairs"),
    path("pairs.csv", views.pairs_csv, name="pairs_csv"),
    path("pairs/<int:text_id>/<int:question_id>/", views.pair, name="pair"),
    path("pairs/<int:text_id>/<int:question_id>/notes/", views.pair_note, name="pair_note"),
    path("pairs/notes/<int:pk>/withdraw/", views.note_withdraw, name="note_withdraw"),
    path("notes.csv", views.notes_csv, name="notes_csv"),
]
