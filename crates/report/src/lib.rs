//! The self-contained HTML report. Reads a ledger and nothing else.
