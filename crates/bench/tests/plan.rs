//! The plan of `bench step`: it keeps the rules on numbers, it asks the host for nothing but what the host gives, and
//! it is what it was. After a change that is meant, `INSTA_UPDATE=always cargo test -p foxhunt-bench` writes the
//! snapshots anew, and their difference is part of the review.

use foxhunt_bench::StepBench;
use foxhunt_core::{DType, Weights};
use foxhunt_device::Device;
use foxhunt_kernels::{Element, fused::DqnKernels};
use foxhunt_nn::MemoryPurpose;

fn bench(dtype: DType, population: usize) -> StepBench {
    let weights = Weights::Plain;
    StepBench {
        batch: 512,
        population,
        dtype,
        weights,
        replay_rows: 4096,
        steps: 1,
        repetitions: 1,
        kernels: None,
    }
}

#[test]
fn the_step_keeps_the_rules_on_numbers() {
    for dtype in DType::ALL {
        for population in [1, 3] {
            let step = bench(dtype, population).plan().unwrap();
            assert_eq!(step.plan.faults().unwrap(), [], "{dtype}, {population} members");
        }
    }
}

/// The fused step's plan needs no Hopper GPU either: only its program does.
#[test]
fn the_fused_step_keeps_the_rules_and_counts_its_memory() {
    for population in [1, 3] {
        let sizes = StepBench { kernels: Some(DqnKernels::Hopper), ..bench(DType::Bf16, population) };
        let mut step = sizes.plan().unwrap();
        assert_eq!(step.plan.faults().unwrap(), [], "{population} members");
        let (fused, span) =
            (step.plan.memory(), bench(DType::Bf16, population).plan().unwrap().plan.memory());
        let p = population as u64;
        for purpose in [
            MemoryPurpose::Weights,
            MemoryPurpose::Targets,
            MemoryPurpose::Moments,
            MemoryPurpose::Gradients,
            MemoryPurpose::Replay,
        ] {
            assert_eq!(fused.of(purpose), span.of(purpose), "{purpose:?}");
        }
        // Of a row: both states, and s again; three layers and their gradients, the first two of 256; four blocks of the head's; a loss.
        let row = 3 * 128 + 2 * (256 + 256 + 512) + 4 * 64 + 1;
        assert_eq!(fused.of(MemoryPurpose::Activations).real, p * 2 * 512 * row);
        // Two nets, three branches, two words of 56 rows of 128.
        assert_eq!(fused.of(MemoryPurpose::Workspace).real, p * 2 * 2 * 3 * 2 * 56 * 128);
        let sum: u64 = fused.parts().map(|(_, bytes)| bytes.total()).sum();
        assert_eq!(sum, fused.total());
        assert!(fused.total() < span.total(), "neither logits nor what flows from s'");

        step.plan.buffer("masters", Element::Real(DType::F32), 164, 2048);
        assert_eq!(step.plan.faults().unwrap().len(), 1);
    }
    let step = StepBench { kernels: Some(DqnKernels::Hopper), ..bench(DType::Bf16, 1) }.plan().unwrap();
    assert_eq!(
        step.plan.inputs("step").unwrap(),
        bench(DType::Bf16, 1).plan().unwrap().plan.inputs("step").unwrap()
    );
    // It is in BF16 alone, and on one kind of GPU.
    let error = StepBench { kernels: Some(DqnKernels::Hopper), ..bench(DType::F32, 1) }
        .plan()
        .unwrap()
        .plan
        .faults()
        .unwrap_err();
    assert!(error.to_string().contains("holds Real(F32), not Real(Bf16)"), "{error}");
    let error = StepBench { kernels: Some(DqnKernels::Hopper), ..bench(DType::Bf16, 1) }
        .run(&Device::cpu(), None)
        .unwrap_err();
    assert!(error.to_string().contains("dqn_rows is for one kind of GPU"), "{error}");
}

