//! Operations as cases, checked on any device.
