//! The solution is one: it does not depend on the grid, simulations have its value, nothing else that is tried beats it.
#![allow(clippy::unwrap_used, reason = "tests")]

use foxhunt_backtest::{Backtest, TestWindow, foresight};
use foxhunt_core::DType;
use foxhunt_device::Device;
use foxhunt_known::{KnownMarket, Lengths, log_return, markets};
use foxhunt_ledger::reconcile;
use foxhunt_train::{Config, Size};

fn config(gamma: f64) -> Config {
    let mut config = Config::of(Size::Small);
    config.learn.gamma = gamma;
    config
}

#[test]
fn the_optimum_beats_what_is_not_optimal_and_not_foresight() {
    for kind in markets() {
        let known = KnownMarket::new(kind.name, 1, Lengths::default()).unwrap();
        let config = known.config(config(0.9));
        let t = std::time::Instant::now();
        let optimum = known.optimum(&config).unwrap();
        println!(
            "{}: optimum {:.4} value {:.6} its {} in {:?}, fills {}",
            kind.name,
            optimum.log_return,
            optimum.value,
            optimum.policy.iterations,
            t.elapsed(),
            optimum.ledger.fills.len()
        );
        let window = TestWindow::test(&known.market);
        let device = Device::cpu();
        let backtest = Backtest::new(&device, DType::F32, &config, &known.market, window.clone()).unwrap();
        reconcile(&optimum.ledger).unwrap();
        let seen = log_return(&backtest.strategy(&foresight(&known.market, &window).unwrap()).unwrap(), 0);
        println!("  foresight {seen:.4}");
        for gamma in [0.0, 0.5, 0.8, 0.95, 0.99, 0.999] {
            let p = known.policy(gamma).unwrap();
            let l = known.play(&config, &window, "x", |z, w| p.action(z, w)).unwrap().log_return;
            println!("  gamma {gamma}: {l:.4} ({} its)", p.iterations);
        }
        for costs in [0, 2, 3] {
            let p = known.policy_under(&known.market.rules.with_costs(costs), 0.9, 16).unwrap();
            let l = known.play(&config, &window, "x", |z, w| p.action(z, w)).unwrap().log_return;
            println!("  costs x {costs}: {l:.4}");
        }
        for per in [8, 16, 32] {
            let p = known.policy_under(&known.market.rules, 0.9, per).unwrap();
            println!("  grid {per}: {:.9}", p.mean_value(known.chain()));
        }
        let p = &optimum.policy;
        for z in 0..known.chain().states.len() {
            println!("   z {z}: {:?}", [-1.0, -0.5, 0.0, 0.5, 1.0].map(|w| p.action(z, w)));
        }
        for e in [0, 4, 8] {
            let l = known.play(&config, &window, "x", |_, _| [e, 0, 2]).unwrap().log_return;
            println!("  constant {e}: {l:.4}");
        }
    }
}
