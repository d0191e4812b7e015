// gpu: sm_90a
// The thread that brings a network's weights, in the order in which the computing warpgroups take them. A stage is two blocks.
#pragma once
#include "dqn_memory.cuh"

struct Loader {
  u32 ring, full, empty, parity;
  int stage, member;
  METHOD void next() { if (++stage == STAGES) { stage = 0; parity ^= 1; } }
  METHOD void one(const TensorMap& map, int column, int row) {
    wait_for(empty + 8 * stage, parity ^ 1);
    expect_bytes(full + 8 * stage, BLOCK_BYTES);
    load_block(ring + stage * STAGE_BYTES, map, column, row, member, full + 8 * stage);
    next();
  }
  METHOD void two(const TensorMap& map, int column, int row, int column2, int row2) {
    wait_for(empty + 8 * stage, parity ^ 1);
    expect_bytes(full + 8 * stage, STAGE_BYTES);
    load_block(ring + stage * STAGE_BYTES, map, column, row, member, full + 8 * stage);
    load_block(ring + stage * STAGE_BYTES + BLOCK_BYTES, map, column2, row2, member, full + 8 * stage);
    next();
  }
  METHOD void unit(const TensorMap& map, int row) {
    if constexpr (STREAM == 128) two(map, 0, row, 64, row);
    else one(map, 0, row);
  }
  METHOD void layer1(const NetMaps& net, int chunk) {
#pragma unroll 1
    for (int b = 0; b < X_BLOCKS; b += 2)
      if (b + 1 < X_BLOCKS) two(net.w1, 64 * b, 64 * chunk, 64 * b + 64, 64 * chunk);
      else one(net.w1, 64 * b, 64 * chunk);
  }
  METHOD void layer2(const NetMaps& net, int chunk) {
#pragma unroll 1
    for (int n = 0; n < HALVES; ++n) two(net.w2, 64 * chunk, 128 * n, 64 * chunk, 128 * n + 64);
  }
  // A forward pass in two parts, of which the second needs the mean too. Each layer stands here once: this code is fetched beside that
  // of whoever computes.
  METHOD void trunk(const NetMaps& net) {
#pragma unroll 1
    for (int c = 0; c <= CHUNKS; ++c) {  // the first layer is a chunk ahead
      if (c < CHUNKS) layer1(net, c);
      if (c > 0) layer2(net, c - 1);
    }
  }
  METHOD void streams(const NetMaps& net, const TensorMap& mean, int mean_row, int branches) {
#pragma unroll 1
    for (int s = 0; s < STREAMS; ++s) {
      if (s && !(branches >> (s - 1) & 1)) continue;
#pragma unroll 1
      for (int b = 0; b < STREAM_STAGES; ++b)
        if constexpr (STREAM == 128) two(net.w3, 64 * b, 128 * s, 64 * b, 128 * s + 64);
        else two(net.w3, 128 * b, 64 * s, 128 * b + 64, 64 * s);
      // Both words of the mean come before the units of a branch.
#pragma unroll 1
      for (int u = s ? -2 : 0; u < actions_of(s); ++u)
        unit(u < 0 ? mean : net.head, u < 0 ? mean_row + (2 * s + u) * UNIT : (first_unit(s) + u) * UNIT);
    }
  }
  METHOD void forward(const NetMaps& net, const TensorMap& mean, int mean_row, int branches) {
    trunk(net);
    streams(net, mean, mean_row, branches);
  }
  METHOD void backward(const NetMaps& net) {
#pragma unroll 1
    for (int u = 0; u < UNITS; ++u) unit(net.head, u * UNIT);
#pragma unroll 1
    for (int k = 0; k < STREAMS * STREAM_BLOCKS; ++k)
#pragma unroll 1
      for (int n = 0; n < HALVES; ++n) two(net.w3, 128 * n, 64 * k, 128 * n + 64, 64 * k);
#pragma unroll 1
    for (int c = 0; c < CHUNKS; ++c)
#pragma unroll 1
      for (int n = 0; n < HALVES; ++n) two(net.w2, 64 * c, 128 * n, 64 * c, 128 * n + 64);
  }
};
