//! In which order the commands of several runs are queued on two branches of a graph.

use crate::Launch;

/// What is queued. Commands are numbered through all runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Queued {
    /// The side branch goes on from where the main one is.
    Fork,
    /// A launch on the side branch.
    Side(usize),
    /// The main branch waits for all that is on the side one.
    Join,
    /// A command on the main branch.
    Main {
        /// Which.
        at: usize,
        /// Whether it may be brought onto the GPU while the launches right ahead of it end.
        early: bool,
    },
}

/// The order of `runs` runs of these commands, of which those without a launch are products of the library.
///
/// A launch that may run beside others goes to the side branch as soon as all is done that it has a buffer in common with, which may
/// be before the run ahead of its own has ended: a batch is gathered while the optimiser is at work on the weights. Whatever
/// comes after it in the list waits for it. One that has nothing to run beside stays where it is.
pub(super) fn schedule(commands: &[Option<&Launch>], runs: usize) -> Vec<Queued> {
    let all = commands.len() * runs;
    let command = |i: usize| commands[i % commands.len()];
    // By command, the place in the list at which it is queued; of all but those on the side branch their own.
    let mut starts: Vec<usize> = Vec::with_capacity(all);
    for i in 0..all {
        let start = command(i).filter(|launch| launch.beside).map_or(i, |launch| {
            let waits = |&p: &usize| command(p).is_none_or(|before| before.conflicts(launch));
            // The side branch keeps its own order.
            let after = |p: usize| if starts[p] < p { starts[p] } else { p + 1 };
            let start = (0..i).filter(waits).map(after).max().unwrap_or(0);
            let alone = (start..i).all(|p| starts[p] < p);
            if alone { i } else { start }
        });
        starts.push(start);
    }
    let mut sides = vec![Vec::new(); all];
    (0..all).filter(|&i| starts[i] < i).for_each(|i| sides[starts[i]].push(i));

    let mut out = Vec::new();
    // Right ahead of what comes next on the main branch; the last on the side one, unless it was joined, and what was ahead where
    // it began.
    let mut ahead: Vec<usize> = Vec::new();
    let mut side: Option<(usize, Vec<usize>)> = None;
    for at in 0..all {
        if !sides[at].is_empty() {
            out.push(Queued::Fork);
            out.extend(sides[at].iter().map(|&i| Queued::Side(i)));
            side = sides[at].last().map(|&last| (last, ahead.clone()));
        }
        if starts[at] < at {
            if let Some((last, before)) = side.take() {
                out.push(Queued::Join);
                // It waited for these itself.
                ahead.retain(|i| !before.contains(i));
                ahead.push(last);
            }
            continue;
        }
        // Products of the library neither wait for what is ahead nor let others begin.
        let early = command(at).is_some_and(|launch| {
            let ends = |&i: &usize| command(i).is_some_and(|before| launch.may_begin_during(before));
            !ahead.is_empty() && ahead.iter().all(ends)
        });
        out.push(Queued::Main { at, early });
        ahead = vec![at];
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Kernel, Region};
    use foxhunt_core::DType;

    static KERNEL: Kernel = Kernel { file: "x.cu", name: "x", host: &[] };

    fn regions(of: &[u64]) -> Vec<Region> {
        of.iter().map(|x| Region { name: x.to_string(), addr: 4096 * x, bytes: 4096 }).collect()
    }

    fn launch(beside: bool, reads: &[u64], writes: &[u64], early: &[u64]) -> Launch {
        Launch {
            kernel: &KERNEL,
            dtype: DType::F32,
            defines: Vec::new(),
            args: Vec::new(),
            maps: Vec::new(),
            beside,
            teams: 1,
            members: 1,
            reads: regions(reads),
            writes: regions(writes),
            early: regions(early),
        }
    }

    fn main(at: usize, early: bool) -> Queued {
        Queued::Main { at, early }
    }

    const REPLAY: u64 = 1;
    const DRAWS: u64 = 2;
    const BATCH: u64 = 3;
    const WEIGHTS: u64 = 4;
    const MEAN: u64 = 5;
    const KEPT: u64 = 6;
    const GRADIENT: u64 = 7;

    /// Gather, count, mean, rows, weights' gradients, optimiser.
    fn step() -> [Launch; 6] {
        [
            launch(true, &[REPLAY, DRAWS], &[BATCH], &[]),
            launch(true, &[DRAWS], &[DRAWS], &[]),
            launch(true, &[WEIGHTS], &[MEAN], &[]),
            launch(false, &[WEIGHTS, MEAN, BATCH], &[KEPT], &[WEIGHTS, BATCH, KEPT]),
            launch(false, &[KEPT], &[GRADIENT], &[]),
            launch(false, &[WEIGHTS, GRADIENT], &[WEIGHTS], &[WEIGHTS]),
        ]
    }

    #[test]
    fn the_next_batch_is_gathered_while_gradients_are_made_of_what_was_kept() {
        let step = step();
        let all: Vec<Option<&Launch>> = step.iter().map(Some).collect();
        use Queued::{Fork, Join, Side};
        let first =
            [Fork, Side(2), main(0, false), main(1, true), Join, main(3, true), main(4, true), main(5, true)];
        assert_eq!(schedule(&all, 1), first);
        let gathering = [Fork, Side(6), Side(7), main(4, true), main(5, true), Join];
        // The mean has nothing to run beside: what is ahead of it in the list has long begun.
        let next = [8, 9, 10, 11].map(|at| main(at, true));
        assert_eq!(schedule(&all, 2), [&first[..6], &gathering, &next].concat());
    }

    #[test]
    fn what_touches_buffers_early_waits_for_whoever_uses_them() {
        // Rows right after the gather, and right after the optimiser; the optimiser right after them.
        let [gather, _, _, rows, gradients, optimiser] = step();
        let gather = Launch { beside: false, ..gather };
        let early = |all: &[&Launch], runs: usize| -> Vec<bool> {
            let all: Vec<Option<&Launch>> = all.iter().copied().map(Some).collect();
            (schedule(&all, runs).into_iter())
                .map(|queued| matches!(queued, Queued::Main { early: true, .. }))
                .collect()
        };
        let twice = early(&[&gather, &rows, &gradients, &optimiser], 2);
        assert_eq!(twice, [false, false, true, true, true, false, true, true]);
        assert_eq!(early(&[&rows, &optimiser], 2), [false, false, false, false]);
    }

    #[test]
    fn side_launches_wait_for_what_they_share_buffers_with_and_for_products() {
        let (first, apart) = (launch(false, &[1], &[2], &[]), launch(true, &[3], &[4], &[]));
        let (second, shared) = (launch(false, &[], &[7], &[]), launch(true, &[2], &[5], &[]));
        // Reads early what `first` wrote, for which `shared` has waited.
        let last = launch(false, &[2, 5], &[6], &[2]);
        use Queued::{Fork, Join, Side};
        let all = [Some(&first), Some(&apart), Some(&second), Some(&shared), Some(&last)];
        // All that is on the side branch is waited for where the first of it has its place.
        let want = [Fork, Side(1), main(0, false), Fork, Side(3), Join, main(2, true), main(4, true)];
        assert_eq!(schedule(&all, 1), want);
        // Nothing begins before a product that comes ahead of it, nor early after one.
        assert_eq!(schedule(&[None, Some(&apart)], 1), [main(0, false), main(1, false)]);
    }
}
