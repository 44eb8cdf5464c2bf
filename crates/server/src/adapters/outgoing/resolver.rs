//! The resolver of outgoing calls, which returns only accepted addresses.

use std::error::Error;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::task::{Context, Poll};

use futures_util::future::BoxFuture;
use futures_util::{FutureExt, TryFutureExt};
use hyper_util::client::legacy::connect::dns::{GaiResolver, Name};
use tower_service::Service;

use super::address_filter::AddressFilter;

/// Finds the addresses of a host name, with the port 0.
pub(super) type Lookup = Arc<dyn Fn(Name) -> BoxFuture<'static, io::Result<Vec<SocketAddr>>> + Send + Sync>;

/// A host without an accepted address. Only the log may show its addresses.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("none of the addresses of the host may be called: {0:?}")]
pub struct RefusedAddresses(pub Vec<IpAddr>);

/// Passes on only those addresses that a lookup finds and a filter accepts.
#[derive(Clone)]
pub(super) struct FilteredResolver {
    pub(super) lookup: Lookup,
    pub(super) accepted: AddressFilter,
}

/// Returns the lookup of the operating system.
pub(super) fn system_lookup() -> Lookup {
    Arc::new(|name| GaiResolver::new().call(name).map_ok(Iterator::collect).boxed())
}

impl Service<Name> for FilteredResolver {
    type Response = std::vec::IntoIter<SocketAddr>;
    type Error = Box<dyn Error + Send + Sync>;
    type Future = BoxFuture<'static, Result<Self::Response, Self::Error>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, name: Name) -> Self::Future {
        let (found, accepted) = ((self.lookup)(name), self.accepted.clone());
        let filter = async move {
            let (accepted, refused): (Vec<_>, Vec<_>) =
                found.await?.into_iter().partition(|address| accepted.accepts(address.ip()));
            if accepted.is_empty() {
                let refused = refused.iter().map(SocketAddr::ip).collect();
                return Err(RefusedAddresses(refused).into());
            }
            Ok(accepted.into_iter())
        };
        filter.boxed()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::networks::Networks;

    /// Resolves a name that has these addresses, of which 10.0.0.1 is allowed as an exception.
    async fn resolve(addresses: &[&str]) -> Result<Vec<String>, String> {
        let addresses: Vec<SocketAddr> =
            addresses.iter().map(|address| SocketAddr::new(address.parse().unwrap(), 0)).collect();
        let lookup: Lookup = Arc::new(move |_| std::future::ready(Ok(addresses.clone())).boxed());
        let accepted = AddressFilter::new(Networks::parse(["10.0.0.1"]).unwrap()).unwrap();
        let resolved = FilteredResolver { lookup, accepted }.call("host.example".parse().unwrap()).await;
        let text =
            |addresses: std::vec::IntoIter<SocketAddr>| addresses.map(|a| a.ip().to_string()).collect();
        resolved.map(text).map_err(|error| error.to_string())
    }

    #[tokio::test]
    async fn only_accepted_addresses_are_resolved() {
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
