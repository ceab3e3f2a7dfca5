"""From bytes to text, whatever the site says it sent."""

import codecs

import pytest
import webencodings
from hypothesis import given
from hypothesis import strategies as st

from incremental.parse.decoding import decode_body

CHINESE = (
    "国务院办公厅今日发布通知，要求各地区各部门认真贯彻落实会议精神，切实加强组织领导。"
    "学校召开年度工作会议，总结成绩并部署下一步任务；图书馆春节期间开放时间另行公布。"
)
TAIWAN = (
    "教育部今日宣布，各級學校應加強資訊安全教育，並鼓勵師生參與各項競賽活動。"
    "最新消息與公告請參閱本校網站首頁，報名截止日期為本月底，歡迎踴躍參加。"
)
JAPANESE = (
    "首相は本日、記者会見を開き、新しい経済対策について説明しました。"
    "詳しい内容はウェブサイトをご覧ください。ニュース一覧はこちらです。"
)
KOREAN = (
    "정부는 오늘 새로운 경제 정책을 발표했습니다. 자세한 내용은 홈페이지에서 확인하실 수 있습니다. "
    "최신 뉴스 목록과 공지사항은 아래를 참고하시기 바랍니다."
)
RUSSIAN = (
    "Правительство объявило сегодня о новых мерах поддержки экономики. Подробности опубликованы "
    "на официальном сайте. Последние новости читайте в нашем разделе."
)
FRENCH = "Le gouvernement a annoncé de nouvelles mesures. « Où ? Là-bas », répond l’élève."


def page(text: str, meta: str = "") -> str:
    head = f'<meta charset="{meta}">' if meta else ""
    return f"<html><head>{head}<title>{text[:10]}</title></head><body><p>{text}</p></body></html>"


EAST_ASIA = [
    (CHINESE, "gbk", "gb2312"),
    (CHINESE, "gb18030", "gb18030"),
    (TAIWAN, "big5", "big5"),
    (JAPANESE, "cp932", "shift_jis"),
    (JAPANESE, "euc_jp", "euc-jp"),
    (KOREAN, "cp949", "euc-kr"),
]
DECLARED = [
    *EAST_ASIA,
    (JAPANESE, "iso2022_jp", "iso-2022-jp"),
    (RUSSIAN, "cp1251", "windows-1251"),
    (RUSSIAN, "koi8-r", "koi8-r"),
    (FRENCH, "cp1252", "iso-8859-1"),
    ("Zażółć gęślą jaźń", "iso8859-2", "iso-8859-2"),
    ("Şişli'de güneşli bir gün", "cp1254", "iso-8859-9"),
    ("Ελληνικά νέα", "cp1253", "windows-1253"),
    ("שלום עולם", "cp1255", "windows-1255"),
    ("ข่าวประชาสัมพันธ์", "cp874", "tis-620"),
    (CHINESE, "utf-8", "utf-8"),
]


@pytest.mark.parametrize(("text", "codec", "label"), DECLARED)
def test_the_header_names_the_charset(text: str, codec: str, label: str) -> None:
    body = page(text).encode(codec)
    assert decode_body(body, f"text/html; Charset={label}")[0] == page(text)


@pytest.mark.parametrize(("text", "codec", "label"), DECLARED)
def test_the_page_names_the_charset(text: str, codec: str, label: str) -> None:
    body = page(text, meta=label).encode(codec)
    assert decode_body(body, "text/html")[0] == page(text, meta=label)


@pytest.mark.parametrize("label", sorted(webencodings.LABELS))
def test_every_label_that_browsers_take_names_its_charset(label: str) -> None:
    """The labels of the WHATWG Encoding Standard; 79 of them Python does not have, or means otherwise."""
    encoding = webencodings.lookup(label)
    assert encoding is not None
    if encoding.name in {"replacement", "x-user-defined"}:
        return  # what browsers refuse to read, and what stands for raw bytes
    for sample in (
        CHINESE,
        TAIWAN,
        JAPANESE,
        KOREAN,
        RUSSIAN,
        FRENCH,
        "عرب",
        "Ελληνικά",
        "שלום",
        "ไทย",
    ):
        body = encoding.codec_info.encode("<p>" + sample * 9, "ignore")[0]
        if len(body) < 20 or (b"\0" in body and "utf-16" not in encoding.name):
            continue
        expected = encoding.codec_info.decode(body, "replace")[0]
        assert decode_body(body, f"text/html; charset={label}")[0] == expected


@pytest.mark.parametrize(
    ("label", "codec", "text"),
    [
        ("iso-8859-8-i", "iso8859-8", "שלום עולם"),
        ("logical", "iso8859-8", "שלום עולם"),
        ("koi8", "koi8-r", RUSSIAN),
        ("x-mac-cyrillic", "mac-cyrillic", RUSSIAN),
        ("x-cp1252", "cp1252", FRENCH),
        ("x-mac-roman", "mac-roman", FRENCH),
        ("x-sjis", "cp932", "首相"),
        ("windows-949", "cp949", "정부는"),
    ],
)
def test_labels_that_python_lacks_are_known(label: str, codec: str, text: str) -> None:
    """So short a text would be detected as something else."""
    assert decode_body(f"<p>{text}".encode(codec), f"text/html; charset={label}")[0] == f"<p>{text}"
    body = page(text, meta=label).encode(codec)
    assert decode_body(body, "text/html")[0] == page(text, meta=label)


