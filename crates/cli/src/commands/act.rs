use super::{
    backtest::unseen,
    number, offered, open,
    source::{DataOptions, load_own_bars, reading},
    taught,
    trained::{TrainedRun, list},
};
use crate::Failure;
use clap::Args;
use foxhunt_backtest::{Backtest, Decision, Holding};
use foxhunt_checkpoint::apply;
use foxhunt_data::SessionNow;
use foxhunt_device::DeviceChoice;
use foxhunt_market::reference::mark;
use foxhunt_train::Market;
use std::path::PathBuf;

/// Print the next order of a run's chosen member, at the close of the last bar
#[derive(Args)]
#[command(
    after_help = "Values are expected discounted rewards in the member's unit, of each action of each branch; the largest is taken.
What is printed is a decision of the simulated market's kind, for the bar after the last: no broker is asked, nothing is
sent. Of an instrument that is flat by close it is said where the session ends with the last bar, so that what is held is
closed before the order, or with the next one, which then closes what the order opens.
The files of --data are read as the run read its own, and where they are of another shape as the options above say; an
empty text, as in --columns '', takes back what the run's configuration says.

Examples:
  foxhunt act runs/first --data EURUSD_today.csv
  foxhunt act runs/first --data EURUSD_today.csv --position -40 --equity 98500 --json
  foxhunt act runs/first --data today.csv --columns time=Date,close=Last --time-zone America/New_York
  foxhunt act runs/many --market eurusd --data EURUSD_today.csv"
)]
pub(crate) struct ActArgs {
    /// A finished run
    #[arg(value_name = "RUN")]
    run: PathBuf,
    /// The instrument, by its name in a run with several
    #[arg(long, value_name = "NAME")]
    market: Option<String>,
    /// Bars up to now, the run's own if left out
    #[arg(long, value_name = "FILE", num_args = 1..)]
    data: Vec<String>,
    /// Lots held, short below 0; as if taken at the last close
    #[arg(long, default_value = "0", allow_negative_numbers = true, value_parser = number::whole(i32::MIN..=i32::MAX))]
    position: i32,
    /// Equity in the quote currency; the starting cash if left out
    #[arg(long, value_name = "MONEY", allow_negative_numbers = true, value_parser = money)]
    equity: Option<f64>,
    /// A member's id, instead of the one that the validation window chose
    #[arg(long, value_name = "ID", allow_negative_numbers = true, value_parser = number::any::<u64>)]
    member: Option<u64>,
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// auto, cpu, cuda or cuda:n
    #[arg(long, default_value = "auto", value_parser = offered::device(), hide_possible_values = true)]
    device: DeviceChoice,
    #[command(flatten)]
    options: DataOptions,
}

fn money(text: &str) -> Result<f64, String> {
    text.parse::<f64>()
        .ok()
        .filter(|x| *x > 0.0 && *x < 1e12)
        .ok_or_else(|| "give a number above 0 and below 1e12".into())
}

const NAMES: [(&str, &[&str]); 3] = [
    ("exposure", &["-1", "-3/4", "-1/2", "-1/4", "0", "+1/4", "+1/2", "+3/4", "+1"]),
    ("order type", &["market", "maker", "ioc"]),
    ("urgency", &["patient", "normal", "aggressive"]),
];

