#!/usr/bin/env python3
"""Tables and charts of docs/results/walk-forward.md, from the folders of runs that walk forward.

    python3 scripts/walk_forward_tables.py runs/walk-xbtusd runs/walk-eurusd            writes what has changed
    python3 scripts/walk_forward_tables.py --check runs/walk-xbtusd runs/walk-eurusd    writes nothing; fails if something would change

Of the page only what lies between its two markers is replaced. A chart for each run lies in a folder of its name. Of a run are read:
figures.json, selection.json, setting.json, config.toml, and figures.json of each fold_N. Standard library only (Python 3.11).
"""

import argparse
import json
import sys
import tomllib
from datetime import datetime, timezone
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from study_tables import NOTHING, Svg, Unusable, minus, settle, signed, table, with_body

BEGIN = "<!-- made by scripts/walk_forward_tables.py from here on -->"
END = "<!-- made by scripts/walk_forward_tables.py up to here -->"
FORMAT = 1
HOLD = "buy and hold"
PARTS = [
    ("held", "positions held"),
    ("traded_and_delay", "traded lots"),
    ("delay", "delay"),
    ("spread", "half-spread"),
    ("impact", "impact"),
    ("fees", "fees"),
    ("financing", "financing"),
    ("change_in_equity", "change in equity"),
]


# Numbers


def share(x):
    return NOTHING if x is None else minus(f"{100 * x:.2f} %")


def tenth(x):
    return minus(f"{100 * x:.1f}")


def ratio(x):
    return NOTHING if x is None else minus(f"{x:.2f}")


def small(x):
    """A probability, which may be next to nothing."""
    return NOTHING if x is None else f"{x:.4f}" if x >= 1e-4 else "below 0.0001"


def between(interval, write):
    return f"[{write(interval['low'])}, {write(interval['high'])}]"


def value(member, key):
    """A figure, or none where it is undefined."""
    x = member["metrics"][key]
    return None if isinstance(x, dict) else x


def mean_of(of, key):
    found = [x for x in (value(m, key) for m in of["members"]) if x is not None]
    return sum(found) / len(found) if found else None


