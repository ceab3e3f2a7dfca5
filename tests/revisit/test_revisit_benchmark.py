"""The trial of policies: worlds, equal numbers of visits, rivals, bounds, and the script."""

import gzip
import json
import random
import subprocess
import sys
from pathlib import Path

import pytest
from lab import rivals
from lab.simulation import Crowd, Score, run, score
from lab.world import Row, World
from synthetic_hubs import draw

from incremental.schedule.price import PricePolicy
from incremental.schedule.state import HubState, SiteState, Visit

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "scripts" / "bench_revisit.py"
TIMELINES = ROOT.parent / "shared" / "timelines" / "timelines.tsv.gz"
HOUR, DAY = 3600.0, 86_400.0

needs_timelines = pytest.mark.skipif(
    not TIMELINES.exists(), reason=f"no timelines of real hubs at {TIMELINES}"
)


def _steady(rates: dict[str, float], days: float = 20) -> World:
    """Return hubs on which a link appears every 1/rate hours and stays."""
    end = days * DAY
    rows = [Row(hub, f"{hub}0", 0.0, end) for hub in rates]
    for hub, rate in rates.items():
        step = HOUR / rate
        rows += [Row(hub, f"{hub}{k}", k * step, end) for k in range(1, int(end / step))]
    return World(rows)


def _random(rates: dict[str, float], days: float = 40) -> World:
    """Return hubs on which links appear at random at these rates, and stay."""
    rng, end = random.Random(5), days * DAY
    rows = [Row(hub, f"{hub}0", 0.0, end) for hub in rates]
    for hub, rate in rates.items():
        at = 0.0
        while (at := at + rng.expovariate(rate) * HOUR) < end:
            rows.append(Row(hub, f"{hub}{at}", at, end))
    return World(rows)


def _score(world: World, policy: rivals.IntervalPolicy, budget: float) -> Score:
    world.forget()
    crowd = Crowd(lambda _site, _terms: policy, dict.fromkeys(world.hubs, "s"), budget)
    return score(world, sum(1 for _ in run(world, crowd)), warm_up_days=5)


def test_a_visit_sees_what_is_there_and_credits_the_first_hub() -> None:
    rows = [
        Row("a", "0", 0, 90),
        Row("b", "0", 0, 90),
        Row("a", "x", 10, 40),
        Row("b", "x", 15, 99),
    ]
    world = World(rows)
    assert world.visit("a", 0).baseline
    assert world.visit("b", 5).baseline
    assert world.visit("a", 10).novel == 1  # first_seen <= t
    shared = world.visit("b", 20)
    assert (shared.novel, dict(shared.shared)) == (0, {"a": 1})
    gone = world.visit("a", 40)  # t < visible_until
    assert (gone.shown, gone.vanished) == (1, 1)
    assert world.sighted["x"] == 10


def test_rows_may_be_unsorted_overlapping_or_impossible() -> None:
    rows = [
        Row("a", "x", 50, 60),
        Row("a", "x", 10, 30),
        Row("a", "x", 20, 40),
        Row("a", "never", 70, 70),
        Row("a", "y", 5, 9),
        Row("c", "backwards", 8, 7),
    ]
    world = World(rows)
    assert world.stays == {"a": [(5, 9, "y"), (10, 40, "x"), (50, 60, "x")]}
    assert (world.start, world.end) == (5, 60)


def test_a_world_in_which_nothing_is_ever_visible_is_refused() -> None:
    with pytest.raises(ValueError, match="visible"):
        World([Row("a", "x", 2, 1)])


def test_a_link_never_seen_counts_as_a_day() -> None:
    world = _steady({"a": 1.0})
    assert score(world, 0, warm_up_days=5).missed_share == 1.0
    assert score(world, 0, warm_up_days=5).mean_minutes == 1440


def test_round_robin_and_proportional_are_equal_and_the_square_root_beats_both() -> None:
    """N / 2B for the first two, (sum of roots)^2 / (2 B sum) for the third."""
    rates = {"a": 16.0, "b": 1.0, "c": 1.0, "d": 1.0}
    world = _random(rates)
    equal = _score(world, rivals.round_robin(), 4.0).mean_minutes
    proportional = _score(world, rivals.by_true_rate("p", rates, 1.0), 4.0).mean_minutes
    root = _score(world, rivals.by_true_rate("s", rates, 0.5), 4.0).mean_minutes
    assert equal == pytest.approx(60 * 4 / 8, rel=0.07)
    assert proportional == pytest.approx(60 * 4 / 8, rel=0.1)
    assert root == pytest.approx(60 * 7**2 / (8 * 19), rel=0.1)


def _intervals(policy: rivals.IntervalPolicy, found: list[int]) -> list[float]:
    """Return the intervals in hours after visits that found so many links of ten."""
    hub, hours = HubState(key="a"), []
    for number, novel in enumerate(found):
        visit = Visit(at=1e9 + number * HOUR, shown=10, novel=novel, baseline=number == 0)
        hub, _ = policy.observe(hub, SiteState(), visit)
        hours.append(hub.interval / HOUR)
    return hours


