//! Values to bytes and back: what comes back is what went, and whatever is no value is refused.

use proptest::prelude::*;

use super::decode::{DecodeError, decode};
use super::encode::{EncodeError, FunctionWriter, encode};
use super::wire::{Tag, WireError};
use super::{ErrorValue, Limits, Shared, Value};
use crate::host::{HostFunction, HostPromise, ScriptFunction};

struct NoFunctions;

impl FunctionWriter for NoFunctions {
    fn host_function(&mut self, _: &HostFunction) -> u64 {
        0
    }
    fn promise(&mut self, _: &HostPromise) -> u64 {
        0
    }
    fn script_function(&mut self, _: &ScriptFunction) -> Option<u64> {
        None
    }
}

fn read(bytes: &[u8]) -> Result<Value, DecodeError> {
    let (requests, _) = tokio::sync::mpsc::unbounded_channel();
    let mut functions = |number| ScriptFunction::new(number, requests.clone());
    decode(bytes, Limits::default(), &mut functions).map(|(value, _)| value)
}

fn any_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Undefined),
        Just(Value::Null),
        any::<bool>().prop_map(Value::Bool),
        any::<f64>().prop_map(Value::Number),
        any::<i32>().prop_map(Value::from),
        any::<i64>().prop_map(|number| Value::BigInt(number.into())),
        any::<String>().prop_map(Value::from),
        any::<i32>().prop_map(|time| Value::Date(time.into())),
        any::<Vec<u8>>().prop_map(Value::bytes),
        any::<Vec<u8>>().prop_map(|bytes| Value::Buffer(Shared::new(bytes))),
        Just(Value::RegExp {
            source: "a+".into(),
            flags: "g".into()
        }),
    ];
    leaf.prop_recursive(6, 64, 8, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..8).prop_map(Value::array),
            proptest::collection::vec((any::<String>(), inner.clone()), 0..8).prop_map(unique),
            proptest::collection::vec((inner.clone(), inner.clone()), 0..8)
                .prop_map(|entries| Value::Map(Shared::new(entries))),
            proptest::collection::vec(inner.clone(), 0..8)
                .prop_map(|items| Value::Set(Shared::new(items))),
            inner
                .clone()
                .prop_map(|twice| Value::array([twice.clone(), twice])),
            (
                any::<String>(),
                any::<String>(),
                inner.clone(),
                proptest::option::of(inner)
            )
                .prop_map(|(name, message, cause, errors)| {
                    let cause = Some(cause);
                    Value::Error(Shared::new(ErrorValue {
                        name,
                        message,
                        cause,
                        errors,
                    }))
                }),
        ]
    })
}

fn unique(entries: Vec<(String, Value)>) -> Value {
    let entries: std::collections::BTreeMap<_, _> = entries.into_iter().collect();
    Value::object(entries)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_bytes_are_a_value_or_an_error(bytes: Vec<u8>) {
        let _ = read(&bytes);
    }

    #[test]
    fn values_come_back_as_they_were(value in any_value()) {
        let bytes = encode(&value, Limits::default(), &mut NoFunctions).unwrap();
        let again = read(&bytes).unwrap();
        prop_assert_eq!(again.to_json(), value.to_json());
        prop_assert_eq!(Value::from_json(&value.to_json()).unwrap().to_json(), value.to_json());
    }

    #[test]
    fn changed_bytes_are_a_value_or_an_error(
        value in any_value(),
        changes in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..8),
    ) {
        let mut bytes = encode(&value, Limits::default(), &mut NoFunctions).unwrap();
        for (at, byte) in changes {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        if let Ok(value) = read(&bytes) {
            let _ = value.to_json();
        }
    }

    #[test]
    fn cut_bytes_are_an_error(value in any_value(), at: prop::sample::Index) {
        let bytes = encode(&value, Limits::default(), &mut NoFunctions).unwrap();
        prop_assert!(read(&bytes[..at.index(bytes.len())]).is_err());
    }
}

#[test]
fn lengths_are_not_believed() {
    // An array, a map, a buffer and a text that claim to be huge.
    for tag in [
        Tag::Object,
        Tag::Array,
        Tag::Map,
        Tag::Set,
        Tag::Buffer,
        Tag::Utf8,
        Tag::Utf16,
    ] {
        let bytes = [&[tag as u8][..], &[0xff; 9], &[0x01]].concat();
        assert!(read(&bytes).is_err());
    }
}

#[test]
fn depth_is_bounded() {
    let bytes = [Tag::Array as u8, 1].repeat(100_000);
    assert_eq!(
        read(&bytes).unwrap_err(),
        DecodeError(WireError::TooDeep(400))
    );
}

#[test]
fn references_to_what_has_not_begun_are_refused() {
    let bytes = [Tag::Array as u8, 1, Tag::Ref as u8, 1];
    assert_eq!(
        read(&bytes).unwrap_err(),
        DecodeError(WireError::DanglingReference)
    );
}

#[test]
fn a_part_without_its_whole_cannot_be_sent() {
    let whole = read(&[Tag::Array as u8, 1, Tag::Ref as u8, 0]).unwrap();
    let part = whole.as_array().unwrap()[0].clone();
    let sent = encode(&part, Limits::default(), &mut NoFunctions);
    assert_eq!(sent.unwrap_err(), EncodeError::DetachedReference);
}