pub(crate) fn run(args: &ActArgs) -> Result<(), Failure> {
    let trained = TrainedRun::open(&args.run, args.market.as_deref())?;
    let config = &trained.config;
    let at = match args.member {
        Some(id) => trained.choices.iter().position(|c| config.number_of(c.member) == id),
        None => trained.choices.iter().position(|c| c.chosen),
    };
    let choice = at.and_then(|k| trained.choices.get(k)).ok_or_else(|| {
        Failure::Refused(format!(
            "the members of {} are {}: name one of them",
            args.run.display(),
            list(trained.ids().iter().map(|id| config.number_of(*id)))
        ))
    })?;
    reading(config, &args.data, &args.options)?;
    let market = if args.data.is_empty() {
        Market::prepare(load_own_bars(&args.run, config)?, config)?
    } else {
        unseen(&args.data, &args.options, config, &taught::read(&args.run, config)?, 1)?
    };
    let device = open(args.device)?;
    let end = market.bars.len();
    let backtest = Backtest::now(&device, trained.dtype, config, &market)?;
    let unit = 10_f64.powi(market.rules.money_exponent as i32);
    let equity = args.equity.map_or(market.rules.start_cash, |x| (x * unit).round() as i64);
    let most = market.rules.max_position();
    if args.position.unsigned_abs() > most.unsigned_abs() {
        return Err(Failure::Refused(format!("a position of {} lots is beyond {most}", args.position)));
    }
    // What is held at a session's last close is closed there, and the order of that close is decided flat.
    let session = market.bars.session_now()?;
    let closes = if session.is_some_and(|s| s.ends) { args.position } else { 0 };
    let holding = Holding { position: args.position - closes, equity };
    let weights = trained.saved_weights(choice)?;
    let decisions =
        backtest.next(&[choice.member], holding, |runtime, net| Ok(apply(runtime, net, 0, &weights)?))?;
    let Some(decision) = decisions.first() else { return Ok(()) };
    if decision.values.iter().flatten().any(|value| !value.is_finite()) {
        return Err(Failure::Unusable(format!(
            "the values of member {} are no numbers, and no order follows from them: its training diverged; name \
             another with --member, or train again",
            config.number_of(choice.member)
        )));
    }
    // A type that the configuration does not send is not shown as if it were.
    let mut taken = decision.action;
    if market.rules.orders == foxhunt_market::OrderTypes::Market {
        taken[1] = 0;
    }
    let close = market.bars.instrument.price(mark(&market.table.bars[end - 1]));
    let stamp = foxhunt_data::show_moment(market.bars.close_ns[end - 1]);
    let r = &market.rules;
    let limit = decision.limit.map(|units| market.bars.instrument.price(units));
    if args.json {
        let member = config.number_of(choice.member);
        let mut said = json(member, &stamp, &close.to_string(), &holding, (closes, session), taken, decision);
        // What the numbers are of: lots, and money in units of 10^-money_exponent.
        said["epoch"] = choice.epoch.into();
        said["instrument"] = r.instrument.as_str().into();
        said["quote_currency"] = r.quote_currency.as_str().into();
        said["lot"] = r.lot.as_str().into();
        said["money_exponent"] = r.money_exponent.into();
        said["limit_price"] = limit.map(|price| price.to_string()).into();
        return say!("{said}");
    }
    say!("{}, close of {stamp} at {close} {}", r.instrument, r.quote_currency)?;
    let assumed = if args.equity.is_none() { " (the starting cash)" } else { "" };
    say!(
        "holds {} lots of {}, equity {:.2} {}{assumed}",
        args.position,
        r.lot,
        equity as f64 / unit,
        r.quote_currency
    )?;
    say!("member {} after epoch {}\n", config.number_of(choice.member), choice.epoch)?;
    for ((name, labels), (values, chosen)) in NAMES.iter().zip(decision.values.iter().zip(decision.action)) {
        let cells = |f: &dyn Fn(usize) -> String| {
            (0..labels.len()).map(|k| format!("{:>13}", f(k))).collect::<String>()
        };
        let mark = |k: usize| {
            if k == usize::from(chosen) { format!("[{}]", labels[k]) } else { labels[k].to_owned() }
        };
        say!("{name:<11}{}", cells(&mark))?;
        say!("{:<11}{}", "value", cells(&|k| format!("{:.5}", values[k])))?;
    }
    if closes != 0 {
        say!(
            "\nthe session ends with this bar, and the instrument is flat by close: {} {} lots at this close; the order is \
             decided with nothing held",
            if closes > 0 { "sell" } else { "buy" },
            closes.unsigned_abs()
        )?;
    }
    let next_ends = session.is_some_and(|s| s.next_ends);
    let limit = limit.map(|price| format!(" at {price} or better")).unwrap_or_default();
    say!("\norder: {}", words(decision, taken, &limit, next_ends))?;
    if next_ends {
        say!(
            "the next bar is the session's last: whatever is held at its close is closed there, with half-spread, impact and fee \
             (flat by close)"
        )?;
    }
    Ok(())
}

fn words(d: &Decision, taken: [u8; 3], limit: &str, next_ends: bool) -> String {
    let [_, kind, urgency] = taken.map(usize::from);
    let target = format!("target {} lots, exposure {}", d.target, NAMES[0].1[usize::from(d.action[0])]);
    if d.banded {
        return format!("none, the change is within the band ({target})");
    }
    match d.order {
        0 => format!("none ({target})"),
        lots => format!(
            "{} {} lots{limit}, {}, {}{} ({target})",
            if lots > 0 { "buy" } else { "sell" },
            lots.abs(),
            NAMES[1].1[kind],
            NAMES[2].1[urgency],
            if next_ends { ", for the next bar alone" } else { "" }
        ),
    }
}

fn json(
    member: u64,
    stamp: &str,
    close: &str,
    holding: &Holding,
    (closes, session): (i32, Option<SessionNow>),
    taken: [u8; 3],
    d: &Decision,
) -> serde_json::Value {
    let branch = |k: usize| {
        let values =
            NAMES[k].1.iter().zip(&d.values[k]).map(|(n, v)| ((*n).to_owned(), serde_json::json!(v)));
        serde_json::json!({ "taken": NAMES[k].1[usize::from(taken[k])], "values": values.collect::<serde_json::Map<_, _>>() })
    };
    serde_json::json!({
        "member": member,
        "time": stamp,
        "close": close,
        "position_lots": holding.position,
        "equity_money": holding.equity,
        "exposure": branch(0),
        "order_type": branch(1),
        "urgency": branch(2),
        "target_lots": d.target,
        "order_lots": d.order,
        "within_band": d.banded,
        "flat_by_close": session.is_some(),
        "session_close_lots": -closes,
        "next_bar_ends_session": session.is_some_and(|s| s.next_ends),
    })
}
