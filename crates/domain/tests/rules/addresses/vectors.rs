//! Published addresses: from each network's standards, and from well-known exchanges and contracts.

use cuepoint_domain::address::Network;

/// Addresses, each in its canonical form.
pub(crate) const CANONICAL: &[(Network, &[&str])] = &[
    (
        Network::Bitcoin,
        &[
            // The genesis block's, two exchanges', and those of BIP-173, BIP-350, BIP-341 and BIP-86.
            "1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa",
            "1BvBMSEYstWetqTFn5Au4m4GFg7xJaNVN2",
            "3J98t1WpEZ73CNmQviecrnyiWrnqRhWNLy",
            "34xp4vRoCGJym3xR7yCVPFHoCNxv4Twseo",
            "bc1qm34lsc65zpw79lxes69zkqmk6ee3ewf0j77s3h",
            "bc1qgdjqv0av3q56jvd82tkdjpy7gdp9ut8tlqmgrpmv24sq90ecnvqqjwvw97",
            "bc1p5cyxnuxmeuwuvkwfem96lqzszd02n6xdcjrs20cac6yqjjwudpxqkedrcr",
            "bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4",
            "bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqzk5jj0",
            "bc1p2wsldez5mud2yam29q22wgfh9439spgduvct83k3pm50fcxa5dps59h4z5",
            "bc1pz37fc4cn9ah8anwm4xqqhvxygjf9rjf2resrw8h8w4tmvcs0863sa2e586",
            "bc1punvppl2stp38f7kwv2u2spltjuvuaayuqsthe34hd2dyy5w4g58qqfuag5",
            "bc1pwyjywgrd0ffr3tx8laflh6228dj98xkjj8rum0zfpd6h0e930h6saqxrrm",
            "bc1pwl3s54fzmk0cjnpl3w9af39je7pv5ldg504x5guk2hpecpg2kgsqaqstjq",
            "bc1pjxmy65eywgafs5tsunw95ruycpqcqnev6ynxp7jaasylcgtcxczs6n332e",
            "bc1pw5tf7sqp4f50zka7629jrr036znzew70zxyvvej3zrpf8jg8hqcssyuewe",
            "bc1p4qhjn9zdvkux4e44uhx8tc55attvtyu358kutcqkudyccelu0was9fqzwh",
            "bc1p3qkhfews2uk44qtvauqyr2ttdsw7svhkl9nkm9s9c3x4ax5h60wqwruhk7",
        ],
    ),
    (
        Network::Litecoin,
        &[
            "LVg2kJoFNg45Nbpy53h7Fe1wKyeXVRhMH9",
            "LTpYZG19YmfvY2bBDYtCKpunVRw7nVgRHW",
            "MUWheVyCBf3Fm3WNNXvotQ3Gj8NTSZCBVe",
            "ltc1qajkrze8gc5qdx2ehldsmd596a2gprnn50a53mj3xxvy0zgtdq6gqumv03a",
        ],
    ),
    (
        Network::Dogecoin,
        &[
            "DPpJVPpvPNP6i6tMj4rTycAGh8wReTqaSU",
            "DH5yaieqoZN36fDVciNyRueRGvGLR3mr7L",
            "A7JjzK9k9x5b2MkkQzqt91WZsuu7wTu6iS",
        ],
    ),
    (
        Network::Ethereum,
        &[
            // EIP-55's examples, then an exchange's and two tokens'.
            "0x52908400098527886E0F7030069857D2E4169EE7",
            "0x8617E340B3D01FA5F11F306F4090FD50E238070D",
            "0xde709f2102306220921060314715629080e2fb77",
            "0x27b1fdb04752bbc536007a920d24acb045561c26",
            "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed",
            "0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359",
            "0xdbF03B407c01E7cD3CBea99509d93f8DDDC8C6FB",
            "0xD1220A0cf47c7B9Be7A2E6BA89F429762e7b9aDb",
            "0x28C6c06298d514Db089934071355E5743bf21d60",
            "0xdAC17F958D2ee523a2206206994597C13D831ec7",
            "0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48",
        ],
    ),
    (
        Network::Tron,
        &[
            "TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t",
            "TLa2f6VPqDgRE67v1736s7bJ8Ray5wYjU7",
            "TJRyWwFs9wTFGZg3JbrVriFbNfCug5tDeC",
        ],
    ),
    (
        Network::Solana,
        &[
            "9WzDXwBbmkg8ZTbNMqUxvQRAyrZzDsGYdLVL9zYtAWWM",
            "5tzFkiKscXHK5ZXCGbXZxdw7gTjjD1mBwuoFbhUvuAi9",
            "Ho87cuS3aSRgUMCeMrV7uNCCWx6Fj2ytnufYQ1W7KCLr",
            // The public keys of the first three signatures in RFC 8032.
            "FVen3X669xLzsi6N2V91DoiyzHzg1uAgqiT8jZ9nS96Z",
            "586Z7H2vpX9qNhN2T4e9Utugie3ogjbxzGaMtM3E6HR5",
            "Hyx62wPQGyvXCoihZq1BrbUjBRh2LuNxWiiqMkfAuSZr",
        ],
    ),
    (
        Network::Xrp,
        &[
            "rGWrZyQqhTp9Xu7G5Pkayo7bXjH4k4QYpf",
            "r9cZA1mLK5R5Am25ArfXFmqgNwjZgnfk59",
            // The same accounts as X-addresses: without a tag, with 0, 1 and the largest.
            "X7AcgcsBL6XDcUb289X4mJ8djcdyKaB5hJDWMArnXr61cqZ",
            "X7AcgcsBL6XDcUb289X4mJ8djcdyKaGZMhc9YTE92ehJ2Fu",
            "XVLhHMPHU98es4dbozjVtdWzVrDjtV5fdx1mHp98tDMoQXb",
            "XVLhHMPHU98es4dbozjVtdWzVrDjtV8AqEL4xcZj5whKbmc",
            "XVLhHMPHU98es4dbozjVtdWzVrDjtV18pX8yuPT7y4xaEHi",
        ],
    ),
    (
        Network::Stellar,
        &[
            "GA7QYNF7SOWQ3GLR2BGMZEHXAVIRZA4KVWLTJJFC7MGXUA74P7UJVSGZ",
            "GAHJJJKMOKYE4RVPZEWZTKH5FVI4PA3VL7GK2LFNUBSGBV6OJP7TQSLX",
            "GA3D5KRYM6CB7OWQ6TWYRR3Z4T7GNZLKERYNZGGA5SOAOPIFY6YQHES5",
            // SEP-23's muxed accounts with the ids 0, 1234 and 2^63.
            "MA7QYNF7SOWQ3GLR2BGMZEHXAVIRZA4KVWLTJJFC7MGXUA74P7UJUAAAAAAAAAAAACJUQ",
            "MA7QYNF7SOWQ3GLR2BGMZEHXAVIRZA4KVWLTJJFC7MGXUA74P7UJUAAAAAAAAAAE2JUG6",
            "MA7QYNF7SOWQ3GLR2BGMZEHXAVIRZA4KVWLTJJFC7MGXUA74P7UJVAAAAAAAAAAAAAJLK",
        ],
    ),
    (
        Network::Ton,
        &[
            "EQCD39VS5jcptHL8vMjEXrzGaRcCVYto7HUn4bpAOg8xqB2N",
            "UQCD39VS5jcptHL8vMjEXrzGaRcCVYto7HUn4bpAOg8xqEBI",
            "EQCxE6mUtQJKFnGfaROTKOt1lZbDiiX1kCixRv7Nw2Id_sDs",
            "Ef9iA3tEroM6LYE7gIMkDWIVY4-J_qli9EU5zMLhM6y0_ekS",
            "Uf9iA3tEroM6LYE7gIMkDWIVY4-J_qli9EU5zMLhM6y0_bTX",
            "Uf_8uRo6OBbQ97jCx2EIuKm8Wmt6Vb15-KsQHFLbKSMiYG-9",
        ],
    ),
];

