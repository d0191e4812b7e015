//! Anyone's target exposures: a file of stamps and exposures beside a file of bars.

use std::{fs, path::Path};

use crate::{
    bars::Bars,
    error::DataError,
    instrument::zone,
    source::StampSide,
    stamp::{Before, Sniffer, Verdict, parse},
};

/// Target exposures as a file gives them: each holds from the close of its bar until the next one.
#[derive(Clone, Debug, PartialEq)]
pub struct Positions {
    /// The file, without its folder.
    pub name: String,
    /// SHA-256 of its bytes, in hexadecimal.
    pub sha256: String,
    /// The file's line of the first target.
    pub first_line: u64,
    /// Rows of the bars at whose close a target is set, rising, and the target, -1 to 1 of full exposure.
    pub targets: Vec<(usize, f64)>,
}

/// Whose targets are read from a file of several instruments.
#[derive(Clone, Copy, Debug)]
pub struct OfMarket<'a> {
    /// Names of all instruments, which the file's column `market` may hold.
    pub names: &'a [&'a str],
    /// The one whose targets are meant.
    pub own: &'a str,
    /// Whether a file without that column is all its.
    pub alone: bool,
}

impl Positions {
    /// Reads a CSV file whose header is `stamp,exposure`, in rising order; for several instruments with a column `market`, which
    /// names each target's.
    ///
    /// A stamp names a bar: it is written as the stamps of the bars' own file are (the bar's open or its close, whichever
    /// that file's stamps are, in the zone that they were read in; any format that bars may have). The target is set at the
    /// *close* of that bar, so that whatever the bar shows may be known to it. An exposure is a number from -1 (full short) to
    /// 1 (full long).
    ///
    /// # Errors
    /// [`DataError`] with file, line and field of what is not so.
    pub fn read(path: &Path, bars: &Bars, of: Option<OfMarket<'_>>) -> Result<Self, DataError> {
        let shown = path.display().to_string();
        let bytes = fs::read(path).map_err(|source| DataError::Io { path: shown.clone().into(), source })?;
        let name = path.file_name().map_or_else(|| shown.clone(), |n| n.to_string_lossy().into_owned());
        Ok(Positions { name, ..Self::from_bytes(&shown, &bytes, bars, of)? })
    }

    /// As [`Positions::read`], from the bytes of a file under the name `path`.
    ///
    /// # Errors
    /// As [`Positions::read`].
    pub fn from_bytes(
        path: &str,
        bytes: &[u8],
        bars: &Bars,
        of: Option<OfMarket<'_>>,
    ) -> Result<Self, DataError> {
        let text = std::str::from_utf8(bytes)
            .map_err(|e| DataError::file(path, format!("is no UTF-8 text ({e})"), "save it as UTF-8"))?;
        let (first_line, targets) = Self::parse(path, text, bars, of)?;
        Ok(Positions { name: path.to_owned(), sha256: crate::open::sha256(bytes), first_line, targets })
    }

