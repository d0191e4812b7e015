//! One configuration in several storage arms (F32 without TF32, BF16 rounded to nearest, stochastically, as pairs), trained as
//! populations with the same seeds and compared member by member.
//!
//! - [`Arm`] is a patch of the configuration and a storage type.
//! - [`run_slice`] trains some members of one arm and measures them. A member's numbers do not depend on who else is in its
//!   slice, so a comparison may be cut into any slices, on any number of machines of one kind.
//! - [`Folder`] keeps finished slices, each a file that appears whole.
//! - [`compare`] computes everything that is reported from slices alone: interquartile means (IQM) with bootstrap intervals,
//!   paired differences with intervals and power, a [`Verdict`] per BF16 arm, gauges, memory. What depends on a clock is kept
//!   apart, in [`Comparison::timing`].
//! - [`render`] makes the page.
//!
//! Source of the statistics: Agarwal, Schwarzer, Castro, Courville, Bellemare, "Deep reinforcement learning at the edge of the
//! statistical precipice", NeurIPS 2021.

mod arms;
mod comparison;
mod error;
mod examine;
mod folder;
mod gauges;
mod page;

mod quantity;
mod setting;
mod slice;
mod statistics;
mod verdict;

pub use arms::Arm;
pub use comparison::{
    ArmResult, Comparison, Curve, CurvePoint, Difference, Divergences, Gap, Memory, StepTime, Summary,
    compare,
};
pub use error::CompareError;
pub use folder::{Finished, Folder, Work, write_whole};
pub use gauges::Gauges;
pub use page::render;

pub use quantity::Quantity;
pub use setting::{Measure, Setting};
pub use slice::{Control, EpochTime, Member, Point, RegretOf, Scores, Slice, SliceTiming, Task, run_slice};
pub use statistics::{Bootstrap, Estimate, Power, iqm};
pub use verdict::{Verdict, bound_of};

type Result<T, E = CompareError> = std::result::Result<T, E>;
