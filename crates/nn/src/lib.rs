//! The plan: tensors, operations, autodiff, layers, optimiser. Has never heard of prices.
