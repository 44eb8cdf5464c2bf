//! Queries to the name servers of the machine or the configuration, without a blocked thread.

use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::str::FromStr;
use std::time::Duration;

use hickory_resolver::config::{NameServerConfig, ResolveHosts, ResolverConfig, ResolverOpts};
use hickory_resolver::net::NetError;
use hickory_resolver::net::runtime::TokioRuntimeProvider;
use hickory_resolver::proto::op::Query;
use hickory_resolver::proto::rr::{Name, RecordType};
use hickory_resolver::{Hosts, TokioResolver, system_conf};
use tokio::time::Instant;

use super::names::Answer;

/// The port of name servers.
const PORT: u16 = 53;
/// The delay before a query is repeated, because its datagram may be lost.
const ASKED_AGAIN_AFTER: Duration = Duration::from_millis(1_500);
/// How often a query is repeated.
const REPETITIONS: usize = 2;

/// The name servers for names that users enter. If there are none, `/etc/resolv.conf` applies.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct NameServers(Vec<SocketAddr>);

impl NameServers {
    /// Parses addresses, each with a port unless it is 53.
    ///
    /// # Errors
    /// A message that quotes the first invalid one.
    pub fn parse<'a>(written: impl IntoIterator<Item = &'a str>) -> Result<Self, String> {
        let one = |written: &str| {
            let plain = || IpAddr::from_str(written).map(|address| SocketAddr::new(address, PORT));
            let address = SocketAddr::from_str(written).or_else(|_| plain());
            address.map_err(|_| format!("{written:?} is not an address such as 10.0.0.53 or [fd00::53]:5353"))
        };
        written.into_iter().map(one).collect::<Result<_, _>>().map(Self)
    }

    /// Logs why the name servers of the machine cannot be asked, if so.
    pub(super) fn warn_if_unknown(&self) {
        if self.0.is_empty()
            && let Err(error) = system_conf::read_system_conf()
        {
            tracing::warn!(%error, "/etc/resolv.conf names no name server; using the one on this machine");
        }
    }

    /// Looks up the addresses of a host in `/etc/hosts`, otherwise by DNS. Both files are read for each look-up, so
    /// changes apply immediately. Search domains are never appended to a name.
    pub(super) async fn addresses(&self, host: &str) -> io::Result<Answer> {
        let mut name = Name::from_utf8(host).map_err(io::Error::other)?;
        name.set_fqdn(true);
        let listed = listed(&name);
        if !listed.is_empty() {
            return Ok(Answer { addresses: listed, valid_until: Instant::now() });
        }
        let resolver = self.resolver().map_err(io::Error::other)?;
        let (ipv4, ipv6) = tokio::join!(
            resolver.lookup(name.clone(), RecordType::A),
            resolver.lookup(name.clone(), RecordType::AAAA)
        );
        let answers = match (ipv4, ipv6) {
            (Err(error), Err(_)) => return Err(io::Error::other(error)),
            (ipv4, ipv6) => [ipv4.ok(), ipv6.ok()],
        };
        let records = answers.iter().flatten().flat_map(|answer| answer.answers());
        let valid_until = answers.iter().flatten().map(|answer| answer.valid_until()).min();
        Ok(Answer {
            addresses: records.filter_map(|record| record.data.ip_addr()).collect(),
            valid_until: valid_until.map_or_else(Instant::now, Instant::from_std),
        })
    }

    /// A resolver of one look-up, so that its sockets and tasks end with it.
    fn resolver(&self) -> Result<TokioResolver, NetError> {
        let (config, mut options) = match self.0.as_slice() {
            // What the system's own resolver does without a name server.
            [] => system_conf::read_system_conf()
                .unwrap_or_else(|_| (asking(&[this_machine()]), ResolverOpts::default())),
            configured => (asking(configured), ResolverOpts::default()),
        };
        let mut builder = TokioResolver::builder_with_config(config, TokioRuntimeProvider::default());
        options.timeout = options.timeout.min(ASKED_AGAIN_AFTER);
        options.attempts = REPETITIONS;
        options.cache_size = 0;
        options.use_hosts_file = ResolveHosts::Never;
        *builder.options_mut() = options;
        builder.build()
    }
}

