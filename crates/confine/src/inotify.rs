//! Instances of inotify that are used again. Closing one that has watched something waits for the
//! kernel to be sure that nobody looks at the watches any more, which takes ten milliseconds and
//! more; taking its watches away does not.

use std::fs;
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, OwnedFd};

use rustix::fs::inotify::{self, CreateFlags};

/// A new instance that does not block, closed on exec.
pub fn instance() -> io::Result<OwnedFd> {
    Ok(inotify::init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK)?)
}

/// Instances that nobody uses now.
#[derive(Debug, Default)]
pub struct Pool(Vec<OwnedFd>);

impl Pool {
    /// An instance that watches nothing. It is used by whoever it is lent to, by a copy of its
    /// descriptor.
    pub fn take(&mut self) -> io::Result<OwnedFd> {
        match self.0.pop() {
            Some(instance) => Ok(instance),
            None => instance(),
        }
    }

    /// Takes back an instance that nobody else uses any more.
    pub fn give_back(&mut self, instance: OwnedFd) {
        if cleared(&instance).is_ok() {
            self.0.push(instance);
        }
    }
}

/// Takes all watches away, and what they have told.
fn cleared(instance: &OwnedFd) -> io::Result<()> {
    for number in watches(instance)? {
        inotify::remove_watch(instance, number)?;
    }
    let mut buffer = [MaybeUninit::uninit(); 4096];
    let mut reader = inotify::Reader::new(instance, &mut buffer);
    loop {
        match reader.next() {
            Ok(_) => {}
            Err(rustix::io::Errno::WOULDBLOCK) => return Ok(()),
            Err(error) => return Err(error.into()),
        }
    }
}

/// The numbers of an instance's watches.
fn watches(instance: &OwnedFd) -> io::Result<Vec<i32>> {
    let told = fs::read_to_string(format!("/proc/self/fdinfo/{}", instance.as_raw_fd()))?;
    // `inotify wd:1 ino:2 …`, all in hexadecimal.
    let numbers = told
        .lines()
        .filter_map(|line| line.strip_prefix("inotify wd:")?.split(' ').next());
    Ok(numbers
        .filter_map(|number| i32::from_str_radix(number, 16).ok())
        .collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::fs::inotify::WatchFlags;

    #[test]
    fn an_instance_comes_back_empty() {
        let folder = tempfile::tempdir().unwrap();
        let mut pool = Pool::default();
        let instance = pool.take().unwrap();
        inotify::add_watch(&instance, folder.path(), WatchFlags::CREATE).unwrap();
        fs::write(folder.path().join("file"), "").unwrap();
        assert_eq!(watches(&instance).unwrap().len(), 1);
        pool.give_back(instance);
        let again = pool.take().unwrap();
        assert_eq!(watches(&again).unwrap(), Vec::<i32>::new());
        let mut buffer = [MaybeUninit::uninit(); 4096];
        let next = inotify::Reader::new(&again, &mut buffer).next().map(|_| ());
        assert_eq!(next, Err(rustix::io::Errno::WOULDBLOCK));
    }
}
