//! The pictures in the folder are those that are drawn now, and small.

use crate::pages::folder;
use gif::{ColorOutput, DecodeOptions};
use halide_book::pictures::{SHOWN, all};
use std::fs;

/// The most bytes of a picture, and of all.
const MOST_BYTES: [usize; 2] = [150_000, 1_500_000];

/// The colours of each frame of a file.
fn frames(file: &str, bytes: &[u8]) -> Vec<Vec<u8>> {
    if file.ends_with(".png") {
        return vec![image::load_from_memory(bytes).expect("a PNG").to_rgb8().into_raw()];
    }
    let mut options = DecodeOptions::new();
    options.set_color_output(ColorOutput::RGBA);
    let mut decoder = options.read_info(bytes).expect("a GIF");
    let width = usize::from(decoder.width());
    let mut shown = vec![0; width * usize::from(decoder.height()) * 3];
    let mut all = Vec::new();
    while let Some(frame) = decoder.read_next_frame().expect("a frame") {
        let columns = usize::from(frame.width);
        for (n, pixel) in frame.buffer.chunks(4).enumerate().filter(|(_, pixel)| pixel[3] > 0) {
            let (x, y) = (usize::from(frame.left) + n % columns, usize::from(frame.top) + n / columns);
            shown[(y * width + x) * 3..][..3].copy_from_slice(&pixel[..3]);
        }
        all.push(shown.clone());
    }
    all
}

/// A hash of colours (FNV-1a).
fn hash(colours: Vec<u8>) -> u64 {
    colours.into_iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3))
}

#[test]
fn pictures_are_up_to_date() -> Result<(), Box<dyn std::error::Error>> {
    let (mut bytes_of_all, mut old) = (0, Vec::new());
    for drawn in all()? {
        let Ok(bytes) = fs::read(folder().join("pictures").join(&drawn.file)) else {
            old.push(drawn.file);
            continue;
        };
        bytes_of_all += bytes.len();
        assert!(bytes.len() <= MOST_BYTES[0], "{} has {} bytes", drawn.file, bytes.len());
        let hashes = |frames: Vec<Vec<u8>>| frames.into_iter().map(hash).collect::<Vec<u64>>();
        if hashes(frames(&drawn.file, &bytes)) != hashes(drawn.frames()) {
            old.push(drawn.file);
        }
    }
    assert!(old.is_empty(), "cargo run -p halide-book --bin pictures: {old:?} are not what is drawn now");
    assert!(bytes_of_all <= MOST_BYTES[1], "{bytes_of_all} bytes");
    Ok(())
}

/// A trace tells of no folds, so the table of pictures says which there are.
#[test]
fn folds_are_those_of_the_loops() -> Result<(), Box<dyn std::error::Error>> {
    for shown in &SHOWN {
        let pipeline = halide_book::algorithms::blur::algorithm()?;
        let loops = halide::Compiler::new(&pipeline).schedule(&shown.schedule.parse()?).compile()?.loops()?;
        let kept = shown.fold.map(|factor| format!("(keeping {factor} of dimension 1)"));
        let found = kept.as_ref().map_or(!loops.contains("keeping"), |kept| loops.contains(kept));
        assert!(found, "{}: {kept:?} in\n{loops}", shown.name);
    }
    Ok(())
}
