//! Streams that are cut: into pieces, which changes nothing, and off, which is told.

use proptest::prelude::*;
use ringfence_dialect::provider::{Provider, ReadError, Turn, TurnEvent};

use super::recorded::turns;

fn read(provider: Provider, pieces: &[&[u8]]) -> (Vec<TurnEvent>, Result<Turn, ReadError>) {
    let mut reader = provider.reader();
    let mut told = Vec::new();
    for piece in pieces {
        match reader.feed(piece) {
            Ok(events) => told.extend(events),
            Err(error) => return (told, Err(error)),
        }
    }
    (told, reader.finish())
}

/// A stream cut off at any byte is the whole turn, or an error that says what is missing: never another turn.
#[test]
fn a_stream_that_is_cut_off_anywhere_is_a_clear_outcome() {
    for provider in Provider::ALL {
        for recorded in turns(provider).into_iter().take(2) {
            let stream = recorded.stream.as_bytes();
            let (_, whole) = read(provider, &[stream]);
            let whole = whole.unwrap();
            let mut turned = 0;
            for cut in 0..stream.len() {
                match read(provider, &[&stream[..cut]]).1 {
                    Ok(turn) => {
                        turned += 1;
                        assert_eq!(turn.parts, whole.parts, "{provider:?} at {cut}");
                        assert_eq!(turn.items, whole.items, "{provider:?} at {cut}");
                    }
                    Err(error) => {
                        assert_eq!(
                            error.code(),
                            "answer_cut_off",
                            "{provider:?} at {cut}: {error}"
                        );
                        assert!(error.is_transient());
                        assert_eq!(turned, 0, "{provider:?} at {cut}: it was whole before");
                    }
                }
            }
            assert!(
                turned > 0,
                "{provider:?}: the empty line at the end may be missing"
            );
        }
    }
}

#[test]
fn each_byte_for_itself_is_the_same_turn_and_the_same_events() {
    for provider in Provider::ALL {
        for recorded in turns(provider) {
            let stream = recorded.stream.as_bytes();
            let bytes: Vec<&[u8]> = stream.chunks(1).collect();
            assert_eq!(
                read(provider, &bytes),
                read(provider, &[stream]),
                "{provider:?}"
            );
        }
    }
}

/// Events of a server that keeps the connection alive, at the borders between others.
const KEEP_ALIVES: [&str; 6] = [
    ": keep-alive\n\n",
    ":\r\n\r\n",
    "event: ping\ndata: {\"type\": \"ping\"}\n\n",
    "\n\n\n",
    "id: 7\nretry: 10000\n\n",
    "event: x_new\ndata: {\"type\":\"x_new\",\"index\":0,\"y\":[1]}\n\n",
];

fn with_keep_alives(stream: &str, places: &[usize]) -> String {
    let mut mixed = String::new();
    for (number, event) in stream.split_inclusive("\n\n").enumerate() {
        if let Some(place) = places.get(number % places.len().max(1)) {
            mixed += KEEP_ALIVES.get(*place).copied().unwrap_or_default();
        }
        mixed += event;
    }
    mixed
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn any_pieces_and_any_keep_alives_give_the_same_turn(
        api in 0_usize..3,
        number in 0_usize..10,
        cuts in proptest::collection::vec(0.0_f64..1.0, 0..40),
        places in proptest::collection::vec(0_usize..8, 0..20),
        ends in 0_usize..3,
    ) {
        let provider = Provider::ALL[api];
        let recorded = &turns(provider)[number];
        let expected = read(provider, &[recorded.stream.as_bytes()]);
        // Chunks of Chat have no names: an event with one is another server's.
        let places = if provider == Provider::OpenAiChat {
            places.into_iter().filter(|place| [0, 1, 3, 4].contains(place)).collect()
        } else {
            places
        };
        let mixed = with_keep_alives(&recorded.stream, &places);
        let mixed = mixed.replace("\r\n", "\n").replace('\n', ["\n", "\r\n", "\r"][ends]);
        let bytes = mixed.as_bytes();
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, clippy::cast_precision_loss, reason = "a place in the stream")]
        let mut at: Vec<usize> = cuts.iter().map(|cut| (cut * bytes.len() as f64) as usize).collect();
        at.extend([0, bytes.len()]);
        at.sort_unstable();
        let pieces: Vec<&[u8]> = at.windows(2).map(|ends| &bytes[ends[0]..ends[1]]).collect();
        prop_assert_eq!(read(provider, &pieces), expected);
    }

    #[test]
    fn no_bytes_at_all_make_a_reader_panic(
        api in 0_usize..3,
        bytes in proptest::collection::vec(any::<u8>(), 0..200),
        json in "(data: (\\{\"(type|choices|delta|index|item|content_block)\":[\\[{\"0-9a-z}\\]]{0,9}\\}|x)\n\n){0,5}",
    ) {
        let provider = Provider::ALL[api];
        let _ = read(provider, &[&bytes, json.as_bytes()]);
        let _ = provider.read(&bytes);
    }
}
