//! The parameters of a network as one linear image, and its twins: target, moments, gradient.
//!
//! The image decides where a parameter lies; what a parameter *is* does not depend on it. Checkpoints and random
//! counters speak of logical elements (part, row, column), through [`PackId`]s and [`NetParam::part_elements`].

use super::{MemoryPurpose, Place, Plan, Tensor, TensorInfo, leading_dimension};
use foxhunt_core::{
    DType, Rounding, Weights,
    rng::{Purpose, draw},
};
use foxhunt_kernels::{
    Element,
    optim::{IMAGE_COLUMNS, PackId},
};

/// How a parameter starts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Init {
    /// Uniform in ±1/sqrt(fan_in): what `torch.nn.Linear` uses for weights and biases.
    Uniform {
        /// Inputs of the layer.
        fan_in: usize,
    },
    /// A constant: 1 for a gain, 0 for a bias.
    Constant(f32),
}

/// A run of rows of a parameter that has a name of its own in checkpoints.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParamPart {
    /// Name in checkpoints and number in random counters follow from it: `w_a1`.
    pub name: String,
    /// Rows.
    pub rows: usize,
}

/// A parameter to be laid out. Rows in memory are groups of `group` logical rows padded to `group_ld`: the atoms of a
/// distribution. `group == group_ld` where nothing is padded.
#[derive(Clone, Debug, PartialEq)]
pub struct ParamSpec {
    /// Its name in the plan.
    pub name: String,
    /// Its parts, in order of rows.
    pub parts: Vec<ParamPart>,
    /// Columns.
    pub cols: usize,
    /// Elements from one row to the next, where the padding of other tensors won't do.
    pub ld: Option<usize>,
    /// Logical rows of a group.
    pub group: usize,
    /// Rows of a group in memory.
    pub group_ld: usize,
    /// How it starts.
    pub init: Init,
    /// Whether weight decay applies.
    pub decays: bool,
}

impl ParamSpec {
    /// A plain matrix `[rows, cols]` with one part of the same name.
    pub fn matrix(name: &str, rows: usize, cols: usize, init: Init) -> Self {
        ParamSpec {
            name: name.to_owned(),
            parts: vec![ParamPart { name: name.to_owned(), rows }],
            cols,
            ld: None,
            group: 1,
            group_ld: 1,
            init,
            decays: true,
        }
    }

    /// A vector `[1, n]` that does not decay: a bias or a gain.
    pub fn vector(name: &str, n: usize, init: Init) -> Self {
        ParamSpec { decays: false, ..Self::matrix(name, 1, n, init) }
    }

    fn logical_rows(&self) -> usize {
        self.parts.iter().map(|p| p.rows).sum()
    }

    fn physical_rows(&self) -> usize {
        self.logical_rows() / self.group * self.group_ld
    }
}

/// A parameter of a net.
#[derive(Clone, Debug)]
pub struct NetParam {
    /// What it was laid out from.
    pub spec: ParamSpec,
    /// The weights: `[rows in memory, cols]`.
    pub weight: Tensor,
    /// The same place in the target image.
    pub target: Tensor,
    /// Elements from the start of the image.
    pub offset: usize,
    /// Elements from one row to the next.
    pub ld: usize,
    /// Number of the first part in random counters.
    pub first_tensor: u32,
}

impl NetParam {
    /// Row in memory of a logical row.
    fn physical_row(&self, row: usize) -> usize {
        row / self.spec.group * self.spec.group_ld + row % self.spec.group
    }

    /// Image elements of part `part`, row by row: the start of each row, `cols` elements each.
    pub fn part_elements(&self, part: usize) -> impl Iterator<Item = usize> + '_ {
        let first: usize = self.spec.parts[..part].iter().map(|p| p.rows).sum();
        (first..first + self.spec.parts[part].rows).map(|r| self.offset + self.physical_row(r) * self.ld)
    }
}

/// The low words of pairs: images of the same layout as those that hold the high words, which alone go into matrix
/// products. Only the optimiser reads them, and what saves them.
#[derive(Clone, Copy, Debug)]
pub struct LowWords {
    /// Of the weights.
    pub weight: Tensor,
    /// Of the EMA target.
    pub target: Tensor,
}

/// The images of a net. Each is `[tiles, 2048]` per member; a parameter is a matrix inside.
#[derive(Clone, Debug)]
pub struct Net {
    /// Name in the plan.
    pub name: String,
    /// Parameters, in order.
    pub params: Vec<NetParam>,
    /// Weights.
    pub weight: Tensor,
    /// EMA target.
    pub target: Tensor,
    /// First moment.
    pub m: Tensor,
    /// Second moment.
    pub v: Tensor,
    /// Gradient.
    pub gradient: Tensor,
    /// Low words, where weights and target are pairs: in BF16 alone.
    pub low: Option<LowWords>,
    /// How the optimiser rounds what it stores.
    pub rounding: Rounding,
    /// [`PackId`] of every pack of the image, shared by all members.
    pub ids: Tensor,
    /// Tiles of an image.
    pub tiles: usize,
}

