use crate::{EnvMember, Exploration, Sample, Shape, Tables, Tally, Transition};
use foxhunt_core::DType;
use foxhunt_kernels::{Element, env::Env};
use foxhunt_market::{BRANCH_ACTIONS, Bar, Context, Rules};

/// A buffer of the environments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(usize)]
pub enum Buffer {
    /// [`Bar`] `[T, 1]`, shared.
    Bars,
    /// [`Context`] `[T, 1]`, shared.
    Context,
    /// Real `[rows, F]`, shared.
    Features,
    /// [`EnvMember`] `[M, 1]`: one of each market that a member's environments are spread over.
    Members,
    /// [`Rules`] `[M, 1]`.
    Rules,
    /// [`Exploration`] `[1, 1]`.
    Exploration,
    /// [`Env`] `[E, 1]`.
    Envs,
    /// [`Tally`] `[1, 1]`.
    Tally,
    /// Real `[E, S]`: what the network sees now.
    Observation,
    /// U8 `[E, 3]`: what it does; written by an act command or by anyone else.
    Actions,
    /// [`Transition`] `[R, E]`.
    Ring,
    /// U64 `[1, 1]`: batches drawn.
    Draws,
    /// U32 `[B, 1]`: rows of a batch.
    Indices,
    /// Real `[2 B, S]`: s of every sample, then s': one input of the online net.
    States,
    /// U8 `[B, 3]`: a.
    BatchActions,
    /// [`Sample`] `[B, 1]`: R and the discount.
    Samples,
}

impl Buffer {
    /// All, in the order of their numbers.
    pub const ALL: [Buffer; 16] = [
        Buffer::Bars,
        Buffer::Context,
        Buffer::Features,
        Buffer::Members,
        Buffer::Rules,
        Buffer::Exploration,
        Buffer::Envs,
        Buffer::Tally,
        Buffer::Observation,
        Buffer::Actions,
        Buffer::Ring,
        Buffer::Draws,
        Buffer::Indices,
        Buffer::States,
        Buffer::BatchActions,
        Buffer::Samples,
    ];

    /// Name in messages.
    pub fn name(self) -> &'static str {
        match self {
            Buffer::Bars => "bars",
            Buffer::Context => "context",
            Buffer::Features => "features",
            Buffer::Members => "members",
            Buffer::Rules => "rules",
            Buffer::Exploration => "exploration",
            Buffer::Envs => "envs",
            Buffer::Tally => "tally",
            Buffer::Observation => "observation",
            Buffer::Actions => "actions",
            Buffer::Ring => "ring",
            Buffer::Draws => "draws",
            Buffer::Indices => "indices",
            Buffer::States => "states",
            Buffer::BatchActions => "batch actions",
            Buffer::Samples => "samples",
        }
    }

    /// What it holds: element, members (1 where all share it), rows, columns.
    pub(crate) fn matrix(
        self,
        dtype: DType,
        members: usize,
        markets: usize,
        shape: &Shape,
        tables: &Tables,
    ) -> (Element, usize, usize, usize) {
        let real = Element::Real(dtype);
        let branches = BRANCH_ACTIONS.len();
        let feature_rows = tables.features.len() / tables.columns().max(1);
        let (element, shared, rows, cols) = match self {
            Buffer::Bars => (Element::of::<Bar>(), true, tables.bars.len(), 1),
            Buffer::Context => (Element::of::<Context>(), true, tables.context.len(), 1),
            Buffer::Features => (real, true, feature_rows, tables.columns()),
            Buffer::Members => (Element::of::<EnvMember>(), false, markets, 1),
            Buffer::Rules => (Element::of::<Rules>(), false, markets, 1),
            Buffer::Exploration => (Element::of::<Exploration>(), false, 1, 1),
            Buffer::Envs => (Element::of::<Env>(), false, shape.envs, 1),
            Buffer::Tally => (Element::of::<Tally>(), false, 1, 1),
            Buffer::Observation => (real, false, shape.envs, shape.state),
            Buffer::Actions => (Element::U8, false, shape.envs, branches),
            Buffer::Ring => (Element::of::<Transition>(), false, shape.ring_rows, shape.envs),
            Buffer::Draws => (Element::U64, false, 1, 1),
            Buffer::Indices => (Element::U32, false, shape.batch, 1),
            Buffer::States => (real, false, 2 * shape.batch, shape.state),
            Buffer::BatchActions => (Element::U8, false, shape.batch, branches),
            Buffer::Samples => (Element::of::<Sample>(), false, shape.batch, 1),
        };
        (element, if shared { 1 } else { members }, rows, cols)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_places_in_the_list() {
        for (i, buffer) in Buffer::ALL.into_iter().enumerate() {
            assert_eq!(buffer as usize, i);
        }
    }
}
