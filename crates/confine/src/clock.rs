//! A clock that can be polled.

use std::io;
use std::os::fd::OwnedFd;
use std::time::Duration;

use rustix::time::{
    Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create,
    timerfd_settime,
};

/// A descriptor that becomes readable again and again, closed on exec.
pub fn ticking(every: Duration) -> io::Result<OwnedFd> {
    let clock = timerfd_create(
        TimerfdClockId::Monotonic,
        TimerfdFlags::CLOEXEC | TimerfdFlags::NONBLOCK,
    )?;
    let every = Timespec {
        tv_sec: every.as_secs().cast_signed(),
        tv_nsec: every.subsec_nanos().into(),
    };
    let ticks = Itimerspec {
        it_interval: every,
        it_value: every,
    };
    timerfd_settime(&clock, TimerfdTimerFlags::empty(), &ticks)?;
    Ok(clock)
}