/// The addresses of a name in `/etc/hosts`; none if the file cannot be read.
fn listed(name: &Name) -> Vec<IpAddr> {
    let Ok(hosts) = Hosts::from_system() else { return Vec::new() };
    let found = [RecordType::A, RecordType::AAAA]
        .map(|record_type| hosts.lookup_static_host(&Query::query(name.clone(), record_type)));
    let records = found.iter().flatten().flat_map(|answer| answer.answers());
    records.filter_map(|record| record.data.ip_addr()).collect()
}

fn asking(servers: &[SocketAddr]) -> ResolverConfig {
    let server = |address: &SocketAddr| {
        let mut server = NameServerConfig::udp_and_tcp(address.ip());
        for connection in &mut server.connections {
            connection.port = address.port();
        }
        server
    };
    ResolverConfig::from_parts(None, Vec::new(), servers.iter().map(server).collect())
}

const fn this_machine() -> SocketAddr {
    SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), PORT)
}

#[cfg(test)]
mod tests {
    use std::net::Ipv6Addr;

    use hickory_resolver::proto::op::{Message, ResponseCode};
    use hickory_resolver::proto::rr::{RData, Record};
    use tokio::net::UdpSocket;

    use super::*;

    /// A name server that knows the address of `known.example.` for this many seconds, and is silent about other
    /// names.
    async fn name_server(time_to_live: u32) -> NameServers {
        let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let address = socket.local_addr().unwrap().to_string();
        tokio::spawn(async move {
            let mut datagram = [0; 512];
            loop {
                let (length, client) = socket.recv_from(&mut datagram).await.unwrap();
                let asked = Message::from_vec(&datagram[..length]).unwrap();
                let query = asked.queries[0].clone();
                if query.name().to_string() != "known.example." {
                    continue;
                }
                let mut answer = Message::response(asked.metadata.id, asked.metadata.op_code);
                answer.metadata.response_code = ResponseCode::NoError;
                answer.add_query(query.clone());
                if query.query_type() == RecordType::A {
                    let address = RData::from(IpAddr::from([192, 0, 2, 7]));
                    answer.add_answers([Record::from_rdata(query.name().clone(), time_to_live, address)]);
                }
                socket.send_to(&answer.to_vec().unwrap(), client).await.unwrap();
            }
        });
        NameServers::parse([address.as_str()]).unwrap()
    }

    #[tokio::test]
    async fn a_lookup_returns_the_ttl_of_its_records() {
        for time_to_live in [0, 300] {
            let began = Instant::now();
            let answer = name_server(time_to_live).await.addresses("known.example").await.unwrap();
            assert_eq!(answer.addresses, [IpAddr::from([192, 0, 2, 7])]);
            let valid_for = answer.valid_until.saturating_duration_since(began).as_secs();
            assert!(valid_for.abs_diff(u64::from(time_to_live)) <= 1, "{valid_for} s");
        }
    }

    #[tokio::test]
    async fn localhost_resolves_without_name_servers() {
        let answer = name_server(0).await.addresses("localhost").await.unwrap();
        let this_machine = [IpAddr::from(Ipv4Addr::LOCALHOST), IpAddr::from(Ipv6Addr::LOCALHOST)];
        assert!(!answer.addresses.is_empty());
        assert!(answer.addresses.iter().all(|address| this_machine.contains(address)), "{answer:?}");
    }

    #[tokio::test]
    async fn an_unresponsive_name_server_fails_the_lookup() {
        assert!(name_server(0).await.addresses("silent.example").await.is_err());
    }

    #[test]
    fn name_servers_are_parsed_with_and_without_a_port() {
        let servers = NameServers::parse(["10.0.0.53", "fd00::53", "[fd00::53]:5353"]).unwrap();
        let NameServers(addresses) = servers;
        let shown: Vec<String> = addresses.iter().map(SocketAddr::to_string).collect();
        assert_eq!(shown, ["10.0.0.53:53", "[fd00::53]:53", "[fd00::53]:5353"]);
    }
}
