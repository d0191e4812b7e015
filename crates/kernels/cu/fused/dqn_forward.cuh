// gpu: sm_90a
// A computing warpgroup: 64 rows through the network, activations in registers from one product to the next. What gradients
// need of them goes to memory where one learns.
#pragma once
#include "dqn_loss.cuh"
#include "dqn_memory.cuh"

// The action with the largest Q, ties to the lowest: even threads have that of the first of their rows, odd ones of the second.
struct Best {
  u32 action;
  float value;
  METHOD void consider(const Atoms& q, int j, int quad) {
    float sums[2], indices[2];
    UNROLL for (int h = 0; h < 2; ++h) {
      Exponentials x;
      exponentials_apart(x, q, h, quad);
      sums[h] = x.sum;
      indices[h] = index_sum_apart(x, quad);
    }
    const float v = sum4_of_two(indices[0], indices[1], quad) * reciprocal_fast(sum4_of_two(sums[0], sums[1], quad));
    if (j == 0 || v > value) { value = v; action = (u32)j; }
  }
  // Adds the actions of both rows to words of a byte a branch.
  METHOD void add_to(u32 (&rows)[2], int branch, int quad) const {
    const u32 other = shuffle_xor(action, 1);
    rows[0] |= (quad & 1 ? other : action) << 8 * branch;
    rows[1] |= (quad & 1 ? action : other) << 8 * branch;
  }
};

