"""Words by which sites around the world name sections, lists, articles and utilities.

A word may be in several classes.
"""

from __future__ import annotations

import re
from typing import Final

WORD_CLASSES: Final = ("section", "taxonomy", "entity", "article", "about", "function", "pinyin")

# By hand, because the learned tables know only words of their training sites.
_WORDS: Final = {
    "section": """news newsroom newslist press pressroom media blog blogs notice notices announcement
        announcements event events bulletin bulletins update updates releases release changelog
        whatsnew latest recent new newest today daily weekly headlines breaking insights stories
        articles posts publications papers research reports report journal journals magazine issues
        issue newsletter newsletters podcast podcasts videos video photos pictures gallery galleries
        jobs job careers career vacancies recruit recruitment tenders tender bids notifications
        activity activities calendar hot trending popular top best ranking rankings rank ranks charts
        chart leaderboard feed feeds rss timeline aktuelles nachrichten presse pressemitteilungen
        meldungen noticias prensa actualites actualite notizie novosti novinky aktualnosci nyheter
        uutiset berita""",
    "taxonomy": """category categories cat cats kategorie categoria categorie tag tags tagged label
        labels topic topics theme themes thema themen sujet section sections rubrik ressort channel
        channels column columns list lists listing listings index class classes default more archive
        archives archiv all browse explore discover directory catalog catalogue collection
        collections library libraries search results query page pages forum forums board boards
        group groups community node nodes genre genres type types sort subject subjects department
        departments region regions home main portal hub overview sitemap menu filter store shop
        products deals sale""",
    "entity": """user users u author authors people person profile profiles member members space
        account accounts creator creators artist artists actor actress star performer writer writers
        columnist contributor team teams series serie manga comic comics webtoon novel novels book
        books bookinfo album albums playlist playlists show shows program programs programme anime
        bangumi drama tv tvshow season seasons works work project projects repo game games app apps
        package packages model models brand brands company companies organization org journal
        magazine periodical uid id studio club course courses subreddit r""",
    "article": """article articles artikel articulo story detail details content contents show view
        post posts p info item read watch status newsinfo newsdetail viewnews shownews entry archives
        thread threads t topic question questions answer answers review reviews abs pdf doc document
        note notes event video v play film movie recipe recipes a art paper release permalink
        comments""",
    "about": """about contact contacts join privacy terms legal help faq docs doc documentation
        install installation download downloads guide guides tutorial tutorials manual wiki how
        support pricing features demo login register signup license policy impressum ueber kontakt
        donate example test readme intro introduction history mission apply application admission
        admissions""",
    "function": """the to of in for how is with and your you on at from by what why when who will are
        was be has have its it this that not can an as after over into out against amid says say his
        her their my our i we or if more than between der die das und von mit fur fuer im ist ein
        eine auf zu den des dem wie wird nach bei le la les du et un une pour dans sur est avec el
        los las del y en una para con por que se il di da che per non nel della uma os em com no na
        do dos""",
    # Chinese sites name folders by pinyin initials: ``tzgg`` is 通知公告, notices.
    "pinyin": """tzgg tongzhi gonggao tzgonggao gg ggtz gsgg xwzx xwdt xw xinwen xxgk zwgk zfxxgk gzdt
        zcfg zcwj zcjd zwdt gggs gongshi tz tzgs xsdt xshd xsjz jzxx jz zsxx zsgz zsjz zpxx rczp zxgg
        zxzx zxdt dtxw dt jyxx zbgg zhongbiao zbcg cggg ztbxx ztzl zt rdzt mtbd mtjj mtgz hdjl ywdt
        yw zxks xyxw xydt xyxx xueyuan kydt kyxx lmtz djgz djdt ggl list zxxx ldjh szyw bmdt gsdt
        hydt jrxw zhxw ttxw tpxw bszn zczx fgwj gfxwj wjtz""",
}

# Word -> bit mask over ``WORD_CLASSES``, lowest bit first.
WORD_MASK: Final[dict[str, int]] = {}
for _bit, _name in enumerate(WORD_CLASSES):
    for _word in _WORDS[_name].split():
        WORD_MASK[_word] = WORD_MASK.get(_word, 0) | 1 << _bit

# The bits of every mask as 0.0 and 1.0: the hot loop only looks them up.
MASK_FLAGS: Final = tuple(
    tuple(float(mask >> bit & 1) for bit in range(len(WORD_CLASSES)))
    for mask in range(1 << len(WORD_CLASSES))
)

# Anchor texts that name a section.
SECTION_ANCHOR: Final = re.compile(
    "新闻|公告|动态|资讯|栏目|列表|更多|首页|专题|频道|中心|要闻|信息公开|招聘|公示|活动|讲座|政策"
    "|法规|标签|分类|归档|排行|最新|博客|论坛|news|blog|archive|category|tag|latest|more|index",
    re.IGNORECASE,
)
# Anchor texts that are a headline.
ARTICLE_ANCHOR: Final = re.compile(
    r"关于|的通知|的公告|的意见|办法|印发|[0-9]{4}年|[0-9][月日]|[《》：！？，。…?!“:]"
)

_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")
_WORD = re.compile(r"[a-z]+")


def words_of(text: str) -> list[str]:
    """Return the ASCII words of a URL part, in lower case; ``newsDetail`` is two."""
    if text.islower():
        return _WORD.findall(text)
    return _WORD.findall(_CAMEL.sub("-", text).lower())


def mask_of(text: str) -> int:
    """Return the classes of all words of the text, as a bit mask."""
    mask = 0
    for word in words_of(text):
        mask |= WORD_MASK.get(word, 0)
    return mask
