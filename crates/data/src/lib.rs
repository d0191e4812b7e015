//! Market data files to bars on an integer price grid.
