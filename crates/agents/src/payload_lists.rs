//! Lists in a hook's payload, read so that nothing a CLI adds can break us.

use serde::Deserialize;
use serde::Deserializer;
use serde::de::IgnoredAny;

/// A list of paths, given as texts or as objects with a path each.
#[derive(Default)]
pub(crate) struct PathList(pub(crate) Vec<String>);

impl<'de> Deserialize<'de> for PathList {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let serde_json::Value::Array(items) = serde_json::Value::deserialize(deserializer)? else {
            return Ok(Self::default());
        };
        let path = |item: &serde_json::Value| match item {
            serde_json::Value::Object(fields) => {
                fields.get("path").or_else(|| fields.get("file_path")).cloned()
            }
            item => Some(item.clone()),
        };
        Ok(Self(items.iter().filter_map(path).filter_map(|path| path.as_str().map(str::to_owned)).collect()))
    }
}

/// The length of a list of tasks; anything but a list counts as absent.
#[derive(Default)]
pub(crate) struct TaskCount(pub(crate) Option<usize>);

impl<'de> Deserialize<'de> for TaskCount {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum List {
            These(Vec<IgnoredAny>),
            Other(IgnoredAny),
        }
        Ok(Self(match List::deserialize(deserializer)? {
            List::These(tasks) => Some(tasks.len()),
            List::Other(_) => None,
        }))
    }
}
