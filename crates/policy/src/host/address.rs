//! What kind of place an address is.
//!
//! A name on the allow-list may resolve to anything, the machine itself included. Only ordinary
//! addresses are reached without being named.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use serde::Serialize;

/// A kind of address.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum AddressClass {
    /// Somewhere on the internet.
    Ordinary,
    /// No address at all, which means this machine to many systems.
    Unspecified,
    /// This machine.
    Loopback,
    /// A network of one's own.
    Private,
    /// The network between a provider and its customers.
    Shared,
    /// The same wire.
    LinkLocal,
    /// Where clouds hand out credentials.
    Metadata,
    /// Many at once.
    Multicast,
    /// Set aside for something else.
    Reserved,
}

/// Where clouds answer with credentials, or with the power to change the machine.
const METADATA_4: &[Ipv4Addr] = &[
    Ipv4Addr::new(169, 254, 169, 254), // most clouds
    Ipv4Addr::new(169, 254, 169, 253), // name server of the same cloud
    Ipv4Addr::new(169, 254, 170, 2),   // containers
    Ipv4Addr::new(169, 254, 170, 23),  // containers in clusters
    Ipv4Addr::new(100, 100, 100, 200),
    Ipv4Addr::new(168, 63, 129, 16),
    Ipv4Addr::new(192, 0, 0, 192),
];
const METADATA_6: &[Ipv6Addr] = &[
    Ipv6Addr::new(0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x254),
    Ipv6Addr::new(0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x23),
    Ipv6Addr::new(0xfd20, 0xce, 0, 0, 0, 0, 0, 0x254),
];

impl AddressClass {
    /// The kind of an address.
    pub fn of(address: IpAddr) -> Self {
        match address.to_canonical() {
            IpAddr::V4(four) => of_four(four),
            IpAddr::V6(six) => of_six(six),
        }
    }

    /// Whether it may be reached without being named.
    pub fn is_ordinary(self) -> bool {
        self == Self::Ordinary
    }

    /// The kind, for a person: what an address of it is.
    pub fn name(self) -> &'static str {
        match self {
            Self::Ordinary => "an ordinary address",
            Self::Unspecified => "the unspecified address",
            Self::Loopback => "an address of this machine itself",
            Self::Private => "a private address",
            Self::Shared => "an address of the provider's own network",
            Self::LinkLocal => "a link-local address",
            Self::Metadata => "a cloud metadata address",
            Self::Multicast => "a multicast address",
            Self::Reserved => "a reserved address",
        }
    }
}

impl fmt::Display for AddressClass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

fn of_four(address: Ipv4Addr) -> AddressClass {
    if METADATA_4.contains(&address) {
        return AddressClass::Metadata;
    }
    match address.octets() {
        [0, 0, 0, 0] => AddressClass::Unspecified,
        [127, ..] => AddressClass::Loopback,
        [10, ..] | [172, 16..=31, ..] | [192, 168, ..] => AddressClass::Private,
        [100, 64..=127, ..] => AddressClass::Shared,
        [169, 254, ..] => AddressClass::LinkLocal,
        [224..=239, ..] => AddressClass::Multicast,
        // "This network", protocol assignments, benchmarks, the future and broadcast.
        [0 | 240..=255, ..] | [192, 0, 0, _] | [198, 18..=19, ..] => AddressClass::Reserved,
        _ => AddressClass::Ordinary,
    }
}

fn of_six(address: Ipv6Addr) -> AddressClass {
    if METADATA_6.contains(&address) {
        return AddressClass::Metadata;
    }
    if address.is_unspecified() {
        return AddressClass::Unspecified;
    }
    if address.is_loopback() {
        return AddressClass::Loopback;
    }
    let embedded = |high: u16, low: u16| {
        let [a, b] = high.to_be_bytes();
        let [c, d] = low.to_be_bytes();
        of_four(Ipv4Addr::new(a, b, c, d))
    };
    match address.segments() {
        // Addresses of the old world in those of the new: the machine on the way unpacks them.
        [0x64, 0xff9b, 0, 0, 0, 0, high, low] | [0x2002, high, low, ..] => embedded(high, low),
        [0xfc00..=0xfdff | 0xfec0..=0xfeff, ..] => AddressClass::Private,
        [0xfe80..=0xfebf, ..] => AddressClass::LinkLocal,
        [0xff00..=0xffff, ..] => AddressClass::Multicast,
        // Tunnels that unpack such addresses by other means are in here with the rest.
        [0x2001, 1..=0xffff, ..] | [0x2000 | 0x2002..=0x3fff, ..] => AddressClass::Ordinary,
        _ => AddressClass::Reserved,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds() {
        use AddressClass::{
            LinkLocal, Loopback, Metadata, Multicast, Ordinary, Private, Reserved, Shared,
            Unspecified,
        };
        for (address, expected) in [
            ("93.184.216.34", Ordinary),
            ("203.0.113.7", Ordinary),
            ("172.15.0.1", Ordinary),
            ("172.32.0.1", Ordinary),
            ("100.63.0.1", Ordinary),
            ("0.0.0.0", Unspecified),
            ("127.0.0.1", Loopback),
            ("127.255.255.254", Loopback),
            ("10.1.2.3", Private),
            ("172.16.0.1", Private),
            ("192.168.0.1", Private),
            ("100.64.0.1", Shared),
            ("169.254.1.1", LinkLocal),
            ("169.254.169.254", Metadata),
            ("100.100.100.200", Metadata),
            ("168.63.129.16", Metadata),
            ("224.0.0.1", Multicast),
            ("239.255.255.255", Multicast),
            ("0.1.2.3", Reserved),
            ("192.0.0.1", Reserved),
            ("198.18.0.1", Reserved),
            ("240.0.0.1", Reserved),
            ("255.255.255.255", Reserved),
            ("2606:2800:220:1::1", Ordinary),
            ("2001:db8::1", Ordinary),
            ("::", Unspecified),
            ("::1", Loopback),
            ("::ffff:127.0.0.1", Loopback),
            ("::ffff:169.254.169.254", Metadata),
            ("::127.0.0.1", Reserved),
            ("64:ff9b::7f00:1", Loopback),
            ("64:ff9b::a9fe:a9fe", Metadata),
            ("64:ff9b::5db8:d822", Ordinary),
            ("64:ff9b:1::7f00:1", Reserved),
            ("2002:7f00:1::", Loopback),
            ("2002:a00:1::1", Private),
            ("2001:0:4136:e378:8000:63bf:3fff:fdd2", Reserved),
            ("fc00::1", Private),
            ("fd00:ec2::254", Metadata),
            ("fe80::1", LinkLocal),
            ("fec0::1", Private),
            ("ff02::1", Multicast),
            ("100::1", Reserved),
            ("4000::1", Reserved),
        ] {
            let class = AddressClass::of(address.parse().unwrap());
            assert_eq!(class, expected, "{address}");
        }
    }
}
