//! Image files: PNG, JPEG, TIFF and PNM, 8 and 16 bit, grey and RGB, with or without alpha.
//!
//! A file appears whole or not at all: it is written beside its place under another name and then moved there.

use image::codecs::{jpeg::JpegEncoder, png::PngEncoder, tiff::TiffEncoder};
use image::{ColorType, DynamicImage, ImageDecoder, ImageReader, Limits};
use std::ffi::OsStr;
use std::fmt;
use std::io::{self, BufWriter, Cursor, Write};
use std::path::{Path, PathBuf};

/// The most memory that decoding one file may take.
const DECODE_BYTES: u64 = 4 << 30;

const JPEG_QUALITY: u8 = 95;

/// Why an image file could not be read or written.
#[derive(Debug)]
pub enum FileError {
    /// It cannot be opened, read, made or moved.
    Io(PathBuf, io::Error),
    /// Its content is no image we know, or damaged.
    Decode(PathBuf, String),
    /// Its pixels are of another kind than 8 or 16 bit grey or RGB.
    Pixels(PathBuf, ColorType),
    /// Its name does not say which format to write.
    Name(PathBuf),
    /// The format cannot hold the image.
    Encode(PathBuf, String),
}

impl fmt::Display for FileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FileError::Io(path, error) => write!(f, "{}: {error}", path.display()),
            FileError::Decode(path, reason) => {
                write!(f, "{}: {reason}\nreadable are PNG, JPEG, TIFF and PNM files", path.display())
            }
            FileError::Pixels(path, color) => write!(
                f,
                "{}: pixels of type {color:?} cannot be processed\nconvert to 8 or 16 bit grey or RGB, with or without alpha",
                path.display()
            ),
            FileError::Name(path) => write!(
                f,
                "{}: the name must end in .png, .jpg, .tif, .pgm, .ppm or .pnm, to say which format to write",
                path.display()
            ),
            FileError::Encode(path, reason) => write!(f, "{}: {reason}", path.display()),
        }
    }
}

impl std::error::Error for FileError {}

/// Reads an image file, turned upright.
pub fn read(path: &Path) -> Result<DynamicImage, FileError> {
    let bytes = std::fs::read(path).map_err(|e| FileError::Io(path.to_path_buf(), e))?;
    decode(&bytes, path)
}

/// Decodes the content of an image file; `path` is for messages.
pub fn decode(bytes: &[u8], path: &Path) -> Result<DynamicImage, FileError> {
    let failed = |e: image::ImageError| FileError::Decode(path.to_path_buf(), first_line(&e.to_string()));
    let mut reader = ImageReader::new(Cursor::new(bytes));
    let mut limits = Limits::default();
    limits.max_alloc = Some(DECODE_BYTES);
    reader.limits(limits);
    let reader = reader.with_guessed_format().map_err(|e| FileError::Io(path.to_path_buf(), e))?;
    if reader.format().is_none() {
        return Err(FileError::Decode(path.to_path_buf(), "this is not an image file".to_string()));
    }
    let mut decoder = reader.into_decoder().map_err(failed)?;
    // Not every decoder keeps to its limits.
    if decoder.total_bytes() > DECODE_BYTES {
        let (width, height) = decoder.dimensions();
        let reason = format!("an image of {width}x{height} takes more than {} GiB of memory", DECODE_BYTES >> 30);
        return Err(FileError::Decode(path.to_path_buf(), reason));
    }
    let orientation = decoder.orientation().map_err(failed)?;
    let mut image = DynamicImage::from_decoder(decoder).map_err(failed)?;
    if image.width() == 0 || image.height() == 0 {
        let reason = format!("an image of {}x{} has no pixels", image.width(), image.height());
        return Err(FileError::Decode(path.to_path_buf(), reason));
    }
    image.apply_orientation(orientation);
    use ColorType::{L8, L16, La8, La16, Rgb8, Rgb16, Rgba8, Rgba16};
    match image.color() {
        L8 | La8 | Rgb8 | Rgba8 | L16 | La16 | Rgb16 | Rgba16 => Ok(image),
        other => Err(FileError::Pixels(path.to_path_buf(), other)),
    }
}

/// A place to write an image to, checked before the work that makes the image.
#[derive(Clone, Debug)]
pub struct Output {
    path: PathBuf,
    folder: PathBuf,
    format: Format,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Format {
    Png,
    Jpeg,
    Tiff,
    Pnm,
}

impl Output {
    /// Checks that the name says the format and that the folder is there.
    pub fn new(path: &Path) -> Result<Output, FileError> {
        let extension = path.extension().and_then(OsStr::to_str).map(str::to_ascii_lowercase);
        let format = match extension.as_deref() {
            Some("png") => Format::Png,
            Some("jpg" | "jpeg") => Format::Jpeg,
            Some("tif" | "tiff") => Format::Tiff,
            Some("pgm" | "ppm" | "pnm") => Format::Pnm,
            _ => return Err(FileError::Name(path.to_path_buf())),
        };
        // A link is followed, so that what it points to is replaced and not the link.
        let path = if path.exists() { path.canonicalize().unwrap_or(path.to_path_buf()) } else { path.to_path_buf() };
        if path.is_dir() {
            return Err(FileError::Io(path, io::ErrorKind::IsADirectory.into()));
        }
        let folder = match path.parent() {
            Some(folder) if folder != Path::new("") => folder.to_path_buf(),
            _ => PathBuf::from("."),
        };
        std::fs::metadata(&folder).map_err(|e| FileError::Io(folder.clone(), e))?;
        Ok(Output { path, folder, format })
    }

