use super::types::{ACCOUNT_FEATURES, Context, EnvMember};
use crate::{
    Element, KernelError, View,
    market::{Bar, Rules},
    view::Check,
};
use bytemuck::{Pod, Zeroable};
use foxhunt_core::DType;

/// What observations are made from: tables that environments and replay share.
#[derive(Debug)]
pub struct Tables<'a> {
    /// [`EnvMember`] `[M, 1]`: one of each market.
    pub member: &'a View,
    /// [`Rules`] `[M, 1]`.
    pub rules: &'a View,
    /// [`Bar`] `[T, 1]`.
    pub bars: &'a View,
    /// [`Context`] `[T, 1]`.
    pub context: &'a View,
    /// Real `[rows, F]`.
    pub features: &'a View,
    /// W: rows of the feature table in an observation, the members' `lookback`.
    pub lookback: usize,
}

/// The mirror of `ObservationShape`.
#[repr(C)]
#[derive(Clone, Copy, Pod, Zeroable)]
pub(crate) struct ObservationShape {
    features: u32,
    feature_ld: u32,
    lookback: u32,
    state: u32,
    state_ld: u32,
}

/// Checks that there are rows and rules of each of M markets, which E environments are spread over; gives M.
pub(super) fn check_markets(
    check: &Check,
    member: &View,
    rules: &View,
    envs: usize,
) -> Result<u32, KernelError> {
    let markets = member.rows;
    // The kernels multiply the two in 32 bits.
    check.that((1..=envs).contains(&markets) && markets * envs <= u32::MAX as usize, || {
        format!("{markets} markets for {envs} environments")
    })?;
    check.view(member, Element::of::<EnvMember>(), markets, 1)?;
    check.view(rules, Element::of::<Rules>(), markets, 1)?;
    check.dense(member)?;
    check.dense(rules)?;
    Ok(markets as u32)
}

impl Tables<'_> {
    pub(super) fn views(&self) -> [&View; 5] {
        [self.member, self.rules, self.bars, self.context, self.features]
    }

    /// Checks the tables, and that a window and the account fit `out`, `[rows, S]`.
    pub(super) fn check(
        &self,
        check: &Check,
        dtype: DType,
        out: &View,
        rows: usize,
    ) -> Result<ObservationShape, KernelError> {
        check.view(out, Element::Real(dtype), rows, out.cols)?;
        self.shape(check, dtype, &out.name, (out.cols, out.ld))
    }

    /// Checks the tables, and that a window and the account fit `state` columns, a multiple of 8, of `name`, whose rows are `ld`
    /// apart.
    pub(crate) fn shape(
        &self,
        check: &Check,
        dtype: DType,
        name: &str,
        (state, ld): (usize, usize),
    ) -> Result<ObservationShape, KernelError> {
        check.view(self.bars, Element::of::<Bar>(), self.bars.rows, 1)?;
        check.view(self.context, Element::of::<Context>(), self.bars.rows, 1)?;
        check.view(self.features, Element::Real(dtype), self.features.rows, self.features.cols)?;
        check.dense(self.bars)?;
        check.dense(self.context)?;
        let needed = self.lookback * self.features.cols + ACCOUNT_FEATURES;
        check.that(self.lookback > 0 && state.is_multiple_of(8) && needed <= state, || {
            format!(
                "{name}: {} rows of {} features and {ACCOUNT_FEATURES} of the account need {needed} columns, a multiple of 8, \
                 not {state}",
                self.lookback, self.features.cols
            )
        })?;
        Ok(ObservationShape {
            features: self.features.cols as u32,
            feature_ld: self.features.ld as u32,
            lookback: self.lookback as u32,
            state: state as u32,
            state_ld: ld as u32,
        })
    }
}
