//! A message as a frame: a length, and the message in `postcard`'s form.

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::{FromWorker, ToWorker};
use crate::value::Limits;

/// Bytes before the body: its length, little-endian.
pub(crate) const HEADER: usize = 4;

/// Why bytes are not a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum FrameError {
    /// More bytes than the limit.
    #[error("the message is larger than {0} bytes")]
    TooLarge(usize),
    /// It ends too early, or has a kind or a text that cannot be.
    #[error("the message is none of the protocol's")]
    Malformed,
    /// Bytes after the end.
    #[error("the message has bytes after its end")]
    Trailing,
}

/// A message between the two sides, as one frame with its header.
pub(crate) trait Message: Serialize + DeserializeOwned {
    /// The largest body.
    fn most(limits: Limits) -> usize;

    /// The length of the body that a header announces, if it is within the limit.
    fn body_length(header: [u8; HEADER], limits: Limits) -> Result<usize, FrameError> {
        let (length, most) = (u32::from_le_bytes(header) as usize, Self::most(limits));
        if length > most {
            return Err(FrameError::TooLarge(most));
        }
        Ok(length)
    }

    /// The frame.
    fn to_frame(&self, limits: Limits) -> Result<Vec<u8>, FrameError> {
        let most = Self::most(limits);
        let frame = postcard::to_extend(self, vec![0; HEADER]);
        let mut frame = frame.map_err(|_| FrameError::Malformed)?;
        let length = frame.len() - HEADER;
        let header = u32::try_from(length).ok().filter(|_| length <= most);
        let header = header.ok_or(FrameError::TooLarge(most))?;
        frame[..HEADER].copy_from_slice(&header.to_le_bytes());
        Ok(frame)
    }

    /// Reads the body of a frame, which must be used up.
    fn from_body(body: &[u8]) -> Result<Self, FrameError> {
        match postcard::take_from_bytes(body) {
            Ok((message, [])) => Ok(message),
            Ok(_) => Err(FrameError::Trailing),
            Err(_) => Err(FrameError::Malformed),
        }
    }
}

impl Message for ToWorker {
    /// A job holds several values, and sources as well.
    fn most(limits: Limits) -> usize {
        limits.bytes.saturating_mul(4).saturating_add(4096)
    }
}

/// What stands around the one value that a worker sends: faults, which are cut, and numbers.
const AROUND: usize = 1 << 20;

