//! Caches as Linux tells them, in files below `/sys/devices/system/cpu`.

use super::caches::Report;
use std::path::Path;

/// The most caches of a core; there are about four.
const MOST_CACHES: u32 = 16;

/// Returns the reports of the first core, from the files below `root`, which is `/` but in tests.
pub(super) fn reports(root: &Path) -> Vec<Report> {
    let folder = root.join("sys/devices/system/cpu/cpu0/cache");
    let text = |cache: u32, name: &str| std::fs::read_to_string(folder.join(format!("index{cache}")).join(name));
    (0..MOST_CACHES).filter_map(|cache| report(|name| text(cache, name).unwrap_or_default())).collect()
}

/// The report of a cache by its files; `None` if it holds code, or nothing says its level. A file that is not there
/// reads as empty.
fn report(file: impl Fn(&str) -> String) -> Option<Report> {
    let unified = match file("type").trim() {
        "Data" => false,
        "Unified" => true,
        _ => return None,
    };
    let number = |name: &str| file(name).trim().parse().unwrap_or(0);
    Some(Report {
        level: file("level").trim().parse().ok()?,
        unified,
        bytes: size(file("size").trim()).unwrap_or(0),
        line: number("coherency_line_size"),
        ways: number("ways_of_associativity"),
        shared_by: members(file("shared_cpu_list").trim()).unwrap_or(0),
    })
}

/// Returns the bytes of a size such as `32K`.
fn size(text: &str) -> Option<u64> {
    let digits = text.trim_end_matches(['K', 'M', 'G']);
    let unit: u64 = match &text[digits.len()..] {
        "" => 1,
        "K" => 1 << 10,
        "M" => 1 << 20,
        "G" => 1 << 30,
        _ => return None,
    };
    digits.parse::<u64>().ok()?.checked_mul(unit)
}

/// Returns the number of members of a list such as `0-3,8,10-11`.
fn members(text: &str) -> Option<u64> {
    text.split(',').try_fold(0u64, |all, part| {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last): (u64, u64) = (first.trim().parse().ok()?, last.trim().parse().ok()?);
        all.checked_add(last.checked_sub(first)?)?.checked_add(1)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_and_lists_are_read() {
        assert_eq!(size("32K"), Some(32 << 10));
        assert_eq!(size("2M"), Some(2 << 20));
        assert_eq!(size("100"), Some(100));
        let wrong = ["", "K", "32KK", "32 K", "-1K", "99999999999999999999K", "18446744073709551615K", "32Kib", "é"];
        assert!(wrong.iter().all(|text| size(text).is_none()));
        assert_eq!(members("0"), Some(1));
        assert_eq!(members("0-3,8,10-11"), Some(7));
        assert_eq!(members("0-18446744073709551615"), None);
        assert!(["", "a", "3-1", "1,", "-", "0-", "é-ü"].iter().all(|text| members(text).is_none()));
    }

    #[test]
    fn files_of_a_cache_are_read() {
        let files = |lacking: &str| {
            let lacking = lacking.to_string();
            report(move |name| {
                let text = match name {
                    "type" => "Unified\n",
                    "level" => "2\n",
                    "size" => "1024K\n",
                    "coherency_line_size" => "64\n",
                    "ways_of_associativity" => "8\n",
                    "shared_cpu_list" => "0,2\n",
                    _ => "",
                };
                if name == lacking { String::new() } else { text.to_string() }
            })
        };
        let whole = Report { level: 2, unified: true, bytes: 1 << 20, line: 64, ways: 8, shared_by: 2 };
        assert_eq!(files("none"), Some(whole));
        assert_eq!(files("type"), None);
        assert_eq!(files("level"), None);
        assert_eq!(files("size"), Some(Report { bytes: 0, ..whole }));
        assert_eq!(files("coherency_line_size"), Some(Report { line: 0, ..whole }));
        assert_eq!(files("ways_of_associativity"), Some(Report { ways: 0, ..whole }));
        assert_eq!(files("shared_cpu_list"), Some(Report { shared_by: 0, ..whole }));
        for text in ["Instruction", "Data2", "", "\0", "é", "99999999999999999999999"] {
            assert_eq!(report(|_| text.to_string()), None);
        }
        assert_eq!(reports(Path::new("/nowhere")), []);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn this_system_answers() {
        assert!(reports(Path::new("/")).len() <= MOST_CACHES as usize);
    }
}
