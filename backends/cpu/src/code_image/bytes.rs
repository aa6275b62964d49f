//! Code images as bytes, for files.
//!
//! They are written by `words`. What is read may be anything: a length beyond the end, a place outside of its function
//! or a function that is not there gives no image. That the bytes are those that were written, a checksum of the file
//! has to say.

use super::{Callee, CodeImage, ImageAddress, ImageFunction};
use crate::abi::RuntimeFn;
use crate::options::{CodeNotes, CompileStats, KernelLoads};
use crate::words::{Reader, Writer};
use halide_core::ids::{FuncId, Id};

impl CodeImage {
    /// Writes the image.
    pub fn to_bytes(&self) -> Vec<u8> {
        let CodeImage { functions, stats, notes } = self;
        let CodeNotes { refusals, unrolled, loads, large, mnemonics } = notes;
        let mut out = Writer::default();
        out.list(functions, |out, function| {
            out.word(function.align);
            out.bytes(&function.bytes);
            out.list(&function.addresses, |out, address| {
                out.word(u64::from(address.offset));
                out.word(address.addend as u64);
                match &address.of {
                    Callee::Image(n) => out.word(u64::from(*n) << 2),
                    Callee::Runtime(n) => out.word(u64::from(*n) << 2 | 1),
                    Callee::System(name) => {
                        out.word(2);
                        out.bytes(name.as_bytes());
                    }
                }
            });
        });
        for count in [stats.functions, stats.instructions, stats.bytes, stats.kernels] {
            out.word(count as u64);
        }
        out.word(stats.stack);
        out.list(refusals, |out, (name, why)| [name, why].into_iter().for_each(|text| out.bytes(text.as_bytes())));
        out.list(unrolled, |out, (name, copies)| {
            out.bytes(name.as_bytes());
            out.word(*copies as u64);
        });
        out.list(loads, |out, KernelLoads { kernel, way, operations, count }| {
            [kernel, way].into_iter().for_each(|text| out.bytes(text.as_bytes()));
            [operations, count].into_iter().for_each(|number| out.word(*number as u64));
        });
        out.list(large, |out, name| out.bytes(name.as_bytes()));
        out.list(mnemonics, |out, ((func, stage), names)| {
            out.word(func.index() as u64);
            out.word(*stage as u64);
            out.list(names, |out, name| out.bytes(name.as_bytes()));
        });
        out.into_bytes()
    }

    /// Reads an image that [`CodeImage::to_bytes`] wrote; `None` if the bytes are none.
    pub fn from_bytes(bytes: &[u8]) -> Option<CodeImage> {
        let mut from = Reader::new(bytes);
        let functions = from.list(|from| {
            let (align, bytes) = (from.word()?, from.bytes()?.to_vec());
            let addresses = from.list(address)?;
            Some(ImageFunction { align, bytes, addresses })
        })?;
        let stats = CompileStats {
            functions: from.count()?,
            instructions: from.count()?,
            bytes: from.count()?,
            kernels: from.count()?,
            stack: from.word()?,
            ..CompileStats::default()
        };
        let refusals = from.list(|from| Some((from.text()?, from.text()?)))?;
        let unrolled = from.list(|from| Some((from.text()?, from.count()?)))?;
        let loads = from.list(|from| {
            let (kernel, way) = (from.text()?, from.text()?);
            Some(KernelLoads { kernel, way, operations: from.count()?, count: from.count()? })
        })?;
        let large = from.list(Reader::text)?;
        let mnemonics = from.list(|from| {
            let definition = (FuncId(u32::try_from(from.word()?).ok()?), from.count()?);
            Some((definition, from.list(Reader::text)?.into_iter().collect()))
        })?;
        let mnemonics = mnemonics.into_iter().collect();
        let notes = CodeNotes { refusals, unrolled, loads, large, mnemonics };
        let image = CodeImage { functions, stats, notes };
        (from.is_empty() && image.is_whole()).then_some(image)
    }

