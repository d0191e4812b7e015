//! What the configuration's keys are, told by the types themselves: their doc comments, defaults and ranges as a JSON Schema,
//! as a commented file, and for messages about keys that don't exist.

use super::{Config, MarketData, Size, check, cost};
use crate::TrainError;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};

/// The JSON Schema (2020-12) of a configuration file, with the defaults of a size. Whatever it allows may still not fit
/// together, as a validation window and a test window must: that is for [`Config::resolve`].
pub fn schema(size: Size) -> Value {
    let settings = SchemaSettings::draft2020_12().with(|s| s.inline_subschemas = true);
    let mut root = settings.into_generator().into_root_schema_for::<Config>().to_value();
    let own = |size: Size| json!(size);
    let mut one = SchemaSettings::draft2020_12().into_generator().into_root_schema_for::<Size>().to_value();
    if let Value::Object(one) = &mut one {
        one.retain(|key, _| ["description", "oneOf"].contains(&key.as_str()));
        one.insert("default".into(), own(Size::default()));
    }
    root["title"] = json!("foxhunt configuration");
    finish(&mut root, &json!(Config::of(size)), "");
    root["properties"]["size"] = one;
    root
}

/// Adds defaults and ranges; nothing is required, since a file's keys go over the defaults.
fn finish(schema: &mut Value, default: &Value, place: &str) {
    if let Value::Object(s) = schema {
        s.remove("required");
        // Names of Rust's types, which validators don't know.
        s.remove("format");
        if let Some(text) = s.get("description").and_then(Value::as_str).map(plain) {
            s.insert("description".into(), text.into());
        }
    }
    let inside = schema.get_mut("properties").and_then(Value::as_object_mut);
    if let Some(properties) = inside {
        for (key, schema) in properties {
            let place = if place.is_empty() { key.clone() } else { format!("{place}.{key}") };
            finish(schema, &default[key], &place);
        }
        return;
    }
    let (Value::Object(s), false) = (schema, place.is_empty()) else { return };
    // What a table of a list leaves out has no default of its own.
    if !default.is_null() {
        s.insert("default".into(), default.clone());
    }
    if let Some(items) = s.get_mut("items").and_then(Value::as_object_mut) {
        if items.contains_key("properties") {
            // Keys of a list's tables are those beside the list, with the same ranges.
            let outer = place.rsplit_once('.').map_or("", |(outer, _)| outer);
            let mut items = Value::Object(std::mem::take(items));
            finish(&mut items, &json!(MarketData::default()), outer);
            s.insert("items".into(), items);
            return;
        }
        items.remove("format");
        bound(items, &format!("{place}[0]"));
    } else {
        bound(s, place);
    }
}

fn bound(s: &mut Map<String, Value>, place: &str) {
    if place == "seed" {
        // TOML's integers end there.
        s.insert("maximum".into(), json!(i64::MAX));
    }
    // Keys of an instrument's own account are those of all.
    let place = place.strip_prefix("data.").filter(|p| p.starts_with("market.")).unwrap_or(place);
    let Some(range) = check::range(place) else { return };
    if cost::KEYS.contains(&place) {
        s.remove("type");
        let numbers = json!({ "type": "number", "minimum": range.low, "maximum": range.high });
        s.insert("anyOf".into(), json!([{ "const": cost::OWN }, numbers]));
        return;
    }
    let whole = s.get("type").is_some_and(|t| t == "integer");
    let number = |x: f64| if whole { json!(x as i64) } else { json!(x) };
    s.remove("minimum");
    let limits = json!({ "minimum": number(range.low), "maximum": number(range.high) });
    if range.or_zero {
        s.insert("anyOf".into(), json!([{ "const": number(0.0) }, limits]));
    } else if let Value::Object(limits) = limits {
        s.extend(limits);
    }
}

/// A doc comment as text: one paragraph, links to other items as their names.
fn plain(doc: &str) -> String {
    let text = doc.split_whitespace().collect::<Vec<_>>().join(" ");
    // [`v_max`](crate::…) and [`Config::resolve`].
    let mut out = String::with_capacity(text.len());
    let mut rest = text.as_str();
    while let Some(at) = rest.find("[`") {
        let Some(end) = rest[at..].find("`]").map(|e| at + e) else { break };
        out.push_str(&rest[..at]);
        out.push_str(&rest[at + 1..=end]);
        rest = &rest[end + 2..];
        if let Some(link) = rest.strip_prefix('(')
            && let Some(close) = link.find(')')
        {
            rest = &link[close + 1..];
        }
    }
    out + rest
}

