//! What can't be made is refused with its reason.
#![allow(clippy::unwrap_used, reason = "tests")]

mod common;

use common::{FEATURES, SHAPE, builds, naming_features, world};
use foxhunt_core::DType;
use foxhunt_device::Device;
use foxhunt_env::{EnvError, Environments, MemberSpec, Shape, Tables};

fn make(shape: Shape, change: impl Fn(MemberSpec) -> MemberSpec) -> Result<Environments, EnvError> {
    let (tables, members) = world(100, &[0]);
    let (dtype, isa) = builds(DType::F32)[0];
    Environments::new(&Device::cpu_with(isa), dtype, shape, &tables, &[change(members[0].clone())])
}

fn why(result: Result<Environments, EnvError>) -> String {
    result.err().unwrap().to_string()
}

#[test]
fn members_must_fit_their_data() {
    assert!(why(make(SHAPE, |m| MemberSpec { window: 0..101, ..m })).contains("window: rows 0..101 of 100"));
    assert!(why(make(SHAPE, |m| MemberSpec { window: 50..53, ..m })).contains("3 bars of lookback"));
    assert!(make(SHAPE, |m| MemberSpec { window: 50..54, ..m }).is_ok());
    assert!(why(make(SHAPE, |m| MemberSpec { discount: 1.0, ..m })).contains("discount"));
    assert!(why(make(SHAPE, |m| MemberSpec { n_step: 41, ..m })).contains("40 rows of replay"));
    assert!(why(make(SHAPE, |m| MemberSpec { episode_bars: 0, ..m })).contains("episode_bars"));
}

#[test]
fn sizes_must_fit_one_another() {
    assert!(why(make(Shape { envs: 0, ..SHAPE }, |m| m)).contains("1 members of Shape"));
    let narrow = make(Shape { state: 40, ..SHAPE }, |m| m).unwrap();
    let error = narrow.observe().unwrap_err().to_string();
    assert!(error.contains("3 rows of 11 features") && error.contains("46 columns"), "{error}");
    let mut tables = Tables::new(FEATURES);
    let (_, members) = world(100, &[0]);
    let id = tables.add_bars(&common::random_market(1, 50));
    assert!(tables.add_features(id, &naming_features(49)).is_err());
    tables.add_features(id, &naming_features(50)).unwrap();
    let (dtype, isa) = builds(DType::F32)[0];
    let foreign = Environments::new(&Device::cpu_with(isa), dtype, SHAPE, &tables, &members);
    assert!(why(foreign).contains("features: are not of these tables"));
}
