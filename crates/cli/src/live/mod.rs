//! `train --live`: a full-screen view of a training, drawn by a thread of its own while epochs run.
//!
//! It stands on standard error. `q` gives the terminal back and leaves the progress bar; Ctrl-C, which a terminal in raw mode
//! sends as a key, does what the signal does.

mod board;
mod draw;
mod screen;

pub(crate) use board::Board;
pub(crate) use screen::give_back;

use crate::commands::{ask_to_stop, stop_asked};
use ratatui::{
    Terminal,
    backend::CrosstermBackend,
    crossterm::event::{self, Event, KeyCode, KeyEventKind, KeyModifiers},
};
use std::{
    io::{self, IsTerminal},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    thread::JoinHandle,
    time::{Duration, Instant},
};

/// Between two pictures, if no key is pressed.
const PERIOD: Duration = Duration::from_millis(250);

/// The running view.
pub(crate) struct Live {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

struct Shared {
    /// The board, when training began, and when its last epoch ended.
    state: Mutex<(Board, Instant, Instant)>,
    over: AtomicBool,
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, (Board, Instant, Instant)> {
        // A board is whole after each of its changes.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Live {
    /// Takes the terminal; `detached` is called once when the user leaves the view before the end.
    ///
    /// # Errors
    /// Why there is no view: standard input or error is no terminal, or it can't be drawn on.
    pub(crate) fn start(board: Board, detached: impl FnOnce() + Send + 'static) -> Result<Self, String> {
        if !io::stdin().is_terminal() || !io::stderr().is_terminal() {
            return Err("standard input and standard error are not a terminal".into());
        }
        screen::take().map_err(|e| format!("the terminal can't be used ({e})"))?;
        let now = Instant::now();
        let shared = Arc::new(Shared { state: Mutex::new((board, now, now)), over: AtomicBool::new(false) });
        let own = Arc::clone(&shared);
        let run = move || {
            let left = show(&own).unwrap_or(true);
            screen::give_back();
            if left {
                detached();
            }
        };
        match std::thread::Builder::new().name("live".into()).spawn(run) {
            Ok(thread) => Ok(Live { shared, thread: Some(thread) }),
            Err(e) => {
                screen::give_back();
                Err(format!("no thread can be started ({e})"))
            }
        }
    }

    /// Whether its user has not left it.
    pub(crate) fn is_on(&self) -> bool {
        self.thread.as_ref().is_some_and(|t| !t.is_finished())
    }

    /// Changes the board after an epoch.
    pub(crate) fn epoch(&self, change: impl FnOnce(&mut Board)) {
        let mut state = self.shared.state();
        change(&mut state.0);
        state.2 = Instant::now();
    }
}

impl Drop for Live {
    fn drop(&mut self) {
        self.shared.over.store(true, Ordering::SeqCst);
        if let Some(thread) = self.thread.take() {
            // It gives the terminal back as it ends, and its panic was told.
            let _ = thread.join();
        }
        screen::give_back();
    }
}

/// Draws until training is over; whether the user left before.
fn show(shared: &Shared) -> io::Result<bool> {
    let mut terminal = Terminal::new(CrosstermBackend::new(io::stderr()))?;
    terminal.clear()?;
    while !shared.over.load(Ordering::SeqCst) && screen::taken() {
        {
            let mut state = shared.state();
            state.0.stopping = stop_asked();
            let (board, began, last) = &*state;
            terminal.draw(|frame| draw::draw(frame, board, began.elapsed(), last.elapsed()))?;
        }
        if !event::poll(PERIOD)? {
            continue;
        }
        let Event::Key(key) = event::read()? else { continue };
        match key.code {
            _ if key.kind == KeyEventKind::Release => {}
            KeyCode::Char('c') if key.modifiers.contains(KeyModifiers::CONTROL) => ask_to_stop(),
            KeyCode::Char('q') => return Ok(true),
            _ => {}
        }
    }
    Ok(false)
}
