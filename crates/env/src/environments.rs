use crate::{Buffer, EnvError, EnvMember, MemberSpec, Tables, layout::Layout};
use bytemuck::Pod;
use foxhunt_core::{Bf16, DType};
use foxhunt_device::{Arena, Command, Device};
use foxhunt_kernels::{
    View,
    env::{
        EnvAct, EnvBoltzmann, EnvStep, ReplayGather, Tables as TableViews, env_act_greedy, env_act_q,
        env_boltzmann, env_observe, env_reset, env_step, env_step_greedy, replay_advance, replay_gather,
    },
    fused::{DqnCollect, DqnNet, DqnShape, dqn_collect},
};
use std::sync::Arc;

/// Sizes, the same for every member.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// E: environments of a member.
    pub envs: usize,
    /// W: rows of the feature table in an observation.
    pub lookback: usize,
    /// S: columns of an observation, a multiple of 8 that holds W F + 13.
    pub state: usize,
    /// R: rows of the replay ring; it holds R E transitions a member.
    pub ring_rows: usize,
    /// B: samples of a batch.
    pub batch: usize,
}

/// E environments for each of P members, their memory and their commands.
pub struct Environments {
    arena: Arc<Arena>,
    dtype: DType,
    members: usize,
    shape: Shape,
    views: Vec<View>,
}

impl Environments {
    /// Lays out and fills the tables. Run [`Environments::reset`] before the first step.
    ///
    /// # Errors
    /// Sizes or members that don't fit, or the device.
    pub fn new(
        device: &Device,
        dtype: DType,
        shape: Shape,
        tables: &Tables,
        members: &[MemberSpec],
    ) -> Result<Self, EnvError> {
        Self::spread(device, dtype, shape, tables, members, 1)
    }

    /// As [`Environments::new`], for members whose environments are spread over `markets` markets each, in equal shares:
    /// `specs` has a line of each member for each of its markets, member after member. Environment e trades its member's
    /// market e M / E. All that does not belong to a market must be the same in all lines of a member.
    ///
    /// # Errors
    /// As there; fewer environments than markets, lines that don't fit one another.
    pub fn spread(
        device: &Device,
        dtype: DType,
        shape: Shape,
        tables: &Tables,
        specs: &[MemberSpec],
        markets: usize,
    ) -> Result<Self, EnvError> {
        if markets == 0 || !specs.len().is_multiple_of(markets) || markets > shape.envs.max(1) {
            return Err(EnvError::Shape(format!(
                "{} lines for members of {markets} markets and {} environments",
                specs.len(),
                shape.envs
            )));
        }
        let p = specs.len() / markets;
        if p == 0 || [shape.envs, shape.lookback, shape.ring_rows, shape.batch].contains(&0) {
            return Err(EnvError::Shape(format!("{p} members of {shape:?}")));
        }
        for (i, of_member) in specs.chunks(markets).enumerate() {
            of_member.iter().try_for_each(|m| m.check_like(i, &of_member[0]))?;
        }
        let rows = specs
            .iter()
            .enumerate()
            .map(|(i, m)| m.row(i / markets, &shape, tables))
            .collect::<Result<Vec<EnvMember>, _>>()?;
        let columns = tables.columns();
        let mut layout = Layout::default();
        for buffer in Buffer::ALL {
            let (element, members, rows, cols) = buffer.matrix(dtype, p, markets, &shape, tables);
            layout.add(buffer.name(), element, members, rows, cols);
        }
        let arena = Arc::new(device.allocate(layout.bytes())?);
        let views = layout.place(arena.addr());
        let made = Environments { arena, dtype, members: p, shape, views };
        made.write(Buffer::Bars, &tables.bars)?;
        made.write(Buffer::Context, &tables.context)?;
        made.write_features(&tables.features, columns)?;
        made.write(Buffer::Members, &rows)?;
        made.write(Buffer::Rules, &specs.iter().map(|m| m.rules).collect::<Vec<_>>())?;
        let schedules: Vec<_> = specs.iter().step_by(markets).map(|m| m.exploration).collect();
        made.write(Buffer::Exploration, &schedules)?;
        Ok(made)
    }

