"""The test collection, who rates it, what they said, and the studies in which they said it."""

from annotation.models.campaign import Campaign, Item, ItemQuestion
from annotation.models.checks import AttentionCheck, CheckQuestion
from annotation.models.corpus import (
    Citation,
    Dataset,
    Document,
    SubQuestion,
    Text,
    Topic,
    digest,
)
from annotation.models.participation import (
    Assignment,
    Decision,
    LogEntry,
    Message,
    Part,
    Participant,
)
from annotation.models.people import ApiToken, User
from annotation.models.rating import Answer, NuggetSpan, Rater, Rating
from annotation.models.rubric import Rubric, RubricLevel

__all__ = [
    "Answer",
    "ApiToken",
    "Assignment",
    "AttentionCheck",
    "Campaign",
    "CheckQuestion",
    "Citation",
    "Dataset",
    "Decision",
    "Document",
    "Item",
    "ItemQuestion",
    "LogEntry",
    "Message",
    "NuggetSpan",
    "Part",
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
