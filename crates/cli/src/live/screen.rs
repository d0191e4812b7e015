//! The terminal while the live view has it, and how it is given back whatever happens.

use crate::output;
use ratatui::crossterm::{
    cursor::Show,
    execute,
    terminal::{EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode},
};
use std::{
    io,
    panic::{set_hook, take_hook},
    sync::{
        Once,
        atomic::{AtomicBool, Ordering},
    },
};

/// Whether the terminal is the live view's.
static TAKEN: AtomicBool = AtomicBool::new(false);

/// Takes the terminal behind standard error, so that results can go elsewhere. What is noted meanwhile is held back.
pub(super) fn take() -> io::Result<()> {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let before = take_hook();
        set_hook(Box::new(move |panic| {
            give_back();
            before(panic);
        }));
    });
    enable_raw_mode()?;
    TAKEN.store(true, Ordering::SeqCst);
    output::hold();
    execute!(io::stderr(), EnterAlternateScreen).inspect_err(|_| give_back())
}

/// Gives it back as it was, and prints what was held back. May be called at any time, from any thread, more than once.
pub(crate) fn give_back() {
    if TAKEN.swap(false, Ordering::SeqCst) {
        // Each is tried: there is nowhere to tell of a failure.
        let _ = execute!(io::stderr(), LeaveAlternateScreen, Show);
        let _ = disable_raw_mode();
        output::release();
    }
}

/// Whether the live view has the terminal now.
pub(super) fn taken() -> bool {
    TAKEN.load(Ordering::SeqCst)
}
