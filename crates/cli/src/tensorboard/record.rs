//! TFRecord: length, its checksum, the data, its checksum; all little-endian.
//! (<https://www.tensorflow.org/tutorials/load_data/tfrecord#tfrecords_format_details>)

/// CRC-32C turned and moved, so that a checksum of data that holds checksums is no accident.
fn masked(data: &[u8]) -> u32 {
    crc32c::crc32c(data).rotate_right(15).wrapping_add(0xa282_ead8)
}

/// Data as one record.
pub(super) fn framed(data: &[u8]) -> Vec<u8> {
    let length = (data.len() as u64).to_le_bytes();
    let mut record = Vec::with_capacity(data.len() + 16);
    record.extend(length);
    record.extend(masked(&length).to_le_bytes());
    record.extend(data);
    record.extend(masked(data).to_le_bytes());
    record
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The check value of CRC-32C (RFC 3720, B.4: 32 bytes of zeros) and of its catalogue ("123456789").
    #[test]
    fn checksum() {
        assert_eq!(crc32c::crc32c(b"123456789"), 0xe306_9283);
        assert_eq!(crc32c::crc32c(&[0; 32]), 0x8a91_36aa);
        assert_eq!(masked(&[0; 32]), 0x8a91_36aau32.rotate_right(15).wrapping_add(0xa282_ead8));
    }

    /// As TensorBoard's own writer writes it (`scripts/read_events.py golden`).
    #[test]
    fn an_event_is_the_record_that_tensorboard_writes() {
        let scalar = crate::tensorboard::event::Scalar { tag: "train/loss", value: 0.5 };
        let event = crate::tensorboard::event::Event::scalars(3, [scalar].into_iter());
        let hex: String = framed(&event.bytes()).iter().map(|b| format!("{b:02x}")).collect();
        let golden = "200000000000000029eda95009000000000000084010032a130a110a0a747261696e2f6c6f7373150000003ffd1d8a31";
        assert_eq!(hex, golden);
    }
}
