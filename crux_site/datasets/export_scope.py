"""Tables of a dataset that a folder export includes, and tables that it omits."""

from collections.abc import Mapping

from django.db.models import Model

from annotation.models import (
    Answer,
    Assignment,
    AttentionCheck,
    Campaign,
    CheckQuestion,
    Citation,
    Decision,
    Document,
    EqualText,
    Item,
    ItemQuestion,
    LogEntry,
    Message,
    NuggetSpan,
    Part,
    Participant,
    Rater,
    Rating,
    SharedLink,
    SubQuestion,
    SurveyAnswer,
    SurveyQuestion,
    Text,
    Topic,
    Version,
)
from building.models import Draft, Order, Product, Writing
from evaluation.models import (
    Certificate,
    LabelSample,
    LabelSequence,
    PairNote,
    RankedText,
    ReportValue,
    RetrievalRun,
    SampleChance,
    System,
)
from judging.models import Attempt, Batch, Judge, JudgeRun, JudgeTestReply, Shard

EXPORTED_TABLES: frozenset[type[Model]] = frozenset(
    {
        *(Topic, SubQuestion, Document, Text, Citation, Version),
        *(Rater, Judge, Rating, NuggetSpan, PairNote),
        *(RetrievalRun, RankedText, System, ReportValue),
        *(Writing, Order, Draft, Product),
    }
)
# Every table of crux_site.removal.TABLES is in one of the two.
OMITTED_TABLES: Mapping[str, tuple[type[Model], ...]] = {
    "Campaigns with participants, answers and decisions. The ratings that follow from them are carried.": (
        *(Campaign, Campaign.further_rubrics.through, Item, ItemQuestion, EqualText),
        *(
            AttentionCheck,
            CheckQuestion,
            SurveyQuestion,
            SurveyAnswer,
            Participant,
            Part,
            Assignment,
        ),
        *(Answer, Decision, Message, LogEntry),
    ),
    "Judge runs and tests with the raw replies. The definitions of judges, their grades and evidence are "
    "carried.": (*(JudgeRun, Shard, Batch, Attempt, JudgeTestReply, Judge.projects.through),),
    "Samples of what to label next, and label sequences.": (
        *(LabelSample, SampleChance, LabelSequence),
    ),
    "Certificates of judges: test the judges again.": (Certificate,),
    "Shared links.": (SharedLink,),
}
# Rows of tables that are carried but for these.
PARTIAL_OMISSIONS = (
    "The title of a dataset: the archive of a project has it.",
    "Aggregates of raters: create them again.",
    "Replies of writers that nobody has reviewed, and notes on pairs that were withdrawn.",
    "Families of judges that were set by hand.",
    "Accounts, members of the project, and its log.",
)
EXPORT_OMISSIONS: tuple[str, ...] = (*OMITTED_TABLES, *PARTIAL_OMISSIONS)
