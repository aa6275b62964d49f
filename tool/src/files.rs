//! Image files: PNG, JPEG, TIFF and PNM, 8 and 16 bit, grey and RGB, with or without alpha.
//!
//! The memory for decoding is estimated from the head of a file beforehand, and a truncated file is refused.

use crate::encode::{Format, encode, gives_up};
use crate::jpeg;
use crate::memory::{self, TooMuch};
use crate::place::Place;
use image::codecs::tiff::TiffDecoder;
use image::metadata::Orientation;
use image::{ColorType, DynamicImage, ImageDecoder, ImageFormat, ImageReader, Limits};
use std::borrow::Cow;
use std::ffi::OsStr;
use std::fmt;
use std::fs::File;
use std::io::{self, Cursor, Read};
use std::path::{Path, PathBuf};

/// A reason that an image file could not be read or written.
pub enum FileError {
    /// It cannot be opened, read, made or moved.
    Io(PathBuf, io::Error),
    /// Its content is no image we know, or damaged.
    Decode(PathBuf, String),
    /// Reading or decoding it would take more memory than there may be.
    Memory(PathBuf, (u32, u32), TooMuch),
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
            FileError::Io(path, error) => write!(f, "{}: {error}", shown(path)),
            FileError::Decode(path, reason) => {
                write!(f, "{}: {reason}\nreadable are PNG, JPEG, TIFF and PNM files", shown(path))
            }
            FileError::Memory(path, (0, 0), much) => write!(f, "{}: reading it {much}", shown(path)),
            FileError::Memory(path, (width, height), much) => write!(
                f,
                "{}: an image of {width}x{height} {much}\ngive a smaller image, or more memory with --memory-cap",
                shown(path)
            ),
            FileError::Pixels(path, color) => write!(
                f,
                "{}: pixels of type {color:?} cannot be processed\nconvert to 8 or 16 bit grey or RGB, with or without alpha",
                shown(path)
            ),
            FileError::Name(path) => write!(
                f,
                "{}: the name must end in .png, .jpg, .tif, .pgm, .ppm or .pnm, to say which format to write",
                shown(path)
            ),
            FileError::Encode(path, reason) => write!(f, "{}: {reason}", shown(path)),
        }
    }
}

halide::debug_is_display!(FileError);

impl std::error::Error for FileError {}

/// A path as text in which nothing controls a terminal.
pub fn shown(path: &Path) -> String {
    path.display().to_string().escape_debug().to_string().replace("\\'", "'")
}

/// An image file that has been read and not been decoded.
pub struct Encoded<'p> {
    bytes: Cow<'p, [u8]>,
    path: &'p Path,
    /// Width and height, upright.
    pub size: (u32, u32),
    /// The type of its pixels.
    pub color: ColorType,
    orientation: Orientation,
    format: Option<ImageFormat>,
    /// The colour profile (ICC): what the values of pixels stand for.
    pub profile: Option<Vec<u8>>,
    /// The estimate of the bytes that decoding takes.
    needs: u64,
}

/// Reads an image file, of which reading and decoding may take so many bytes; by default what the machine has.
///
/// # Errors
/// It cannot be read, is no image, or would take more memory.
pub fn open(path: &Path, cap: Option<u64>) -> Result<Encoded<'_>, FileError> {
    let io = |e| FileError::Io(path.to_path_buf(), e);
    let file = File::open(path).map_err(io)?;
    let found = file.metadata().map_err(io)?;
    if found.is_dir() {
        return Err(io(io::ErrorKind::IsADirectory.into()));
    }
    let too_much = |much| FileError::Memory(path.to_path_buf(), (0, 0), much);
    memory::check(&[("the file", found.len())], cap).map_err(too_much)?;
    // A pipe or a device does not say how much it has.
    // Half of the machine is left: what is read is decoded, too.
    let of_machine = || halide::limits::available_memory().map(|bytes| bytes / 2);
    let most = cap.or_else(of_machine).unwrap_or(u64::MAX);
    let mut bytes = Vec::new();
    file.take(most.saturating_add(1)).read_to_end(&mut bytes).map_err(io)?;
    let read = bytes.len() as u64;
    if read > most {
        return Err(too_much(TooMuch { parts: vec![("the file", read)], cap: most, of_machine: cap.is_none() }));
    }
    Encoded::new(bytes, path, cap)
}

/// Reads an image file and decodes it, turned upright.
///
/// # Errors
/// As of [`open`], and files that are damaged.
pub fn read(path: &Path) -> Result<DynamicImage, FileError> {
    open(path, None)?.decode()
}

