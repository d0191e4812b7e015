"""Golden values for the deflated Sharpe ratio, from Python's standard library alone.

    python scripts/golden/deflated_sharpe.py

Reads the equity curves of crates/metrics/tests/golden/{hourly,daily}.json and writes deflated_sharpe.json beside them: for
each curve and number of trials the value by the formulas of Bailey and Lopez de Prado (2014), the variance of the trials'
ratios taken as 1 / (n - 1). The paper's own example is asserted first.
"""

import json
import math
import pathlib
from statistics import NormalDist, fmean, stdev

GOLDEN = pathlib.Path(__file__).resolve().parents[2] / "crates" / "metrics" / "tests" / "golden"
EULER = 0.57721566490153286
NORMAL = NormalDist()


def expected_best(trials, variance):
    if trials < 2:
        return 0.0
    return math.sqrt(variance) * (
        (1 - EULER) * NORMAL.inv_cdf(1 - 1 / trials) + EULER * NORMAL.inv_cdf(1 - 1 / (trials * math.e))
    )


def deflated(ratio, n, skewness, kurtosis, best):
    spread = 1 - skewness * ratio + (kurtosis - 1) / 4 * ratio**2
    return NORMAL.cdf((ratio - best) * math.sqrt(n - 1) / math.sqrt(spread))


def of_returns(returns, trials):
    n, mean = len(returns), fmean(returns)
    moment = lambda k: fmean([(r - mean) ** k for r in returns])
    skewness, kurtosis = moment(3) / moment(2) ** 1.5, moment(4) / moment(2) ** 2
    return deflated(mean / stdev(returns), n, skewness, kurtosis, expected_best(trials, 1 / (n - 1)))


daily_ratio = 2.5 / math.sqrt(250)
assert round(deflated(daily_ratio, 1250, -3, 10, expected_best(100, 0.5 / 250)), 4) == 0.9004
assert round(deflated(daily_ratio, 1250, -3, 10, expected_best(46, 0.5 / 250)), 4) == 0.9505

values = []
for name in ("hourly", "daily"):
    equity = json.loads((GOLDEN / f"{name}.json").read_text())["equity"]
    returns = [(b - a) / a for a, b in zip(equity, equity[1:])]
    for trials in (1, 2, 8, 100, 100000):
        values.append({"curve": name, "trials": trials, "value": of_returns(returns, trials)})
(GOLDEN / "deflated_sharpe.json").write_text(json.dumps(values) + "\n")
