//! Tiers of vector instructions.

use halide_ir::features::CpuFeatures;

/// A family of vector instructions, from narrow to wide.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Tier {
    /// 128 bits: what Cranelift generates.
    Baseline,
    /// 256 bits, 16 registers: AVX2, FMA, F16C and BMI2.
    Avx2,
    /// 512 bits, 32 registers and masks: AVX-512 F, BW, DQ, VL and CD, and BMI2.
    Avx512,
}

impl Tier {
    /// Every family.
    pub const ALL: [Tier; 3] = [Tier::Baseline, Tier::Avx2, Tier::Avx512];

    /// The name that people write.
    pub fn name(self) -> &'static str {
        match self {
            Tier::Baseline => "baseline",
            Tier::Avx2 => "avx2",
            Tier::Avx512 => "avx512",
        }
    }
    /// The family of a name.
    pub fn named(name: &str) -> Option<Tier> {
        Tier::ALL.into_iter().find(|t| t.name() == name)
    }
    /// Width of its registers in bits.
    pub fn vector_bits(self) -> u32 {
        match self {
            Tier::Baseline => 128,
            Tier::Avx2 => 256,
            Tier::Avx512 => 512,
        }
    }
    /// The family for code that was lowered for vectors of so many bits.
    pub fn for_bits(bits: u32) -> Tier {
        Tier::ALL.into_iter().rev().find(|t| t.vector_bits() <= bits).unwrap_or(Tier::Baseline)
    }
    /// The extensions that its code uses.
    pub fn needs(self) -> CpuFeatures {
        CpuFeatures::for_vectors_of(self.vector_bits())
    }
    /// The widest family that these extensions are enough for.
    pub fn of_features(features: CpuFeatures) -> Tier {
        Tier::for_bits(features.vector_bits())
    }
    /// Returns true if this machine has it.
    pub fn available(self) -> bool {
        CpuFeatures::host().includes(self.needs())
    }
    /// The widest family that this machine has.
    pub fn host() -> Tier {
        Tier::of_features(CpuFeatures::host())
    }
}

/// Returns the reason that there can be no code for a tier with these extensions on a machine with those; `None` if
/// there can be.
pub(crate) fn missing(tier: Tier, features: Option<CpuFeatures>, machine: CpuFeatures) -> Option<String> {
    if !machine.includes(tier.needs()) {
        return Some(format!("this machine has no {} instructions", tier.name()));
    }
    let features = features?;
    let lacking = features.without(machine);
    if lacking != CpuFeatures::NONE {
        let has = if machine == CpuFeatures::NONE { "none of the known ones".to_string() } else { machine.to_string() };
        return Some(format!("this machine has no {lacking}; it has {has}"));
    }
    let left_out = tier.needs().without(features);
    (left_out != CpuFeatures::NONE).then(|| format!("{} needs {left_out} as well", tier.name()))
}

#[cfg(test)]
mod tests {
    use crate::tier::*;

    #[test]
    fn what_a_machine_lacks_is_named() {
        fn list(text: &str) -> CpuFeatures {
            CpuFeatures::parse(text).unwrap()
        }
        let old = list("popcnt,lzcnt,bmi1,bmi2,avx2,fma,f16c");
        let asked = |tier, features: Option<&str>| missing(tier, features.map(list), old).unwrap_or_default();
        assert_eq!(asked(Tier::Avx2, None), "");
        assert_eq!(asked(Tier::Avx512, None), "this machine has no avx512 instructions");
        assert_eq!(
            asked(Tier::Avx2, Some("bmi2,avx512bw,avx512vbmi")),
            "this machine has no avx512f,avx512bw,avx512vbmi; it has popcnt,lzcnt,bmi1,bmi2,avx,avx2,fma,f16c"
        );
        assert_eq!(asked(Tier::Avx2, Some("avx2,fma")), "avx2 needs bmi2,f16c as well");
        assert_eq!(asked(Tier::Baseline, Some("avx2,fma")), "");
        let none = missing(Tier::Baseline, Some(list("avx")), CpuFeatures::NONE).unwrap_or_default();
        assert_eq!(none, "this machine has no avx; it has none of the known ones");
    }

    #[test]
    fn extensions_make_a_tier() {
        let tier = |text| Tier::of_features(CpuFeatures::parse(text).unwrap());
        assert_eq!((tier(""), tier("avx2,fma,f16c")), (Tier::Baseline, Tier::Baseline));
        assert_eq!((tier("avx2,fma,f16c,bmi2"), tier("bmi2,avx512f")), (Tier::Avx2, Tier::Avx2));
        assert_eq!(tier("bmi2,avx512bw,avx512dq,avx512vl,avx512cd"), Tier::Avx512);
        assert!(Tier::ALL.into_iter().all(|t| Tier::of_features(t.needs()) == t));
    }
}
