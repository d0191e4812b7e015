//! Steps of crates that answer some damage with a panic: here that is a refusal like any other.

use std::{
    cell::Cell,
    panic::{self, AssertUnwindSafe, catch_unwind},
    sync::Once,
};

thread_local! {
    /// A guarded step runs in this thread.
    static GUARDED: Cell<bool> = const { Cell::new(false) };
}

/// Runs a step, whose panic is an error without the panic's own message. What the step held is of no use then and must be dropped.
/// The step may start no threads.
pub(super) fn guarded<T>(step: impl FnOnce() -> Result<T, String>) -> Result<T, String> {
    static QUIET: Once = Once::new();
    QUIET.call_once(|| {
        let before = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            if !GUARDED.get() {
                before(info);
            }
        }));
    });
    GUARDED.set(true);
    let done = catch_unwind(AssertUnwindSafe(step));
    GUARDED.set(false);
    done.unwrap_or_else(|_| Err("it is damaged".into()))
}

#[cfg(test)]
#[allow(clippy::panic, reason = "tests")]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_a_refusal() {
        assert_eq!(guarded::<()>(|| panic!("index out of bounds")), Err("it is damaged".to_owned()));
        assert_eq!(guarded(|| Ok(1)), Ok(1));
        assert!(!GUARDED.get());
    }
}
