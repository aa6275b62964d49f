//! Extensions of x86-64's instruction set that code may use.

use crate::spelling::closest;
use std::fmt::{self, Debug, Display, Formatter};

/// Defines the extensions: each name, and what it implies.
macro_rules! features {
    ($($feature:ident $name:literal $meaning:literal [$($implied:ident)*];)*) => {
        /// An extension of x86-64's instruction set.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        pub enum CpuFeature {
            $(#[doc = $meaning] $feature),*
        }

        impl CpuFeature {
            /// Every extension, from old to new.
            pub const ALL: &[CpuFeature] = &[$(CpuFeature::$feature),*];

            /// The name that people and compilers write.
            pub fn name(self) -> &'static str {
                match self { $(CpuFeature::$feature => $name),* }
            }
            /// The extensions that every machine with this one has as well.
            fn implied(self) -> &'static [CpuFeature] {
                match self { $(CpuFeature::$feature => &[$(CpuFeature::$implied),*]),* }
            }
        }
    };
}

features! {
    Popcnt "popcnt" "Counts of bits in general registers." [];
    Lzcnt "lzcnt" "Counts of leading zeros in general registers." [];
    Bmi1 "bmi1" "Operations on bits of general registers, first part." [];
    Bmi2 "bmi2" "Operations on bits of general registers, second part." [];
    Avx "avx" "Instructions of three operands, on floats of 256 bits." [];
    Avx2 "avx2" "The same on integers." [Avx];
    Fma "fma" "Products and sums that are rounded once." [Avx];
    F16c "f16c" "Conversions of 16-bit floats." [Avx];
    Avx512f "avx512f" "512 bits and masks: 32 and 64-bit lanes." [Avx2 Fma F16c];
    Avx512bw "avx512bw" "512 bits and masks: 8 and 16-bit lanes." [Avx512f];
    Avx512dq "avx512dq" "Further operations on 32 and 64-bit lanes." [Avx512f];
    Avx512vl "avx512vl" "The same for registers of 128 and 256 bits." [Avx512f];
    Avx512cd "avx512cd" "Counts of leading zeros of lanes." [Avx512f];
    Avx512vbmi "avx512vbmi" "Permutations of bytes." [Avx512bw];
    Avx512vnni "avx512vnni" "Sums of products of bytes and of 16-bit lanes." [Avx512f];
    Avxvnni "avxvnni" "The same without AVX-512." [Avx2];
}

/// A set of extensions, with all that they imply.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct CpuFeatures(u32);

/// The error of a list of extensions with an unknown name.
#[derive(Clone, PartialEq, Eq)]
pub struct UnknownFeature {
    /// The name as it was written.
    pub name: String,
}

impl CpuFeatures {
    /// No extension: what every x86-64 machine that code is generated for has.
    pub const NONE: CpuFeatures = CpuFeatures(0);

    /// The extensions of the machine that this runs on, among those that code generators know.
    pub fn host() -> CpuFeatures {
        CpuFeatures::of(&CpuFeature::ALL.iter().copied().filter(|f| is_detected(*f)).collect::<Vec<_>>())
    }
    /// Returns the extensions that code with vectors of `bits` bits uses.
    pub fn for_vectors_of(bits: u32) -> CpuFeatures {
        let rows = VECTORS.iter().rev();
        rows.filter(|(width, _)| *width <= bits).map(|(_, list)| CpuFeatures::of(list)).next().unwrap_or_default()
    }
    /// Returns the width in bits of the widest vectors that these extensions are enough for.
    pub fn vector_bits(self) -> u32 {
        let enough = |bits: &u32| self.includes(CpuFeatures::for_vectors_of(*bits));
        VECTORS.iter().rev().map(|(bits, _)| *bits).find(enough).unwrap_or(128)
    }

    /// The extensions of a list.
    pub fn of(list: &[CpuFeature]) -> CpuFeatures {
        list.iter().fold(CpuFeatures::NONE, |all, f| all.with(*f))
    }
    /// With one more.
    #[must_use]
    pub fn with(self, feature: CpuFeature) -> CpuFeatures {
        let this = CpuFeatures(self.0 | 1 << feature as u32);
        feature.implied().iter().fold(this, |all, f| all.with(*f))
    }
    /// Returns true if `feature` is in the set.
    pub fn has(self, feature: CpuFeature) -> bool {
        self.0 >> (feature as u32) & 1 == 1
    }
    /// Returns true if all of `others` are in the set.
    pub fn includes(self, others: CpuFeatures) -> bool {
        self.0 & others.0 == others.0
    }
    /// Returns the extensions that are not in `others`.
    #[must_use]
    pub fn without(self, others: CpuFeatures) -> CpuFeatures {
        CpuFeatures(self.0 & !others.0)
    }
    /// From old to new.
    pub fn iter(self) -> impl Iterator<Item = CpuFeature> {
        CpuFeature::ALL.iter().copied().filter(move |f| self.has(*f))
    }
    /// Reads names with commas between them; none for an empty text.
    ///
    /// # Errors
    /// A name that is not one of [`CpuFeature::ALL`].
    pub fn parse(text: &str) -> Result<CpuFeatures, UnknownFeature> {
        let names = text.split(',').map(str::trim).filter(|name| !name.is_empty());
        names.map(named).try_fold(CpuFeatures::NONE, |all, f| Ok(all.with(f?)))
    }
}

