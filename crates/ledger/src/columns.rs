//! The columns of the two Parquet files: name, type, and how each is taken from a row and put back.

use crate::rows::{Action, BarFlags, BarRow, FillReason, FillRow, Leg, OrderEnd};

/// How a column is stored, and the way to and from a row of type `R`.
pub(crate) enum Kind<R> {
    /// 32-bit integers; the annotation tells readers what they mean.
    I32 { annotation: &'static str, get: fn(&R) -> i32, set: fn(&mut R, i32) -> bool },
    /// 64-bit integers.
    I64 { annotation: &'static str, get: fn(&R) -> i64, set: fn(&mut R, i64) -> bool },
    /// Booleans.
    Bool { get: fn(&R) -> bool, set: fn(&mut R, bool) -> bool },
    /// One of a few words, so that the file explains itself.
    Word { get: fn(&R) -> &'static str, set: fn(&mut R, &str) -> bool },
}

/// A column. `set` answers false for a value that no row can hold.
pub(crate) struct ColumnSpec<R> {
    pub(crate) name: &'static str,
    pub(crate) kind: Kind<R>,
}

/// A table that can be stored.
pub(crate) trait Row: Copy + 'static {
    /// Name of the table, for the schema.
    const TABLE: &'static str;
    /// A row to fill in while reading.
    const BLANK: Self;
    /// Last columns that files of earlier programs don't have; of their rows they are as in [`Row::BLANK`].
    const LATER: usize = 0;
    /// The columns in file order.
    fn columns() -> Vec<ColumnSpec<Self>>;
}

/// The Parquet schema of a table with these columns.
pub(crate) fn schema<R: Row>(columns: &[ColumnSpec<R>]) -> String {
    let mut text = format!("message {} {{\n", R::TABLE);
    for column in columns {
        let (physical, annotation) = match column.kind {
            Kind::I32 { annotation, .. } => ("INT32", annotation),
            Kind::I64 { annotation, .. } => ("INT64", annotation),
            Kind::Bool { .. } => ("BOOLEAN", ""),
            Kind::Word { .. } => ("BYTE_ARRAY", "(STRING)"),
        };
        text.push_str(&format!("  REQUIRED {physical} {} {annotation};\n", column.name));
    }
    text.push('}');
    text
}

const UNSIGNED_32: &str = "(INTEGER(32,false))";
const UNSIGNED_8: &str = "(INTEGER(8,false))";
const TIME: &str = "(TIMESTAMP(NANOS,true))";
const DATE: &str = "(DATE)";

/// A column that is a field of its own type.
macro_rules! plain {
    ($kind:ident, $name:literal, $annotation:expr, $($field:ident).+) => {
        ColumnSpec {
            name: $name,
            kind: Kind::$kind {
                annotation: $annotation,
                get: |row| row.$($field).+,
                set: |row, value| { row.$($field).+ = value; true },
            },
        }
    };
}

/// A `u32` field, kept in the bits of an `i32` as Parquet does.
macro_rules! unsigned {
    ($name:literal, $field:ident) => {
        ColumnSpec {
            name: $name,
            kind: Kind::I32 {
                annotation: UNSIGNED_32,
                get: |row| row.$field.cast_signed(),
                set: |row, value| {
                    row.$field = value.cast_unsigned();
                    true
                },
            },
        }
    };
}

macro_rules! byte {
    ($name:literal, $($field:ident).+) => {
        ColumnSpec {
            name: $name,
            kind: Kind::I32 {
                annotation: UNSIGNED_8,
                get: |row| i32::from(row.$($field).+),
                set: |row, value| u8::try_from(value).map(|value| row.$($field).+ = value).is_ok(),
            },
        }
    };
}

macro_rules! flag {
    ($name:literal, $field:ident) => {
        ColumnSpec {
            name: $name,
            kind: Kind::Bool {
                get: |row| row.flags.$field,
                set: |row, value| {
                    row.flags.$field = value;
                    true
                },
            },
        }
    };
}

macro_rules! word {
    ($name:literal, $field:ident, $type:ty) => {
        ColumnSpec {
            name: $name,
            kind: Kind::Word {
                get: |row| row.$field.word(),
                set: |row, value| <$type>::from_word(value).map(|value| row.$field = value).is_some(),
            },
        }
    };
}

impl Row for BarRow {
    const TABLE: &'static str = "bars";
    const BLANK: Self = Self {
        member: 0,
        bar: 0,
        time_ns: 0,
        day: 0,
        close: 0,
        worst: 0,
        position: 0,
        equity: 0,
        worst_equity: 0,
        cash: 0,
        basis: 0,
        realised: 0,
        fees: 0,
        financing: 0,
        action: Action::FLAT,
        reward_q20: 0,
        flags: BarFlags { terminated: false, truncated: false, liquidated: false, stopped: false },
        order_end: OrderEnd::None,
    };

    fn columns() -> Vec<ColumnSpec<Self>> {
        vec![
            unsigned!("member", member),
            unsigned!("bar", bar),
            plain!(I64, "time_ns", TIME, time_ns),
            plain!(I32, "day", DATE, day),
            plain!(I32, "close", "", close),
            plain!(I32, "worst", "", worst),
            plain!(I32, "position", "", position),
            plain!(I64, "equity", "", equity),
            plain!(I64, "worst_equity", "", worst_equity),
            plain!(I64, "cash", "", cash),
            plain!(I64, "basis", "", basis),
            plain!(I64, "realised", "", realised),
            plain!(I64, "fees", "", fees),
            plain!(I64, "financing", "", financing),
            byte!("exposure", action.exposure),
            byte!("order_type", action.order_type),
            byte!("urgency", action.urgency),
            plain!(I32, "reward_q20", "", reward_q20),
            flag!("terminated", terminated),
            flag!("truncated", truncated),
            flag!("liquidated", liquidated),
            flag!("stopped", stopped),
            word!("order_end", order_end, OrderEnd),
        ]
    }
}

impl Row for FillRow {
    const TABLE: &'static str = "fills";
    const BLANK: Self = Self {
        member: 0,
        bar: 0,
        leg: Leg::Open,
        lots: 0,
        price: 0,
        reference_x4: 0,
        decision_close: 0,
        half_spread: 0,
        impact_x4: 0,
        fee: 0,
        reason: FillReason::Order,
        quoted_x4: 0,
    };
    const LATER: usize = 1;

    fn columns() -> Vec<ColumnSpec<Self>> {
        vec![
            unsigned!("member", member),
            unsigned!("bar", bar),
            word!("leg", leg, Leg),
            plain!(I32, "lots", "", lots),
            plain!(I32, "price", "", price),
            plain!(I64, "reference_x4", "", reference_x4),
            plain!(I32, "decision_close", "", decision_close),
            plain!(I32, "half_spread", "", half_spread),
            plain!(I32, "impact_x4", "", impact_x4),
            plain!(I64, "fee", "", fee),
            word!("reason", reason, FillReason),
            plain!(I32, "quoted_x4", "", quoted_x4),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn schema_is_stable() {
        assert_eq!(
            schema(&FillRow::columns()),
            "message fills {\n  REQUIRED INT32 member (INTEGER(32,false));\n  REQUIRED INT32 bar (INTEGER(32,false));\n  \
             REQUIRED BYTE_ARRAY leg (STRING);\n  REQUIRED INT32 lots ;\n  REQUIRED INT32 price ;\n  \
             REQUIRED INT64 reference_x4 ;\n  REQUIRED INT32 decision_close ;\n  REQUIRED INT32 half_spread ;\n  \
             REQUIRED INT32 impact_x4 ;\n  REQUIRED INT64 fee ;\n  REQUIRED BYTE_ARRAY reason (STRING);\n  \
             REQUIRED INT32 quoted_x4 ;\n}"
        );
    }
}
