// gpu: sm_80+
// bounds: DQN_INPUTS=128 DQN_TRUNK1=256 DQN_TRUNK2=256 DQN_STREAM=128 DQN_BRANCHES=3 DQN_ACTIONS0=9 DQN_ACTIONS1=3 DQN_ACTIONS2=3 DQN_ATOMS=51 DQN_ROWS=16
// bounds: DQN_INPUTS=128 DQN_TRUNK1=256 DQN_TRUNK2=256 DQN_STREAM=128 DQN_BRANCHES=3 DQN_ACTIONS0=9 DQN_ACTIONS1=3 DQN_ACTIONS2=3 DQN_ATOMS=51 DQN_ROWS=32
// bounds bf16: DQN_INPUTS=128 DQN_TRUNK1=256 DQN_TRUNK2=256 DQN_STREAM=128 DQN_BRANCHES=3 DQN_ACTIONS0=9 DQN_ACTIONS1=3 DQN_ACTIONS2=3 DQN_ATOMS=51 DQN_ROWS=64
// bounds: DQN_INPUTS=256 DQN_TRUNK1=512 DQN_TRUNK2=256 DQN_STREAM=128 DQN_BRANCHES=3 DQN_ACTIONS0=9 DQN_ACTIONS1=3 DQN_ACTIONS2=3 DQN_ATOMS=51 DQN_ROWS=32
// What `dqn_rows.cu` does, with products of warps: for GPUs from Ampere on, and for F32 as TF32. A block of eight warps takes 16 or
// 32 rows through all passes, in BF16 64 too. Weights stream through shared memory in stages that all threads ask for; activations of one
// layer at a time stay there. Shapes and results as in `dqn_rows.cu`; overwrites all but total, which it adds to. Until the
// loss is made a row's target shares lie where its g goes.
// No bit of a row depends on how many rows a block has: sums run along K, and four threads share a row's distributions.
#include "dqn_loss.cuh"
#include "dqn_mma.cuh"

static constexpr int ROWS = DQN_ROWS;
static_assert(ROWS == 16 || ROWS == 32 || ROWS == 64, "a block has 16, 32 or 64 rows");
static constexpr int MT = ROWS == 16 ? 1 : 2, DOWN = ROWS / (16 * MT), SIDE = WARPS / DOWN;  // warps below one another, side by side
static constexpr int PANEL = ROWS * 128;

FN constexpr int smaller_of(int x, int y) { return x < y ? x : y; }
FN constexpr int larger_of(int x, int y) { return x > y ? x : y; }
FN constexpr int log_of(int x) { return x == 1 ? 0 : 1 + log_of(x / 2); }
static constexpr int CHUNK = TRUNK1 % 128 == 0 ? 128 : 64, CHUNKS = TRUNK1 / CHUNK;  // of the first layer's outputs
static constexpr int HALVES = TRUNK2 / 128;
static constexpr int X_PANELS = INPUTS / LINE, CHUNK_PANELS = CHUNK / LINE, TRUNK_PANELS = TRUNK2 / LINE, STREAM_PANELS = STREAM / LINE;
static constexpr int G_PANELS = 64 / LINE;
static constexpr int CHUNK_TILES = CHUNK / 8 / SIDE, HALF_TILES = 16 / SIDE, STREAM_TILES = STREAM / 8 / SIDE, UNIT_TILES = SIDE == 8 ? 1 : 2;
typedef Sums<MT, CHUNK_TILES> ChunkSums;
typedef Sums<MT, HALF_TILES> HalfSums;
typedef Sums<MT, STREAM_TILES> StreamSums;
typedef Sums<MT, UNIT_TILES> UnitSums;

// Stages forward: 128 rows (a chunk's, a stream's) of a panel; of a unit all rows of two panels. Backward: as many rows as fit of all
// columns that the result has.
static constexpr int CHUNK_STEPS = X_PANELS + HALVES * CHUNK_PANELS;
static constexpr int UNIT_LINES = (UNIT + 15) / 16 * 16, UNIT_PANELS = smaller_of(2, STREAM_PANELS), UNIT_STAGES = STREAM_PANELS / UNIT_PANELS;
static constexpr int LINES = STAGE_BYTES / 128;
static constexpr int BACK_LINES = smaller_of(UNIT_LINES, LINES / STREAM_PANELS), BACK_STAGES = (UNIT_LINES + BACK_LINES - 1) / BACK_LINES;
static constexpr int TRUNK_LINES = LINES / TRUNK_PANELS, TRUNK_STAGES = STREAM / TRUNK_LINES;
static constexpr int CHUNK_LINES = LINES / CHUNK_PANELS, CHUNK_STAGES = TRUNK2 / CHUNK_LINES;

