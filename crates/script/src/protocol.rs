//! The frames between the host and the process of one run: a length, a kind, a body.
//!
//! Both sides use these types; neither trusts the other's lengths. Values inside frames stay bytes here: the
//! host decodes them with `value::codec`, the worker with the engine's own reader.

use crate::runtime::RealmKind;
use crate::value::Limits;
use crate::value::wire::{Reader, WireError, Writer};

/// Bytes before the body: its length (with the kind), little-endian.
pub(crate) const HEADER: usize = 4;

/// An encoded value, not yet looked at.
pub(crate) type Encoded = Vec<u8>;

/// How a call ended: a value, or an error value.
pub(crate) type Ended = Result<Encoded, Encoded>;

/// What the host says to a run.
#[derive(Debug, PartialEq)]
pub(crate) enum ToWorker {
    /// Begin; the first frame.
    Run(Box<Job>),
    /// A host function has ended.
    Return { call: u64, ended: Ended },
    /// A promise that was given to the script has settled.
    Settle { promise: u64, ended: Ended },
    /// Call a function of the script.
    Invoke {
        invocation: u64,
        function: u64,
        arguments: Encoded,
    },
    /// The host has dropped its handle on a function of the script.
    Release { function: u64 },
}

/// What a run says to the host.
#[derive(Debug, PartialEq)]
pub(crate) enum FromWorker {
    /// Call a host function; `Return` answers.
    Call {
        call: u64,
        function: u64,
        arguments: Encoded,
    },
    /// A value for the `report` bridge.
    Report { value: Encoded },
    /// A line of the built-in console; `arguments` is an array.
    Log {
        level: u8,
        time: f64,
        arguments: Encoded,
    },
    /// A function of the script that the host called has ended.
    Invoked { invocation: u64, ended: Ended },
    /// The run is over.
    Done(Box<Done>),
}

/// Everything that a run needs.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Job {
    pub(crate) source: String,
    pub(crate) filename: String,
    pub(crate) typescript: bool,
    pub(crate) export: String,
    /// An array.
    pub(crate) arguments: Encoded,
    /// An object of objects.
    pub(crate) imports: Encoded,
    /// An object.
    pub(crate) globals: Encoded,
    /// The names in `globals`, checked by the host to be identifiers.
    pub(crate) global_names: Vec<String>,
    pub(crate) modules: Vec<(String, String)>,
    pub(crate) report: bool,
    pub(crate) memory: u64,
    pub(crate) stack: u64,
    pub(crate) message_bytes: u64,
    pub(crate) message_depth: u64,
    pub(crate) log_lines: u64,
    /// Lines of the console in a second; 0 for no such limit.
    pub(crate) log_rate: u64,
    pub(crate) reports: u64,
    pub(crate) kind: JobKind,
}

/// What a job's source is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum JobKind {
    /// An ES module, of which one export is run.
    #[default]
    Module,
    /// The body of an async function that calls tools.
    ToolScript,
    /// The same, looked at and not run.
    ToolCheck,
}

/// How a run ended, told by its own process.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Done {
    pub(crate) status: u8,
    pub(crate) result: Encoded,
    pub(crate) error: Option<Fault>,
    pub(crate) peak: u64,
    pub(crate) dropped_logs: u64,
}

/// The fields of a `CodeExecutionError`.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Fault {
    pub(crate) name: String,
    pub(crate) message: String,
    pub(crate) stack: Option<String>,
    pub(crate) specifier: Option<String>,
    pub(crate) filename: Option<String>,
    pub(crate) line: Option<u64>,
    pub(crate) column: Option<u64>,
    /// In a tool script: 0 for an error of the script's own, 1 for one of the harness, and from 2 on the number of
    /// the tool call that failed.
    pub(crate) mark: u64,
}

pub(crate) const SUCCESS: u8 = 0;
pub(crate) const ERROR: u8 = 1;
pub(crate) const MEMORY: u8 = 2;
pub(crate) const LINK_ERROR: u8 = 3;

