#!/usr/bin/env python3
"""Tests of study_tables.py: python3 -m unittest discover scripts"""

import contextlib
import copy
import io
import json
import sys
import tempfile
import unittest
import xml.etree.ElementTree as xml
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import study_tables as st


def span(value, low, high):
    return {"value": value, "low": low, "high": high, "standard_error": 0.1}


def comparison(market, measure, score, difference, verdict):
    """A comparison of two arms, with the keys that the script reads."""
    arm = lambda name, value: {
        "arm": name,
        "ids": [0, 1, 2],
        "summaries": [
            {"quantity": measure, "iqm": value},
            {"quantity": "unmoved", "iqm": span(0.0532, 0.05, 0.06)},
            {"quantity": "step", "iqm": span(0.4596, 0.4, 0.5)},
            {"quantity": "lag", "iqm": None},
        ],
        "divergences": {"members": 1, "ruined": 1},
        "memory": {"members": 3, "by_purpose": [["weights", 1 << 20], ["replay & more", 3 << 20]], "bytes": 4 << 20},
        "checkpoint_bytes": 1024,
        "curves": [{"label": "x", "points": [{"epoch": e, "iqm": 1 / e, "low": -0.1, "high": 1.1} for e in (5, 10)]}],
    }
    config = {
        "epochs": 10,
        "learn": dict(updates=256, batch=512, gamma=0.8, n_step=1, learning_rate=3e-4, learning_rate_end=0.02),
        "data": dict(train_from="", validation_from="2017-01-01", test_from="2018-01-01", test_to="", train_share=0.7,
                     validation_share=0.15),
    }
    return {
        "setting": dict(format=1, program="foxhunt 0", measure=measure, market=market, data_sha256="ab" * 32, bars=9_000,
                        config=config),
        "devices": ["GPU"],
        "bootstrap": [10_000, 1],
        "missing": [],
        "arms": [arm("f32", score), arm("nearest", score)],
        "differences": [
            {"arm": "nearest", "quantity": measure, "iqm": difference, "bound": 0.02, "verdict": verdict, "lost": 0},
            {"arm": "nearest", "quantity": "step", "iqm": span(0, 0, 0), "ratio": 0.9547},
        ],
        "timing": {"nearest": {"members": 3, "update_us": 250.0}},
    }


REGRET = comparison("known:drift", "regret", span(0.01, 0.005, 0.02), span(0.03, 0.021, 0.04), "worse")
SHARPE = comparison("EUR/USD", "sharpe", span(-1.0, -2.0, 0.5), span(-0.00001, -0.2, 0.1), "undecided")


class Page(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.page = self.folder / "bf16.md"

    def run_on(self, *results, options=()):
        paths = []
        for k, result in enumerate(results):
            paths.append(self.folder / f"{k}.json")
            paths[-1].write_text(json.dumps(result))
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            code = st.main(["--page", str(self.page), *options, *map(str, paths)])
        return code, out.getvalue() + err.getvalue()

    def test_rows_say_what_the_files_say(self):
        self.assertEqual(self.run_on(SHARPE, REGRET)[0], 0)
        lines = self.page.read_text().split("\n")
        for line in [
            "| known:drift, regret | worse, +3.00 % [+2.10 %, +4.00 %] |",
            "| EUR/USD, sharpe | undecided, 0.000 [−0.200, +0.100] |",
            "| F32 | 3 | 1.00 % [0.50 %, 2.00 %] | – | – | baseline | 1 (1 ruined) |",
            "| BF16 nearest | 3 | −1.000 [−2.000, 0.500] | 0.000 [−0.200, +0.100] | ±0.020 | **undecided** | 1 (1 ruined) |",
            "| BF16 nearest | 5.32 % | – | 0.4596 (0.9547 × F32) | 250.0 µs, 3 members | 4.0 MiB, 3 members | 1.0 KiB |",
        ]:
            self.assertIn(line, lines)
        # Known markets first, whatever the order of files; dates where dates divide.
        text = self.page.read_text()
        self.assertLess(text.index("### known:drift"), text.index("### EUR/USD"))
        self.assertIn("train from the first bar, validation from 2017-01-01, test from 2018-01-01;", text)

    def test_only_what_lies_between_the_markers_is_replaced(self):
        self.page.write_text(f"# Mine\n\nBefore.\n\n{st.BEGIN}\nold\n{st.END}\n\nAfter.\n")
        self.assertEqual(self.run_on(REGRET)[0], 0)
        text = self.page.read_text()
        self.assertTrue(text.startswith(f"# Mine\n\nBefore.\n\n{st.BEGIN}\n\n|"))
        self.assertTrue(text.endswith(f"|\n\n{st.END}\n\nAfter.\n"))
        self.assertNotIn("old", text)
        self.page.write_text("# No markers\n")
        code, said = self.run_on(REGRET)
        self.assertEqual((code, self.page.read_text()), (2, "# No markers\n"))
        self.assertIn("must have both lines", said)

    def test_check_writes_nothing_and_sees_a_typed_number(self):
        code, said = self.run_on(REGRET, options=["--check"])
        self.assertEqual((code, self.page.exists()), (1, False))
        self.assertIn("would change", said)
        self.assertEqual(self.run_on(REGRET)[0], 0)
        self.assertEqual(self.run_on(REGRET, options=["--check"]), (0, ""))
        typed = self.page.read_text().replace("+3.00 %", "+0.30 %")
        self.page.write_text(typed)
        self.assertEqual(self.run_on(REGRET, options=["--check"])[0], 1)
        self.assertEqual(self.page.read_text(), typed)

    def test_charts_are_whole_and_of_a_known_market(self):
        self.assertEqual(self.run_on(REGRET, SHARPE)[0], 0)
        tag = "{http://www.w3.org/2000/svg}"
        learning = xml.parse(self.folder / "bf16/learning.svg").getroot()
        self.assertEqual(len(learning.findall(f"{tag}polygon")), 2, "a band an arm")
        memory = xml.parse(self.folder / "bf16/memory.svg").getroot()
        # Ground, two parts of two bars, two boxes of the key. The parts have the ratio of their bytes.
        widths = [float(r.get("width")) for r in memory.findall(f"{tag}rect")]
        self.assertEqual(len(widths), 7)
        self.assertAlmostEqual(widths[2] / widths[1], 3, places=2)
        self.assertEqual(self.run_on(REGRET, SHARPE, options=["--chart", "EUR/USD"])[0], 2)
        self.assertEqual(self.run_on(REGRET, options=["--chart", "known:regimes"])[0], 2)

    def test_what_is_missing_is_said_and_what_is_no_comparison_refused(self):
        gap = copy.deepcopy(REGRET)
        gap["missing"] = [{"arm": "f32", "ids": [3, 4]}]
        gap["differences"] = []
        self.assertEqual(self.run_on(gap)[0], 0)
        self.assertIn("Incomplete: F32 lacks 2 of the members", self.page.read_text())
        other = copy.deepcopy(REGRET)
        other["setting"]["format"] = 2
        for results, word in [
            ([{}], "not a compare.json"),
            ([other], "layout 2"),
            ([REGRET, REGRET], "known:drift is there twice"),
        ]:
            code, said = self.run_on(*results)
            self.assertEqual(code, 2)
            self.assertIn(word, said)


if __name__ == "__main__":
    unittest.main()