// Rows of distributions lie so that four of them, four threads each, meet in no bank.
static constexpr int LOGITS = UNIT % 16 ? UNIT : UNIT + 8;
static constexpr int OF_BUFFER = larger_of(larger_of(X_PANELS, TRUNK_PANELS), G_PANELS) * PANEL;
static constexpr int OF_LOGITS = OF_BUFFER + larger_of(CHUNK_PANELS, STREAM_PANELS) * PANEL;
static constexpr int OF_CHOICES = OF_LOGITS + ROWS * LOGITS * 4, OF_STAGES = (OF_CHOICES + ROWS * 4 + 127) / 128 * 128;
// Not more than the steps of a branch's head, during which the next pass's x may come.
static constexpr int STAGES = smaller_of(4, (MOST_SHARED - OF_STAGES) / STAGE_BYTES), SHARED_BYTES = OF_STAGES + STAGES * STAGE_BYTES;
static_assert(STAGES >= 2, "two stages of weights must fit");

struct NetViews { Members<const real> w1, w2, w3, head; NetBiases bias; };
struct MmaRowsArgs {
  NetViews online, target;
  Members<const real> x, mean;
  Members<real> kept_x, h1, h2, h3, d1, d2, d3, g, row_loss;
  Members<const u8> actions;
  Members<u8> kept_actions;
  Members<const Outcome> outcome;
  Members<LossTotal> total;
  i32 rows, ld_x, ld_kept, ld_w1, ld_w2, ld_w3, ld_h1, ld_h2, ld_h3, ld_d1, ld_d2, ld_d3, ld_g, ld_actions, mixture;
  float scale, trunk_scale, v_min, inv_dz;
  u32 padding;
};

enum Pass { CHOOSE, TARGET, LEARN, BACKWARD };  // F(s'), T(s'), F(s)

// ---- weights on their way ----------------------------------------------------------------------------------------------
// What comes next: `rows` of a matrix, of each as many pieces as 2^shift, with zeros up to `lines`.
struct Stage { const real* from; int ld, rows, lines, shift; };

// The order in which the computing part below takes stages.
struct Loader {
  const MmaRowsArgs& a;
  int member, pass, part, step;