#[test]
fn a_wide_buffer_in_the_step_is_found() {
    let mut step = bench(DType::Bf16, 1).plan().unwrap();
    step.plan.buffer("masters", Element::Real(DType::F32), 164, 2048);
    let faults = step.plan.faults().unwrap();
    assert_eq!(faults.len(), 1);
    assert_eq!(faults[0].to_string(), "masters stores f32 in a plan of bf16");
}

#[test]
fn the_step_reads_nothing_that_nobody_wrote() {
    for dtype in DType::ALL {
        let step = bench(dtype, 1).plan().unwrap();
        let inputs = step.plan.inputs("step").unwrap();
        // The replay and the hyperparameters from the host; what a step leaves to the next; the table of the layout.
        let want = [
            "q.counters",
            "q.hyper",
            "replay.state",
            "replay.actions",
            "replay.outcome",
            "batch.draws",
            "q.weight",
            "q.target",
            "q.m",
            "q.v",
            "q.ids",
            "loss.total",
        ];
        assert_eq!(inputs, want, "{dtype}");
    }
}

/// The aim of storing BF16: with a replay of 2^20 stored states, 16 members and all that is not halved (integers, the
/// matrix library's 32 MiB), at most 60 % of what F32 takes.
#[test]
fn bf16_takes_at_most_60_percent_of_the_memory() {
    for batch in [512, 4096] {
        let [bf16, f32] = DType::ALL.map(|dtype| {
            let sizes = StepBench { batch, replay_rows: 1 << 20, ..bench(dtype, 16) };
            let mut memory = sizes.plan().unwrap().plan.memory();
            memory.add_untyped(MemoryPurpose::Workspace, 32 << 20);
            memory
        });
        let replay = bf16.of(MemoryPurpose::Replay);
        // 128 values, 3 actions and an outcome of 16 bytes a row.
        assert_eq!((replay.real, replay.integer), (256 << 20, 19 << 20));
        assert_eq!(f32.of(MemoryPurpose::Replay).real, 512 << 20);
        let share = bf16.total() as f64 / f32.total() as f64;
        // Below half, since only F32 stores logits.
        assert!(share <= 0.6, "batch {batch}: {share:.3} of F32\n{bf16}{f32}");
    }
}

/// Pairs are a second word of weights and targets, and in F32 there are none.
#[test]
fn pairs_are_laid_out_where_they_are_asked_for() {
    let memory = |dtype, weights| {
        let memory = StepBench { weights, ..bench(dtype, 3) }.plan().unwrap().plan.memory();
        (memory.of(MemoryPurpose::Weights).real + memory.of(MemoryPurpose::Targets).real, memory.total())
    };
    let [plain, paired] = [Weights::Plain, Weights::Paired].map(|weights| memory(DType::Bf16, weights));
    assert_eq!((paired.0, paired.1), (2 * plain.0, plain.1 + plain.0));
    assert_eq!(memory(DType::F32, Weights::Paired), memory(DType::F32, Weights::Plain));
}

#[test]
fn the_step_on_a_device_takes_what_its_plan_says() {
    let device = Device::cpu();
    for dtype in DType::ALL {
        let sizes = bench(dtype, 2);
        let held = sizes.memory(&device).unwrap();
        assert_eq!(held.memory, sizes.plan().unwrap().plan.memory(), "{dtype}");
        assert_eq!(held.memory.total() as usize, sizes.run(&device, None).unwrap().arena_bytes, "{dtype}");
    }
}

#[test]
fn the_step_is_what_it_was() {
    for dtype in DType::ALL {
        let plan = bench(dtype, 1).plan().unwrap().plan;
        insta::with_settings!({omit_expression => true, prepend_module_to_snapshot => false}, {
            insta::assert_snapshot!(format!("step_{dtype}"), plan.to_string());
        });
    }
    let plan = StepBench { kernels: Some(DqnKernels::Hopper), ..bench(DType::Bf16, 1) }.plan().unwrap().plan;
    insta::with_settings!({omit_expression => true, prepend_module_to_snapshot => false}, {
        insta::assert_snapshot!("step_fused", plan.to_string());
    });
}
