//! The binary form of PostgreSQL's `numeric`: the number of digits, the place of the first one, the sign and the number
//! of decimals, then the digits in base 10 000. Each is a word of 16 bits.

use std::error::Error;

const POSITIVE: u16 = 0x0000;
const NEGATIVE: u16 = 0x4000;
const NOT_A_NUMBER: u16 = 0xC000;
const INFINITE: u16 = 0xD000;
const MINUS_INFINITE: u16 = 0xF000;
/// The maximum number of digits of a 128-bit number to the base 10 000.
const MOST_DIGITS: usize = 10;
/// The largest number of decimals of a sum.
const MOST_DECIMALS: u8 = 38;

/// Reads a number exactly: as many units of its last decimal, and the number of its decimals.
///
/// # Errors
/// The reason: the bytes have another form, are no finite number, or do not fit.
pub(super) fn read(bytes: &[u8]) -> Result<(i128, u8), &'static str> {
    let (words, []) = bytes.as_chunks() else { return Err("a numeric has half a word") };
    let [count, weight, sign, scale, digits @ ..] = words else { return Err("a numeric is truncated") };
    if usize::from(u16::from_be_bytes(*count)) != digits.len() {
        return Err("a numeric has another number of digits than it says");
    }
    let is_negative = match u16::from_be_bytes(*sign) {
        POSITIVE => false,
        NEGATIVE => true,
        NOT_A_NUMBER => return Err("NaN is not a sum"),
        INFINITE | MINUS_INFINITE => return Err("infinity is not a sum"),
        _ => return Err("a numeric has an unknown sign"),
    };
    let scale = u8::try_from(u16::from_be_bytes(*scale)).ok().filter(|scale| *scale <= MOST_DECIMALS);
    let scale = scale.ok_or("a sum has too many decimals")?;
    // The power of ten by which the next digit counts units.
    let mut power = i32::from(i16::from_be_bytes(*weight)).saturating_mul(4).saturating_add(scale.into());
    let mut units = 0_i128;
    for digit in digits {
        let digit = u16::from_be_bytes(*digit);
        // How many of its four decimal digits are units, and how many lie beyond the last decimal, as powers of ten.
        let (within, beyond) = match power {
            0.. => (10_000, 1),
            -1 => (1_000, 10),
            -2 => (100, 100),
            -3 => (10, 1_000),
            _ => (1, 10_000),
        };
        if digit > 9_999 || digit.checked_rem(beyond) != Some(0) {
            return Err("a numeric has an invalid digit");
        }
        let digit = digit.checked_div(beyond).unwrap_or_default();
        units = units
            .checked_mul(within)
            .and_then(|units| units.checked_add(digit.into()))
            .ok_or("a sum has too many digits")?;
        power = power.saturating_sub(4);
    }
    // Zeros at the end are left out.
    let zeros = u32::try_from(power.saturating_add(4)).unwrap_or_default();
    if units != 0 && zeros > 0 {
        let factor = 10_i128.checked_pow(zeros);
        units = factor.and_then(|factor| units.checked_mul(factor)).ok_or("a sum has too many digits")?;
    }
    Ok((if is_negative { units.saturating_neg() } else { units }, scale))
}

