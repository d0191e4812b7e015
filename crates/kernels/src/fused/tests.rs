//! The launchers of the fused step, without a GPU: what they refuse, what they hand to the device.

use super::{
    DqnKernels, DqnNet, DqnRows, DqnShape, DqnWeights, GRADIENT_COLUMNS, Kept, dqn_mean,
    dqn_mma_rows::block_rows, mean_rows, weight_partials,
};
use crate::{
    Element, TREE, View,
    loss::{HeadShape, LossTotal, Outcome},
};
use foxhunt_core::DType;
use foxhunt_device::{Command, Device, Isa, Launch, Program, TENSOR_MAP_BYTES};

const REAL: Element = Element::Real(DType::Bf16);

fn shape(inputs: usize, trunk: [usize; 2], stream: usize, actions: &[usize], atoms: usize) -> DqnShape {
    let head = HeadShape { actions: actions.to_vec(), atoms, v_min: -10.0, v_max: 10.0 };
    DqnShape { inputs, trunk, stream, head }
}

fn small() -> DqnShape {
    shape(64, [128, 128], 64, &[9, 3, 3], 51)
}

/// Every buffer of a step, at addresses of its own.
struct Buffers {
    views: Vec<View>,
    members: usize,
    next: u64,
}

const NET: [&str; 8] = ["w1", "w2", "w3", "head", "b1", "b2", "b3", "b_head"];
const LAYERS: [&str; 6] = ["h1", "h2", "h3", "d1", "d2", "d3"];

impl Buffers {
    fn new(s: &DqnShape, batch: usize, members: usize) -> Self {
        let mut out = Buffers { views: Vec::new(), members, next: 1 << 20 };
        let ([m1, m2], streams, head) = (s.trunk, s.streams(), &s.head);
        for net in ["online", "target", "gradient"] {
            let rows = [m1, m2, streams * s.stream, head.logit_columns(), 1, 1, streams, head.units()];
            let cols = [s.inputs, m1, m2, s.stream, m1, m2, s.stream, head.atoms];
            for ((name, rows), cols) in NET.into_iter().zip(rows).zip(cols) {
                out.add(&format!("{net}.{name}"), REAL, rows, cols);
            }
        }
        out.add("mean", REAL, mean_rows(head), s.stream);
        out.add("x", REAL, 2 * batch, s.inputs);
        out.add("actions", Element::U8, batch, head.actions.len());
        out.add("outcome", Element::of::<Outcome>(), batch, 1);
        out.add("kept_x", REAL, batch, s.inputs);
        out.add("kept_actions", Element::U8, batch, head.actions.len());
        for (name, cols) in LAYERS.into_iter().zip([m1, m2, streams * s.stream].repeat(2)) {
            out.add(name, REAL, batch, cols);
        }
        out.add("g", REAL, batch, streams * GRADIENT_COLUMNS);
        out.add("row_loss", REAL, 1, batch);
        out.add("total", Element::of::<LossTotal>(), 1, 1);
        out.add("norm", Element::U64, 1, weight_partials(s, batch));
        out.add("mma_norm", Element::U64, 1, DqnKernels::Mma.partials(s, batch));
        out
    }

    fn add(&mut self, name: &str, element: Element, rows: usize, cols: usize) {
        let ld = if element == REAL { cols.next_multiple_of(8) } else { cols };
        self.views.push(View {
            name: name.into(),
            addr: self.next,
            element,
            rows,
            cols,
            ld,
            members: self.members,
            member_stride: rows * ld,
        });
        self.next += ((self.members * rows * ld * element.bytes()) as u64).next_multiple_of(256);
    }

    fn at(&self, name: &str) -> &View {
        self.views.iter().find(|v| v.name == name).unwrap()
    }

    fn change(mut self, name: &str, how: impl Fn(&mut View)) -> Self {
        how(self.views.iter_mut().find(|v| v.name == name).unwrap());
        self
    }

