//! Kubernetes quantities such as `500m`, `2Gi` and `1e3`, and their order.

use std::cmp::Ordering;

/// A quantity: `mantissa` times a power of ten times a power of two.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Quantity {
    mantissa: i128,
    tens: i32,
    twos: u32,
}

impl Quantity {
    /// Parses a quantity or a plain number; none for anything else.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let end =
            text.find(|c: char| !matches!(c, '0'..='9' | '.' | '+' | '-')).unwrap_or(text.len());
        let (number, suffix) = text.split_at(end);
        let (mantissa, scale) = decimal(number)?;
        let (tens, twos) = unit(suffix)?;
        Some(Self { mantissa, tens: tens - scale, twos })
    }

    /// The quantity as a float, for comparing quantities whose exact values do not fit into 128 bits.
    fn approximate(self) -> f64 {
        self.mantissa as f64 * 10f64.powi(self.tens) * 2f64.powi(self.twos as i32)
    }

    /// The quantity as a multiple of `10^tens`; none if it does not fit.
    fn whole(self, tens: i32) -> Option<i128> {
        let factor = 10i128.checked_pow(u32::try_from(self.tens - tens).ok()?)?;
        self.mantissa.checked_mul(factor)?.checked_mul(1i128.checked_shl(self.twos)?)
    }
}

impl PartialEq for Quantity {
    fn eq(&self, other: &Self) -> bool {
        self.partial_cmp(other) == Some(Ordering::Equal)
    }
}

impl PartialOrd for Quantity {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        let tens = self.tens.min(other.tens);
        match (self.whole(tens), other.whole(tens)) {
            (Some(a), Some(b)) => Some(a.cmp(&b)),
            _ => self.approximate().partial_cmp(&other.approximate()),
        }
    }
}

/// Parses digits with an optional sign and point: all digits as one integer, and the number of decimals.
fn decimal(text: &str) -> Option<(i128, i32)> {
    let (sign, digits) = match text.as_bytes().first()? {
        b'-' => (-1, &text[1..]),
        b'+' => (1, &text[1..]),
        _ => (1, text),
    };
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let all = format!("{whole}{fraction}");
    if all.is_empty() || !all.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    Some((sign * all.parse::<i128>().ok()?, i32::try_from(fraction.len()).ok()?))
}

/// The powers of ten and two of a suffix.
fn unit(suffix: &str) -> Option<(i32, u32)> {
    Some(match suffix {
        "" => (0, 0),
        "n" => (-9, 0),
        "u" => (-6, 0),
        "m" => (-3, 0),
        "k" => (3, 0),
        "M" => (6, 0),
        "G" => (9, 0),
        "T" => (12, 0),
        "P" => (15, 0),
        "E" => (18, 0),
        "Ki" => (0, 10),
        "Mi" => (0, 20),
        "Gi" => (0, 30),
        "Ti" => (0, 40),
        "Pi" => (0, 50),
        "Ei" => (0, 60),
        exponent => {
            let digits = exponent.strip_prefix(['e', 'E'])?;
            let unsigned = digits.strip_prefix(['+', '-']).unwrap_or(digits);
            let is_number =
                !unsigned.is_empty() && unsigned.bytes().all(|byte| byte.is_ascii_digit());
            let tens = digits.parse::<i32>().ok().filter(|tens| is_number && tens.abs() < 1000)?;
            (tens, 0)
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn compare(a: &str, b: &str) -> Option<Ordering> {
        Quantity::parse(a)?.partial_cmp(&Quantity::parse(b)?)
    }

    #[test]
    fn quantities_compare_across_units() {
        for (a, b) in [
            ("1Ki", "1024"),
            ("1e3", "1k"),
            ("-0", "0"),
            ("1E", "1e18"),
            (".5", "500m"),
            ("1E-3", "1m"),
        ] {
            assert_eq!(compare(a, b), Some(Ordering::Equal), "{a} {b}");
        }
        for (a, b) in [
            ("999m", "1"),
            ("-1", "0"),
            ("1M", "1Mi"),
            ("9", "10"),
            ("1n", "1u"),
            ("1", "1e300"),
            ("1e-300", "1"),
        ] {
            assert_eq!(compare(a, b), Some(Ordering::Less), "{a} {b}");
        }
    }

    #[test]
    fn other_texts_are_not_quantities() {
        for text in ["", "-", ".", "1x", "1.2.3", "Gi", "1 Gi", "1e", "nginx", "1e99999"] {
            assert!(Quantity::parse(text).is_none(), "{text}");
        }
        assert!(Quantity::parse(&"9".repeat(60)).is_none(), "too many digits");
    }
}
