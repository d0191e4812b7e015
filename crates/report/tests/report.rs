//! The report as a reader gets it.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use foxhunt_ledger::{Ledger, MemberInfo, reconcile, synth::Synth};
use foxhunt_metrics::{Series, total_return};
use foxhunt_report::{
    EpochPoint, LearningCurve, MarketLine, MarketsInput, PartLine, ReportError, ReportInput, StressLine,
    figures, market_figures, render, render_markets, write_report,
};

fn agent() -> Ledger {
    Synth { bars: 900, ..Synth::default() }.ledger()
}

fn hold() -> Ledger {
    Synth { bars: 900, members: 1, buy_and_hold: true, ..Synth::default() }.ledger()
}

fn curves() -> Vec<LearningCurve> {
    let point = |epoch: u32| EpochPoint {
        epoch,
        loss: if epoch == 3 { f64::NAN } else { 1.0 / f64::from(epoch + 1) },
        episode_return: 0.01,
        epsilon: 0.05,
        temperature: None,
        edge_share: if epoch == 4 { 0.02 } else { 0.0 },
    };
    (0..3).map(|member| LearningCurve { member, points: (0..5).map(point).collect() }).collect()
}

fn stress() -> Vec<StressLine> {
    let line = |key: &str, again, ledger| StressLine {
        key: key.into(),
        label: key.replace('_', " × "),
        again,
        ledger,
    };
    let dear = Synth { bars: 900, seed: 3, ..Synth::default() }.ledger();
    vec![
        line("costs_1", true, Ok(agent())),
        line("costs_2", true, Ok(dear)),
        line("delay_1", false, Ok(agent())),
        line("equity_100", true, Err("start_cash does not <fit>".into())),
    ]
}

fn page(ledger: &Ledger, baselines: &[Ledger]) -> String {
    render(&ReportInput {
        ledger,
        chosen: None,
        baselines,
        stress: &stress(),
        curves: &curves(),
        folds: &[],
        config_toml: "[market]\nlev = \"<2>\"\n",
    })
    .unwrap()
}

#[test]
fn it_holds_every_part_and_loads_nothing() {
    let text = page(&agent(), &[hold()]);
    for part in [
        "summary",
        "figures",
        "equity",
        "months",
        "rolling",
        "distribution",
        "drawdowns",
        "uncertainty",
        "positions",
        "trades",
        "costs",
        "stress",
        "training",
        "assumptions",
        "run",
        "config",
    ] {
        assert!(text.contains(&format!("<section id=\"{part}\">")), "{part}");
    }
    // A place on the page is no other page.
    let text = text.replace("href=\"#", "");
    for loader in ["http:", "https:", "src=", "href=", "url(", "@import", "<script ", "<link", "<img"] {
        assert!(!text.contains(loader), "{loader}");
    }
    for nonsense in ["NaN", "Infinity", ">inf", "\"inf"] {
        assert!(!text.contains(nonsense), "{nonsense}");
    }
    assert!(text.contains("clipped: 0.40\u{202f}% of the samples, at most 2.00\u{202f}% in an epoch"));
    assert!(text.contains("Left out: 3 epochs whose loss was not a finite number."));
}

/// Details of every member are there, those of one alone are seen without the script; which one was chosen is said.
#[test]
fn a_reader_may_pick_a_member() {
    let ledger = agent();
    let text = page(&ledger, &[hold()]);
    let members = ledger.header.members.len();
    assert_eq!(text.matches("<option value=").count(), members);
    assert_eq!(text.matches("<div data-member=").count(), 2 * members);
    assert_eq!(text.matches(" hidden>").count(), 2 * (members - 1));
    assert_eq!(text.matches("id=\"positions\"").count(), 1);
    let input = ReportInput {
        ledger: &ledger,
        chosen: Some(2),
        baselines: &[],
        stress: &[],
        curves: &[],
        folds: &[],
        config_toml: "",
    };
    let text = render(&input).unwrap();
    let label = &ledger.header.members[2].label;
    assert!(text.contains(&format!("the validation window chose {label}")));
    assert!(text.contains("(chosen on the validation window"));
    // Many members grow a page by no more than there is room for, and the chosen one is among those that are there.
    let many = Synth { bars: 400, members: 40, ..Synth::default() }.ledger();
    let text = render(&ReportInput { ledger: &many, chosen: Some(33), ..input }).unwrap();
    let there = text.matches("<option value=").count();
    assert!(
        (3..40).contains(&there) && text.contains(&format!("{there} of 40 members are on this page")),
        "{there}"
    );
    assert!(text.contains("<option value=\"33\""));
}