    fn net(&self, net: &str) -> DqnNet<'_> {
        let [w1, w2, w3, head, b1, b2, b3, b_head] = NET.map(|name| self.at(&format!("{net}.{name}")));
        DqnNet { weights: [w1, w2, w3, head], biases: [b1, b2, b3, b_head] }
    }

    fn kept(&self) -> Kept<'_> {
        Kept { x: self.at("kept_x"), actions: self.at("kept_actions") }
    }

    fn rows(&self, s: &DqnShape) -> Result<Launch, String> {
        self.rows_by(DqnKernels::Hopper, s)
    }

    fn mma_rows(&self, s: &DqnShape) -> Result<Launch, String> {
        self.rows_by(DqnKernels::Mma, s)
    }

    fn rows_by(&self, kernels: DqnKernels, s: &DqnShape) -> Result<Launch, String> {
        let [h1, h2, h3, d1, d2, d3] = LAYERS.map(|name| self.at(name));
        let x = DqnRows {
            online: self.net("online"),
            target: self.net("target"),
            mean: self.at("mean"),
            x: self.at("x"),
            actions: self.at("actions"),
            outcome: self.at("outcome"),
            kept: self.kept(),
            activations: [h1, h2, h3],
            gradients: [d1, d2, d3],
            head_gradient: self.at("g"),
            row_loss: self.at("row_loss"),
            total: self.at("total"),
            mixture: true,
            trunk_scale: 0.25,
        };
        kernels.rows(DType::Bf16, self.members, s, &x).map_err(|e| e.to_string())
    }

    fn weights(&self, s: &DqnShape) -> Result<Launch, String> {
        self.weights_by(DqnKernels::Hopper, "norm", s)
    }

    fn mma_weights(&self, s: &DqnShape) -> Result<Launch, String> {
        self.weights_by(DqnKernels::Mma, "mma_norm", s)
    }

    fn weights_by(&self, kernels: DqnKernels, norm: &str, s: &DqnShape) -> Result<Launch, String> {
        let [h1, h2, h3, d1, d2, d3] = LAYERS.map(|name| self.at(name));
        let x = DqnWeights {
            kept: self.kept(),
            activations: [h1, h2, h3],
            gradients: [d1, d2, d3],
            head_gradient: self.at("g"),
            net: self.net("gradient"),
            norm: self.at(norm),
        };
        kernels.weights(DType::Bf16, self.members, s, &x).map_err(|e| e.to_string())
    }

    fn mean(&self, s: &DqnShape) -> Result<Launch, String> {
        let nets = [self.at("online.head"), self.at("target.head")];
        dqn_mean(DType::Bf16, self.members, &s.head, nets, self.at("mean")).map_err(|e| e.to_string())
    }
}

type Launcher = fn(&Buffers, &DqnShape) -> Result<Launch, String>;

