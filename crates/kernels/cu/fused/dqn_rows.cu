// gpu: sm_90a
// bounds: DQN_INPUTS=128 DQN_TRUNK1=256 DQN_TRUNK2=256 DQN_STREAM=128 DQN_BRANCHES=3 DQN_ACTIONS0=9 DQN_ACTIONS1=3 DQN_ACTIONS2=3 DQN_ATOMS=51 DQN_GROUPS=1 DQN_ROLES=5
// bounds: DQN_INPUTS=128 DQN_TRUNK1=256 DQN_TRUNK2=256 DQN_STREAM=128 DQN_BRANCHES=3 DQN_ACTIONS0=9 DQN_ACTIONS1=3 DQN_ACTIONS2=3 DQN_ATOMS=51 DQN_GROUPS=2 DQN_ROLES=1
// bounds: DQN_INPUTS=256 DQN_TRUNK1=512 DQN_TRUNK2=256 DQN_STREAM=128 DQN_BRANCHES=3 DQN_ACTIONS0=9 DQN_ACTIONS1=3 DQN_ACTIONS2=3 DQN_ATOMS=51 DQN_GROUPS=2 DQN_ROLES=1
// bounds: DQN_INPUTS=64 DQN_TRUNK1=128 DQN_TRUNK2=128 DQN_STREAM=64 DQN_BRANCHES=3 DQN_ACTIONS0=9 DQN_ACTIONS1=3 DQN_ACTIONS2=3 DQN_ATOMS=51 DQN_GROUPS=1 DQN_ROLES=3
// All of a training step that belongs to one row, for 64 rows a warpgroup (rl.md 1 to 3): the forward passes F(s') for a*,
// T(s') for the target distribution, F(s) for the loss, and the chain of activation gradients. What `value_head.cu` says
// of the loss holds here. Weights stream through shared memory, activations stay there; what the weight gradients need
// goes to memory once: h1, h2, h3 (of s), d1, d2, d3 (gradients before the activations), g, and s and the actions again, so that the
// next batch may be gathered while the weight gradients are made of this one.
// Shapes: x [2B, S] (s, then s'); w1 [M1, S], w2 [M2, M1], w3 [streams * H, M2], wh [units * U, H]; mean [nets * branches *
// 2 * U, H]: minus the mean of a branch's units, high and low word (`dqn_mean.cu`); h3, d3 [B, streams * H];
// g [B, streams * 64]: softmax - target of the taken action, times scale; V's is the sum over branches.
// Overwrites all but total, which it adds to.
// Where tiles are few, the blocks of a cluster share the passes of one (DQN_ROLES): a* and the target distributions go from
// one to the next through shared memory. No bit depends on it.
static constexpr bool LEARNS = true, COMPACT = false;
static constexpr int OWN_BYTES = 0;
#include "dqn_forward.cuh"
#include "dqn_loader.cuh"

struct RowsArgs {
  NetMaps online, target;
  TensorMap x, mean, kept_x, h1, h2, h3, d1, d2, d3;
  NetBiases online_bias, target_bias;
  Members<const u8> actions;
  Members<u8> kept_actions;
  Members<const Outcome> outcome;
  Members<real> g, row_loss;
  Members<LossTotal> total;
  i32 rows, ld_actions, ld_g, mixture;
  float scale, trunk_scale, v_min, inv_dz;
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

// ---- a computing warpgroup that learns ---------------------------------------------------------------------------------
struct Learner : Forward<RowsArgs> {
  Role role;
  u32 x_parity;
  u32 choice[2];  // a byte per branch, of both rows
  u32 beyond;     // which of both rows have a target return outside the support for some branch
  float loss[2];

  METHOD u32 choices_full() const { return shared + OF_BARRIERS + 16 * STAGES + 16 * GROUPS; }
  METHOD u32 targets_full() const { return choices_full() + 8; }
  METHOD u32 bias(Pass pass) const { return shared + OF_BIAS + (pass == TARGET ? BIAS_BYTES : 0); }
  METHOD u32 atoms_offset(int j) const { return warp() * WARP_ATOMS + j * 128 + lane() * 4; }
  METHOD u32 atoms_at(int branch, int j) const { return atoms() + branch * BRANCH_ATOMS + atoms_offset(j); }

