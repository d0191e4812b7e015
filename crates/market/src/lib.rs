//! Trade physics: the host's side of the market kernels.
