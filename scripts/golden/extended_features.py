"""Writes TA-Lib's and pandas' values of the features beyond the standard set on the embedded sample, which the features crate
is tested against.

    python3 -m venv .venv && .venv/bin/pip install -r scripts/golden/requirements.txt
    .venv/bin/python scripts/golden/extended_features.py

Output: crates/features/tests/golden/extended_eurusd_1h_2017.csv, one row per chosen bar: every 97th, and those around the
first 400. An empty cell is a bar before a feature's first value. The sample has no bid and ask: features of the spread are
not here, nor those that are one subtraction of prices of one bar.
"""

import math
import pathlib

import numpy as np
import pandas as pd
import talib

ROOT = pathlib.Path(__file__).resolve().parents[2]
SAMPLE = ROOT / "crates/data/sample/eurusd_1h_ask_2017.csv"
OUT = ROOT / "crates/features/tests/golden/extended_eurusd_1h_2017.csv"
UNIT = 5e-6  # price unit of EUR/USD: the crate computes on whole units
LOT = 1000  # base units of a lot: the crate computes on whole lots
HOUR = pd.Timedelta(hours=1)
ZONE, DAY_START = "America/New_York", pd.Timedelta(hours=17)


def read():
    f = pd.read_csv(SAMPLE)
    f.columns = ["time", "open", "high", "low", "close", "volume"]
    for name in ("open", "high", "low", "close"):
        f[name] = (f[name] / UNIT).round()
    f["volume"] = np.floor(f.volume / LOT)
    f["end"] = pd.to_datetime(f.time, format="%d.%m.%Y %H:%M:%S.%f", utc=True) + HOUR
    return f


def higher(f, span, week=False):
    """Bars of `span` of the session clock, and for each row the newest one that has ended by its close."""
    wall = (f.end - pd.Timedelta(1, "ns")).dt.tz_convert(ZONE).dt.tz_localize(None)
    # The session that begins at 17:00 has the next day's date; pandas' epoch is a Thursday, weeks begin on Mondays.
    clock = wall - DAY_START + pd.Timedelta(days=1)
    shift = pd.Timedelta(days=3) if week else pd.Timedelta(0)
    key = (clock - pd.Timestamp(0) + shift) // span
    bars = f.groupby(key).agg(high=("high", "max"), low=("low", "min"), close=("close", "last"))
    ends = pd.Timestamp(0) + (bars.index.to_numpy() + 1) * span - shift + DAY_START - pd.Timedelta(days=1)
    bars["end"] = pd.DatetimeIndex(ends).tz_localize(ZONE).tz_convert("UTC")
    bars = bars.iloc[1:].reset_index(drop=True)
    bars["ret"] = np.log(bars.close / bars.close.shift(1))
    bars["range"] = np.log(bars.high / bars.low)
    bars["rsi"] = talib.RSI(bars.close.to_numpy(), 14) / 50 - 1 if len(bars) > 14 else math.nan
    bars["mean5"] = bars.close.rolling(5).mean()
    bars["end"] = bars.end.astype(f.end.dtype)
    return pd.merge_asof(f[["end", "close"]], bars, on="end", suffixes=("", "_bar"))