impl Message for FromWorker {
    fn most(limits: Limits) -> usize {
        limits.bytes.min(limits.held).saturating_add(AROUND)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::protocol::{
        DroppedCall, Encoded, Ended, Fault, Job, JobKind, Oversize, Place, RunReport, RunStatus,
    };

    fn bytes() -> impl Strategy<Value = Encoded> {
        proptest::collection::vec(any::<u8>(), 0..64).prop_map(Encoded::from)
    }

    fn ended() -> impl Strategy<Value = Ended> {
        (any::<bool>(), bytes()).prop_map(|(good, bytes)| if good { Ok(bytes) } else { Err(bytes) })
    }

    fn from_worker() -> impl Strategy<Value = FromWorker> {
        let fault = (
            any::<String>(),
            any::<Option<String>>(),
            any::<Option<u32>>(),
        )
            .prop_map(|(text, optional, number)| Fault {
                name: text.clone(),
                message: text,
                stack: optional.clone(),
                specifier: None,
                filename: optional,
                line: number.map(u64::from),
                column: number.map(u64::from),
                mark: number.map_or(0, u64::from),
            });
        prop_oneof![
            (any::<u64>(), any::<u64>(), bytes()).prop_map(|(call, function, arguments)| {
                FromWorker::Call {
                    call,
                    function,
                    arguments,
                    place: (call % 2 == 0).then(Place::default),
                }
            }),
            bytes().prop_map(|value| FromWorker::Report { value }),
            (any::<u8>(), any::<i32>(), bytes()).prop_map(|(level, time, arguments)| {
                FromWorker::Log {
                    level,
                    time: time.into(),
                    arguments,
                }
            }),
            (any::<u64>(), ended())
                .prop_map(|(invocation, ended)| FromWorker::Invoked { invocation, ended }),
            (
                prop_oneof![
                    Just(RunStatus::Success),
                    Just(RunStatus::Error),
                    Just(RunStatus::Memory),
                    Just(RunStatus::LinkError),
                ],
                bytes(),
                proptest::option::of(fault),
                any::<u64>()
            )
                .prop_map(|(status, result, error, peak)| {
                    FromWorker::Done(Box::new(RunReport {
                        status,
                        result,
                        error,
                        peak,
                        dropped_logs: 1,
                        unhandled: vec![Fault::default()],
                        unhandled_left_out: 2,
                        dropped_calls: vec![DroppedCall {
                            function: "f".to_owned(),
                            place: Some(Place::default()),
                            number: Some(3),
                        }],
                        oversize: Some(Oversize {
                            bytes: peak,
                            preview: "[1".to_owned(),
                        }),
                    }))
                }),
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 512, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn any_bytes_are_a_frame_or_an_error(body: Vec<u8>) {
            let _ = FromWorker::from_body(&body);
            let _ = ToWorker::from_body(&body);
        }

        #[test]
        fn frames_come_back_as_they_were(message in from_worker()) {
            let frame = message.to_frame(Limits::default()).unwrap();
            let (header, body) = frame.split_first_chunk::<HEADER>().unwrap();
            prop_assert_eq!(FromWorker::body_length(*header, Limits::default()).unwrap(), body.len());
            prop_assert_eq!(FromWorker::from_body(body).unwrap(), message);
        }

        #[test]
        fn changed_frames_are_a_frame_or_an_error(
            message in from_worker(),
            at: prop::sample::Index,
            byte: u8,
        ) {
            let mut frame = message.to_frame(Limits::default()).unwrap();
            let body = &mut frame[HEADER..];
            let at = at.index(body.len());
            body[at] = byte;
            let _ = FromWorker::from_body(body);
        }
    }

    #[test]
    fn a_frame_beyond_the_limit_is_refused_by_its_header() {
        assert!(FromWorker::body_length([0xff; 4], Limits::default()).is_err());
        assert!(ToWorker::body_length([0xff; 4], Limits::default()).is_err());
    }

    #[test]
    fn a_job_comes_back_as_it_was() {
        let job = Job {
            source: "export default 1".to_owned(),
            filename: "a.ts".to_owned(),
            typescript: true,
            export: "default".to_owned(),
            arguments: vec![1, 2].into(),
            imports: vec![3].into(),
            globals: vec![4].into(),
            global_names: vec!["a".to_owned()],
            modules: vec![("./m.js".to_owned(), "export {}".to_owned())],
            report: true,
            memory: 1,
            stack: 2,
            message_bytes: 3,
            message_depth: 4,
            message_held: 8,
            log_lines: 5,
            log_bytes: 9,
            log_rate: 7,
            reports: 6,
            report_bytes: 10,
            kind: JobKind::ToolScript,
        };
        let frame = ToWorker::Run(Box::new(job.clone()))
            .to_frame(Limits::default())
            .unwrap();
        assert_eq!(
            ToWorker::from_body(&frame[HEADER..]).unwrap(),
            ToWorker::Run(Box::new(job))
        );
    }

    /// What a worker that was taken over may send, and the harmless twin of each.
    #[test]
    fn hostile_frames_are_refused_and_their_twins_are_read() {
        const ENDLESS: [u8; 10] = [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f];
        /// The last fields of an ending, all of them empty.
        const REST: [u8; 4] = [0; 4];
        let huge = [&[0xff; 9][..], &[0x01]].concat();
        // The kind of a message, then its fields.
        let frame = |parts: &[&[u8]]| parts.concat();
        let cases = [
            // A kind that does not exist.
            (frame(&[&[5]]), frame(&[&[1], &[0]]), FrameError::Malformed),
            (
                frame(&[&[0xff, 0xff, 0x03]]),
                frame(&[&[1], &[0]]),
                FrameError::Malformed,
            ),
            // A block that claims to be huge, and one that claims a byte too much.
            (
                frame(&[&[1], &huge]),
                frame(&[&[1], &[2, 7, 7]]),
                FrameError::Malformed,
            ),
            (
                frame(&[&[1], &[3, 7, 7]]),
                frame(&[&[1], &[2, 7, 7]]),
                FrameError::Malformed,
            ),
            // A number that goes on beyond 64 bits.
            (
                frame(&[&[0], &ENDLESS, &[0, 0, 0]]),
                frame(&[&[0], &huge, &[0, 0, 0]]),
                FrameError::Malformed,
            ),
            // A result that is neither good nor bad.
            (
                frame(&[&[3], &[1], &[2, 0]]),
                frame(&[&[3], &[1], &[1, 0]]),
                FrameError::Malformed,
            ),
            // An ending that is none, an option that is neither there nor not, a text that is no text.
            (
                frame(&[&[4], &[4, 0, 0, 0, 0], &REST]),
                frame(&[&[4], &[3, 0, 0, 0, 0], &REST]),
                FrameError::Malformed,
            ),
            (
                frame(&[&[4], &[0, 0, 2, 0, 0], &REST]),
                frame(&[&[4], &[0, 0, 0, 0, 0], &REST]),
                FrameError::Malformed,
            ),
            (
                frame(&[&[4], &[1, 0, 1, 1, 0xff, 0, 0, 0, 0, 0, 0, 0, 0, 0], &REST]),
                frame(&[&[4], &[1, 0, 1, 1, b'x', 0, 0, 0, 0, 0, 0, 0, 0, 0], &REST]),
                FrameError::Malformed,
            ),
            // Something after the end, and nothing at all.
            (
                frame(&[&[1], &[0], &[0]]),
                frame(&[&[1], &[0]]),
                FrameError::Trailing,
            ),
            (Vec::new(), frame(&[&[1], &[0]]), FrameError::Malformed),
        ];
        for (hostile, twin, error) in cases {
            assert_eq!(FromWorker::from_body(&hostile), Err(error), "{hostile:?}");
            assert!(FromWorker::from_body(&twin).is_ok(), "{twin:?}");
        }
    }

    #[test]
    fn a_message_beyond_the_limit_is_not_sent_and_one_within_is() {
        let limits = Limits {
            bytes: 16,
            depth: 1,
            held: 16,
        };
        let report = |size: usize| FromWorker::Report {
            value: vec![7; size].into(),
        };
        let most = FromWorker::most(limits);
        // A kind and three bytes of length stand before the block.
        assert!(report(most - 4).to_frame(limits).is_ok());
        let refused = report(most - 3).to_frame(limits);
        assert_eq!(refused, Err(FrameError::TooLarge(most)));
    }
}