/// A message between the two sides, as one frame with its header.
pub(crate) trait Message: Sized {
    /// Writes kind and body.
    fn write(&self, writer: &mut Writer) -> Result<(), WireError>;
    /// Reads kind and body.
    fn read(reader: &mut Reader<'_>) -> Result<Self, WireError>;

    /// The frame.
    fn to_frame(&self, limits: Limits) -> Result<Vec<u8>, WireError> {
        let mut writer = Writer::new(frame_limit(limits));
        writer.raw(&[0; HEADER])?;
        self.write(&mut writer)?;
        let mut frame = writer.finish();
        let length = u32::try_from(frame.len() - HEADER)
            .map_err(|_| WireError::TooLarge(frame_limit(limits)))?;
        frame[..HEADER].copy_from_slice(&length.to_le_bytes());
        Ok(frame)
    }

    /// Reads the body of a frame, which must be used up.
    fn from_body(body: &[u8]) -> Result<Self, WireError> {
        let mut reader = Reader::new(body);
        let message = Self::read(&mut reader)?;
        reader.finish()?;
        Ok(message)
    }
}

/// A frame holds a message and a little around it; a job holds sources as well.
pub(crate) fn frame_limit(limits: Limits) -> usize {
    limits.bytes.saturating_mul(4).saturating_add(4096)
}

/// The length of the body that a header announces, if it is within the limit.
pub(crate) fn body_length(header: [u8; HEADER], limits: Limits) -> Result<usize, WireError> {
    let length = u32::from_le_bytes(header) as usize;
    if length > frame_limit(limits) {
        return Err(WireError::TooLarge(frame_limit(limits)));
    }
    Ok(length)
}

impl Message for ToWorker {
    fn write(&self, w: &mut Writer) -> Result<(), WireError> {
        match self {
            Self::Run(job) => {
                w.byte(0)?;
                job.write(w)
            }
            Self::Return { call, ended } => {
                w.byte(1)?;
                w.uint(*call)?;
                write_ended(w, ended)
            }
            Self::Settle { promise, ended } => {
                w.byte(2)?;
                w.uint(*promise)?;
                write_ended(w, ended)
            }
            Self::Invoke {
                invocation,
                function,
                arguments,
            } => {
                w.byte(3)?;
                w.uint(*invocation)?;
                w.uint(*function)?;
                w.block(arguments)
            }
            Self::Release { function } => {
                w.byte(4)?;
                w.uint(*function)
            }
        }
    }

    fn read(r: &mut Reader<'_>) -> Result<Self, WireError> {
        Ok(match r.byte()? {
            0 => Self::Run(Box::new(Job::read(r)?)),
            1 => Self::Return {
                call: r.uint()?,
                ended: read_ended(r)?,
            },
            2 => Self::Settle {
                promise: r.uint()?,
                ended: read_ended(r)?,
            },
            3 => Self::Invoke {
                invocation: r.uint()?,
                function: r.uint()?,
                arguments: r.block()?.to_vec(),
            },
            4 => Self::Release {
                function: r.uint()?,
            },
            _ => return Err(WireError::UnknownTag),
        })
    }
}

impl Message for FromWorker {
    fn write(&self, w: &mut Writer) -> Result<(), WireError> {
        match self {
            Self::Call {
                call,
                function,
                arguments,
            } => {
                w.byte(0)?;
                w.uint(*call)?;
                w.uint(*function)?;
                w.block(arguments)
            }
            Self::Report { value } => {
                w.byte(1)?;
                w.block(value)
            }
            Self::Log {
                level,
                time,
                arguments,
            } => {
                w.byte(2)?;
                w.byte(*level)?;
                w.float(*time)?;
                w.block(arguments)
            }
            Self::Invoked { invocation, ended } => {
                w.byte(3)?;
                w.uint(*invocation)?;
                write_ended(w, ended)
            }
            Self::Done(done) => {
                w.byte(4)?;
                w.byte(done.status)?;
                w.block(&done.result)?;
                w.uint(done.peak)?;
                w.uint(done.dropped_logs)?;
                w.byte(u8::from(done.error.is_some()))?;
                done.error.iter().try_for_each(|fault| fault.write(w))
            }
        }
    }

    fn read(r: &mut Reader<'_>) -> Result<Self, WireError> {
        Ok(match r.byte()? {
            0 => Self::Call {
                call: r.uint()?,
                function: r.uint()?,
                arguments: r.block()?.to_vec(),
            },
            1 => Self::Report {
                value: r.block()?.to_vec(),
            },
            2 => Self::Log {
                level: r.byte()?,
                time: r.float()?,
                arguments: r.block()?.to_vec(),
            },
            3 => Self::Invoked {
                invocation: r.uint()?,
                ended: read_ended(r)?,
            },
            4 => Self::Done(Box::new(Done {
                status: r.byte()?,
                result: r.block()?.to_vec(),
                peak: r.uint()?,
                dropped_logs: r.uint()?,
                error: if r.byte()? == 0 {
                    None
                } else {
                    Some(Fault::read(r)?)
                },
            })),
            _ => return Err(WireError::UnknownTag),
        })
    }
}

impl Job {
    fn write(&self, w: &mut Writer) -> Result<(), WireError> {
        w.text(&self.source)?;
        w.text(&self.filename)?;
        w.byte(u8::from(self.typescript))?;
        w.text(&self.export)?;
        w.block(&self.arguments)?;
        w.block(&self.imports)?;
        w.block(&self.globals)?;
        w.uint(self.global_names.len() as u64)?;
        self.global_names.iter().try_for_each(|name| w.text(name))?;
        w.uint(self.modules.len() as u64)?;
        for (specifier, source) in &self.modules {
            w.text(specifier)?;
            w.text(source)?;
        }
        w.byte(u8::from(self.report))?;
        [
            self.memory,
            self.stack,
            self.message_bytes,
            self.message_depth,
            self.log_lines,
            self.log_rate,
            self.reports,
            match self.kind {
                JobKind::Module => 0,
                JobKind::ToolScript => 1,
                JobKind::ToolCheck => 2,
            },
        ]
        .into_iter()
        .try_for_each(|number| w.uint(number))
    }

