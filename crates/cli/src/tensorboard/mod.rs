//! What TensorBoard shows of a run: `RUN/tensorboard/member_000000/events.out.tfevents.…`, a folder per member, in one per
//! instrument where several are listed.
//!
//! The files are a function of the run's metrics, of nothing else: no clock, no host. An event's wall time is therefore not
//! the time of day but the number of epochs done, in seconds since 1970, so that the same command gives the same bytes and
//! TensorBoard's axis of relative time counts epochs. Files are written anew when a run is made or gone on with, from the
//! metrics as they were cut back, then grow by an epoch at a time; nothing in them is ever older than the metrics.

mod event;
mod record;

use crate::{Failure, commands::place};
use event::{Event, Scalar};
use foxhunt_train::{EpochReport, MARKET_IDS};
use record::framed;
use std::{
    collections::BTreeMap,
    fs::{self, OpenOptions},
    io::Write,
    path::{Path, PathBuf},
};

/// Folder of a run for TensorBoard.
pub(crate) const TENSORBOARD: &str = "tensorboard";

/// TensorBoard finds files by `tfevents` in their name; the number is where TensorFlow has the time of day.
const NAME: &str = "events.out.tfevents.0000000000.foxhunt";

/// The event files of a run.
pub(crate) struct Events {
    folder: PathBuf,
}

/// Returns on the validation window of a member, by epochs done.
pub(crate) type Scores = BTreeMap<u64, f64>;

impl Events {
    /// Writes the files of a run anew, from what its metrics hold.
    pub(crate) fn open(run: &Path, metrics: &[EpochReport]) -> Result<Self, Failure> {
        let events = Events { folder: run.join(TENSORBOARD) };
        if events.folder.exists() {
            fs::remove_dir_all(&events.folder).map_err(|e| Failure::file("replace", &events.folder, &e))?;
        }
        events.write(metrics, &BTreeMap::new())?;
        Ok(events)
    }

    /// Adds an epoch.
    pub(crate) fn append(&self, reports: &[EpochReport]) -> Result<(), Failure> {
        for report in reports {
            let path = self.file(report);
            if !path.exists() {
                start(&path)?;
            }
            let bytes = framed(&epoch(report, None).bytes());
            let written = OpenOptions::new().append(true).open(&path).and_then(|mut f| f.write_all(&bytes));
            written.map_err(|e| Failure::file("write", &path, &e))?;
        }
        Ok(())
    }

    /// Writes every file anew, with each member's returns on the validation window, and makes them durable.
    pub(crate) fn finish(
        &self,
        metrics: &[EpochReport],
        scores: &BTreeMap<u64, Scores>,
    ) -> Result<(), Failure> {
        self.write(metrics, scores)
    }

    fn write(&self, metrics: &[EpochReport], scores: &BTreeMap<u64, Scores>) -> Result<(), Failure> {
        let mut members: BTreeMap<u64, Vec<&EpochReport>> = BTreeMap::new();
        for report in metrics {
            members.entry(report.id).or_default().push(report);
        }
        for (id, reports) in members {
            let Some(path) = reports.first().map(|r| self.file(r)) else { continue };
            let scores = scores.get(&id);
            let mut bytes = first();
            for report in reports {
                let score = scores.and_then(|s| s.get(&(u64::from(report.epoch) + 1))).copied();
                bytes.extend(framed(&epoch(report, score).bytes()));
            }
            make_folder(&path)?;
            place::write_whole(&path, &bytes)?;
        }
        Ok(())
    }

    fn file(&self, report: &EpochReport) -> PathBuf {
        let (folder, id) = match &report.market {
            Some(name) => (self.folder.join(name), report.id % MARKET_IDS),
            None => (self.folder.clone(), report.id),
        };
        folder.join(format!("member_{id:06}")).join(NAME)
    }
}

fn first() -> Vec<u8> {
    framed(&Event::version().bytes())
}

fn start(path: &Path) -> Result<(), Failure> {
    make_folder(path)?;
    fs::write(path, first()).map_err(|e| Failure::file("write", path, &e))
}

