//! Notifies MCP clients of new mail.
//!
//! A client is notified from the moment its agent is known, and no sooner:
//! an agent does not join by listening.

use std::collections::BTreeMap;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::Mutex;
use std::time::Duration;

use consort_core::call_context;
use consort_core::call_context::ServedContext;
use consort_core::host::NewsTopic;
use consort_core::journal::Actor;
use rmcp::Peer;
use rmcp::RoleServer;
use rmcp::model::ResourceUpdatedNotificationParam;
use rmcp::service::SubscriptionContext;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;
use tokio_util::sync::DropGuard;

use crate::lock;

/// Longest time that a listener's thread sleeps, and so outlives its client.
const NAP: Duration = Duration::from_secs(20);

/// The mailboxes and subscriptions of one client; dropping it ends the notifications.
#[derive(Default)]
pub(crate) struct MailWatch {
    /// The mailboxes that are watched; one client may speak for several sessions.
    mailboxes: Mutex<BTreeMap<Actor, DropGuard>>,
    subscribed: Arc<Mutex<BTreeSet<String>>>,
}

impl MailWatch {
    pub(crate) fn subscribe(&self, uri: String) {
        lock(&self.subscribed).insert(uri);
    }

    pub(crate) fn unsubscribe(&self, uri: &str) {
        lock(&self.subscribed).remove(uri);
    }

    /// Begins to notify the client of mail in a mailbox, unless it already has.
    pub(crate) fn begin(&self, calls: &dyn ServedContext, mailbox: Actor, client: Peer<RoleServer>) {
        let mut mailboxes = lock(&self.mailboxes);
        if mailboxes.contains_key(&mailbox) {
            return;
        }
        let Some(mut news) = news(calls, &mailbox) else { return };
        let (end, subscribed) = (CancellationToken::new(), Arc::clone(&self.subscribed));
        mailboxes.insert(mailbox, end.clone().drop_guard());
        tokio::spawn(end.run_until_cancelled_owned(async move {
            while news.recv().await.is_some() && tell(&client, &subscribed).await.is_ok() {}
        }));
    }
}

async fn tell(
    client: &Peer<RoleServer>,
    subscribed: &Mutex<BTreeSet<String>>,
) -> Result<(), rmcp::ServiceError> {
    let uris = lock(subscribed).clone();
    client.notify_resource_list_changed().await?;
    for uri in uris {
        client.notify_resource_updated(ResourceUpdatedNotificationParam::new(uri)).await?;
    }
    Ok(())
}

/// Notifies a client of the later protocol, which listens by one long request.
pub(crate) async fn listen(calls: &dyn ServedContext, mailbox: &Actor, context: &SubscriptionContext) {
    let Some(mut news) = news(calls, mailbox) else { return };
    let uris = context.accepted().resource_subscriptions.clone().unwrap_or_default();
    while news.recv().await.is_some() {
        // The sink refuses notifications that the client has not asked for.
        let _ = context.sink().notify_resource_list_changed().await;
        for uri in &uris {
            let _ = context.sink().notify_resource_updated(uri).await;
        }
    }
}

/// Returns a channel that gets a notice when a mailbox has news; dropping the channel ends the
/// listener.
fn news(calls: &dyn ServedContext, mailbox: &Actor) -> Option<mpsc::Receiver<()>> {
    let listener = calls.listen(Some(&NewsTopic::Mailbox(mailbox.clone()))).ok()?;
    let renew = match mailbox {
        Actor::Agent(session) => calls.renewal(session),
        Actor::Person | Actor::Consort => Box::new(|| {}),
    };
    // Several notices that were not received yet become one.
    let (notice, news) = mpsc::channel(1);
    let activity = move |rang| {
        renew();
        if rang {
            let _ = notice.try_send(());
        }
        !notice.is_closed()
    };
    call_context::listen_in_background(listener, NAP, activity).ok()?;
    Some(news)
}
