//! What the host and the zygote say to each other: one message per packet, in `postcard`'s form.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// An order of the host.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Order {
    /// Fork a child with this limit of CPU seconds.
    Fork { cpu_seconds: u64 },
    /// Fork no more, and exit when the last child has ended.
    Retire,
}

/// A message of the zygote.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Notice {
    /// A child waits; its socket and its pidfd come along.
    Child { pid: u32 },
    /// A child has ended with this wait status.
    Ended { pid: u32, status: i32 },
    /// A child could not be forked.
    Refused { reason: String },
}

/// Larger than any packet.
pub(crate) const PACKET: usize = 512;
/// What of a reason is told, in bytes.
const MOST_OF_A_REASON: usize = 400;

impl Notice {
    /// A child could not be forked, for this reason, or the beginning of it.
    pub(crate) fn refused(reason: &str) -> Self {
        let end = reason.floor_char_boundary(MOST_OF_A_REASON);
        Self::Refused {
            reason: reason[..end].to_owned(),
        }
    }
}

/// A message as a packet.
pub(crate) trait Packet: Serialize + DeserializeOwned {
    fn to_packet(&self) -> Vec<u8> {
        // There is nothing in these messages that cannot be written; an empty packet means nothing.
        postcard::to_stdvec(self).unwrap_or_default()
    }

    fn from_packet(packet: &[u8]) -> Option<Self> {
        match postcard::take_from_bytes(packet) {
            Ok((message, [])) => Some(message),
            _ => None,
        }
    }
}

impl Packet for Order {}
impl Packet for Notice {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packets_come_back_as_they_were_and_fit() {
        let long = "é".repeat(PACKET);
        let notices = [
            Notice::Child { pid: u32::MAX },
            Notice::Ended {
                pid: 1,
                status: i32::MIN,
            },
            Notice::refused("no room"),
            Notice::refused(&long),
        ];
        for notice in notices {
            let packet = notice.to_packet();
            assert!(packet.len() < PACKET);
            assert_eq!(Notice::from_packet(&packet), Some(notice));
        }
        let order = Order::Fork {
            cpu_seconds: u64::MAX,
        };
        assert_eq!(Order::from_packet(&order.to_packet()), Some(order));
    }

    #[test]
    fn packets_that_are_none_are_refused() {
        // One that ends too early, an unknown kind, one with something after its end, and none.
        for packet in [&[0][..], &[9, 1], &[0, 1, 1], &[]] {
            assert_eq!(Notice::from_packet(packet), None);
        }
        assert_eq!(Notice::from_packet(&[0, 1]), Some(Notice::Child { pid: 1 }));
    }
}