/// Decodes the content of an image file, for which there may be so many bytes, by default what the machine has; `path`
/// is for messages.
///
/// # Errors
/// As of [`read`].
pub fn decode(bytes: &[u8], path: &Path, cap: Option<u64>) -> Result<DynamicImage, FileError> {
    Encoded::new(bytes, path, cap)?.decode()
}

impl<'p> Encoded<'p> {
    /// Looks at the head of an image file, and checks that there may be as much memory as decoding takes.
    ///
    /// # Errors
    /// It is no image, has other pixels than those that can be processed, or would take more memory.
    pub fn new(bytes: impl Into<Cow<'p, [u8]>>, path: &'p Path, cap: Option<u64>) -> Result<Encoded<'p>, FileError> {
        let bytes = bytes.into();
        let failed = |e| of_image(path, &e);
        let wrong = |reason: String| FileError::Decode(path.to_path_buf(), reason);
        let reader = reader(&bytes).map_err(|e| FileError::Io(path.to_path_buf(), e))?;
        let format = reader.format();
        if format.is_none() {
            return Err(wrong("this is not an image file".to_string()));
        }
        let frame = if format == Some(ImageFormat::Jpeg) { jpeg::frame(&bytes) } else { jpeg::Frame::default() };
        if format == Some(ImageFormat::Jpeg) && !frame.is_complete {
            return Err(wrong("the file breaks off before the end of the image".to_string()));
        }
        let mut decoder = reader.into_decoder().map_err(failed)?;
        let (width, height) = decoder.dimensions();
        let color = decoder.color_type();
        let image = decoder.total_bytes();
        let orientation = decoder.orientation().map_err(failed)?;
        let profile = profile(&bytes, &mut decoder, format);
        if width == 0 || height == 0 {
            return Err(wrong(format!("an image of {width}x{height} has no pixels")));
        }
        use ColorType::{L8, L16, La8, La16, Rgb8, Rgb16, Rgba8, Rgba16};
        if !matches!(color, L8 | La8 | Rgb8 | Rgba8 | L16 | La16 | Rgb16 | Rgba16) {
            return Err(FileError::Pixels(path.to_path_buf(), color));
        }
        let parts = [
            ("the file", bytes.len() as u64),
            ("the image", image),
            // Coefficients of 16 bits.
            ("the passes of a progressive file", if frame.is_progressive { image.saturating_mul(2) } else { 0 }),
            ("turning it upright", if turns(orientation) { image } else { 0 }),
            ("a copy of its samples", if format == Some(ImageFormat::Tiff) { image } else { 0 }),
        ];
        let size = if turns(orientation) { (height, width) } else { (width, height) };
        memory::check(&parts, cap).map_err(|much| FileError::Memory(path.to_path_buf(), size, much))?;
        drop(decoder);
        let needs = memory::total(&parts);
        Ok(Encoded { bytes, path, size, color, orientation, format, profile, needs })
    }

    /// Decodes it.
    ///
    /// # Errors
    /// It is damaged.
    pub fn decode(self) -> Result<DynamicImage, FileError> {
        let failed = |e| of_image(self.path, &e);
        let mut reader = reader(&self.bytes).map_err(|e| FileError::Io(self.path.to_path_buf(), e))?;
        // The usual limits would refuse large images; without any, compressed metadata could become as large as it
        // likes.
        let mut limits = Limits::default();
        limits.max_alloc = limits.max_alloc.map(|bytes| bytes.saturating_add(self.needs));
        reader.limits(limits);
        reader.set_format(self.format.unwrap_or(ImageFormat::Png));
        let decoder = reader.into_decoder().map_err(failed)?;
        let mut image = DynamicImage::from_decoder(decoder).map_err(failed)?;
        image.apply_orientation(self.orientation);
        Ok(image)
    }
}

/// Returns whether width and height change places.
fn turns(orientation: Orientation) -> bool {
    use Orientation::{Rotate90, Rotate90FlipH, Rotate270, Rotate270FlipH};
    matches!(orientation, Rotate90 | Rotate270 | Rotate90FlipH | Rotate270FlipH)
}

/// The colour profile of a file. One that cannot be read says nothing.
fn profile(bytes: &[u8], decoder: &mut impl ImageDecoder, format: Option<ImageFormat>) -> Option<Vec<u8>> {
    if format != Some(ImageFormat::Tiff) {
        return decoder.icc_profile().ok().flatten();
    }
    // This one's limit for a profile follows from the size of the image, unless it has its own limits.
    TiffDecoder::new(Cursor::new(bytes)).ok()?.icc_profile().ok().flatten()
}

fn reader(bytes: &[u8]) -> io::Result<ImageReader<Cursor<&[u8]>>> {
    let mut reader = ImageReader::new(Cursor::new(bytes));
    // Nothing but the head is decoded under these.
    reader.limits(Limits::default());
    reader.with_guessed_format()
}

