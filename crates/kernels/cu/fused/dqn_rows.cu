// gpu: sm_90a
// bounds: DQN_INPUTS=128 DQN_TRUNK1=256 DQN_TRUNK2=256 DQN_STREAM=128 DQN_BRANCHES=3 DQN_ACTIONS0=9 DQN_ACTIONS1=3 DQN_ACTIONS2=3 DQN_ATOMS=51 DQN_GROUPS=1 DQN_ROLES=5
// bounds: DQN_INPUTS=128 DQN_TRUNK1=256 DQN_TRUNK2=256 DQN_STREAM=128 DQN_BRANCHES=3 DQN_ACTIONS0=9 DQN_ACTIONS1=3 DQN_ACTIONS2=3 DQN_ATOMS=51 DQN_GROUPS=2 DQN_ROLES=1
// bounds: DQN_INPUTS=256 DQN_TRUNK1=512 DQN_TRUNK2=256 DQN_STREAM=128 DQN_BRANCHES=3 DQN_ACTIONS0=9 DQN_ACTIONS1=3 DQN_ACTIONS2=3 DQN_ATOMS=51 DQN_GROUPS=2 DQN_ROLES=1
// bounds: DQN_INPUTS=64 DQN_TRUNK1=128 DQN_TRUNK2=128 DQN_STREAM=64 DQN_BRANCHES=3 DQN_ACTIONS0=9 DQN_ACTIONS1=3 DQN_ACTIONS2=3 DQN_ATOMS=51 DQN_GROUPS=1 DQN_ROLES=3
// All of a training step that belongs to one row, for 64 rows a warpgroup (rl.md 1 to 3): the forward passes F(s') for a*,
// T(s') for the target distribution, F(s) for the loss, and the chain of activation gradients. What `value_head.cu` says
// of the loss holds here. Weights stream through shared memory, activations stay there; what the weight gradients need
// goes to memory once: h1, h2, h3 (of s), d1, d2, d3 (gradients before the activations), g.
// Shapes: x [2B, S] (s, then s'); w1 [M1, S], w2 [M2, M1], w3 [streams * H, M2], wh [units * U, H]; mean [nets * branches *
// 2 * U, H]: minus the mean of a branch's units, high and low word (`dqn_mean.cu`); h3, d3 [B, streams * H];
// g [B, streams * 64]: softmax - target of the taken action, times scale; V's is the sum over branches.
// Overwrites all but total, which it adds to.
// Where tiles are few, the blocks of a cluster share the passes of one (DQN_ROLES): a* and the target distributions go from
// one to the next through shared memory. No bit depends on it.
#include "dqn.cuh"
#include "outcome.cuh"

static constexpr int GROUPS = DQN_GROUPS;            // warpgroups that compute; one more loads
static constexpr int ROLES = DQN_ROLES;              // blocks that share a tile's passes
static_assert(ROLES == 1 || GROUPS == 1, "a tile of its own is what roles share");
static constexpr int THREADS = 128 * GROUPS + (GROUPS == 1 ? 32 : 128);
static constexpr int STAGE_BYTES = 2 * BLOCK_BYTES;
static constexpr int CHUNKS = TRUNK1 / 64;           // of the first layer's outputs
static constexpr int X_BLOCKS = INPUTS / 64, TRUNK_BLOCKS = TRUNK2 / 64, STREAM_BLOCKS = STREAM / 64;
static constexpr int HALVES = TRUNK2 / 128;
static constexpr int X_STAGES = (X_BLOCKS + 1) / 2;
static constexpr int STREAM_STAGES = STREAM == 128 ? TRUNK_BLOCKS : TRUNK_BLOCKS / 2;