fn make_folder(file: &Path) -> Result<(), Failure> {
    let Some(folder) = file.parent() else { return Ok(()) };
    fs::create_dir_all(folder).map_err(|e| Failure::file("make the folder", folder, &e))
}

/// An epoch's numbers; what it could not say is left out.
fn epoch(report: &EpochReport, validation_return: Option<f64>) -> Event {
    let scalars = [
        ("train/loss", report.loss),
        ("train/episode_return", report.episode_return),
        ("train/episodes", Some(report.episodes as f64)),
        ("train/ruined_episodes", Some(report.terminated as f64)),
        ("train/exploration", report.temperature.is_none().then_some(report.epsilon)),
        ("train/temperature", report.temperature),
        ("train/share_beyond_support", report.edge_share),
        ("train/saturated_rewards", Some(report.saturated as f64)),
        ("train/optimiser_steps", Some(report.steps as f64)),
        ("train/skipped_steps", Some(report.skipped as f64)),
        ("validation/return", validation_return),
    ];
    let scalars = scalars.into_iter().filter_map(|(tag, x)| x.map(|value| Scalar { tag, value }));
    Event::scalars(i64::from(report.epoch) + 1, scalars)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(epoch: u32, id: u64) -> EpochReport {
        EpochReport {
            epoch,
            market: None,
            member: id as usize,
            id,
            loss: Some(0.5 + f64::from(epoch)),
            episodes: 3,
            terminated: 0,
            episode_return: None,
            saturated: 0,
            edge_share: Some(0.0),
            epsilon: 0.25,
            temperature: None,
            steps: 16,
            skipped: 0,
        }
    }

    fn files(run: &Path) -> Vec<Vec<u8>> {
        let of =
            |id| fs::read(Events { folder: run.join(TENSORBOARD) }.file(&report(0, id))).unwrap_or_default();
        vec![of(0), of(7)]
    }

    /// However a run came to its metrics, its events are the same; what was newer is gone.
    #[test]
    fn stopped_and_gone_on_with_is_uninterrupted() {
        let folder = tempfile::tempdir().unwrap();
        let (a, b) = (folder.path().join("a"), folder.path().join("b"));
        let epoch = |e| [report(e, 0), report(e, 7)];
        let whole = Events::open(&a, &[]).unwrap();
        (0..3).for_each(|e| whole.append(&epoch(e)).unwrap());

        let stopped = Events::open(&b, &[]).unwrap();
        (0..3).for_each(|e| stopped.append(&epoch(e)).unwrap());
        // A kill in the middle of a write, then back to the save of the first epoch.
        let torn = stopped.file(&report(0, 7));
        let bytes = fs::read(&torn).unwrap();
        fs::write(&torn, &bytes[..bytes.len() - 5]).unwrap();
        fs::create_dir_all(b.join(TENSORBOARD).join("member_000009")).unwrap();
        let again = Events::open(&b, &epoch(0)).unwrap();
        (1..3).for_each(|e| again.append(&epoch(e)).unwrap());
        assert_eq!(files(&a), files(&b));
        assert!(!b.join(TENSORBOARD).join("member_000009").exists());

        let metrics: Vec<EpochReport> = (0..3).flat_map(epoch).collect();
        let scores = BTreeMap::from([(7, Scores::from([(1, 0.01), (2, -0.02), (3, 0.0)]))]);
        let before = files(&a);
        whole.finish(&metrics, &scores).unwrap();
        assert_eq!(files(&a)[0], before[0], "nothing is added where nothing is said");
        let text = String::from_utf8_lossy(&files(&a)[1]).into_owned();
        assert_eq!(text.matches("validation/return").count(), 3);
    }

    #[test]
    fn instruments_have_folders_of_their_own() {
        let events = Events { folder: PathBuf::from("t") };
        let own = EpochReport { market: Some("xbt".into()), ..report(0, 7 * MARKET_IDS + 3) };
        assert_eq!(events.file(&own), Path::new("t/xbt/member_000003").join(NAME));
        assert_eq!(events.file(&report(0, 3)), Path::new("t/member_000003").join(NAME));
    }
}
