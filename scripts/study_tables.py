#!/usr/bin/env python3
"""Tables and charts of docs/results/bf16.md, from the compare.json files of the study.

    python3 scripts/study_tables.py runs/bf16/*/compare.json            writes what has changed
    python3 scripts/study_tables.py --check runs/bf16/*/compare.json    writes nothing; fails if something would change

Of the page only what lies between its two markers is replaced: what a person wrote around it stays. A page that does not
exist is begun with the markers alone. Charts lie beside it, in a folder of its name. Standard library only.
"""

import argparse
import json
import math
import sys
from html import escape
from pathlib import Path

BEGIN = "<!-- made by scripts/study_tables.py from here on -->"
END = "<!-- made by scripts/study_tables.py up to here -->"
FORMAT = 1
LABELS = {
    "f32": "F32", "nearest": "BF16 nearest", "stochastic": "BF16 stochastic", "paired": "BF16 paired",
    "nearest-weights": "weights nearest", "nearest-m": "m nearest", "nearest-v": "v nearest", "nearest-targets": "targets nearest",
}
COLOURS = {
    "f32": "#20262e", "nearest": "#c4472b", "stochastic": "#3b74d6", "paired": "#138a63",
    "nearest-weights": "#8c2f4b", "nearest-m": "#7a3fa0", "nearest-v": "#c98a1b", "nearest-targets": "#66bd9d",
}
PARTS = ["#3b74d6", "#7aa5ea", "#7a3fa0", "#b486d6", "#c98a1b", "#138a63", "#66bd9d", "#7a828c", "#c4472b", "#c9cdd3"]
# Known markets first, as the study runs them; anything else after them by name.
ORDER = ["known:regimes", "known:mean-reversion", "known:drift", "BTC/USD", "EUR/USD"]
NOTHING = "–"
# Least regret that the logarithmic axis shows: a tenth of a percent of the optimum.
FLOOR = 1e-3


class Unusable(Exception):
    """A file that the page can't be made from, and why."""


# Numbers


def plain(x):
    """Four significant digits, six decimals at most, as the program's own page writes numbers."""
    size = abs(x)
    if size >= 1000 or size == 0:
        return f"{x:,.0f}"
    exponent = math.floor(math.log10(size))
    return f"{x:.{3 - exponent if size >= 1 else min(3 - exponent, 6)}f}"


def minus(text):
    return text.replace("-", "−")


def signed(text):
    """With its sign, and without one where all digits are zero."""
    if not any(c in "123456789" for c in text):
        return text.lstrip("-")
    return minus(text if text.startswith("-") else "+" + text)


