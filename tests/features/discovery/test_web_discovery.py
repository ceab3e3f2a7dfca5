"""Further sites by page: proposals are shown, taken and turned down; the last search is announced."""

import re

import pytest
from web_served import Served, post

from store.discovery.values import NewProposal, ProposedHub, ProposedPage

HOSTILE = "<script>alert(1)</script>\u202e"
SITES = ("spans.example", "cables.example", "sport.example")


@pytest.fixture
def searched(served: Served) -> Served:
    """A topic with number 1, a search, and three proposed sites."""
    store, now = served.store, served.clock.now()
    topic = store.topics.add("Bridges & 桥", ["bridge"], "fused", now=now)
    store.discovery.begin(topic, now=now - 600)
    store.discovery.end(topic, "all rounds done", HOSTILE, now=now)
    proposals = [
        NewProposal(
            host,
            0.9 - 0.1 * place,
            pages=(
                ProposedPage(f"https://{host}/best", HOSTILE, 0.8),
                ProposedPage("javascript:alert(1)", "", 0.1),
            ),
            hubs=(ProposedHub(f"https://{host}/list", 0.9),),
            why="2 pages among the best",
        )
        for place, host in enumerate(SITES)
    ]
    store.discovery.propose(topic, proposals, now=now)
    return served


def watched_names(served: Served) -> set[str]:
    return {row.name for row in served.store.read.sites()}


def listed(served: Served, state: str = "proposed") -> list[str]:
    return [one.host for one in served.store.discovery.proposals(1, state)]


def test_before_the_first_search_the_page_says_how_to_begin(served: Served) -> None:
    served.store.topics.add("it's", ["bridge"], "fused", now=served.clock.now())
    html = served.client().get("/topics/1/discovery").text
    assert "No search yet" in html
    assert "hubwatch discover run --topic &#39;it&#39;&#34;&#39;&#34;&#39;s&#39;" in html
    assert "<svg" not in re.sub(r"<header.*?</header>", "", html, flags=re.DOTALL)


def test_the_page_shows_proposals_and_the_last_search(searched: Served) -> None:
    html = searched.client().get("/topics/1/discovery").text
    for said in (*SITES, "https://spans.example/best", "spans.example/list", "all rounds done"):
        assert said in html, said
    assert html.index("spans.example") < html.index("sport.example")


def test_texts_of_found_sites_are_text(searched: Served) -> None:
    for language in ("en", "zh"):
        html = searched.client(Accept_Language=language).get("/topics/1/discovery").text
        assert "<script>alert" not in html
        assert "\u202e" not in html
        assert 'href="javascript' not in html
        assert not re.search(r"<script(?![^>]*\bsrc=)|<style|\sstyle=|\son[a-z]+=", html)


def test_the_topic_tells_how_many_wait_for_a_word(searched: Served) -> None:
    client = searched.client()
    for path in ("/topics", "/topics/1"):
        assert re.search(r'href="/topics/1/discovery">[^<]*<span[^>]*>3<', client.get(path).text)


def test_one_site_is_taken_and_the_others_are_turned_down(searched: Served) -> None:
    client = searched.client()
    there = post(client, "/topics/1/proposals", site=SITES[0], decision="accept")
    assert there.headers["location"] == "/topics/1/discovery"
    assert SITES[0] in watched_names(searched)
    post(client, "/topics/1/proposals", site=list(SITES[1:]), decision="reject")
    assert listed(searched) == []
    assert listed(searched, "rejected") == list(SITES[1:])
    html = client.get("/topics/1/discovery?state=rejected").text
    assert 'value="accept"' in html
    assert 'value="reject"' not in html


def test_all_that_are_shown_are_taken_with_one_button(searched: Served) -> None:
    client = searched.client()
    form = re.search(r"<form[^>]*data-ask=.*?</form>", client.get("/topics/1/discovery").text)
    assert form is not None
    sites = re.findall(r'name="site" value="([^"]+)"', form[0])
    assert sites == list(SITES)
    post(client, "/topics/1/proposals", site=sites, decision="accept")
    assert set(SITES) <= watched_names(searched)


def test_accepted_sites_begin_from_their_hubs(searched: Served) -> None:
    client = searched.client()
    post(client, "/topics/1/proposals", site=[SITES[0], SITES[1]], decision="accept")
    hubs = client.get("/api/v1/hubs").json()
    assert f"https://{SITES[0]}/list" in [hub["url"] for hub in hubs]
    assert listed(searched) == [SITES[2]]


@pytest.mark.parametrize("what", ["accept", "reject"])
def test_a_site_that_was_not_proposed_changes_nothing(searched: Served, what: str) -> None:
    chosen = [SITES[0], "never.example"]
    answer = post(searched.client(), "/topics/1/proposals", site=chosen, decision=what)
    assert answer.status_code == 404
    assert "never.example" in answer.text
    assert listed(searched) == list(SITES)
    assert SITES[0] not in watched_names(searched)


def test_a_topic_that_is_not_there_has_no_search(served: Served) -> None:
    assert served.client().get("/topics/1/discovery").status_code == 404


def test_who_only_reads_is_shown_no_button(searched: Served) -> None:
    from incremental.interfaces.web.access import new_token

    token = new_token(searched.store, "reader", "read", now=searched.clock.now())
    client = searched.client()
    post(client, "/login", secret=token)
    html = client.get("/topics/1/discovery").text
    assert SITES[0] in html
    assert set(re.findall(r'action="([^"]+)"', html)) <= {"/preferences", "/logout"}