/// Every element is closed in order, no id is there twice, and what names an id finds it.
#[test]
fn it_is_well_formed() {
    let text = page(&agent(), &[hold()]);
    let (head, script) = text.split_once("<script>").unwrap();
    let (script, tail) = script.split_once("</script>").unwrap();
    assert!(!script.contains("</"), "the script ends where it should");
    let style = head.find("<style>").unwrap()..head.find("</style>").unwrap();
    let markup = format!("{}{}{tail}", &head[..style.start], &head[style.end + "</style>".len()..]);
    let mut open: Vec<&str> = Vec::new();
    for piece in markup.split('<').skip(1) {
        let (tag, _) = piece.split_once('>').unwrap();
        let name = tag.trim_start_matches('/').split([' ', '/']).next().unwrap();
        assert_eq!(tag.matches('"').count() % 2, 0, "quotes: {tag}");
        match (tag.starts_with('/'), tag.ends_with('/')) {
            (true, _) => assert_eq!(open.pop(), Some(name)),
            (false, true) => {}
            (false, false) if ["meta", "br", "!DOCTYPE"].contains(&name) => {}
            (false, false) => open.push(name),
        }
    }
    assert!(open.is_empty(), "{open:?}");
    let ids: Vec<&str> = markup.split(" id=\"").skip(1).map(|rest| rest.split('"').next().unwrap()).collect();
    assert_eq!(ids.len(), ids.iter().collect::<std::collections::BTreeSet<_>>().len(), "{ids:?}");
}

/// Every line of a chart that the script redraws has its values.
#[test]
fn tagged_lines_have_values() {
    let text = page(&agent(), &[hold()]);
    let plots: Vec<&str> = text.split("data-plot=\"").skip(1).collect();
    assert_eq!(plots.len(), 7, "equity, and of each of three members rolling Sharpe and positions");
    for plot in plots {
        let (data, chart) = plot.split_once('"').unwrap();
        let data: serde_json::Value = serde_json::from_str(&data.replace("&quot;", "\"")).unwrap();
        let series = data["series"].as_array().unwrap();
        for one in series {
            assert_eq!(one["x"].as_array().unwrap().len(), one["y"].as_array().unwrap().len());
            assert!(one["p"].as_u64().unwrap() < data["panels"].as_array().unwrap().len() as u64);
        }
        let tags: Vec<usize> = chart
            .split(" data-s=\"")
            .skip(1)
            .map(|rest| rest.split('"').next().unwrap().parse().unwrap())
            .collect();
        assert!(!tags.is_empty() && tags.iter().all(|&tag| tag < series.len()), "{tags:?}");
    }
}

/// Ten years of hourly bars.
#[test]
fn a_long_run_stays_small() {
    let ledger = Synth { bars: 62_400, members: 2, ..Synth::default() }.ledger();
    let hold = Synth { bars: 62_400, members: 1, buy_and_hold: true, ..Synth::default() }.ledger();
    let text = page(&ledger, &[hold]);
    assert!(text.len() < 3_000_000, "{}", text.len());
}

#[test]
fn equal_input_gives_equal_bytes() {
    assert!(page(&agent(), &[hold()]) == page(&agent(), &[hold()]));
}

/// The figures in the page are those of the metrics and of the ledger.
#[test]
fn figures_are_those_of_the_ledger() {
    let ledger = Synth { bars: 900, members: 1, ..Synth::default() }.ledger();
    let text = page(&ledger, &[]);
    let lines = reconcile(&ledger).unwrap().members[0];
    let share = total_return(&Series::new(&ledger, &lines)).value().unwrap();
    let sign = if share < 0.0 { "−" } else { "+" };
    let printed = format!("<div class=\"tile-value\">{sign}{:.2}\u{202f}%</div>", share.abs() * 100.0);
    assert!(text.contains(&printed), "{printed}");
    // Fees to the unit: six decimals of a dollar.
    let fees = format!("{}.{:06}", lines.fees / 1_000_000, lines.fees % 1_000_000);
    assert!(text.contains(&format!("<td class=\"number\">−{fees}</td>")), "{fees}");
}