// ---- shared memory -----------------------------------------------------------------------------------------------
static constexpr int round_up(int x, int to) { return (x + to - 1) / to * to; }
static constexpr int WARP_ATOMS = 2 * PACKS * 128, BRANCH_ATOMS = 4 * WARP_ATOMS;  // a branch's distributions in BF16
static constexpr int MASK_WORDS = CHUNKS + TRUNK_BLOCKS + STREAMS * STREAM_BLOCKS; // which activations are positive
// With one group x and x' have memory of their own and come early; with two they lie where the trunk's output goes.
static constexpr bool EARLY_X = GROUPS == 1;
static constexpr int OF_TRUNK = EARLY_X ? 2 * X_BLOCKS * BLOCK_BYTES : 0;
static constexpr int OF_BUFFER = OF_TRUNK + (TRUNK_BLOCKS > X_BLOCKS || EARLY_X ? TRUNK_BLOCKS : X_BLOCKS) * BLOCK_BYTES;
static constexpr int OF_ATOMS = OF_BUFFER + 2 * BLOCK_BYTES;
static constexpr int ATOMS_BYTES = BRANCHES * BRANCH_ATOMS > STREAM * 128 ? BRANCHES * BRANCH_ATOMS : STREAM * 128;
static constexpr int OF_MASKS = round_up(OF_ATOMS + ATOMS_BYTES, 1024);
static constexpr int GROUP_BYTES = round_up(OF_MASKS + MASK_WORDS * 512, 1024);
static constexpr int BIAS1 = 0, BIAS2 = 2 * TRUNK1, BIAS3 = BIAS2 + 2 * TRUNK2, BIAS_HEAD = BIAS3 + 2 * STREAMS * STREAM;
static constexpr int BIAS_MEAN = round_up(BIAS_HEAD + 2 * UNITS * UNIT, 16), BIAS_BYTES = BIAS_MEAN + 4 * BRANCHES * UNIT;
static constexpr int CHOICE_BYTES = ROLES > 1 ? 1024 : 0;  // of both rows of each thread, or which are beyond
static constexpr int FIXED_BYTES = GROUPS * GROUP_BYTES + 2 * BIAS_BYTES + 256 + CHOICE_BYTES;
static constexpr int STAGES_FIT = (227 * 1024 - 1024 - FIXED_BYTES) / STAGE_BYTES, STAGES = STAGES_FIT < 8 ? STAGES_FIT : 8;
static_assert(STAGES >= 3, "three stages of weights must fit");
static constexpr int OF_GROUPS = STAGES * STAGE_BYTES, OF_BIAS = OF_GROUPS + GROUPS * GROUP_BYTES;
static constexpr int OF_BARRIERS = OF_BIAS + 2 * BIAS_BYTES, OF_CHOICES = OF_BARRIERS + 256, SHARED_BYTES = OF_CHOICES + CHOICE_BYTES;

struct NetMaps { TensorMap w1, w2, w3, head; };
struct NetBiases { Members<const real> b1, b2, b3, head; };
struct RowsArgs {
  NetMaps online, target;
  TensorMap x, mean, h1, h2, h3, d1, d2, d3;
  NetBiases online_bias, target_bias;
  Members<const u8> actions;
  Members<const Outcome> outcome;
  Members<real> g, row_loss;
  Members<LossTotal> total;
  i32 rows, ld_actions, ld_g, mixture;
  float scale, inv_branches, trunk_scale, v_min, inv_dz;
  u32 padding[3];
};

enum Pass { CHOOSE, TARGET, LEARN };  // F(s'), T(s'), F(s)

// What a block of a cluster does: passes first to last, of some branches (V always), and who waits for its results.
struct Role { int first, last, branches, next; };
static constexpr int ALL = (1 << BRANCHES) - 1;
FN Role role_of(int rank) {
  if constexpr (ROLES == 1) return {CHOOSE, LEARN, ALL, 0};
  if constexpr (ROLES == 2) return rank == 0 ? Role{CHOOSE, TARGET, ALL, 1} : Role{LEARN, LEARN, ALL, 1};
  if constexpr (ROLES == 3) return {rank, rank, ALL, rank + 1};
  if (rank == 4) return {LEARN, LEARN, ALL, 4};
  return {rank / 2, rank / 2, rank % 2 ? ALL & ~1 : 1, rank < 2 ? rank + 2 : 4};  // the first branch, and the others
}

