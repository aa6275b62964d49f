//! The frame of JPEG files, to detect truncated ones: decoders accept them.

/// Properties of a file that its markers tell.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Frame {
    /// The image comes in several passes, all of whose coefficients are kept.
    pub(crate) is_progressive: bool,
    /// The image comes to its end.
    pub(crate) is_complete: bool,
}

const START_OF_IMAGE: u8 = 0xd8;
const END_OF_IMAGE: u8 = 0xd9;
const START_OF_SCAN: u8 = 0xda;

/// Walks over the segments of a file up to the end of its image. What follows that end does not matter.
pub(crate) fn frame(bytes: &[u8]) -> Frame {
    let mut frame = Frame::default();
    let mut at = 0;
    while let Some((marker, next)) = next_marker(bytes, at) {
        at = next;
        match marker {
            END_OF_IMAGE => {
                frame.is_complete = true;
                return frame;
            }
            // Restarts, and what has no length.
            0x01 | START_OF_IMAGE | 0xd0..=0xd7 => {}
            _ => {
                frame.is_progressive |= matches!(marker, 0xc2 | 0xc6 | 0xca | 0xce);
                let Some(length) = bytes.get(at..at + 2) else { return frame };
                at += usize::from(u16::from_be_bytes([length[0], length[1]]));
                if marker == START_OF_SCAN {
                    at = end_of_scan(bytes, at);
                }
            }
        }
    }
    frame
}

/// The next marker from `at` on, and what is behind it.
fn next_marker(bytes: &[u8], at: usize) -> Option<(u8, usize)> {
    let mut at = at + bytes.get(at..)?.iter().position(|b| *b == 0xff)?;
    while bytes.get(at) == Some(&0xff) {
        at += 1;
    }
    Some((*bytes.get(at)?, at + 1))
}

/// Returns the position of the first marker that is not part of the data of a scan.
fn end_of_scan(bytes: &[u8], from: usize) -> usize {
    let mut at = from;
    while let Some((marker, next)) = next_marker(bytes, at) {
        match marker {
            0x00 | 0xd0..=0xd7 => at = next,
            // Its own two bytes come again.
            _ => return next - 2,
        }
    }
    bytes.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_ends_at_the_end_of_its_image_and_nowhere_before() {
        let mut file = vec![0xff, 0xd8];
        // A thumbnail with an end of its own lies in a segment.
        file.extend([0xff, 0xe1, 0, 6, 0xff, 0xd8, 0xff, 0xd9]);
        file.extend([0xff, 0xc2, 0, 3, 8]);
        file.extend([0xff, 0xda, 0, 3, 1, 7, 0xff, 0x00, 0xff, 0xd3, 9, 0xff, 0xff, 0xc4, 0, 2]);
        file.extend([0xff, 0xda, 0, 3, 1, 5, 5, 0xff, 0xd9]);
        let whole = Frame { is_progressive: true, is_complete: true };
        assert_eq!(frame(&file), whole);
        for length in 0..file.len() {
            assert!(!frame(&file[..length]).is_complete, "{length}");
        }
        file.extend([1, 2, 3]);
        assert_eq!(frame(&file), whole);
        assert_eq!(frame(b"hello"), Frame::default());
        assert_eq!(frame(&[0xff; 9]), Frame::default());
        assert_eq!(frame(&[0xff, 0xe0, 0xff, 0xff]), Frame::default());
    }
}
