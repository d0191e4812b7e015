//! The part of TensorBoard's protobuf messages that scalars need (`tensorboard/compat/proto/event.proto`, `summary.proto`).

use prost::{Message, Oneof};

/// One line of a log.
#[derive(Clone, PartialEq, Message)]
pub(super) struct Event {
    /// Seconds since 1970.
    #[prost(double, tag = "1")]
    wall_time: f64,
    #[prost(int64, tag = "2")]
    step: i64,
    #[prost(oneof = "What", tags = "3, 5")]
    what: Option<What>,
}

#[derive(Clone, PartialEq, Oneof)]
enum What {
    #[prost(string, tag = "3")]
    FileVersion(String),
    #[prost(message, tag = "5")]
    Summary(Summary),
}

#[derive(Clone, PartialEq, Message)]
struct Summary {
    #[prost(message, repeated, tag = "1")]
    value: Vec<Value>,
}

#[derive(Clone, PartialEq, Message)]
struct Value {
    #[prost(string, tag = "1")]
    tag: String,
    // TensorBoard's scalars have 32 bits. Without a oneof a zero would be left out, which reads as no value.
    #[prost(float, optional, tag = "2")]
    simple_value: Option<f32>,
}

/// A number under its name.
pub(super) struct Scalar {
    pub(super) tag: &'static str,
    pub(super) value: f64,
}

impl Event {
    /// What a file begins with.
    pub(super) fn version() -> Self {
        Event { wall_time: 0.0, step: 0, what: Some(What::FileVersion("brain.Event:2".into())) }
    }

    /// Scalars at a step, whose wall time is the step.
    pub(super) fn scalars(step: i64, scalars: impl Iterator<Item = Scalar>) -> Self {
        let value =
            scalars.map(|s| Value { tag: s.tag.into(), simple_value: Some(s.value as f32) }).collect();
        Event { wall_time: step as f64, step, what: Some(What::Summary(Summary { value })) }
    }

    pub(super) fn bytes(&self) -> Vec<u8> {
        self.encode_to_vec()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By hand, after the protobuf encoding: field and wire type, then the value.
    #[test]
    fn bytes_are_those_of_the_messages() {
        let first = b"\x1a\x0dbrain.Event:2";
        assert_eq!(Event::version().bytes(), first);
        let zero = Scalar { tag: "a", value: 0.0 };
        let two = Scalar { tag: "bc", value: -2.0 };
        let bytes = Event::scalars(3, [zero, two].into_iter()).bytes();
        let want = [
            &b"\x09\x00\x00\x00\x00\x00\x00\x08\x40"[..], // 1: double 3.0
            b"\x10\x03",                                  // 2: 3
            b"\x2a\x15",                                  // 5: 21 bytes
            b"\x0a\x08\x0a\x01a\x15\x00\x00\x00\x00",     // 1: { 1: "a", 2: 0.0 }
            b"\x0a\x09\x0a\x02bc\x15\x00\x00\x00\xc0",    // 1: { 1: "bc", 2: -2.0 }
        ];
        assert_eq!(bytes, want.concat());
    }
}
