"""Writes the same sixty bars as Parquet with the programs that people use, for crates/data/tests/written.rs.

    pip install -r scripts/golden/requirements-parquet.txt
    python scripts/golden/parquet.py crates/data/tests/written
"""

import pathlib
import sys

import duckdb
import pandas as pd
import polars as pl

out = pathlib.Path(sys.argv[1])
out.mkdir(parents=True, exist_ok=True)
at = pd.date_range("2020-01-06", periods=60, freq="h", tz="UTC")
close = [1.1 + (7 * i % 13) / 1000 for i in range(60)]
bars = pd.DataFrame(
    {
        "time": at,
        "open": [round(c - 0.001, 5) for c in close],
        "high": [round(c + 0.002, 5) for c in close],
        "low": [round(c - 0.002, 5) for c in close],
        "close": [round(c, 5) for c in close],
        "volume": [1000 * (i + 1) for i in range(60)],
    }
)
bars.to_parquet(out / "pandas_pyarrow.parquet", index=False)
bars.set_index("time").to_parquet(out / "pandas_index.parquet", compression="gzip")
bars.to_parquet(out / "fastparquet.parquet", engine="fastparquet", index=False, compression="ZSTD")
pl.from_pandas(bars).write_parquet(out / "polars.parquet")
duckdb.sql(f"COPY (SELECT * FROM bars) TO '{out / 'duckdb.parquet'}' (FORMAT parquet)")
nested = bars.assign(tags=[["a", "b"]] * 60, about=[{"venue": "x", "level": {"n": 1}}] * 60)
nested.to_parquet(out / "nested_columns.parquet", index=False)
