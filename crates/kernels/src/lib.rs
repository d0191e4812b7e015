//! The kernel tree and its typed, checked launchers. Allocates nothing.