def day(ns):
    return datetime.fromtimestamp(ns // 10**9, timezone.utc).strftime("%Y-%m-%d")


def ranks(values):
    """Ranks from 1, ties sharing their mean."""
    order = sorted(values)
    return [order.index(x) + (order.count(x) + 1) / 2 for x in values]


def rank_correlation(a, b):
    """Spearman's; none where either has no spread."""
    a, b = ranks(a), ranks(b)
    ma, mb = sum(a) / len(a), sum(b) / len(b)
    spread = sum((x - ma) ** 2 for x in a) * sum((y - mb) ** 2 for y in b)
    return sum((x - ma) * (y - mb) for x, y in zip(a, b)) / spread**0.5 if spread else None


# Files


def read(path):
    try:
        text = path.read_text(encoding="utf-8")
        return tomllib.loads(text) if path.suffix == ".toml" else json.loads(text)
    except (OSError, ValueError) as e:
        raise Unusable(f"{path}: {e}") from e


def read_run(folder):
    folder = Path(folder)
    run = {name: read(folder / f"{name}.json") for name in ("figures", "selection", "setting")}
    run["config"] = read(folder / "config.toml")
    figures = run["figures"]
    if figures.get("format") != FORMAT:
        raise Unusable(f"{folder}/figures.json: layout {figures.get('format')}, and this script reads {FORMAT}")
    if not figures.get("folds"):
        raise Unusable(f"{folder}: not a run that walks forward")
    run["folds"] = [fold_of(folder, fold, run["selection"]) for fold in figures["folds"]]
    return run


def fold_of(folder, fold, selection):
    """A fold with the baselines of its own page, and what the validation window said of each member."""
    own = read(folder / f"fold_{fold['fold']}" / "figures.json")
    choices = [c for c in selection if c["fold"] == fold["fold"]]
    returns = [value(m, "total_return") for m in fold["members"]]
    place = next(k for k, c in enumerate(choices) if c["chosen"])
    all_bars = [value(m, "bar_count") for m in fold["members"]]
    decisions = max(all_bars + [value(m, "bar_count") for b in own["baselines"] for m in b["members"]])
    return {
        **fold,
        "baselines": {b["name"]: b for b in own["baselines"]},
        "choices": choices,
        "returns": returns,
        "shown": fold["members"][place],
        "choice": choices[place],
        "rank": 1 + sum(r > returns[place] for r in returns),
        "decisions": decisions,
        "ruined": sum(bars < decisions for bars in all_bars),
    }


# Tables


def end_of(member, decisions):
    bars = value(member, "bar_count")
    return f"ruined at bar {bars:,.0f}" if bars < decisions else ""


def facts(run):
    config, figures, setting = run["config"], run["figures"], run["setting"]
    walk, learn = config["data"]["walk_forward"], config["learn"]
    stored = setting["dtype"].upper() + (f" with {learn['weights']} weights" if setting["dtype"] == "bf16" else "")
    return "; ".join([
        f"{walk['folds']} folds of {walk['train_days']:,} days to train on, {walk['validation_days']} to choose by and "
        f"{walk['test_days']} to test",
        f"{config['population']} members a fold, {config['epochs']} epochs each of {learn['updates']:,} updates of {learn['batch']:,}",
        f"discount {learn['gamma']:g}, {learn['n_step']}-step returns",
        f"{setting['bars']:,} bars",
        f"{figures['trials']:,} trials",
        f"seed {config['seed']}",
        f"{stored} on an {setting['device']}",
        setting["program"],
        f"data SHA-256 `{setting['data_sha256']}`",
    ]) + "."


def folds_table(run):
    rows = []
    for fold in run["folds"]:
        m, over = fold["shown"], fold["over_time"]["intervals"]
        number = fold["choice"]["member"] - fold["choices"][0]["member"]
        rows.append([
            f"{fold['fold']}: {day(fold['test']['start_ns'])} to {day(fold['test']['end_ns'])}",
            f"{number}, epoch {fold['choice']['epoch']}",
            share(fold["choice"]["validation_return"]),
            f"{share(value(m, 'total_return'))} {between(over['total_return'], tenth)}",
            f"{ratio(value(m, 'sharpe_bars'))} {between(over['sharpe_bars'], ratio)}",
            share(value(m, "max_drawdown_worst")),
            f"{value(m, 'turnover'):,.0f} ×",
            f"{value(m, 'trip_count'):,.0f}",
            end_of(m, fold["decisions"]),
        ])
    head = ["test window", "chosen member", "validation", "test return [95 % over time]", "Sharpe per bar [95 %]",
            "drawdown within bars", "turnover a year", "trips", ""]
    return table(head, rows)


def members_table(run):
    rows = []
    for fold in run["folds"]:
        over, count = fold["over_members"]["total_return"], len(fold["returns"])
        told = rank_correlation([c["validation_return"] for c in fold["choices"]], fold["returns"])
        hold = fold["baselines"][HOLD]["members"][0]
        ruined = end_of(hold, fold["decisions"])
        rows.append([
            str(fold["fold"]),
            share(value(fold["shown"], "total_return")),
            f"{fold['rank']} of {count}",
            f"{share(over['mean'])} {between(over, tenth)}",
            f"{tenth(over['min'])} … {tenth(over['max'])} %",
            f"{sum(r > 0 for r in fold['returns'])} of {count}",
            f"{fold['ruined']} of {count}",
            NOTHING if told is None else signed(f"{told:.2f}"),
            share(value(hold, "total_return")) + (f", {ruined}" if ruined else ""),
            share(mean_of(fold["baselines"]["random timing"], "total_return")),
        ])
    head = ["fold", "chosen", "its place", "mean of members [95 %]", "lowest … highest", "above 0", "ruined",
            "rank correlation, validation and test", HOLD, "random timing"]
    return table(head, rows)


def account_table(run):
    figures = run["figures"]
    lines = [("**the chosen of each fold**", figures["agent"])] + [(b["name"], b) for b in figures["baselines"]]
    decisions = max(value(m, "bar_count") for _, of in lines for m in of["members"])
    told = any("ruined_at_bar" in m for _, of in lines for m in of["members"])
    rows = []
    for name, of in lines:
        total = share(mean_of(of, "total_return"))
        if len(of["members"]) > 1:
            over = of["over_members"]["total_return"]
            name += f", mean of {len(of['members'])}"
            total += f" ({tenth(over['min'])} … {tenth(over['max'])})"
            # Random timing beside a ruined account trades the bars that this lived: figures that name the bar of ruin tell them apart.
            ruined = sum("ruined_at_bar" in m if told else value(m, "bar_count") < decisions for m in of["members"])
            end = f"{ruined} ruined" if ruined else ""
        else:
            end = end_of(of["members"][0], decisions)
        rows.append([name, total, *(write(mean_of(of, key)) for key, write in [
            ("sharpe_bars", ratio), ("max_drawdown_worst", share), ("turnover", lambda x: f"{x:,.2f} ×"), ("cost_share", share),
            ("trip_count", lambda x: f"{x:,.0f}")]), end])
    head = ["", "return", "Sharpe per bar", "drawdown within bars", "turnover a year", "costs over starting cash", "trips", ""]
    agent, over = figures["agent"]["members"][0], figures["over_time"]["intervals"]
    text = (
        f"95 % over time of the account of the chosen: return {between(over['total_return'], tenth)} %, Sharpe per bar "
        f"{between(over['sharpe_bars'], ratio)}. Its deflated Sharpe, the probability that it is above what the best of "
        f"{figures['trials']:,} trials without skill would have reached: {small(value(agent, 'deflated_sharpe'))}."
    )
    return table(head, rows) + "\n\n" + text


def stress_table(run):
    lines = [line for line in run["figures"]["stress"] if line.get("members")]
    decisions = max(value(m, "bar_count") for b in run["figures"]["baselines"] for m in b["members"])
    one = lambda line: line["members"][0]
    rows = [[line["label"].lower(), share(value(one(line), "total_return")), share(value(one(line), "cost_share")),
             end_of(one(line), decisions)] for line in lines]
    return table(["stress", "return", "costs over starting cash", ""], rows)


def attribution_table(run):
    figures = run["figures"]
    unit = 10 ** figures["money_exponent"]
    lines = [("the chosen of each fold", figures["agent"])] + [(b["name"], b) for b in figures["baselines"] if len(b["members"]) == 1]
    rows = [[name, *(signed(f"{of['members'][0]['attribution'][key] / unit:,.0f}") for key, _ in PARTS)] for name, of in lines]
    return table([figures["quote_currency"], *(title for _, title in PARTS)], rows)


def body(runs, folder):
    """All that lies between the markers."""
    parts = []
    for run in runs:
        name = run["figures"]["instrument"]
        parts += [
            f"## {name}",
            facts(run),
            folds_table(run),
            f"![Test return of every member, {name}]({folder}/{chart_name(run)})",
            members_table(run),
            "One account through all test windows:",
            account_table(run),
            stress_table(run),
            attribution_table(run),
        ]
    return "\n\n".join(parts)


# The chart


def chart_name(run):
    return run["figures"]["instrument"].lower().replace("/", "-") + ".svg"


def chart(run):
    """Test return of every member by fold, with the chosen one, the mean and its interval, and buy and hold."""
    name, folds = run["figures"]["instrument"], run["folds"]
    holds = [value(fold["baselines"][HOLD]["members"][0], "total_return") for fold in folds]
    low, high = (f([f(fold["returns"]) for fold in folds] + holds + [0.0]) for f in (min, max))
    step = next(s for s in (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0) if (high - low) / s <= 10)
    left, top, right, bottom = 64, 56, 704, 332
    svg = Svg(720, 380, f"Test return of every member by fold, {name}")
    py = lambda y: bottom - (bottom - top) * (y - low) / (high - low)
    svg.text(left, 20, f"{name}: test return of every member, by fold (left to right by number), all costs included")
    for k in range(int(low // step) + 1, int(high // step) + 1):
        svg.line([(left, py(k * step)), (right, py(k * step))], "#e4e7eb" if k else "#7a828c")
        svg.text(left - 8, py(k * step) + 4, minus(f"{100 * k * step:.0f} %"), "end")
    wide = (right - left) / len(folds)
    for k, (fold, hold) in enumerate(zip(folds, holds)):
        x = left + wide * (k + 0.5)
        count = len(fold["returns"])
        for m, r in enumerate(fold["returns"]):
            svg.rect(x - wide * 0.3 + wide * 0.6 * m / count, py(r) - 1.5, 3, 3, "#7aa5ea", f"member {m}: {share(r)}")
        svg.line([(x - wide * 0.36, py(hold)), (x + wide * 0.36, py(hold))], "#8a5a00", 2, "6 3")
        over = fold["over_members"]["total_return"]
        svg.line([(x + wide * 0.4, py(over["low"])), (x + wide * 0.4, py(over["high"]))], "#20262e", 3)
        own = value(fold["shown"], "total_return")
        at = fold["choices"].index(fold["choice"])
        svg.rect(x - wide * 0.3 + wide * 0.6 * at / count - 3.5, py(own) - 5, 10, 10, "#c4472b", f"chosen: {share(own)}")
        svg.text(x, bottom + 20, f"{day(fold['test']['start_ns'])} to", "middle")
        svg.text(x, bottom + 36, day(fold["test"]["end_ns"]), "middle")
    for k, (what, colour) in enumerate([("a member", "#7aa5ea"), ("the chosen", "#c4472b"), (HOLD, "#8a5a00"),
                                        ("mean of members, 95 %", "#20262e")]):
        svg.rect(left + 130 * k, 32, 11, 11, colour, what)
        svg.text(left + 130 * k + 17, 42, what)
    return svg.finish()


def files(folders, page):
    """Every file of the page with the text that it should have."""
    runs = [read_run(folder) for folder in folders]
    old = page.read_text(encoding="utf-8") if page.exists() else f"# Walk-forward studies\n\n{BEGIN}\n{END}\n"
    made = {page: with_body(old, body(runs, page.stem), BEGIN, END)}
    made.update({page.parent / page.stem / chart_name(run): chart(run) for run in runs})
    return made


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("runs", nargs="+", help="folders of runs, in the order of the page")
    default = Path(__file__).resolve().parent.parent / "docs/results/walk-forward.md"
    parser.add_argument("--page", type=Path, default=default, help="the page (docs/results/walk-forward.md)")
    parser.add_argument("--check", action="store_true", help="write nothing; fail if something would change")
    args = parser.parse_args(arguments)
    return settle("walk_forward_tables.py", lambda: files(args.runs, args.page), args.check)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