    fn read(r: &mut Reader<'_>) -> Result<Self, WireError> {
        Ok(Self {
            source: r.text()?.to_owned(),
            filename: r.text()?.to_owned(),
            typescript: r.byte()? != 0,
            export: r.text()?.to_owned(),
            arguments: r.block()?.to_vec(),
            imports: r.block()?.to_vec(),
            globals: r.block()?.to_vec(),
            global_names: read_list(r, |r| Ok(r.text()?.to_owned()))?,
            modules: read_list(r, |r| Ok((r.text()?.to_owned(), r.text()?.to_owned())))?,
            report: r.byte()? != 0,
            memory: r.uint()?,
            stack: r.uint()?,
            message_bytes: r.uint()?,
            message_depth: r.uint()?,
            log_lines: r.uint()?,
            log_rate: r.uint()?,
            reports: r.uint()?,
            kind: match r.uint()? {
                0 => JobKind::Module,
                1 => JobKind::ToolScript,
                2 => JobKind::ToolCheck,
                _ => return Err(WireError::UnknownTag),
            },
        })
    }

    /// The realm that it runs in.
    pub(crate) fn realm(&self) -> RealmKind {
        match self.kind {
            JobKind::Module => RealmKind::Module,
            JobKind::ToolScript | JobKind::ToolCheck => RealmKind::ToolScript,
        }
    }

    pub(crate) fn limits(&self) -> Limits {
        let size = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
        Limits {
            bytes: size(self.message_bytes),
            depth: size(self.message_depth),
        }
    }
}

impl Fault {
    fn write(&self, w: &mut Writer) -> Result<(), WireError> {
        w.text(&self.name)?;
        w.text(&self.message)?;
        for text in [&self.stack, &self.specifier, &self.filename] {
            w.byte(u8::from(text.is_some()))?;
            text.iter().try_for_each(|text| w.text(text))?;
        }
        for number in [self.line, self.column] {
            w.uint(number.map_or(0, |number| number.saturating_add(1)))?;
        }
        w.uint(self.mark)
    }

    fn read(r: &mut Reader<'_>) -> Result<Self, WireError> {
        let name = r.text()?.to_owned();
        let message = r.text()?.to_owned();
        let optional = |r: &mut Reader<'_>| {
            Ok(if r.byte()? == 0 {
                None
            } else {
                Some(r.text()?.to_owned())
            })
        };
        let (stack, specifier, filename) = (optional(r)?, optional(r)?, optional(r)?);
        let (line, column) = (r.uint()?.checked_sub(1), r.uint()?.checked_sub(1));
        let mark = r.uint()?;
        Ok(Self {
            name,
            message,
            stack,
            specifier,
            filename,
            line,
            column,
            mark,
        })
    }
}

fn write_ended(w: &mut Writer, ended: &Ended) -> Result<(), WireError> {
    let (Ok(value) | Err(value)) = ended;
    w.byte(u8::from(ended.is_ok()))?;
    w.block(value)
}

fn read_ended(r: &mut Reader<'_>) -> Result<Ended, WireError> {
    let good = r.byte()? != 0;
    let value = r.block()?.to_vec();
    Ok(if good { Ok(value) } else { Err(value) })
}

fn read_list<T>(
    r: &mut Reader<'_>,
    mut item: impl FnMut(&mut Reader<'_>) -> Result<T, WireError>,
) -> Result<Vec<T>, WireError> {
    let count = r.count(1)?;
    let mut list = Vec::with_capacity(count.min(256));
    for _ in 0..count {
        list.push(item(r)?);
    }
    Ok(list)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn bytes() -> impl Strategy<Value = Vec<u8>> {
        proptest::collection::vec(any::<u8>(), 0..64)
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
                any::<u8>(),
                bytes(),
                proptest::option::of(fault),
                any::<u64>()
            )
                .prop_map(|(status, result, error, peak)| {
                    FromWorker::Done(Box::new(Done {
                        status,
                        result,
                        error,
                        peak,
                        dropped_logs: 1,
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
            prop_assert_eq!(body_length(*header, Limits::default()).unwrap(), body.len());
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
        assert!(body_length([0xff; 4], Limits::default()).is_err());
    }

    #[test]
    fn a_job_comes_back_as_it_was() {
        let job = Job {
            source: "export default 1".to_owned(),
            filename: "a.ts".to_owned(),
            typescript: true,
            export: "default".to_owned(),
            arguments: vec![1, 2],
            imports: vec![3],
            globals: vec![4],
            global_names: vec!["a".to_owned()],
            modules: vec![("./m.js".to_owned(), "export {}".to_owned())],
            report: true,
            memory: 1,
            stack: 2,
            message_bytes: 3,
            message_depth: 4,
            log_lines: 5,
            log_rate: 7,
            reports: 6,
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
}
