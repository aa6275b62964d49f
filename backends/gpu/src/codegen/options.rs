//! The features of a device, and the options of a compilation.

/// The features of the device at hand beyond those that every device has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Features {
    /// 64-bit integers.
    pub int64: bool,
    /// 64-bit floats. Their bits pass through 64-bit integers, so these are needed too.
    pub float64: bool,
    /// The number of lanes of its subgroups, if all have the same number and lanes can exchange values.
    pub subgroup: Option<u32>,
}

/// The options of a compilation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Options {
    /// The features of the device.
    pub features: Features,
    /// True to store pieces of words where the code would otherwise assume that the caller's strides are multiples of a
    /// word: for arguments that [`Layout::serves`](super::Layout::serves) refuses.
    pub pieces: bool,
}
