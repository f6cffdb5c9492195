"""Lexical baseline: grades 0..5 by idf-weighted coverage of a question's terms.

    s = sum of idf over the question terms present in the text / sum of idf over all of them
    idf(t) = ln(1 + (N - df(t) + 0.5) / (df(t) + 0.5));   grade = min(5, floor(6 s))

so grade 3 or more means that s >= 0.5. This is a baseline, and its grades support no claim of
validity. It counts shared words: it cannot tell a text on the topic of a question from one that
answers it, misses paraphrase, and ignores negation and word order. Say so wherever they are shown.

Stop words and stems are English; scripts written without spaces are not segmented. A pair may get
another grade under other document frequencies: the corpus is part of the judge's identity.

Sources: idf as in Lucene's BM25Similarity (Robertson and Zaragoza 2009, "The Probabilistic
Relevance Framework: BM25 and Beyond", with 1 added inside the logarithm to keep it positive);
stems by the Snowball English (Porter2) stemmer. The coverage and its six equal bands are ours.
"""

import math
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import islice
from typing import Any, NamedTuple, Self

import numpy as np
import numpy.typing as npt
import scipy
from snowballstemmer.english_stemmer import EnglishStemmer

from judging.grading.pairs import Pair, Reply, State
from judging.llm.errors import Failure

MISSING = -1  # under has_grade == False: outside 0..5, so that it cannot pass for a grade
NO_CONTENT_TERMS = "The question has no content terms: only stop words and question words."

BLOCK = 65_536  # pairs held at once as sparse rows or dense scores: bounds memory, not results

_FUNCTION_WORDS = """
what which who whom whose when where why how many much
a an the this that these those there here such some any each
i you he she it we they me him her them my your his its our their
am is are was were be been being do does did done has have had having
can could will would shall should may might must wo
and or but nor if then than as so because while
of in on at by for from to into with about between during through
not no also only very
"""  # "us" is kept, as case folding makes the US of it; "wo" is what "won't" leaves
STOP_WORDS = frozenset(_FUNCTION_WORDS.split())
_TOKEN = re.compile(r"[^\W_]+")
_CLITIC = re.compile(r"'(?<=\w')(?:s|d|m|ll|re|ve)\b")  # the apostrophe first: found by fast scan


class Grades(NamedTuple):
    """Grades with their mask; both arrays have the same shape.

    0..5 where `has_grade`, MISSING elsewhere. A pair lacks a grade only when its question has no
    content terms (NO_CONTENT_TERMS): coverage is then 0/0, undefined, and never a grade of 0.
    """

    grades: npt.NDArray[np.int8]
    has_grade: npt.NDArray[np.bool_]


@lru_cache(maxsize=200_000)
def _stem(token: str) -> str:
    # A stemmer holds the word it works on, so threads must not share one. The class is named
    # because snowballstemmer.stemmer() would use another library's stemmer where one is installed.
    return "" if token in STOP_WORDS else str(EnglishStemmer().stemWord(token))


def content_terms(text: str) -> list[str]:
    """The stems of `text` in order, repeats kept, without stop words and question words.

    NFKC and case folding come first: accents count, however they are encoded, and case does not,
    so WHO and IT are stop words too. A text without other words gives an empty list.
    """
    folded = unicodedata.normalize("NFKC", text).casefold().replace("’", "'")
    if "'" in folded:
        folded = _CLITIC.sub("", folded.replace("can't", "can not").replace("n't", " not"))
    return [stem for stem in map(_stem, _TOKEN.findall(folded)) if stem]


