//! A number of the account that is the instrument's own unless one is given.

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};

/// What stands for the instrument's own number.
pub(super) const OWN: &str = "own";

/// Keys with such a number.
pub(super) const KEYS: [&str; 5] = [
    "market.half_spread_bp",
    "market.taker_fee_bp",
    "market.maker_fee_bp",
    "market.financing_long_bp",
    "market.financing_short_bp",
];

/// A cost in basis points, or the instrument's own: written as a number, or as `"own"`. 0 is a cost of nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Cost {
    /// As the instrument has it.
    #[default]
    Own,
    /// This many basis points.
    Bp(f64),
}

impl Cost {
    /// In 1e-7, where `own` is the instrument's.
    pub(crate) fn e7_or(self, own: i32) -> i32 {
        match self {
            Cost::Own => own,
            Cost::Bp(bp) => (bp * 1e3).round() as i32,
        }
    }

    /// The number, where one is given.
    pub(super) fn given(self) -> Option<f64> {
        match self {
            Cost::Own => None,
            Cost::Bp(bp) => Some(bp),
        }
    }
}

impl Serialize for Cost {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Cost::Own => serializer.serialize_str(OWN),
            Cost::Bp(bp) => serializer.serialize_f64(*bp),
        }
    }
}

impl<'de> Deserialize<'de> for Cost {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Given {
            Bp(f64),
            Word(String),
        }
        match Given::deserialize(deserializer) {
            Ok(Given::Bp(bp)) => Ok(Cost::Bp(bp)),
            Ok(Given::Word(word)) if word == OWN => Ok(Cost::Own),
            _ => Err(D::Error::custom(format!("give basis points, or \"{OWN}\""))),
        }
    }
}

impl JsonSchema for Cost {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Cost".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": ["number", "string"] })
    }
}