    fn parse(
        path: &str,
        text: &str,
        bars: &Bars,
        of: Option<OfMarket<'_>>,
    ) -> Result<(u64, Vec<(usize, f64)>), DataError> {
        const SHAPE: &str = "the header is stamp,exposure (stamp,market,exposure for several instruments) and every line has these";
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let mut lines =
            text.lines().enumerate().map(|(k, l)| (k as u64 + 1, l.trim())).filter(|(_, l)| !l.is_empty());
        let (line, header) = lines.next().ok_or_else(|| {
            DataError::file(path, "is empty", "write a line stamp,exposure and the targets")
        })?;
        let columns: Vec<String> = header.split(',').map(|c| c.trim().to_lowercase()).collect();
        let at = |name: &str| columns.iter().position(|c| c == name);
        let (stamp_at, market_at, exposure_at) = (at("stamp"), at("market"), at("exposure"));
        let count = 2 + usize::from(market_at.is_some());
        let (Some(stamp_at), Some(exposure_at), true) = (stamp_at, exposure_at, columns.len() == count)
        else {
            let found = crate::error::shown(header);
            return Err(DataError::line(path, line, format!("\"{found}\" is not the header"), SHAPE));
        };
        match (market_at, of) {
            (Some(_), None) => {
                let problem = "has a column market, and there is one instrument without a name";
                return Err(DataError::line(path, line, problem, "leave the column out"));
            }
            (None, Some(OfMarket { names, alone: false, .. })) => {
                let fix = format!("add one that names each target's: {}", names.join(", "));
                return Err(DataError::line(
                    path,
                    line,
                    "has no column market, and there are several instruments",
                    fix,
                ));
            }
            _ => {}
        }
        let mut cells = Vec::new();
        for (line, row) in lines {
            let fields: Vec<&str> = row.split(',').map(str::trim).collect();
            if fields.len() != count {
                return Err(DataError::line(path, line, format!("{} fields", fields.len()), SHAPE));
            }
            if let (Some(name), Some(of)) = (market_at.map(|k| fields[k]), of) {
                if !of.names.contains(&name) {
                    let (problem, fix) =
                        ("is no instrument of this run", format!("name one of {}", of.names.join(", ")));
                    return Err(DataError::cell(path, (line, "market"), name, problem, fix));
                }
                if name != of.own {
                    continue;
                }
            }
            cells.push((line, fields[stamp_at], fields[exposure_at]));
        }
        let Some(&(first_line, first, _)) = cells.first() else {
            let of = of.map(|of| format!(" of {}", of.own)).unwrap_or_default();
            return Err(DataError::file(
                path,
                format!("holds no target{of}"),
                "write one line for each target",
            ));
        };
        let fix = "write it as the bars' own file does";
        let mut sniffer = Sniffer::default();
        cells.iter().for_each(|c| sniffer.look(c.1));
        let unknown = |problem: String| DataError::cell(path, (first_line, "stamp"), first, problem, fix);
        let format = match sniffer.verdict(None) {
            Verdict::Known(format) => format,
            Verdict::Unclear { .. } => {
                return Err(unknown("is day-first or month-first: no line tells".into()));
            }
            Verdict::Wrong(problem) => return Err(unknown(problem)),
        };
        let source = &bars.source;
        let zone = zone(&source.time_zone).ok_or_else(|| {
            DataError::file(path, format!("the zone {} is not known", source.time_zone), fix)
        })?;
        let moments = match source.stamp_side {
            StampSide::Open => &bars.open_ns,
            StampSide::Close => &bars.close_ns,
        };
        let mut targets: Vec<(usize, f64)> = Vec::with_capacity(cells.len());
        let mut previous = None;
        for (line, stamp, exposure) in cells {
            let wrong = |problem: &str, fix: String| {
                DataError::cell(path, (line, "stamp"), stamp, problem.to_owned(), fix)
            };
            let before = Before { stamp_ns: previous, descending: false };
            let (ns, _) =
                parse(stamp, format, &zone, before).map_err(|problem| wrong(&problem, fix.into()))?;
            if previous.is_some_and(|p| ns <= p) {
                return Err(wrong("is not after the stamp before it", "sort by stamp, one line each".into()));
            }
            previous = Some(ns);
            let row = moments.binary_search(&ns).map_err(|_| {
                let file = &source.path;
                wrong(
                    &format!("names no bar of {file}, whose stamps are {}", source.stamp_side),
                    format!("use stamps of that file, in {}", source.time_zone),
                )
            })?;
            let target =
                exposure.parse::<f64>().ok().filter(|x| (-1.0..=1.0).contains(x)).ok_or_else(|| {
                    let problem = "is no number from -1 to 1";
                    DataError::cell(
                        path,
                        (line, "exposure"),
                        exposure,
                        problem,
                        "1 is full long, -1 full short",
                    )
                })?;
            targets.push((row, target));
        }
        Ok((first_line, targets))
    }