/// A configuration file with every key, its default in a size, what it means and what it may be.
///
/// # Errors
/// Never for the defaults.
pub fn documented(size: Size) -> Result<String, TrainError> {
    let schema = schema(size);
    let properties = |s: &Value| s["properties"].clone();
    let name = json!(size).as_str().unwrap_or_default().to_owned();
    let mut out = comment(&format!(
        "foxhunt's configuration: every key with its default in size {name}. Leave out what stays as it is, for defaults may \
         get better; foxhunt train --config FILE reads it, and --set KEY=VALUE goes over it."
    ));
    let mut group = properties(&schema);
    out.push_str(&described("size", &group["size"]));
    out.push_str(&format!("size = {name:?}\n"));
    for line in Config::of(size).to_line_toml()?.lines().filter(|line| !line.is_empty()) {
        let (key, of) = match line.strip_prefix('[').and_then(|l| l.strip_suffix(']')) {
            Some(section) => {
                let of = section.split('.').fold(schema.clone(), |s, part| s["properties"][part].clone());
                group = properties(&of);
                (section, of)
            }
            None => {
                let key = line.split(" = ").next().unwrap_or(line);
                (key, group[key].clone())
            }
        };
        out.push_str(&described(key, &of));
        out.push_str(line);
        out.push('\n');
    }
    Ok(out)
}

/// What is said of a key above it.
fn described(key: &str, schema: &Value) -> String {
    let mut out = String::from("\n");
    out.push_str(&comment(schema["description"].as_str().unwrap_or(key)));
    for variant in schema["oneOf"].as_array().into_iter().flatten() {
        let (name, what) = (variant["const"].as_str(), variant["description"].as_str());
        out.push_str(&comment(&format!(
            "- {}: {}",
            name.unwrap_or_default(),
            plain(what.unwrap_or_default())
        )));
    }
    for (name, of) in schema["items"]["properties"].as_object().into_iter().flatten() {
        out.push_str(&comment(&format!("- {name}: {}", of["description"].as_str().unwrap_or_default())));
    }
    let of = if schema["items"].is_object() { &schema["items"] } else { schema };
    if let Some(range) = shown_range(of) {
        out.push_str(&comment(&range));
    } else if let Some(kind) = kind(schema) {
        out.push_str(&comment(kind));
    }
    out
}

fn shown_range(schema: &Value) -> Option<String> {
    if schema["anyOf"][0]["const"] == cost::OWN {
        let [low, high] =
            ["minimum", "maximum"].map(|end| schema["anyOf"][1][end].as_f64().map(check::shown));
        return Some(format!("\"{}\", or a number, {} to {}", cost::OWN, low?, high?));
    }
    let kind = kind(schema)?;
    let ends = |s: &Value| {
        let end = |key: &str| match &s[key] {
            whole if whole.is_i64() => Some(whole.to_string()),
            real => real.as_f64().map(check::shown),
        };
        Some(format!("{} to {}", end("minimum")?, end("maximum")?))
    };
    let zero =
        schema["anyOf"].as_array().and_then(|any| any.iter().find_map(ends)).map(|e| format!("0, or {e}"));
    Some(format!("{kind}, {}", zero.or_else(|| ends(schema))?))
}

fn kind(schema: &Value) -> Option<&'static str> {
    match schema["type"].as_str()? {
        "integer" => Some("Whole number"),
        "number" => Some("Number"),
        "boolean" => Some("true or false"),
        "array" => Some("List"),
        "string" if schema["oneOf"].is_null() => Some("Text"),
        _ => None,
    }
}

/// A text as lines of a TOML comment.
fn comment(text: &str) -> String {
    const WIDTH: usize = 110;
    let (mut out, mut line) = (String::new(), String::from("#"));
    for word in text.split_whitespace() {
        if line.chars().count() + 1 + word.chars().count() > WIDTH {
            out.push_str(&line);
            out.push('\n');
            line = String::from("#");
        }
        line.push(' ');
        line.push_str(word);
    }
    out + &line + "\n"
}

/// The key that was probably meant by one that doesn't exist: written a little otherwise, or in another group.
pub fn nearest_key(wrong: &str) -> Option<String> {
    let defaults = toml::Table::try_from(Config::of(Size::Small)).ok()?;
    nearest(&defaults, wrong)
}

