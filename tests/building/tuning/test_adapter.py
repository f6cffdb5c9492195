"""Hash of an adapter, and marks through a tokenizer that lacks them."""

import pytest

from building.tuning.adapter import adapter_hash, record_of
from building.tuning.errors import TuningError
from building.tuning.marks import decode_marks, encode_marks, marks_for
from tests.toolbox.training_lines import no_real_adapter


def test_adapter_is_known_by_its_files_wherever_they_lie(tmp_path):
    first, second = no_real_adapter(tmp_path / "a"), no_real_adapter(tmp_path / "b")
    (second / "README.md").write_text("of no weight")
    assert adapter_hash(first) == adapter_hash(second)
    (second / "adapter_model.safetensors").write_bytes(b"others")
    assert adapter_hash(first) != adapter_hash(second)
    before = adapter_hash(first)
    (first / "training.json").write_text('{"marks": {}}')
    assert adapter_hash(first) != before
    assert record_of(first) == {"marks": {}}
    assert record_of(second) == {}


def test_folder_without_an_adapter_is_none(tmp_path):
    with pytest.raises(TuningError, match=r"holds no adapter: there is no adapter_config.json"):
        adapter_hash(tmp_path)
    (tmp_path / "adapter_config.json").mkdir()
    with pytest.raises(TuningError, match="cannot be read: Is a directory"):
        adapter_hash(tmp_path)
    for content, message in (("{", "cannot be read"), ("[]", "is no record of a training")):
        (tmp_path / "training.json").write_text(content)
        with pytest.raises(TuningError, match=message):
            record_of(tmp_path)


class CharacterTokenizer:
    """Character tokenizer with a partial vocabulary; unknown characters are lost."""

    def __init__(self, unknown="", *more):
        self.unknown, self.more = unknown, more

    def get_vocab(self):
        return dict.fromkeys(self.more, 0)

    def encode(self, text, add_special_tokens):
        return [-1 if letter in self.unknown else ord(letter) for letter in text]

    def decode(self, ids, skip_special_tokens):
        return "".join(chr(code_point) for code_point in ids if code_point >= 0)


def test_marks_that_a_tokenizer_knows_are_words_like_any_others():
    assert marks_for(CharacterTokenizer()) == {}
    assert encode_marks("<<summary>> Why? <a> So.", {}) == "<<summary>> Why? <a> So."


def test_marks_that_it_lacks_go_by_sentinels_and_come_back():
    sentinels = [f"<extra_id_{number}>" for number in range(4)]
    marks = marks_for(CharacterTokenizer("<", *sentinels))
    assert marks == {
        "<a>": "<extra_id_0>",
        "<<fact_single>>": "<extra_id_1>",
        "<<summary>>": "<extra_id_2>",
        "<<reasoning>>": "<extra_id_3>",
    }
    line = "<<summary>> Why? <a> So."
    assert encode_marks(line, marks) == "<extra_id_2> Why?<extra_id_0> So."
    assert decode_marks(encode_marks(line, marks), marks) == line
    assert decode_marks("<extra_id_2>Why?<extra_id_0>So.", marks) == line


def test_tokenizer_that_has_neither_is_refused():
    with pytest.raises(TuningError, match=r"cannot write <a>, and has no <extra_id_0>"):
        marks_for(CharacterTokenizer("<"))
