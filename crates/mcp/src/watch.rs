//! Telling a client of mail as it comes, where it wants to know.
//!
//! A client is watched for from the moment its agent is known: an agent that
//! nobody knows has no mailbox.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::PoisonError;
use std::time::Duration;

use consort_core::around;
use consort_core::around::Around;
use consort_core::host::Topic;
use consort_core::journal::Actor;
use rmcp::Peer;
use rmcp::RoleServer;
use rmcp::model::ResourceUpdatedNotificationParam;
use tokio::sync::mpsc;

/// How often a bell is looked after, and how long a thread outlives its client.
const NAP: Duration = Duration::from_secs(20);

/// What one client wants to know.
#[derive(Clone, Default)]
pub(crate) struct Watch {
    state: Arc<Mutex<State>>,
}

#[derive(Default)]
struct State {
    mailbox: Option<Actor>,
    subscribed: BTreeSet<String>,
}

impl Watch {
    pub(crate) fn subscribe(&self, uri: String) {
        self.lock().subscribed.insert(uri);
    }

    pub(crate) fn unsubscribe(&self, uri: &str) {
        self.lock().subscribed.remove(uri);
    }

    /// Begins, unless it has begun for that mailbox.
    pub(crate) fn begin(&self, around: &dyn Around, mailbox: Actor, client: Peer<RoleServer>) {
        if self.lock().mailbox.replace(mailbox.clone()).as_ref() == Some(&mailbox) {
            return;
        }
        let Some(mut rings) = rings(around, &mailbox) else { return };
        let watch = self.clone();
        tokio::spawn(async move {
            while rings.recv().await.is_some() {
                // Another agent speaks through this client now.
                if watch.lock().mailbox.as_ref() != Some(&mailbox) || watch.tell(&client).await.is_err() {
                    return;
                }
            }
        });
    }

    async fn tell(&self, client: &Peer<RoleServer>) -> Result<(), rmcp::ServiceError> {
        let subscribed = self.lock().subscribed.clone();
        client.notify_resource_list_changed().await?;
        for uri in subscribed {
            client.notify_resource_updated(ResourceUpdatedNotificationParam::new(uri)).await?;
        }
        Ok(())
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The rings of a mailbox's bell, for as long as somebody listens.
pub(crate) fn rings(around: &dyn Around, mailbox: &Actor) -> Option<mpsc::Receiver<()>> {
    let bell = around.bell(Some(&Topic::Mailbox(mailbox.clone()))).ok()?;
    // Rings that nobody has heard yet are one.
    let (ring, rings) = mpsc::channel(1);
    let heard = move |rang| {
        if rang {
            let _ = ring.try_send(());
        }
        !ring.is_closed()
    };
    around::attend(bell, NAP, heard).ok()?;
    Some(rings)
}