class LexicalGrader:
    """Grades text and question pairs from the document frequencies of one corpus.

    `document_frequency` maps a stem to the number of texts that hold it, of `documents` in all.
    With no documents every idf is ln 2, and coverage is the plain share of terms. Raises
    ValueError for a negative `documents` or a frequency outside 0..documents.
    """

    def __init__(self, document_frequency: Mapping[str, int], documents: int) -> None:
        counts = document_frequency.values()
        if documents < 0 or min(counts, default=0) < 0 or max(counts, default=0) > documents:
            raise ValueError("Document frequencies must lie between 0 and the number of documents.")
        self.document_frequency = document_frequency
        self.documents = documents

    @classmethod
    def fit(cls, texts: Iterable[str]) -> Self:
        """Count document frequencies in one pass: memory grows with the vocabulary, not the texts.

        Every text counts once, empty ones too, so give each distinct text once.
        """
        frequency: Counter[str] = Counter()
        documents = 0
        for text in texts:
            frequency.update(set(content_terms(text)))
            documents += 1
        return cls(frequency, documents)

    def idf(self, stem: str) -> float:
        """BM25 inverse document frequency of a stem, in nats: positive, largest if never seen."""
        df = self.document_frequency.get(stem, 0)
        return math.log1p((self.documents - df + 0.5) / (df + 0.5))

    def grade_matrix(self, texts: Sequence[str], questions: Sequence[str]) -> Grades:
        """Grade every text against every question: arrays of shape (len(texts), len(questions)).

        An empty text has grade 0. A question without content terms has a whole column missing.
        No texts or no questions give an array with a side of length 0. Texts and questions need
        not be among those fitted: a question term that was never seen counts at the largest idf.
        """
        presence, weights, answerable = self._rows(texts, questions)
        grades = np.full((len(texts), len(questions)), MISSING, dtype=np.int8)
        step = max(1, BLOCK // max(1, len(questions)))
        for start in range(0, len(texts), step):
            coverage = (presence[start : start + step] @ weights.T).toarray()
            grades[start : start + step] = np.where(answerable, banded(coverage), MISSING)
        return Grades(grades, grades != MISSING)

    def cover_pairs(
        self,
        texts: Sequence[str],
        questions: Sequence[str],
        text_index: npt.ArrayLike,
        question_index: npt.ArrayLike,
    ) -> npt.NDArray[np.float64]:
        """Return the share s of idf that pair i covers, 0..1: an array (pairs,).

        It is NaN where it is undefined. No pairs give an empty array. Raises ValueError unless both
        indices are one-dimensional and equally long, IndexError if one is out of range (a negative
        index is, so that no -1 silently reads the last text).
        """
        rows, columns = _index(text_index, len(texts)), _index(question_index, len(questions))
        if rows.shape != columns.shape:
            raise ValueError(f"{rows.size} text indices but {columns.size} question indices.")
        presence, weights, answerable = self._rows(texts, questions)
        coverage = np.full(rows.shape, np.nan)
        for start in range(0, rows.size, BLOCK):
            block = slice(start, start + BLOCK)
            share = presence[rows[block]].multiply(weights[columns[block]]).sum(axis=1)
            coverage[block] = np.where(answerable[columns[block]], share, np.nan)
        return coverage

    def _rows(
        self, texts: Sequence[str], questions: Sequence[str]
    ) -> tuple[Any, Any, npt.NDArray[np.bool_]]:
        """Return 0/1 rows of the texts, idf rows of the questions summing to 1, and a mask.

        The mask says which questions have terms.
        """
        # Imported here: it takes a second or two, which every process of the site would pay.
        from sklearn.feature_extraction.text import CountVectorizer  # noqa: PLC0415

        stems = sorted({stem for question in questions for stem in content_terms(question)})
        if not stems:
            stems = [""]  # a column that no text fills: the vectorizer refuses to have none
        # Only the questions' stems are columns: other words change no grade, and dropping them
        # before the vectorizer sees them spares it a KeyError for each.
        in_vocabulary = frozenset(stems).intersection
        vectorizer = CountVectorizer(
            analyzer=lambda text: in_vocabulary(content_terms(text)), vocabulary=stems, binary=True
        )
        presence = scipy.sparse.csr_array(vectorizer.transform(texts))
        weights = scipy.sparse.csr_array(vectorizer.transform(questions))
        weights = weights @ scipy.sparse.diags_array([self.idf(stem) for stem in stems])
        total = weights.sum(axis=1)
        share = np.divide(1.0, total, out=np.zeros_like(total), where=total > 0)
        return (
            presence,
            scipy.sparse.csr_array(scipy.sparse.diags_array(share) @ weights),
            total > 0,
        )


def grade_of(coverage: float) -> int:
    """Return the grade of one covered share: min(5, floor(6 s))."""
    return int(banded(np.array(coverage)))


def banded(coverage: npt.NDArray[np.float64], grades: int = 6) -> npt.NDArray[np.int8]:
    """Return grades of shares in 0..1 by equal bands from 0: an array of the same shape.

    `grades` is the number of bands.
    """
    # A share such as 1/3 may come out one rounding error below its band; the margin returns it.
    return np.minimum(grades - 1, np.floor(grades * coverage + 1e-9)).astype(np.int8)


def _index(values: npt.ArrayLike, length: int) -> npt.NDArray[np.intp]:
    array = np.asarray(values)
    if array.ndim != 1 or (array.size and array.dtype.kind not in "iu"):
        raise ValueError("Pair indices must be one-dimensional arrays of integers.")
    if array.size and (array.min() < 0 or array.max() >= length):
        raise IndexError(f"Pair index outside 0..{length - 1}.")
    return array.astype(np.intp)


AT_ONCE = 2_000


class BaselineGrader:
    """Grades by words in common; the raw reply is the covered share of idf, to four places.

    `grades` is how many equal bands there are: 6 for 0..5, 3 for the support of a statement, 0..2.
    """

    def __init__(self, lexical: LexicalGrader, grades: int = 6) -> None:
        self.lexical = lexical
        self.grades = grades

    def replies(self, pairs: Iterator[Pair]) -> Iterator[Reply | None]:
        while batch := list(islice(pairs, AT_ONCE)):
            yield from self._grade(batch)

    def _grade(self, pairs: list[Pair]) -> Iterator[Reply]:
        texts = {pair.text_id: pair.text for pair in pairs}
        questions = {pair.question_id: pair.question for pair in pairs}
        text_at = {key: index for index, key in enumerate(texts)}
        question_at = {key: index for index, key in enumerate(questions)}
        shares = self.lexical.cover_pairs(
            list(texts.values()),
            list(questions.values()),
            np.fromiter((text_at[pair.text_id] for pair in pairs), np.intp),
            np.fromiter((question_at[pair.question_id] for pair in pairs), np.intp),
        )
        has_grade = ~np.isnan(shares)
        grades = banded(np.where(has_grade, shares, 0.0), self.grades)
        rows = zip(pairs, shares.tolist(), grades.tolist(), has_grade.tolist(), strict=True)
        for pair, share, grade, is_graded in rows:
            if not is_graded:
                yield Reply(pair, State.ERROR, failure=Failure.NO_TERMS, detail=NO_CONTENT_TERMS)
            else:
                yield Reply(pair, State.GRADED, grade, raw=f"{share:.4f}")
