"""Writes TA-Lib's values on the embedded sample, which the features crate is tested against.

    python3 -m venv .venv && .venv/bin/pip install -r scripts/golden/requirements.txt
    .venv/bin/python scripts/golden/talib_features.py

Output: crates/features/tests/golden/talib_eurusd_1h_2017.csv, one row per chosen bar: all of the first 64 (the seeds of
recursive indicators) and every 103rd after. An empty cell is a bar before an indicator's first value.
"""

import csv
import math
import pathlib

import numpy as np
import talib

ROOT = pathlib.Path(__file__).resolve().parents[2]
SAMPLE = ROOT / "crates/data/sample/eurusd_1h_ask_2017.csv"
OUT = ROOT / "crates/features/tests/golden/talib_eurusd_1h_2017.csv"
UNIT = 5e-6  # price unit of EUR/USD: indicators are taken on whole units, as the crate takes them


def main():
    with SAMPLE.open(newline="") as file:
        rows = list(csv.reader(file))[1:]
    high, low, close = (np.array([float(round(float(r[c]) / UNIT)) for r in rows]) for c in (2, 3, 4))
    macd, signal, _ = talib.MACD(close, 12, 26, 9)
    upper, middle, _ = talib.BBANDS(close, 20, 1.0, 1.0)
    columns = {
        "rsi_14": talib.RSI(close, 14),
        "atr_14": talib.ATR(high, low, close, 14),
        "ema_12": talib.EMA(close, 12),
        "macd_line": macd,
        "macd_signal": signal,
        "mean_20": middle,
        "sd_20": upper - middle,
        "max_24": talib.MAX(high, 24),
        "min_24": talib.MIN(low, 24),
    }
    chosen = sorted(set(range(64)) | set(range(64, len(rows), 103)))
    with OUT.open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["row", *columns])
        for t in chosen:
            values = (float(c[t]) for c in columns.values())
            writer.writerow([t, *("" if math.isnan(v) else repr(v) for v in values)])


if __name__ == "__main__":
    main()