@pytest.mark.parametrize(("text", "codec", "label"), EAST_ASIA)
def test_the_servers_default_does_not_overrule_what_the_bytes_are(
    text: str, codec: str, label: str
) -> None:
    default = "text/html; charset=ISO-8859-1"
    assert decode_body(page(text, meta=label).encode(codec), default)[0] == page(text, meta=label)
    assert decode_body(page(text).encode(codec), default)[0] == page(text)


@pytest.mark.parametrize(
    ("text", "codec"), [*(case[:2] for case in EAST_ASIA), (RUSSIAN, "cp1251"), (FRENCH, "cp1252")]
)
def test_a_charset_that_nobody_names_is_detected(text: str, codec: str) -> None:
    assert decode_body(page(text).encode(codec), "")[0] == page(text)


def test_western_letters_that_stand_alone_are_not_taken_for_east_asian_ones() -> None:
    """Found on captured pages: detection made Big5 of one, Shift_JIS of another."""
    german = "alle, die fürs Studium spektakuläre große Geburtstage und Übersichten öffnen können "
    body = page(german * 12).encode("cp1252")
    assert decode_body(body, "text/html; charset=iso-8859-1")[0] == page(german * 12)
    assert decode_body(body.replace(b"</p>", b"\xfcrs \xdfen \xd6ffent</p>"), "")[1] != "cp932"


@pytest.mark.parametrize("header", ["utf-8", "gb2312", "big5", "shift_jis", "windows-1251", "x-y"])
@pytest.mark.parametrize("text", [CHINESE, RUSSIAN, FRENCH, "©"])
def test_valid_utf8_is_utf8_whatever_is_declared(text: str, header: str) -> None:
    body = page(text, meta=header).encode()
    expected = (page(text, meta=header), "utf-8")
    assert decode_body(body, f"text/html; charset={header}") == expected


@pytest.mark.parametrize(("text", "codec"), [(CHINESE, "gbk"), (JAPANESE, "cp932")])
def test_a_declared_charset_under_which_the_body_does_not_decode_is_not_believed(
    text: str, codec: str
) -> None:
    for wrong in ("utf-8", "iso-2022-jp", "utf-16", "euc-kr" if codec == "cp932" else "euc-jp"):
        assert decode_body(page(text).encode(codec), f"text/html; charset={wrong}")[0] == page(text)


@pytest.mark.parametrize(("codec", "label"), [("gbk", "gb2312"), ("utf-8", "utf-8")])
def test_a_character_cut_in_half_does_not_spoil_the_page(codec: str, label: str) -> None:
    """Chinese sites cut titles by bytes."""
    body = f"<title>{CHINESE}</title>".encode(codec)
    half = CHINESE[0].encode(codec)[:1]
    text, _ = decode_body(half + b"..." + body * 3, f"text/html; charset={label}")
    assert text.endswith(f"<title>{CHINESE}</title>")
    assert text.count("\ufffd") == 1


@pytest.mark.parametrize(
    ("mark", "codec"),
    [
        (codecs.BOM_UTF8, "utf-8"),
        (codecs.BOM_UTF16_LE, "utf-16-le"),
        (codecs.BOM_UTF16_BE, "utf-16-be"),
        (codecs.BOM_UTF32_LE, "utf-32-le"),
    ],
)
def test_a_byte_order_mark_overrules_the_header(mark: bytes, codec: str) -> None:
    body = mark + page(CHINESE).encode(codec)
    assert decode_body(body, "text/html; charset=gbk") == (page(CHINESE), codec)


@pytest.mark.parametrize("label", ["punycode", "unicode_escape", "rot13", "zlib", "idna", "\0", ""])
def test_codecs_that_are_no_charsets_are_not_used(label: str) -> None:
    body = page(CHINESE, meta=label).encode("gbk")
    text, charset = decode_body(body, f"text/html; charset={label}")
    assert (CHINESE in text, charset) == (True, "gb18030")


def test_nul_bytes_are_left_out() -> None:
    assert decode_body(b"<p>a\0b</p>\0", "text/html") == ("<p>ab</p>", "utf-8")
    assert decode_body(b"", "") == ("", "utf-8")


@given(st.binary(max_size=500), st.text(max_size=20))
def test_no_bytes_and_no_label_fail(body: bytes, label: str) -> None:
    text, charset = decode_body(body, f"text/html; charset={label}")
    assert "\0" not in text
    assert codecs.lookup(charset)


@given(st.text(max_size=300))
def test_text_in_utf8_comes_back(text: str) -> None:
    encodable = text.encode("utf-8", "ignore").decode().removeprefix("\ufeff")
    escaped = "\x1b" in encodable or "~{" in encodable
    if not escaped:
        assert decode_body(encodable.encode(), "")[0] == encodable.replace("\0", "")
