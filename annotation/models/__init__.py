"""The test collection, who rates it, what they said, and the studies in which they said it."""

from annotation.models.campaign import Assignment, Campaign, Item, ItemQuestion, Participant
from annotation.models.corpus import Dataset, SubQuestion, Text, Topic, digest
from annotation.models.people import User
from annotation.models.rating import Answer, NuggetSpan, Rater, Rating, Rubric, RubricLevel

__all__ = [
    "Answer",
    "Assignment",
    "Campaign",
    "Dataset",
    "Item",
    "ItemQuestion",
    "NuggetSpan",
    "Participant",
    "Rater",
    "Rating",
    "Rubric",
    "RubricLevel",
    "SubQuestion",
    "Text",
    "Topic",
    "User",
    "digest",
]