fn of_image(path: &Path, error: &image::ImageError) -> FileError {
    FileError::Decode(path.to_path_buf(), first_line(&error.to_string()))
}

/// A place to write an image to, checked before the work that makes the image.
#[derive(Clone, Debug)]
pub struct Output {
    place: Place,
    format: Format,
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
        let place = Place::new(path).map_err(|(path, e)| FileError::Io(path, e))?;
        Ok(Output { place, format })
    }

    /// The path of the file to be.
    pub fn path(&self) -> &Path {
        self.place.path()
    }

    /// Names what [`Output::write_with`] gives up of an image, and of its profile if it has one.
    pub fn gives_up(&self, image: &DynamicImage, has_profile: bool) -> Vec<&'static str> {
        gives_up(self.format, image.color(), has_profile)
    }

    /// [`Output::write_with`] for an image without a profile.
    ///
    /// # Errors
    /// Errors of [`Output::write_with`].
    pub fn write(&self, image: &DynamicImage) -> Result<(), FileError> {
        self.write_with(image, None)
    }

    /// Writes the image, with the colour profile that tells what its values stand for. What the format does not have is
    /// given up: alpha in JPEG and PNM, 16 bits in JPEG, the profile in PNM.
    ///
    /// # Errors
    /// It cannot be written; then the old file stays.
    pub fn write_with(&self, image: &DynamicImage, profile: Option<&[u8]>) -> Result<(), FileError> {
        let written = self.place.write(|mut sink| encode(image, self.format, profile, &mut sink));
        written.map_err(|e| match e {
            image::ImageError::IoError(e) => FileError::Io(self.path().to_path_buf(), e),
            e => FileError::Encode(self.path().to_path_buf(), first_line(&e.to_string())),
        })
    }
}

fn first_line(text: &str) -> String {
    text.lines().next().unwrap_or_default().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use image::codecs::tiff::TiffEncoder;
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
        let error = decode(bytes.get_ref(), Path::new("a.tif"), None).unwrap_err().to_string();
        assert!(error.contains("Rgb32F") && error.contains("convert"), "{error}");
    }

    #[test]
    fn images_that_say_to_be_huge_are_refused() {
        let error = |cap| decode(b"P5 200000 300000 255\n", Path::new("a.pgm"), cap).unwrap_err().to_string();
        let parts =
            ["a.pgm: an image of 200000x300000 needs 55.9 GiB of memory (", "--memory-cap allows 4.0 GiB\ngive"];
        assert!(parts.iter().all(|part| error(Some(4 << 30)).contains(part)), "{}", error(Some(4 << 30)));
        let huge = decode(b"P5 2000000000 2000000000 255\n", Path::new("a.pgm"), None).unwrap_err().to_string();
        assert!(huge.contains("2000000000x2000000000 needs 3725290298.5 GiB"), "{huge}");
        assert!(
            decode(b"P5 2 2 255\nabcd", Path::new("a.pgm"), Some(0))
                .unwrap_err()
                .to_string()
                .contains("allows 0 bytes")
        );
    }

    #[test]
    fn files_that_break_off_are_refused_in_every_format() {
        let folder = tempfile::tempdir().unwrap();
        for (image, name) in [
            (&kinds()[4], "a.jpg"),
            (&kinds()[6], "b.jpg"),
            (&kinds()[2], "a.png"),
            (&kinds()[2], "a.tif"),
            (&kinds()[2], "a.ppm"),
        ] {
            let path = folder.path().join(name);
            Output::new(&path).unwrap().write(image).unwrap();
            let whole = std::fs::read(&path).unwrap();
            assert!(decode(&whole, &path, None).is_ok(), "{name}");
            // What TIFF has behind its pixels is its head, and PNG ends with an empty chunk.
            for length in [0, 1, whole.len() / 4, whole.len() / 2, whole.len() - 20, whole.len() - 1] {
                if name == "a.png" && length == whole.len() - 1 {
                    continue;
                }
                let cut = decode(&whole[..length], &path, None);
                assert!(
                    cut.as_ref().is_err_and(|e| e.to_string().contains(name)),
                    "{name} {length} of {}: {cut:?}",
                    whole.len()
                );
            }
        }
    }

    #[test]
    fn text_in_messages_controls_no_terminal() {
        let path = Path::new("a\u{1b}[2J\u{9b}\n'b.png");
        let error = decode(b"none", path, None).unwrap_err().to_string();
        assert!(error.starts_with("a\\u{1b}[2J\\u{9b}\\n'b.png: this is"), "{error}");
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
