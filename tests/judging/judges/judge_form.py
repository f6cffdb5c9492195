"""Data of the form that makes a judge."""

from judging.grading import prompts

NEW_JUDGE_URL = "/judges/new/"


def judge_form_data(**change):
    file = prompts.load("question-first")
    return {
        "slug": "mine",
        "rubric": "graded",
        "backend": "openai",
        "model": "tiny",
        "system": file.system,
        "prompt": file.prompt,
        "wording": "",
        "parser": file.parser,
        "temperature": "0",
        "top_p": "1",
        "max_tokens": "1",
        "seed": "0",
        "logprobs": "on",
    } | change
