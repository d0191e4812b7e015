// The value head in one kernel (rl.md 1 to 3): from stream activations, or from logits, to Q, greedy actions, loss and
// the gradient of the logits. Logits stay on chip, in F32. A team takes 16 rows.
//
// Training, double DQN:  a*_d = argmax Q_d(s'; online);  m_d from the target net at a*_d, r and discount;  per row
//   loss = weight (1/D) sum over d of cross-entropy(m_d, l_d[action_d]),   D branches
//   d_logits: for V the sum over d of g_d, for action a of branch d (1[a = action_d] - 1/n_d) g_d, where
//   g_d = scale (softmax(l_d[action_d]) - m_d),   scale = 1 / (B D)
// Shapes: x_online [2B, streams * H]: rows of s, then of s'; x_target [B, …]: s'. Stream 0 is V's, 1 + d branch d's.
//   w [units * unit_ld, H], bias [1, units * unit_ld]; d_logits [B, units * unit_ld]; actions [B, D]; outcome [B].
//   row_loss [B]; total: loss summed over rows as a 2^-32 fixed-point integer, and rows counted, of them those whose
//   target return r + discount Q(s', a*; target) lies outside the support for some branch (`edge`). Overwrites all but
//   total, which it adds to. From logits instead: logits_online [2B, …], logits_target [B, …].
// A loss that is not finite counts as `bad` and adds nothing.
// HEAD_PORTABLE=1 keeps the tensor cores out: the reference that the fast product is tested against.
// bounds: HEAD_ACTIONS=9 HEAD_PACKS=7
// bounds: HEAD_ACTIONS=9 HEAD_PACKS=7 HEAD_PORTABLE=1
#ifndef HEAD_PORTABLE
#define HEAD_PORTABLE 0
#endif
#include "platform.cuh"
#include "c51.cuh"
#include "outcome.cuh"

struct HeadArgs {
  Members<const real> x_online, x_target, w_online, b_online, w_target, b_target;
  Members<const u8> actions;
  Members<const Outcome> outcome;
  Members<real> d_logits, row_loss;
  Members<LossTotal> total;
  i32 rows, hidden, ld_online, ld_target, ld_w, ld_logits, mixture, ld_actions;
  float scale, inv_branches;
  Head head;
};

// Unit `unit`'s columns begin at unit * unit_ld of w, bias and logits.
template<bool FROM_LOGITS> struct Source {
  const real *x, *w, *bias;
  i64 ld_x, ld_w;
  int first_row, rows, hidden;
  // Logits of units first .. first + count of stream `stream` for the team's rows: out(unit, row, column, value).
  template<class Tm, class Out> METHOD void read(Tm& t, const Head& h, int stream, int first, int count, Out out) const {
    const int n = count * h.unit_ld;
    if constexpr (FROM_LOGITS) {
      t.each(ROWS * (n / 8), [&](int j) {
        const int row = j / (n / 8), pack = j % (n / 8), column = 8 * pack;
        const bool inside = row < rows;
        const F8 v = inside ? load8(x + (i64)(first_row + row) * ld_x + first * h.unit_ld + column) : constant<F8>(0.f);
        out(column / h.unit_ld, row, column % h.unit_ld / 8, v);
      });
    } else {
      product<HEAD_PORTABLE == 0>(t, x + (i64)first_row * ld_x + stream * hidden, ld_x, rows, w + (i64)first * h.unit_ld * ld_w,
        ld_w, n, hidden / 8, [&](int row, int column, float v) {
          out.one(column / h.unit_ld, row, column % h.unit_ld, v + load(bias + first * h.unit_ld + column));
        });
    }
  }
};

struct ToValue {
  HeadShared& m;
  METHOD void operator()(int, int row, int pack, F8 v) const { m.value[row][pack] = v; }
  METHOD void one(int, int row, int i, float v) const { put(m.value[row][i / 8], i % 8, v); }
};
struct ToAction {
  HeadShared& m;
  METHOD void operator()(int unit, int row, int pack, F8 v) const { m.logits[unit][row][pack] = v; }
  METHOD void one(int unit, int row, int i, float v) const { put(m.logits[unit][row][i / 8], i % 8, v); }
};

