"""Golden values for foxhunt-metrics from QuantStats and empyrical.

    pip install -r scripts/golden/requirements-metrics.txt
    python scripts/golden/quantstats_metrics.py

Writes crates/metrics/tests/golden/{hourly,daily}.json: an equity curve in whole money units with its times, and what
the two libraries say about it. Which figures are defined alike, and which are not, is told in the doc comment of each
metric; only those defined alike are compared.
"""

import json
import pathlib

import empyrical
import numpy as np
import pandas as pd
import quantstats.stats as qs

OUT = pathlib.Path(__file__).resolve().parents[2] / "crates" / "metrics" / "tests" / "golden"
YEAR_S = 31_536_000
HOUR_NS = 3_600_000_000_000


def curve(seed, count, mean, sd):
    """Equity in money units: whole numbers, as in a ledger."""
    rng = np.random.default_rng(seed)
    steps = rng.standard_t(4, count) * sd + mean
    return [1_000_000_000] + [int(x) for x in (1e9 * np.cumprod(1 + steps))]


def golden(name, equity, times_ns):
    equity_series = pd.Series(equity, index=pd.to_datetime(times_ns), dtype=float)
    returns = equity_series.pct_change().iloc[1:]
    # Both libraries must use our periods per year: theirs is a constant.
    years = (times_ns[-1] - times_ns[0]) / 1e9 / YEAR_S
    ppy = len(returns) / years
    # With the starting point as a return of zero, or the libraries miss a fall in the first bar.
    from_start = pd.concat([pd.Series([0.0], index=equity_series.index[:1]), returns])
    values = {
        "periods_per_year": ppy,
        "quantstats": {
            "sharpe": qs.sharpe(returns, periods=ppy),
            "sortino": qs.sortino(returns, periods=ppy),
            "volatility": qs.volatility(returns, periods=ppy),
            "total_return": qs.comp(returns),
            "max_drawdown": qs.max_drawdown(from_start),
        },
        "empyrical": {
            "sharpe": empyrical.sharpe_ratio(returns, annualization=ppy),
            "sortino": empyrical.sortino_ratio(returns, annualization=ppy),
            "volatility": empyrical.annual_volatility(returns, annualization=ppy),
            "total_return": empyrical.cum_returns_final(returns),
            "cagr": empyrical.cagr(returns, annualization=ppy),
            "max_drawdown": empyrical.max_drawdown(returns),
            "calmar": empyrical.calmar_ratio(returns, annualization=ppy),
            "cvar": empyrical.conditional_value_at_risk(returns.to_numpy(), cutoff=0.05),
        },
    }
    values = {k: v if k == "periods_per_year" else {n: float(x) for n, x in v.items()} for k, v in values.items()}
    text = json.dumps({"time_ns": times_ns, "equity": equity, "values": values})
    (OUT / f"{name}.json").write_text(text + "\n")
    print(name, values)


def main():
    OUT.mkdir(parents=True, exist_ok=True)
    start = 1_483_228_800 * 1_000_000_000
    hours = [h for h in range(24 * 150) if (h // 24) % 7 not in (5, 6)][:1201]
    golden("hourly", curve(1, 1_200, 2e-5, 9e-4), [start + h * HOUR_NS for h in hours])
    days = [d for d in range(500) if d % 7 not in (5, 6)][:301]
    golden("daily", curve(2, 300, 4e-4, 7e-3), [start + 24 * d * HOUR_NS for d in days])


if __name__ == "__main__":
    main()
