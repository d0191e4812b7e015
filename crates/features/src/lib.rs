//! Causal features of bars, and their normalisation.
