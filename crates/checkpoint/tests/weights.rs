//! One member's weights: bit-exact, by logical part, whatever the image, the population or the storage type.

#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests")]

mod common;

use common::{expected_shapes, logical_elements, population, stored};
use foxhunt_checkpoint::{apply, load_weights, save_weights};
use foxhunt_core::{Bf16, DType, Weights};
use foxhunt_nn::{Net, Runtime};
use safetensors::{Dtype, SafeTensors, tensor::TensorView};
use std::{fs, path::Path};

fn member_image(runtime: &Runtime, net: &Net, member: usize) -> Vec<f32> {
    let all = runtime.read(net.weight).unwrap();
    let per_member = all.len() / runtime.view(net.weight).members;
    all[member * per_member..][..per_member].to_vec()
}

fn file(runtime: &Runtime, net: &Net, member: usize, folder: &Path) -> Vec<u8> {
    let path = folder.join("weights.safetensors");
    save_weights(runtime, net, member, &path).unwrap();
    fs::read(path).unwrap()
}

#[test]
fn round_trips_are_bit_exact_and_leave_padding_and_other_members_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("w.safetensors");
    for dtype in DType::ALL {
        let (source, net) = population(dtype, &[4, 5, 6], 0.0);
        save_weights(&source, &net, 1, &path).unwrap();
        let (target, net) = population(dtype, &[7, 8, 9], 3.5);
        let before: Vec<_> = (0..3).map(|m| member_image(&target, &net, m)).collect();
        apply(&target, &net, 2, &load_weights(&path).unwrap()).unwrap();
        let mut expected = before[2].clone();
        let from = member_image(&source, &net, 1);
        for at in logical_elements(&net) {
            expected[at] = from[at];
        }
        assert!(member_image(&target, &net, 2) == expected);
        assert!(member_image(&target, &net, 0) == before[0] && member_image(&target, &net, 1) == before[1]);
    }
}

#[test]
fn bits_that_are_no_numbers_come_back_too() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("w.safetensors");
    let (runtime, net) = population(DType::Bf16, &[1], 0.0);
    let p = &net.params[0];
    let (rows, cols) = (p.spec.parts[0].rows, p.spec.cols);
    let bits: Vec<u16> = (0..rows * cols).map(|i| [0x7fc1, 0xffff, 0x7f80, 0x8000, 0x0001][i % 5]).collect();
    runtime.write_raw(p.weight, &bits).unwrap();
    save_weights(&runtime, &net, 0, &path).unwrap();
    let (other, net) = population(DType::Bf16, &[2], 0.0);
    apply(&other, &net, 0, &load_weights(&path).unwrap()).unwrap();
    assert_eq!(other.read_raw::<u16>(net.params[0].weight).unwrap(), bits);
}

