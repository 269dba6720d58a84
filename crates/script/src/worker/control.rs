//! What the host and the zygote say to each other: one message per packet.

/// An order of the host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    /// Fork a child with this limit of CPU seconds.
    Fork { cpu_seconds: u64 },
    /// Fork no more, and exit when the last child has ended.
    Retire,
}

/// A message of the zygote.
#[derive(Clone, Debug, PartialEq, Eq)]
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

impl Order {
    pub(crate) fn to_packet(self) -> Vec<u8> {
        match self {
            Self::Fork { cpu_seconds } => [&[0][..], &cpu_seconds.to_le_bytes()].concat(),
            Self::Retire => vec![1],
        }
    }

    pub(crate) fn from_packet(packet: &[u8]) -> Option<Self> {
        match packet.split_first()? {
            (0, rest) => Some(Self::Fork {
                cpu_seconds: u64::from_le_bytes(rest.try_into().ok()?),
            }),
            (1, []) => Some(Self::Retire),
            _ => None,
        }
    }
}

impl Notice {
    pub(crate) fn to_packet(&self) -> Vec<u8> {
        match self {
            Self::Child { pid } => [&[0][..], &pid.to_le_bytes()].concat(),
            Self::Ended { pid, status } => {
                [&[1][..], &pid.to_le_bytes(), &status.to_le_bytes()].concat()
            }
            Self::Refused { reason } => [&[2][..], reason.as_bytes()]
                .concat()
                .into_iter()
                .take(PACKET)
                .collect(),
        }
    }

    pub(crate) fn from_packet(packet: &[u8]) -> Option<Self> {
        match packet.split_first()? {
            (0, rest) => Some(Self::Child {
                pid: u32::from_le_bytes(rest.try_into().ok()?),
            }),
            (1, rest) => {
                let (pid, status) = rest.split_first_chunk::<4>()?;
                let status = i32::from_le_bytes(status.try_into().ok()?);
                Some(Self::Ended {
                    pid: u32::from_le_bytes(*pid),
                    status,
                })
            }
            (2, reason) => Some(Self::Refused {
                reason: String::from_utf8_lossy(reason).into_owned(),
            }),
            _ => None,
        }
    }
}