// For each branch: l of all its actions in m.logits, then use(branch, actions, first unit).
template<class Tm, class S, class Use> FN void each_branch(Tm& t, const Head& h, HeadShared& m, const S& source, Use use) {
  source.read(t, h, 0, 0, 1, ToValue{m});
  int unit = 1;
  for (int d = 0; d < h.branches; ++d) {
    source.read(t, h, 1 + d, unit, h.actions[d], ToAction{m});
    combine(t, h, m, h.actions[d]);
    use(d, h.actions[d], unit);
    t.sync();
    unit += h.actions[d];
  }
}

template<bool FROM_LOGITS, class Tm> FN void head_loss(const HeadArgs& a, HeadShared& m, Tm& t) {
  const Head& h = a.head;
  const int first = (int)t.index * ROWS;
  if (first >= a.rows) return;
  const int rows = a.rows - first < ROWS ? a.rows - first : ROWS, packs = packs_of(h);
  const real *const online = a.x_online.of(t.member), *const target = a.x_target.of(t.member);
  typedef Source<FROM_LOGITS> S;
  const S next = {online, a.w_online.of(t.member), a.b_online.of(t.member), a.ld_online, a.ld_w, a.rows + first, rows, a.hidden};
  const S later = {target, a.w_target.of(t.member), a.b_target.of(t.member), a.ld_target, a.ld_w, first, rows, a.hidden};
  const S now = {online, a.w_online.of(t.member), a.b_online.of(t.member), a.ld_online, a.ld_w, first, rows, a.hidden};
  const Outcome* const outcome = a.outcome.of(t.member) + first;
  const u8* const actions = a.actions.of(t.member) + (i64)first * a.ld_actions;
  real* const d_logits = a.d_logits.of(t.member) + (i64)first * a.ld_logits;

  each_branch(t, h, m, next, [&](int d, int n, int) {
    action_values(t, h, m, n);
    choose(t, m, d, n);
  });
  each_branch(t, h, m, later, [&](int d, int, int) {
    project(t, h, m, d,
      [&](int row) { return row < rows ? (float)outcome[row].return_q20 * 9.5367431640625e-7f : 0.f; },           // 2^-20
      [&](int row) { return row < rows ? (float)outcome[row].discount_q31 * 4.656612873077393e-10f : 0.f; });     // 2^-31
  });
  if (a.mixture) mix_targets(t, h, m);

  t.each(ROWS * packs, [&](int j) { m.value_gradient[j / packs][j % packs] = constant<F8>(0.f); });
  t.each(ROWS / 8, [&](int j) { m.row_loss[j] = constant<F8>(0.f); });
  each_branch(t, h, m, now, [&](int d, int n, int unit) {
    const float inv_n = 1.f / (float)n;
    const auto taken = [&](int row) { return row < rows ? actions[row * a.ld_actions + d] : 0; };
    exponentials(t, h, m, taken);
    t.each(ROWS * packs, [&](int j) {  // g of the taken action
      const int row = j / packs, i = j % packs;
      const F8 (&l)[MAX_PACKS] = m.logits[taken(row)][row];
      const float top = top_of(h, l), z = total_of(h, m.pmf[row]);
      const F8 target = m.target[d][row][i];
      m.cross[row][i] = keep(target * (l[i] - top - log_(z)), i, h.atoms, 0.f);
      const F8 g = (m.pmf[row][i] * (1.f / z) - target) * a.scale;
      m.gradient[row][i] = g;
      m.value_gradient[row][i] = m.value_gradient[row][i] + g;
    });
    t.sync();
    t.each(ROWS, [&](int row) {
      put(m.row_loss[row / 8], row % 8, at(m.row_loss[row / 8], row % 8) - total_of(h, m.cross[row]));
    });
    t.each(rows * n * packs, [&](int j) {
      const int row = j / (n * packs), k = j / packs % n, i = j % packs;
      const F8 g = m.gradient[row][i] * ((k == taken(row) ? 1.f : 0.f) - inv_n);
      store8(d_logits + (i64)row * a.ld_logits + (unit + k) * h.unit_ld + 8 * i, g);
    });
  });
  t.each(rows * packs, [&](int j) {
    const int row = j / packs, i = j % packs;
    store8(d_logits + (i64)row * a.ld_logits + 8 * i, m.value_gradient[row][i]);
  });
  t.each(rows, [&](int row) {
    const float loss = at(m.row_loss[row / 8], row % 8) * a.inv_branches;
    store(a.row_loss.of(t.member) + first + row, loss);
    LossTotal* const total = a.total.of(t.member);
    if (loss < 1e6f) {
      atomic_add(&total->loss_q32, (u64)(loss * 4294967296.f));
      atomic_add(&total->rows, 1ull);
      if (m.beyond[row]) atomic_add(&total->edge, 1ull);
    } else {
      atomic_add(&total->bad, 1ull);
    }
  });
}
KERNEL(value_head_loss, HeadArgs, HeadShared, 256, 256, 1) { head_loss<false>(a, m, t); }
KERNEL(logits_head_loss, HeadArgs, HeadShared, 256, 256, 1) { head_loss<true>(a, m, t); }

