"""The same positions through foxhunt and through backtesting.py, an engine that shares no line with it.

    python -m venv VENV && VENV/bin/pip install -r scripts/requirements-engines.txt
    cargo build --release
    VENV/bin/python scripts/engines.py target/release/foxhunt WORK

Market orders at the open of the next bar, no spread, fee or financing. The embedded sample's bars are given to both. foxhunt
gets an instrument without costs, on a grid of 1e-7 USD, since its market impact is rounded up to at least one unit; no band;
the whole volume of a bar. backtesting.py is told the target in lots, sized as foxhunt's specification says (rounded towards
flat at the close of the decision). Prints the numbers of docs/results/engines.md; exits with 1 if anything is unexplained.
"""

import json
import pathlib
import random
import subprocess
import sys
from decimal import Decimal

import pandas as pd
import pyarrow.parquet as parquet
from backtesting import Backtest, Strategy

ROOT = pathlib.Path(__file__).resolve().parents[1]
SAMPLE = ROOT / "crates" / "data" / "sample" / "eurusd_1h_ask_2017.csv"
LOT, CASH, LEVERAGE, UNIT, FIRST = 1000, 100_000, 2, 1e-7, 1000
INSTRUMENT = """
name = "EUR/USD"
quote_currency = "USD"
price_unit = "0.0000001"
tick_units = 100
lot = "1000"
money_exponent = 6
tv = 100
taker_fee_e7 = 0
maker_fee_e7 = 0
min_half_spread_units = 0
half_spread_e7 = 0
atr_spread_e7 = 0
gap_spread_factor = 1
financing_long_e7 = 0
financing_short_e7 = 0
financing_base = "whole_notional"
max_leverage_e4 = 300000
liquidation_penalty_e7 = 0
preset_volume_lots_per_hour = 1000000
start_cash = "100000"
stamp_time_zone = "UTC"

[session]
time_zone = "America/New_York"
day_start_s = 61200
length_s = 86400
"""


def targets(kind, rows):
    """Row to exposure; LEVERAGE times an exposure of 0.45 stays clear of both engines' margin rules. Flat before the end:
    backtesting.py closes what is left at the *open* of the last bar, foxhunt at its close."""
    dice, end = random.Random(kind), rows - 3
    if kind == "long":
        given = {FIRST: 0.45}
    elif kind == "flips":
        given = {row: 0.4 if k % 2 else -0.4 for k, row in enumerate(range(FIRST, end, 24))}
    else:
        given = {row: round(dice.uniform(-0.45, 0.45), 3) for row in range(FIRST, end, 7)}
    return given | {end: 0.0}


def theirs(bars, wanted):
    """Equity and position at every close. `wanted(row, equity, close)` is the lots to hold after the close of a row."""
    seen = {}

    class Given(Strategy):
        def init(self):
            pass

        def next(self):
            row = len(self.data) - 1
            seen[row] = (self.equity, self.position.size)
            if row < FIRST or row == len(bars) - 1:
                return
            order = wanted(row, self.equity, self.data.Close[-1]) * LOT - self.position.size
            if order > 0:
                self.buy(size=order)
            elif order < 0:
                self.sell(size=-order)

    test = Backtest(bars, Given, cash=CASH, commission=0, spread=0, margin=1 / LEVERAGE)
    test.run()
    return seen


def sized(given):
    """foxhunt's rule: target lots, rounded towards flat at the close of the decision."""
    held = {}

    def wanted(row, equity, close):
        held["exposure"] = given.get(row, held.get("exposure", 0.0))
        lots = int(abs(held["exposure"]) * LEVERAGE * equity / (close * LOT) + 1e-9)
        return lots if held["exposure"] > 0 else -lots

    return wanted


def ours(program, work, kind, stamps, given):
    """Equity and position of every bar, fills, and figures."""
    (work / "zero.toml").write_text(INSTRUMENT)
    lines = [f"{stamps[row]},{exposure}" for row, exposure in given.items()]
    (work / f"{kind}.csv").write_text("stamp,exposure\n" + "\n".join(lines) + "\n")
    out = work / f"out-{kind}"
    command = [program, "backtest", "--positions", work / f"{kind}.csv", "--data", SAMPLE, "--out", out]
    command += ["--instrument", work / "zero.toml", "--device", "cpu", "--set", f"market.leverage={LEVERAGE}"]
    command += ["--set", "market.band_bp=0", "--set", "market.participation_cap=1"]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    bars = parquet.read_table(out / "ledger" / "bars.parquet").to_pandas()
    fills = parquet.read_table(out / "ledger" / "fills.parquet").to_pandas()
    return bars, fills, json.loads((out / "figures.json").read_text())


def main():
    program, work = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2])
    work.mkdir(parents=True)
    bars = pd.read_csv(SAMPLE)
    stamps = list(bars["Time"])
    bars.index = pd.to_datetime(bars["Time"], format="%d.%m.%Y %H:%M:%S.%f")
    failed = False
    print("| targets | legs | (a) positions differ | equity differs by | impact paid | left | (b) bars differ | by at most | "
          "gain without impact: foxhunt | backtesting.py |")
    print("|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|")
    for kind in ("long", "flips", "random"):
        given = targets(kind, len(bars))
        rows, fills, figures = ours(program, work, kind, stamps, given)
        held = {row.bar: row.position for row in rows.itertuples()}
        # Of every leg, what it paid above its reference price, the open.
        legs = zip(fills.bar, fills.lots, fills.price, fills.reference_x4)
        impact = {}
        for bar, lots, price, reference_x4 in legs:
            impact[bar] = impact.get(bar, 0.0) + abs(lots) * LOT * abs(price - reference_x4 / 4) * UNIT
        # (a) foxhunt's own lots in the other engine; (b) the other engine sizes by its own equity.
        same = theirs(bars, lambda row, equity, close: held.get(row + 1, 0))
        own = theirs(bars, sized(given))
        paid = differs = largest = left = others = most = 0
        for row in rows.itertuples():
            paid += impact.get(row.bar, 0.0)
            equity, size = same.get(row.bar, (CASH, 0))
            differs += int(size != row.position * LOT)
            gap = equity - row.equity / 1e6
            largest, left = max(largest, abs(gap)), max(left, abs(gap - paid))
            lots = abs(own.get(row.bar, (CASH, 0))[1] // LOT - row.position)
            others, most = others + int(lots > 0), max(most, lots)
        free = next(line for line in figures["stress"] if line["key"] == "costs_0")
        gain = free["members"][0]["metrics"]["total_return"] * CASH
        theirs_gain = own[len(bars) - 1][0] - CASH
        print(f"| {kind} | {len(fills)} | {differs} of {len(rows) - 1} | {largest:.6f} | {paid:.6f} | {left:.6f} | {others} "
              f"| {most} lot | {gain:.6f} | {theirs_gain:.6f} |")
        failed |= differs > 0 or left > 1e-4 or most > 1 or abs(gain - theirs_gain) > 1e-4
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    assert Decimal(str(UNIT)) * LOT * 10**6 == 100
    main()