// ---- the loading warp ------------------------------------------------------------------------------------------------
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
  METHOD void forward(const NetMaps& net, const TensorMap& mean, int mean_row, int branches) {
    layer1(net, 0);
#pragma unroll 1
    for (int c = 0; c + 1 < CHUNKS; ++c) { layer1(net, c + 1); layer2(net, c); }
    layer2(net, CHUNKS - 1);
#pragma unroll 1
    for (int s = 0; s < STREAMS; ++s) {
      if (s && !(branches >> (s - 1) & 1)) continue;
#pragma unroll 1
      for (int b = 0; b < STREAM_STAGES; ++b)
        if constexpr (STREAM == 128) two(net.w3, 64 * b, 128 * s, 64 * b, 128 * s + 64);
        else two(net.w3, 128 * b, 64 * s, 128 * b + 64, 64 * s);
      if (s) { unit(mean, mean_row + 2 * (s - 1) * UNIT); unit(mean, mean_row + (2 * (s - 1) + 1) * UNIT); }
#pragma unroll 1
      for (int u = 0; u < actions_of(s); ++u) unit(net.head, (first_unit(s) + u) * UNIT);
    }
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

// ---- a computing warpgroup ---------------------------------------------------------------------------------------------
struct Group {
  const RowsArgs& a;
  u32 shared, own;        // the block's memory, this group's
  u32 parity;             // of the ring's next stage
  int head, tail;         // the stage to take next, the one to give back next
  u32 x_parity;
  int id, first, member;  // of the block; first row of the tile
  Role role;
  u32 choice[2];          // a byte per branch, of both rows
  u32 beyond;             // which of both rows have a target return outside the support for some branch
  float loss[2];

  METHOD int thread() const { return threadIdx.x & 127; }
  METHOD int warp() const { return thread() / 32; }
  METHOD int lane() const { return thread() & 31; }
  METHOD int quad() const { return thread() & 3; }
  METHOD int row() const { return 16 * warp() + lane() / 4; }  // of the tile; its partner is 8 further
  METHOD u32 place() const { return row() * 128 + quad() * 4; }  // of (row, 2 quad) in a block
  METHOD u32 x_at(int which) const { return own + (EARLY_X ? which * X_BLOCKS * BLOCK_BYTES : 0); }
  METHOD u32 x_full(int which) const { return shared + OF_BARRIERS + 16 * STAGES + 16 * id + 8 * which; }
  METHOD u32 choices_full() const { return shared + OF_BARRIERS + 16 * STAGES + 16 * GROUPS; }
  METHOD u32 targets_full() const { return choices_full() + 8; }
  METHOD u32 trunk() const { return own + OF_TRUNK; }
  METHOD u32 buffer() const { return own + OF_BUFFER; }
  METHOD u32 atoms() const { return own + OF_ATOMS; }
  METHOD u32 bias(Pass pass) const { return shared + OF_BIAS + (pass == TARGET ? BIAS_BYTES : 0); }

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
  METHOD u32 atoms_at(int branch, int j) const { return atoms() + branch * BRANCH_ATOMS + warp() * WARP_ATOMS + j * 128 + lane() * 4; }

  // 64 columns of d, from its number `at` on, with bias and ReLU, in pairs: word 2 i + h, which is what four products take
  // as their left side.
  template<int N> METHOD void activate(const float (&d)[N], int at, u32* f, u32 bias_at) const {
    UNROLL for (int i = 0; i < 8; ++i) {
      const u32 b = get_shared(bias_at + 16 * i + 4 * quad());
      UNROLL for (int h = 0; h < 2; ++h) f[2 * i + h] = pack2(relu(d[at + 4 * i + 2 * h] + low2(b)), relu(d[at + 4 * i + 2 * h + 1] + high2(b)));
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
  // 64 columns of a gradient, where the activation was positive, to a block.
  template<int N> METHOD void put_gradient(const float (&d)[N], int at, u32 to, float scale, int word) const {
    const u32 positive = get_shared(mask_at(word));
    u32 f[16];
    UNROLL for (int j = 0; j < 16; ++j)
      f[j] = pack2(d[at + 2 * j] * scale, d[at + 2 * j + 1] * scale) & (positive >> j & 0x00010001u) * 0xffffu;
    put_pairs(f, to);
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

  // ---- forward ----
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
    const u32 zero = opaque_zero();  // see below
    clear(low);
    UNROLL for (int n = 0; n < HALVES; ++n) clear(high[n]);
    layer1(low, x);
    settle<0, X_STAGES>();
    pin(low);
    activate(low, 0, now, biases + BIAS1);
    if (learn) keep<1>(now, buffer(), 1, a.h1, 0, 0);
#pragma unroll 1
    for (int c = 0; c + 1 < CHUNKS; ++c) {
      pin(low);
      pin(now);
      UNROLL for (int n = 0; n < HALVES; ++n) pin(high[n]);
      layer1(low, x);
      layer2<X_STAGES>(high, now, c);
      settle<HALVES, X_STAGES + HALVES <= STAGES ? X_STAGES : X_STAGES - 1>();
      pin(low);
      activate(low, 0, next, biases + BIAS1 + 128 * (c + 1));
      if (learn) keep<1>(next, buffer() + ((c + 1) & 1) * BLOCK_BYTES, 1, a.h1, 64 * (c + 1), c + 1);
      settle<0, HALVES>();
      pin(now);
      // A plain copy would be merged with what is copied, and the assembler then sees the products' left side overwritten
      // while they run, and puts them one after another (C7513).
      UNROLL for (int j = 0; j < 16; ++j) now[j] = next[j] ^ zero;
    }
    pin(now);
    UNROLL for (int n = 0; n < HALVES; ++n) pin(high[n]);
    layer2<0>(high, now, CHUNKS - 1);
    settle<0, HALVES>();
    UNROLL for (int n = 0; n < HALVES; ++n) pin(high[n]);
    begin_writing<0>(learn);  // x may lie where this goes
    UNROLL for (int b = 0; b < TRUNK_BLOCKS; ++b) {
      activate(high[b / 2], 32 * (b & 1), now, biases + BIAS2 + 128 * b);
      put_pairs(now, trunk() + b * BLOCK_BYTES);
      if (learn) remember_positive(now, CHUNKS + b);
    }
    end_writing();
    if (learn) save(a.h2, 0, trunk(), TRUNK_BLOCKS);
  }
  METHOD void stream_forward(u32 (&h)[STREAM / 4], int s, u32 biases, bool learn) {
    float d[STREAM / 2];
    clear(d);
    UNROLL for (int b = 0; b < STREAM_STAGES; ++b) {
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
    UNROLL for (int b = 0; b < STREAM_BLOCKS; ++b) activate(d, 32 * b, h + 16 * b, biases + BIAS3 + 2 * (s * STREAM + 64 * b));
    if (learn) keep<0>(h, buffer(), STREAM_BLOCKS, a.h3, s * STREAM, CHUNKS + TRUNK_BLOCKS + s * STREAM_BLOCKS);
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
      const u32 b = get_shared(at + 16 * i + 4 * quad());
      q[4 * i] = q[4 * i + 2] = low2(b);
      q[4 * i + 1] = q[4 * i + 3] = high2(b);
    }
  }
  METHOD void forward(Pass pass) {
    const bool learn = pass == LEARN;
    const u32 biases = bias(pass);
    trunk_forward(fetch_x(pass), biases, learn);
    Atoms value;
    clear(value);
#pragma unroll 1
    for (int s = 0; s < STREAMS; ++s) {
      if (s && !(role.branches >> (s - 1) & 1)) continue;
      u32 h[STREAM / 4];
      stream_forward(h, s, biases, learn);
      const u32 unit_bias = biases + BIAS_HEAD + 2 * first_unit(s) * UNIT;
      if (s == 0) {
        set_bias(value, unit_bias);
        unit_forward(value, h);
        if (pass == TARGET) receive_choices();
        continue;
      }
      Atoms base, taken;
      UNROLL for (int i = 0; i < PACKS; ++i)
        UNROLL for (int c = 0; c < 2; ++c) {
          const float b = get_shared_float(biases + BIAS_MEAN + 4 * ((s - 1) * UNIT + 8 * i + 2 * quad() + c));
          base[4 * i + c] = value[4 * i + c] - b;
          base[4 * i + 2 + c] = value[4 * i + 2 + c] - b;
        }
#pragma unroll 1
      for (int word = 0; word < 2; ++word) unit_forward(base, h);  // - mean
      UNROLL for (int i = 0; i < 4 * PACKS; ++i) taken[i] = 0.f;
      const int shift = 8 * (s - 1), n = actions_of(s);
      int best[2] = {0, 0};
      float top[2] = {0.f, 0.f};
      const auto begin = [&](Atoms& q, int j) {
        set_bias(q, unit_bias + 2 * j * UNIT);
        UNROLL for (int i = 0; i < 4 * PACKS; ++i) q[i] = q[i] + base[i];
        start_unit(q, h);
      };
      const auto use = [&](const Atoms& q, int j) {
        UNROLL for (int h = 0; h < 2; ++h) {
          if (pass == CHOOSE) {
            Exponentials x;
            exponentials(x, q, h, quad());
            const float v = mean_index(x);
            if (j == 0 || v > top[h]) { top[h] = v; best[h] = j; }
          } else if ((int)(choice[h] >> shift & 255) == j) {
            UNROLL for (int i = 0; i < PACKS; ++i)
              UNROLL for (int c = 0; c < 2; ++c) taken[4 * i + 2 * h + c] = q[4 * i + 2 * h + c];
          }
        }
      };
      Atoms q, last;
      begin(q, 0);
      settle<0, 1>();
      pin(q);
#pragma unroll 1
      for (int j = 1; j < n; ++j) {  // a unit is used while the next is multiplied
        UNROLL for (int i = 0; i < 4 * PACKS; ++i) last[i] = q[i];
        begin(q, j);
        use(last, j - 1);
        settle<0, 1>();
        pin(q);
      }
      use(q, n - 1);
      if (pass == CHOOSE) {
        UNROLL for (int h = 0; h < 2; ++h) choice[h] |= (u32)best[h] << shift;
      } else if (pass == TARGET) {
        project(taken, s - 1);
      } else {
        if (s == 1) receive_targets();
        learn_branch(taken, s - 1);
      }
    }
  }
  // ---- between the blocks of a cluster ----
  METHOD void send_choices() const {
    if (ROLES == 1 || role.last != CHOOSE) return;
    const u32 to = shared_of_rank(shared + OF_CHOICES + 8 * thread(), role.next);
    UNROLL for (int h = 0; h < 2; ++h) put_remote(to + 4 * h, choice[h]);
    arrive_remote(shared_of_rank(choices_full(), role.next));
  }
  METHOD void receive_choices() {
    if (ROLES == 1 || role.first != TARGET) return;
    wait_for_remote(choices_full(), 0);
    UNROLL for (int h = 0; h < 2; ++h) choice[h] = get_shared(shared + OF_CHOICES + 8 * thread() + 4 * h);
  }
  METHOD void send_targets() const {
    if constexpr (ROLES > 1) {
      if (role.last != TARGET) return;
#pragma unroll 1
      for (int d = 0; d < BRANCHES; ++d)
        if (role.branches >> d & 1)
          UNROLL for (int j = 0; j < 2 * PACKS; ++j) put_remote(shared_of_rank(atoms_at(d, j), role.next), get_shared(atoms_at(d, j)));
      // Two blocks may send: each has a word of its own.
      put_remote(shared_of_rank(shared + OF_CHOICES + 8 * thread() + (role.branches & 1 ? 0 : 4), role.next), beyond);
      arrive_remote(shared_of_rank(targets_full(), role.next));
    }
  }
  METHOD void receive_targets() {
    if constexpr (ROLES > 1) {
      wait_for_remote(targets_full(), 0);
      beyond = get_shared(shared + OF_CHOICES + 8 * thread());
      if constexpr (ROLES == 5) beyond |= get_shared(shared + OF_CHOICES + 8 * thread() + 4);
    }
    if (a.mixture) mix();
  }
  // Where x of this pass lies, once it is there.
  METHOD u32 fetch_x(Pass pass) {
    if constexpr (EARLY_X) {
      if (pass != TARGET || role.first == TARGET) wait_for(x_full(pass == LEARN), 0);
      return x_at(pass == LEARN);
    } else {
      sync();  // the last pass is through with this memory
      if (thread() == 0) request_x(0, pass == LEARN ? first : a.rows + first);
      wait_for(x_full(0), x_parity);
      x_parity ^= 1;
      return x_at(0);
    }
  }
  METHOD void request_x(int which, int from) const {
    expect_bytes(x_full(which), X_BLOCKS * BLOCK_BYTES);
    for (int b = 0; b < X_BLOCKS; ++b) load_block(x_at(which) + b * BLOCK_BYTES, a.x, 64 * b, from, member, x_full(which));
  }

  // ---- distributions ----
  // The mean of the atoms' numbers: Q up to the support, which keeps its order.
  METHOD float mean_index(const Exponentials& x) const {
    float s = 0.f;
    UNROLL for (int i = 0; i < PACKS; ++i)
      UNROLL for (int c = 0; c < 2; ++c) s = fma_(x.e[2 * i + c], (float)(8 * i + c + 2 * quad()), s);
    return sum4(s) / x.sum;
  }
  // A sum of 2^-24 as a share of 2^-16. BF16 would be coarser where it counts: g is the small difference of two
  // distributions, and the rounding of 0.02 to BF16 was seen as 6 % noise in the gradient of a row.
  static METHOD u32 to_share(u32 sum) { return min((sum + 128) >> 8, 65535u); }
  // The projection of softmax(l) through r + discount z, into `atoms`. Sums are of integers (2^-24), in any order.
  METHOD void project(Atoms& l, int branch) {
    u32 out[2 * PACKS];
    UNROLL for (int j = 0; j < 2 * PACKS; ++j) out[j] = 0;
    const u32 scratch = atoms_at(branch, 0) - lane() * 4, mine = scratch + (lane() >> 2) * UNIT * 4;
#pragma unroll 1
    for (int h = 0; h < 2; ++h) {  // code that runs once is dearer to fetch than to loop over
      Exponentials x;
      exponentials(x, l, 0, quad());
      const int at = first + row() + 8 * h;
      const Outcome o = a.outcome.of(member)[at < a.rows ? at : a.rows - 1];
      const float r = (float)o.return_q20 * 9.5367431640625e-7f, gamma = (float)o.discount_q31 * 4.656612873077393e-10f;
      const float start = (r - a.v_min + gamma * a.v_min) * a.inv_dz, unit = 16777216.f / x.sum;
      const float mean = fma_(gamma, mean_index(x), start);
      if (mean < 0.f || mean > (float)(ATOMS - 1)) beyond |= 1u << h;
      __syncwarp();
      UNROLL for (int j = 0; j < 2 * PACKS; ++j) put_shared(scratch + j * 128 + lane() * 4, 0);
      __syncwarp();
      UNROLL for (int i = 0; i < PACKS; ++i)
        UNROLL for (int c = 0; c < 2; ++c) {
          if (!is_atom(i, c, quad())) continue;
          float b = fma_(gamma, (float)(8 * i + c + 2 * quad()), start);
          b = smaller(larger(b, 0.f), (float)(ATOMS - 1));
          const int below = min((int)b, ATOMS - 2);
          const float p = x.e[2 * i + c] * unit;
          const int whole = nearest_int(p), upper = nearest_int(p * (b - (float)below));
          add_shared(mine + 4 * below, whole - upper);
          add_shared(mine + 4 * below + 4, upper);
        }
      __syncwarp();
      UNROLL for (int i = 0; i < PACKS; ++i) {
        const u32 pair = mine + 4 * (8 * i + 2 * quad());
        out[2 * i] = out[2 * i + 1];
        out[2 * i + 1] = to_share(get_shared(pair)) | to_share(get_shared(pair + 4)) << 16;
      }
      swap_rows(l);
    }
    __syncwarp();
    UNROLL for (int j = 0; j < 2 * PACKS; ++j) put_shared(atoms_at(branch, j), out[j]);
  }
  static METHOD void swap_rows(Atoms& l) {
    UNROLL for (int i = 0; i < PACKS; ++i)
      UNROLL for (int c = 0; c < 2; ++c) {
        const float x = l[4 * i + c];
        l[4 * i + c] = l[4 * i + 2 + c];
        l[4 * i + 2 + c] = x;
      }
  }
  // Every branch gets the mean of the branches' targets.
  METHOD void mix() const {
    UNROLL for (int j = 0; j < 2 * PACKS; ++j) {
      u32 low = BRANCHES / 2, high = BRANCHES / 2;  // to nearest
      for (int d = 0; d < BRANCHES; ++d) {
        const u32 m = get_shared(atoms_at(d, j));
        low += m & 0xffffu;
        high += m >> 16;
      }
      for (int d = 0; d < BRANCHES; ++d) put_shared(atoms_at(d, j), low / BRANCHES | high / BRANCHES << 16);
    }
  }
  // Loss and g of a branch, from the taken action's l and the target in `atoms`, where g takes its place().
  METHOD void learn_branch(Atoms& l, int branch) {
#pragma unroll 1
    for (int h = 0; h < 2; ++h) {
      Exponentials x;
      exponentials(x, l, 0, quad());
      float m[2 * PACKS], mass = 0.f, cross = 0.f;
      const float log_sum = x.top + log2_fast(x.sum) * 0.693147181f;
      UNROLL for (int i = 0; i < PACKS; ++i) {
        const u32 shares = get_shared(atoms_at(branch, 2 * i + h));
        UNROLL for (int c = 0; c < 2; ++c) {
          m[2 * i + c] = (float)(c ? shares >> 16 : shares & 0xffffu);
          mass = mass + m[2 * i + c];
          if (is_atom(i, c, quad())) cross = fma_(m[2 * i + c], log_sum - l[4 * i + c], cross);
        }
      }
      const float inv_mass = 1.f / sum4(mass), inv_sum = 1.f / x.sum;
      // Both rows' losses take turns, as the rows do.
      const float other = loss[1];
      loss[1] = loss[0] + sum4(cross) * inv_mass;
      loss[0] = other;
      const float scale = inside(h) ? a.scale : 0.f;
      real* const g = a.g.of(member) + (i64)(first + row() + 8 * h) * a.ld_g + 64 * (1 + branch) + 2 * quad();
      UNROLL for (int i = 0; i < PACKS; ++i) {
        const u32 v = pack2((x.e[2 * i] * inv_sum - m[2 * i] * inv_mass) * scale, (x.e[2 * i + 1] * inv_sum - m[2 * i + 1] * inv_mass) * scale);
        put_shared(atoms_at(branch, 2 * i + h), v);
        if (inside(h)) *(u32*)(g + 8 * i) = v;
      }
      swap_rows(l);
    }
  }
  METHOD void total_loss() const {
    u64 sum = 0;
    u32 good = 0, bad = 0, edge = 0;
    UNROLL for (int h = 0; h < 2; ++h) {
      const float x = loss[h] * a.inv_branches;
      if (quad() != 0 || !inside(h)) continue;
      store(a.row_loss.of(member) + first + row() + 8 * h, x);
      if (x < 1e6f) sum += (u64)(x * 4294967296.f), good += 1, edge += beyond >> h & 1;
      else bad += 1;
    }
    for (int lanes = 16; lanes; lanes /= 2) {
      sum += __shfl_xor_sync(0xffffffffu, sum, lanes);
      good += __shfl_xor_sync(0xffffffffu, good, lanes);
      bad += __shfl_xor_sync(0xffffffffu, bad, lanes);
      edge += __shfl_xor_sync(0xffffffffu, edge, lanes);
    }
    if (lane() != 0) return;
    LossTotal* const t = a.total.of(member);
    atomic_add(&t->loss_q32, sum);
    atomic_add(&t->rows, (u64)good);
    if (bad) atomic_add(&t->bad, (u64)bad);
    if (edge) atomic_add(&t->edge, (u64)edge);
  }

  // ---- backward ----
  // Where the gradient of a stream's activations lies: by now all else there is done with.
  METHOD u32 stream_slot(int s) const { return s < 2 ? trunk() + s * STREAM_BLOCKS * BLOCK_BYTES : s == 2 ? buffer() : atoms(); }
  METHOD void backward() {
    constexpr int K = (UNIT + 15) / 16;  // of 16 atoms
#pragma unroll 1
    for (int s = 0; s < STREAMS; ++s) {
      u32 g[4 * K], scaled[4 * K];
      UNROLL for (int j = 0; j < 4 * K; ++j) g[j] = 0;
      if (s == 0) {
        UNROLL for (int j = 0; j < 2 * PACKS; ++j) {
          float low = 0.f, high = 0.f;
          UNROLL for (int d = 0; d < BRANCHES; ++d) {
            const u32 x = get_shared(atoms_at(d, j));
            low = low + low2(x);
            high = high + high2(x);
          }
          g[j] = pack2(low, high);
          if (inside(j & 1)) *(u32*)(a.g.of(member) + (i64)(first + row() + 8 * (j & 1)) * a.ld_g + 8 * (j / 2) + 2 * quad()) = g[j];
        }
      } else {
        UNROLL for (int j = 0; j < 2 * PACKS; ++j) g[j] = get_shared(atoms_at(s - 1, j));
      }
      const int n = actions_of(s);
      const float inv = 1.f / (float)n;
      const u32 others = s ? pack2(-inv, -inv) : 0x3f803f80u, own = s ? pack2(1.f - inv, 1.f - inv) : 0x3f803f80u;
      float d[STREAM / 2];
      clear(d);
#pragma unroll 1
      for (int u = 0; u < n; ++u) {
        const u32 w = take();
        const u32 factor[2] = {(int)(choice[0] >> 8 * (s - 1) & 255) == u ? own : others, (int)(choice[1] >> 8 * (s - 1) & 255) == u ? own : others};
        UNROLL for (int j = 0; j < 4 * K; ++j) scaled[j] = multiply2(g[j], factor[j & 1]);
        pin(scaled);
        pin(d);
        UNROLL for (int k = 0; k < K; ++k)
          rs<1>(d, scaled[4 * k], scaled[4 * k + 1], scaled[4 * k + 2], scaled[4 * k + 3], across(w, k), u | k);
        products_commit();
        settle<0, 1>();
        pin(d);
      }
      const u32 to = stream_slot(s);
      begin_writing<0>(true);
      UNROLL for (int b = 0; b < STREAM_BLOCKS; ++b)
        put_gradient(d, 32 * b, to + b * BLOCK_BYTES, 1.f, CHUNKS + TRUNK_BLOCKS + s * STREAM_BLOCKS + b);
      end_writing();
      save(a.d3, s * STREAM, to, STREAM_BLOCKS);
    }
    float high[HALVES][64];
    UNROLL for (int n = 0; n < HALVES; ++n) clear(high[n]);
#pragma unroll 1
    for (int s = 0; s < STREAMS; ++s) {
      UNROLL for (int b = 0; b < STREAM_BLOCKS; ++b) {
        const u32 from = stream_slot(s) + b * BLOCK_BYTES;
        UNROLL for (int n = 0; n < HALVES; ++n) {
          const u32 w = take();
          UNROLL for (int k = 0; k < 4; ++k) ss<1>(high[n], along(from, k), across(w, k), s | b | k);
          products_commit();
        }
        settle<0, HALVES>();
      }
    }
    UNROLL for (int n = 0; n < HALVES; ++n) pin(high[n]);
    begin_writing<0>(true);
    UNROLL for (int b = 0; b < TRUNK_BLOCKS; ++b)
      put_gradient(high[b / 2], 32 * (b & 1), trunk() + b * BLOCK_BYTES, a.trunk_scale, CHUNKS + b);
    end_writing();
    save(a.d2, 0, trunk(), TRUNK_BLOCKS);
#pragma unroll 1
    for (int c = 0; c < CHUNKS; ++c) {
      float d[32];
      clear(d);
      UNROLL for (int n = 0; n < HALVES; ++n) {
        const u32 w = take();
        UNROLL for (int k = 0; k < 8; ++k) ss<1>(d, along(trunk() + (2 * n + k / 4) * BLOCK_BYTES, k % 4), across(w, k), n | k);
        products_commit();
      }
      settle<0, HALVES>();
      pin(d);
      const u32 to = buffer() + (c & 1) * BLOCK_BYTES;
      begin_writing<1>(true);
      put_gradient(d, 0, to, 1.f, c);
      end_writing();
      save(a.d1, 64 * c, to, 1);
    }
    if (thread() == 0) wait_stores_read<0>();
  }
};

// Biases of one net to shared memory, then the mean over each branch's units.
FN void load_biases(const NetBiases& b, u32 member, u32 to) {
  const auto copy = [&](const real* from, u32 at, int n) {
#pragma unroll 1
    for (int i = threadIdx.x; i < n / 2; i += THREADS) put_shared(at + 4 * i, ((const u32*)from)[i]);
  };
  copy(b.b1.of(member), to + BIAS1, TRUNK1);
  copy(b.b2.of(member), to + BIAS2, TRUNK2);
  copy(b.b3.of(member), to + BIAS3, STREAMS * STREAM);
  copy(b.head.of(member), to + BIAS_HEAD, UNITS * UNIT);
}
FN void mean_biases(u32 at) {
#pragma unroll 1
  for (int i = threadIdx.x; i < BRANCHES * UNIT / 2; i += THREADS) {
    const int s = 1 + 2 * i / UNIT, column = 2 * i % UNIT, n = actions_of(s);
    float low = 0.f, high = 0.f;
#pragma unroll 1
    for (int u = 0; u < n; ++u) {
      const u32 b = get_shared(at + BIAS_HEAD + 2 * ((first_unit(s) + u) * UNIT + column));
      low = low + low2(b);
      high = high + high2(b);
    }
    put_shared2(at + BIAS_MEAN + 8 * i, low / (float)n, high / (float)n);
  }
}

GPU_KERNEL(dqn_rows, RowsArgs, SHARED_BYTES, THREADS, 1, __cluster_dims__(DQN_ROLES, 1, 1)) {
  const int warp = __shfl_sync(0xffffffffu, threadIdx.x / 32, 0), group = warp / 4;
  const u32 full = shared + OF_BARRIERS, empty = full + 8 * STAGES, x_full = empty + 8 * STAGES;
  const int member = blockIdx.y;
  const Role role = role_of(ROLES == 1 ? 0 : cluster_rank());
  if (threadIdx.x == 0) {
    for (int i = 0; i < STAGES; ++i) { barrier_init(full + 8 * i, 1); barrier_init(empty + 8 * i, 4 * GROUPS); }
    for (int i = 0; i < 2 * GROUPS; ++i) barrier_init(x_full + 8 * i, 1);
    barrier_init(x_full + 16 * GROUPS, 128);
    barrier_init(x_full + 16 * GROUPS + 8, ROLES == 5 ? 256 : 128);
    barriers_ready();
  }
  load_biases(a.online_bias, member, shared + OF_BIAS);
  load_biases(a.target_bias, member, shared + OF_BIAS + BIAS_BYTES);
  __syncthreads();
  mean_biases(shared + OF_BIAS);
  mean_biases(shared + OF_BIAS + BIAS_BYTES);
  if constexpr (ROLES > 1) cluster_sync();
  else __syncthreads();
  if (group == GROUPS) {
    if constexpr (GROUPS == 2) registers_fewer<24>();
    if (threadIdx.x == 128 * GROUPS) {
      Loader l{shared, full, empty, 0, 0, member};
#pragma unroll 1
      for (int pass = role.first; pass <= role.last; ++pass)
        l.forward(pass == TARGET ? a.target : a.online, a.mean, pass == TARGET ? 2 * BRANCHES * UNIT : 0, role.branches);
      if (role.last == LEARN) l.backward(a.online);
    }
    return;
  }
  if constexpr (GROUPS == 2) registers_more<240>();
  Group g{a, shared, shared + OF_GROUPS + group * GROUP_BYTES, 0, 0, 0, 0,
    group, ((int)blockIdx.x / ROLES * GROUPS + group) * 64, member, role, {0, 0}, 0, {0.f, 0.f}};
  if (EARLY_X && g.thread() == 0) {
    if (role.first != LEARN) g.request_x(0, a.rows + g.first);
    if (role.last == LEARN) g.request_x(1, g.first);
  }
#pragma unroll 1
  for (int pass = role.first; pass <= role.last; ++pass) {
    if (pass == LEARN) {
      UNROLL for (int h = 0; h < 2; ++h) {
        const int at = g.first + g.row() + 8 * h;
        const u8* const taken = a.actions.of(member) + (i64)(at < a.rows ? at : a.rows - 1) * a.ld_actions;
        g.choice[h] = 0;
        for (int d = 0; d < BRANCHES; ++d) g.choice[h] |= (u32)taken[d] << 8 * d;
      }
    }
    g.forward((Pass)pass);
  }
  g.send_choices();
  g.send_targets();
  if (role.last != LEARN) return;
  g.total_loss();
  g.backward();
}
