//! Device memory by purpose.
#![allow(clippy::unwrap_used, reason = "tests")]

mod common;

use common::{devices, tiny, waves};
use foxhunt_core::DType;
use foxhunt_device::Device;
use foxhunt_train::{Config, Market, MemoryPurpose, Trainer, WeightsChoice};

fn trainer(device: &Device, dtype: DType, config: &Config) -> Trainer {
    let market = Market::prepare(waves(2_000), config).unwrap();
    Trainer::new(device, dtype, config, &market).unwrap()
}

/// The lines sum to what the device says it has given: nothing is left out, nothing counted twice.
#[test]
fn purposes_sum_to_what_is_allocated() {
    let mut config = tiny();
    config.population = 3;
    for device in devices() {
        for dtype in DType::ALL {
            let before = device.memory().unwrap().allocated - device.workspace_bytes();
            let trainer = trainer(&device, dtype, &config);
            let held = (device.memory().unwrap().allocated - before) as u64;
            let memory = trainer.memory();
            assert_eq!(memory.total(), held, "{device}, {dtype}");
            let arenas = trainer.runtime().bytes() + trainer.environments().arena().bytes();
            assert_eq!(held, (arenas + device.workspace_bytes()) as u64);
            let sum: u64 = memory.parts().map(|(_, bytes)| bytes.total()).sum();
            assert_eq!(sum, held);
            // Every purpose has its share here.
            for (purpose, bytes) in memory.parts() {
                assert!(bytes.total() > 0, "{dtype}: nothing is for {}", purpose.name());
            }
        }
    }
}

/// What is stored in BF16 takes half of what F32 takes; what counts is integers and takes the same.
#[test]
fn storage_types_differ_in_real_numbers_alone() {
    let device = Device::cpu();
    let mut config = tiny();
    config.learn.weights = WeightsChoice::Plain;
    let [bf16, f32] = DType::ALL.map(|dtype| trainer(&device, dtype, &config).memory());
    for purpose in MemoryPurpose::ALL {
        let (half, whole) = (bf16.of(purpose), f32.of(purpose));
        match purpose {
            // In F32 the logits are activations of their own.
            MemoryPurpose::Activations => assert!(2 * half.real < whole.real),
            _ => assert_eq!(2 * half.real, whole.real, "{}", purpose.name()),
        }
        assert_eq!(half.integer, whole.integer, "{}", purpose.name());
    }
    // Pairs are two words of weights and of targets, and change nothing else.
    config.learn.weights = WeightsChoice::Paired;
    let paired = trainer(&device, DType::Bf16, &config).memory();
    for purpose in MemoryPurpose::ALL {
        let words = match purpose {
            MemoryPurpose::Weights | MemoryPurpose::Targets => 2,
            _ => 1,
        };
        assert_eq!(paired.of(purpose).real, words * bf16.of(purpose).real, "{}", purpose.name());
    }
}
