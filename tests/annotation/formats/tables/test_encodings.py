"""Encodings of text files: what is detected, and what a person is asked for."""

import gzip

import pytest

from annotation.formats.tables.cells import SettingNeededError, TableError
from annotation.formats.tables.encodings import NAMES, WINDOWS, detected_encoding
from annotation.formats.tables.files import TableFile, open_tables
from annotation.formats.tables.mapping import TableMapping

TEXTS = {
    "Chinese": "问题,回答\n渡轮是谁建造的？,伊达在一九三六年建造的。\n",
    "Chinese, traditional": "問題,回答\n渡輪是誰建造的？,伊達在一九三六年建造的。\n"
    "它在哪裡航行？,在島嶼之間，從春天到冬天。\n",
    "Japanese": "質問,回答\nフェリーは誰が造りましたか？,イダが1936年に造りました。\n",
    "Japanese, katakana": "フェリー,カタカナ\nデータ,テスト\n",
    "Korean": "질문,답변\n누가 배를 만들었습니까?,이다가 1936년에 만들었습니다.\n",
    "Russian": "вопрос,ответ\nКто построил паром?,Ида построила его в 1936 году.\n",
    "Greek": "ερώτηση,απάντηση\nΠοιος το έφτιαξε;,Η Ίδα το 1936.\n",
    "Hebrew": "שאלה,תשובה\nמי בנה את המעבורת?,אידה בנתה אותה.\n",
    "Arabic": "سؤال,جواب\nمن بنى العبارة؟,بنتها إيدا عام 1936.\n",
    "Thai": "คำถาม,คำตอบ\nใครสร้างเรือ,ไอด้าสร้าง\n",
    "English with a Chinese name": "question,answer\nWhat is it?,中国社会科学院\n",
    "French": "question;réponse\nQui l'a bâti ?;Ida, à Gênes, après la fête.\n",
}
WESTERN = {
    "German": "Frage;Größe\nWer baute die Fähre?;„Ida“ – sagt man… (50 €) – MÜßTE ÄÖÜ\n",
    "French": "q;r\nQui\xa0?;«\xa0Élan…\xa0» – dit-elle\xa0: «\xa0Où\xa0!\xa0» créée à Orléans\n",
    "Spanish": "p;r\n¿Quién?;¡Él! ¿Ésa? ¡Ágil, señor!\n",
    "Finnish": "k;v\nKuka?;Hyvää päivää, öinen jääerä.\n",
    "Icelandic": "s;v\nHver?;Það er þæð í Ísafjörður.\n",
    "signs": "q;a\nWho?;it’s “me”… ———— ••• ½ × 20 °C\n",
    "letters of German": "q;a\nWelche Buchstaben (äöüß) gibt es?;ja\n",
    "letters of Norwegian": "q;a\nHvilke bokstaver er nye (æøåÆØÅ)?;tre\n",
    "Spanish marks": "p;r\n¡¡Hola!!;Bien y tú\n¡¿Cómo estás?!;Bien\n",
    "Portuguese capitals": "q;a\nSÃO PAULO É ÓTIMO. ÀÉÈÊ ÇÃÕ;sim\n",
    "phonetics": "word;sounds\nthé;ðøþæ\nx;œøðå\n",
    "dashes": "q;a\né”—“É;a†b c‡d a§b\n†‡§¶;§§§§\n",
    "French apostrophe": "q;r\nl’œuvre : « où ? »;d’Élan\n",
    "one word": "question,answer\nWho?,Müller\n",
}


def _starts(text):
    """Return the first characters of each line from the first that is not ASCII."""
    lines = [line for line in text.splitlines() if not line.isascii()]
    return [line.lstrip("".join(map(chr, range(128))))[:3].strip() for line in lines]


def _message(data):
    """Return the beginning of the message, which must be true of the bytes."""
    try:
        data.decode(WINDOWS)
    except UnicodeError:
        return "is neither UTF-8 nor Windows-1252: choose the encoding"
    return (
        "is not UTF-8, and may not be Windows-1252: choose the encoding (in a mapping: `encoding`), "
        f"or save it as “CSV UTF-8”. The line has, in {NAMES[WINDOWS]}: "
    )


