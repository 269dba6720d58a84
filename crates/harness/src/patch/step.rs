//! The points at which a patch can be cut off. In the program this is nothing. A test lets a thread
//! come to its end before any one of its steps, as if it had been killed there.

/// Passed before everything that changes the file system.
#[cfg(not(test))]
#[allow(
    clippy::unnecessary_wraps,
    clippy::inline_always,
    reason = "tests stop here"
)]
#[inline(always)]
pub(super) fn step() -> std::io::Result<()> {
    Ok(())
}

#[cfg(test)]
pub(super) use testing::step;

#[cfg(test)]
pub(super) mod testing {
    use std::cell::Cell;
    use std::io;

    thread_local! {
        static LEFT: Cell<Option<usize>> = const { Cell::new(None) };
    }

    pub(in super::super) fn step() -> io::Result<()> {
        LEFT.with(|left| match left.get() {
            None => Ok(()),
            // Nothing can be done any more, cleaning up included.
            Some(0) => Err(io::Error::other("killed")),
            Some(steps) => {
                left.set(Some(steps - 1));
                Ok(())
            }
        })
    }

    /// Runs something that is killed after so many steps; says whether it was.
    pub(in super::super) fn killed_after<T>(steps: usize, run: impl FnOnce() -> T) -> (T, bool) {
        LEFT.with(|left| left.set(Some(steps)));
        let result = run();
        let killed = LEFT.with(Cell::take) == Some(0);
        (result, killed)
    }
}