/// As [`nearest_key`], among the keys of a table.
pub(super) fn nearest(table: &toml::Table, wrong: &str) -> Option<String> {
    let (group, name) = split(wrong);
    let distance = |key: &String| {
        let (own_group, own) = split(key);
        let within = own.len().min(name.len()) >= 4 && (own.contains(name) || name.contains(own));
        let by_name = strsim::damerau_levenshtein(own, name).min(if within { 1 } else { usize::MAX });
        // Another group's key only where its name is right.
        let elsewhere = if group == own_group { 0 } else { 1 };
        (2 * by_name + elsewhere).min(2 * strsim::damerau_levenshtein(key, wrong))
    };
    let allowed = 2 * (name.chars().count() / 3).max(1) + 1;
    let mut best: Option<(usize, String)> = None;
    for key in all(table) {
        let d = distance(&key);
        if d <= allowed && best.as_ref().is_none_or(|(b, _)| d < *b) {
            best = Some((d, key));
        }
    }
    best.map(|(_, key)| key)
}

fn split(key: &str) -> (&str, &str) {
    key.rsplit_once('.').unwrap_or(("", key))
}

/// Every key of a table that is a value.
fn all(table: &toml::Table) -> Vec<String> {
    let mut keys = Vec::new();
    for (key, value) in table {
        match value {
            toml::Value::Table(inside) => keys.extend(all(inside).into_iter().map(|k| format!("{key}.{k}"))),
            _ => keys.push(key.clone()),
        }
    }
    keys
}

/// Of `names`, the one that was probably meant.
pub(super) fn nearest_of<'a>(names: impl IntoIterator<Item = &'a str>, wrong: &str) -> Option<&'a str> {
    let allowed = (wrong.chars().count() / 3).max(1);
    let named = names.into_iter().map(|name| (strsim::damerau_levenshtein(name, wrong), name));
    named
        .filter(|(distance, _)| *distance <= allowed)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, name)| name)
}

