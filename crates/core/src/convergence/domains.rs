//! Domains of topics: parses configured domains, and learns new ones from topics that occur together.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde::Serialize;

use super::TrailStep;
use crate::Timestamp;

/// Time after which a learned weight counts half.
const HALF_LIFE: i64 = 7 * Timestamp::DAY;

/// Least weight at which a learned domain counts, and the least share of all weights of its topic.
const ENOUGH: f64 = 2.5;
const MOST: f64 = 0.6;

/// Weight below which a learned domain is forgotten.
const LEAST: f64 = 0.25;

/// The assignment of topics to domains; each topic is in one domain at most.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Domains {
    of: BTreeMap<String, String>,
}

/// The weight of evidence that a topic belongs to a domain: how often it occurred with the domain's topics.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LearnedDomain {
    pub topic: String,
    pub domain: String,
    pub weight: f64,
    pub at: Timestamp,
}

impl LearnedDomain {
    /// Returns the weight at `now`, reduced by its age.
    fn weight_at(&self, now: Timestamp) -> f64 {
        self.weight * 0.5_f64.powf(now.since(self.at).max(0) as f64 / HALF_LIFE as f64)
    }
}

impl Domains {
    /// The domains that apply if none are configured.
    pub const DEFAULT: &str = "\
        auth: login logout session sessions token tokens jwt oauth oauth2 password cookie permission sso; \
        database: sql query queries migration migrations schema postgres sqlite mysql orm; \
        frontend: css component components layout react vue svelte tailwind modal styles; \
        api: endpoint endpoints rest graphql route routes router controller; \
        deployment: docker kubernetes k8s helm terraform deploy pipeline ci cd workflow; \
        payments: payment stripe invoice invoices billing checkout refund subscription; \
        search: indexing elasticsearch ranking autocomplete facets; \
        observability: logger logging logs metrics tracing telemetry alert alerts; \
        i18n: translation translations locale locales; \
        cache: redis caching ttl invalidation";

    /// Parses a text such as `auth: jwt login; database: sql postgres`. The error is the part that is
    /// invalid.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut domains = Self::default();
        for part in text.split(';').map(str::trim).filter(|part| !part.is_empty()) {
            let (domain, topics) = part.split_once(':').ok_or_else(|| part.to_owned())?;
            let domain = domain.trim().to_lowercase();
            if !is_word(&domain) {
                return Err(part.to_owned());
            }
            for topic in topics.split([' ', ',']).filter(|topic| !topic.is_empty()) {
                if !is_word(topic) {
                    return Err(part.to_owned());
                }
                domains.set(topic, Some(&domain));
            }
            domains.set(&domain, Some(&domain));
        }
        Ok(domains)
    }

    /// Assigns a topic to a domain, or to none.
    pub fn set(&mut self, topic: &str, domain: Option<&str>) {
        match domain {
            Some(domain) => self.of.insert(topic.to_lowercase(), domain.to_lowercase()),
            None => self.of.remove(&topic.to_lowercase()),
        };
    }

    /// Returns the domain of a topic.
    pub fn of(&self, topic: &str) -> Option<&str> {
        self.of.get(topic).map(String::as_str)
    }

    /// Iterates over topics with their domains, sorted by topic.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.of.iter().map(|(topic, domain)| (topic.as_str(), domain.as_str()))
    }
}

/// Tells whether a text is a valid topic or domain: letters and digits, at most 32 bytes.
pub(super) fn is_word(text: &str) -> bool {
    (1..=32).contains(&text.len()) && text.chars().all(char::is_alphanumeric)
}

/// Selects the learned domains that count: their weight is large enough, and most of their topic's total
/// weight.
pub fn established(learned: &[LearnedDomain], now: Timestamp) -> impl Iterator<Item = &LearnedDomain> {
    let mut totals: BTreeMap<&str, f64> = BTreeMap::new();
    for one in learned {
        *totals.entry(&one.topic).or_default() += one.weight_at(now);
    }
    learned.iter().filter(move |one| {
        let weight = one.weight_at(now);
        weight >= ENOUGH && weight >= MOST * totals[one.topic.as_str()]
    })
}

/// Learns from a session's prompts: a topic without a domain that occurs together with topics of a
/// (configured or assigned) domain gains weight for that domain. Returns all learned domains, with the known
/// weights reduced by their age; nothing if these prompts teach nothing.
pub fn learn(
    steps: &[TrailStep],
    domains: &Domains,
    known: &[LearnedDomain],
    now: Timestamp,
) -> Vec<LearnedDomain> {
    let mut weights: BTreeMap<(String, String), f64> = BTreeMap::new();
    for one in known {
        weights.insert((one.topic.clone(), one.domain.clone()), one.weight_at(now));
    }
    let mut is_new = false;
    for step in steps {
        for topic in step.topics.iter().filter(|topic| domains.of(topic).is_none()) {
            let mut company: Vec<&str> = step.topics.iter().filter_map(|other| domains.of(other)).collect();
            company.sort_unstable();
            company.dedup();
            for domain in company {
                is_new = true;
                *weights.entry((topic.clone(), domain.to_owned())).or_default() += 1.0;
            }
        }
    }
    if !is_new {
        return Vec::new();
    }
    let mut learned: Vec<LearnedDomain> = weights
        .into_iter()
        .filter(|(_, weight)| *weight >= LEAST)
        .map(|((topic, domain), weight)| LearnedDomain {
            topic,
            domain,
            weight: (weight * 100.0).round() / 100.0,
            at: now,
        })
        .collect();
    learned.sort_by(|one, other| other.weight.total_cmp(&one.weight));
    learned.truncate(MOST_LEARNED);
    learned
}

/// Most learned domains that are kept, because every hook reads them.
const MOST_LEARNED: usize = 100;