    /// Where it will be.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Writes the image. What the format does not have is given up: alpha in JPEG and PNM, 16 bits in JPEG.
    pub fn write(&self, image: &DynamicImage) -> Result<(), FileError> {
        let io = |e| FileError::Io(self.path.clone(), e);
        let mut builder = tempfile::Builder::new();
        builder.prefix(".halide-").suffix(".part");
        #[cfg(unix)]
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
        let mut file = builder.tempfile_in(&self.folder).map_err(io)?;
        let mut writer = BufWriter::new(file.as_file_mut());
        self.encode(image, &mut writer).map_err(|e| match e {
            image::ImageError::IoError(e) => FileError::Io(self.path.clone(), e),
            e => FileError::Encode(self.path.clone(), first_line(&e.to_string())),
        })?;
        writer.flush().map_err(io)?;
        drop(writer);
        file.persist(&self.path).map_err(|e| FileError::Io(self.path.clone(), e.error))?;
        Ok(())
    }

    fn encode(&self, image: &DynamicImage, writer: &mut (impl Write + io::Seek)) -> image::ImageResult<()> {
        let image = suited(image, self.format);
        match self.format {
            Format::Png => image.write_with_encoder(PngEncoder::new(writer)),
            Format::Jpeg => image.write_with_encoder(JpegEncoder::new_with_quality(writer, JPEG_QUALITY)),
            Format::Tiff => image.write_with_encoder(TiffEncoder::new(writer)),
            Format::Pnm => write_pnm(&image, writer),
        }
    }
}

/// Grey as PGM, colour as PPM. The `image` crate's encoder knows these for 8 bits only.
fn write_pnm(image: &DynamicImage, writer: &mut impl Write) -> image::ImageResult<()> {
    let color = image.color();
    let deep = color.bytes_per_pixel() > color.channel_count();
    let (kind, largest) = (if color.has_color() { 6 } else { 5 }, if deep { 65535 } else { 255 });
    write!(writer, "P{kind}\n{} {}\n{largest}\n", image.width(), image.height())?;
    let mut bytes = image.as_bytes().to_vec();
    if deep {
        for sample in bytes.chunks_exact_mut(2) {
            let value = u16::from_ne_bytes([sample[0], sample[1]]);
            sample.copy_from_slice(&value.to_be_bytes());
        }
    }
    Ok(writer.write_all(&bytes)?)
}

/// The image with the channels and depth that a format holds.
fn suited(image: &DynamicImage, format: Format) -> DynamicImage {
    let color = image.color();
    let (grey, alpha, deep) =
        (!color.has_color(), color.has_alpha(), color.bytes_per_pixel() / color.channel_count() > 1);
    match format {
        Format::Jpeg if grey => DynamicImage::ImageLuma8(image.to_luma8()),
        Format::Jpeg => DynamicImage::ImageRgb8(image.to_rgb8()),
        Format::Pnm if alpha && grey && deep => DynamicImage::ImageLuma16(image.to_luma16()),
        Format::Pnm if alpha && grey => DynamicImage::ImageLuma8(image.to_luma8()),
        Format::Pnm if alpha && deep => DynamicImage::ImageRgb16(image.to_rgb16()),
        Format::Pnm if alpha => DynamicImage::ImageRgb8(image.to_rgb8()),
        // This format's encoder has no grey with alpha.
        Format::Tiff if alpha && grey && deep => DynamicImage::ImageRgba16(image.to_rgba16()),
        Format::Tiff if alpha && grey => DynamicImage::ImageRgba8(image.to_rgba8()),
        _ => image.clone(),
    }
}

fn first_line(text: &str) -> String {
    text.lines().next().unwrap_or_default().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use image::{ImageBuffer, Luma, LumaA, Rgb, Rgba};

    fn samples(count: usize) -> Vec<u16> {
        (0..count).map(|i| (i * 2749) as u16).collect()
    }

    /// An image of 7 x 5 of each kind.
    fn kinds() -> Vec<DynamicImage> {
        let (w, h) = (7, 5);
        let deep = vec![
            DynamicImage::ImageLuma16(ImageBuffer::<Luma<u16>, _>::from_raw(w, h, samples(35)).unwrap()),
            DynamicImage::ImageLumaA16(ImageBuffer::<LumaA<u16>, _>::from_raw(w, h, samples(70)).unwrap()),
            DynamicImage::ImageRgb16(ImageBuffer::<Rgb<u16>, _>::from_raw(w, h, samples(105)).unwrap()),
            DynamicImage::ImageRgba16(ImageBuffer::<Rgba<u16>, _>::from_raw(w, h, samples(140)).unwrap()),
        ];
        let shallow = vec![
            DynamicImage::ImageLuma8(deep[0].to_luma8()),
            DynamicImage::ImageLumaA8(deep[1].to_luma_alpha8()),
            DynamicImage::ImageRgb8(deep[2].to_rgb8()),
            DynamicImage::ImageRgba8(deep[3].to_rgba8()),
        ];
        [deep, shallow].concat()
    }

    fn round_trip(image: &DynamicImage, name: &str) -> DynamicImage {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(name);
        Output::new(&path).unwrap().write(image).unwrap();
        let entries = std::fs::read_dir(folder.path()).unwrap().count();
        assert_eq!(entries, 1, "nothing but the output is left");
        read(&path).unwrap()
    }

    fn header(image: &DynamicImage, name: &str) -> Vec<u8> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(name);
        Output::new(&path).unwrap().write(image).unwrap();
        std::fs::read(path).unwrap()
    }

