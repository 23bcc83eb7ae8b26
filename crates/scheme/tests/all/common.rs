//! A small host for tests: three principles and some functions.

use std::sync::Arc;
use std::time::Duration;

use consort_scheme::Error;
use consort_scheme::HostFunctions;
use consort_scheme::Limits;
use consort_scheme::Meter;
use consort_scheme::Records;
use consort_scheme::Signature;
use consort_scheme::Value;
use consort_scheme::apply;

#[derive(Default)]
pub(crate) struct Graph;

#[derive(Clone)]
pub(crate) struct Principle {
    pub(crate) name: Arc<str>,
    pub(crate) description: Arc<str>,
    pub(crate) confidence: f64,
    pub(crate) locations: Vec<&'static str>,
    pub(crate) tags: Vec<&'static str>,
}

impl Records for Principle {
    fn kind(&self) -> &str {
        "principle"
    }

    fn get(&self, _: u32, field: &str) -> Value {
        let strings = |all: &[&str]| Value::list(all.iter().map(|one| Value::from(*one)).collect());
        match field {
            "name" => Value::String(self.name.clone()),
            "description" => Value::String(self.description.clone()),
            "confidence" => Value::Float(self.confidence),
            "locations" => strings(&self.locations),
            "tags" => strings(&self.tags),
            _ => Value::Nil,
        }
    }

    fn fields(&self, record: u32) -> Vec<(Arc<str>, Value)> {
        ["name", "description", "confidence", "locations", "related", "tags"]
            .iter()
            .map(|name| (Arc::from(*name), self.get(record, name)))
            .collect()
    }
}

pub(crate) fn principles() -> Vec<Principle> {
    vec![
        Principle {
            name: "wrong-impossible".into(),
            description: "Make invalid states impossible".into(),
            confidence: 0.95,
            locations: vec!["README.md:12", "CLAUDE.md:234"],
            tags: vec!["types"],
        },
        Principle {
            name: "sync-spreads".into(),
            description: "Syncing spreads from the root".into(),
            confidence: 0.8,
            locations: vec![],
            tags: vec!["sync", "crdt"],
        },
        Principle {
            name: "decide-purely".into(),
            description: "Act at the edge".into(),
            confidence: 1.0,
            locations: vec!["core/src/rules.rs"],
            tags: vec![],
        },
    ]
}

const fn signature(name: &'static str, usage: &'static str, least: usize, most: Option<usize>) -> Signature {
    Signature { name, usage, about: "", least, most }
}

impl HostFunctions for Graph {
    fn functions(&self) -> &'static [Signature] {
        const FUNCTIONS: &[Signature] = &[
            signature("get-principles", "(get-principles)", 0, Some(0)),
            signature("get-principle", "(get-principle name)", 1, Some(1)),
            signature("twice", "(twice f value)", 2, Some(2)),
            signature("wrap", "(wrap value)", 1, Some(1)),
        ];
        FUNCTIONS
    }

    fn call(&mut self, name: &str, arguments: &[Value], meter: &mut Meter) -> Result<Value, Error> {
        match name {
            "get-principles" => {
                meter.charge_cells(3)?;
                Ok(Value::list(principles().into_iter().map(Value::record).collect()))
            }
            "get-principle" => Ok(principles()
                .into_iter()
                .find(|principle| arguments[0].as_str() == Some(&*principle.name))
                .map_or(Value::Nil, Value::record)),
            "twice" => {
                let once = apply(&arguments[0], &arguments[1..], self, meter)?;
                apply(&arguments[0], &[once], self, meter)
            }
            "wrap" => Ok(Value::list(vec![arguments[0].clone()])),
            other => Err(Error::new(format!("unknown function `{other}`"))),
        }
    }
}

/// The limits under which attacks run.
pub(crate) fn tight() -> Limits {
    Limits { deadline: Duration::from_millis(200), ..Limits::default() }
}