#[test]
fn every_string_is_escaped() {
    let mut ledger = agent();
    let evil = "<script>alert('x')</script>\"&";
    ledger.header.instrument = evil.into();
    ledger.header.quote_currency = evil.into();
    ledger.header.program = evil.into();
    ledger.header.price_unit = evil.into();
    ledger.header.lot = evil.into();
    ledger.header.window.name = evil.into();
    ledger.header.data.name = evil.into();
    ledger.header.data.sha256 = evil.into();
    ledger.header.assumptions = vec![evil.into()];
    for member in &mut ledger.header.members {
        member.label = evil.into();
    }
    let mut baseline = hold();
    baseline.header.baseline = Some(evil.into());
    let baselines = [baseline];
    let input = ReportInput {
        ledger: &ledger,
        chosen: None,
        baselines: &baselines,
        stress: &[],
        curves: &[],
        folds: &[],
        config_toml: evil,
    };
    let text = render(&input).unwrap();
    assert!(text.matches("<script").count() == 1 && !text.contains("alert('x')</"));
    assert!(text.matches("&lt;script&gt;").count() > 10);
}

#[test]
fn what_is_undefined_says_why() {
    // Three bars of doing nothing.
    let mut ledger = Synth { bars: 3, members: 1, ..Synth::default() }.ledger();
    ledger.bars.truncate(1);
    ledger.fills.clear();
    let text = page(&ledger, &[]);
    assert!(text.contains("title=\"needs at least 1 observations, there are 0\">undefined<sup>"));
    assert!(text.contains("title=\"nothing was traded\">undefined<sup>"));
    assert!(text.contains("title=\"no round trip was completed\">undefined<sup>"));
    assert!(text.contains("Nothing was traded."));
    assert!(!text.contains("NaN"));
}

/// Whoever was ruined is said to be wherever figures of it stand, and how long each account lasted.
#[test]
fn ruin_is_reported_too() {
    let wild = |members| {
        let of =
            Synth { seed: 2, members, max_leverage_e4: 300_000, volatility_bp: 60.0, ..Synth::default() };
        Synth { stop_sd: 0.0, ..of }.ledger()
    };
    let (one, many) = (wild(1), wild(20));
    let ruined = one.ruined(0).unwrap();
    let count = (0..20).filter(|m| many.ruined(*m).is_some()).count();
    assert!(count > 0);
    let at = format!("<span class=\"ruined\">ruined at bar {ruined}</span>");
    let of = format!("{count} of 20 ruined");
    let mut draws = many.clone();
    draws.header.baseline = Some("random timing".into());
    let stress =
        |ledger| StressLine { key: "k".into(), label: "dear".into(), again: true, ledger: Ok(ledger) };
    let fold = PartLine {
        train: None,
        validation: None,
        test: [0, 1],
        chosen: "member 3".into(),
        page: "fold_0/report.html".into(),
        member: (0..20).find(|m| many.ruined(*m).is_some()).unwrap(),
        ledger: many.clone(),
    };
    let input = ReportInput {
        ledger: &one,
        chosen: None,
        baselines: &[hold(), draws],
        stress: &[stress(one.clone()), stress(many.clone()), stress(hold())],
        curves: &[],
        folds: &[fold],
        config_toml: "",
    };
    let text = render(&input).unwrap();
    let section = |id: &str| {
        text.split(&format!("<section id=\"{id}\">")).nth(1).unwrap().split("</section>").next().unwrap()
    };
    for id in ["summary", "figures", "stress"] {
        assert_eq!((section(id).matches(&at).count(), section(id).matches(&of).count()), (1, 1), "{id}");
    }
    let folds = section("folds");
    assert!(folds.matches("<span class=\"ruined\">ruined at bar ").count() == 1 && folds.contains(&of));
    assert!(
        section("summary").contains("A ruined account ends there")
            && section("summary").contains(">Sessions</th>")
    );
    assert!(text.contains("<section id=\"costs\">") && !text.contains("NaN"));
    let figures = figures(&input).unwrap();
    assert_eq!(figures["agent"]["members"][0]["ruined_at_bar"].as_u64(), Some(ruined as u64));
    assert!(figures["baselines"][0]["members"][0].get("ruined_at_bar").is_none());
    let sound = page(&agent(), &[hold()]);
    assert!(!sound.contains("class=\"ruined\"") && !sound.contains("A ruined account"));
}

