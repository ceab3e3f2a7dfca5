"""What robots.txt allows, and for how long."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from incremental.fetch.options import ROBOTS_MAX_BYTES
from incremental.fetch.robots import (
    DAY_SECONDS,
    RobotsPolicy,
    follow_robots,
    robots_url,
)
from incremental.fetch.status import FetchStatus, Request, Response

NOW = 1_770_000_000.0
SITE = "https://news.example"


def robots(rules: str | bytes, previous: RobotsPolicy | None = None) -> RobotsPolicy:
    body = rules.encode() if isinstance(rules, str) else rules
    response = Response(f"{SITE}/robots.txt", FetchStatus.FETCHED, http_code=200, body=body)
    return RobotsPolicy.from_response(response, "hubwatch", NOW, previous)


def failed(
    status: FetchStatus, code: int | None = None, previous: RobotsPolicy | None = None
) -> RobotsPolicy:
    response = Response(f"{SITE}/robots.txt", status, http_code=code)
    return RobotsPolicy.from_response(response, "hubwatch", NOW, previous)


def test_one_file_speaks_for_scheme_host_and_port() -> None:
    assert robots_url("https://news.example:8443/a/b?c#d") == "https://news.example:8443/robots.txt"


def test_the_longest_match_decides_and_allow_wins_a_draw() -> None:
    policy = robots("User-agent: *\nDisallow: /a\nAllow: /a/b\nDisallow: /*.pdf$\nAllow: /same\n")
    allowed = {
        path
        for path in ("/", "/a", "/a/b/c", "/x.pdf", "/x.pdf?y", "/same")
        if policy.allows(SITE + path)
    }
    assert allowed == {"/", "/a/b/c", "/x.pdf?y", "/same"}


def test_our_own_group_replaces_the_group_for_all() -> None:
    policy = robots("User-agent: *\nDisallow: /\n\nUser-agent: HubWatch/2\nDisallow: /x\n")
    assert policy.allows(f"{SITE}/a")
    assert not policy.allows(f"{SITE}/x")


@pytest.mark.parametrize("other", ["hub", "watch", "hubwatch-news", "Googlebot", "*bot", ""])
def test_a_group_for_another_crawler_is_not_ours(other: str) -> None:
    policy = robots(f"User-agent: {other}\nDisallow: /\n")
    assert policy.allows(f"{SITE}/a")


def test_a_group_may_name_several_crawlers() -> None:
    policy = robots("User-agent: a\nUser-agent: b\nUser-agent: hubwatch # us\nDisallow: /x\n")
    assert not policy.allows(f"{SITE}/x")


def test_crawl_delay_request_rate_and_sitemaps_are_read() -> None:
    policy = robots(
        "User-agent: *\nCrawl-delay: 7.5\nRequest-rate: 1/20\n"
        "Sitemap: https://cdn.example/s.xml\nSitemap: /relative.xml\nSitemap: javascript:x\n"
        "Sitemap: https://cdn.example/s.xml\nSitemap: http://[\n"
    )
    assert policy.crawl_delay_seconds == 20
    sitemaps = ("https://cdn.example/s.xml", f"{SITE}/relative.xml")
    assert policy.sitemaps == sitemaps
    assert failed(FetchStatus.TIMED_OUT, previous=policy).sitemaps == sitemaps


@pytest.mark.parametrize("delay", ["nan", "inf", "-1", "soon", ""])
def test_a_crawl_delay_that_is_no_time_is_none(delay: str) -> None:
    assert robots(f"User-agent: *\nCrawl-delay: {delay}\n").crawl_delay_seconds is None


@pytest.mark.parametrize(
    ("status", "code"),
    [
        (FetchStatus.GONE, 404),
        (FetchStatus.BLOCKED, 403),
        (FetchStatus.HTTP_ERROR, 418),
        (FetchStatus.TOO_MANY_REDIRECTS, 302),
        (FetchStatus.BAD_REDIRECT, 302),
    ],
)
def test_no_file_means_no_rules(status: FetchStatus, code: int) -> None:
    policy = failed(status, code)
    assert policy.allows(f"{SITE}/anything")
    assert policy.expires_at == NOW + DAY_SECONDS


@pytest.mark.parametrize(
    ("status", "code"),
    [
        (FetchStatus.SERVER_ERROR, 500),
        (FetchStatus.RATE_LIMITED, 429),
        (FetchStatus.RATE_LIMITED, 503),
        (FetchStatus.HTTP_ERROR, 204),
        (FetchStatus.TIMED_OUT, None),
        (FetchStatus.DNS_FAILED, None),
        (FetchStatus.TLS_FAILED, None),
        (FetchStatus.BROKEN_RESPONSE, None),
        (FetchStatus.FORBIDDEN_ADDRESS, None),
    ],
)
def test_no_answer_means_wait(status: FetchStatus, code: int | None) -> None:
    policy = failed(status, code)
    assert not policy.reachable
    assert not policy.allows(f"{SITE}/anything")
    assert NOW < policy.expires_at < NOW + DAY_SECONDS
    assert policy.crawl_delay_seconds is None


def test_what_was_known_holds_while_the_file_cannot_be_reached() -> None:
    known = robots("User-agent: *\nDisallow: /x\n")
    policy = failed(FetchStatus.TIMED_OUT, previous=known)
    assert policy.allows(f"{SITE}/a")
    assert not policy.allows(f"{SITE}/x")


def test_the_next_try_comes_later_each_time_and_daily_in_the_end() -> None:
    policy = failed(FetchStatus.SERVER_ERROR, 500)
    waits = []
    for _ in range(30):
        waits.append(policy.expires_at - NOW)
        policy = failed(FetchStatus.SERVER_ERROR, 500, policy)
    assert waits[:3] == [300, 600, 1200]
    assert max(waits) == waits[-1] == DAY_SECONDS
    assert robots("", policy).failures == 0


def test_a_policy_is_rebuilt_from_what_is_stored_of_it() -> None:
    policy = robots("User-agent: *\nDisallow: /x\n")
    again = RobotsPolicy.from_stored(policy.to_stored(), "hubwatch")
    assert again == policy
    assert again.allows(f"{SITE}/a")
    assert not again.allows(f"{SITE}/x")


def test_rules_behind_the_first_500_kib_do_not_count() -> None:
    rules = b"User-agent: *\nDisallow: /early\n" + b"#" * ROBOTS_MAX_BYTES + b"\nDisallow: /late\n"
    policy = robots(rules)
    assert not policy.allows(f"{SITE}/early")
    assert policy.allows(f"{SITE}/late")


def test_rules_far_down_a_small_file_count() -> None:
    """The bound is one of bytes: 30,000 short lines are 200 KB."""
    rules = "User-agent: *\n" + "a: b\n" * 15_000 + "Disallow: /x\n" * 15_000 + "Disallow: /late\n"
    assert len(rules) < ROBOTS_MAX_BYTES
    assert not robots(rules).allows(f"{SITE}/late")


@pytest.mark.parametrize(
    "record", ["Noindex: /n", "Content-Signal: search=yes", "Clean-param: a", "x"]
)
def test_records_that_are_none_do_not_end_a_list_of_crawlers(record: str) -> None:
    """RFC 9309, section 2.2.4."""
    policy = robots(f"User-agent: hubwatch\n{record}\nUser-agent: other\nDisallow: /x\n")
    assert not policy.allows(f"{SITE}/x")


@pytest.mark.parametrize(
    "name", ["Disallow", "disalow", "Dissallow", "dissalow", "diasllow", "disallaw"]
)
def test_misspelt_rules_count(name: str) -> None:
    assert not robots(f"User-agent: *\n{name}: /x\n").allows(f"{SITE}/x")


def test_ten_thousand_crawlers_times_ten_thousand_rules_stay_small() -> None:
    agents = "".join(f"User-agent: bot{n}\n" for n in range(9_000))
    rules = "".join(f"Disallow: /{n}*x\n" for n in range(9_000))
    policy = robots(f"User-agent: *\n{agents}{rules}")
    assert not policy.allows(f"{SITE}/8999/x")
    assert policy.allows(f"{SITE}/9001/")


@given(st.binary(max_size=400))
def test_no_bytes_fail(noise: bytes) -> None:
    policy = robots(b"User-agent: *\n" + noise)
    assert policy.allows(f"{SITE}/") in {True, False}
    assert all(url.lower().startswith("http") for url in policy.sitemaps)


def test_the_file_is_followed_to_other_hosts_five_times() -> None:
    asked: list[str] = []

    def fetch(request: Request) -> Response:
        asked.append(request.url)
        if len(asked) <= hops:
            location = f"https://h{len(asked)}.example/robots.txt"
            return Response(request.url, FetchStatus.REDIRECTED, location=location)
        return Response(request.url, FetchStatus.FETCHED, body=b"User-agent: *\nDisallow: /\n")

    hops = 5
    first = Request(robots_url(f"{SITE}/a"))
    answer = follow_robots(fetch, fetch(first))
    assert not RobotsPolicy.from_response(answer, "hubwatch", NOW).allows(f"{SITE}/a")
    assert asked[0] == f"{SITE}/robots.txt"
    assert asked[-1] == "https://h5.example/robots.txt"
    asked, hops = [], 6
    answer = follow_robots(fetch, fetch(first))
    assert answer.status is FetchStatus.TOO_MANY_REDIRECTS
    assert RobotsPolicy.from_response(answer, "hubwatch", NOW).allows(f"{SITE}/a")
