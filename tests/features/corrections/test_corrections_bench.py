"""The benchmark of answers on a site whose second folder its user does not want."""

import json
from pathlib import Path

import pytest
from bench_learning import main


def test_the_product_asks_about_the_unwanted_part_before_chance_does(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pages = [
        f"https://x.example/{'jobs' if n % 8 == 0 else 'news'}/page-{n}.html" for n in range(80)
    ]
    rows = [f"{url}\t{n}" for n, url in enumerate(pages)]
    site = tmp_path / "x.tsv"
    site.write_text("\n".join(["url\tpublished", *rows]), encoding="utf-8")
    assert main([str(site), "--json"]) == 0
    found = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert (found["trials"], found["precision_after"], found["recall_after"]) == (1, 1.0, 1.0)
    assert found["clicks"] == 2
    assert found["clicks_random"] > 2 * found["clicks"]


def test_a_site_without_parts_has_nothing_to_measure(tmp_path: Path) -> None:
    site = tmp_path / "x.tsv"
    site.write_text("url\tpublished\nhttps://x.example/a.html\t1\n", encoding="utf-8")
    assert main([str(site)]) == 2
