"""What an adapter is known by, and how marks go through a tokenizer that lacks them."""

import pytest

from building.tuning.adapter import adapter_hash, record_of
from building.tuning.marks import marks_for, told, untold
from building.tuning.refusals import TuningRefused
from tests.building.tuning.material import no_real_adapter


def test_an_adapter_is_known_by_its_files_wherever_they_lie(tmp_path):
    one, other = no_real_adapter(tmp_path / "a"), no_real_adapter(tmp_path / "b")
    (other / "README.md").write_text("of no weight")
    assert adapter_hash(one) == adapter_hash(other)
    (other / "adapter_model.safetensors").write_bytes(b"others")
    assert adapter_hash(one) != adapter_hash(other)
    before = adapter_hash(one)
    (one / "training.json").write_text('{"marks": {}}')
    assert adapter_hash(one) != before
    assert record_of(one) == {"marks": {}}
    assert record_of(other) == {}


def test_a_folder_without_an_adapter_is_none(tmp_path):
    with pytest.raises(TuningRefused, match=r"holds no adapter: there is no adapter_config.json"):
        adapter_hash(tmp_path)
    (tmp_path / "adapter_config.json").mkdir()
    with pytest.raises(TuningRefused, match="cannot be read: Is a directory"):
        adapter_hash(tmp_path)
    for words, says in (("{", "cannot be read"), ("[]", "is no record of a training")):
        (tmp_path / "training.json").write_text(words)
        with pytest.raises(TuningRefused, match=says):
            record_of(tmp_path)


class Letters:
    """A tokenizer of single letters that knows only some of them; what it does not know is lost."""

    def __init__(self, unknown="", *more):
        self.unknown, self.more = unknown, more

    def get_vocab(self):
        return dict.fromkeys(self.more, 0)

    def encode(self, words, add_special_tokens):
        return [-1 if letter in self.unknown else ord(letter) for letter in words]

    def decode(self, ids, skip_special_tokens):
        return "".join(chr(each) for each in ids if each >= 0)


def test_marks_that_a_tokenizer_knows_are_words_like_any_others():
    assert marks_for(Letters()) == {}
    assert told("<<summary>> Why? <a> So.", {}) == "<<summary>> Why? <a> So."


def test_marks_that_it_lacks_go_by_sentinels_and_come_back():
    sentinels = [f"<extra_id_{number}>" for number in range(4)]
    marks = marks_for(Letters("<", *sentinels))
    assert marks == {
        "<a>": "<extra_id_0>",
        "<<fact_single>>": "<extra_id_1>",
        "<<summary>>": "<extra_id_2>",
        "<<reasoning>>": "<extra_id_3>",
    }
    line = "<<summary>> Why? <a> So."
    assert told(line, marks) == "<extra_id_2> Why?<extra_id_0> So."
    assert untold(told(line, marks), marks) == line
    assert untold("<extra_id_2>Why?<extra_id_0>So.", marks) == line


def test_a_tokenizer_that_has_neither_is_refused():
    with pytest.raises(TuningRefused, match=r"cannot write <a>, and has no <extra_id_0>"):
        marks_for(Letters("<"))