def size_of(count):
    for by, unit in ((1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")):
        if count >= by:
            return f"{count / by:.1f} {unit}"
    return f"{count} B"


def duration(seconds):
    for times, unit in ((1, "s"), (1e3, "ms")):
        if seconds * times >= 1:
            return f"{plain(seconds * times)} {unit}"
    return f"{plain(seconds * 1e6)} µs"


def estimate(e, write):
    """Value and interval, or a dash where there is none."""
    if e is None:
        return NOTHING
    return f"{write(e['value'])} [{write(e['low'])}, {write(e['high'])}]"


# Files


def read(path):
    try:
        result = json.loads(Path(path).read_text(encoding="utf-8"))
    except (OSError, ValueError) as e:
        raise Unusable(f"{path}: {e}") from e
    setting = result.get("setting") if isinstance(result, dict) else None
    if not isinstance(setting, dict) or not {"arms", "differences", "timing"} <= result.keys():
        raise Unusable(f"{path}: not a compare.json")
    if setting.get("format") != FORMAT:
        raise Unusable(f"{path}: layout {setting.get('format')}, and this script reads {FORMAT}")
    if not result["arms"]:
        raise Unusable(f"{path}: no member is finished")
    return result


def read_all(paths):
    results = [read(path) for path in paths]
    markets = [r["setting"]["market"] for r in results]
    for market in markets:
        if markets.count(market) > 1:
            raise Unusable(f"{market} is there twice: merge its folders with foxhunt compare --merge")
    place = {market: k for k, market in enumerate(ORDER)}
    return sorted(results, key=lambda r: (place.get(r["setting"]["market"], len(ORDER)), r["setting"]["market"]))


def by_quantity(items, quantity):
    return next((x for x in items if x["quantity"] == quantity), None)


def difference(result, arm, quantity):
    return by_quantity([d for d in result["differences"] if d["arm"] == arm], quantity)


# Tables


def table(head, rows):
    lines = [head, ["---"] + ["---:"] * (len(head) - 1), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def score_writers(measure):
    """How a score and a difference of scores are written."""
    if measure == "regret":
        return (lambda x: minus(f"{100 * x:.2f} %")), (lambda x: signed(f"{100 * x:.2f}") + " %")
    return (lambda x: minus(f"{x:.3f}")), (lambda x: signed(f"{x:.3f}"))


def verdict_of(d):
    return (d.get("verdict") or NOTHING) if d else NOTHING


def overview(results):
    """Verdicts of all markets."""
    arms = [arm for arm in LABELS if arm != "f32" and any(difference(r, arm, r["setting"]["measure"]) for r in results)]
    rows = []
    for r in results:
        measure = r["setting"]["measure"]
        _, write = score_writers(measure)
        cells = [f"{r['setting']['market']}, {measure}"]
        for arm in arms:
            d = difference(r, arm, measure)
            cells.append(f"{verdict_of(d)}, {estimate(d['iqm'], write)}" if d else NOTHING)
        rows.append(cells)
    return table(["arm − F32, IQM with 95 % interval"] + [LABELS[arm] for arm in arms], rows)


def windows(data):
    if data.get("test_from"):
        train = f"train from {data['train_from']}" if data.get("train_from") else "train from the first bar"
        end = f" to {data['test_to']}" if data.get("test_to") else ""
        return f"{train}, validation from {data['validation_from']}, test from {data['test_from']}{end}"
    train, validation = data["train_share"], data["validation_share"]
    return f"train {train:.0%}, validation {validation:.0%}, test the rest"


def facts(result):
    """What was run, in a paragraph."""
    setting, config = result["setting"], result["setting"]["config"]
    learn = config["learn"]
    members = max(len(arm["ids"]) for arm in result["arms"])
    parts = [
        f"{members} members an arm",
        f"{config['epochs']} epochs each of {learn['updates']:,} updates of {learn['batch']:,}",
        f"discount {learn['gamma']:g}, {learn['n_step']}-step returns",
        f"learning rate {learn['learning_rate']:g} to {learn['learning_rate'] * learn['learning_rate_end']:g}",
        f"{setting['bars']:,} bars",
    ]
    if setting["measure"] != "regret":
        parts.append(windows(config["data"]))
    parts += [", ".join(result["devices"]), setting["program"], f"data SHA-256 `{setting['data_sha256'][:12]}`"]
    text = "; ".join(parts) + "."
    for gap in result["missing"]:
        text += f" **Incomplete: {LABELS[gap['arm']]} lacks {len(gap['ids'])} of the members asked for.**"
    return text


def scores(result):
    measure = result["setting"]["measure"]
    write, write_difference = score_writers(measure)
    bound_of = lambda d: f"±{100 * d['bound']:.2f} %" if measure == "regret" else f"±{d['bound']:.3f}"
    name = "regret" if measure == "regret" else "Sharpe per session day"
    rows = []
    for arm in result["arms"]:
        score = by_quantity(arm["summaries"], measure)
        d, bad = difference(result, arm["arm"], measure), arm["divergences"]
        judged = [NOTHING, NOTHING, "baseline" if arm["arm"] == "f32" else NOTHING]
        if d:
            judged = [
                estimate(d["iqm"], write_difference),
                bound_of(d) if d["bound"] is not None else NOTHING,
                f"**{verdict_of(d)}**" + (f" ({d['lost']} without a score)" if d["lost"] else ""),
            ]
        diverged = f"{bad['members']}" + (f" ({bad['ruined']} ruined)" if bad["ruined"] else "")
        rows.append([LABELS[arm["arm"]], str(len(arm["ids"])), estimate(score and score["iqm"], write), *judged, diverged])
    head = ["", "members", f"{name}, IQM [95 %]", "arm − F32, paired [95 %]", "bound", "verdict", "members diverged"]
    return table(head, rows)


def gauges(result):
    rows = []
    share = lambda x: minus(f"{100 * x:.2f} %")
    for arm in result["arms"]:
        value = lambda q, write, arm=arm: (
            write(s["iqm"]["value"]) if (s := by_quantity(arm["summaries"], q)) and s["iqm"] else NOTHING
        )
        ratio = (difference(result, arm["arm"], "step") or {}).get("ratio")
        step = value("step", plain) + (f" ({plain(ratio)} × F32)" if ratio is not None else "")
        memory, time = arm["memory"], result["timing"].get(arm["arm"])
        rows.append([
            LABELS[arm["arm"]],
            value("unmoved", share),
            value("lag", share),
            step,
            f"{duration(time['update_us'] * 1e-6)}, {time['members']} members" if time else NOTHING,
            f"{size_of(memory['bytes'])}, {memory['members']} members" if memory else NOTHING,
            size_of(arm["checkpoint_bytes"]) if arm["checkpoint_bytes"] is not None else NOTHING,
        ])
    head = ["", "never moved", "target lag", "step size", "an update", "device memory", "checkpoint of a member"]
    return table(head, rows)


def body(results, charts, folder):
    """All that lies between the markers."""
    draws, seed = results[0]["bootstrap"]
    parts = [
        overview(results),
        f"Intervals: percentile bootstrap over members (pairs for differences), {draws:,} resamples, seed {seed}.",
    ]
    parts += [f"![{title}]({folder}/{name})" for name, title, _ in charts]
    for r in results:
        parts += [f"### {r['setting']['market']}", facts(r), scores(r), gauges(r)]
    return "\n\n".join(parts)


# Charts


class Svg:
    """An SVG of texts, lines and areas, on a ground of its own so that it reads in dark pages too."""

    def __init__(self, width, height, title):
        self.size = (width, height)
        self.parts = [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
            f'role="img" font-family="system-ui, sans-serif" font-size="12">',
            f"<title>{escape(title)}</title>",
            f'<rect width="{width}" height="{height}" fill="#fff"/>',
        ]

    def text(self, x, y, text, anchor="start", fill="#444c56"):
        self.parts.append(f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{fill}">{escape(text)}</text>')

    def line(self, points, colour, width=1.0, dash=""):
        dash = f' stroke-dasharray="{dash}"' if dash else ""
        at = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        self.parts.append(f'<polyline points="{at}" fill="none" stroke="{colour}" stroke-width="{width}"{dash}/>')

    def area(self, points, colour):
        at = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        self.parts.append(f'<polygon points="{at}" fill="{colour}" opacity="0.14"/>')

    def rect(self, x, y, width, height, colour, title):
        self.parts.append(
            f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" fill="{colour}">'
            f"<title>{escape(title)}</title></rect>"
        )

    def finish(self):
        return "\n".join([*self.parts, "</svg>", ""])


def learning_chart(result):
    """Regret by epoch on a logarithmic axis; none where no member was evaluated."""
    curves = [(arm["arm"], arm["curves"][0]["points"]) for arm in result["arms"] if arm["curves"]]
    curves = [(arm, points) for arm, points in curves if points]
    if not curves:
        return None
    market = result["setting"]["market"]
    svg = Svg(720, 360, f"Regret on the validation window by epoch, {market}")
    left, top, right, bottom = 64, 44, 704, 312
    epochs = [p["epoch"] for _, points in curves for p in points]
    first, last = min(epochs), max(epochs)
    high = math.log10(max(max(p["high"] for _, points in curves for p in points), 10 * FLOOR))
    low = math.log10(FLOOR)
    px = lambda epoch: left + (right - left) * (epoch - first) / max(last - first, 1)
    py = lambda y: bottom - (bottom - top) * (math.log10(max(y, FLOOR)) - low) / (high - low)
    svg.text(left, 20, f"{market}: regret, validation window (IQM over members, band: its 95 % interval)")
    for tick in (0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0):
        if math.log10(tick) <= high:
            svg.line([(left, py(tick)), (right, py(tick))], "#e4e7eb")
            svg.text(left - 8, py(tick) + 4, f"{100 * tick:g} %", "end")
    for epoch in range(first, last + 1):
        if epoch % max(5, (last - first) // 50 * 5) == 0 or first == last:
            svg.text(px(epoch), bottom + 18, str(epoch), "middle")
    svg.text((left + right) / 2, bottom + 38, "epoch", "middle")
    for arm, points in curves:
        edge = [(px(p["epoch"]), py(p["high"])) for p in points]
        svg.area(edge + [(px(p["epoch"]), py(p["low"])) for p in reversed(points)], COLOURS[arm])
    # F32 comes last: its dashes show where the others lie on it.
    for arm, points in sorted(curves, key=lambda c: c[0] == "f32"):
        line = [(px(p["epoch"]), py(p["iqm"])) for p in points]
        svg.line(line, COLOURS[arm], 1.9, "6 3" if arm == "f32" else "")
    for k, (arm, _) in enumerate(curves):
        x = left + 150 * k
        svg.line([(x, 33), (x + 22, 33)], COLOURS[arm], 2.5, "6 3" if arm == "f32" else "")
        svg.text(x + 28, 37, LABELS[arm])
    return svg.finish()


def memory_chart(result):
    """Device memory of a slice by purpose, a bar per arm; none where no memory is known."""
    rows = [(arm["arm"], arm["memory"]) for arm in result["arms"] if arm["memory"]]
    if not rows:
        return None
    market, row, left, right = result["setting"]["market"], 40, 130, 640
    names = [name for name, _ in rows[0][1]["by_purpose"]]
    key_top = 40 + row * len(rows) + 14
    svg = Svg(720, key_top + 20 * math.ceil(len(names) / 4) + 8, f"Device memory by purpose, {market}")
    svg.text(16, 20, f"{market}: device memory of a slice of {rows[0][1]['members']} members while it trains")
    most = max(memory["bytes"] for _, memory in rows)
    for k, (arm, memory) in enumerate(rows):
        x, y = left, 36 + row * k
        svg.text(left - 10, y + 18, LABELS[arm], "end")
        for p, (name, count) in enumerate(memory["by_purpose"]):
            width = (right - left) * count / max(most, 1)
            svg.rect(x, y, width, 26, PARTS[p % len(PARTS)], f"{name}: {size_of(count)}")
            x += width
        svg.text(x + 6, y + 18, size_of(memory["bytes"]))
    for p, name in enumerate(names):
        x, y = 16 + 172 * (p % 4), key_top + 20 * (p // 4)
        svg.rect(x, y, 11, 11, PARTS[p % len(PARTS)], name)
        svg.text(x + 17, y + 10, name)
    return svg.finish()


def charts_of(results, market):
    """File name, title and text of every chart. They are of one market: the others' look alike."""
    known = [r for r in results if r["setting"]["measure"] == "regret"]
    chosen = next((r for r in results if r["setting"]["market"] == market), None)
    if market is not None and chosen is None:
        raise Unusable(f"no compare.json is of {market}")
    chosen = chosen or (known or [None])[0]
    if chosen is None:
        return []
    if chosen["setting"]["measure"] != "regret":
        raise Unusable(f"the chart of learning is of a known market, and {market} is none")
    name = chosen["setting"]["market"]
    made = [
        ("learning.svg", f"Regret by epoch on {name}, every arm", learning_chart(chosen)),
        ("memory.svg", f"Device memory by purpose on {name}, every arm", memory_chart(chosen)),
    ]
    return [chart for chart in made if chart[2] is not None]


# The page


def with_body(page, text, begin=BEGIN, end=END):
    """`page` with what lies between its markers replaced."""
    if page.count(begin) != 1 or page.count(end) != 1 or page.index(begin) > page.index(end):
        raise Unusable(f"the page must have both lines once, in this order: {begin} and {end}")
    before, rest = page.split(begin)
    return f"{before}{begin}\n\n{text}\n\n{end}{rest.split(end)[1]}"


def settle(script, make, check):
    """Writes the files that `make` gives where they differ, or with `check` only says which do; the exit code."""
    try:
        made = make()
        changed = [p for p, text in made.items() if not p.exists() or p.read_text(encoding="utf-8") != text]
        if not check:
            for path in changed:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(made[path], encoding="utf-8")
    except Unusable as e:
        print(f"{script}: {e}", file=sys.stderr)
        return 2
    for path in changed:
        print(f"{path}: {'would change' if check else 'written'}")
    return 1 if check and changed else 0


def files(paths, page, market):
    """Every file of the page with the text that it should have."""
    results = read_all(paths)
    charts = charts_of(results, market)
    text = body(results, charts, page.stem)
    empty = f"# F32 and BF16 on five markets\n\n{BEGIN}\n{END}\n"
    old = page.read_text(encoding="utf-8") if page.exists() else empty
    made = {page: with_body(old, text)}
    made.update({page.parent / page.stem / name: svg for name, _, svg in charts})
    return made


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("files", nargs="+", help="compare.json files, one of each market")
    default = Path(__file__).resolve().parent.parent / "docs/results/bf16.md"
    parser.add_argument("--page", type=Path, default=default, help="the page (docs/results/bf16.md)")
    parser.add_argument("--chart", metavar="MARKET", help="the known market that charts are of, such as known:drift")
    parser.add_argument("--check", action="store_true", help="write nothing; fail if something would change")
    args = parser.parse_args(arguments)
    return settle("study_tables.py", lambda: files(args.files, args.page, args.chart), args.check)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
