"""Golden values for foxhunt-compare's statistics from SciPy and NumPy.

    pip install numpy scipy
    python scripts/golden/compare_statistics.py

Writes crates/compare/src/statistics/golden.json: values, their interquartile mean and the paired difference of two, each with
percentile bootstrap interval and standard error. Resamples come from the same Philox4x32-10 stream as the crate's.
"""

import json
import pathlib

import numpy as np
from scipy.stats import trim_mean

OUT = pathlib.Path(__file__).resolve().parents[2] / "crates" / "compare" / "src" / "statistics" / "golden.json"
SEED = 0x0123_4567_89AB_CDEF
DRAWS = 1_000
STREAM = 0x626F6F74
MASK = 0xFFFF_FFFF


def philox(c, k):
    c, k = list(c), list(k)
    for _ in range(10):
        p, q = 0xD2511F53 * c[0], 0xCD9E8D57 * c[2]
        c = [q >> 32 ^ c[1] ^ k[0], q & MASK, p >> 32 ^ c[3] ^ k[1], p & MASK]
        k = [(k[0] + 0x9E3779B9) & MASK, (k[1] + 0xBB67AE85) & MASK]
    return c


def resamples(n):
    key = (SEED & MASK, SEED >> 32)
    rows = []
    for r in range(DRAWS):
        words = [w for b in range(-(-n // 4)) for w in philox((b, r, 0, STREAM), key)][:n]
        rows.append([w * n >> 32 for w in words])
    return np.array(rows)


def estimate(value, found):
    return [value, np.quantile(found, 0.025), np.quantile(found, 0.975), found.std(ddof=1)]


def main():
    assert philox([0] * 4, [0] * 2)[0] == 0x6627E8D5
    rng = np.random.default_rng(5)
    cases = []
    for n in (1, 2, 5, 16, 63):
        b = np.round(rng.standard_normal(n), 6)
        a = np.round(b + 0.2 + 0.5 * rng.standard_t(2, n), 6)
        rows = resamples(n)
        iqm = lambda x: trim_mean(x, 0.25, axis=-1)
        cases.append({
            "a": a.tolist(),
            "b": b.tolist(),
            "iqm": estimate(iqm(a), iqm(a[rows])),
            "difference": estimate(iqm(a) - iqm(b), iqm(a[rows]) - iqm(b[rows])),
        })
    OUT.write_text(json.dumps({"seed": SEED, "draws": DRAWS, "cases": cases}) + "\n")


main()