  METHOD void ends(int steps, int parts) {
    if (++step < steps) return;
    step = 0;
    if (++part < parts) return;
    part = 0;
    ++pass;
  }
  METHOD Stage next() {
    Stage to;
    if (pass == BACKWARD) to = backward();
    else if (part == 0) to = trunk(pass == TARGET ? a.target : a.online);
    else to = stream(pass == TARGET ? a.target : a.online, part - 1);
    return to;
  }
  METHOD Stage trunk(const NetViews& net) {
    const int chunk = step / CHUNK_STEPS, i = step % CHUNK_STEPS, j = i - X_PANELS;
    ends(CHUNKS * CHUNK_STEPS, 1 + STREAMS);
    if (j < 0) return {net.w1.of(member) + (i64)chunk * CHUNK * a.ld_w1 + i * LINE, a.ld_w1, CHUNK, CHUNK, 3};
    const int half = j / CHUNK_PANELS, panel = j % CHUNK_PANELS;
    return {net.w2.of(member) + (i64)half * 128 * a.ld_w2 + chunk * CHUNK + panel * LINE, a.ld_w2, 128, 128, 3};
  }
  METHOD Stage stream(const NetViews& net, int s) {
    const int now = step, words = s ? 2 : 0, means = pass == TARGET ? 2 * BRANCHES : 0;  // words of minus the mean
    ends(TRUNK_PANELS + (words + actions_of(s)) * UNIT_STAGES, 1 + STREAMS);
    if (now < TRUNK_PANELS) return {net.w3.of(member) + (i64)s * STREAM * a.ld_w3 + now * LINE, a.ld_w3, STREAM, STREAM, 3};
    const int u = (now - TRUNK_PANELS) / UNIT_STAGES, panels = (now - TRUNK_PANELS) % UNIT_STAGES;
    const real* const unit = u < words ? a.mean.of(member) + (means + 2 * (s - 1) + u) * UNIT * STREAM : net.head.of(member) + (first_unit(s) + u - words) * UNIT * STREAM;
    return {unit + panels * UNIT_PANELS * LINE, STREAM, UNIT, UNIT_LINES, 3 + log_of(UNIT_PANELS)};
  }
  METHOD Stage backward() {
    const NetViews& net = a.online;
    const int now = step, s = part;
    if (s == STREAMS) {
      ends(CHUNKS * CHUNK_STAGES, 1 + STREAMS);
      const int chunk = now / CHUNK_STAGES, row = now % CHUNK_STAGES * CHUNK_LINES;
      return {net.w2.of(member) + (i64)row * a.ld_w2 + chunk * CHUNK, a.ld_w2, CHUNK_LINES, CHUNK_LINES, 3 + log_of(CHUNK_PANELS)};
    }
    const int units = actions_of(s) * BACK_STAGES;
    ends(units + TRUNK_STAGES, 1 + STREAMS);
    if (now < units) {
      const int row = now % BACK_STAGES * BACK_LINES;
      return {net.head.of(member) + ((first_unit(s) + now / BACK_STAGES) * UNIT + row) * STREAM, STREAM, UNIT - row, BACK_LINES, 3 + log_of(STREAM_PANELS)};
    }
    return {net.w3.of(member) + (i64)(s * STREAM + (now - units) * TRUNK_LINES) * a.ld_w3, a.ld_w3, TRUNK_LINES, TRUNK_LINES, 3 + log_of(TRUNK_PANELS)};
  }
};

// ---- a block -------------------------------------------------------------------------------------------------------------
// Biases of a warp's columns.
template<int NT> struct ColumnBiases { float v[NT][2]; };

struct Block {
  const MmaRowsArgs& a;
  u32 shared;
  int first, member;  // row of the tile
  Loader loader;
  int slot, head;     // the stage to ask for next, the one to take next
  // Of the four threads of row `team_row`, for the first 4 ROWS threads: whether its target return lies outside the support for
  // some branch; its loss.
  bool beyond;
  float loss;

  METHOD int warp() const { return threadIdx.x / 32; }
  METHOD int row0() const { return warp() % DOWN * 16 * MT; }  // of the warp's first tile
  METHOD int side() const { return warp() / DOWN; }
  METHOD int row(int m, int h) const { return row0() + 16 * m + 8 * h + lane() / 4; }
  METHOD u32 trunk() const { return shared; }
  METHOD u32 buffer() const { return shared + OF_BUFFER; }
  METHOD u32 logits(int row) const { return shared + OF_LOGITS + row * LOGITS * 4; }
  METHOD u32 choices(int row) const { return shared + OF_CHOICES + row * 4; }  // a byte per branch
  METHOD bool is_team() const { return threadIdx.x < 4 * ROWS; }
  METHOD int team_row() const { return threadIdx.x / 4; }
  METHOD bool inside(int row) const { return first + row < a.rows; }

  // ---- memory to shared memory ----
  METHOD void ask_x(int pass) {
    const int from = pass == LEARN ? first : a.rows + first;
    const real* const x = a.x.of(member);
    constexpr int PIECES = 8 * X_PANELS;
#pragma unroll 1
    for (int i = threadIdx.x; i < ROWS * PIECES; i += THREADS) {
      const int row = i / PIECES, piece = i % PIECES;
      copy_piece(trunk() + piece / 8 * PANEL + piece_at(row, piece & 7), x + (i64)(inside(row) ? from + row : 0) * a.ld_x + piece * PACK, inside(row));
    }
  }
  // The next stage, and x with the first of a pass: by then none reads what lies there.
  METHOD void ask_next() {
    if (loader.pass <= BACKWARD) {
      if (loader.pass < BACKWARD && loader.part == 0 && loader.step == 0) ask_x(loader.pass);
      const Stage g = loader.next();
      const u32 to = shared + OF_STAGES + slot * STAGE_BYTES;
      UNROLL for (int e = 0; e < STAGE_BYTES / 16 / THREADS; ++e) {
        const int i = threadIdx.x + e * THREADS, row = i >> g.shift, piece = i & ((1 << g.shift) - 1);
        if (row < g.lines)
          copy_piece(to + (piece >> 3) * g.lines * 128 + piece_at(row, piece & 7), g.from + (i64)(row < g.rows ? row : 0) * g.ld + piece * PACK, row < g.rows);
      }
    }
    copies_commit();
    if (++slot == STAGES) slot = 0;
  }
  // Where the next stage lies, once it is there. All threads are done with what they did before.
  METHOD u32 take() {
    copies_wait<STAGES - 2>();
    __syncthreads();
    ask_next();
    const u32 at = shared + OF_STAGES + head * STAGE_BYTES;
    if (++head == STAGES) head = 0;
    return at;
  }