@pytest.mark.parametrize("name", WESTERN)
def test_western_text_is_windows(written, name):
    assert detected_encoding(written(WESTERN[name].encode(WINDOWS))) == WINDOWS


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        ("pytanie;odpowiedź\nKto zbudował prom?;Ida zbudowała go później w Łodzi.\n", "iso8859-2"),
        ("kérdés;válasz\nKi építette?;Ida építette, őszintén szólva.\n", "cp1250"),
        ("soru;yanıt\nKim yaptı?;Şükrü İstanbul'da yaptı.\n", "cp1254"),
    ],
)
def test_latin_text_of_other_countries_is_still_read(written, text, encoding):
    assert detected_encoding(written(text.encode(encoding))) == WINDOWS


@pytest.mark.parametrize(
    ("name", "encoding"),
    [
        *(("Chinese", "gb18030"), ("Chinese, traditional", "gb18030")),
        *(("Chinese, traditional", "cp950"), ("Japanese", "cp932"), ("Japanese", "euc_jp")),
        *(("Japanese, katakana", "cp932"), ("Japanese, katakana", "euc_jp"), ("Korean", "cp949")),
        *(("Russian", "cp1251"), ("Russian", "koi8_r"), ("Greek", "cp1253")),
        *(("Hebrew", "cp1255"), ("Arabic", "cp1256"), ("Thai", "cp874")),
        ("English with a Chinese name", "gb18030"),
        ("French", "mac_roman"),
    ],
)
def test_text_of_another_encoding_is_asked_for_and_can_be_chosen(written, name, encoding):
    path = written(TEXTS[name].encode(encoding))
    with pytest.raises(SettingNeededError) as refused:
        detected_encoding(path)
    assert refused.value.setting == "encoding"
    assert str(refused.value).startswith(_message(path.read_bytes()))
    assert any(
        f"{NAMES[encoding]}: {start}" in str(refused.value) for start in _starts(TEXTS[name])
    )
    (table,) = open_tables(TableFile.of(path), TableMapping(columns={}, encoding=encoding))
    assert list(table.headers) == TEXTS[name].splitlines()[0].replace(";", ",").split(",")


@pytest.mark.parametrize(
    ("n", "text", "encoding", "line"),
    [
        (3, "谁,伊达在一九三六年\n", "gb18030", 5),
        (300, "Да,нет\nМосква,город\n", "cp1251", 303),
    ],
)
def test_line_of_the_first_foreign_run_is_named(written, n, text, encoding, line):
    english = "question,answer\n" + "Who?,He said “yes”…\n" * n
    path = written(english.encode(WINDOWS) + text.encode(encoding))
    with pytest.raises(SettingNeededError, match="may not be Windows-1252") as refused:
        detected_encoding(path)
    assert refused.value.location == f":{line}"


@pytest.mark.parametrize("suffix", ["", ".gz"])
def test_broken_utf8_is_not_read_as_windows(written, suffix):
    data = "größe,über\n".encode() * 3 + b"x\x96y,z\n"
    path = written(gzip.compress(data) if suffix else data, f"table.csv{suffix}")
    with pytest.raises(SettingNeededError, match="a byte that is not UTF-8: fix it") as refused:
        detected_encoding(path)
    assert refused.value.location == ":4"


def test_utf8_that_is_cut_is_not_read_as_windows(written):
    with pytest.raises(SettingNeededError, match="a byte that is not UTF-8") as refused:
        detected_encoding(
            written("größe,über,öl,ähre\nfähre\nü".encode()[:-1].replace(b"\nf", b" "))
        )
    assert refused.value.location == ":2"


@pytest.mark.parametrize("encoding", ["utf-32", "utf-32-le", "utf-32-be"])
def test_utf32_is_refused_by_its_name(written, encoding):
    mark = "" if encoding == "utf-32" else "\ufeff"
    with pytest.raises(TableError, match="is UTF-32, which is not read: save it as UTF-8"):
        detected_encoding(written(f"{mark}question,answer\n".encode(encoding)))


def test_binary_file_is_refused_with_its_line(written):
    with pytest.raises(TableError, match="NUL") as refused:
        detected_encoding(written(b"a,b\n\xff\x00\x81\n"))
    assert refused.value.location == ":2"


@pytest.mark.parametrize("encoding", NAMES)
def test_encodings_that_can_be_chosen_exist(encoding):
    assert TableMapping(columns={}, encoding=encoding).encoding == encoding


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
@pytest.mark.parametrize("n", [1, 1000])
def test_utf16_without_a_mark_is_detected(written, encoding, n):
    path = written(("größe,über\n" + "Ähre,“öl”\n" * n).encode(encoding))
    assert detected_encoding(path) == encoding
    (table,) = open_tables(TableFile.of(path))
    assert next(table.rows()) == (2, {"größe": "Ähre", "über": "“öl”"})
