//! Domains of topics: which topics belong together, by configuration or learned from
//! topics that occur together.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde::Serialize;

use super::Step;
use crate::Timestamp;

/// How long it takes for what was learned to count half.
const HALF_LIFE: i64 = 7 * Timestamp::DAY;

/// What is learned counts from here on, where it is also most of what is known
/// of a topic.
const ENOUGH: f64 = 2.5;
const MOST: f64 = 0.6;

/// What has faded to less than this is forgotten.
const LEAST: f64 = 0.25;

/// The topics of each domain, each topic in one.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Domains {
    of: BTreeMap<String, String>,
}

/// How often a topic was spoken of together with those of a domain.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LearnedDomain {
    pub topic: String,
    pub domain: String,
    pub weight: f64,
    pub at: Timestamp,
}

impl LearnedDomain {
    /// What is left of it.
    fn weight_at(&self, now: Timestamp) -> f64 {
        self.weight * 0.5_f64.powf(now.since(self.at).max(0) as f64 / HALF_LIFE as f64)
    }
}

impl Domains {
    /// Where nothing else is configured.
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

    /// `auth: jwt login; database: sql postgres`. What cannot be read as that
    /// is told.
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

    /// Puts a topic into a domain, or into none.
    pub fn set(&mut self, topic: &str, domain: Option<&str>) {
        match domain {
            Some(domain) => self.of.insert(topic.to_lowercase(), domain.to_lowercase()),
            None => self.of.remove(&topic.to_lowercase()),
        };
    }

    /// The domain of a topic.
    pub fn of(&self, topic: &str) -> Option<&str> {
        self.of.get(topic).map(String::as_str)
    }

    /// Topics with their domains, sorted by topic.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.of.iter().map(|(topic, domain)| (topic.as_str(), domain.as_str()))
    }
}

/// Letters and digits, and not too many.
pub(super) fn is_word(text: &str) -> bool {
    (1..=32).contains(&text.len()) && text.chars().all(char::is_alphanumeric)
}

/// Of what was learned, what counts by now: enough of it, and most of what is
/// known of the topic.
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

/// What a session's prompts teach: topics without a domain, spoken of together
/// with topics that have one, by the configuration or by the person's word.
/// What was known is carried on, faded by now.
pub fn learn(
    steps: &[Step],
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

/// Every hook reads the domains: there are not too many.
const MOST_LEARNED: usize = 100;