/// One account says nothing of other seeds; numbers are grouped in sentences, too.
#[test]
fn one_account_has_one_kind_of_interval() {
    let mut ledger = Synth { bars: 900, members: 1, ..Synth::default() }.ledger();
    ledger.header.trials = 9_600;
    let text = page(&ledger, &[hold()]);
    assert!(!text.contains("<caption>Over members") && text.contains("nothing can be said of other seeds"));
    assert!(
        text.contains("among 9,600 trials; no interval corrects")
            && text.contains("the best of 9,600 trials")
    );
    let body = text.split("</style>").nth(1).unwrap();
    assert!(!body.contains(" 9600 ") && body.contains("<dd>9,600</dd>"));
    let many = page(&agent(), &[hold()]);
    assert!(many.contains("<caption>Over members") && many.contains("; neither interval corrects"));
}

#[test]
fn a_ledger_that_does_not_add_up_gets_no_report() {
    let mut ledger = agent();
    ledger.bars[20].equity += 1;
    let directory = std::env::temp_dir().join(format!("foxhunt-report-{}", std::process::id()));
    std::fs::create_dir_all(&directory).unwrap();
    let path = directory.join("report.html");
    let broken = ReportInput {
        ledger: &ledger,
        chosen: None,
        baselines: &[],
        stress: &[],
        curves: &[],
        folds: &[],
        config_toml: "",
    };
    let error = write_report(&path, &broken).unwrap_err();
    assert_eq!(error.to_string(), "the ledger of the agent does not reconcile");
    assert!(!path.exists());
    let sound = agent();
    let mut baseline = hold();
    baseline.bars[9].cash -= 1;
    let baselines = [baseline];
    let input = ReportInput {
        ledger: &sound,
        chosen: None,
        baselines: &baselines,
        stress: &[],
        curves: &[],
        folds: &[],
        config_toml: "",
    };
    let error = write_report(&path, &input).unwrap_err();
    assert_eq!(error.to_string(), "the ledger of buy and hold does not reconcile");
    let input = ReportInput { baselines: &[], ..input };
    write_report(&path, &input).unwrap();
    assert_eq!(std::fs::read_to_string(&path).unwrap(), render(&input).unwrap());
    let missing = directory.join("none").join("report.html");
    assert!(matches!(write_report(&missing, &input), Err(ReportError::Io { .. })));
    std::fs::remove_dir_all(&directory).unwrap();
}

#[test]
fn many_members_share_the_page() {
    let ledger = Synth { bars: 400, members: 24, ..Synth::default() }.ledger();
    assert_eq!(ledger.header.members.iter().map(|m: &MemberInfo| m.id).max(), Some(23));
    let text = page(&ledger, &[hold()]);
    assert!(text.contains("mean of 24 members"));
    // The exact table shows one member and the baseline only.
    assert_eq!(text.matches("Change in equity</th>").count(), text.matches("<option value=").count());
    assert!(text.len() < 1_600_000, "{}", text.len());
}

/// What a line could not be run for is said, and which lines decide again.
#[test]
fn stress_lines_say_what_they_are() {
    let text = page(&agent(), &[hold()]);
    assert!(text.contains("not run: start_cash does not &lt;fit&gt;"));
    assert!(text.contains("delay × 1<span class=\"quiet\"> (recorded)</span>"));
    assert!(text.contains("run again in a closed loop") && text.contains("Break-even: <b>"));
    let mut broken = stress();
    if let Ok(ledger) = &mut broken[1].ledger {
        ledger.bars[9].cash += 1;
    }
    let ledger = agent();
    let input = ReportInput {
        ledger: &ledger,
        chosen: None,
        baselines: &[],
        stress: &broken,
        curves: &[],
        folds: &[],
        config_toml: "",
    };
    assert_eq!(render(&input).unwrap_err().to_string(), "the ledger of costs × 2 does not reconcile");
}

