//! CPU or CUDA: memory, launches, matrix products, graphs. Knows no operation by name.
