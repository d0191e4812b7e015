//! The structs of a Parquet file's directory and page headers, as `parquet.thrift` has them: which kind of value each field is.
//!
//! The Parquet crate reads a field that it knows as what the format says, whatever its stored type is. Damage that changes a type makes
//! it read on at another byte than a reader that goes by the stored types, and there a list may have two billion elements. So both
//! have to agree on every field that the crate knows, which are those that stand here.

/// What a field is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// True or false.
    Truth,
    /// An integer of one byte.
    Byte,
    /// An integer of 16, 32 or 64 bits, or an enum.
    Number,
    /// A number of 64 bits with a point.
    Double,
    /// Text or bytes.
    Text,
    /// A struct or a union.
    One(Fields),
    /// A list.
    Many(&'static Form),
}

/// Fields by their numbers.
pub(super) type Fields = &'static [(i16, Form)];

use Form::{Byte, Double, Many, Number, One, Text, Truth};

const EMPTY: Form = One(&[]);
const TIME_UNIT: Form = One(&[(1, EMPTY), (2, EMPTY), (3, EMPTY)]);
const TIME: Form = One(&[(1, Truth), (2, TIME_UNIT)]);
const LOGICAL_TYPE: Form = One(&[
    (1, EMPTY),
    (2, EMPTY),
    (3, EMPTY),
    (4, EMPTY),
    (5, One(&[(1, Number), (2, Number)])),
    (6, EMPTY),
    (7, TIME),
    (8, TIME),
    (10, One(&[(1, Byte), (2, Truth)])),
    (11, EMPTY),
    (12, EMPTY),
    (13, EMPTY),
    (14, EMPTY),
    (15, EMPTY),
    (16, One(&[(1, Byte)])),
    (17, One(&[(1, Text)])),
    (18, One(&[(1, Text), (2, Number)])),
]);

/// A column or a group of columns.
pub(super) const SCHEMA_ELEMENT: Fields = &[
    (1, Number),
    (2, Number),
    (3, Number),
    (SCHEMA_NAME, Text),
    (SCHEMA_CHILDREN, Number),
    (6, Number),
    (7, Number),
    (8, Number),
    (9, Number),
    (10, LOGICAL_TYPE),
];
/// The name of a schema's element.
pub(super) const SCHEMA_NAME: i16 = 4;
/// How many elements a group has.
pub(super) const SCHEMA_CHILDREN: i16 = 5;

const KEY_VALUE: Form = One(&[(1, Text), (2, Text)]);
const STATISTICS: Form = One(&[
    (1, Text),
    (2, Text),
    (3, Number),
    (4, Number),
    (5, Text),
    (6, Text),
    (7, Truth),
    (8, Truth),
    (9, Number),
]);
const BOX: Form = One(&[
    (1, Double),
    (2, Double),
    (3, Double),
    (4, Double),
    (5, Double),
    (6, Double),
    (7, Double),
    (8, Double),
]);
const COLUMN_META_DATA: Form = One(&[
    (1, Number),
    (2, Many(&Number)),
    (3, Many(&Text)),
    (4, Number),
    (5, Number),
    (6, Number),
    (7, Number),
    (8, Many(&KEY_VALUE)),
    (9, Number),
    (10, Number),
    (11, Number),
    (12, STATISTICS),
    (13, Many(&One(&[(1, Number), (2, Number), (3, Number)]))),
    (14, Number),
    (15, Number),
    (16, One(&[(1, Number), (2, Many(&Number)), (3, Many(&Number))])),
    (17, One(&[(1, BOX), (2, Many(&Number))])),
]);
const COLUMN_CHUNK: Form =
    One(&[(1, Text), (2, Number), (3, COLUMN_META_DATA), (4, Number), (5, Number), (6, Number), (7, Number)]);
const SORTING_COLUMN: Form = One(&[(1, Number), (2, Truth), (3, Truth)]);
const ROW_GROUP: Form = One(&[
    (1, Many(&COLUMN_CHUNK)),
    (2, Number),
    (3, Number),
    (4, Many(&SORTING_COLUMN)),
    (5, Number),
    (6, Number),
    (7, Number),
]);

/// A file's directory.
pub(super) const FILE_META_DATA: Fields = &[
    (1, Number),
    (FILE_SCHEMA, Many(&One(SCHEMA_ELEMENT))),
    (3, Number),
    (4, Many(&ROW_GROUP)),
    (5, Many(&KEY_VALUE)),
    (6, Text),
    (7, Many(&One(&[(1, EMPTY), (2, EMPTY), (3, EMPTY)]))),
];
/// The schema, in a file's directory.
pub(super) const FILE_SCHEMA: i16 = 2;

/// The header of a page.
pub(super) const PAGE_HEADER: Fields = &[
    (1, Number),
    (PAGE_UNPACKED, Number),
    (PAGE_PACKED, Number),
    (4, Number),
    (5, One(&[(1, Number), (2, Number), (3, Number), (4, Number), (5, STATISTICS)])),
    (6, EMPTY),
    (7, One(&[(1, Number), (2, Number), (3, Truth)])),
    (
        8,
        One(&[
            (1, Number),
            (2, Number),
            (3, Number),
            (4, Number),
            (5, Number),
            (6, Number),
            (7, Truth),
            (8, STATISTICS),
        ]),
    ),
];
/// Bytes of a page when it is unpacked.
pub(super) const PAGE_UNPACKED: i16 = 2;
/// Bytes of a page as it is stored.
pub(super) const PAGE_PACKED: i16 = 3;
