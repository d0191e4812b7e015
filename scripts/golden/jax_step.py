"""Writes the first losses of a small branching C51 network, by automatic differentiation in F64, which the training
step of the nn crate is tested against.

    python3 -m venv .venv && .venv/bin/pip install -r scripts/golden/requirements-step.txt
    .venv/bin/python scripts/golden/jax_step.py

Output: crates/nn/tests/golden/step.json. Weights and batch are hashes of their index (`values`), which the test makes
again, so that no table of numbers is stored. JAX stands in for PyTorch: its CPU build is a tenth of the size.
"""

import json
import pathlib

import jax
import jax.numpy as jnp
import numpy as np

jax.config.update("jax_enable_x64", True)

OUT = pathlib.Path(__file__).resolve().parents[2] / "crates/nn/tests/golden/step.json"
INPUTS, WIDTH, BATCH, ATOMS, V_MAX, STEPS = 24, 32, 16, 51, 10.0, 5
ACTIONS = (9, 3, 3)
UNITS = 1 + sum(ACTIONS)
LR, BETA1, BETA2, EPS, DECAY, CLIP, TAU = 3e-3, 0.9, 0.999, 1e-8, 0.01, 0.3, 0.05
# Name, shape, scale; the tag of a parameter is its place. Matrices decay, biases don't.
PARAMS = (
    ("w_s1", (WIDTH, INPUTS), 0.35),
    ("b_s1", (WIDTH,), 0.2),
    ("w_s2", (WIDTH, WIDTH), 0.3),
    ("b_s2", (WIDTH,), 0.2),
    ("w_streams", ((1 + len(ACTIONS)) * WIDTH, WIDTH), 0.3),
    ("b_streams", (1 + len(ACTIONS), WIDTH), 0.2),
    ("w_head", (UNITS * ATOMS, WIDTH), 0.4),
    ("b_head", (UNITS, ATOMS), 0.5),
)


def values(tag, n):
    """n numbers in -1 to 1: a hash of tag and index."""
    mask = np.uint64(0xFFFFFFFF)
    h = (np.arange(n, dtype=np.uint64) * np.uint64(2654435761) + np.uint64(tag * 40503 + 12345)) & mask
    h ^= h >> np.uint64(15)
    h = (h * np.uint64(2246822519)) & mask
    h ^= h >> np.uint64(13)
    h = (h * np.uint64(3266489917)) & mask
    h ^= h >> np.uint64(16)
    return h.astype(np.float64) / 2.0**31 - 1.0


def f32(x):
    return jnp.asarray(x.astype(np.float32).astype(np.float64))


def parameters(first_tag):
    return {
        name: f32(scale * values(first_tag + i, int(np.prod(shape)))).reshape(shape)
        for i, (name, shape, scale) in enumerate(PARAMS)
    }


def logits(p, x):
    """l of every branch, [rows, actions, atoms]."""
    h = jax.nn.relu(x @ p["w_s1"].T + p["b_s1"])
    h = jax.nn.relu(h @ p["w_s2"].T + p["b_s2"])
    scale = 1.0 / (1 + len(ACTIONS))
    h = scale * h + (1 - scale) * jax.lax.stop_gradient(h)  # trunk gradient times 1 / (D + 1)
    streams = jax.nn.relu(h @ p["w_streams"].T + p["b_streams"].reshape(-1))
    streams = streams.reshape(x.shape[0], 1 + len(ACTIONS), WIDTH)
    head, bias = p["w_head"].reshape(UNITS, ATOMS, WIDTH), p["b_head"]
    v = streams[:, 0] @ head[0].T + bias[0]
    out, unit = [], 1
    for d, n in enumerate(ACTIONS):
        a = jnp.einsum("bh,kih->bki", streams[:, 1 + d], head[unit : unit + n]) + bias[unit : unit + n]
        out.append(v[:, None] + a - a.mean(axis=1, keepdims=True))
        unit += n
    return out


Z = jnp.linspace(-V_MAX, V_MAX, ATOMS)


def row_losses(p, target, batch):
    s, following, actions, value, discount = batch
    now, online, later = logits(p, s), logits(p, following), logits(target, following)
    rows = jnp.arange(BATCH)
    m = 0.0
    for d in range(len(ACTIONS)):
        best = jnp.argmax(jax.nn.softmax(online[d]) @ Z, axis=1)
        pmf = jax.nn.softmax(later[d][rows, best])
        tz = jnp.clip(value[:, None] + discount[:, None] * Z, -V_MAX, V_MAX)
        weight = jnp.clip(1 - jnp.abs(tz[:, None, :] - Z[None, :, None]) / (Z[1] - Z[0]), 0, 1)
        m = m + jnp.einsum("bij,bj->bi", weight, pmf) / len(ACTIONS)
    m = jax.lax.stop_gradient(m)
    terms = [-(m * jax.nn.log_softmax(now[d][rows, actions[:, d]])).sum(axis=1) for d in range(len(ACTIONS))]
    return sum(terms) / len(ACTIONS)


def main():
    p, target = parameters(0), parameters(10)
    x = f32(values(20, 2 * BATCH * INPUTS)).reshape(2, BATCH, INPUTS)
    share = (values(21, BATCH * len(ACTIONS)).reshape(BATCH, -1) + 1) / 2
    actions = jnp.asarray((share * np.array(ACTIONS)).astype(np.int64))
    # Returns beyond both ends of the support too; terminated, one-step and three-step rows.
    value = jnp.asarray(np.round(12 * values(22, BATCH) * 2**20) / 2**20)
    discount = np.array([0.0, 0.99, 0.99**3])[np.arange(BATCH) % 3]
    discount = jnp.asarray(np.round(discount * 2**31) / 2**31)
    batch = (x[0], x[1], actions, value, discount)

    loss = jax.jit(jax.value_and_grad(lambda p, t: row_losses(p, t, batch).mean()))
    first = row_losses(p, target, batch)
    m = {k: jnp.zeros_like(w) for k, w in p.items()}
    v = {k: jnp.zeros_like(w) for k, w in p.items()}
    losses, norms = [], []
    for step in range(1, STEPS + 1):
        value_now, g = loss(p, target)
        norm = jnp.sqrt(sum((d * d).sum() for d in g.values()))
        losses.append(float(value_now))
        norms.append(float(norm))
        factor = jnp.minimum(1.0, CLIP / norm)
        for k in p:
            d = g[k] * factor
            m[k] = BETA1 * m[k] + (1 - BETA1) * d
            v[k] = BETA2 * v[k] + (1 - BETA2) * d * d
            update = m[k] / (1 - BETA1**step) / (jnp.sqrt(v[k] / (1 - BETA2**step)) + EPS)
            decay = DECAY if k.startswith("w_") else 0.0
            p[k] = p[k] - LR * (update + decay * p[k])
            target[k] = target[k] + TAU * (p[k] - target[k])
    golden = {
        "made_by": f"scripts/golden/jax_step.py, jax {jax.__version__}, F64",
        "losses": losses,
        "gradient_norms": norms,
        "first_row_losses": [float(l) for l in first],
        "weight_sums": {k: float(w.sum()) for k, w in p.items()},
        "target_sums": {k: float(w.sum()) for k, w in target.items()},
    }
    OUT.write_text(json.dumps(golden, indent=1) + "\n")
    print(json.dumps(golden, indent=1))


if __name__ == "__main__":
    main()