  // ---- results ----
  template<int NT> METHOD ColumnBiases<NT> ask_biases(const real* b) const {  // of the warp's first column on
    ColumnBiases<NT> r;
    UNROLL for (int n = 0; n < NT; ++n)
      UNROLL for (int c = 0; c < 2; ++c) r.v[n][c] = load(b + 8 * n + 2 * quad() + c);
    return r;
  }
  // Two columns from `column` on of a row, to panels.
  METHOD void put(u32 to, int row, int column, float x, float y) const {
    put_two(to + column / LINE * PANEL + piece_at(row, column % LINE / PACK) + column % PACK * SIZE, x, y);
  }
  template<int NT> METHOD void put_activations(const Sums<MT, NT>& d, const ColumnBiases<NT>& b, u32 to) const {
    UNROLL for (int m = 0; m < MT; ++m)
      UNROLL for (int n = 0; n < NT; ++n)
        UNROLL for (int h = 0; h < 2; ++h)
          put(to, row(m, h), 8 * (side() * NT + n) + 2 * quad(), relu(d.v[m][n][2 * h] + b.v[n][0]), relu(d.v[m][n][2 * h + 1] + b.v[n][1]));
  }
  template<int NT> METHOD void put_sums(const Sums<MT, NT>& d, float scale, u32 to) const {
    UNROLL for (int m = 0; m < MT; ++m)
      UNROLL for (int n = 0; n < NT; ++n)
        UNROLL for (int h = 0; h < 2; ++h)
          put(to, row(m, h), 8 * (side() * NT + n) + 2 * quad(), d.v[m][n][2 * h] * scale, d.v[m][n][2 * h + 1] * scale);
  }
  // A piece of each row of panels that all have written, by all threads.
  template<int PANELS, class Use> METHOD void each_piece(u32 panels, Use use) const {
    constexpr int PIECES = 8 * PANELS;
#pragma unroll 4
    for (int e = 0; e < (ROWS * PIECES + THREADS - 1) / THREADS; ++e) {
      const int i = threadIdx.x + e * THREADS, row = i / PIECES, piece = i % PIECES;
      if (row < ROWS) use(row, piece * PACK, panels + piece / 8 * PANEL + piece_at(row, piece & 7));
    }
  }
  template<int PANELS> METHOD void save(u32 panels, real* to, int ld) const {
    each_piece<PANELS>(panels, [&](int row, int column, u32 at) {
      if (inside(row)) put_piece(to + (i64)(first + row) * ld + column, get_shared_piece(at));
    });
  }
  // A gradient where the activation `of` was positive, in place and to memory.
  template<int PANELS> METHOD void save_gradient(u32 panels, real* to, int ld, const real* of, int ld_of) const {
    each_piece<PANELS>(panels, [&](int row, int column, u32 at) {
      Piece d = {{0, 0, 0, 0}};
      if (inside(row)) {
        const Piece h = get_piece(of + (i64)(first + row) * ld_of + column);
        d = get_shared_piece(at);
        UNROLL for (int i = 0; i < 4; ++i) d.w[i] = where_positive(d.w[i], h.w[i]);
        put_piece(to + (i64)(first + row) * ld + column, d);
      }
      put_shared_piece(at, d);
    });
  }

