/// Year, month (1..=12) and day of the month of a day since 1970, in the Gregorian calendar (Howard Hinnant's
/// `civil_from_days`).
pub fn date_of_day(days: i64) -> (i64, u8, u8) {
    let z = days + 719_468;
    let era = z.div_euclid(146_097);
    let of_era = z.rem_euclid(146_097);
    let year_of_era = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let day_of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted = (5 * day_of_year + 2) / 153;
    let day = (day_of_year - (153 * shifted + 2) / 5 + 1) as u8;
    let month = if shifted < 10 { shifted + 3 } else { shifted - 9 } as u8;
    (year_of_era + era * 400 + i64::from(month <= 2), month, day)
}