    /// The target at the close of each of `rows`: the latest that was set until then, flat before the first.
    pub fn over(&self, rows: std::ops::Range<usize>) -> Vec<f64> {
        let mut next = self.targets.iter().peekable();
        let mut target = 0.0;
        rows.map(|row| {
            while let Some((_, set)) = next.next_if(|(at, _)| *at <= row) {
                target = *set;
            }
            target
        })
        .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    fn parse(text: &str) -> Result<Vec<(usize, f64)>, String> {
        Positions::parse("p.csv", text, &sample(), None)
            .map(|(_, targets)| targets)
            .map_err(|e| e.to_string())
    }

    /// A stamp of the sample as its file has it.
    fn stamp(row: usize) -> String {
        let text = std::str::from_utf8(crate::SAMPLE_CSV).unwrap();
        text.lines().nth(row + 1).unwrap().split(',').next().unwrap().to_owned()
    }

    #[test]
    fn stamps_are_those_of_the_bars_own_file() {
        let text = format!("Stamp, exposure\n{},0.5\n\n{},-1\n", stamp(3), stamp(6));
        let targets = parse(&text).unwrap();
        assert_eq!(targets, [(3, 0.5), (6, -1.0)]);
        let positions = Positions { name: "p.csv".into(), sha256: String::new(), first_line: 2, targets };
        assert_eq!(positions.over(2..8), [0.0, 0.5, 0.5, 0.5, -1.0, -1.0]);
        assert_eq!(positions.over(5..7), [0.5, -1.0], "a target set before the stretch holds in it");
    }

    #[test]
    fn a_file_may_hold_the_targets_of_several_instruments() {
        let of = |own, alone| Some(OfMarket { names: &["eur", "xbt"], own, alone });
        let read = |text: &str, of| {
            let parsed = Positions::parse("p.csv", text, &sample(), of);
            parsed.map(|(_, targets)| targets).map_err(|e| e.to_string())
        };
        let text = format!("stamp,market,exposure\n{0},eur,0.5\n{0},xbt,-1\n{1},eur,0\n", stamp(3), stamp(6));
        assert_eq!(read(&text, of("eur", false)).unwrap(), [(3, 0.5), (6, 0.0)]);
        assert_eq!(read(&text, of("xbt", true)).unwrap(), [(3, -1.0)]);
        let plain = format!("exposure,stamp\n1,{}\n", stamp(3));
        assert_eq!(read(&plain, of("xbt", true)).unwrap(), [(3, 1.0)]);
        for (text, of, words) in [
            (text.replace("xbt", "gold"), of("eur", false), "line 3, field market"),
            (text.replace("xbt", "eur2"), of("eur", false), "name one of eur, xbt"),
            (text.replace("xbt", "eur"), of("eur", false), "line 3, field stamp"),
            (plain.clone(), of("eur", false), "add one that names each target's: eur, xbt"),
            (text.clone(), None, "leave the column out"),
            (
                format!("stamp,market,exposure\n{},eur,1\n", stamp(3)),
                of("xbt", false),
                "holds no target of xbt",
            ),
            ("stamp,exposure,stamp\n".into(), None, "is not the header"),
        ] {
            let error = read(&text, of).unwrap_err();
            assert!(error.contains(words), "{words}: {error}");
        }
    }

    #[test]
    fn errors_name_file_line_and_field() {
        let (a, b) = (stamp(3), stamp(4));
        for (text, words) in [
            (String::new(), vec!["p.csv", "is empty"]),
            ("time,x\n".into(), vec!["p.csv, line 1", "stamp,exposure"]),
            ("stamp,exposure\n".into(), vec!["p.csv", "no target"]),
            (format!("stamp,exposure\n{a}\n"), vec!["p.csv, line 2", "1 fields"]),
            (format!("stamp,exposure\n{a},1,2\n"), vec!["p.csv, line 2", "3 fields"]),
            (format!("stamp,exposure\n{a},1\n\n{b},1.5\n"), vec!["p.csv, line 4, field exposure", "\"1.5\""]),
            (format!("stamp,exposure\n{a},NaN\n"), vec!["line 2, field exposure", "-1 to 1"]),
            (format!("stamp,exposure\n{b},1\n{a},1\n"), vec!["line 3, field stamp", "not after"]),
            (format!("stamp,exposure\n{a},1\n{a},1\n"), vec!["line 3, field stamp", "not after"]),
            ("stamp,exposure\nsoon,1\n".into(), vec!["line 2, field stamp", "\"soon\""]),
            ("stamp,exposure\n1999-01-01 00:00,1\n".into(), vec!["line 2, field stamp"]),
        ] {
            let error = parse(&text).unwrap_err();
            for word in words {
                assert!(error.contains(word), "'{word}' is not in: {error}");
            }
        }
    }
    /// Whatever a byte is changed to, there are targets in order and in range, or a message; never a panic.
    #[test]
    fn mutated_files_never_panic() {
        let bars = sample();
        let lines: String =
            (0..40).map(|k| format!("{},{}\n", stamp(7 * k), [0.5, -1.0, 0.0][k % 3])).collect();
        let whole = format!("stamp,exposure\n{lines}").into_bytes();
        let mut word = 1_u64;
        let mut draw = |n: usize| {
            word = word.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (word >> 33) as usize % n
        };
        let (mut read, mut refused) = (0, 0);
        for _ in 0..3_000 {
            let mut bytes = whole.clone();
            for _ in 0..1 + draw(3) {
                let at = draw(bytes.len());
                bytes[at] = b"0123456789.,-+:eE \n\"\xff\0naif"[draw(26)];
            }
            bytes.truncate(bytes.len() - draw(2) * draw(200));
            match Positions::parse("p.csv", &String::from_utf8_lossy(&bytes), &bars, None) {
                Ok((_, targets)) => {
                    read += 1;
                    assert!(targets.windows(2).all(|w| w[0].0 < w[1].0));
                    assert!(targets.iter().all(|(row, x)| *row < bars.len() && (-1.0..=1.0).contains(x)));
                }
                Err(e) => {
                    refused += 1;
                    assert!(e.to_string().starts_with("p.csv"), "{e}");
                }
            }
        }
        // Few changes leave every stamp a bar's.
        assert!(read > 20 && refused > 1_000, "{read} {refused}");
    }
}