/// The figures for programs are those of the metrics; nothing in them is null.
#[test]
fn figures_are_for_programs() {
    let (ledger, lines) = (agent(), stress());
    let baselines = [hold()];
    let input = ReportInput {
        ledger: &ledger,
        chosen: None,
        baselines: &baselines,
        stress: &lines,
        curves: &[],
        folds: &[],
        config_toml: "",
    };
    let all = figures(&input).unwrap();
    let text = all.to_string();
    assert!(!text.contains("NaN") && !text.contains("\"total_return\":null"));
    for (m, of) in reconcile(&ledger).unwrap().members.iter().enumerate() {
        let member = &all["agent"]["members"][m];
        let share = total_return(&Series::new(&ledger, of)).value().unwrap();
        assert_eq!(member["metrics"]["total_return"].as_f64(), Some(share));
        let costs = &member["attribution"];
        let parts = ["held", "traded_and_delay", "delay", "spread", "impact", "fees", "financing"];
        let sum: i64 = parts.iter().map(|part| costs[part].as_i64().unwrap()).sum();
        assert_eq!(Some(sum), costs["change_in_equity"].as_i64(), "the parts add up");
        let (closes, worst) = (&member["drawdown_closes"]["depth"], &member["drawdown_worst"]["depth"]);
        assert!(worst.as_f64() >= closes.as_f64());
    }
    let interval = &all["over_time"]["intervals"]["sharpe_days"];
    assert!(interval["low"].as_f64() < interval["high"].as_f64());
    assert!(all["agent"]["over_members"]["sharpe_days"]["sd"].as_f64().unwrap() > 0.0);
    let keys: Vec<_> = all["stress"].as_array().unwrap().iter().map(|s| s["key"].as_str().unwrap()).collect();
    assert_eq!(keys, ["costs_1", "costs_2", "delay_1", "equity_100"]);
    assert_eq!(all["stress"][3]["not_run"], "start_cash does not <fit>");
    assert_eq!(all["stress"][2]["how"], "recorded decisions");
    assert_eq!(all["baselines"][0]["name"], "buy and hold");
    assert_eq!(all, figures(&input).unwrap(), "equal input, equal figures");
    // Three bars of doing nothing: reasons, not numbers.
    let mut idle = Synth { bars: 3, members: 1, ..Synth::default() }.ledger();
    idle.bars.truncate(1);
    idle.fills.clear();
    let all = figures(&ReportInput { ledger: &idle, baselines: &[], stress: &[], ..input }).unwrap();
    let metrics = &all["agent"]["members"][0]["metrics"];
    assert_eq!(metrics["break_even_bp"]["undefined"], "nothing was traded");
}