def columns(f):
    o, h, l, c, v = (f[k].astype(float) for k in ("open", "high", "low", "close", "volume"))
    O, H, L, C, V = (x.to_numpy() for x in (o, h, l, c, v))
    r = np.log(c / c.shift(1))
    plus, minus = talib.PLUS_DI(H, L, C, 14), talib.MINUS_DI(H, L, C, 14)
    k, d = talib.STOCH(H, L, C, 14, 3, 0, 3, 0)
    upper, middle, lower = talib.BBANDS(C, 48, 2.0, 2.0)
    wide = talib.BBANDS(C, 20, 2.0, 2.0)
    typical = (h + l + c) / 3
    hl, co = np.log(h / l), np.log(c / o)
    rs = np.log(h / c) * np.log(h / o) + np.log(l / c) * np.log(l / o)
    weight = 0.34 / (1.34 + 25 / 23)
    jump = np.log(o / c.shift(1))
    yz = jump.rolling(24).var() + weight * co.rolling(24).var() + (1 - weight) * rs.rolling(24).mean()
    change = c.diff()
    realised = (r**2).rolling(8).mean() ** 0.5
    falls, rises = ((r.clip(upper=0)) ** 2).rolling(48).sum(), ((r.clip(lower=0)) ** 2).rolling(48).sum()
    obv = pd.Series(talib.OBV(C, V))
    slope = pd.Series(talib.LINEARREG_SLOPE(obv.to_numpy(), 24))
    ill = r.abs() / (c * v).where(v > 0)
    eight = np.log(c / c.shift(8))
    place = ((2 * c - h - l) / (h - l)).where(h > l, 0.0)
    atr = lambda n: pd.Series(talib.ATR(H, L, C, n)) / c + 1e-6
    out = {
        "adx_14": talib.ADX(H, L, C, 14) / 100,
        "direction_14": (plus - minus) / 100,
        "aroon_25": talib.AROONOSC(H, L, 25) / 100,
        "cci_20": talib.CCI(H, L, C, 20) / 100,
        "slope_24": talib.LINEARREG_SLOPE(C, 24) / C,
        "ema_distance_50": C / talib.EMA(C, 50) - 1,
        "efficiency_24": (c - c.shift(24)).abs() / change.abs().rolling(24).sum(),
        "roc_12": talib.ROCP(C, 12),
        "stochastic_k_14": k / 50 - 1,
        "stochastic_d_14": d / 50 - 1,
        "williams_r_14": talib.WILLR(H, L, C, 14) / 50 + 1,
        "chande_14": change.rolling(14).sum() / change.abs().rolling(14).sum(),
        "trix_15": talib.TRIX(C, 15),
        "parkinson_24": ((hl**2).rolling(24).mean() / (4 * math.log(2))) ** 0.5,
        "garman_klass_24": (0.5 * hl**2 - (2 * math.log(2) - 1) * co**2).rolling(24).mean() ** 0.5,
        "rogers_satchell_24": rs.rolling(24).mean() ** 0.5,
        "yang_zhang_24": yz**0.5,
        "percent_b_48": (C - lower) / (upper - lower),
        "band_width_20": (wide[0] - wide[2]) / wide[1],
        "atr_ratio_7_28": np.log(atr(7) / atr(28)),
        "volatility_of_volatility_72": realised.rolling(72).std(ddof=0) / realised.rolling(72).mean(),
        "downside_48": (falls - rises) / (falls + rises),
        "obv_slope_24": slope / v.rolling(24).mean(),
        "vwap_distance_24": c / ((typical * v).rolling(24).sum() / v.rolling(24).sum()) - 1,
        "illiquidity_24_168": np.log(ill.rolling(24, min_periods=1).mean() / ill.rolling(168, min_periods=1).mean()),
        "money_flow_14": talib.MFI(H, L, C, V, 14) / 50 - 1,
        "chaikin_flow_21": (place * v).rolling(21).sum() / v.rolling(21).sum(),
        "skew_72": r.rolling(72).skew(),
        "kurtosis_72": r.rolling(72).kurt(),
        "autocorrelation_72": r.rolling(72).corr(r.shift(1)),
        "variance_ratio_8_168": (eight**2).rolling(161).mean() / (8 * (r**2).rolling(168).mean()) - 1,
        "score_168": (c - c.rolling(168).mean()) / c.rolling(168).std(ddof=0),
        "rank_168": 2 * c.rolling(168).rank(pct=True) - 1,
        "jump": jump,
    }
    out["illiquidity_24_168"] = out["illiquidity_24_168"].where(np.arange(len(f)) >= 168)
    frames = {"h4": pd.Timedelta(hours=4), "day": pd.Timedelta(days=1), "week": pd.Timedelta(days=7)}
    for name, span in frames.items():
        bars = higher(f, span, name == "week")
        out[f"{name}_return"] = bars.ret
        out[f"{name}_range"] = bars.range
        position = (2 * bars.close - bars.high - bars.low) / (bars.high - bars.low)
        out[f"{name}_position"] = position.clip(-8, 8)
        if name == "h4":
            out["h4_rsi_14"] = bars.rsi
        if name == "day":
            out["day_mean_5"] = np.log(bars.close / bars.mean5)
    return out


def main():
    f = read()
    out = pd.DataFrame({k: np.asarray(v, dtype=float) for k, v in columns(f).items()})
    out = out.iloc[sorted(set(range(0, 400, 23)) | set(range(400, len(f), 97)))]
    out.index.name = "row"
    # Features are rounded to single precision: nine digits are enough to tell.
    out.to_csv(OUT, float_format="%.10g", lineterminator="\n")


if __name__ == "__main__":
    main()
