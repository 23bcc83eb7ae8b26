//! Computes the cost of a model's tokens from list prices (`prices.toml`), for CLIs that do not report costs.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use consort_core::dispatch::Cost;
use consort_core::dispatch::ModelTier;
use consort_core::dispatch::Usage;
use toml_edit::Document;
use toml_edit::Item;
use toml_edit::Value;

const FILE: &str = include_str!("prices.toml");

/// The lowest price of a tier's models, in dollars for a million output tokens.
const FRONTIER: f64 = 10.0;
const MID: f64 = 2.0;

/// The prices of a model, in dollars for a million tokens.
struct Price {
    input: f64,
    output: f64,
    cache_read: f64,
    cache_write: f64,
}

struct Prices {
    as_of: String,
    models: BTreeMap<String, Price>,
}

static PRICES: LazyLock<Prices> = LazyLock::new(|| {
    let file = Document::parse(FILE).ok();
    let file = file.as_ref().map(|file| file.as_table());
    let models = file.and_then(|file| file.get("models")?.as_table_like());
    let models = models.into_iter().flat_map(|models| models.iter());
    Prices {
        as_of: file.and_then(|file| file.get("as-of")?.as_str()).unwrap_or_default().to_owned(),
        models: models.filter_map(|(name, price)| Some((plain(name), Price::read(price)?))).collect(),
    }
});

impl Price {
    fn read(columns: &Item) -> Option<Self> {
        let number = |value: &Value| value.as_float().or_else(|| Some(value.as_integer()? as f64));
        let columns: Vec<f64> = columns.as_array()?.iter().filter_map(number).collect();
        match columns[..] {
            [input, output, cache_read, cache_write] => Some(Self { input, output, cache_read, cache_write }),
            [input, output, cache_read] => Some(Self { input, output, cache_read, cache_write: input }),
            _ => None,
        }
    }
}

/// Returns the cost of a usage of a model; `None` if the model or its input or output is unknown.
pub fn usage_cost(model: &str, usage: &Usage) -> Option<Cost> {
    let price = find(model)?;
    // A dollar for a million tokens is a millionth for each.
    let cost = |tokens: u64, price: f64| tokens as f64 * price;
    let cached = cost(usage.cache_read.unwrap_or(0), price.cache_read)
        + cost(usage.cache_write.unwrap_or(0), price.cache_write);
    let millionths = cost(usage.input?, price.input) + cost(usage.output?, price.output) + cached;
    Some(Cost(millionths.round() as i64))
}

/// Estimates a model's tier by its price; `None` if the model is unknown.
pub fn estimated_tier(model: &str) -> Option<ModelTier> {
    let price = find(model)?;
    Some(match price.output {
        FRONTIER.. => ModelTier::Frontier,
        MID.. => ModelTier::Mid,
        _ => ModelTier::Any,
    })
}

/// Returns the date of the price list.
pub fn price_list_date() -> &'static str {
    &PRICES.as_of
}

/// Finds a model's price by the name that a CLI has for the model, which may have the provider before it, and
/// a release date or a context size after it.
fn find(model: &str) -> Option<&'static Price> {
    let name = plain(model);
    let without_day = || {
        let (name, day) = name.rsplit_once('-')?;
        let is_day = day.len() == 8 && day.bytes().all(|byte| byte.is_ascii_digit());
        PRICES.models.get(name).filter(|_| is_day)
    };
    PRICES.models.get(&name).or_else(without_day)
}

/// Normalises the spelling of a model's name: Copilot has `claude-sonnet-4.5`.
fn plain(model: &str) -> String {
    let name = model.rsplit('/').next().unwrap_or(model);
    let name = name.split(['[', ':']).next().unwrap_or(name);
    name.to_lowercase().replace('.', "-")
}

#[cfg(test)]
mod tests {
    use super::*;

    const USED: Usage = Usage {
        input: Some(200),
        output: Some(40),
        cache_read: Some(1_000),
        cache_write: None,
        cost: None,
        turns: None,
    };

    #[test]
    fn every_line_of_the_list_is_read() {
        assert_eq!(PRICES.models.len(), FILE.lines().filter(|line| line.starts_with('"')).count());
        assert!(
            PRICES.models.values().all(|price| price.output > price.input && price.input > price.cache_read)
        );
        assert_eq!(price_list_date().len(), "2026-11-15".len());
    }

    #[test]
    fn a_model_costs_what_the_list_says() {
        // Claude Code counts 0.0016 dollars for 200 input and 40 output tokens.
        let without_cache = Usage { cache_read: None, ..USED };
        assert_eq!(usage_cost("claude-opus-5-5", &without_cache), Some(Cost::from_dollars(0.0016)));
        assert_eq!(usage_cost("claude-opus-5-5", &USED), Some(Cost::from_dollars(0.0018)));
    }

    #[test]
    fn a_model_has_many_names() {
        let same = usage_cost("claude-sonnet-4-5", &USED);
        assert!(same.is_some());
        for name in ["anthropic/claude-sonnet-4.5", "claude-sonnet-4-5-20250929", "Claude-Sonnet-4-5[1m]"] {
            assert_eq!(usage_cost(name, &USED), same, "{name}");
        }
    }

    #[test]
    fn what_is_not_known_has_no_price() {
        assert_eq!(usage_cost("stub-model", &USED), None);
        assert_eq!(usage_cost("gpt-5-20", &USED), None);
        assert_eq!(usage_cost("gpt-5.5", &Usage { output: None, ..USED }), None);
        assert_eq!(usage_cost("gpt-5.5", &Usage::default()), None);
    }
}