/// Alternative spellings of an address, with the canonical one.
pub(crate) const SPELLINGS: &[(Network, &str, &str)] = &[
    (
        Network::Bitcoin,
        "BC1QW508D6QEJXTDG4Y5R3ZARVARY0C5XW7KV8F3T4",
        "bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4",
    ),
    (
        Network::Bitcoin,
        "BC1P0XLXVLHEMJA6C4DQV22UAPCTQUPFHLXM9H8Z3K2E72Q4K9HCZ7VQZK5JJ0",
        "bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqzk5jj0",
    ),
    (
        Network::Litecoin,
        "LTC1QAJKRZE8GC5QDX2EHLDSMD596A2GPRNN50A53MJ3XXVY0ZGTDQ6GQUMV03A",
        "ltc1qajkrze8gc5qdx2ehldsmd596a2gprnn50a53mj3xxvy0zgtdq6gqumv03a",
    ),
    (
        Network::Ethereum,
        "0x5aaeb6053f3e94c9b9a09f33669435e7ef1beaed",
        "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed",
    ),
    (
        Network::Polygon,
        "0x5AAEB6053F3E94C9B9A09F33669435E7EF1BEAED",
        "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed",
    ),
    (
        Network::Ton,
        "Uf/8uRo6OBbQ97jCx2EIuKm8Wmt6Vb15+KsQHFLbKSMiYG+9",
        "Uf_8uRo6OBbQ97jCx2EIuKm8Wmt6Vb15-KsQHFLbKSMiYG-9",
    ),
    (
        Network::Ton,
        "0:83dfd552e63729b472fcbcc8c45ebcc6691702558b68ec7527e1ba403a0f31a8",
        "UQCD39VS5jcptHL8vMjEXrzGaRcCVYto7HUn4bpAOg8xqEBI",
    ),
    (
        Network::Ton,
        "-1:FCB91A3A3816D0F7B8C2C76108B8A9BC5A6B7A55BD79F8AB101C52DB29232260",
        "Uf_8uRo6OBbQ97jCx2EIuKm8Wmt6Vb15-KsQHFLbKSMiYG-9",
    ),
];