impl Net {
    /// Logical parameters of one member.
    pub fn parameter_count(&self) -> usize {
        self.params.iter().map(|p| p.spec.logical_rows() * p.spec.cols).sum()
    }

    /// The contents of [`Net::ids`].
    pub fn pack_ids(&self) -> Vec<PackId> {
        let mut ids = vec![PackId::PADDING; self.tiles * IMAGE_COLUMNS / 8];
        for p in &self.params {
            let packs = p.spec.cols.div_ceil(8);
            for (part, _) in p.spec.parts.iter().enumerate() {
                let tensor = (p.first_tensor + part as u32) << 1 | u32::from(p.spec.decays);
                for (row, at) in p.part_elements(part).enumerate() {
                    for pack in 0..packs {
                        ids[at / 8 + pack] = PackId { tensor, element: (row * packs + pack) as u32 };
                    }
                }
            }
        }
        ids
    }

    /// One member's initial image in F32, from its key: a function of part and logical element alone.
    pub fn initial_image(&self, seed: u64) -> Vec<f32> {
        let mut image = vec![0.0; self.tiles * IMAGE_COLUMNS];
        for p in &self.params {
            for part in 0..p.spec.parts.len() {
                let tensor = p.first_tensor + part as u32;
                for (row, at) in p.part_elements(part).enumerate() {
                    for (col, x) in image[at..at + p.spec.cols].iter_mut().enumerate() {
                        let element = (row * p.spec.cols + col) as u32;
                        *x = match p.spec.init {
                            Init::Constant(c) => c,
                            Init::Uniform { fan_in } => {
                                let word = draw(seed, 0, tensor, Purpose::Initialise, element)[0];
                                let u = f64::from(word >> 8) / f64::from(1 << 24) + 0.5 / f64::from(1 << 24);
                                ((2.0 * u - 1.0) / (fan_in as f64).sqrt()) as f32
                            }
                        };
                    }
                }
            }
        }
        image
    }

    /// The parameter called `name` in the plan.
    pub fn param(&self, name: &str) -> Option<&NetParam> {
        self.params.iter().find(|p| p.spec.name == name)
    }
}

impl Plan {
    /// Lays out a net's parameters in linear images, stored as [`Plan::set_storage`] says.
    pub fn net(&mut self, name: &str, specs: Vec<ParamSpec>) -> Net {
        let mut offset = 0;
        let mut next_tensor =
            self.nets.iter().flat_map(|n| &n.params).map(|p| p.spec.parts.len() as u32).sum();
        let mut placed = Vec::new();
        for spec in &specs {
            let ld = spec.ld.unwrap_or_else(|| leading_dimension(self.real(), spec.cols));
            placed.push((offset, ld, next_tensor));
            offset += (spec.physical_rows() * ld).next_multiple_of(64);
            next_tensor += spec.parts.len() as u32;
        }
        let tiles = offset.div_ceil(IMAGE_COLUMNS).max(1);
        let storage = self.storage();
        let paired = storage.weights == Weights::Paired && self.dtype() == DType::Bf16;
        let mut image = |suffix: &str, purpose: MemoryPurpose| {
            let t = self.real_buffer(&format!("{name}.{suffix}"), tiles, IMAGE_COLUMNS);
            self.with_purpose(t, purpose)
        };
        let weight = image("weight", MemoryPurpose::Weights);
        let target = image("target", MemoryPurpose::Targets);
        let [m, v] = ["m", "v"].map(|name| image(name, MemoryPurpose::Moments));
        let gradient = image("gradient", MemoryPurpose::Gradients);
        let low = paired.then(|| LowWords {
            weight: image("weight_low", MemoryPurpose::Weights),
            target: image("target_low", MemoryPurpose::Targets),
        });
        let id = Element::Struct(size_of::<PackId>() as u32);
        let ids = self.table(&format!("{name}.ids"), id, tiles, IMAGE_COLUMNS / 8);
        self.set_purpose(ids, MemoryPurpose::Integers);
        let params = specs
            .into_iter()
            .zip(placed)
            .map(|(spec, (offset, ld, first_tensor))| {
                let mut view = |suffix: &str, of: Tensor, differentiable: bool| {
                    let purpose = self.info(of).purpose;
                    let info = TensorInfo {
                        name: format!("{}{suffix}", spec.name),
                        element: self.real(),
                        rows: spec.physical_rows(),
                        cols: spec.cols,
                        ld,
                        shared: false,
                        purpose,
                        place: Place::Own,
                        differentiable,
                    };
                    self.inside(info, of, offset)
                };
                let w = view("", weight, true);
                let t = view("'", target, false);
                NetParam { weight: w, target: t, offset, ld, first_tensor, spec }
            })
            .collect();
        let rounding = storage.rounding;
        let name = name.to_owned();
        let net = Net { name, params, weight, target, m, v, gradient, low, rounding, ids, tiles };
        self.nets.push(net.clone());
        net
    }
}
