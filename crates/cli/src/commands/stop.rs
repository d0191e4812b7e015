//! Signals that stop a training or a comparison after an epoch, and what follows the last before the next backtest: Ctrl-C everywhere, and SIGTERM, which `kill`, systemd and
//! cluster schedulers send. SIGHUP keeps its meaning: whoever starts a run with `nohup` wants it to outlive the terminal.

use std::sync::{
    Mutex, PoisonError,
    atomic::{AtomicU8, Ordering},
};

/// Number of SIGINT, which Ctrl-C sends.
const INTERRUPT: u8 = 2;

/// Number of the signal that came first; 0 before any has.
static ASKED: AtomicU8 = AtomicU8::new(0);

/// When what is being done will stop, and what becomes of it.
static HOW: Mutex<&str> = Mutex::new("");

/// The exit code of a program that a signal stopped, as shells have it.
pub(crate) const fn exit_code(signal: u8) -> u8 {
    128 + signal
}

/// The signal that asked to stop after this epoch.
pub(crate) fn asked() -> Option<u8> {
    let signal = ASKED.load(Ordering::SeqCst);
    (signal != 0).then_some(signal)
}

/// Stops here if a signal has asked to: where whatever is there is saved and made again from that.
pub(crate) fn here() -> Result<(), crate::Failure> {
    asked().map_or(Ok(()), |signal| Err(crate::Failure::Stopped { signal }))
}

/// As Ctrl-C, for who reads it as a key.
pub(crate) fn ask_to_stop() {
    ask(INTERRUPT);
}

/// Whether any signal has asked to stop.
pub(crate) fn stop_asked() -> bool {
    asked().is_some()
}

fn ask(signal: u8) {
    if ASKED.swap(signal, Ordering::SeqCst) != 0 {
        crate::live::give_back();
        std::process::exit(exit_code(signal).into());
    }
    let again = if signal == INTERRUPT { "again" } else { "a second signal" };
    let how = *HOW.lock().unwrap_or_else(PoisonError::into_inner);
    note!("\nstopping {how}; {again} to stop at once");
}

/// From now on a signal is told this of what is being done: it ends the sentence "stopping ...".
pub(crate) fn promise(how: &'static str) {
    *HOW.lock().unwrap_or_else(PoisonError::into_inner) = how;
}

/// Listens from now on, with this to be told.
pub(crate) fn listen(how: &'static str) {
    promise(how);
    if let Err(e) = start() {
        note!("note: Ctrl-C will not save: {e}");
    }
}

#[cfg(unix)]
fn start() -> std::io::Result<()> {
    use signal_hook::{consts::SIGTERM, iterator::Signals};
    let mut signals = Signals::new([i32::from(INTERRUPT), SIGTERM])?;
    let run = move || signals.forever().for_each(|signal| ask(u8::try_from(signal).unwrap_or(INTERRUPT)));
    std::thread::Builder::new().name("signals".into()).spawn(run).map(drop)
}

#[cfg(not(unix))]
fn start() -> Result<(), ctrlc::Error> {
    ctrlc::set_handler(|| ask(INTERRUPT))
}
