//! Convergence verbs that list the domains of topics, and assign a topic to one.

use std::path::Path;

use crate::App;
use crate::convergence::ConvergenceChange;
use crate::convergence::ConvergenceError;
use crate::convergence::DomainSource;
use crate::convergence::DomainView;
use crate::convergence::Domains;
use crate::convergence::domains::is_word;
use crate::convergence::established;
use crate::convergence::model;
use crate::engine::StoreError;
use crate::journal::Actor;
use crate::journal::Change;

impl App {
    /// Lists every topic that has a domain, sorted by domain.
    pub fn domains(&mut self, worktree: &Path) -> Result<Vec<DomainView>, StoreError> {
        let now = self.host.now();
        let tx = self.engine.read()?;
        let published = tx.published(Some(worktree))?;
        let configured = model::configured_domains(&published, &|_| None);
        let (assigned, learned) = (tx.assigned_domains()?, tx.learned_domains()?);
        let mut seen: Vec<DomainView> = Vec::new();
        let mut add = |topic: &str, domain: &str, source| {
            if !seen.iter().any(|known| known.topic == topic) {
                seen.push(DomainView { topic: topic.to_owned(), domain: domain.to_owned(), source });
            }
        };
        for (topic, domain) in &assigned {
            add(topic, domain.as_deref().unwrap_or_default(), DomainSource::Assigned);
        }
        for (topic, domain) in Domains::parse(&configured).unwrap_or_default().iter() {
            add(topic, domain, DomainSource::Configured);
        }
        for one in established(&learned, now) {
            add(&one.topic, &one.domain, DomainSource::Learned { weight: one.weight });
        }
        seen.retain(|seen| !seen.domain.is_empty());
        seen.sort_by(|one, other| (&one.domain, &one.topic).cmp(&(&other.domain, &other.topic)));
        Ok(seen)
    }

    /// Assigns topics to a domain, or to none.
    pub fn assign_domain(
        &mut self,
        topics: &[String],
        domain: Option<&str>,
        actor: Actor,
    ) -> Result<(), ConvergenceError> {
        for word in topics.iter().map(String::as_str).chain(domain) {
            if !is_word(word) {
                return Err(ConvergenceError::NotAWord { word: word.to_owned() });
            }
        }
        let now = self.host.now();
        let tx = self.engine.write()?;
        let domain = domain.map(str::to_lowercase);
        let changes = topics.iter().map(|topic| {
            let topic = topic.to_lowercase();
            Change::Convergence(ConvergenceChange::Assigned { topic, domain: domain.clone() })
        });
        let changes = changes.collect();
        Self::conclude(&*self.host, tx, now, None, actor, changes)?;
        Ok(())
    }
}
