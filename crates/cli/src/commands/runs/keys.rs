//! Configurations as flat lists of keys, and where two differ.

use crate::Failure;
use foxhunt_core::DType;
use foxhunt_train::{Config, Size};
use serde_json::Value;
use std::collections::BTreeMap;

/// `learn.gamma` to its value, as TOML writes it.
pub(crate) type Keys = BTreeMap<String, String>;

/// The keys of a configuration.
pub(crate) fn keys(config: &Config) -> Result<Keys, Failure> {
    let mut all = Keys::new();
    flatten("", &serde_json::to_value(config)?, &mut all);
    Ok(all)
}

fn flatten(place: &str, value: &Value, into: &mut Keys) {
    match value {
        Value::Object(inside) => {
            for (key, value) in inside {
                let place = if place.is_empty() { key.clone() } else { format!("{place}.{key}") };
                flatten(&place, value, into);
            }
        }
        // JSON's texts, numbers and lists are TOML's.
        other => {
            into.insert(place.to_owned(), other.to_string());
        }
    }
}

/// Keys whose value is not the same in all: the key, and its value in each (a dash where it has none).
pub(crate) fn differing(all: &[Keys]) -> Vec<(String, Vec<String>)> {
    let mut names: Vec<&String> = all.iter().flat_map(BTreeMap::keys).collect();
    names.sort();
    names.dedup();
    let row = |name: &String| -> Vec<String> {
        all.iter().map(|keys| keys.get(name).cloned().unwrap_or_else(|| "-".into())).collect()
    };
    let rows = names.into_iter().map(|name| (name.clone(), row(name)));
    rows.filter(|(_, values)| values.windows(2).any(|pair| pair[0] != pair[1])).collect()
}

/// The size whose defaults a configuration is nearest to, and the keys that differ, each with both values.
pub(crate) type Changed = (Size, Vec<(String, Vec<String>)>);

/// The size whose defaults a configuration is nearest to, and what differs from them: key, default, own value. A run
/// records values and not the size that they came from, and what they come to in its storage type, `dtype`.
pub(crate) fn from_defaults(config: &Config, dtype: Option<DType>) -> Result<Changed, Failure> {
    let keys = |mut config: Config| {
        if let Some(dtype) = dtype {
            config.settle_storage(dtype);
        }
        keys(&config)
    };
    let own = keys(config.clone())?;
    let mut best: Option<(Size, Vec<_>)> = None;
    for size in [Size::Small, Size::Study, Size::Bench] {
        let rows = differing(&[keys(Config::of(size))?, own.clone()]);
        if best.as_ref().is_none_or(|(_, b)| rows.len() < b.len()) {
            best = Some((size, rows));
        }
    }
    Ok(best.unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;
    use foxhunt_train::WeightsChoice;

    #[test]
    fn the_nearest_size_is_found_and_its_differences() {
        let mut config = Config::of(Size::Study);
        assert_eq!(from_defaults(&config, None).unwrap(), (Size::Study, vec![]));
        config.learn.gamma = 0.995;
        config.data.files = vec!["a \"b\".csv".into()];
        let (size, rows) = from_defaults(&config, Some(DType::Bf16)).unwrap();
        assert_eq!(size, Size::Study);
        let row = |key: &str, a: &str, b: &str| (key.to_owned(), vec![a.to_owned(), b.to_owned()]);
        assert_eq!(
            rows,
            [row("data.files", "[]", r#"["a \"b\".csv"]"#), row("learn.gamma", "0.99", "0.995")]
        );

        // A run records what the default came to.
        let mut run = Config::of(Size::Study);
        run.settle_storage(DType::Bf16);
        assert_eq!(from_defaults(&run, Some(DType::Bf16)).unwrap(), (Size::Study, vec![]));
        run.learn.weights = WeightsChoice::Plain;
        let (_, rows) = from_defaults(&run, Some(DType::Bf16)).unwrap();
        assert_eq!(rows, [row("learn.weights", "\"paired\"", "\"plain\"")]);
    }
}
