"""Lines that differ at every fetch and mean nothing: dates of the day, counters, sharing.

Noise is removed from a page's furniture, never from its prose: a short line is masked phrase by phrase,
and the rest is compared::

    Updated 3 hours ago · 1,204 views      ->  (nothing left: the line is noise)
    By Ann Lee · Updated 3 hours ago       ->  By Ann Lee
    Deadline: 8 May 2026                   ->  unchanged: nothing says that this date is the page's
    发布时间：2026-05-08 浏览次数：120      ->  (nothing left)
"""

import re
import unicodedata
from dataclasses import dataclass

# A longer line is prose.
MAX_LINE_CHARS = 160
# Lines compared one by one; the rest counts as one line.
MAX_LINES = 4_000
# Lines at either end of a text that may be furniture; the rest is prose.
FURNITURE_LINES = 400

# Digits go together (``++``): a line that may be cut anywhere can be read in 2 ** n ways.
_MONTH = (
    r"(?:jan|feb|mar|apr|may|jun|jul|aug|sept?|oct|nov|dec|mär|mai|okt|dez|janv|févr|mars|avr|juin|juil|août"
    r"|ene|abr|ago|dic)[a-zäéû]*\.?"
)
_DATE = (
    rf"(?:\d{{4}}\s*[-/.年]\s*\d{{1,2}}(?:\s*[-/.月]\s*\d{{1,2}}+\s*+日?|\s*月)"
    rf"|\d{{1,2}}[-/.]\d{{1,2}}[-/.]\d{{2,4}}+|\d{{1,2}}月\d{{1,2}}日"
    rf"|(?:\d{{1,2}}(?:st|nd|rd|th|\.)?\s+(?:de\s+)?)?{_MONTH}\s*(?:de\s+)?\d{{1,4}}+(?:st|nd|rd|th)?(?:\s*+(?:,\s*+)?\d{{4}})?)"
)
_DAY = (
    r"(?:(?:mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?|sun)(?:day)?\b\.?+,?+"
    r"|(?:星期|周|礼拜)[一二三四五六日天])"
)
_ZONE = r"\(?(?:UTC|GMT|(?!TT)[A-Z]{2,4}T(?![A-Z]))[+\d:]*+\)?"
_CLOCK = rf"(?:at\s+)?\d{{1,2}}:\d{{2}}(?::\d{{2}})?(?:\s*[ap]\.?m\.?)?(?:\s*{_ZONE})?"
_STAMP = rf"(?:{_DAY}\s*)*(?:{_DATE}|{_CLOCK}|T)(?:[\s,·T|]*(?:{_DAY}|{_DATE}|{_CLOCK}))*\s*+Z?"
# A date is noise if the page calls it its own (published, updated, today); a deadline is content.
_OWN_DATE = (
    r"(?:(?:last\s+)?(?:updated?|modified|published|posted|created|edited|revised|generated|retrieved)"
    r"(?:\s+(?:on|at|date|time))?|date|(?:it\s+is\s+)?today(?:\s+is)?|as\s+of|aktualisiert|veröffentlicht|publié|publicado"
    r"|(?:发布|发表|发稿|更新|刊登|修改|最后更新|最后修改|编辑|上传|录入)(?:时间|日期|于)?|(?:时间|日期)|今天是?|现在时间|當前時間|当前时间)"
)
_UNIT = (
    r"(?:s|m|h|d|sec(?:ond)?s?|min(?:ute)?s?|hrs?|hours?|days?|weeks?|months?|years?"
    r"|Minuten?|Stunden?|Tage?n?|jours?|heures?|horas?|días?)"
)
_AGO = (
    rf"(?:(?:about\s+)?(?:(?<!\d)\d++|an?|one|(?:a\s+)?few)\s*+{_UNIT}\s+ago|(?:vor|il\s+y\s+a|hace)\s+\d+\s+{_UNIT}\b"
    r"|(?<!\d)\d++\s*+(?:秒|分钟|分|小时|天|周|个月|月|年)(?:钟)?之?前|just\s+now|刚刚)"
)
_NUMBER = r"\d[\d,.]*+\s*+[kKmM万千亿]?\+?"
_COUNTED = (
    r"(?:(?:page\s*)?views?|reads?|hits|visits?|visitors?|likes?|shares?|comments?|repl(?:y|ies)|votes?"
    r"|downloads?|followers?|reactions?|retweets?|upvotes?|claps|bookmarks?|people\s+reading(?:\s+this)?"
    r"|min(?:ute)?s?\s+read)"
)
_COUNTED_HAN = (
    r"(?:浏览|阅读|点击|访问|查看|观看|播放|下载|评论|点赞|转发|收藏|分享|跟帖|回复|人气|热度|字数|访客|在线)"
    r"(?:次数|人数|数|量|人)?"
)
_LABELLED = {
    "relative time": rf"(?:{_OWN_DATE}\s*+(?:[:：]\s*+)?)?{_AGO}",
    "date": rf"{_OWN_DATE}\s*+(?:[:：]\s*+)?{_STAMP}",
    "counter": (
        rf"\b{_COUNTED}\s*:\s*{_NUMBER}|{_COUNTED_HAN}\s*[:(]\s*{_NUMBER}\s*(?:次|人|条|篇)?\s*\)?"
    ),
}
_MASKS = {name: re.compile(pattern, re.IGNORECASE) for name, pattern in _LABELLED.items()}
# Without a label a number may be the line's content, so the counter must be all there is.
_COUNTER = re.compile(
    rf"(?:(?:{_NUMBER}\s*{_COUNTED}|{_COUNTED}\s*\(?{_NUMBER}\)?|{_COUNTED_HAN}\s*{_NUMBER}(?:次|人|条|篇)?"
    rf"|{_NUMBER}(?:次|人|条)?\s*{_COUNTED_HAN})[\W_]*)+",
    re.IGNORECASE,
)
_BETWEEN = re.compile(r"\s*[|·•/;\[\]【】]\s*|\s*,\s+|\s+-+\s+")
_ALONE = re.compile(rf"[\W_]*{_STAMP}[\W_]*", re.IGNORECASE)
_ASKS_FOR_DATE = re.compile(
    r"[:：]\s*$|deadline|closing|due|until|expir|start|begin|\bends?\b|when|event|截止|开标|报名|开始|结束|有效期|举行|会议",
    re.IGNORECASE,
)
# Longer words stand before their beginnings: each place in a line is read in one way only.
_SHARING = (
    r"share(?:\s+(?:this|on|via|to|with))*|tweet|facebook|twitter|x|linkedin|whatsapp|telegram|reddit|pinterest|e-?mail"
    r"|copy\s+link|print(?:\s+this(?:\s+page)?)?|save|follow\s+us(?:\s+on)?|subscribe|sign\s+up|like|bookmark|this|page|article|on|or|and"
    r"|分享(?:到|至|文章|本文)?|微信|微博|新浪微博|新浪|腾讯微博|腾讯|qq空间|qq|朋友圈|豆瓣|人人网|扫一扫|扫码|手机看?|打印(?:本页|本文)?"
    r"|关闭(?:窗口|本页)?|返回(?:顶部|首页|列表)?|收藏(?:本页|本文)?|纠错|字号|字体|大|中|小|我要|复制链接|点赞|点击"
)
_ADVERTISING = (
    r"advertisements?|ad\s+choices|ads?|sponsored(?:\s+(?:content|by|links?))?|promoted|(?:story\s+)?continues\s+below"
    r"|story|below|广告|推广|赞助(?:内容)?"
)
_FURNITURE = {
    name: re.compile(rf"[\W_]*(?:(?>{words}){end}[\W_]*+)++", re.IGNORECASE)
    for name, words, end in (
        ("advertisement", _ADVERTISING, r"(?![^\W_])"),
        ("sharing", _SHARING, ""),
    )
}
_MAX_FURNITURE_CHARS = 60
_QUOTES = str.maketrans("‘’‚“”„«»–—‐‑", '\'\'\'"""""----')
_REST = re.compile(r"[^\W_]")


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a text."""

    text: str
    key: str
    """What is compared; empty for furniture."""
    noise: tuple[str, ...] = ()
    """What was masked in it: date, relative time, counter, sharing, advertisement."""


def lines_of(text: str) -> list[Line]:
    """Return the non-empty lines of a text with their noise."""
    shown = [line for line in (" ".join(line.split()) for line in text.splitlines()) if line]
    if len(shown) > MAX_LINES:
        shown = [*shown[: MAX_LINES - 1], " ".join(shown[MAX_LINES - 1 :])]
    prose = range(FURNITURE_LINES, len(shown) - FURNITURE_LINES)
    return [
        Line(line, _plain(line)) if number in prose else _line(line, before)
        for number, (line, before) in enumerate(zip(shown, ["", *shown], strict=False))
    ]


def prose_of(text: str) -> str:
    """Return a text without its noise."""
    return "\n".join(line.key for line in lines_of(text) if line.key)


def _plain(text: str) -> str:
    return unicodedata.normalize("NFKC", text).translate(_QUOTES)


def _line(text: str, before: str) -> Line:
    plain = _plain(text)
    if len(plain) > MAX_LINE_CHARS:
        return Line(text, plain)
    for name, pattern in _FURNITURE.items():
        if len(plain) <= _MAX_FURNITURE_CHARS and pattern.fullmatch(plain):
            return Line(text, "", (name,))
    # A date without a label is noise only if it stands alone and the line before does not ask for one.
    if _ALONE.fullmatch(plain) and not _ASKS_FOR_DATE.search(before):
        return Line(text, "", ("date",))
    return _masked(text, plain)


def _masked(text: str, plain: str) -> Line:
    rest, found = plain, []
    for name, pattern in _MASKS.items():
        masked = pattern.sub(" | ", rest)
        if masked != rest:
            found.append(name)
            rest = masked
    parts = [part for part in _BETWEEN.split(rest) if _REST.search(part)]
    kept = [part for part in parts if not _COUNTER.fullmatch(part.strip(" ()"))]
    if len(kept) < len(parts):
        found.append("counter")
    if not found:
        return Line(text, plain)
    return Line(
        text, " | ".join(" ".join(part.split()) for part in kept), tuple(dict.fromkeys(found))
    )