/// Several instruments: a row each with its chosen member's figures, a mean, and the same as JSON.
#[test]
fn instruments_stand_in_one_table() {
    let line = |name: &str, seed: u64, member: u32| MarketLine {
        name: name.into(),
        part: PartLine {
            train: Some([0, 86_400_000_000_000]),
            validation: Some([2 * 86_400_000_000_000, 3 * 86_400_000_000_000]),
            test: [4 * 86_400_000_000_000, 5 * 86_400_000_000_000],
            chosen: format!("member {member} after epoch 2"),
            page: format!("{name}/report.html"),
            ledger: Synth { bars: 900, seed, ..Synth::default() }.ledger(),
            member,
        },
        baselines: vec![hold()],
        stress: Vec::new(),
    };
    let markets = [line("eur", 1, 1), line("xbt", 5, 0)];
    let input =
        MarketsInput { markets: &markets, words: "Each with members <of its own>.", config_toml: "a = 1\n" };
    let text = render_markets(&input).unwrap();
    for part in [
        "<a href=\"eur/report.html\">eur</a>",
        "member 0 after epoch 2",
        "&lt;of its own&gt;",
        "<span class=\"day\">5 Jan 1970 – 6 Jan 1970</span>",
    ] {
        assert!(text.contains(part), "{part}");
    }
    assert!(!text.contains("src=") && !text.contains("http://") && !text.contains("https://"));
    let json = market_figures(&input).unwrap();
    let own = |k: usize| {
        let l = &markets[k].part.ledger;
        total_return(&Series::new(l, &reconcile(l).unwrap().members[markets[k].part.member as usize]))
            .value()
            .unwrap()
    };
    let of = |k: usize| json["markets"][k]["chosen_metrics"]["total_return"].as_f64().unwrap();
    assert_eq!((of(0), of(1)), (own(0), own(1)));
    assert_ne!(of(0), of(1));
    assert_eq!(json["mean_over_markets"]["total_return"].as_f64().unwrap(), (of(0) + of(1)) / 2.0);
    assert_eq!(
        (&json["markets"][1]["name"], &json["markets"][1]["page"]),
        (&"xbt".into(), &"xbt/report.html".into())
    );
    // One account through both: the sum of the chosen members' equities, beside the sum of both buy and holds.
    let account = &json["account"];
    let ends =
        markets.iter().map(|m| m.part.ledger.bars_of(m.part.member).last().unwrap().equity).sum::<i64>();
    let start = 2 * markets[0].part.ledger.header.start_cash;
    let grown = ends as f64 / start as f64 - 1.0;
    assert!((account["members"][0]["metrics"]["total_return"].as_f64().unwrap() - grown).abs() < 1e-12);
    assert_eq!(account["members"][0]["attribution"]["change_in_equity"].as_i64().unwrap(), ends - start);
    assert_eq!(
        (&account["start_cash"], &account["shown"]),
        (&start.into(), &"the chosen of each instrument".into())
    );
    assert_eq!(account["baselines"][0]["name"], "buy and hold");
    assert!(text.contains("<section id=\"account\">") && text.contains("<section id=\"account-equity\">"));
    // Under stress it is the sum of the chosen's own lines; what could not be run of one is run of none.
    assert!(json["account"]["stress"].as_array().unwrap().is_empty() && !text.contains("account-stress"));
    let under = |k: usize| -> Vec<StressLine> {
        let one = |line: StressLine| StressLine {
            ledger: line.ledger.map(|all| all.only(markets[k].part.member)),
            ..line
        };
        stress().into_iter().map(one).collect()
    };
    let mut stressed = markets.clone();
    (0..2).for_each(|k| stressed[k].stress = under(k));
    stressed[1].stress.remove(0);
    let input = MarketsInput { markets: &stressed, ..input };
    let lines = market_figures(&input).unwrap()["account"]["stress"].clone();
    let keys: Vec<&str> = lines.as_array().unwrap().iter().map(|l| l["key"].as_str().unwrap()).collect();
    assert_eq!(keys, ["costs_2", "delay_1", "equity_100"], "those that all have");
    let ends = |key: &str| -> i64 {
        let of = |m: &MarketLine| m.stress.iter().find(|l| l.key == key)?.ledger.clone().ok();
        stressed.iter().map(|m| of(m).unwrap().bars.last().unwrap().equity).sum()
    };
    for (k, key) in ["costs_2", "delay_1"].iter().enumerate() {
        let told = lines[k]["members"][0]["metrics"]["total_return"].as_f64().unwrap();
        assert!((told - (ends(key) as f64 / start as f64 - 1.0)).abs() < 1e-12, "{key}");
    }
    assert_eq!(lines[2]["not_run"], "eur: start_cash does not <fit>");
    let text = render_markets(&input).unwrap();
    assert!(
        text.contains("<section id=\"account-stress\">")
            && text.contains("eur: start_cash does not &lt;fit&gt;")
    );
    // However wide a table is, it scrolls in a box of its own and the page stays as wide as it was.
    assert!(text.matches("<table").count() > 4);
    assert_eq!(text.matches("<table").count(), text.matches("<div class=\"scroll").count());
    // With the same members everywhere each has an account, and the chosen one is shown.
    let mut shared = markets.clone();
    shared[0].part.member = 0;
    let json = market_figures(&MarketsInput { markets: &shared, ..input }).unwrap();
    assert_eq!(json["account"]["members"].as_array().unwrap().len(), 3);
    assert_eq!(json["account"]["shown"], json["account"]["members"][0]["label"]);
    // Two currencies have no sum, which is said with both.
    shared[1].part.ledger.header.quote_currency = "JPY".into();
    let input = MarketsInput { markets: &shared, ..input };
    let text = render_markets(&input).unwrap();
    assert!(text.contains("There is none: EUR/USD is counted in USD and EUR/USD in JPY"));
    assert!(market_figures(&input).unwrap()["account"]["none"].as_str().unwrap().contains("JPY"));
    // A ledger that contradicts itself is told with its instrument.
    let mut broken = markets.clone();
    broken[1].part.ledger.bars[5].cash += 1;
    let error = render_markets(&MarketsInput { markets: &broken, ..input }).unwrap_err().to_string();
    assert!(error.contains("xbt"), "{error}");
}