/// Buffers of each launcher that it reads, and those that it writes.
fn launchers() -> [(&'static str, Launcher, Vec<String>, Vec<String>); 5] {
    let net = |net: &str| NET.map(|name| format!("{net}.{name}")).to_vec();
    let names = |all: &[&str]| all.iter().map(|s| (*s).to_owned()).collect::<Vec<_>>();
    let mut rows = [net("online"), net("target")].concat();
    rows.extend(names(&["mean", "x", "actions", "outcome"]));
    let weights = names(&["kept_x", "kept_actions", "h1", "h2", "h3", "d1", "d2", "d3", "g"]);
    let written = |norm: &str| [net("gradient"), vec![norm.into()]].concat();
    let left =
        names(&["kept_x", "kept_actions", "h1", "h2", "h3", "d1", "d2", "d3", "g", "row_loss", "total"]);
    [
        ("dqn_rows", Buffers::rows, rows.clone(), left.clone()),
        ("dqn_weights", Buffers::weights, weights.clone(), written("norm")),
        ("dqn_mma_rows", Buffers::mma_rows, rows, left),
        ("dqn_mma_weights", Buffers::mma_weights, weights, written("mma_norm")),
        ("dqn_mean", Buffers::mean, names(&["online.head", "target.head"]), names(&["mean"])),
    ]
}

#[test]
fn sizes_that_the_kernels_are_written_for() {
    let ok = small();
    for fits in [
        ok.clone(),
        shape(256, [512, 256], 128, &[9, 3, 3], 51),
        shape(192, [192, 128], 64, &[2], 16),
        shape(64, [64, 256], 64, &[5, 16], 64),
        shape(64, [128, 128], 64, &[1, 1, 1], 2),
        // As many units as there is room for their biases.
        shape(256, [512, 256], 128, &[9, 9, 10], 64),
    ] {
        assert!(fits.fits(), "{fits:?}");
    }
    for (what, no) in [
        ("no inputs", DqnShape { inputs: 0, ..ok.clone() }),
        ("inputs beside blocks of 64", DqnShape { inputs: 96, ..ok.clone() }),
        ("too many inputs", DqnShape { inputs: 320, ..ok.clone() }),
        ("no first layer", DqnShape { trunk: [0, 128], ..ok.clone() }),
        ("a first layer beside blocks", DqnShape { trunk: [100, 128], ..ok.clone() }),
        ("a first layer too wide", DqnShape { trunk: [576, 128], ..ok.clone() }),
        ("a second layer of one block", DqnShape { trunk: [128, 64], ..ok.clone() }),
        ("a second layer of three halves", DqnShape { trunk: [128, 192], ..ok.clone() }),
        ("a second layer too wide", DqnShape { trunk: [128, 512], ..ok.clone() }),
        ("streams too narrow", DqnShape { stream: 32, ..ok.clone() }),
        ("streams of another width", DqnShape { stream: 96, ..ok.clone() }),
        ("streams above half of the trunk", DqnShape { stream: 128, ..ok.clone() }),
        ("no branch", shape(64, [128, 128], 64, &[], 51)),
        ("four branches", shape(64, [128, 128], 64, &[2, 2, 2, 2], 51)),
        ("a branch of none", shape(64, [128, 128], 64, &[3, 0], 51)),
        ("a branch of seventeen", shape(64, [128, 128], 64, &[17], 51)),
        ("one atom", shape(64, [128, 128], 64, &[3], 1)),
        ("65 atoms", shape(64, [128, 128], 64, &[3], 65)),
        ("more units than fit beside the rest", shape(64, [128, 128], 64, &[16, 16, 16], 64)),
    ] {
        assert!(!no.fits(), "{what}");
        let buffers = Buffers::new(&ok, 8, 1);
        for (name, launch, ..) in &launchers()[..4] {
            let error = launch(&buffers, &no).unwrap_err();
            assert!(error.starts_with(&format!("kernel {name}: ")), "{what}: {error}");
        }
    }
    let mut backwards = ok.clone();
    (backwards.head.v_min, backwards.head.v_max) = (1.0, -1.0);
    for (_, launch, ..) in launchers() {
        let error = launch(&Buffers::new(&ok, 8, 1), &backwards).unwrap_err();
        assert!(error.contains("support from 1 to -1"), "{error}");
    }
}

#[test]
fn what_fits_is_launched() {
    for s in [small(), shape(256, [512, 256], 128, &[9, 3, 3], 51), shape(192, [192, 128], 64, &[2], 16)] {
        for (batch, members) in [(1, 1), (197, 3), (1024, 9)] {
            let buffers = Buffers::new(&s, batch, members);
            for (name, launch, ..) in launchers() {
                let launch = launch(&buffers, &s).unwrap();
                assert_eq!((launch.kernel.name, launch.members), (name, members as u32));
                assert!(launch.teams > 0);
            }
        }
    }
}

#[test]
fn other_shapes_and_elements_are_refused() {
    let s = small();
    for (name, launch, reads, writes) in launchers() {
        for buffer in reads.iter().chain(&writes) {
            for (how, change) in [
                ("rows", (|v: &mut View| v.rows += 1) as fn(&mut View)),
                ("columns", |v| {
                    v.cols += 8;
                    v.ld += 8;
                }),
                ("element", |v| v.element = if v.element == REAL { Element::Real(DType::F32) } else { REAL }),
                ("members", |v| v.members = 5),
                ("ld", |v| v.ld = v.cols - 1),
            ] {
                let buffers = Buffers::new(&s, 40, 3).change(buffer, change);
                let error = launch(&buffers, &s).expect_err(&format!("{name}: {how} of {buffer}"));
                assert!(error.starts_with(&format!("kernel {name}: ")), "{error}");
            }
            // Rows that a tensor copy or a pack can't begin at.
            let real = Buffers::new(&s, 40, 3).at(buffer).element == REAL;
            if real {
                let buffers = Buffers::new(&s, 40, 3).change(buffer, |v| v.addr += 2);
                assert!(
                    launch(&buffers, &s).unwrap_err().contains("aligned to 16 bytes"),
                    "{name}: {buffer}"
                );
            }
        }
    }
}

#[test]
fn a_shared_result_is_refused_and_so_is_a_shared_matrix_of_a_map() {
    let s = small();
    let share = |v: &mut View| (v.members, v.member_stride) = (1, 0);
    for (name, launch, reads, writes) in launchers() {
        for buffer in &writes {
            launch(&Buffers::new(&s, 40, 1).change(buffer, share), &s).unwrap();
            let error = launch(&Buffers::new(&s, 40, 3).change(buffer, share), &s)
                .expect_err(&format!("{name}: {buffer}"));
            assert!(error.contains("shared"), "{error}");
        }
        for buffer in &reads {
            let launch = launch(&Buffers::new(&s, 40, 3).change(buffer, share), &s);
            let view = Buffers::new(&s, 40, 3).at(buffer).clone();
            let mapped =
                ["dqn_rows", "dqn_weights"].contains(&name) && view.element == REAL && !buffer.contains(".b");
            assert_eq!(launch.is_err(), mapped, "{name}: {buffer}");
        }
    }
}

/// The maps of a launch in order, with the buffer that each is of.
fn check_maps(launch: &Launch, buffers: &Buffers, want: &[&str]) {
    assert_eq!(launch.maps.len(), want.len());
    for (slot, (map, name)) in launch.maps.iter().zip(want).enumerate() {
        let v = buffers.at(name);
        assert_eq!(map.at, slot * TENSOR_MAP_BYTES, "{name}");
        assert_eq!(map.addr, v.addr, "{name}");
        assert_eq!(map.sizes, [v.cols as u64, v.rows as u64, buffers.members as u64], "{name}");
        assert_eq!(map.strides, [2 * v.ld as u64, 2 * (v.rows * v.ld) as u64], "{name}");
        assert!(map.addr % 16 == 0 && map.strides.iter().all(|s| s % 16 == 0));
        let last = (map.sizes[2] - 1) * map.strides[1] + map.sizes[1] * map.strides[0];
        assert!(last <= v.region().bytes as u64, "{name} ends within its buffer");
        // Empty until the device fills them.
        assert!(launch.args[map.at..map.at + TENSOR_MAP_BYTES].iter().all(|b| *b == 0));
    }
}

#[test]
fn tensor_maps_are_of_the_right_matrices() {
    for s in [small(), shape(256, [512, 256], 128, &[9, 3, 3], 51)] {
        for (batch, members) in [(1, 1), (200, 1), (200, 3)] {
            let buffers = Buffers::new(&s, batch, members);
            let nets =
                ["online", "target"].map(|net| ["w1", "w2", "w3", "head"].map(|w| format!("{net}.{w}")));
            let mut want: Vec<&str> = nets.iter().flatten().map(String::as_str).collect();
            want.extend(["x", "mean", "kept_x"].into_iter().chain(LAYERS));
            check_maps(&buffers.rows(&s).unwrap(), &buffers, &want);
            let want: Vec<&str> = ["kept_x"].into_iter().chain(LAYERS).chain(["g"]).collect();
            check_maps(&buffers.weights(&s).unwrap(), &buffers, &want);
        }
    }
    // A member alone whose buffer has no stride: the driver wants one.
    let buffers = Buffers::new(&small(), 40, 1).change("x", |v| v.member_stride = 0);
    let maps = buffers.rows(&small()).unwrap().maps;
    assert_eq!(maps[8].strides[1], 2 * 80 * 64);
}

#[test]
fn arguments_lie_where_the_kernel_has_them() {
    let s = small();
    let buffers = Buffers::new(&s, 200, 3);
    let word = |launch: &Launch, at: usize| u64::from_le_bytes(launch.args[at..at + 8].try_into().unwrap());
    let rows = buffers.rows(&s).unwrap();
    let of = |at: usize, name: &str| {
        assert_eq!(word(&rows, at), buffers.at(name).addr, "{name}");
        assert_eq!(word(&rows, at + 8), buffers.at(name).member_stride as u64, "{name}");
    };
    let mut at = 17 * TENSOR_MAP_BYTES;
    let biases = ["online", "target"].map(|net| ["b1", "b2", "b3", "b_head"].map(|b| format!("{net}.{b}")));
    let others = ["actions", "kept_actions", "outcome", "g", "row_loss", "total"];
    for name in biases.iter().flatten().map(String::as_str).chain(others) {
        of(at, name);
        at += 16;
    }
    let tail: [i32; 4] = bytemuck::pod_read_unaligned(&rows.args[at..at + 16]);
    assert_eq!(tail, [200, 3, 256, 1], "rows, ld of the actions and of g, mixture");
    let scales: [f32; 4] = bytemuck::pod_read_unaligned(&rows.args[at + 16..at + 32]);
    assert_eq!(scales, [1.0 / 600.0, 0.25, -10.0, 2.5]);
    assert!(rows.args.len().is_multiple_of(64), "the struct is as aligned as its maps");
    assert!(buffers.weights(&s).unwrap().args.len().is_multiple_of(64));
}

#[test]
fn defines_are_the_network_and_how_it_is_spread() {
    let s = shape(192, [192, 128], 64, &[2, 7], 16);
    let of = |launch: &Launch, name: &str| launch.defines.iter().find(|(n, _)| *n == name).unwrap().1;
    let spread = |batch: usize, members: usize, s: &DqnShape| {
        let buffers = Buffers::new(s, batch, members);
        let (rows, weights) = (buffers.rows(s).unwrap(), buffers.weights(s).unwrap());
        let (groups, roles) = (of(&rows, "DQN_GROUPS"), of(&rows, "DQN_ROLES"));
        let tiles = batch.div_ceil(64) as u32;
        assert_eq!(rows.teams, tiles.div_ceil(groups) * roles);
        assert!(groups == 1 || roles == 1, "two groups share no passes");
        assert_eq!(weights.teams % of(&weights, "DQN_SPLIT"), 0, "clusters are whole");
        let parts = of(&weights, "DQN_PARTS") as usize;
        assert!(weights.teams as usize * parts >= weight_partials(s, batch), "each partial norm is a part's");
        (groups, roles, of(&weights, "DQN_SPLIT"))
    };
    assert_eq!(spread(1, 1, &s), (1, 5, 1));
    assert_eq!(spread(512, 1, &s), (1, 5, 1));
    assert_eq!(spread(64 * 33, 1, &s), (1, 3, 8));
    assert_eq!(spread(64 * 66, 1, &s), (1, 2, 8));
    assert_eq!(spread(64 * 132, 1, &s), (1, 1, 8));
    assert_eq!(spread(64 * 133, 1, &s), (2, 1, 8));
    assert_eq!(spread(512, 17, &s), (2, 1, 1));
    let one = shape(64, [128, 128], 64, &[4], 51);
    assert_eq!(spread(64, 1, &one), (1, 3, 1), "one branch can't be shared by two blocks");
    let launch = Buffers::new(&s, 8, 1).rows(&s).unwrap();
    let defines: Vec<u32> = launch.defines.iter().take(9).map(|(_, n)| *n).collect();
    assert_eq!(defines, [192, 192, 128, 64, 2, 2, 7, 1, 16]);
}

#[test]
fn arguments_in_products_of_warps_lie_where_the_kernel_has_them() {
    let s = small();
    let mut buffers = Buffers::new(&s, 200, 3);
    // Another number of columns from row to row of every layer, as the kernel is told.
    let padded = ["x", "kept_x", "h1", "h2", "h3", "d1", "d2", "d3", "g"];
    for (i, name) in padded.iter().enumerate() {
        buffers = buffers.change(name, |v| {
            v.ld += 8 * (i + 1);
            v.member_stride = v.rows * v.ld;
        });
    }
    let lds = padded.map(|name| buffers.at(name).ld as i32);
    let rows = buffers.mma_rows(&s).unwrap();
    let ints: [i32; 15] = bytemuck::pod_read_unaligned(&rows.args[(16 + 15) * 16..][..60]);
    let [x, kept, h1, h2, h3, d1, d2, d3, g] = lds;
    assert_eq!(ints, [200, x, kept, 64, 128, 128, h1, h2, h3, d1, d2, d3, g, 3, 1]);
    let scales: [f32; 4] = bytemuck::pod_read_unaligned(&rows.args[(16 + 15) * 16 + 60..][..16]);
    assert_eq!(scales, [1.0 / 600.0, 0.25, -10.0, 2.5]);
    let weights = buffers.mma_weights(&s).unwrap();
    let ints: [i32; 14] = bytemuck::pod_read_unaligned(&weights.args[18 * 16..][..56]);
    assert_eq!(ints, [200, 3, kept, h1, h2, h3, d1, d2, d3, g, 64, 128, 128, 64]);
    let word = |launch: &Launch, at: usize| u64::from_le_bytes(launch.args[at..at + 8].try_into().unwrap());
    let nets = ["w1", "w2", "w3", "head", "b1", "b2", "b3", "b_head"];
    for (i, name) in
        ["online", "target"].iter().flat_map(|net| nets.map(|w| format!("{net}.{w}"))).enumerate()
    {
        assert_eq!(word(&rows, 16 * i), buffers.at(&name).addr, "{name}");
    }
    let layers = ["kept_x", "h1", "h2", "h3", "d1", "d2", "d3", "g"];
    let others = ["row_loss", "actions", "kept_actions", "outcome", "total"];
    for (i, name) in ["x", "mean"].iter().chain(&layers).chain(&others).enumerate() {
        assert_eq!(word(&rows, 16 * (16 + i)), buffers.at(name).addr, "{name}");
    }
    let written = nets.map(|w| format!("gradient.{w}"));
    let all = layers.iter().chain(&["kept_actions"]).map(|name| (*name).to_owned()).collect::<Vec<_>>();
    for (i, name) in all.iter().chain(&written).chain(&["mma_norm".to_owned()]).enumerate() {
        assert_eq!(word(&weights, 16 * i), buffers.at(name).addr, "{name}");
    }
}

#[test]
fn rows_of_a_block_fill_the_machine() {
    let of = |batch, members| [DType::Bf16, DType::F32].map(|dtype| block_rows(dtype, batch, members));
    assert_eq!(of(1, 1), [16, 16]);
    assert_eq!(of(512, 1), [16, 16]);
    assert_eq!(of(4096, 1), [32, 32]);
    assert_eq!(of(16_384, 1), [64, 32]);
    assert_eq!(of(512, 32), [64, 32]);
}

/// A block has few parts where multiprocessors are left over.
#[test]
fn parts_of_a_block_follow_from_the_work() {
    let s = shape(128, [256, 256], 128, &[9, 3, 3], 51);
    for (batch, members, parts) in
        [(1, 1, 1), (512, 2, 1), (512, 3, 2), (1024, 1, 1), (1024, 2, 2), (4096, 1, 4)]
    {
        let launch = Buffers::new(&s, batch, members).weights(&s).unwrap();
        let define = |name: &str| launch.defines.iter().find(|(n, _)| *n == name).unwrap().1;
        assert_eq!(define("DQN_PARTS"), parts, "batch {batch} of {members}");
    }
}

#[test]
fn partial_norms_follow_from_the_sizes() {
    let s = shape(128, [256, 256], 128, &[9, 3, 3], 51);
    // Tiles of 64 by 128: 4x1 + 4x2 + 8x2; units: V, 9, 3 and 3.
    let parts = 4 + 8 + 16 + 16;
    for (batch, partials) in [
        (1, parts),
        (960, parts),
        (961, 2 * parts),
        (1984, 2 * parts),
        (1985, 8 * parts),
        (16_384, 8 * parts),
    ] {
        assert_eq!(weight_partials(&s, batch), partials, "{batch}");
    }
    // Halves of tiles count whole.
    assert_eq!(weight_partials(&shape(64, [64, 128], 64, &[1, 2], 2), 64), 1 + 2 + 3 + (1 + 1 + 2));
    // The most that there is: the optimiser adds up to 1024.
    let largest = shape(256, [512, 256], 128, &[16, 16, 15], 39);
    assert!(weight_partials(&largest, 1 << 20) <= 1024);
    // Tiles of 64 by 64, and two of a unit.
    assert_eq!(DqnKernels::Mma.partials(&s, 1), 4 * 2 + 4 * 4 + 8 * 4 + 16 * 2);
    assert!(DqnKernels::Mma.partials(&largest, 1 << 20) <= 1024);
}

#[test]
fn a_cpu_says_that_it_has_no_such_kernel() {
    let s = small();
    let buffers = Buffers::new(&s, 8, 1);
    let launches = [Buffers::rows, Buffers::weights, Buffers::mma_rows, Buffers::mma_weights];
    for launch in launches.map(|make| make(&buffers, &s).unwrap()) {
        let name = launch.kernel.name;
        assert!(launch.kernel.host.is_empty());
        for device in [Isa::Base, Isa::Reversed].map(Device::cpu_with) {
            let error =
                Program::compile(&device, &TREE, vec![Command::Launch(launch.clone())]).err().unwrap();
            let text = error.to_string();
            assert!(text.contains(name) && text.contains("one kind of GPU"), "{text}");
        }
    }
}