    /// Returns true if every address lies in its function and is that of a function that is there.
    fn is_whole(&self) -> bool {
        let known = |of: &Callee| match of {
            Callee::Image(n) => (*n as usize) < self.functions.len(),
            Callee::Runtime(n) => (*n as usize) < RuntimeFn::ALL.len(),
            Callee::System(_) => true,
        };
        let fits = |function: &ImageFunction, address: &ImageAddress| {
            (address.offset as usize).checked_add(8).is_some_and(|end| end <= function.bytes.len())
        };
        let whole = |f: &ImageFunction| {
            f.align.is_power_of_two()
                && f.align <= MOST_ALIGN
                && f.addresses.iter().all(|address| known(&address.of) && fits(f, address))
        };
        !self.functions.is_empty() && self.functions.iter().all(whole)
    }
}

/// The largest alignment of a function: a page.
const MOST_ALIGN: u64 = 4096;

fn address(from: &mut Reader<'_>) -> Option<ImageAddress> {
    let (offset, addend) = (u32::try_from(from.word()?).ok()?, from.word()? as i64);
    let of = from.word()?;
    let number = u32::try_from(of >> 2).ok()?;
    let of = match of & 3 {
        0 => Callee::Image(number),
        1 => Callee::Runtime(number),
        2 => Callee::System(from.text()?),
        _ => return None,
    };
    Some(ImageAddress { offset, of, addend })
}

#[cfg(test)]
mod tests {
    use crate::abi::RuntimeFn;
    use crate::code_image::*;
    use crate::options::KernelLoads;
    use halide_core::ids::FuncId;

    /// The number of no function of the runtime.
    const NEXT: u32 = RuntimeFn::ALL.len() as u32;

    fn image() -> CodeImage {
        let to = |of, offset| ImageAddress { offset, of, addend: -3 };
        let addresses =
            vec![to(Callee::Image(1), 0), to(Callee::Runtime(15), 3), to(Callee::System("CeilF32".into()), 8)];
        let functions = vec![
            ImageFunction { align: 32, bytes: (0..16).collect(), addresses },
            ImageFunction { align: 64, bytes: vec![0xc3], addresses: Vec::new() },
        ];
        let (refusals, unrolled) = (vec![("f.x".into(), "why".into())], vec![("g.y".into(), 4)]);
        let mnemonics = [((FuncId(3), 1), ["vpdpbusd", "ret"].map(String::from).into())].into();
        let stats = CompileStats { functions: 2, instructions: 9, bytes: 17, stack: 48, ..CompileStats::default() };
        let loads = vec![KernelLoads { kernel: "f.x".into(), way: "gather".into(), operations: 30, count: 2 }];
        let notes = CodeNotes { refusals, unrolled, loads, large: vec!["h".into()], mnemonics };
        CodeImage { functions, stats, notes }
    }

    #[test]
    fn images_are_read_as_they_were_written() {
        assert_eq!(CodeImage::from_bytes(&image().to_bytes()), Some(image()));
    }

    #[test]
    fn bytes_that_are_no_image_give_none() {
        let bytes = image().to_bytes();
        for end in 0..bytes.len() {
            assert_eq!(CodeImage::from_bytes(&bytes[..end]), None, "the first {end} bytes");
        }
        assert_eq!(CodeImage::from_bytes(&[&bytes[..], &[0]].concat()), None);
        let changed = |change: fn(&mut CodeImage)| {
            let mut image = image();
            change(&mut image);
            CodeImage::from_bytes(&image.to_bytes())
        };
        assert_eq!(changed(|i| i.functions[0].addresses[0].of = Callee::Image(2)), None);
        assert_eq!(changed(|i| i.functions[0].addresses[0].of = Callee::Runtime(NEXT)), None);
        assert_eq!(changed(|i| i.functions[0].addresses[2].offset = 9), None);
        assert_eq!(changed(|i| i.functions[1].align = 3), None);
        assert_eq!(changed(|i| i.functions.clear()), None);
    }

    #[test]
    fn no_byte_of_an_image_makes_reading_panic() {
        let bytes = image().to_bytes();
        for at in 0..bytes.len() {
            for value in [0, 1, 0x7f, 0xff] {
                let mut changed = bytes.clone();
                changed[at] = value;
                let _ = CodeImage::from_bytes(&changed);
            }
        }
    }
}