    /// Sizes.
    pub fn shape(&self) -> Shape {
        self.shape
    }

    /// The memory that all views point into.
    pub fn arena(&self) -> &Arc<Arena> {
        &self.arena
    }

    /// Storage type of reals.
    pub fn dtype(&self) -> DType {
        self.dtype
    }

    /// P.
    pub fn members(&self) -> usize {
        self.members
    }

    /// A buffer, for other commands to read or write.
    pub fn view(&self, buffer: Buffer) -> &View {
        &self.views[buffer as usize]
    }

    /// Overwrites a buffer of structs or integers from its start, all members one after another.
    ///
    /// # Errors
    /// More than it holds, or the device.
    pub fn write<T: Pod>(&self, buffer: Buffer, data: &[T]) -> Result<(), EnvError> {
        let room = self.view(buffer).region().bytes;
        if size_of_val(data) > room {
            return Err(EnvError::Shape(format!("{} bytes for {buffer:?} of {room}", size_of_val(data))));
        }
        Ok(self.arena.write(self.offset(buffer), data)?)
    }

    /// A whole buffer, all members one after another; real rows with their padding.
    ///
    /// # Errors
    /// The device.
    pub fn read<T: Pod>(&self, buffer: Buffer) -> Result<Vec<T>, EnvError> {
        let bytes = self.view(buffer).region().bytes;
        Ok(self.arena.read(self.offset(buffer), bytes / size_of::<T>())?)
    }

    fn offset(&self, buffer: Buffer) -> usize {
        (self.view(buffer).addr - self.arena.addr()) as usize
    }

    fn write_features(&self, features: &[f32], columns: usize) -> Result<(), EnvError> {
        let ld = self.view(Buffer::Features).ld;
        let padded = features.chunks(columns.max(1)).flat_map(|row| {
            let zeros = std::iter::repeat_n(0.0, ld - row.len());
            row.iter().copied().chain(zeros)
        });
        match self.dtype {
            DType::F32 => self.write(Buffer::Features, &padded.collect::<Vec<f32>>()),
            DType::Bf16 => {
                let bits: Vec<u16> = padded.map(|x| Bf16::from_f32(x).to_bits()).collect();
                self.write(Buffer::Features, &bits)
            }
        }
    }