/// Widths of vectors in bits, from narrow to wide, with the extensions that code of that width uses.
const VECTORS: [(u32, &[CpuFeature]); 3] = {
    use CpuFeature::*;
    [(128, &[]), (256, &[Avx2, Fma, F16c, Bmi2]), (512, &[Avx512f, Avx512bw, Avx512dq, Avx512vl, Avx512cd, Fma, Bmi2])]
};

/// Returns true if this machine has an extension.
#[cfg(target_arch = "x86_64")]
fn is_detected(feature: CpuFeature) -> bool {
    use std::is_x86_feature_detected as has;
    match feature {
        CpuFeature::Popcnt => has!("popcnt"),
        CpuFeature::Lzcnt => has!("lzcnt"),
        CpuFeature::Bmi1 => has!("bmi1"),
        CpuFeature::Bmi2 => has!("bmi2"),
        CpuFeature::Avx => has!("avx"),
        CpuFeature::Avx2 => has!("avx2"),
        CpuFeature::Fma => has!("fma"),
        CpuFeature::F16c => has!("f16c"),
        CpuFeature::Avx512f => has!("avx512f"),
        CpuFeature::Avx512bw => has!("avx512bw"),
        CpuFeature::Avx512dq => has!("avx512dq"),
        CpuFeature::Avx512vl => has!("avx512vl"),
        CpuFeature::Avx512cd => has!("avx512cd"),
        CpuFeature::Avx512vbmi => has!("avx512vbmi"),
        CpuFeature::Avx512vnni => has!("avx512vnni"),
        CpuFeature::Avxvnni => has!("avxvnni"),
    }
}
#[cfg(not(target_arch = "x86_64"))]
fn is_detected(_: CpuFeature) -> bool {
    false
}

fn named(name: &str) -> Result<CpuFeature, UnknownFeature> {
    let found = CpuFeature::ALL.iter().copied().find(|f| f.name() == name);
    found.ok_or_else(|| UnknownFeature { name: name.to_string() })
}

impl Display for CpuFeatures {
    /// The names with commas between them, as [`CpuFeatures::parse`] reads them.
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.iter().map(CpuFeature::name).collect();
        f.write_str(&names.join(","))
    }
}

impl Debug for CpuFeatures {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.iter()).finish()
    }
}

impl Display for UnknownFeature {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let known = CpuFeature::ALL.iter().map(|f| f.name());
        match closest(&self.name, known.clone()) {
            Some(close) => write!(f, "there is no `{}`; did you mean `{close}`?", self.name),
            None => write!(f, "there is no `{}`, but {}", self.name, known.collect::<Vec<_>>().join(", ")),
        }
    }
}

halide_core::debug_is_display!(UnknownFeature);

impl std::error::Error for UnknownFeature {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_read_and_written() {
        let read = |text: &str| CpuFeatures::parse(text).map(|f| f.to_string()).map_err(|e| e.to_string());
        assert_eq!(read(""), Ok(String::new()));
        assert_eq!(read("avx2, bmi2"), Ok("bmi2,avx,avx2".to_string()));
        assert_eq!(read("avx512vbmi"), Ok("avx,avx2,fma,f16c,avx512f,avx512bw,avx512vbmi".to_string()));
        assert_eq!(read("avx3"), Err("there is no `avx3`; did you mean `avx`?".to_string()));
        let all = CpuFeatures::of(CpuFeature::ALL).to_string().replace(',', ", ");
        assert_eq!(read("neon"), Err(format!("there is no `neon`, but {all}")));
        for feature in CpuFeature::ALL {
            assert!(CpuFeatures::parse(feature.name()).is_ok_and(|set| set.has(*feature)));
        }
    }

    #[test]
    fn sets_are_compared() {
        let (some, more) = (CpuFeatures::of(&[CpuFeature::Avx2]), CpuFeatures::of(&[CpuFeature::Avx512f]));
        assert!(more.includes(some) && !some.includes(more) && some.includes(CpuFeatures::NONE));
        assert_eq!(more.without(some), CpuFeatures::parse("fma,f16c,avx512f").unwrap().without(some));
        assert_eq!(format!("{some:?}"), "{Avx, Avx2}");
    }
}
