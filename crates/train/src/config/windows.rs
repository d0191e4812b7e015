//! Windows by date.

use super::DataConfig;
use foxhunt_data::{Bars, parse_moment, show_moment};
use foxhunt_features::Moments;

impl DataConfig {
    /// Moments that divide the bars; none where shares do.
    ///
    /// # Errors
    /// A text that is no date, dates out of order, one that needs another: which key it is, and what to do.
    pub fn moments(&self) -> Result<Option<Moments>, String> {
        let [train_from_ns, validation, test, test_to_ns] = self.given()?;
        let moments = match (validation, test) {
            (Some((_, validation_from_ns)), Some((_, test_from_ns))) => Moments {
                train_from_ns: train_from_ns.map(|m| m.1),
                validation_from_ns,
                test_from_ns,
                test_to_ns: test_to_ns.map(|m| m.1),
            },
            // Folds have windows of their own, between these two.
            (None, None) if self.walk_forward.folds > 0 => return Ok(None),
            (None, None) => {
                return match train_from_ns.or(test_to_ns) {
                    None => Ok(None),
                    Some((key, _)) => Err(format!(
                        "{key} is given without data.validation_from and data.test_from: give both too, or leave it empty"
                    )),
                };
            }
            (Some(_), None) => return Err(alone("data.validation_from", "data.test_from")),
            (None, Some(_)) => return Err(alone("data.test_from", "data.validation_from")),
        };
        let given: Vec<(&str, i64)> =
            [train_from_ns, validation, test, test_to_ns].into_iter().flatten().collect();
        for pair in given.windows(2) {
            if let [(earlier, a), (later, b)] = pair
                && a >= b
            {
                return Err(format!(
                    "{earlier} is {} and {later} {}: it must be earlier",
                    show_moment(*a),
                    show_moment(*b)
                ));
            }
        }
        Ok(Some(moments))
    }

    /// As [`DataConfig::moments`], for bars that must reach to every date.
    ///
    /// # Errors
    /// The key and what is wrong with it, as there; a date outside the bars, with what they cover.
    pub(crate) fn moments_within(&self, bars: &Bars) -> Result<Option<Moments>, (String, String)> {
        let wrong = |what| ("the configuration".to_owned(), what);
        let moments = self.moments().map_err(wrong)?;
        self.check_within(bars)?;
        Ok(moments)
    }

    fn check_within(&self, bars: &Bars) -> Result<(), (String, String)> {
        let wrong = |what| ("the configuration".to_owned(), what);
        let covered = bars.open_ns.first().copied().zip(bars.close_ns.last().copied());
        if let Some((first, last)) = covered {
            for (key, ns) in self.given().map_err(wrong)?.into_iter().flatten() {
                if !(first..=last).contains(&ns) {
                    let [at, first, last] = [ns, first, last].map(show_moment);
                    let file = &bars.source.path;
                    let what =
                        format!("{at} is outside {file}, which covers {first} to {last}: give a date within");
                    return Err((key.to_owned(), what));
                }
            }
        }
        Ok(())
    }

    /// Begin and end of the data that folds divide, where given.
    ///
    /// # Errors
    /// As [`DataConfig::moments_within`].
    pub(crate) fn ends_within(&self, bars: &Bars) -> Result<(Option<i64>, Option<i64>), (String, String)> {
        self.check_within(bars)?;
        let [from, _, _, to] = self.given().map_err(|what| ("the configuration".to_owned(), what))?;
        Ok((from.map(|m| m.1), to.map(|m| m.1)))
    }

    /// The dates in order of time with their keys, none for an empty one.
    fn given(&self) -> Result<[Option<(&'static str, i64)>; 4], String> {
        let read = |key: &'static str, text: &str| {
            if text.is_empty() {
                return Ok(None);
            }
            parse_moment(text).map(|ns| Some((key, ns))).map_err(|e| format!("{key}: {e}"))
        };
        Ok([
            read("data.train_from", &self.train_from)?,
            read("data.validation_from", &self.validation_from)?,
            read("data.test_from", &self.test_from)?,
            read("data.test_to", &self.test_to)?,
        ])
    }
}

fn alone(given: &str, missing: &str) -> String {
    format!("{given} is given without {missing}: give both, or neither to divide the bars by shares")
}

#[cfg(test)]
mod tests {
    use super::super::Config;

    fn of(file: &str, set: &[&str]) -> Result<Config, String> {
        let set: Vec<String> = set.iter().map(|s| (*s).to_owned()).collect();
        Config::resolve(Some(("a.toml", file)), None, &set).map_err(|e| e.to_string())
    }

    #[test]
    fn dates_are_read_with_quotes_and_without() {
        let quoted = "[data]\ntrain_from = \"2017-01-01\"\nvalidation_from = \"2021-01-01\"\n\
                      test_from = \"2022-01-01T00:00:00Z\"\ntest_to = \"2023-01-01\"";
        let config = of(quoted, &[]).unwrap();
        let moments = config.data.moments().unwrap().unwrap();
        const DAY: i64 = 86_400_000_000_000;
        assert_eq!(moments.train_from_ns, Some(17_167 * DAY));
        assert_eq!((moments.test_from_ns - moments.validation_from_ns) / DAY, 365);
        assert_eq!(moments.test_to_ns.map(|t| (t - moments.test_from_ns) / DAY), Some(365));
        assert_eq!(of(&quoted.replace('"', ""), &[]).unwrap(), config);
        assert_eq!(Config::resolve(Some(("b", &config.to_toml().unwrap())), None, &[]).unwrap(), config);
        // As options: one alone is not enough, both are.
        let options = ["data.validation_from=2021-01-01", "data.test_from='2022-01-01'"];
        let moments = of("", &options).unwrap().data.moments().unwrap().unwrap();
        assert_eq!((moments.train_from_ns, moments.test_to_ns), (None, None));
        assert_eq!(of("", &[]).unwrap().data.moments(), Ok(None));
    }

    #[test]
    fn wrong_dates_are_named_with_what_to_do() {
        for (set, words) in [
            (
                &["data.test_from=2022-01-01"][..],
                &["data.test_from", "without data.validation_from", "neither"][..],
            ),
            (
                &["data.validation_from=2022-01-01"],
                &["data.validation_from", "without data.test_from", "neither"],
            ),
            (&["data.train_from=2017-01-01"], &["data.train_from", "give both"]),
            (&["data.test_to=2017-01-01"], &["data.test_to", "give both"]),
            (&["data.test_from=soon"], &["data.test_from", "soon", "2017-01-31"]),
            (&["data.test_from=2017-01-01T10:00:00"], &["data.test_from", "offset"]),
            (&["data.test_from=2017"], &["data.test_from", "text, in quotes"]),
            (
                &["data.validation_from=2022-01-01", "data.test_from=2021-01-01"],
                &["data.validation_from is 2022-01-01T00:00:00Z", "data.test_from 2021", "earlier"],
            ),
            (
                &["data.validation_from=2020-01-01", "data.test_from=2021-01-01", "data.test_to=2021-01-01"],
                &["data.test_from is", "data.test_to", "earlier"],
            ),
        ] {
            let error = of("", set).unwrap_err();
            assert!(words.iter().all(|word| error.contains(word)), "{set:?}: {error}");
        }
    }
}
