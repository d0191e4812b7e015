//! From made-up members to verdict, default and page.
#![allow(clippy::unwrap_used, reason = "tests")]

use foxhunt_compare::{
    Arm, Comparison, Folder, Gauges, Measure, Member, Point, Quantity, Scores, Setting, Slice, SliceTiming,
    Verdict, compare, render,
};
use foxhunt_train::{Config, Market, Size};

/// A member with this regret; none is one that diverged.
fn member(id: u64, regret: Option<f64>) -> Member {
    let last =
        Scores { epoch: 1, regret, sharpe: Some(1.0), total_return: Some(0.1), ruined: regret.is_none() };
    let gauges =
        Gauges { reached: 10, unmoved: 1, step: Some(0.5), lag: Some(0.1), steps: 4, ..Gauges::default() };
    let curve = vec![Point { epoch: 1, regret, total_return: Some(0.1) }];
    Member { id, loss: vec![Some(2.0)], curve, chosen: last, last, gauges }
}

fn comparison(adds: &[(Arm, Option<f64>)], own: Arm) -> Comparison {
    comparison_of(adds, own, 1)
}

/// Twelve members an arm, whose regret differs by far more than an arm adds to it; `lost` of an arm that adds nothing diverged.
fn comparison_of(adds: &[(Arm, Option<f64>)], own: Arm, lost: u32) -> Comparison {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x");
    let config = Config::of(Size::Small);
    let market = Market::prepare(foxhunt_data::sample(), &config).unwrap();
    let setting = Setting::new("test", &config, std::slice::from_ref(&market), Measure::Regret, 1);
    let files = Folder::open(&path, &setting).unwrap();
    for (arm, adds) in adds {
        let members = (0..12u32).map(|id| {
            let own = f64::from(id * id % 7) * 0.05 + f64::from(id % 3) * 0.001;
            let lost = adds.is_none() && id < lost;
            member(id.into(), (!lost).then(|| own + adds.unwrap_or(0.0) * (1.0 + f64::from(id % 2) * 0.1)))
        });
        files
            .keep(&Slice {
                fingerprint: setting.fingerprint().unwrap(),
                arm: *arm,
                device: "CPU".into(),
                members: members.collect(),
                memory: vec![("weights".into(), 5)],
                checkpoint_bytes: 7,
                timing: SliceTiming::default(),
            })
            .unwrap();
    }
    let finished = files.finished(&setting, &[]).unwrap();
    compare(&setting, own, &finished, &Arm::ALL, &(0..12).collect::<Vec<_>>())
}

#[test]
fn an_arm_that_loses_marks_the_trainer() {
    let adds = [
        (Arm::F32, Some(0.0)),
        (Arm::Nearest, Some(0.5)),
        (Arm::Stochastic, Some(0.1)),
        (Arm::Paired, Some(0.001)),
    ];
    let c = comparison(&adds, Arm::Stochastic);
    let verdict = |arm| c.score_of(arm).unwrap().verdict.unwrap();
    assert_eq!([Arm::Nearest, Arm::Stochastic, Arm::Paired].map(verdict), {
        [Verdict::Worse, Verdict::Worse, Verdict::Equivalent]
    });
    assert_eq!(c.reported_default, Arm::F32);
    // Pairing: members differ by 0.3, the test still tells 0.01 from none.
    let d = c.score_of(Arm::Paired).unwrap();
    assert!(d.power.unwrap().detectable < 0.01 && d.power.unwrap().equivalence > 0.99, "{d:?}");
    assert_eq!((d.pairs, d.bound, d.quantity), (12, Some(0.02), Quantity::Regret));
    let page = render(&c).unwrap();
    assert!(page.contains("BF16 stochastic is worse than F32: F32 is the reported default"));
    assert!(page.contains("not what this configuration uses: BF16 nearest"));
    // A configuration of pairs is not marked by what plain words do.
    let c = comparison(&adds, Arm::Paired);
    assert_eq!((c.reported_default, c.because.as_str()), (Arm::Paired, "BF16 paired is equivalent to F32"));
}

#[test]
fn a_member_that_diverged_is_not_left_out_in_silence() {
    let c = comparison(&[(Arm::F32, Some(0.0)), (Arm::Stochastic, None)], Arm::Stochastic);
    let d = c.score_of(Arm::Stochastic).unwrap();
    assert_eq!((d.pairs, d.lost, d.verdict), (11, 1, Some(Verdict::Undecided)));
    assert_eq!((c.arms[1].divergences.ruined, c.arms[1].divergences.members), (1, 1));
    assert!(render(&c).unwrap().contains("1 without score"));
}

#[test]
fn an_arm_without_a_score_is_no_default() {
    let c = comparison_of(&[(Arm::F32, Some(0.0)), (Arm::Paired, None)], Arm::Paired, 12);
    assert_eq!(c.reported_default, Arm::F32);
    assert_eq!(
        c.because,
        "none of the 12 members of BF16 paired has a score beside F32's: F32 is the reported default"
    );
    assert!(render(&c).unwrap().contains("F32 is the reported default"));
}

#[test]
fn without_f32_there_is_nothing_to_judge() {
    let c = comparison(&[(Arm::Stochastic, Some(0.0))], Arm::Stochastic);
    assert!(c.differences.is_empty() && c.because.contains("not been compared"));
    assert_eq!((c.missing.len(), c.missing[0].arm), (Arm::ALL.len() - 1, Arm::F32));
    assert!(render(&c).unwrap().contains("Nothing to compare yet"));
}
