//! The file of a variant: its key, what a run needs of its program, its code, and a checksum of all of it.
//!
//! ```text
//! magic       16 bytes, with the version of this form
//! key         32 bytes
//! lengths     3 words of 8 bytes, little-endian
//! tables      the program without statements, as text
//! footprint   the memory that runs need, as text
//! image       machine code (`halide_cpu::CodeImage`)
//! checksum    32 bytes: SHA-256 of all that stands before
//! ```

use super::key::Key;
use halide_cpu::CodeImage;
use sha2::{Digest, Sha256};

const MAGIC: &[u8; 16] = b"halide code 1\n\0\0";

/// The contents of a file.
pub(super) struct Entry {
    pub(super) tables: String,
    pub(super) footprint: String,
    pub(super) image: CodeImage,
}

impl Entry {
    pub(super) fn to_bytes(&self, key: &Key) -> Vec<u8> {
        let image = self.image.to_bytes();
        let parts = [self.tables.as_bytes(), self.footprint.as_bytes(), &image];
        let mut out = Vec::new();
        out.extend(MAGIC);
        out.extend(key.bytes());
        parts.iter().for_each(|part| out.extend((part.len() as u64).to_le_bytes()));
        parts.iter().for_each(|part| out.extend(*part));
        let sum = Sha256::digest(&out);
        out.extend(&sum[..]);
        out
    }

    /// The contents of the file of `key`; `None` if it is not as it was written.
    pub(super) fn from_bytes(bytes: &[u8], key: &Key) -> Option<Entry> {
        let (body, sum) = bytes.split_last_chunk::<32>()?;
        if Sha256::digest(body)[..] != sum[..] {
            return None;
        }
        let mut rest = behind(behind(body, MAGIC)?, key.bytes())?;
        let mut lengths = [0; 3];
        for length in &mut lengths {
            let (word, behind) = rest.split_first_chunk()?;
            (*length, rest) = (usize::try_from(u64::from_le_bytes(*word)).ok()?, behind);
        }
        let (tables, rest) = rest.split_at_checked(lengths[0])?;
        let (footprint, image) = rest.split_at_checked(lengths[1])?;
        if image.len() != lengths[2] {
            return None;
        }
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).ok();
        Some(Entry { tables: text(tables)?, footprint: text(footprint)?, image: CodeImage::from_bytes(image)? })
    }
}

/// The bytes behind those that must come first.
fn behind<'b>(bytes: &'b [u8], first: &[u8]) -> Option<&'b [u8]> {
    bytes.split_at_checked(first.len()).filter(|(begin, _)| *begin == first).map(|(_, rest)| rest)
}