@pytest.mark.parametrize(
    ("policy", "hours"),
    [
        (rivals.nutch(), [1008.0, 806.4, 1128.96]),
        (rivals.stormcrawler(), [36.0, 18.5, 27.75]),
        (rivals.news_crawl(), [18.0, 14.7, 22.05]),
        (rivals.mediacloud(), [6 + 1 / 6, 6 + 1 / 6, 6 + 2 / 6]),
        (rivals.MinifluxPolicy(), [24.0, 24.0, 24.0]),
        (rivals.round_robin(), [24.0, 24.0, 24.0]),
    ],
    ids=lambda value: value.name if isinstance(value, rivals.IntervalPolicy) else "",
)
def test_rivals_keep_their_own_rules(policy: rivals.IntervalPolicy, hours: list[float]) -> None:
    """A baseline, a visit that finds half of the links new, and one that finds none."""
    assert _intervals(policy, [0, 5, 0]) == pytest.approx(hours, rel=1e-3)


def test_miniflux_counts_the_entries_of_a_week() -> None:
    """Two entries an hour apart are 168 a week."""
    assert _intervals(rivals.MinifluxPolicy(), [0, 1, 1])[-1] == pytest.approx(1.0)


def test_the_price_policy_comes_near_the_optimum_on_hubs_that_work_by_day() -> None:
    drawn = draw(7, hubs=20)
    budget = 10.0
    world, count = drawn.world, drawn.world.slots(budget)
    crowd = Crowd(lambda _site, terms: PricePolicy(terms), drawn.sites, budget)
    assert sum(1 for _ in run(world, crowd)) == count
    learned = score(world, count).mean_minutes
    # With known rates, the visits that dynamic programming finds best have 28.9 minutes.
    assert learned <= 1.25 * 28.9


def test_a_workload_is_the_same_for_the_same_seed() -> None:
    first, again, other = draw(3, hubs=9), draw(3, hubs=9), draw(4, hubs=9)
    assert first.world.stays == again.world.stays != other.world.stays
    assert sum(first.world.true_rates().values()) == pytest.approx(4.5, rel=0.1)


def _script(*args: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, str(SCRIPT), *args], capture_output=True, text=True, check=False, cwd=ROOT
    )


@pytest.fixture
def small_file(tmp_path: Path) -> Path:
    lines = ["hub\tlink\tfirst_seen\tvisible_until"]
    for k in range(400):
        lines += [
            f"a:x\t{k}\t{k * 3600}\t{k * 3600 + 90000}",
            f"b:y\ty{k}\t{k * 7000}\t{k * 7000 + 90000}",
        ]
    path = tmp_path / "small.tsv.gz"
    path.write_bytes(gzip.compress("\n".join(lines).encode()))
    return path


def test_the_script_prints_every_policy_with_equal_numbers_of_fetches(small_file: Path) -> None:
    done = _script("--timelines", str(small_file), "--fetches-per-hour", "2", "--json")
    results = json.loads(done.stdout.splitlines()[-1])
    assert len(results) == 9
    assert len({row["fetches"] for row in results.values()}) == 1
    assert set(results["price"]) == set(Score.__dataclass_fields__)


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["--timelines", "/no/such/file"], "/no/such/file"),
        (["--timelines", "x", "--fetches-per-hour", "0"], "above zero"),
        (["--timelines", "x", "--policies", "best"], "no policy best; there are: price"),
        ([], "required"),
    ],
)
def test_wrong_arguments_are_named(args: list[str], message: str) -> None:
    done = _script(*args)
    assert (done.returncode, done.stdout) == (2, "")
    assert message in done.stderr


def test_a_wrong_line_is_named(tmp_path: Path) -> None:
    path = tmp_path / "wrong.tsv"
    path.write_text("hub\tlink\tfirst_seen\tvisible_until\na\tb\t1\n")
    done = _script("--timelines", str(path))
    assert done.returncode == 2
    assert "line 2: want four columns" in done.stderr


@needs_timelines
def test_on_real_hubs_the_harness_agrees_and_the_price_policy_keeps_its_promise() -> None:
    names = "round_robin,sqrt_true,proportional_true,price"
    done = _script("--timelines", str(TIMELINES), "--policies", names, "--json")
    mean = {
        name: row["mean_minutes"] for name, row in json.loads(done.stdout.splitlines()[-1]).items()
    }
    assert mean["round_robin"] == pytest.approx(204.3, rel=0.02)
    assert mean["sqrt_true"] == pytest.approx(69.7, rel=0.02)
    assert mean["price"] <= 0.24 * mean["round_robin"]
    assert mean["price"] <= 0.70 * mean["sqrt_true"]
    assert mean["price"] <= 0.78 * mean["proportional_true"]