  // What a pass does with the actions' distributions: the best, the chosen one's projection, the taken one's loss.
  struct Hooks {
    Learner& g;
    const Pass pass;
    bool known;  // which actions are chosen or taken
    Best best;
    Atoms taken;
    METHOD void value() {}
    METHOD void begin() { clear(taken); }
    METHOD void use(const Atoms& q, int s, int j) {
      if (pass == CHOOSE) { best.consider(q, j, g.quad()); return; }
      if constexpr (ROLES > 1) {
        if (!known && j < ASIDE) { g.set_aside(q, j); return; }
        if (!known) learn_choices(s, ASIDE);
      }
      UNROLL for (int h = 0; h < 2; ++h)
        if ((int)(g.choice[h] >> 8 * (s - 1) & 255) == j)
          UNROLL for (int i = 0; i < PACKS; ++i)
            UNROLL for (int c = 0; c < 2; ++c) taken[4 * i + 2 * h + c] = q[4 * i + 2 * h + c];
    }
    METHOD void done(int s) {
      if (pass == CHOOSE) {
        best.add_to(g.choice, s - 1, g.quad());
      } else if (pass == TARGET) {
        if constexpr (ROLES > 1) if (!known) learn_choices(s, actions_of(s));
        g.project(taken, s - 1);
      } else if constexpr (ROLES == 1) {
        if (s == 1) g.receive_targets();
        g.learn_branch(taken, s - 1);
      } else if (s < BRANCHES) {
        g.set_aside(taken, s - 1);
      } else {
        g.learn_branches(taken);
      }
    }
    // As late as can be: `count` actions of the branch have been set aside by now.
    METHOD void learn_choices(int s, int count) {
      g.receive_choices();
      known = true;
      UNROLL for (int h = 0; h < 2; ++h) {
        const int j = (int)(g.choice[h] >> 8 * (s - 1) & 255);
        if (j < count)
          UNROLL for (int i = 0; i < PACKS; ++i)
            UNROLL for (int c = 0; c < 2; ++c) taken[4 * i + 2 * h + c] = get_shared_float(g.aside_at(j, 4 * i + 2 * h + c));
      }
    }
  };
  METHOD void run(Pass pass) {
    Hooks hooks{*this, pass, pass != TARGET || role.first != TARGET, {0, 0.f}, {}};
    const u32 x = fetch_x(pass);
    if (pass == LEARN) save(a.kept_x, 0, x, X_BLOCKS);
    forward(x, bias(pass), role.branches, pass == LEARN, hooks);
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

  // ---- between the blocks of a cluster ----
  METHOD void send_choices() const {
    if (ROLES == 1 || role.last != CHOOSE) return;
    const u32 to = shared_of_rank(shared + OF_CHOICES + 8 * thread(), role.next);
    UNROLL for (int h = 0; h < 2; ++h) put_remote(to + 4 * h, choice[h]);
    arrive_remote(shared_of_rank(choices_full(), role.next));
  }
  METHOD void receive_choices() {
    wait_for_remote(choices_full(), 0);
    UNROLL for (int h = 0; h < 2; ++h) choice[h] = get_shared(shared + OF_CHOICES + 8 * thread() + 4 * h);
  }
  // The distributions are there: `project` puts them there.
  METHOD void send_targets() const {
    if (ROLES == 1 || role.last != TARGET) return;
    // Two blocks may send: each has a word of its own.
    put_remote(shared_of_rank(shared + OF_CHOICES + 8 * thread() + (role.branches & 1 ? 0 : 4), role.next), beyond);
    arrive_remote(shared_of_rank(targets_full(), role.next));
  }
  METHOD void receive_targets() {
    if constexpr (ROLES > 1) {
      wait_for_remote(targets_full(), 0);
      beyond = get_shared(shared + OF_CHOICES + 8 * thread());
      if constexpr (ROLES == 5) beyond |= get_shared(shared + OF_CHOICES + 8 * thread() + 4);
    }
    if (a.mixture) mix();
  }

  // ---- distributions ----
  // The projection of softmax(l) through r + discount z, into `atoms` of the block that learns. Sums are of integers (2^-24), in
  // any order.
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
      const Shift shift = shift_of(o, a.v_min, a.inv_dz);
      if (shift.leaves(x, quad())) beyond |= 1u << h;
      __syncwarp();
      UNROLL for (int j = 0; j < 2 * PACKS; ++j) put_shared(scratch + j * 128 + lane() * 4, 0);
      __syncwarp();
      shift.scatter(x, quad(), mine);
      __syncwarp();
      UNROLL for (int i = 0; i < PACKS; ++i) {
        const u32 pair = mine + 4 * (8 * i + 2 * quad());
        out[2 * i] = out[2 * i + 1];
        out[2 * i + 1] = to_share(get_shared(pair)) | to_share(get_shared(pair + 4)) << 16;
      }
      swap_rows(l);
    }
    if constexpr (ROLES > 1) {
      const u32 to = shared_of_rank(atoms_at(branch, 0), role.next);
      UNROLL for (int j = 0; j < 2 * PACKS; ++j) put_remote(to + j * 128, out[j]);
    } else {
      __syncwarp();
      UNROLL for (int j = 0; j < 2 * PACKS; ++j) put_shared(atoms_at(branch, j), out[j]);
    }
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
  // Loss and g of a branch, from the taken action's l and the target in `atoms`, where g takes its place.
  METHOD void learn_branch(Atoms& l, int branch) {
#pragma unroll 1
    for (int h = 0; h < 2; ++h) {
      Exponentials x;
      exponentials(x, l, 0, quad());
      float m[2 * PACKS];
      UNROLL for (int i = 0; i < PACKS; ++i) {
        const u32 shares = get_shared(atoms_at(branch, 2 * i + h));
        m[2 * i] = (float)(shares & 0xffffu);
        m[2 * i + 1] = (float)(shares >> 16);
      }
      const RowLoss r = row_loss(x, l, m, quad());
      // Both rows' losses take turns, as the rows do.
      const float other = loss[1];
      loss[1] = loss[0] + r.loss;
      loss[0] = other;
      const float scale = inside(h) ? a.scale : 0.f;
      real* const g = a.g.of(member) + (i64)(first + row() + 8 * h) * a.ld_g + 64 * (1 + branch) + 2 * quad();
      UNROLL for (int i = 0; i < PACKS; ++i) {
        const u32 v = pack2((x.e[2 * i] * r.inv_sum - m[2 * i] * r.inv_mass) * scale, (x.e[2 * i + 1] * r.inv_sum - m[2 * i + 1] * r.inv_mass) * scale);
        put_shared(atoms_at(branch, 2 * i + h), v);
        if (inside(h)) *(u32*)(g + 8 * i) = v;
      }
      swap_rows(l);
    }
  }
  // Until the targets come: by the time that they do, all that doesn't need them is done.
  METHOD u32 aside_at(int branch, int i) const { return own + OF_TAKEN + branch * TAKEN_BYTES + (i * 128 + thread()) * 4; }
  METHOD void set_aside(const Atoms& l, int branch) const {
    UNROLL for (int i = 0; i < 4 * PACKS; ++i) put_shared_float(aside_at(branch, i), l[i]);
  }
  METHOD void learn_branches(const Atoms& last) {
    receive_targets();
#pragma unroll 1
    for (int d = 0; d < BRANCHES; ++d) {
      Atoms l;
      UNROLL for (int i = 0; i < 4 * PACKS; ++i) l[i] = d + 1 < BRANCHES ? get_shared_float(aside_at(d, i)) : last[i];
      learn_branch(l, d);
    }
  }
  METHOD void total_loss() const {
    LossCount count{0, 0};
    UNROLL for (int h = 0; h < 2; ++h) {
      const float x = loss[h] * (1.f / (float)BRANCHES);
      if (quad() != 0 || !inside(h)) continue;
      store(a.row_loss.of(member) + first + row() + 8 * h, x);
      count.add(x, beyond >> h & 1);
    }
    count.total(a.total.of(member), lane());
  }