/// Texts that resemble an address but belong to no network.
pub(crate) const MALFORMED: &[(Network, &[&str])] = &[
    (
        Network::Bitcoin,
        &[
            // BIP-173.
            "tc1qw508d6qejxtdg4y5r3zarvary0c5xw7kg3g4ty",
            "bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t5",
            "BC13W508D6QEJXTDG4Y5R3ZARVARY0C5XW7KN40WF2",
            "bc1rw5uspcuh",
            "bc10w508d6qejxtdg4y5r3zarvary0c5xw7kw508d6qejxtdg4y5r3zarvary0c5xw7kw5rljs90",
            "BC1QR508D6QEJXTDG4Y5R3ZARVARYV98GJ9P",
            "tb1qrp33g0q5c5txsp9arysrx4k6zdkfs4nce4xj0gdcccefvpysxf3q0sL5k7",
            "bc1zw508d6qejxtdg4y5r3zarvaryvqyzf3du",
            "tb1qrp33g0q5c5txsp9arysrx4k6zdkfs4nce4xj0gdcccefvpysxf3pjxtptv",
            "bc1gmk9yu",
            // Valid under BIP-173, and refused by BIP-350.
            "bc1pw508d6qejxtdg4y5r3zarvary0c5xw7kw508d6qejxtdg4y5r3zarvary0c5xw7k7grplx",
            "BC1SW50QA3JX3S",
            "bc1zw508d6qejxtdg4y5r3zarvaryvg6kdaj",
            // BIP-350.
            "tc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vq5zuyut",
            "bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqh2y7hd",
            "tb1z0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqglt7rf",
            "BC1S0XLXVLHEMJA6C4DQV22UAPCTQUPFHLXM9H8Z3K2E72Q4K9HCZ7VQ54WELL",
            "bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kemeawh",
            "tb1q0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vq24jc47",
            "bc1p38j9r5y49hruaue7wxjce0updqjuyyx0kh56v8s25huc6995vvpql3jow4",
            "BC130XLXVLHEMJA6C4DQV22UAPCTQUPFHLXM9H8Z3K2E72Q4K9HCZ7VQ7ZWS8R",
            "bc1pw5dgrnzv",
            "bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7v8n0nx0muaewav253zgeav",
            "tb1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vq47Zagq",
            "bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7v07qwwzcrf",
            "tb1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vpggkg4j",
            "12eQ9m4sgAwTSQoNXkRABKhCXCsjm2j",
            "3BDsBDxDimYgNZzsqszNZobqQq3yeUo",
        ],
    ),
    (
        Network::Ethereum,
        &[
            "5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed",
            "0X5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed",
            "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAe",
            "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed0",
            "0x5AAeb6053F3E94C9b9A09f33669435E7Ef1BeAed",
            "0xg2908400098527886e0f7030069857d2e4169ee7",
            "ada.eth",
        ],
    ),
    (Network::Tron, &["41a614f803b6fd780986a42c78ec9c7f77e6ded13c", "TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6"]),
    (
        Network::Solana,
        &["9WzDXwBbmkg8ZTbNMqUxvQRAyrZzDsGYdLVL9zYtA", "9WzDXwBbmkg8ZTbNMqUxvQRAyrZzDsGYdLVL9zYtAWW0"],
    ),
    (
        Network::Xrp,
        &[
            // A node's key and a seed from the standard's examples.
            "n9MXXueo837zYH36DvMc13BwHcqtfAWNJY5czWVbp7uYTj7x17TH",
            "sn259rEFXrQrWyx3Q7XneWcwV6dfL",
            "r9cZA1mLK5R5Am25ArfXFmqgNwjZgnfk5",
        ],
    ),
    (
        Network::Stellar,
        &[
            // SEP-23: wrong length, trailing bit, algorithm and checksum.
            "GAAAAAAAACGC6",
            "MA7QYNF7SOWQ3GLR2BGMZEHXAVIRZA4KVWLTJJFC7MGXUA74P7UJUAAAAAAAAAAAACJUR",
            "GA7QYNF7SOWQ3GLR2BGMZEHXAVIRZA4KVWLTJJFC7MGXUA74P7UJVSGZA",
            "GA7QYNF7SOWQ3GLR2BGMZEHXAVIRZA4KVWLTJJFC7MGXUA74P7UJUACUSI",
            "G47QYNF7SOWQ3GLR2BGMZEHXAVIRZA4KVWLTJJFC7MGXUA74P7UJVP2I",
            "MA7QYNF7SOWQ3GLR2BGMZEHXAVIRZA4KVWLTJJFC7MGXUA74P7UJVAAAAAAAAAAAAAJLKA",
            // A secret key, a contract, and lower-case letters.
            "SBGWKM3CD4IL47QN6X54N6Y33T3JDNVI6AIJ6CD5IM47HG3IG4O36XCU",
            "CA3D5KRYM6CB7OWQ6TWYRR3Z4T7GNZLKERYNZGGA5SOAOPIFY6YQGAXE",
            "ga7qynf7sowq3glr2bgmzehxavirza4kvwltjjfc7mgxua74p7ujvsgz",
        ],
    ),
    (
        Network::Ton,
        &[
            // Mixed alphabets, another workchain, a short account, and a name.
            "Uf/8uRo6OBbQ97jCx2EIuKm8Wmt6Vb15-KsQHFLbKSMiYG+9",
            "1:83dfd552e63729b472fcbcc8c45ebcc6691702558b68ec7527e1ba403a0f31a8",
            "0:83dfd552e63729b472fcbcc8c45ebcc6691702558b68ec7527e1ba403a0f31",
            "wallet.ton",
        ],
    ),
];