#[test]
fn the_file_is_what_the_format_says() {
    let folder = tempfile::tempdir().unwrap();
    for (dtype, in_file) in [(DType::Bf16, Dtype::BF16), (DType::F32, Dtype::F32)] {
        let (runtime, net) = population(dtype, &[4], 0.0);
        let bytes = file(&runtime, &net, 0, folder.path());
        let tensors = SafeTensors::deserialize(&bytes).unwrap();
        let shapes = tensors.iter().map(|(name, t)| (name, t.shape().to_vec())).collect();
        assert_eq!(expected_shapes(), shapes);
        assert!(tensors.iter().all(|(_, t)| t.dtype() == in_file));
        let (_, metadata) = SafeTensors::read_metadata(&bytes).unwrap();
        let about = metadata.metadata().as_ref().unwrap();
        assert_eq!(about.get("foxhunt").unwrap(), r#"{"kind":"weights","version":1}"#);

        // To the byte what the crate would write: no other reader can stumble over it.
        let views: Vec<(&str, TensorView<'_>)> = tensors.iter().collect();
        assert!(safetensors::serialize(views, metadata.metadata().clone()).unwrap() == bytes);

        // Atoms of an action follow each other without the padding that they have in memory.
        let head = &net.params[6];
        let image = member_image(&runtime, &net, 0);
        let rows: Vec<f32> =
            head.part_elements(1).flat_map(|at| image[at..at + head.spec.cols].to_vec()).collect();
        let path = folder.path().join("weights.safetensors");
        assert!(load_weights(&path).unwrap().get("w_a2").unwrap().values() == rows);
    }
}

#[test]
fn bf16_files_are_half_the_size_and_files_convert_on_load() {
    let folder = tempfile::tempdir().unwrap();
    let (narrow, net) = population(DType::Bf16, &[4], 0.0);
    let (wide, _) = population(DType::F32, &[4], 0.0);
    let (narrow_path, wide_path) = (folder.path().join("n"), folder.path().join("w"));
    save_weights(&narrow, &net, 0, &narrow_path).unwrap();
    save_weights(&wide, &net, 0, &wide_path).unwrap();
    let size = |p: &Path| fs::metadata(p).unwrap().len() as usize;
    let data = net.parameter_count() * 2;
    assert!((data..data + 2048).contains(&size(&narrow_path)));
    assert!((2 * data..2 * data + 2048).contains(&size(&wide_path)));

    let (a, b) = (member_image(&narrow, &net, 0), member_image(&wide, &net, 0));
    let (to_narrow, net) = population(DType::Bf16, &[9], 0.0);
    apply(&to_narrow, &net, 0, &load_weights(&wide_path).unwrap()).unwrap();
    let rounded: Vec<f32> = b.iter().map(|x| Bf16::from_f32(*x).to_f32()).collect();
    assert!(member_image(&to_narrow, &net, 0) == rounded, "to nearest");
    let (to_wide, net) = population(DType::F32, &[9], 0.0);
    apply(&to_wide, &net, 0, &load_weights(&narrow_path).unwrap()).unwrap();
    assert!(member_image(&to_wide, &net, 0) == a, "exactly");
}

fn values(runtime: &Runtime, net: &Net) -> Vec<f32> {
    let all = runtime.read_pair(net.weight, net.low.map(|low| low.weight)).unwrap();
    logical_elements(net).into_iter().map(|at| all[at]).collect()
}

/// What earlier programs wrote of pairs: the low words beside the high ones, in version 2.
fn version_2(pair: &Runtime, net: &Net, folder: &Path) -> Vec<u8> {
    let high = file(pair, net, 0, folder);
    let (words, words_net) = stored(DType::Bf16, Weights::Plain, &[0], 0.0);
    words.write_bytes(words_net.weight, &pair.read_bytes(net.low.unwrap().weight).unwrap()).unwrap();
    let low = file(&words, &words_net, 0, folder);
    let [high, low] = [&high, &low].map(|bytes| SafeTensors::deserialize(bytes).unwrap());
    let highs = high.iter().map(|(name, t)| (name.to_owned(), t));
    let lows = low.iter().map(|(name, t)| (format!("{name}.lo"), t));
    let about = ("foxhunt".to_owned(), r#"{"kind":"weights","version":2}"#.to_owned());
    safetensors::serialize(highs.chain(lows), Some([about].into_iter().collect())).unwrap()
}

#[test]
fn of_pairs_the_high_words_are_kept_and_files_of_both_words_are_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let fresh = |dtype, weights, id| stored(dtype, weights, &[id], 0.0);
    let load = |runtime: &Runtime, net: &Net, name: &str| {
        apply(runtime, net, 0, &load_weights(&path(name)).unwrap()).unwrap();
    };
    let (pair, net) = fresh(DType::Bf16, Weights::Paired, 4);
    let low = net.low.unwrap();
    assert!(pair.read(low.weight).unwrap().iter().filter(|x| **x != 0.0).count() > 1000);
    save_weights(&pair, &net, 0, &path("pair")).unwrap();
    fs::write(path("both"), version_2(&pair, &net, folder.path())).unwrap();

    // The file is that of a plan in one word which holds the high words, to the byte.
    let (plain, plain_net) = fresh(DType::Bf16, Weights::Plain, 6);
    load(&plain, &plain_net, "pair");
    let highs = pair.read_bytes(net.weight).unwrap();
    assert_eq!(plain.read_bytes(plain_net.weight).unwrap(), highs);
    assert!(file(&plain, &plain_net, 0, folder.path()) == fs::read(path("pair")).unwrap());

    // Into a pair with other contents: the high word and low word 0; of both words every bit.
    let (other, net) = fresh(DType::Bf16, Weights::Paired, 5);
    load(&other, &net, "pair");
    assert_eq!(other.read_bytes(net.weight).unwrap(), highs);
    assert!(other.read(low.weight).unwrap().iter().all(|x| *x == 0.0));
    load(&other, &net, "both");
    for t in [net.weight, low.weight] {
        assert_eq!(other.read_bytes(t).unwrap(), pair.read_bytes(t).unwrap());
    }

    // Into F32 as the high word, of both words as the sum; into one word as the high word.
    let (wide, wide_net) = fresh(DType::F32, Weights::Plain, 6);
    load(&wide, &wide_net, "pair");
    assert!(values(&wide, &wide_net) == values(&plain, &plain_net));
    load(&wide, &wide_net, "both");
    assert!(values(&wide, &wide_net) == values(&pair, &net));
    let (plain, plain_net) = fresh(DType::Bf16, Weights::Plain, 7);
    load(&plain, &plain_net, "both");
    assert_eq!(plain.read_bytes(plain_net.weight).unwrap(), highs);

    // From F32: to nearest, and the remainder to nearest, so that the sum is what F32 had to 16 bits and more.
    let (wide, wide_net) = fresh(DType::F32, Weights::Plain, 7);
    save_weights(&wide, &wide_net, 0, &path("wide")).unwrap();
    load(&other, &net, "wide");
    let (highs, lows) = (member_image(&other, &net, 0), other.read(low.weight).unwrap());
    for (at, x) in logical_elements(&net).into_iter().zip(values(&wide, &wide_net)) {
        let (high, low) = Bf16::split(x);
        assert_eq!((highs[at], lows[at]), (high.to_f32(), low.to_f32()));
        assert!((highs[at] + lows[at] - x).abs() <= x.abs() * 2_f32.powi(-16));
    }
}

#[test]
fn a_file_depends_on_its_member_alone() {
    let folder = tempfile::tempdir().unwrap();
    for dtype in DType::ALL {
        let (all, net) = population(dtype, &[1, 2, 3, 4], 0.0);
        // Fewer members, in another order, with other padding.
        let (some, _) = population(dtype, &[4, 2], -7.0);
        assert!(file(&all, &net, 3, folder.path()) == file(&some, &net, 0, folder.path()));
        assert!(file(&all, &net, 1, folder.path()) == file(&some, &net, 1, folder.path()));
        assert!(file(&all, &net, 0, folder.path()) != file(&all, &net, 1, folder.path()));
    }
}

/// Writes a file of weights with other tensors or metadata.
fn rewrite(
    path: &Path,
    about: &str,
    edit: impl Fn(&str, Vec<usize>) -> Option<(String, Vec<usize>)>,
    extra: &[&str],
) -> Vec<u8> {
    let bytes = fs::read(path).unwrap();
    let tensors = SafeTensors::deserialize(&bytes).unwrap();
    let zeros = [0; 8];
    let mut views: Vec<(String, TensorView<'_>)> = tensors
        .iter()
        .filter_map(|(name, t)| {
            let (name, shape) = edit(name, t.shape().to_vec())?;
            Some((name, TensorView::new(t.dtype(), shape, t.data()).unwrap()))
        })
        .collect();
    for name in extra {
        views.push(((*name).to_owned(), TensorView::new(Dtype::BF16, vec![4], &zeros).unwrap()));
    }
    safetensors::serialize(views, Some([("foxhunt".to_owned(), about.to_owned())].into_iter().collect()))
        .unwrap()
}

#[test]
fn what_does_not_fit_is_refused_with_its_name() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("mine.safetensors");
    let (runtime, net) = population(DType::Bf16, &[1], 0.0);
    save_weights(&runtime, &net, 0, &path).unwrap();
    let good = r#"{"kind":"weights","version":1}"#;
    let paired = r#"{"kind":"weights","version":2}"#;
    let keep = |name: &str, shape: Vec<usize>| Some((name.to_owned(), shape));
    let flat = |name: &str, shape: Vec<usize>| {
        Some((name.to_owned(), if name == "w_a2" { vec![shape.iter().product()] } else { shape }))
    };
    let without = |name: &str, shape: Vec<usize>| (name != "b_v1").then(|| (name.to_owned(), shape));
    let cases: Vec<(Vec<u8>, &[&str])> = vec![
        (rewrite(&path, good, flat, &[]), &["w_a2", "expected [33, 32]", "found [1056]"]),
        (rewrite(&path, good, without, &[]), &["b_v1", "expected [32]", "found no tensor of this name"]),
        (
            rewrite(&path, good, keep, &["w_b21"]),
            &["w_b21", "only the parts of net q", "an unknown tensor [4]"],
        ),
        (rewrite(&path, good, keep, &["w_s1.lo"]), &["w_s1.lo", "the low words of pairs"]),
        (
            rewrite(&path, r#"{"kind":"weights","version":3}"#, keep, &[]),
            &["kind \"weights\" version 1 to 2", "version 3", "use the foxhunt that wrote it"],
        ),
        // Version 2 promises a low word beside every part.
        (rewrite(&path, paired, keep, &[]), &["w_s1.lo", "[24, 5]", "no tensor of this name"]),
        (rewrite(&path, paired, keep, &["w_s1.lo"]), &["w_s1.lo", "[24, 5]", "found [4]"]),
        (rewrite(&path, r#"{"kind":"state","version":1}"#, keep, &[]), &["found kind \"state\""]),
        (rewrite(&path, "7", keep, &[]), &["without foxhunt's metadata"]),
        (b"PK".to_vec(), &["2 bytes are no safetensors file"]),
    ];
    let before = member_image(&runtime, &net, 0);
    for (bytes, needles) in cases {
        fs::write(&path, bytes).unwrap();
        let result = load_weights(&path).and_then(|w| apply(&runtime, &net, 0, &w));
        let text = result.unwrap_err().to_string();
        for needle in needles.iter().chain(&["mine.safetensors"]) {
            assert!(text.contains(needle), "{needle} in {text}");
        }
    }
    assert!(member_image(&runtime, &net, 0) == before, "nothing is written then");
    let text = load_weights(&folder.path().join("none")).unwrap_err().to_string();
    assert!(text.contains("none") && text.contains("check the path"), "{text}");
    let text = save_weights(&runtime, &net, 1, &path).unwrap_err().to_string();
    assert!(text.contains("member called '1'"), "{text}");
    assert!(!folder.path().join("mine.safetensors.tmp").exists());
}
