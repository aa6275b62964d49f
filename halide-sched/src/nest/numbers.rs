//! Numbers of things and of bytes as text.

/// A number of things: whole where it is small and whole, with three digits and a unit otherwise.
pub(super) fn count(n: f64) -> String {
    const UNITS: [&str; 5] = ["", " k", " M", " G", " T"];
    if n < 10_000.0 && n.fract() == 0.0 {
        return format!("{n}");
    }
    scaled(n, 1000.0, &UNITS)
}

/// A number of bytes.
pub(super) fn bytes(n: f64) -> String {
    const UNITS: [&str; 5] = [" B", " KiB", " MiB", " GiB", " TiB"];
    if n < 1024.0 {
        return format!("{} B", n.round());
    }
    scaled(n, 1024.0, &UNITS)
}

fn scaled(mut n: f64, step: f64, units: &[&str]) -> String {
    let mut unit = 0;
    while n >= step && unit + 1 < units.len() {
        n /= step;
        unit += 1;
    }
    let digits = if n < 10.0 { 2 } else { usize::from(n < 100.0) };
    format!("{n:.digits$}{}", units[unit])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_three_digits() {
        let counts = [0.0, 7.0, 2.5, 9999.0, 12_345.0, 250_000.0, 1e6, 3.4e15].map(count);
        assert_eq!(counts, ["0", "7", "2.50", "9999", "12.3 k", "250 k", "1.00 M", "3400 T"]);
        assert_eq!([0.0, 1023.0, 1536.0, 5e7].map(bytes), ["0 B", "1023 B", "1.50 KiB", "47.7 MiB"]);
    }
}
