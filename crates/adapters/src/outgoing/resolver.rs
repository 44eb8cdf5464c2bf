//! The resolver of outgoing calls, which returns only accepted addresses.

use std::error::Error;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::task::{Context, Poll};

use cuepoint_domain::ids::UserId;
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use hyper_util::client::legacy::connect::dns::Name;
use tower_service::Service;

use super::address_filter::AddressFilter;
use super::names::Names;

/// A host without an accepted address. Only the log may show its addresses.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("none of the addresses of the host may be called: {0:?}")]
pub struct RefusedAddresses(pub Vec<IpAddr>);

/// Passes on only those addresses that a user's look-up finds and a filter accepts.
#[derive(Clone)]
pub(super) struct FilteredResolver {
    pub(super) names: Arc<Names>,
    pub(super) user: UserId,
    pub(super) accepted: AddressFilter,
}

impl Service<Name> for FilteredResolver {
    type Response = std::vec::IntoIter<SocketAddr>;
    type Error = Box<dyn Error + Send + Sync>;
    type Future = BoxFuture<'static, Result<Self::Response, Self::Error>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, name: Name) -> Self::Future {
        let Self { names, user, accepted } = self.clone();
        let filter = async move {
            let found = names.addresses(user, name.as_str()).await?;
            let (accepted, refused): (Vec<_>, Vec<_>) =
                found.into_iter().partition(|address| accepted.accepts(*address));
            if accepted.is_empty() {
                return Err(RefusedAddresses(refused).into());
            }
            // The connector sets the port.
            let addresses: Vec<_> = accepted.into_iter().map(|address| SocketAddr::new(address, 0)).collect();
            Ok(addresses.into_iter())
        };
        filter.boxed()
    }
}

#[cfg(test)]
mod tests {
    use tokio::time::Instant;

    use super::*;
    use crate::networks::Networks;
    use crate::outgoing::names::Answer;

    /// Resolves a name that has these addresses, of which 10.0.0.1 is allowed as an exception.
    async fn resolve(addresses: &[&str]) -> Result<Vec<String>, String> {
        let addresses = addresses.iter().map(|address| address.parse().unwrap()).collect();
        let answer = Answer { addresses, valid_until: Instant::now() };
        let names = Arc::new(Names::new(Arc::new(move |_| std::future::ready(Ok(answer.clone())).boxed())));
        let accepted = AddressFilter::new(Networks::parse(["10.0.0.1"]).unwrap()).unwrap();
        let mut resolver = FilteredResolver { names, user: UserId::new(1).unwrap(), accepted };
        let resolved = resolver.call("host.example".parse().unwrap()).await;
        let text =
            |addresses: std::vec::IntoIter<SocketAddr>| addresses.map(|a| a.ip().to_string()).collect();
        resolved.map(text).map_err(|error| error.to_string())
    }

    #[tokio::test]
    async fn a_name_resolves_only_to_accepted_addresses() {
        let mixed = ["127.0.0.1", "8.8.8.8", "::1", "10.0.0.1", "fd00::1", "2606:4700::1111", "10.0.0.2"];
        let expected = ["8.8.8.8", "10.0.0.1", "2606:4700::1111"].map(str::to_owned).to_vec();
        assert_eq!(resolve(&mixed).await, Ok(expected));
    }

    #[tokio::test]
    async fn a_name_without_an_accepted_address_is_not_resolved() {
        let refused = resolve(&["127.0.0.1", "::ffff:10.0.0.2"]).await.unwrap_err();
        assert_eq!(refused, "none of the addresses of the host may be called: [127.0.0.1, ::ffff:10.0.0.2]");
        assert!(resolve(&[]).await.is_err());
    }
}