  // ---- forward ----
  METHOD void trunk_forward(const NetBiases& bias, bool learn) {
    HalfSums high[HALVES];
    UNROLL for (int h = 0; h < HALVES; ++h) clear(high[h]);
#pragma unroll 1
    for (int c = 0; c < CHUNKS; ++c) {
      const auto b1 = ask_biases<CHUNK_TILES>(bias.b1.of(member) + c * CHUNK + 8 * side() * CHUNK_TILES);
      ChunkSums low;
      clear(low);
#pragma unroll 1
      for (int p = 0; p < X_PANELS; ++p) {
        const u32 w = take();
        multiply_panel<true>(low, trunk() + p * PANEL, row0(), w + side() * CHUNK_TILES * 1024);
      }
      put_activations(low, b1, buffer());
      __syncthreads();
      if (learn) save<CHUNK_PANELS>(buffer(), a.h1.of(member) + c * CHUNK, a.ld_h1);
      UNROLL for (int h = 0; h < HALVES; ++h) {
#pragma unroll 1
        for (int p = 0; p < CHUNK_PANELS; ++p) {
          const u32 w = take();
          multiply_panel<false>(high[h], buffer() + p * PANEL, row0(), w + side() * HALF_TILES * 1024);
        }
      }
    }
    UNROLL for (int h = 0; h < HALVES; ++h) {
      const auto b2 = ask_biases<HALF_TILES>(bias.b2.of(member) + 128 * h + 8 * side() * HALF_TILES);
      put_activations(high[h], b2, trunk() + 128 * h / LINE * PANEL);
    }
    __syncthreads();
    if (learn) save<TRUNK_PANELS>(trunk(), a.h2.of(member), a.ld_h2);
  }
  METHOD void stream_forward(const NetBiases& bias, int s, bool learn) {
    const auto b3 = ask_biases<STREAM_TILES>(bias.b3.of(member) + s * STREAM + 8 * side() * STREAM_TILES);
    StreamSums d;
    clear(d);
#pragma unroll 1
    for (int p = 0; p < TRUNK_PANELS; ++p) {
      const u32 w = take();
      multiply_panel<false>(d, trunk() + p * PANEL, row0(), w + side() * STREAM_TILES * 1024);
    }
    put_activations(d, b3, buffer());
    __syncthreads();
    if (learn) save<STREAM_PANELS>(buffer(), a.h3.of(member) + s * STREAM, a.ld_h3);
  }
  METHOD bool has_tile(int n) const { return side() * UNIT_TILES + n < PACKS; }
  METHOD int unit_column(int n) const { return 8 * (side() * UNIT_TILES + n) + 2 * quad(); }
  // q += W h of the next unit.
  METHOD void unit_forward(UnitSums& q) {
    UNROLL for (int stage = 0; stage < UNIT_STAGES; ++stage) {
      const u32 w = take();
      if (!has_tile(0)) continue;
      UNROLL for (int p = 0; p < UNIT_PANELS; ++p)
        multiply_panel<false>(q, buffer() + (stage * UNIT_PANELS + p) * PANEL, row0(), w + p * UNIT_LINES * 128 + side() * UNIT_TILES * 1024);
    }
  }
  // d = from + sign b, in the columns of a unit.
  METHOD void add_bias(UnitSums& d, const UnitSums& from, const ColumnBiases<UNIT_TILES>& b, float sign) const {
    UNROLL for (int m = 0; m < MT; ++m)
      UNROLL for (int n = 0; n < UNIT_TILES; ++n)
        UNROLL for (int i = 0; i < 4; ++i) d.v[m][n][i] = fma_(sign, b.v[n][i & 1], from.v[m][n][i]);
  }
  METHOD ColumnBiases<UNIT_TILES> unit_biases(const real* head, int unit) const {
    ColumnBiases<UNIT_TILES> r;
    UNROLL for (int n = 0; n < UNIT_TILES; ++n)
      UNROLL for (int c = 0; c < 2; ++c) r.v[n][c] = has_tile(n) ? load(head + unit * UNIT + unit_column(n) + c) : 0.f;
    return r;
  }
  METHOD ColumnBiases<UNIT_TILES> mean_biases(const real* head, int s) const {
    ColumnBiases<UNIT_TILES> r = unit_biases(head, first_unit(s));
    const int count = actions_of(s);
#pragma unroll 1
    for (int u = 1; u < count; ++u) {
      const auto more = unit_biases(head, first_unit(s) + u);
      UNROLL for (int n = 0; n < UNIT_TILES; ++n)
        UNROLL for (int c = 0; c < 2; ++c) r.v[n][c] = r.v[n][c] + more.v[n][c];
    }
    UNROLL for (int n = 0; n < UNIT_TILES; ++n)
      UNROLL for (int c = 0; c < 2; ++c) r.v[n][c] = r.v[n][c] / (float)count;
    return r;
  }
  METHOD void forward(int pass) {
    const NetBiases& bias = pass == TARGET ? a.target.bias : a.online.bias;
    const real* const head_bias = bias.head.of(member);
    trunk_forward(bias, pass == LEARN);
    UnitSums zero, value;
    clear(zero);
    clear(value);
#pragma unroll 1
    for (int s = 0; s < STREAMS; ++s) {
      stream_forward(bias, s, pass == LEARN);
      if (s == 0) {
        add_bias(value, zero, unit_biases(head_bias, 0), 1.f);
        unit_forward(value);
        continue;
      }
      UnitSums base;
      add_bias(base, value, mean_biases(head_bias, s), -1.f);
#pragma unroll 1
      for (int word = 0; word < 2; ++word) unit_forward(base);  // - mean
      int wanted[MT][2];  // the action whose distribution counts, of the warp's rows
      UNROLL for (int m = 0; m < MT; ++m)
        UNROLL for (int h = 0; h < 2; ++h) wanted[m][h] = (int)(get_shared(choices(row(m, h))) >> 8 * (s - 1) & 255);
      const int count = actions_of(s);
      int best = 0;
      float largest = 0.f;
#pragma unroll 1
      for (int u = 0; u < count; ++u) {
        UnitSums q;
        add_bias(q, base, unit_biases(head_bias, first_unit(s) + u), 1.f);
        unit_forward(q);
        UNROLL for (int m = 0; m < MT; ++m)
          UNROLL for (int h = 0; h < 2; ++h)
            if (pass == CHOOSE || wanted[m][h] == u)
              UNROLL for (int n = 0; n < UNIT_TILES; ++n)
                if (has_tile(n)) put_shared2(logits(row(m, h)) + 4 * unit_column(n), q.v[m][n][2 * h], q.v[m][n][2 * h + 1]);
        if (pass != CHOOSE) continue;
        __syncthreads();
        if (!is_team()) continue;
        Atoms l;
        Exponentials x;
        read_logits(l);
        exponentials(x, l, 0, quad());
        const float v = mean_index(x, quad());
        if (u == 0 || v > largest) { largest = v; best = u; }  // ties to the lowest
      }
      if (pass == CHOOSE) {
        if (is_team() && quad() == 0) put_shared(choices(team_row()), (s == 1 ? 0 : get_shared(choices(team_row()))) | (u32)best << 8 * (s - 1));
        continue;
      }
      __syncthreads();
      if (!is_team()) continue;
      if (pass == TARGET) project(s);
      else learn(s);
    }
  }

