//! Any message, in any pieces: the detector neither panics nor loses a byte, and finds the same parts
//! whatever pieces the message comes in.
//!
//! `cargo +nightly fuzz run detect -- -max_total_time=60`

#![no_main]

use libfuzzer_sys::fuzz_target;
use ringfence_dialect::message::{Detector, SourceLimits, detect, joined};

fuzz_target!(|input: (u8, &[u8])| {
    let (size, message) = input;
    let whole = detect(message, SourceLimits::default());
    let again: Vec<u8> = whole.iter().flat_map(|part| part.raw.clone()).collect();
    assert_eq!(again, message);

    let mut detector = Detector::new(SourceLimits::default());
    let mut parts = Vec::new();
    for piece in message.chunks(usize::from(size).max(1)) {
        parts.extend(detector.feed(piece));
    }
    parts.extend(detector.finish());
    assert_eq!(joined(parts), whole);
});