/// Addresses marked as those of a test network.
pub(crate) const TEST_NETWORKS: &[(Network, &[&str])] = &[
    (
        Network::Bitcoin,
        &[
            "mipcBbFg9gMiCh81Kj8tqqdgoZub1ZJRfn",
            "2MzQwSSnBHWHqSAqtTVQ6v47XtaisrJa1Vc",
            "tb1qqqqqp399et2xygdj5xreqhjjvcmzhxw4aywxecjdzew6hylgvsesrxh6hy",
            "tb1pqqqqp399et2xygdj5xreqhjjvcmzhxw4aywxecjdzew6hylgvsesf3hn0c",
            "bcrt1q8zx9dlztqz9apm7y5gtx8a0tlz57fhncycvun5",
        ],
    ),
    (Network::Litecoin, &["QW2SvwjaJU8LD6GSmtm1PHnBG2xPuxwZFy", "mzBc4XEFSdzCDcTxAgf6EZXgsZWpztRhef"]),
    (Network::Dogecoin, &["2MxKEf2su6FGAUfCEAHreGFQvEYrfYNHvL7", "mzBc4XEFSdzCDcTxAgf6EZXgsZWpztRhef"]),
    (
        Network::Xrp,
        &[
            "T719a5UwUCnEs54UsxG9CJYYDhwmFCqkr7wxCcNcfZ6p5GZ",
            "T7oKJ3q7s94kDH6tpkBowhetT1JKfcfdSCmAXbS75iATyLD",
        ],
    ),
    (
        Network::Ton,
        &[
            "kf_8uRo6OBbQ97jCx2EIuKm8Wmt6Vb15-KsQHFLbKSMiYIny",
            "kf/8uRo6OBbQ97jCx2EIuKm8Wmt6Vb15+KsQHFLbKSMiYIny",
            "0QAAQ3X8LZ3qmwnIgaXwgysWnBBBE8T26G8B4iQ4-PHDGHQC",
        ],
    ),
];

