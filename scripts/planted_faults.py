"""Plants faults of others in the trade physics, one at a time, and runs the tests that should see each.

    python scripts/planted_faults.py [WORK [WORDS]]
    python scripts/planted_faults.py --check

The second only looks whether every fault still has its place in the tree; CI does. The first works in a copy of the tree below
WORK (a new temporary folder if left out), never in this one. WORDS chooses the faults whose name holds them. Each fault is one edit
of a kernel header, so that a run takes some minutes: the host's builds of the kernels are made again for each. Prints a line for
each fault with the tests that failed; exits with 1 if a fault goes unseen. docs/faults.md has the table of all faults.
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
CU = pathlib.Path("crates/kernels/cu")
MARKET = ["-p", "foxhunt-market", "--test", "faults", "--test", "cases"]
ENV = ["-p", "foxhunt-env", "--test", "episodes", "--test", "replay"]

# Name, file, what stands there, the fault, tests.
FAULTS = [
    ("limit filled inside the signal's bar", "market/step.cuh",
     "(i32)larger(opened.half.limit, desk.half), opened.capacity, bar, end);",
     "(i32)larger(opened.half.limit, desk.half), opened.capacity, seen, end);", MARKET),
    ("stop not checked on the entry bar", "market/step.cuh",
     "if (part == 1 || flips) hit = desk.exit(CLOSE);", "if (part == 1 ? old != 0 : flips) hit = desk.exit(CLOSE);", MARKET),
    ("stop filled at its price through a gap", "market/step.cuh",
     "const i64 met = is_long ? smaller(level, p[OPEN]) : larger(level, p[OPEN]);", "const i64 met = level;", MARKET),
    ("order filled while there is no data", "market/fill.cuh",
     "return mul_div_by<10000>(bar.volume, r.cap_e4, DOWN);",
     "return bar.volume ? mul_div_by<10000>(bar.volume, r.cap_e4, DOWN) : (i64)1 << 31;", MARKET),
    ("action dropped when a stop fires", "market/step.cuh",
     "} else if (exited && (out.target == 0 || (out.target < 0) == (old < 0))) {", "} else if (exited) {", MARKET),
    ("an exit order escaping the stop", "market/step.cuh",
     "adds = late && (a.position == 0 || (a.position > 0) == buy);", "adds = late != 0;", MARKET),
    ("a phantom short after stop and exit both fill", "market/step.cuh",
     "(part == 1) == adds && !hit ? late : 0;", "(part == 1) == adds ? late : 0;", MARKET),
    ("different actions giving the same equity", "market/order.cuh",
     "absolute(e4) * (i64)r.leverage_e4, DOWN)", "(e4 ? 4 : 0) * (i64)r.leverage_e4, DOWN)", MARKET),
    ("shorts that earn nothing", "market/account.cuh",
     "  return a.cash + (a.position * price - a.basis) * r.tv;",
     "  return a.cash + (a.position > 0 ? (a.position * price - a.basis) * r.tv : 0);", MARKET),
    ("fees missing from the reward", "market/account.cuh", "  a.cash -= fee;\n", "", MARKET),
    ("borrow interest overwritten", "market/step.cuh", "a.financing += cost;", "a.financing = cost;", MARKET),
    ("cash below zero after fees", "market/account.cuh",
     "(i128)(equity - fee) * ONE_E7", "(i128)equity * ONE_E7", MARKET),
    ("a position carried over a session's close", "market/step.cuh",
     "  if (ends_session(bar)) close_out(r, a, bar, FILL_SESSION, rec);\n", "", MARKET),
    ("unlimited size", "market/fill.cuh",
     "return mul_div_by<10000>(bar.volume, r.cap_e4, DOWN);", "return (i64)1 << 31;", MARKET),
    ("seed ignored, all environments replay one path", "env/environment.cuh",
     "below(draw_called(m.seed, episode, 0, EPISODE, e).x, fits)", "below(draw_called(1, episode, 0, EPISODE, 0).x, fits)", ENV),
    ("data end treated as ruin", "env/stepping.cuh",
     "(s.bar == s.end ? TRUNCATED : 0)", "(s.bar == s.end ? TERMINATED : 0)", ENV),
    ("recorded value of the previous bar", "market/ledger.cuh",
     "row = LedgerRow{o.before, o.after, rec", "row = LedgerRow{o.before, o.before, rec", MARKET),
    ("float money flipping a liquidation", "market/account.cuh",
     "mul_div(a.basis * r.tv - a.cash, ONE_E7,", "mul_div((i64)(float)(a.basis * r.tv - a.cash), ONE_E7,", MARKET),
    ("the final observation replaced by the reset's", "env/stepping.cuh",
     "    begin_episode(r, episode, s);\n",
     "    begin_episode(r, episode, s);\n    out.after = summarise(r, s.account, bar);\n", ENV),
]


def check():
    """Every fault has one place in the tree, where it can be planted."""
    texts = [(name, file, (ROOT / CU / file).read_text().count(right)) for name, file, right, _, _ in FAULTS]
    lost = [f"{name}: {count} places for it in {file}, not one" for name, file, count in texts if count != 1]
    if lost:
        sys.exit("\n".join(lost))


def main():
    check()
    if sys.argv[1:] == ["--check"]:
        print(f"{len(FAULTS)} faults have their places")
        return
    work = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else tempfile.mkdtemp())
    words = sys.argv[2] if len(sys.argv) > 2 else ""
    chosen = [fault for fault in FAULTS if words in fault[0]]
    tree = work / "tree"
    shutil.copytree(ROOT, tree, ignore=shutil.ignore_patterns("target", ".git", "runs", ".venv"), dirs_exist_ok=True)
    for path in (tree / CU).rglob("*.c*"):
        path.touch()  # copies have the times of what they are of, and cargo would keep what an earlier run built with a fault
    environment = os.environ | {"CARGO_TARGET_DIR": str(work / "target"), "CARGO_PROFILE_DEV_DEBUG": "0"}

    def failed(tests):
        command = ["cargo", "test", "-j1", "-q", "--no-fail-fast", *tests]
        done = subprocess.run(command, cwd=tree, env=environment, capture_output=True, text=True)
        names = sorted(set(re.findall(r"^    (\w+)$", done.stdout, re.M)))
        return names if names or done.returncode == 0 else ["(does not build)"]

    for tests in [t for t in (MARKET, ENV) if any(fault[4] is t for fault in chosen)]:
        assert failed(tests) == [], "the tests must pass before a fault is planted"
    print(f"{'fault':<52}seen by", flush=True)
    unseen = 0
    for name, file, right, wrong, tests in chosen:
        path = tree / CU / file
        text = path.read_text()
        path.write_text(text.replace(right, wrong))
        seen = failed(tests)
        path.write_text(text)
        unseen += seen in ([], ["(does not build)"])
        print(f"{name:<52}{', '.join(seen) or 'NOTHING'}", flush=True)
    sys.exit(1 if unseen else 0)


if __name__ == "__main__":
    main()