// Acting: Q of every action and the greedy action of every branch. q [rows, sum of actions], greedy [rows, branches].
// With GAPS q is Q less the branch's largest, never above 0: what a softmax needs, whose small differences a BF16 Q loses.
struct ActArgs {
  Members<const real> x, w, bias;
  Members<real> q;
  Members<u8> greedy;
  i32 rows, hidden, ld_x, ld_w, ld_q, ld_greedy;
  Head head;
};
template<bool FROM_LOGITS, bool GAPS, class Tm> FN void head_act(const ActArgs& a, HeadShared& m, Tm& t) {
  const Head& h = a.head;
  const int first = (int)t.index * ROWS;
  if (first >= a.rows) return;
  const int rows = a.rows - first < ROWS ? a.rows - first : ROWS;
  const Source<FROM_LOGITS> source = {a.x.of(t.member), a.w.of(t.member), a.bias.of(t.member), a.ld_x, a.ld_w, first, rows, a.hidden};
  real* const q = a.q.of(t.member) + (i64)first * a.ld_q;
  u8* const greedy = a.greedy.of(t.member) + (i64)first * a.ld_greedy;
  each_branch(t, h, m, source, [&](int d, int n, int unit) {
    action_values(t, h, m, n);
    choose(t, m, d, n);
    if constexpr (GAPS) {
      t.each(rows * n, [&](int j) {
        const int row = j / n, k = j % n, best = m.best[d][row];
        store(q + (i64)row * a.ld_q + unit - 1 + k, at(m.q[row][k / 8], k % 8) - at(m.q[row][best / 8], best % 8));
      });
    } else {
      t.each(rows * n, [&](int j) { store(q + (i64)(j / n) * a.ld_q + unit - 1 + j % n, at(m.q[j / n][j % n / 8], j % n % 8)); });
    }
    t.each(rows, [&](int row) { greedy[(i64)row * a.ld_greedy + d] = (u8)m.best[d][row]; });
  });
}
KERNEL(value_head_act, ActArgs, HeadShared, 256, 256, 1) { head_act<false, false>(a, m, t); }
KERNEL(logits_head_act, ActArgs, HeadShared, 256, 256, 1) { head_act<true, false>(a, m, t); }
KERNEL(value_head_gaps, ActArgs, HeadShared, 256, 256, 1) { head_act<false, true>(a, m, t); }
KERNEL(logits_head_gaps, ActArgs, HeadShared, 256, 256, 1) { head_act<true, true>(a, m, t); }