  // ---- distributions, by the four threads of a row ----
  METHOD void read_logits(Atoms& l) const {
    UNROLL for (int i = 0; i < PACKS; ++i) {
      const Float2 v = get_shared2(logits(team_row()) + 4 * (8 * i + 2 * quad()));
      l[4 * i] = v.x;
      l[4 * i + 1] = v.y;
    }
  }
  // Of pack 0 of a stream.
  METHOD real* gradient(int s) const { return a.g.of(member) + (i64)(first + team_row()) * a.ld_g + 64 * s + 2 * quad(); }
  METHOD void project(int s) {
    Atoms l;
    Exponentials x;
    read_logits(l);
    exponentials(x, l, 0, quad());
    const int at = first + team_row();
    const Shift shift = shift_of(a.outcome.of(member)[at < a.rows ? at : a.rows - 1], a.v_min, a.inv_dz);
    beyond |= shift.leaves(x, quad());
    const u32 sums = logits(team_row());
    __syncwarp();
    UNROLL for (int i = 0; i < PACKS; ++i) put_shared2(sums + 4 * (8 * i + 2 * quad()), 0.f, 0.f);
    __syncwarp();
    shift.scatter(x, quad(), sums);
    __syncwarp();
    if (!inside(team_row())) return;
    UNROLL for (int i = 0; i < PACKS; ++i) {
      const u32 pair = sums + 4 * (8 * i + 2 * quad());
      store_shares(gradient(s) + 8 * i, to_share(get_shared(pair)), to_share(get_shared(pair + 4)));
    }
  }
  // Every branch gets the mean of the branches' targets.
  METHOD void mix() const {
    UNROLL for (int i = 0; i < PACKS; ++i) {
      Two sum{BRANCHES / 2, BRANCHES / 2};  // to nearest
      for (int s = 1; s < STREAMS; ++s) {
        const Two m = load_shares(gradient(s) + 8 * i);
        sum.x += m.x;
        sum.y += m.y;
      }
      for (int s = 1; s < STREAMS; ++s) store_shares(gradient(s) + 8 * i, sum.x / BRANCHES, sum.y / BRANCHES);
    }
  }
  // Loss and g of a branch, from the taken action's distribution and the target.
  METHOD void learn(int s) {
    Atoms l;
    Exponentials x;
    read_logits(l);
    exponentials(x, l, 0, quad());
    float m[2 * PACKS];
    UNROLL for (int i = 0; i < PACKS; ++i) {
      const Two shares = inside(team_row()) ? load_shares(gradient(s) + 8 * i) : Two{1, 1};
      m[2 * i] = (float)shares.x;
      m[2 * i + 1] = (float)shares.y;
    }
    const RowLoss r = row_loss(x, l, m, quad());
    loss = loss + r.loss;
    if (!inside(team_row())) return;
    UNROLL for (int i = 0; i < PACKS; ++i)
      store_two(gradient(s) + 8 * i, (x.e[2 * i] * r.inv_sum - m[2 * i] * r.inv_mass) * a.scale,
                (x.e[2 * i + 1] * r.inv_sum - m[2 * i + 1] * r.inv_mass) * a.scale);
  }
  // Between the targets and the losses.
  METHOD void begin_learning() const {
    const real* const x = a.x.of(member);
    each_piece<X_PANELS>(0, [&](int row, int column, u32) {
      if (inside(row)) put_piece(a.kept_x.of(member) + (i64)(first + row) * a.ld_kept + column, get_piece(x + (i64)(first + row) * a.ld_x + column));
    });
    if (!is_team() || !inside(team_row())) return;
    if (a.mixture) mix();
    if (quad() != 0) return;
    const u8* const taken = a.actions.of(member) + (i64)(first + team_row()) * a.ld_actions;
    u32 all = 0;
    for (int d = 0; d < BRANCHES; ++d) {
      all |= (u32)taken[d] << 8 * d;
      a.kept_actions.of(member)[(i64)(first + team_row()) * BRANCHES + d] = taken[d];
    }
    put_shared(choices(team_row()), all);
  }
  METHOD void total_loss() const {
    if (!is_team()) return;
    LossCount count{0, 0};
    const float x = loss * (1.f / (float)BRANCHES);
    if (quad() == 0 && inside(team_row())) {
      store(a.row_loss.of(member) + first + team_row(), x);
      count.add(x, beyond);
    }
    count.total(a.total.of(member), lane());
  }

