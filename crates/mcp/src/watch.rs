//! Telling a client of mail as it comes, where it wants to know.
//!
//! A client is watched for from the moment its agent is known, and no sooner:
//! nobody joins by listening.

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
use rmcp::service::SubscriptionContext;
use tokio::sync::mpsc;
use tokio::sync::watch;

/// How often a bell is looked after, and how long a thread outlives its client.
const NAP: Duration = Duration::from_secs(20);

/// What one client wants to know.
#[derive(Clone)]
pub(crate) struct Watch {
    mailbox: watch::Sender<Option<Actor>>,
    subscribed: Arc<Mutex<BTreeSet<String>>>,
}

impl Watch {
    pub(crate) fn new() -> Self {
        Self { mailbox: watch::Sender::new(None), subscribed: Arc::default() }
    }

    pub(crate) fn subscribe(&self, uri: String) {
        self.subscribed.lock().unwrap_or_else(PoisonError::into_inner).insert(uri);
    }

    pub(crate) fn unsubscribe(&self, uri: &str) {
        self.subscribed.lock().unwrap_or_else(PoisonError::into_inner).remove(uri);
    }

    /// Begins, unless it has begun for that mailbox.
    pub(crate) fn begin(&self, around: &dyn Around, mailbox: Actor, client: Peer<RoleServer>) {
        let is_new = |known: &mut Option<Actor>| known.replace(mailbox.clone()).as_ref() != Some(&mailbox);
        if !self.mailbox.send_if_modified(is_new) {
            return;
        }
        let Some(mut rings) = rings(around, &mailbox) else { return };
        let watch = self.clone();
        tokio::spawn(async move {
            while rings.recv().await.is_some() {
                // Another agent may speak through this client now.
                let is_its = watch.mailbox.borrow().as_ref() == Some(&mailbox);
                if !is_its || watch.tell(&client).await.is_err() {
                    return;
                }
            }
        });
    }

    async fn tell(&self, client: &Peer<RoleServer>) -> Result<(), rmcp::ServiceError> {
        let subscribed = self.subscribed.lock().unwrap_or_else(PoisonError::into_inner).clone();
        client.notify_resource_list_changed().await?;
        for uri in subscribed {
            client.notify_resource_updated(ResourceUpdatedNotificationParam::new(uri)).await?;
        }
        Ok(())
    }

    /// The same for clients of the later protocol: one request that lasts.
    pub(crate) async fn listen(
        &self,
        around: &dyn Around,
        known: Option<Actor>,
        context: &SubscriptionContext,
    ) {
        let mailbox = match known {
            Some(mailbox) => mailbox,
            None => match self.mailbox.subscribe().wait_for(Option::is_some).await.map(|known| known.clone())
            {
                Ok(Some(mailbox)) => mailbox,
                _ => return,
            },
        };
        let Some(mut rings) = rings(around, &mailbox) else { return };
        let uris = context.accepted().resource_subscriptions.clone().unwrap_or_default();
        while rings.recv().await.is_some() {
            // What was not asked for is not sent.
            let _ = context.sink().notify_resource_list_changed().await;
            for uri in &uris {
                let _ = context.sink().notify_resource_updated(uri).await;
            }
        }
    }
}

/// The rings of a mailbox's bell, for as long as somebody listens.
fn rings(around: &dyn Around, mailbox: &Actor) -> Option<mpsc::Receiver<()>> {
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
