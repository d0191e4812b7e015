//! Performance metrics, one file each.