/// Appends a number divided by this power of ten.
///
/// # Errors
/// When the number has too many digits or decimals.
pub(super) fn write(
    number: i128,
    decimals: u16,
    out: &mut Vec<u8>,
) -> Result<(), Box<dyn Error + Send + Sync>> {
    // Padded, so that the decimals fill whole digits.
    let padding = decimals.wrapping_neg() % 4;
    let padded = number.unsigned_abs().checked_mul(10_u128.pow(u32::from(padding)));
    let mut rest = padded.ok_or("the sum is too large")?;
    let mut digits = [[0; 2]; MOST_DIGITS];
    let mut count = 0_i16;
    for digit in digits.iter_mut().rev() {
        if rest == 0 {
            break;
        }
        *digit = u16::try_from(rest % 10_000)?.to_be_bytes();
        rest /= 10_000;
        count = count.saturating_add(1);
    }
    let after_point = i16::try_from(decimals.div_ceil(4))?;
    let weight = if count == 0 { 0 } else { count.saturating_sub(after_point).saturating_sub(1) };
    let sign = if number < 0 { NEGATIVE } else { 0 };
    let mut digits = digits.as_slice();
    while let [[0, 0], others @ ..] = digits {
        digits = others;
    }
    while let [others @ .., [0, 0]] = digits {
        digits = others;
    }
    out.extend_from_slice(&u16::try_from(digits.len())?.to_be_bytes());
    out.extend_from_slice(&weight.to_be_bytes());
    out.extend_from_slice(&sign.to_be_bytes());
    out.extend_from_slice(&decimals.to_be_bytes());
    out.extend_from_slice(digits.as_flattened());
    Ok(())
}

#[cfg(test)]
#[allow(clippy::arithmetic_side_effects, reason = "the numbers are small")]
pub(super) mod tests {
    use bigdecimal::BigDecimal;
    use bigdecimal::num_bigint::BigInt;
    use diesel::data_types::PgNumeric;
    use proptest::prelude::*;

    use super::*;

    /// A number with words as PostgreSQL sends them.
    fn bytes(weight: i16, sign: u16, scale: u16, digits: &[u16]) -> Vec<u8> {
        let count = u16::try_from(digits.len()).unwrap();
        let head = [count, weight.cast_unsigned(), sign, scale];
        head.iter().chain(digits).flat_map(|word| word.to_be_bytes()).collect()
    }

    /// The bytes of a number of Diesel's.
    pub(in super::super) fn sent(number: &PgNumeric) -> Vec<u8> {
        let (weight, sign, scale, digits) = match number {
            PgNumeric::Positive { weight, scale, digits } => (weight, POSITIVE, scale, digits),
            PgNumeric::Negative { weight, scale, digits } => (weight, NEGATIVE, scale, digits),
            PgNumeric::NaN => panic!("not a number"),
        };
        let digits: Vec<u16> = digits.iter().map(|digit| digit.cast_unsigned()).collect();
        bytes(*weight, sign, *scale, &digits)
    }

    fn decimal((units, scale): (i128, u8)) -> BigDecimal {
        BigDecimal::new(BigInt::from(units), i64::from(scale))
    }

    #[test]
    fn numbers_are_read_with_their_decimals() {
        for (weight, sign, scale, digits, expected) in [
            (0, POSITIVE, 0, &[][..], (0, 0)),
            (0, POSITIVE, 8, &[], (0, 8)),
            (0, NEGATIVE, 8, &[], (0, 8)),
            (0, POSITIVE, 8, &[10], (1_000_000_000, 8)),
            (0, POSITIVE, 2, &[12, 5_000], (1_250, 2)),
            (0, NEGATIVE, 3, &[12, 5_010], (-12_501, 3)),
            (-2, POSITIVE, 8, &[1], (1, 8)),
            (-1, NEGATIVE, 1, &[1_000], (-1, 1)),
            (2, POSITIVE, 0, &[1], (100_000_000, 0)),
            (1, POSITIVE, 2, &[1, 0, 100], (1_000_001, 2)),
            (4, POSITIVE, 8, &[9_999, 9_999, 9_999, 9_999, 9_999, 9_999, 9_999], (10_i128.pow(28) - 1, 8)),
        ] {
            assert_eq!(read(&bytes(weight, sign, scale, digits)), Ok(expected), "{digits:?}");
        }
    }

