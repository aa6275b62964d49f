//! Which vector instructions a machine has.

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
    /// Whether this machine has it.
    pub fn available(self) -> bool {
        match self {
            Tier::Baseline => true,
            #[cfg(target_arch = "x86_64")]
            Tier::Avx2 => {
                std::is_x86_feature_detected!("avx2")
                    && std::is_x86_feature_detected!("fma")
                    && std::is_x86_feature_detected!("f16c")
                    && std::is_x86_feature_detected!("bmi2")
            }
            #[cfg(target_arch = "x86_64")]
            Tier::Avx512 => {
                std::is_x86_feature_detected!("avx512f")
                    && std::is_x86_feature_detected!("avx512bw")
                    && std::is_x86_feature_detected!("avx512dq")
                    && std::is_x86_feature_detected!("avx512vl")
                    && std::is_x86_feature_detected!("avx512cd")
                    && std::is_x86_feature_detected!("fma")
                    && std::is_x86_feature_detected!("bmi2")
            }
            #[cfg(not(target_arch = "x86_64"))]
            Tier::Avx2 | Tier::Avx512 => false,
        }
    }
    /// The widest family that this machine has.
    pub fn host() -> Tier {
        Tier::ALL.into_iter().rev().find(|t| t.available()).unwrap_or(Tier::Baseline)
    }
}

/// Whether this machine permutes bytes of 512 bits (AVX-512 VBMI).
pub(crate) fn has_byte_permutes() -> bool {
    #[cfg(target_arch = "x86_64")]
    return std::is_x86_feature_detected!("avx512vbmi");
    #[cfg(not(target_arch = "x86_64"))]
    return false;
}
