"""Template tags of the badge that says whether people have tested a judge."""

from __future__ import annotations

from django import template
from django.template.loader import render_to_string
from django.utils.safestring import SafeString

from annotation.models import Dataset
from evaluation.data.certificates import CertificateState, certificate_state

register = template.Library()


@register.simple_tag
def badge(state: CertificateState) -> SafeString:
    """Render the badge of a state, linked to the certificate if there is one."""
    return SafeString(render_to_string("evaluation/_judge_badge.html", {"state": state}).strip())


@register.simple_tag
def judge_badge(dataset: Dataset, judge: int, rubric: int | None = None) -> SafeString:
    """Render the badge of a judge under a rubric, by keys."""
    return badge(certificate_state(dataset, judge, rubric))