    fn tables(&self) -> TableViews<'_> {
        TableViews {
            member: self.view(Buffer::Members),
            rules: self.view(Buffer::Rules),
            bars: self.view(Buffer::Bars),
            context: self.view(Buffer::Context),
            features: self.view(Buffer::Features),
            lookback: self.shape.lookback,
        }
    }

    fn stepping(&self) -> EnvStep<'_> {
        EnvStep {
            env: self.view(Buffer::Envs),
            member: self.view(Buffer::Members),
            rules: self.view(Buffer::Rules),
            bars: self.view(Buffer::Bars),
            context: self.view(Buffer::Context),
            actions: self.view(Buffer::Actions),
            ring: self.view(Buffer::Ring),
            tally: self.view(Buffer::Tally),
        }
    }

    fn acting(&self) -> EnvAct<'_> {
        EnvAct {
            env: self.view(Buffer::Envs),
            member: self.view(Buffer::Members),
            exploration: self.view(Buffer::Exploration),
            actions: self.view(Buffer::Actions),
        }
    }

    /// Begins episode 0 everywhere.
    ///
    /// # Errors
    /// Buffers that don't fit, as for all commands below; [`Environments::new`] makes them fit.
    pub fn reset(&self) -> Result<Command, EnvError> {
        Ok(Command::Launch(env_reset(self.dtype, self.members, &self.stepping())?))
    }

    /// Writes [`Buffer::Observation`].
    ///
    /// # Errors
    /// As above.
    pub fn observe(&self) -> Result<Command, EnvError> {
        let (env, out) = (self.view(Buffer::Envs), self.view(Buffer::Observation));
        Ok(Command::Launch(env_observe(self.dtype, self.members, &self.tables(), env, out)?))
    }

    /// Writes [`Buffer::Actions`], epsilon-greedy by values: `q` is real `[E, 15]`.
    ///
    /// # Errors
    /// A `q` of another shape.
    pub fn act_by_value(&self, q: &View) -> Result<Command, EnvError> {
        Ok(Command::Launch(env_act_q(self.dtype, self.members, &self.acting(), q)?))
    }

    /// Writes [`Buffer::Actions`], epsilon-greedy around `greedy`, U8 `[E, 3]`.
    ///
    /// # Errors
    /// A `greedy` of another shape.
    pub fn act_greedy(&self, greedy: &View) -> Result<Command, EnvError> {
        Ok(Command::Launch(env_act_greedy(self.dtype, self.members, &self.acting(), greedy)?))
    }

    /// Writes [`Buffer::Actions`], drawn from the softmax of `q`, real `[E, 15]`, over the temperature of
    /// [`Buffer::Exploration`].
    ///
    /// # Errors
    /// A `q` of another shape.
    pub fn act_boltzmann(&self, q: &View) -> Result<Command, EnvError> {
        let act = EnvBoltzmann {
            env: self.view(Buffer::Envs),
            member: self.view(Buffer::Members),
            temperature: self.view(Buffer::Exploration),
            q,
            actions: self.view(Buffer::Actions),
        };
        Ok(Command::Launch(env_boltzmann(self.dtype, self.members, &act)?))
    }

    /// Carries out [`Buffer::Actions`] and records one row of replay.
    ///
    /// # Errors
    /// As above.
    pub fn step(&self) -> Result<Command, EnvError> {
        Ok(Command::Launch(env_step(self.dtype, self.members, &self.stepping())?))
    }

    /// [`Environments::act_greedy`] and [`Environments::step`] in one launch.
    ///
    /// # Errors
    /// A `greedy` of another shape.
    pub fn step_greedy(&self, greedy: &View) -> Result<Command, EnvError> {
        let step = EnvStep { actions: greedy, ..self.stepping() };
        let (exploration, chosen) = (self.view(Buffer::Exploration), self.view(Buffer::Actions));
        Ok(Command::Launch(env_step_greedy(self.dtype, self.members, &step, exploration, chosen)?))
    }

    /// [`Environments::observe`], greedy acting by a network and [`Environments::step_greedy`], `decisions` times in one launch:
    /// on a Hopper GPU in BF16. `mean` is minus the mean of the units of the net's head. [`Buffer::Observation`] stays as it is.
    ///
    /// # Errors
    /// A network of other inputs or actions, or that the kernel is not written for.
    pub fn collect(
        &self,
        shape: &DqnShape,
        (online, mean): (DqnNet<'_>, &View),
        decisions: usize,
    ) -> Result<Command, EnvError> {
        let collect = DqnCollect {
            online,
            mean,
            step: self.stepping(),
            exploration: self.view(Buffer::Exploration),
            features: self.view(Buffer::Features),
            lookback: self.shape.lookback,
            decisions,
        };
        Ok(Command::Launch(dqn_collect(self.members, shape, &collect)?))
    }

    /// Draws [`Buffer::Indices`] uniformly, writes s, s', a, R and discounts of them, and counts the draw.
    ///
    /// # Errors
    /// As above.
    pub fn gather_uniform(&self) -> Result<[Command; 2], EnvError> {
        let draws = self.view(Buffer::Draws);
        Ok([self.gathering(Some(draws))?, Command::Launch(replay_advance(self.dtype, self.members, draws)?)])
    }

    /// Writes s, s', a, R and discounts of [`Buffer::Indices`], whoever drew them.
    ///
    /// # Errors
    /// As above.
    pub fn gather(&self) -> Result<Command, EnvError> {
        self.gathering(None)
    }

    fn gathering(&self, draws: Option<&View>) -> Result<Command, EnvError> {
        let (states, batch) = (self.view(Buffer::States), self.shape.batch);
        let gather = ReplayGather {
            tables: self.tables(),
            env: self.view(Buffer::Envs),
            ring: self.view(Buffer::Ring),
            indices: self.view(Buffer::Indices),
            draws,
            s: &states.slice_rows(0, batch),
            next: &states.slice_rows(batch, batch),
            actions: self.view(Buffer::BatchActions),
            samples: self.view(Buffer::Samples),
        };
        Ok(Command::Launch(replay_gather(self.dtype, self.members, &gather)?))
    }
}