/// Addresses without a private key.
pub(crate) const OWNERLESS: &[(Network, &[&str])] = &[
    (
        Network::Bitcoin,
        &[
            "1111111111111111111114oLvT2",
            "bc1qqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqq9e75rs",
            // BIP-340: an x-coordinate without a point, and one beyond the field.
            "bc1pam775nxmvam4pfpqlm5q06k0y84e3x9w0xuhdpmxuna2qj3dfg6qnzh0s2",
            "BC1PAM775NXMVAM4PFPQLM5Q06K0Y84E3X9W0XUHDPMXUNA2QJ3DFG6QNZH0S2",
            "bc1plllllllllllllllllllllllllllllllllllllllllllllllllllsr7rg6v",
            // Published burn addresses, and the hash of the empty string.
            "1BitcoinEaterAddressDontSendf59kuE",
            "1CounterpartyXXXXXXXXXXXXXXXUWLpVr",
            "1HT7xU2Ngenf7D4yocz2SAcnNLW7rK8d4E",
        ],
    ),
    (
        Network::Ethereum,
        &[
            "0x0000000000000000000000000000000000000000",
            // The first precompile, the last of Prague, and that of EIP-7951.
            "0x0000000000000000000000000000000000000001",
            "0x0000000000000000000000000000000000000011",
            "0x0000000000000000000000000000000000000100",
            "0x000000000000000000000000000000000000dEaD",
            // EIP-7528's placeholder for a chain's own coin, and EIP-4788's sender of system calls.
            "0xEeeeeEeeeEeEeeEeEeEeeEEEeeeeEeeeeeeeEEeE",
            "0xfffffffffffffffffffffffffffffffffffffffe",
        ],
    ),
    // Arbitrum's first precompile and its node interface.
    (
        Network::Arbitrum,
        &["0x0000000000000000000000000000000000000064", "0x00000000000000000000000000000000000000C8"],
    ),
    // A predeploy, and the legacy form of ether.
    (
        Network::Optimism,
        &["0x4200000000000000000000000000000000000010", "0xDeadDeAddeAddEAddeadDEaDDEAdDeaDDeAD0000"],
    ),
    (Network::Base, &["0x4200000000000000000000000000000000000006"]),
    // The contract of its own coin.
    (Network::Polygon, &["0x0000000000000000000000000000000000001010"]),
    // The validators' contracts.
    (
        Network::Bsc,
        &["0x0000000000000000000000000000000000001000", "0x0000000000000000000000000000000000002002"],
    ),
    // The burn address of fees.
    (Network::Avalanche, &["0x0100000000000000000000000000000000000000"]),
    (
        Network::Tron,
        &[
            "T9yD14Nj9j7xAB4dbGeiX9h8unkKHxuWwb",
            // Precompiles 1 and 0x1000001, and the genesis block's black hole.
            "T9yD14Nj9j7xAB4dbGeiX9h8unkKLxmGkn",
            "T9yD14Nj9j7xAB4dbGeiX9h95VRLDVkkS1",
            "TLsV52sRDL79HXGGm9yzwKibb6BeruhUzy",
        ],
    ),
    (
        Network::Solana,
        &[
            // Off the curve: the incinerator, and two examples.
            "1nc1nerator11111111111111111111111111111111",
            "4Nd1mBQtrMJVYVfKf2PJy9NZUZdTAsp7D4xWLs4gDB4T",
            "5Q544fKrFoe6tsEbD7S8EmxGTJYAKtTVhAW5Q5pge4j1",
            // Small order: the system program, and the identity.
            "11111111111111111111111111111111",
            "4uQeVj5tqViQh7yWWGStvkEG1Zmhx6uasJtWCJziofM",
            // Not of prime order: a sysvar, a built-in program, and the mint of wrapped coins.
            "SysvarC1ock11111111111111111111111111111111",
            "Stake11111111111111111111111111111111111111",
            "So11111111111111111111111111111111111111112",
            // Beyond the field.
            "HDmFoMsLPWK4ShyobcBbmKd6NMAm9xYVj3L1JzmqhtHt",
        ],
    ),
    (
        Network::Xrp,
        &[
            // Zero, one, the name black hole, and "not a number".
            "rrrrrrrrrrrrrrrrrrrrrhoLvTp",
            "rrrrrrrrrrrrrrrrrrrrBZbvji",
            "rrrrrrrrrrrrrrrrrNAMEtxvNvQ",
            "rrrrrrrrrrrrrrrrrrrn5RM1rHd",
        ],
    ),
    (
        Network::Stellar,
        &[
            "GAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAWHF",
            // Off the curve, also as a muxed account; the identity; not of prime order; beyond the field.
            "GABAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAABVCX",
            "MABAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA72D4",
            "GAAQAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAHV4",
            "GCKZTGMZTGMZTGMZTGMZTGMZTGMZTGMZTGMZTGMZTGMZTGMZTGMZSBIJ",
            "GDYP77777777777777777777777777777777777777777777777X7ZME",
        ],
    ),
    (
        Network::Ton,
        &[
            "0:0000000000000000000000000000000000000000000000000000000000000000",
            "EQAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAM9c",
            "Ef8AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAADAU",
            // The elector and the configuration.
            "Ef8zMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzM0vF",
            "Ef9VVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVbxn",
        ],
    ),
];

/// Addresses that can be spent from without a private key.
pub(crate) const ANYONE_CAN_SPEND: &[(Network, &[&str])] = &[
    (
        Network::Bitcoin,
        &[
            // BIP-350: versions without rules, and version 1 with 40 bytes; then pay-to-anchor.
            "BC1SW50QGDZ25J",
            "bc1zw508d6qejxtdg4y5r3zarvaryvaxxpcs",
            "bc1pw508d6qejxtdg4y5r3zarvary0c5xw7kw508d6qejxtdg4y5r3zarvary0c5xw7kt5nd6y",
            "bc1pfeessrawgf",
        ],
    ),
    // The genesis account, also as an X-address.
    (
        Network::Xrp,
        &["rHb9CJAWyB4rj91VRWn96DkukG4bwdtyTh", "XVPcpSm47b1CZkf5AkKM9a84dQHe3m4sBhsrA4XtnBECTAc"],
    ),
];
