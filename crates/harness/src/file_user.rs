//! Whom the harness touches files as: the user that fenced commands run as, so that a harness of
//! root's leaves nothing behind that the workspace's owner could not have made, and reads nothing
//! that the owner could not read.

use std::io;

use ringfence_confine::{account, privilege};
use serde::{Deserialize, Serialize};

/// A user and its groups.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct FileUser {
    pub(crate) uid: u32,
    pub(crate) gid: u32,
    /// Every group, where they have to be replaced.
    pub(crate) groups: Option<Vec<u32>>,
}

impl FileUser {
    /// Does something on a thread of its own, as this user. Threads that it starts are this user's
    /// too. A thread cannot go back to what it was, so it ends with this.
    pub(crate) async fn act<T: Send + 'static>(
        self,
        what: impl FnOnce() -> T + Send + 'static,
    ) -> io::Result<T> {
        let (send, receive) = tokio::sync::oneshot::channel();
        std::thread::Builder::new()
            .name("files".to_owned())
            .spawn(move || {
                let done = self.take_on().map(|()| what());
                // Nobody waits for the result of a call that was dropped.
                let _ = send.send(done);
            })?;
        receive
            .await
            .map_err(|_| io::Error::other("the thread that touches files ended early"))?
    }

    /// The same, waited for.
    pub(crate) fn act_now<T: Send>(&self, what: impl FnOnce() -> T + Send) -> io::Result<T> {
        std::thread::scope(|scope| {
            let thread = scope.spawn(|| self.take_on().map(|()| what()));
            thread
                .join()
                .map_err(|_| io::Error::other("the thread that touches files ended early"))?
        })
    }

    fn take_on(&self) -> io::Result<()> {
        if account::own_uid() == self.uid {
            return Ok(());
        }
        privilege::become_user(self.uid, self.gid, self.groups.as_deref())
    }
}