    #[test]
    fn lossless_formats_keep_every_pixel() {
        for image in kinds() {
            assert_eq!(round_trip(&image, "a.png"), image);
            let (color, alpha) = (image.color().has_color(), image.color().has_alpha());
            if color || !alpha {
                assert_eq!(round_trip(&image, "a.tiff"), image, "{:?}", image.color());
            }
            if !alpha {
                assert_eq!(round_trip(&image, "a.pnm"), image, "{:?}", image.color());
                assert!(header(&image, "a.pnm").starts_with(if color { b"P6" } else { b"P5" }));
            }
        }
    }

    #[test]
    fn other_formats_keep_what_they_have() {
        for image in kinds() {
            let (grey, deep) = (!image.color().has_color(), image.color().bytes_per_pixel() > 4);
            let jpeg = round_trip(&image, "a.JPG");
            assert_eq!(jpeg.color(), if grey { ColorType::L8 } else { ColorType::Rgb8 });
            let pnm = round_trip(&image, if grey { "a.pgm" } else { "a.ppm" });
            assert!(!pnm.color().has_alpha());
            if grey && deep {
                assert_eq!(pnm.to_luma16(), image.to_luma16());
            }
            if grey {
                assert_eq!(round_trip(&image, "a.tif").to_luma16(), image.to_luma16());
            }
        }
    }

    #[test]
    fn mistakes_are_named() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        let missing = read(&at("none.png")).unwrap_err().to_string();
        assert!(missing.contains("none.png") && missing.contains("No such file"), "{missing}");
        std::fs::write(at("text.png"), "hello").unwrap();
        assert!(read(&at("text.png")).unwrap_err().to_string().contains("not an image"));
        std::fs::write(at("empty.png"), "").unwrap();
        assert!(read(&at("empty.png")).unwrap_err().to_string().contains("not an image"));
        Output::new(&at("cut.png")).unwrap().write(&kinds()[2]).unwrap();
        let whole = std::fs::read(at("cut.png")).unwrap();
        std::fs::write(at("cut.png"), &whole[..whole.len() / 2]).unwrap();
        assert!(matches!(read(&at("cut.png")), Err(FileError::Decode(..))));
        assert!(Output::new(&at("a.gif")).unwrap_err().to_string().contains("must end in .png"));
        assert!(Output::new(&at("nowhere/a.png")).unwrap_err().to_string().contains("nowhere"));
    }

    #[test]
    fn floating_point_pixels_are_refused() {
        let image = DynamicImage::ImageRgb32F(ImageBuffer::from_pixel(2, 2, Rgb([0.5, 0.5, 0.5])));
        let mut bytes = Cursor::new(Vec::new());
        image.write_with_encoder(TiffEncoder::new(&mut bytes)).unwrap();
        let error = decode(bytes.get_ref(), Path::new("a.tif")).unwrap_err().to_string();
        assert!(error.contains("Rgb32F") && error.contains("convert"), "{error}");
    }

    #[test]
    fn images_that_say_to_be_huge_are_refused() {
        let error = decode(b"P5 200000 300000 255\n", Path::new("a.pgm")).unwrap_err().to_string();
        assert!(error.contains("an image of 200000x300000 takes more than 4 GiB of memory"), "{error}");
    }

    #[test]
    fn a_failed_write_leaves_the_old_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.png");
        std::fs::write(&path, "old").unwrap();
        let output = Output::new(&path).unwrap();
        let empty = DynamicImage::new_luma8(0, 0);
        if output.write(&empty).is_err() {
            assert_eq!(std::fs::read(&path).unwrap(), b"old");
            assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
        }
    }
}
