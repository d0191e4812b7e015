//! What a backtest did: equity per bar and every fill, as Parquet.