/// The line, from 1, in which a text of TOML gives a key, such as `learn.gamma` or `data.markets[1].files`; of a table in a list
/// that of its begin where it doesn't give the key itself. Nothing where the text doesn't.
pub(super) fn line_of(text: &str, key: &str) -> Option<usize> {
    let line = |at: usize| Some(1 + text[..at].matches('\n').count());
    let table = toml::de::DeTable::parse(text).ok()?;
    let mut table = table.get_ref();
    // Where a table in a list begins, which everything in it can be found by.
    let mut element = None;
    let mut parts = key.split('.').peekable();
    while let Some(part) = parts.next() {
        let (part, index) = match part.strip_suffix(']').and_then(|p| p.split_once('[')) {
            Some((part, index)) => (part, index.parse::<usize>().ok()),
            None => (part, None),
        };
        let Some((name, value)) = table.iter().find(|(name, _)| name.get_ref() == part) else {
            return element;
        };
        match value.get_ref() {
            toml::de::DeValue::Table(inside) if parts.peek().is_some() => table = inside,
            toml::de::DeValue::Array(list) => {
                let Some(own) = index.and_then(|k| list.get(k)) else { return line(name.span().start) };
                element = line(own.span().start);
                match own.get_ref() {
                    toml::de::DeValue::Table(inside) if parts.peek().is_some() => table = inside,
                    _ => return element,
                }
            }
            _ if parts.peek().is_none() => return line(name.span().start),
            _ => return element,
        }
    }
    element
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIZES: [Size; 3] = [Size::Small, Size::Study, Size::Bench];

    #[test]
    fn the_commented_file_is_the_defaults_and_says_all() {
        for size in SIZES {
            let text = documented(size).unwrap();
            assert_eq!(Config::resolve(Some(("a", &text)), None, &[]).unwrap(), Config::of(size));
            assert!(text.lines().all(|l| l.chars().count() <= 120), "{text}");
            let lines: Vec<&str> = text.lines().collect();
            for (i, line) in lines.iter().enumerate() {
                if !line.is_empty() && !line.starts_with('#') {
                    assert!(lines[i - 1].starts_with("# "), "nothing is said of {line}");
                }
            }
        }
        let text = documented(Size::Small).unwrap();
        for part in [
            "# Discount of one decision.\n# Number, 0.0001 to 0.99999\ngamma = 0.99\n",
            "# Largest global gradient norm; 0 for no clip.\n# Number, 0, or 0.0001 to 65535\nclip = 10.0\n",
            "# - day-first: 31.01.2017.\n",
            "# Whole number, 8 to 4096\ntrunk = [128, 128]\n",
        ] {
            assert!(text.contains(part), "{part} is not in\n{text}");
        }
    }

    /// Every number has a range, and what is checked is what is said.
    #[test]
    fn the_schema_has_every_range_and_default() {
        let schema = schema(Size::Small);
        let learn = &schema["properties"]["learn"];
        assert_eq!(learn["additionalProperties"], false);
        assert!(learn["required"].is_null() && schema["required"].is_null());
        assert_eq!(learn["properties"]["gamma"]["maximum"], 0.99999);
        assert_eq!(learn["properties"]["envs"]["default"], 64);
        assert_eq!(schema["properties"]["size"]["default"], "small");
        let mut numbers = 0;
        let mut look = vec![("", &schema)];
        while let Some((name, s)) = look.pop() {
            look.extend(s["properties"].as_object().into_iter().flatten().map(|(k, v)| (k.as_str(), v)));
            let s = if s["items"].is_object() { &s["items"] } else { s };
            if ["integer", "number"].iter().any(|t| s["type"] == *t) && name != "members" {
                let of = if s["anyOf"].is_array() { &s["anyOf"][1] } else { s };
                assert!(of["minimum"].is_number() && of["maximum"].is_number(), "{name}: {s}");
                numbers += 1;
            }
        }
        assert!(numbers >= 36, "{numbers}");
        let markets = &schema["properties"]["data"]["properties"]["markets"];
        let own = &markets["items"]["properties"];
        assert_eq!(own["bar_seconds"]["anyOf"][1]["maximum"], u32::MAX);
        assert!(
            own["bar_seconds"].get("default").is_none() && own["files"]["default"] == serde_json::json!([])
        );
        assert_eq!(
            (&markets["default"], &markets["items"]["additionalProperties"]),
            (&json!([]), &json!(false))
        );
    }

    #[test]
    fn what_was_meant_is_found() {
        for (wrong, right) in [
            ("epochz", "epochs"),
            ("learn.batchs", "learn.batch"),
            ("learn.batch_size", "learn.batch"),
            ("learn.num_envs", "learn.envs"),
            ("gamma", "learn.gamma"),
            ("market.gamma", "learn.gamma"),
            ("learn.learningrate", "learn.learning_rate"),
            ("data.timezone", "data.time_zone"),
            ("Learn.gamma", "learn.gamma"),
            ("populaton", "population"),
        ] {
            assert_eq!(nearest_key(wrong).as_deref(), Some(right), "{wrong}");
        }
        for wrong in ["zzzzzz", "learn.nothing", "x"] {
            assert_eq!(nearest_key(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn lines_of_keys() {
        let text = "seed = 1\n[learn]\n# gamma = 1\ngamma = 0.9\n\n[data]\nfiles = [\n 'a',\n]\nsymbol=''\n";
        let line = |key: &str| line_of(text, key);
        assert_eq!((line("seed"), line("learn.gamma"), line("data.files")), (Some(1), Some(4), Some(7)));
        assert_eq!((line("data.symbol"), line("data"), line("learn.tau")), (Some(10), Some(6), None));
        assert_eq!(line_of("learn.gamma = 1", "learn.gamma"), Some(1));
        let list = "[data]\n[[data.markets]]\nname = 'a'\n\n[[data.markets]]\nname = 'b'\nmarket = {\n  leverage = 2\n}\n";
        for (key, at) in [
            ("[0]", 2),
            ("[0].name", 3),
            ("[0].files", 2),
            ("[1]", 5),
            ("[1].name", 6),
            ("[1].market", 7),
            ("[1].market.leverage", 8),
            ("[1].market.ruin", 5),
            ("[7].name", 2),
        ] {
            assert_eq!(line_of(list, &format!("data.markets{key}")), Some(at), "{key}");
        }
        assert_eq!(line_of("not toml", "seed"), None);
    }

    #[test]
    fn doc_comments_become_text() {
        assert_eq!(plain("a\n [`v_max`](crate::X::v_max) b [`Config`] [c]"), "a `v_max` b `Config` [c]");
    }
}
