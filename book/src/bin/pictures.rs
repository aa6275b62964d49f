//! Writes the pictures of the book: `cargo run -p halide-book --bin pictures`.

use std::error::Error;
use std::path::Path;

fn main() -> Result<(), Box<dyn Error>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/pictures");
    std::fs::create_dir_all(&folder)?;
    for drawn in halide_book::pictures::all()? {
        let bytes = drawn.bytes()?;
        std::fs::write(folder.join(&drawn.file), &bytes)?;
        println!("{}: {} bytes", drawn.file, bytes.len());
    }
    Ok(())
}
