//! The macro that makes every id type: a string inside, a type of its own outside.

/// Declares a newtype over `String` with `Display`, `From` and serde.
macro_rules! id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(
            Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize,
        )]
        #[serde(transparent)]
        pub struct $name(String);

        impl $name {
            /// Returns the id as text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(&self.0)
            }
        }

        impl<S: Into<String>> From<S> for $name {
            fn from(text: S) -> Self {
                Self(text.into())
            }
        }
    };
}

pub(crate) use id;