  // ---- backward ----
  // The first 64 columns of a gradient, where the activation was positive, to a block.
  template<int N> METHOD void put_gradient(const float (&d)[N], u32 to, float scale, int word) const {
    const u32 positive = get_shared(mask_at(word));
    u32 f[16];
    UNROLL for (int j = 0; j < 16; ++j)
      f[j] = pack2(d[2 * j] * scale, d[2 * j + 1] * scale) & (positive >> j & 0x00010001u) * 0xffffu;
    put_pairs(f, to);
  }
  // Where the gradient of a stream's activations lies: by now all else there is done with.
  METHOD u32 stream_slot(int s) const { return s < 2 ? trunk() + s * STREAM_BLOCKS * BLOCK_BYTES : s == 2 ? buffer() : atoms(); }
  // g of V, the sum over branches, to `buffer`.
  METHOD void add_branches() const {
    begin_writing<0>(true);
#pragma unroll 1
    for (int j = 0; j < 2 * PACKS; ++j) {
      float low = 0.f, high = 0.f;
      UNROLL for (int d = 0; d < BRANCHES; ++d) {
        const u32 x = get_shared(atoms_at(d, j));
        low = low + low2(x);
        high = high + high2(x);
      }
      const u32 v = pack2(low, high);
      put_shared(buffer() + atoms_offset(j), v);
      if (inside(j & 1)) *(u32*)(a.g.of(member) + (i64)(first + row() + 8 * (j & 1)) * a.ld_g + 8 * (j / 2) + 2 * quad()) = v;
    }
  }
  // Here and below, what runs once is a loop where it can be, though registers must move: fetching an instruction for the first
  // time costs a warp 12 to 15 cycles.
  METHOD void backward() {
    constexpr int K = (UNIT + 15) / 16;  // of 16 atoms
    add_branches();
#pragma unroll 1
    for (int s = 0; s < STREAMS; ++s) {
      const u32 from = s == 0 ? buffer() : atoms() + (s - 1) * BRANCH_ATOMS;
      u32 g[4 * K], scaled[4 * K];
      UNROLL for (int j = 0; j < 4 * K; ++j) g[j] = j < 2 * PACKS ? get_shared(from + atoms_offset(j)) : 0;
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
#pragma unroll 1
      for (int b = 0; b < STREAM_BLOCKS; ++b) {
        put_gradient(d, to + b * BLOCK_BYTES, 1.f, CHUNKS + TRUNK_BLOCKS + s * STREAM_BLOCKS + b);
        if constexpr (STREAM_BLOCKS > 1) UNROLL for (int i = 0; i < 32; ++i) d[i] = d[32 + i];
      }
      end_writing();
      save(a.d3, s * STREAM, to, STREAM_BLOCKS);
    }
    float high[HALVES][64];
    UNROLL for (int n = 0; n < HALVES; ++n) clear(high[n]);
#pragma unroll 1
    for (int i = 0; i < STREAMS * STREAM_BLOCKS; ++i) {
      const u32 from = stream_slot(i / STREAM_BLOCKS) + i % STREAM_BLOCKS * BLOCK_BYTES;
      UNROLL for (int n = 0; n < HALVES; ++n) {
        const u32 w = take();
        UNROLL for (int k = 0; k < 4; ++k) ss<1>(high[n], along(from, k), across(w, k), i | k);
        products_commit();
        if (i | n) settle<1, 1>();
      }
    }
    settle<0, 1>();
    UNROLL for (int n = 0; n < HALVES; ++n) pin(high[n]);
    begin_writing<0>(true);
#pragma unroll 1
    for (int b = 0; b < TRUNK_BLOCKS; ++b) {
      put_gradient(high[0], trunk() + b * BLOCK_BYTES, a.trunk_scale, CHUNKS + b);
      UNROLL for (int i = 0; i < 32; ++i) {
        high[0][i] = high[0][32 + i];
        if constexpr (HALVES > 1) {
          high[0][32 + i] = high[1][i];
          high[1][i] = high[1][32 + i];
        }
      }
    }
    end_writing();
    save(a.d2, 0, trunk(), TRUNK_BLOCKS);
#pragma unroll 1
    for (int c = 0; c < CHUNKS; ++c) {
      float d[32];
      clear(d);
#pragma unroll 1
      for (int n = 0; n < HALVES; ++n) {
        const u32 w = take();
        UNROLL for (int k = 0; k < 8; ++k) ss<1>(d, along(trunk() + (2 * n + k / 4) * BLOCK_BYTES, k % 4), across(w, k), n | k);
        products_commit();
      }
      settle<0, HALVES>();
      pin(d);
      const u32 to = buffer() + (c & 1) * BLOCK_BYTES;
      begin_writing<1>(true);
      put_gradient(d, to, 1.f, c);
      end_writing();
      save(a.d1, 64 * c, to, 1);
    }
    if (thread() == 0) wait_stores_read<0>();
  }
};

// The threads of a computing warpgroup.
FN void compute(const RowsArgs& a, const u32 shared, const Role role, const int group, const int member) {
  if constexpr (GROUPS == 2) registers_more<240>();
  Learner g{{a, shared, shared + OF_GROUPS + group * GROUP_BYTES, 0, 0, 0, group, ((int)blockIdx.x / ROLES * GROUPS + group) * 64, member},
    role, 0, {0, 0}, 0, {0.f, 0.f}};
  if (EARLY_X && g.thread() == 0) {
    if (role.first != LEARN) g.request_x(0, a.rows + g.first);
    if (role.last == LEARN) g.request_x(1, g.first);
  }
  // While the first weights are on their way.
  if constexpr (ROLES >= 3) {  // a role is one pass
    biases_of(role.first == TARGET ? a.target_bias : a.online_bias, member, g.bias((Pass)role.first));
  } else {
    Biases online, target;
    online.ask(a.online_bias, member);
    target.ask(a.target_bias, member);
    online.put(g.bias(LEARN));
    target.put(g.bias(TARGET));
    barrier(1 + GROUPS, 128 * GROUPS);
    mean_biases(g.bias(LEARN));
    mean_biases(g.bias(TARGET));
    barrier(1 + GROUPS, 128 * GROUPS);
  }
#pragma unroll 1
  for (int pass = role.first; pass <= role.last; ++pass) {
    if (pass == LEARN) {
      UNROLL for (int h = 0; h < 2; ++h) {
        const int at = g.first + g.row() + 8 * h;
        const u8* const taken = a.actions.of(member) + (i64)(at < a.rows ? at : a.rows - 1) * a.ld_actions;
        g.choice[h] = 0;
        for (int d = 0; d < BRANCHES; ++d) {
          g.choice[h] |= (u32)taken[d] << 8 * d;
          if (g.quad() == 0 && g.inside(h)) a.kept_actions.of(member)[(i64)at * BRANCHES + d] = taken[d];
        }
      }
    }
    g.run((Pass)pass);
  }
  g.send_choices();
  g.send_targets();
  if (role.last == LEARN) {
    g.total_loss();
    g.backward();
  }
}

EARLY_GPU_KERNEL(dqn_rows, RowsArgs, SHARED_BYTES, THREADS, 1, __cluster_dims__(DQN_ROLES, 1, 1)) {
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
  if constexpr (ROLES > 1) cluster_sync();
  else __syncthreads();
  if (group == GROUPS) {
    if constexpr (GROUPS == 2) registers_fewer<24>();
    if (threadIdx.x == 128 * GROUPS) {
      Loader l{shared, full, empty, 0, 0, member};
#pragma unroll 1
      for (int pass = role.first; pass <= role.last; ++pass) {
        const NetMaps& net = pass == TARGET ? a.target : a.online;
        l.trunk(net);
        wait_for_previous();  // the mean, all that is not `early` here; nobody is done before it has been used
        l.streams(net, a.mean, pass == TARGET ? 2 * BRANCHES * UNIT : 0, role.branches);
      }
      if (role.last == LEARN) l.backward(a.online);
    }
  } else {
    compute(a, shared, role, group, member);
  }
  // What one block wrote to another's memory stays until all are done with it.
  if constexpr (ROLES > 1) {
    __syncwarp();
    cluster_sync();
  }
}