    #[test]
    fn malformed_infinite_and_oversized_numerics_are_refused() {
        let one = bytes(0, POSITIVE, 2, &[1]);
        for (bytes, reason) in [
            (Vec::new(), "a numeric is truncated"),
            (one[..6].to_vec(), "a numeric is truncated"),
            (one[..8].to_vec(), "a numeric has another number of digits than it says"),
            (one[..9].to_vec(), "a numeric has half a word"),
            ([&*one, &[0, 0]].concat(), "a numeric has another number of digits than it says"),
            (bytes(0, NOT_A_NUMBER, 0, &[]), "NaN is not a sum"),
            (bytes(0, INFINITE, 0x20, &[]), "infinity is not a sum"),
            (bytes(0, MINUS_INFINITE, 0x20, &[]), "infinity is not a sum"),
            (bytes(0, 0x8000, 0, &[1]), "a numeric has an unknown sign"),
            (bytes(0, POSITIVE, 39, &[1]), "a sum has too many decimals"),
            (bytes(0, POSITIVE, 256, &[1]), "a sum has too many decimals"),
            (bytes(0, POSITIVE, 2, &[10_000]), "a numeric has an invalid digit"),
            (bytes(0, POSITIVE, 2, &[0xFFFF]), "a numeric has an invalid digit"),
            (bytes(0, POSITIVE, 2, &[1, 5_010]), "a numeric has an invalid digit"),
            (bytes(0, POSITIVE, 0, &[1, 1]), "a numeric has an invalid digit"),
            (bytes(-3, POSITIVE, 8, &[1]), "a numeric has an invalid digit"),
            (bytes(i16::MAX, POSITIVE, 8, &[1]), "a sum has too many digits"),
            (bytes(9, POSITIVE, 8, &[9_999; 12]), "a sum has too many digits"),
        ] {
            assert_eq!(read(&bytes), Err(reason), "{bytes:?}");
        }
    }

    proptest! {
        #[test]
        fn every_number_that_diesel_sends_is_read_unchanged(units: i128, scale in 0_u8..=MOST_DECIMALS) {
            // Diesel sends zero without decimals.
            let scale = if units == 0 { 0 } else { scale };
            if units != i128::MIN {
                let number = PgNumeric::from(&decimal((units, scale)));
                prop_assert_eq!(read(&sent(&number)), Ok((units, scale)));
            }
        }

        #[test]
        fn numerics_that_fit_are_read_as_diesel_reads_them(
            weight in -12_i16..=12,
            is_negative: bool,
            scale in 0_u16..=u16::from(MOST_DECIMALS),
            digits in prop::collection::vec(
                prop_oneof![Just(0_i16), Just(9_999), 0_i16..=9_999, (0_i16..=9).prop_map(|tens| tens * 1_000)],
                0..=12,
            ),
        ) {
            let units: BigInt = digits.iter().fold(0.into(), |sum: BigInt, digit| sum * 10_000 + *digit);
            let decimals = 4 * (i64::try_from(digits.len()).unwrap() - 1 - i64::from(weight));
            let exact = BigDecimal::new(units, decimals);
            let scaled = exact.with_scale(i64::from(scale));
            let fits = scaled == exact && i128::try_from(scaled.as_bigint_and_scale().0.into_owned()).is_ok();
            let number = if is_negative {
                PgNumeric::Negative { weight, scale, digits }
            } else {
                PgNumeric::Positive { weight, scale, digits }
            };
            match read(&sent(&number)) {
                Ok(read) => {
                    let expected = BigDecimal::try_from(&number).unwrap();
                    prop_assert_eq!(decimal(read).to_plain_string(), expected.to_plain_string());
                    prop_assert!(fits);
                }
                Err(reason) => prop_assert!(!fits, "{reason}: {exact}"),
            }
        }

        #[test]
        fn no_bytes_cause_a_panic(words: Vec<u16>, digits in prop::collection::vec(0_u16..=10_000, 0..=12)) {
            let any: Vec<u8> = words.iter().flat_map(|word| word.to_be_bytes()).collect();
            let _ = read(&any);
            let [weight, scale] = [words.first(), words.get(1)].map(|word| word.copied().unwrap_or_default());
            let _ = read(&bytes(weight.cast_signed(), NEGATIVE, scale, &digits));
        }
    }
}