template<class Args> struct Forward {
  const Args& a;
  u32 shared, own;        // the block's memory, this group's
  u32 parity;             // of the ring's next stage
  int head, tail;         // the stage to take next, the one to give back next
  int id, first, member;  // of the block; first row of the tile

  METHOD int thread() const { return threadIdx.x & 127; }
  METHOD int warp() const { return thread() / 32; }
  METHOD int lane() const { return thread() & 31; }
  METHOD int quad() const { return thread() & 3; }
  METHOD int row() const { return 16 * warp() + lane() / 4; }  // of the tile; its partner is 8 further
  METHOD u32 place() const { return row() * 128 + quad() * 4; }  // of (row, 2 quad) in a block
  METHOD u32 x_at(int which) const { return own + (EARLY_X ? which * X_BLOCKS * BLOCK_BYTES : 0); }
  METHOD u32 x_full(int which) const { return shared + OF_BARRIERS + 16 * STAGES + 16 * id + 8 * which; }
  METHOD u32 trunk() const { return own + OF_TRUNK; }
  METHOD u32 buffer() const { return own + OF_BUFFER; }
  METHOD u32 atoms() const { return own + OF_ATOMS; }

  METHOD void sync() const { barrier(1 + id, 128); }
  METHOD u32 take() {
    wait_for(shared + OF_BARRIERS + 8 * head, parity);
    const u32 at = shared + head * STAGE_BYTES;
    if (++head == STAGES) { head = 0; parity ^= 1; }
    products_begin();
    return at;
  }
  // Until all but the last N groups of products are done; COUNT stages go back.
  template<int N, int COUNT> METHOD void settle() {
    products_wait<N>();
    UNROLL for (int i = 0; i < COUNT; ++i) {
      if (lane() == 0) arrive(shared + OF_BARRIERS + 8 * (STAGES + tail));
      if (++tail == STAGES) tail = 0;
    }
  }
  METHOD bool inside(int h) const { return first + row() + 8 * h < a.rows; }
  METHOD u32 mask_at(int word) const { return own + OF_MASKS + (word * 128 + thread()) * 4; }

  // 64 columns of d, from its number `at` on, with bias and ReLU, in pairs: word 2 i + h, which is what four products take
  // as their left side.
  template<int N> METHOD void activate(const float (&d)[N], int at, u32* f, u32 bias_at) const {
    UNROLL for (int i = 0; i < 8; ++i) {
      const Float2 b = get_biases(bias_at, 4 * i + quad());
      UNROLL for (int h = 0; h < 2; ++h) f[2 * i + h] = pack2_relu(d[at + 4 * i + 2 * h] + b.x, d[at + 4 * i + 2 * h + 1] + b.y);
    }
  }
  // Pairs to a block. `to` must not be in use by products or stores.
  METHOD void put_pairs(const u32* f, u32 to) const {
    UNROLL for (int j = 0; j < 16; ++j) put_shared(to + place() + ((j / 2 ^ (lane() >> 2)) << 4) + 1024 * (j & 1), f[j]);
  }
  METHOD void remember_positive(const u32* f, int word) const {
    u32 positive = 0;
    UNROLL for (int j = 0; j < 16; ++j) positive |= positive2(f[j]) & 0x00010001u << j;
    put_shared(mask_at(word), positive);
  }
  // Around writes to shared memory that earlier stores of this group may still be reading.
  template<int PENDING> METHOD void begin_writing(bool stores) const {
    if (stores && thread() == 0) wait_stores_read<PENDING>();
    sync();
  }
  METHOD void end_writing() const { publish_shared(); sync(); }
  // What the gradients need of activations: the block for memory, and which are positive.
  template<int PENDING> METHOD void keep(const u32* f, u32 to, int blocks, const TensorMap& map, int column, int word) const {
    begin_writing<PENDING>(true);
    UNROLL for (int b = 0; b < blocks; ++b) {
      put_pairs(f + 16 * b, to + b * BLOCK_BYTES);
      remember_positive(f + 16 * b, word + b);
    }
    end_writing();
    save(map, column, to, blocks);
  }
  METHOD void save(const TensorMap& map, int column, u32 from, int blocks) const {
    if (thread() != 0) return;
    for (int b = 0; b < blocks; ++b) store_block(map, column + 64 * b, first, member, from + b * BLOCK_BYTES);
    commit_stores();
  }
  METHOD void request_x(int which, int from) const {
    expect_bytes(x_full(which), X_BLOCKS * BLOCK_BYTES);
    for (int b = 0; b < X_BLOCKS; ++b) load_block(x_at(which) + b * BLOCK_BYTES, a.x, 64 * b, from, member, x_full(which));
  }

  METHOD void layer1(float (&d)[32], u32 x) {
    UNROLL for (int b = 0; b < X_BLOCKS; b += 2) {
      const u32 w = take();
      UNROLL for (int j = 0; j < (X_BLOCKS - b < 2 ? 1 : 2); ++j)
        UNROLL for (int k = 0; k < 4; ++k) ss<0>(d, along(x + (b + j) * BLOCK_BYTES, k), along(w + j * BLOCK_BYTES, k), b | j | k);
      products_commit();
    }
  }
  // EARLIER: stages that are held already.
  template<int EARLIER> METHOD void layer2(float (&d)[HALVES][64], const u32 (&h1)[16], int more) {
    UNROLL for (int n = 0; n < HALVES; ++n) {
      if constexpr (EARLIER + HALVES > STAGES)
        if (n == HALVES - 1) settle<STAGES - 1, 1>();
      const u32 w = take();
      UNROLL for (int k = 0; k < 4; ++k) rs<0>(d[n], h1[4 * k], h1[4 * k + 1], h1[4 * k + 2], h1[4 * k + 3], along(w, k), more | k);
      products_commit();
    }
  }
  // The first layer's outputs come 64 at a time, and go from its sums straight into the second layer's products.
  METHOD void trunk_forward(u32 x, u32 biases, bool learn) {
    float low[32], high[HALVES][64];
    u32 now[16], next[16];
    clear(low);
    UNROLL for (int n = 0; n < HALVES; ++n) clear(high[n]);
    layer1(low, x);
    settle<0, X_STAGES>();
    pin(low);
    activate(low, 0, now, biases + BIAS1);
    if constexpr (LEARNS) if (learn) keep<1>(now, buffer(), 1, a.h1, 0, 0);
#pragma unroll 1
    for (int c = 0; c + 1 < CHUNKS; ++c) {
      pin(low);
      pin(now);
      UNROLL for (int n = 0; n < HALVES; ++n) pin(high[n]);
      layer1(low, x);
      layer2<X_STAGES>(high, now, c);
      settle<HALVES, X_STAGES + HALVES <= STAGES ? X_STAGES : X_STAGES - 1>();
      pin(low);
      activate(low, 0, next, biases + BIAS1 + 64 * BIAS * (c + 1));
      if constexpr (LEARNS) if (learn) keep<1>(next, buffer() + ((c + 1) & 1) * BLOCK_BYTES, 1, a.h1, 64 * (c + 1), c + 1);
      settle<0, HALVES>();
      pin(now);
      UNROLL for (int j = 0; j < 16; ++j) now[j] = next[j];
    }
    pin(now);
    UNROLL for (int n = 0; n < HALVES; ++n) pin(high[n]);
    layer2<0>(high, now, CHUNKS - 1);
    settle<0, HALVES>();
    UNROLL for (int n = 0; n < HALVES; ++n) pin(high[n]);
    begin_writing<0>(learn);  // x may lie where this goes
    if constexpr (COMPACT) {
#pragma unroll 1
      for (int b = 0; b < TRUNK_BLOCKS; ++b) {
        activate(high[0], 0, now, biases + BIAS2 + 64 * BIAS * b);
        put_pairs(now, trunk() + b * BLOCK_BYTES);
        UNROLL for (int i = 0; i < 32; ++i) {
          high[0][i] = high[0][32 + i];
          if constexpr (HALVES > 1) {
            high[0][32 + i] = high[1][i];
            high[1][i] = high[1][32 + i];
          }
        }
      }
    } else UNROLL for (int b = 0; b < TRUNK_BLOCKS; ++b) {
      activate(high[b / 2], 32 * (b & 1), now, biases + BIAS2 + 64 * BIAS * b);
      put_pairs(now, trunk() + b * BLOCK_BYTES);
      if constexpr (LEARNS) if (learn) remember_positive(now, CHUNKS + b);
    }
    end_writing();
    if constexpr (LEARNS) if (learn) save(a.h2, 0, trunk(), TRUNK_BLOCKS);
  }
  METHOD void stream_forward(u32 (&h)[STREAM / 4], int s, u32 biases, bool learn) {
    float d[STREAM / 2];
    clear(d);
    static constexpr int COPIES = COMPACT ? 1 : STREAM_STAGES;
#pragma unroll COPIES
    for (int b = 0; b < STREAM_STAGES; ++b) {
      const u32 w = take();
      if constexpr (STREAM == 128) {
        UNROLL for (int k = 0; k < 4; ++k) ss<0>(d, along(trunk() + b * BLOCK_BYTES, k), along(w, k), b | k);
      } else {
        UNROLL for (int k = 0; k < 8; ++k)
          ss<0>(d, along(trunk() + (2 * b + k / 4) * BLOCK_BYTES, k % 4), along(w + k / 4 * BLOCK_BYTES, k % 4), b | k);
      }
      products_commit();
      if (b) settle<1, 1>();
    }
    settle<0, 1>();
    pin(d);
    UNROLL for (int b = 0; b < STREAM_BLOCKS; ++b) activate(d, 32 * b, h + 16 * b, biases + BIAS3 + BIAS * (s * STREAM + 64 * b));
    if constexpr (LEARNS) if (learn) keep<0>(h, buffer(), STREAM_BLOCKS, a.h3, s * STREAM, CHUNKS + TRUNK_BLOCKS + s * STREAM_BLOCKS);
  }
  // q += W h of the next unit, once `settle` has waited for it.
  METHOD void start_unit(Atoms& q, u32 (&h)[STREAM / 4]) {
    const u32 w = take();
    pin(q);
    pin(h);
    UNROLL for (int k = 0; k < STREAM / 16; ++k)
      rs<0>(q, h[4 * k], h[4 * k + 1], h[4 * k + 2], h[4 * k + 3], along(w + k / 4 * BLOCK_BYTES, k % 4), 1);
    products_commit();
  }
  METHOD void unit_forward(Atoms& q, u32 (&h)[STREAM / 4]) {
    start_unit(q, h);
    settle<0, 1>();
    pin(q);
  }
  METHOD void set_bias(Atoms& q, u32 at) const {
    UNROLL for (int i = 0; i < PACKS; ++i) {
      const Float2 b = get_biases(at, 4 * i + quad());
      q[4 * i] = q[4 * i + 2] = b.x;
      q[4 * i + 1] = q[4 * i + 3] = b.y;
    }
  }
  // A forward pass from x in shared memory, of V and of the branches in `branches`. For each branch: hooks.value(s) once V is
  // there and before any action, hooks.use(q, s, j) for the distribution l of action j, and hooks.done(s).
  template<class Hooks> METHOD void forward(u32 x, u32 biases, int branches, bool learn, Hooks& hooks) {
    trunk_forward(x, biases, learn);
    Atoms value;
    clear(value);
#pragma unroll 1
    for (int s = 0; s < STREAMS; ++s) {
      if (s && !(branches >> (s - 1) & 1)) continue;
      u32 h[STREAM / 4];
      stream_forward(h, s, biases, learn);
      const u32 unit_bias = biases + BIAS_HEAD + BIAS * first_unit(s) * UNIT;
      if (s == 0) {
        set_bias(value, unit_bias);
        unit_forward(value, h);
        hooks.value();
        continue;
      }
      Atoms base;
      UNROLL for (int i = 0; i < PACKS; ++i)
        UNROLL for (int c = 0; c < 2; ++c) {
          const float b = get_shared_float(biases + BIAS_MEAN + 4 * ((s - 1) * UNIT + 8 * i + 2 * quad() + c));
          base[4 * i + c] = value[4 * i + c] - b;
          base[4 * i + 2 + c] = value[4 * i + 2 + c] - b;
        }
      start_unit(base, h);  // - mean, its high and its low word
      start_unit(base, h);
      settle<0, 2>();
      pin(base);
      const int n = actions_of(s);
      hooks.begin();
      const auto begin = [&](Atoms& q, int j) {
        set_bias(q, unit_bias + BIAS * j * UNIT);
        UNROLL for (int i = 0; i < 4 * PACKS; ++i) q[i] = q[i] + base[i];
        start_unit(q, h);
      };
      Atoms q, last;
      begin(q, 0);
      settle<0, 1>();
      pin(q);
#pragma unroll 1
      for (int j = 1; COMPACT || j < n; ++j) {  // a unit is used while the next is multiplied
        UNROLL for (int i = 0; i < 4 * PACKS; ++i) last[i] = q[i];
        if (!COMPACT || j < n) begin(q, j);
        hooks.use(last, s, j - 1);
        if (COMPACT && j == n) {
          products_wait<0>();  // there are none, which the compiler does not know
          pin(q);
          break;
        }
        settle<0, 1>();
        pin(q);
      }
      if (!COMPACT) hooks.use(q, s, n - 1);
      hooks.done(s);
    }
  }
};
