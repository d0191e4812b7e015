"""Golden values of day metrics for foxhunt-metrics from QuantStats and empyrical.

    pip install -r scripts/golden/requirements-metrics.txt
    python scripts/golden/metric_cases.py

Writes crates/metrics/tests/golden/cases.json: small equity curves in whole money units with times and session days (a gaining one, a
losing one, one with many days at zero, a short one, hours gathered to days), and what the two libraries say of their day
returns. What is defined in another way is not compared; docs/metrics.md says which.
"""

import json
import pathlib
import warnings

import empyrical
import numpy as np
import pandas as pd
import quantstats.stats as qs

OUT = pathlib.Path(__file__).resolve().parents[2] / "crates" / "metrics" / "tests" / "golden" / "cases.json"
YEAR_S = 31_536_000
HOUR_NS = 3_600_000_000_000
START_DAY = 17_167  # Sunday, 1 January 2017
WINDOW = 20


def equity_of(steps):
    return [1_000_000_000] + [int(x) for x in 1e9 * np.cumprod(1 + steps)]


def weekdays(count):
    days = [START_DAY + 1 + d for d in range(2 * count + 9) if d % 7 not in (5, 6)]
    return days[: count + 1]


def case(name, equity, days, times_ns):
    frame = pd.DataFrame({"equity": equity, "day": days}, dtype="int64")
    closes = frame.iloc[1:].groupby("day").equity.last().astype(float)
    index = pd.to_datetime(closes.index * 24 * HOUR_NS)
    levels = np.concatenate([[float(equity[0])], closes.to_numpy()])
    day_returns = pd.Series(levels[1:] / levels[:-1] - 1, index=index)
    years = (times_ns[-1] - times_ns[0]) / 1e9 / YEAR_S
    per_year = len(day_returns) / years
    # With the opening row as a return of zero, or the libraries miss a fall in the first bar.
    bars = pd.Series(equity, index=pd.to_datetime(times_ns), dtype=float).pct_change().fillna(0.0)
    depths = -qs.drawdown_details(qs.to_drawdown_series(bars))["max drawdown"].to_numpy() / 100
    rolling = qs.rolling_sharpe(day_returns, rolling_period=WINDOW, periods_per_year=per_year, prepare_returns=False).dropna()
    values = {
        "sharpe_days": qs.sharpe(day_returns, periods=per_year),
        "var_days": empyrical.value_at_risk(day_returns, cutoff=0.05),
        "cvar_days": empyrical.conditional_value_at_risk(day_returns.to_numpy(), cutoff=0.05),
        "skewness": qs.skew(day_returns),
        "kurtosis": qs.kurtosis(day_returns),
        "tail_ratio": qs.tail_ratio(day_returns),
        "tail_ratio_empyrical": empyrical.tail_ratio(day_returns.to_numpy()),
        "omega": qs.omega(day_returns),
        "omega_empyrical": empyrical.omega_ratio(day_returns),
        "omega_profit_factor": qs.profit_factor(day_returns),
        "winning_days": qs.win_rate(day_returns),
        "best_day": qs.best(day_returns),
        "worst_day": qs.worst(day_returns),
        "best_month": qs.best(day_returns, aggregate="ME"),
        "worst_month": qs.worst(day_returns, aggregate="ME"),
        "ulcer_index": qs.ulcer_index(bars),
    }
    return {
        "name": name,
        "time_ns": times_ns,
        "day": days,
        "equity": equity,
        "values": {k: float(v) for k, v in values.items()},
        "worst_depths": sorted((float(d) for d in depths), reverse=True)[:5],
        "window": WINDOW,
        "rolling_sharpe": [float(x) for x in rolling],
    }


def daily(name, seed, count, mean, sd, zeros=0.0):
    rng = np.random.default_rng(seed)
    steps = rng.standard_t(4, count) * sd + mean
    steps[rng.random(count) < zeros] = 0.0
    days = weekdays(count)
    return case(name, equity_of(steps), days, [d * 24 * HOUR_NS for d in days])


def hourly(name, seed, count, mean, sd):
    rng = np.random.default_rng(seed)
    hours = [h for h in range(24 * 400) if (h // 24) % 7 not in (5, 6) and 9 <= h % 24 < 16][: count + 1]
    days = [START_DAY + 1 + h // 24 for h in hours]
    times = [(START_DAY + 1) * 24 * HOUR_NS + h * HOUR_NS for h in hours]
    return case(name, equity_of(rng.standard_t(4, count) * sd + mean), days, times)


def main():
    warnings.simplefilter("ignore")
    cases = [
        daily("gaining", 11, 300, 7e-4, 7e-3),
        daily("losing", 12, 250, -1.2e-3, 9e-3),
        daily("mostly flat", 13, 200, 2e-4, 5e-3, zeros=0.6),
        daily("short", 14, 45, 1e-4, 6e-3),
        hourly("hours of sessions", 15, 700, 5e-5, 2e-3),
    ]
    OUT.write_text("[\n" + ",\n".join(json.dumps(c) for c in cases) + "\n]\n")
    for c in cases:
        print(c["name"], c["values"])


if __name__ == "__main__":
    main()
