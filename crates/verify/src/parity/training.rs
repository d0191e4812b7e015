//! A training's bytes: replayed, replayed again, and run without the graph.

use super::{
    Compared,
    compare::{grouped, verdict},
};
use crate::VerifyError;
use foxhunt_core::{DType, Weights};
use foxhunt_device::Device;
use foxhunt_train::{Config, Market, Size, Trainer};

/// Members.
const MEMBERS: usize = 3;
/// Times that a training collects and learns.
const ROUNDS: usize = 2;

/// What tests plant: a change to one of the trainings before it is compared.
pub(super) type Plant<'a> = &'a dyn Fn(&'static str, &Trainer) -> Result<(), VerifyError>;

pub(super) fn compare(device: &Device, reference: &Device, dtype: DType) -> Result<Compared, VerifyError> {
    let storages: &[Weights] = match dtype {
        DType::Bf16 => &[Weights::Plain, Weights::Paired],
        DType::F32 => &[Weights::Plain],
    };
    let mut all = Compared { said: String::new(), found: Vec::new() };
    for weights in storages {
        let one = compare_with(device, reference, dtype, *weights, &|_, _| Ok(()))?;
        let gap = if all.said.is_empty() { "" } else { "; " };
        all.said += &format!("{gap}{}, {}", weights.name(), one.said);
        all.found.extend(one.found.into_iter().map(|what| format!("{} weights: {what}", weights.name())));
    }
    Ok(all)
}

fn config() -> Config {
    let mut config = Config::of(Size::Small);
    config.population = MEMBERS;
    config.network.trunk = [64, 64];
    config.network.stream = 32;
    let l = &mut config.learn;
    (l.envs, l.collect, l.updates, l.batch, l.replay, l.episode_bars) = (24, 24 * 40, 24, 48, 24 * 64, 32);
    config
}

/// A training: everything that a bit-equal continuation needs is read of it afterwards. Not by epochs, whose reports set
/// counters back.
fn train(
    device: &Device,
    dtype: DType,
    config: &Config,
    market: &Market,
    eager: bool,
) -> Result<Trainer, VerifyError> {
    let trainer = Trainer::new(device, dtype, config, market)?;
    for _ in 0..ROUNDS {
        for (name, times) in trainer.programs() {
            let program = trainer.runtime().program(name)?;
            if eager {
                (0..times).try_for_each(|_| program.run_eager())?;
            } else {
                program.run(times)?;
            }
        }
    }
    device.synchronize()?;
    Ok(trainer)
}

pub(super) fn compare_with(
    device: &Device,
    reference: &Device,
    dtype: DType,
    weights: Weights,
    plant: Plant<'_>,
) -> Result<Compared, VerifyError> {
    let mut config = config();
    config.learn.weights = weights.into();
    let market = Market::prepare(foxhunt_data::sample(), &config)?;
    let fresh = Trainer::new(device, dtype, &config, &market)?;
    let replayed = train(device, dtype, &config, &market, false)?;
    let mut found = Vec::new();
    let weights = |t: &Trainer| t.runtime().read_bytes(t.net().weight);
    if weights(&fresh)? == weights(&replayed)? {
        found.push("training changed no weight".into());
    }
    let mut others = vec![("an eager run", device, true), ("another replay", device, false)];
    if !device.is_cuda() {
        // Products of a CPU come from one library, so that its builds agree to the bit.
        others.push(("the reference", reference, false));
    }
    let mut bytes = 0;
    for (name, on, eager) in &others {
        let other = train(on, dtype, &config, &market, *eager)?;
        plant(name, &other)?;
        for t in replayed.state() {
            let [a, b] = [&replayed, &other].map(|x| x.runtime().read_bytes(*t));
            let (a, b) = (a?, b?);
            bytes += a.len();
            if let Some(at) = a.iter().zip(&b).position(|(a, b)| a != b) {
                let (tensor, one) = (&replayed.plan().info(*t).name, a.len() / MEMBERS);
                let (member, at) = (at / one, at % one);
                found.push(format!("{name} leaves another {tensor}: member {member}, from byte {at} on"));
                break; // the others follow from it
            }
        }
    }
    let l = &config.learn;
    let said = format!(
        "{MEMBERS} members, {} steps, {} updates: replay beside {}, {} KB {}",
        grouped(MEMBERS * ROUNDS * l.collect),
        MEMBERS * ROUNDS * l.updates,
        others.iter().map(|o| o.0).collect::<Vec<_>>().join(", "),
        grouped(bytes >> 10),
        verdict(&found)
    );
    Ok(Compared { said, found })
}
