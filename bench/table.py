"""One table of results.jsonl, which bench/run.sh writes: ours and the peers', size by size.

    python3 bench/table.py results.jsonl > table.md

Where one size was timed more than once (JAX's two projections), the fastest median stands.
"""
import json
import sys


def read(path):
    """The objects of the file; lines that are none are told of and left out."""
    found = []
    with open(path, encoding="utf-8") as lines:
        for number, line in enumerate(lines, 1):
            try:
                found.append(json.loads(line))
            except ValueError:
                print(f"{path}:{number} is no JSON", file=sys.stderr)
    return found


def dtype(r):
    """Storage type as a row is called: F32 that multiplied in TF32 is its own, and so are weights as pairs."""
    if r.get("weights") == "paired":
        return f"{r['dtype']} (pairs)"
    return "f32 (TF32)" if r["tf32"] and r["dtype"] == "f32" else r["dtype"]


def step(r):
    """(size, row, microseconds a member) of a training step."""
    if r.get("workload") == "step":
        return (r["batch"], r["population"]), f"foxhunt {dtype(r)}", r["us_per_member"]
    if r.get("peer") == "torch":
        name = {"f32": "f32 (TF32)"}.get(r["mode"], r["mode"])
        how = "compiled, graph" if r["compile"] else "graph"
        return (r["B"], 1), f"PyTorch {name}, {how}", r["graph_us"]
    if r.get("peer") == "jax" and r["what"] == "train":
        return (r["B"], r["P"]), f"JAX {r['dt'].replace('bfloat16', 'bf16')}", r["us_per_member"]
    return None


def collect(r):
    """(environments, row, million decisions a second)."""
    if r.get("workload") == "collect":
        return (r["envs"], r["population"]), f"foxhunt {dtype(r)}, network {r['network']}", r["env_steps_per_s"] / 1e6
    if r.get("peer") == "jax" and r["what"] == "collect":
        return (r["E"], 1), "JAX bf16, a toy market", r["env_steps_per_s"] / 1e6
    return None


def epoch(r):
    """(size, row, seconds)."""
    if r.get("workload") == "epoch":
        return (r["size"], r["population"]), f"foxhunt {dtype(r)}", r["seconds"]
    return None


def backtest(r):
    """(members, row, million bars a second)."""
    if r.get("workload") == "backtest":
        return (r["members"], r["bars"]), f"foxhunt {dtype(r)}, network {r['network']}", r["member_bars_per_s"] / 1e6
    return None


def number(x):
    """Four digits, and whole numbers whole."""
    return f"{x:,.1f}" if x >= 100 else f"{x:.4g}"


def grid(found, of, title, label, best=min):
    """A table with a row per program and a column per size."""
    cells, rows, columns = {}, [], []
    for r in found:
        got = of(r)
        if got is None:
            continue
        size, row, value = got
        if row not in rows:
            rows.append(row)
        if size not in columns:
            columns.append(size)
        cells[row, size] = best(value, cells.get((row, size), value))
    if not rows:
        return
    if all(isinstance(c[0], int) for c in columns):
        columns.sort(key=lambda c: (c[1], c[0]))
    print(f"\n## {title}\n")
    print("| | " + " | ".join(label(c) for c in columns) + " |")
    print("|---" * (len(columns) + 1) + "|")
    for row in rows:
        shown = [number(cells[row, c]) if (row, c) in cells else "–" for c in columns]
        print(f"| {row} | " + " | ".join(shown) + " |")


def shares(found):
    """What each of our results moved and multiplied, beside the machine's best."""
    ours = [r for r in found if "bytes" in r and "bandwidth_share" in r]
    if not ours:
        return
    print("\n## Share of the machine\n\nBytes that launches have to move and operations of the network's products, "
          "over time and over what `bench machine` measured.\n")
    print("| workload | size | dtype | GB/s | of copy | TFLOP/s | of product |\n|---|---|---|---|---|---|---|")
    percent = lambda x: "–" if x is None else f"{100 * x:.1f} %"
    for r in ours:
        size = {
            "step": lambda: f"B {r['batch']:,}, P {r['population']}",
            "collect": lambda: f"{r['network']}, E {r['envs']:,}, P {r['population']}",
            "epoch": lambda: f"{r['size']}, P {r['population']}",
            "backtest": lambda: f"{r['members']} members, {r['bars']:,} bars",
        }[r["workload"]]()
        print(f"| {r['workload']} | {size} | {dtype(r)} | {r['gb_per_s']:,.1f} | {percent(r['bandwidth_share'])} "
              f"| {r['tflop_per_s']:,.3f} | {percent(r['matrix_share'])} |")


def gains(found):
    """BF16 against our own F32, with the products of F32 in TF32."""
    kinds = [("step", step, False), ("collect", collect, True), ("epoch", epoch, False), ("backtest", backtest, True)]
    lines = []
    for name, of, rate in kinds:
        by = {}
        for r in found:
            got = of(r) if r.get("workload") == name else None
            if got:
                size, row, value = got
                by.setdefault((size, row.split(", ", 1)[1] if ", " in row else ""), {})[dtype(r)] = value
        for (size, rest), v in by.items():
            if "bf16" in v and "f32 (TF32)" in v:
                a, b = v["f32 (TF32)"], v["bf16"]
                lines.append(f"| {name} | {', '.join(map(str, size))} {rest} | {(b / a if rate else a / b):.2f} |")
    if lines:
        print("\n## BF16 over our own F32 (TF32)\n\n| workload | size | times as fast |\n|---|---|---|")
        print("\n".join(lines))


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    found = read(sys.argv[1])
    settings = {(r["device"], r.get("driver"), r.get("cuda"), r.get("commit")) for r in found if "workload" in r}
    print("# Speed\n")
    for device, driver, cuda, commit in sorted(settings, key=str):
        print(f"- {device}, driver {driver or 'unknown'}, CUDA {cuda or 'none'}, commit {commit or 'unknown'}")
    if any(r.get("debug_build") for r in found):
        print("- **not a release build**")
    machines = [r for r in found if r.get("workload") == "machine"]
    for r in machines:
        print(f"- machine, {dtype(r)}: copy {r['copy_gb_per_s']:,.0f} GB/s, product of {r['matrix']:,}³ "
              f"{r['matrix_tflop_per_s']:,.3f} TFLOP/s")
    for r in found:
        if r.get("workload") == "soak":
            print(f"- {r['steps']:,} steps at B {r['batch']:,}, {dtype(r)}: no allocation, no copy, no wait; "
                  f"{r['allocated'][0]:,} bytes before and {r['allocated'][1]:,} after")
    grid(found, step, "Training step, µs per member", lambda c: f"B {c[0]:,}, P {c[1]}")
    grid(found, collect, "Collecting, million decisions a second", lambda c: f"E {c[0]:,}, P {c[1]}", max)
    grid(found, epoch, "Epoch, seconds", lambda c: f"{c[0]}, P {c[1]}")
    grid(found, backtest, "Backtest, million bars × members a second", lambda c: f"{c[0]} members, {c[1]:,} bars", max)
    gains(found)
    shares(found)


if __name__ == "__main__":
    main()
