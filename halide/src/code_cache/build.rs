//! The build that this is: the file whose code runs here.
//!
//! Code calls functions of the runtime, and how it is compiled changes with the library. So code is kept for the very
//! program or shared library that this crate is linked into: by the identity that linkers give it, where there is one,
//! with its size and age, or else by its bytes.

use super::origin::CacheProblem;
use sha2::{Digest, Sha256};
use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::PathBuf;
use std::time::UNIX_EPOCH;

/// The identity of a build.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Build {
    version: &'static str,
    identity: Vec<u8>,
}

impl Build {
    /// Finds the identity of the running program.
    pub(super) fn find() -> Result<Build, CacheProblem> {
        let identity = identity().map_err(|error| CacheProblem::Build { error: error.to_string() })?;
        Ok(Build { version: env!("CARGO_PKG_VERSION"), identity })
    }
}

fn identity() -> io::Result<Vec<u8>> {
    let mut file = File::open(own_file()?)?;
    match linked_id(&mut file)? {
        Some(mut id) => {
            // Some builds set it to a constant.
            let of = file.metadata()?;
            let age = of.modified()?.duration_since(UNIX_EPOCH).map_or(0, |age| age.as_nanos());
            id.extend(of.len().to_le_bytes());
            id.extend(age.to_le_bytes());
            Ok(id)
        }
        None => {
            file.seek(SeekFrom::Start(0))?;
            let (mut hash, mut chunk) = (Sha256::new(), vec![0; 1 << 16]);
            loop {
                match file.read(&mut chunk)? {
                    0 => return Ok(hash.finalize().to_vec()),
                    read => hash.update(&chunk[..read]),
                }
            }
        }
    }
}

/// The file that this code is in: the program, or on Linux a shared library that it has loaded.
fn own_file() -> io::Result<PathBuf> {
    if cfg!(target_os = "linux") {
        let here = own_file as fn() -> io::Result<PathBuf> as usize as u64;
        let maps = fs::read_to_string("/proc/self/maps")?;
        if let Some(path) = maps.lines().find_map(|line| mapped_at(line, here)) {
            return Ok(PathBuf::from(path));
        }
    }
    std::env::current_exe()
}

/// The file of a line of `/proc/self/maps`, if an address is within.
fn mapped_at(line: &str, address: u64) -> Option<&str> {
    // 5600-5700 r-xp 00001000 fd:00 1234    /usr/bin/halide
    let (range, _) = line.split_once(' ')?;
    let (from, to) = range.split_once('-')?;
    let number = |text| u64::from_str_radix(text, 16).ok();
    let path = &line[line.find('/')?..];
    (number(from)?..number(to)?).contains(&address).then_some(path)
}

/// The note of a linker with the identity of an ELF file of 64 bits, little-endian; `None` where there is none.
fn linked_id(file: &mut File) -> io::Result<Option<Vec<u8>>> {
    const NOTES: u32 = 4;
    let mut header = [0; 64];
    if file.read_exact(&mut header).is_err() || header[..6] != *b"\x7fELF\x02\x01" {
        return Ok(None);
    }
    let word = |bytes: &[u8], at: usize| u64::from_le_bytes(std::array::from_fn(|i| bytes[at + i]));
    let half = |bytes: &[u8], at: usize| u16::from_le_bytes([bytes[at], bytes[at + 1]]);
    let (table, size, count) = (word(&header, 32), u64::from(half(&header, 54)), u64::from(half(&header, 56)));
    for i in 0..count {
        let mut row = [0; 56];
        let Some(at) = table.checked_add(i * size) else { return Ok(None) };
        file.seek(SeekFrom::Start(at))?;
        file.read_exact(&mut row)?;
        if u32::from_le_bytes([row[0], row[1], row[2], row[3]]) != NOTES {
            continue;
        }
        let mut notes = Vec::new();
        file.seek(SeekFrom::Start(word(&row, 8)))?;
        // Notes are short; what is no note of a linker is not read.
        file.take(word(&row, 32).min(1 << 16)).read_to_end(&mut notes)?;
        if let Some(id) = gnu_id(&notes) {
            return Ok(Some(id.to_vec()));
        }
    }
    Ok(None)
}

/// The identity among notes: rows of three lengths, a name and a description, each padded to four bytes.
fn gnu_id(mut notes: &[u8]) -> Option<&[u8]> {
    const ID: u32 = 3;
    loop {
        let (head, rest) = notes.split_first_chunk::<12>()?;
        let word = |at: usize| u32::from_le_bytes(std::array::from_fn(|i| head[at + i]));
        let padded = |length: u32| (length as usize).next_multiple_of(4);
        let (name, rest) = rest.split_at_checked(padded(word(0)))?;
        let (description, rest) = rest.split_at_checked(padded(word(4)))?;
        if word(8) == ID && name == b"GNU\0" {
            return description.get(..word(4) as usize).filter(|id| id.len() >= 8);
        }
        notes = rest;
    }
}

#[cfg(test)]
mod tests {
    use crate::code_cache::build::*;

    #[test]
    fn the_running_program_has_an_identity() {
        assert_eq!(
            own_file().unwrap().canonicalize().unwrap(),
            std::env::current_exe().unwrap().canonicalize().unwrap()
        );
        let (one, two) = (Build::find().unwrap(), Build::find().unwrap());
        assert_eq!(one, two);
        assert!(one.identity.len() >= 20, "{one:?}");
    }

    #[test]
    fn identities_are_found_among_notes() {
        let note = |kind: u32, name: &[u8], description: &[u8]| {
            let mut out = Vec::new();
            [name.len() as u32, description.len() as u32, kind].iter().for_each(|n| out.extend(n.to_le_bytes()));
            for part in [name, description] {
                out.extend(part);
                out.resize(out.len().next_multiple_of(4), 0);
            }
            out
        };
        let (other, own) = (note(1, b"GNU\0", b"abi"), note(3, b"GNU\0", b"0123456789"));
        assert_eq!(gnu_id(&[other.clone(), own.clone()].concat()), Some(&b"0123456789"[..]));
        assert_eq!(gnu_id(&other), None);
        assert_eq!(gnu_id(&note(3, b"Go\0\0", b"0123456789")), None);
        for end in 0..own.len() - 2 {
            assert_eq!(gnu_id(&own[..end]), None, "{end}");
        }
    }

    #[test]
    fn addresses_belong_to_the_file_mapped_there() {
        let line = "5600-5700 r-xp 00001000 fd:00 1234    /usr/lib/my halide.so";
        assert_eq!(mapped_at(line, 0x5600), Some("/usr/lib/my halide.so"));
        assert_eq!((mapped_at(line, 0x5700), mapped_at("5600-5700 rw-p 0 00:00 0", 0x5600)), (None, None));
    }
}