  // ---- backward ----
  // g of a stream to panels, with zeros beyond the atoms and the batch: V's is the sum over branches.
  METHOD void fetch_gradient(int s) const {
    each_piece<G_PANELS>(trunk(), [&](int row, int column, u32 at) {
      Piece g = {{0, 0, 0, 0}};
      if (inside(row) && column < UNIT) {
        real* const from = a.g.of(member) + (i64)(first + row) * a.ld_g + column;
        if (s == 0) {
          float sums[PACK];
          clear(sums);
          UNROLL for (int d = 1; d < STREAMS; ++d)
            UNROLL for (int e = 0; e < PACK; ++e) sums[e] = sums[e] + load(from + 64 * d + e);
          UNROLL for (int e = 0; e < PACK; e += 2) store_two(from + e, sums[e], sums[e + 1]);
        }
        g = get_piece(from + 64 * s);
        UNROLL for (int i = 0; i < 4; ++i) g.w[i] = operand(g.w[i]);
      }
      put_shared_piece(at, g);
    });
  }
  METHOD void unit_backward(StreamSums& d, int s, int u, float own, float others) {
    u32 by[MT][2];
    UNROLL for (int m = 0; m < MT; ++m)
      UNROLL for (int h = 0; h < 2; ++h)
        by[m][h] = factor(s && (int)(get_shared(choices(row(m, h))) >> 8 * (s - 1) & 255) == u ? own : others);
    UNROLL for (int stage = 0; stage < BACK_STAGES; ++stage) {
      const u32 w = take();
      UNROLL for (int k = 0; k < BACK_LINES / STEP; ++k) {
        const int step = stage * (BACK_LINES / STEP) + k;
        Left<MT> left;
        Right<STREAM_TILES> right;
        left_along(left, trunk() + step / 4 * PANEL, row0(), step % 4);
        UNROLL for (int m = 0; m < MT; ++m)
          UNROLL for (int i = 0; i < 4; ++i) left.v[m][i] = scaled(left.v[m][i], by[m][i & 1]);
        right_across(right, w, BACK_LINES, k * STEP, side() * STREAM_TILES);
        multiply(d, left, right);
      }
    }
  }
  METHOD void backward() {
    HalfSums high[HALVES];
    UNROLL for (int h = 0; h < HALVES; ++h) clear(high[h]);
    __syncthreads();  // g is in memory
#pragma unroll 1
    for (int s = 0; s < STREAMS; ++s) {
      fetch_gradient(s);
      const int count = actions_of(s);
      const float inv = 1.f / (float)count;
      StreamSums d;
      clear(d);
#pragma unroll 1
      for (int u = 0; u < count; ++u) unit_backward(d, s, u, 1.f - inv, s ? -inv : 1.f);
      put_sums(d, 1.f, buffer());
      __syncthreads();
      save_gradient<STREAM_PANELS>(buffer(), a.d3.of(member) + s * STREAM, a.ld_d3, a.h3.of(member) + s * STREAM, a.ld_h3);
#pragma unroll 1
      for (int stage = 0; stage < TRUNK_STAGES; ++stage) {
        const u32 w = take();
        UNROLL for (int k = 0; k < TRUNK_LINES / STEP; ++k) {
          const int step = stage * (TRUNK_LINES / STEP) + k;
          Left<MT> left;
          left_along(left, buffer() + step / 4 * PANEL, row0(), step % 4);
          UNROLL for (int h = 0; h < HALVES; ++h) {
            Right<HALF_TILES> right;
            right_across(right, w, TRUNK_LINES, k * STEP, 16 * h + side() * HALF_TILES);
            multiply(high[h], left, right);
          }
        }
      }
    }
    UNROLL for (int h = 0; h < HALVES; ++h) put_sums(high[h], a.trunk_scale, trunk() + 128 * h / LINE * PANEL);
    __syncthreads();
    save_gradient<TRUNK_PANELS>(trunk(), a.d2.of(member), a.ld_d2, a.h2.of(member), a.ld_h2);
#pragma unroll 1
    for (int c = 0; c < CHUNKS; ++c) {
      ChunkSums low;
      clear(low);
#pragma unroll 1
      for (int stage = 0; stage < CHUNK_STAGES; ++stage) {
        const u32 w = take();
        UNROLL for (int k = 0; k < CHUNK_LINES / STEP; ++k) {
          const int step = stage * (CHUNK_LINES / STEP) + k;
          Left<MT> left;
          Right<CHUNK_TILES> right;
          left_along(left, trunk() + step / 4 * PANEL, row0(), step % 4);
          right_across(right, w, CHUNK_LINES, k * STEP, side() * CHUNK_TILES);
          multiply(low, left, right);
        }
      }
      put_sums(low, 1.f, buffer());
      __syncthreads();
      save_gradient<CHUNK_PANELS>(buffer(), a.d1.of(member) + c * CHUNK, a.ld_d1, a.h1.of(member) + c * CHUNK, a.ld_h1);
    }
  }
};

GPU_KERNEL(dqn_mma_rows, MmaRowsArgs, SHARED_BYTES, THREADS, 1) {
  const int member = blockIdx.y;
  Block b{a, shared, (int)blockIdx.x * ROWS, member, {a, member, CHOOSE, 0, 0}, 0, 0, false, 0.f};
#pragma unroll 1
  for (int i = 0; i < STAGES - 1; ++i) b.ask_next();
#pragma unroll 1
  for (int pass = CHOOSE; pass <= LEARN; ++pass) {
    if (pass == LEARN) b.begin_learning();
    b.forward(pass);
  }
  b.total_loss();
  b.backward();
}
