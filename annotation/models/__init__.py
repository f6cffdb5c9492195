"""Models: test collections, raters and ratings, rubrics, and annotation campaigns."""

from annotation.models.answer import Answer
from annotation.models.campaign import Campaign
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
from annotation.models.item import EqualText, Item, ItemQuestion
from annotation.models.links import Invitation, SharedLink
from annotation.models.participation import (
    Assignment,
    Decision,
    LogEntry,
    Message,
    Part,
    Participant,
)
from annotation.models.people import ApiToken, RequestCount, User
from annotation.models.projects import Membership, Project, ProjectEntry, Role
from annotation.models.rating import NuggetSpan, Rater, Rating, RatingVersion
from annotation.models.rubric import Rubric, RubricLevel
from annotation.models.survey import SurveyAnswer, SurveyQuestion
from annotation.models.versions import Version

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
    "EqualText",
    "Invitation",
    "Item",
    "ItemQuestion",
    "LogEntry",
    "Membership",
    "Message",
    "NuggetSpan",
    "Part",
    "Participant",
    "Project",
    "ProjectEntry",
    "Rater",
    "Rating",
    "RatingVersion",
    "RequestCount",
    "Role",
    "Rubric",
    "RubricLevel",
    "SharedLink",
    "SubQuestion",
    "SurveyAnswer",
    "SurveyQuestion",
    "Text",
    "Topic",
    "User",
    "Version",
    "digest",
]
