//! The time of day without a table of time zones: in UTC.

use std::time::{SystemTime, UNIX_EPOCH};

/// A date and a time in UTC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Utc {
    year: i64,
    month: u64,
    day: u64,
    seconds: u64,
}

impl Utc {
    /// The date of a time. Times before 1970 are its first moment.
    pub(crate) fn new(time: SystemTime) -> Utc {
        let all = time.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
        // Days are counted from March on, so that the day that leap years have more is the last of a year; an era is
        // 400 years.
        let days = all / 86_400 + 719_468;
        let (era, day) = (days / 146_097, days % 146_097);
        let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
        let day = day - (365 * year + year / 4 - year / 100);
        let month = (5 * day + 2) / 153;
        let is_next_year = month >= 10;
        Utc {
            year: (year + 400 * era + u64::from(is_next_year)) as i64,
            month: if is_next_year { month - 9 } else { month + 3 },
            day: day - (153 * month + 2) / 5 + 1,
            seconds: all % 86_400,
        }
    }

    /// The time of day: `14:02:31`.
    pub(crate) fn clock(&self) -> String {
        format!("{:02}:{:02}:{:02}", self.seconds / 3_600, self.seconds / 60 % 60, self.seconds % 60)
    }

    /// The whole of it: `2026-11-28T14:02:31Z`.
    pub(crate) fn text(&self) -> String {
        format!("{:04}-{:02}-{:02}T{}Z", self.year, self.month, self.day, self.clock())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn dates_follow_the_calendar() {
        for (seconds, text) in [
            (0, "1970-01-01T00:00:00Z"),
            (951_782_399, "2000-02-28T23:59:59Z"),
            (951_782_400, "2000-02-29T00:00:00Z"),
            (951_868_800, "2000-03-01T00:00:00Z"),
            (1_735_689_599, "2024-12-31T23:59:59Z"),
            (1_795_874_551, "2026-11-28T14:02:31Z"),
            (4_107_542_400, "2100-03-01T00:00:00Z"),
        ] {
            assert_eq!(Utc::new(UNIX_EPOCH + Duration::from_secs(seconds)).text(), text);
        }
        assert_eq!(Utc::new(UNIX_EPOCH - Duration::from_secs(5)).clock(), "00:00:00");
    }
}
