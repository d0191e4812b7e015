#!/usr/bin/env python3
"""Tests of walk_forward_tables.py: python3 -m unittest discover scripts"""

import contextlib
import io
import json
import sys
import tempfile
import unittest
import xml.etree.ElementTree as xml
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import walk_forward_tables as wf

DAY = 86_400 * 10**9


def account(name, total, bars=100, sharpe=0.5):
    """A strategy of one account, with the keys that the script reads."""
    keys = dict(total_return=total, bar_count=bars, sharpe_bars=sharpe, max_drawdown_worst=0.25, turnover=12.5, cost_share=0.01,
                trip_count=3.0, deflated_sharpe=0.25)
    parts = {key: 0 for key, _ in wf.PARTS} | {"held": -1_500_000_000, "change_in_equity": -1_500_000_000}
    return {"name": name, "members": [{"metrics": keys, "attribution": parts}]}


def draws(name, *totals):
    members = [account(name, total)["members"][0] for total in totals]
    over = {"total_return": {"min": min(totals), "max": max(totals)}}
    return {"name": name, "members": members, "over_members": over}


OVER_TIME = {"intervals": {"total_return": {"low": -0.2, "high": 0.1}, "sharpe_bars": {"low": -1.0, "high": 2.0}}}


def write_run(folder, best=1, **other):
    """A run of one fold and three members, of which the third is ruined, and `best` was chosen."""
    totals, bars = [0.3, -0.1, -0.6], [100, 100, 40]
    fold = {
        "fold": 0,
        "members": [account("", t, b)["members"][0] for t, b in zip(totals, bars)],
        "over_members": {"total_return": {"mean": -0.1333, "low": -1.0, "high": 0.9, "min": -0.6, "max": 0.3}},
        "over_time": OVER_TIME,
        "test": {"start_ns": 0, "end_ns": 365 * DAY},
    }
    baselines = [account("buy and hold", 0.2), draws("random timing", 0.1, -0.3)]
    figures = {
        "format": 1, "instrument": "EUR/USD", "trials": 6, "money_exponent": 6, "quote_currency": "USD", "folds": [fold],
        "agent": account("agent", -0.1, 60), "baselines": baselines, "over_time": OVER_TIME,
        "stress": [account("", -0.2, 30) | {"label": "Costs × 2"}],
    } | other
    choices = [{"fold": 0, "member": 7_000 + k, "epoch": 9, "validation_return": v, "chosen": k == best}
               for k, v in enumerate([0.1, 0.4, 0.2])]
    (folder / "fold_0").mkdir(parents=True, exist_ok=True)
    (folder / "figures.json").write_text(json.dumps(figures))
    (folder / "fold_0/figures.json").write_text(json.dumps({"baselines": baselines}))
    (folder / "selection.json").write_text(json.dumps(choices))
    setting = dict(bars=1_000, dtype="bf16", device="GPU", program="foxhunt 0", data_sha256="ab" * 32)
    (folder / "setting.json").write_text(json.dumps(setting))
    (folder / "config.toml").write_text(
        "seed = 1\npopulation = 3\nepochs = 2\n[data.walk_forward]\nfolds = 1\ntrain_days = 1000\nvalidation_days = 365\n"
        "test_days = 365\n[learn]\nupdates = 4\nbatch = 8\ngamma = 0.99\nn_step = 3\nweights = \"plain\"\n"
    )


class Page(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.page, self.run_folder = self.folder / "walk.md", self.folder / "run"

    def make(self, *options):
        out = io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
            code = wf.main(["--page", str(self.page), *options, str(self.run_folder)])
        return code, out.getvalue()

    def test_rows_say_what_the_files_say(self):
        write_run(self.run_folder)
        self.assertEqual(self.make()[0], 0)
        lines = self.page.read_text().split("\n")
        for line in [
            "| 0: 1970-01-01 to 1971-01-01 | 1, epoch 9 | 40.00 % | −10.00 % [−20.0, 10.0] | 0.50 [−1.00, 2.00] | 25.00 % | 12 × | 3 |  |",
            "| 0 | −10.00 % | 2 of 3 | −13.33 % [−100.0, 90.0] | −60.0 … 30.0 % | 1 of 3 | 1 of 3 | −0.50 | 20.00 % | −10.00 % |",
            "| **the chosen of each fold** | −10.00 % | 0.50 | 25.00 % | 12.50 × | 1.00 % | 3 | ruined at bar 60 |",
            "| random timing, mean of 2 | −10.00 % (−30.0 … 10.0) | 0.50 | 25.00 % | 12.50 × | 1.00 % | 3 |  |",
            "| costs × 2 | −20.00 % | 1.00 % | ruined at bar 30 |",
            "| the chosen of each fold | −1,500 | 0 | 0 | 0 | 0 | 0 | 0 | −1,500 |",
        ]:
            self.assertIn(line, lines)
        self.assertEqual(self.make("--check"), (0, ""))

    def test_the_chart_has_every_member(self):
        write_run(self.run_folder)
        self.assertEqual(self.make()[0], 0)
        svg = xml.parse(self.folder / "walk/eur-usd.svg").getroot()
        titles = [r.findtext("{http://www.w3.org/2000/svg}title") for r in svg.iter("{http://www.w3.org/2000/svg}rect")]
        self.assertEqual([t for t in titles if t and t.startswith("member")], ["member 0: 30.00 %", "member 1: −10.00 %", "member 2: −60.00 %"])
        self.assertIn("chosen: −10.00 %", titles)

    def test_what_is_no_such_run_is_refused(self):
        code, said = self.make()
        self.assertEqual((code, self.page.exists()), (2, False))
        self.assertIn("figures.json", said)
        for other, word in [({"format": 2}, "layout 2"), ({"folds": []}, "not a run that walks forward")]:
            write_run(self.run_folder, **other)
            code, said = self.make()
            self.assertEqual(code, 2)
            self.assertIn(word, said)

    def test_ranks(self):
        self.assertEqual(wf.ranks([3.0, 1.0, 3.0, 2.0]), [3.5, 1, 3.5, 2])
        self.assertAlmostEqual(wf.rank_correlation([1, 2, 3, 4], [10, 30, 20, 40]), 0.8)
        self.assertIsNone(wf.rank_correlation([1, 1], [1, 2]))


if __name__ == "__main__":
    unittest.main()
