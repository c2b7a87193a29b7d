//! The library `math`.

use std::f64::consts::{PI, TAU};

/// The value of a function; none for an unknown function or a wrong number of arguments.
pub(super) fn calculate(name: &str, numbers: &[f64]) -> Option<f64> {
    Some(match (name, numbers) {
        ("fabs", [x]) => x.abs(),
        ("round", [x]) => x.round(),
        ("exp", [x]) => x.exp(),
        ("sqrt", [x]) => x.sqrt(),
        ("log", [x]) => x.ln(),
        ("log", [x, base]) => x.ln() / base.ln(),
        ("pow", [x, y]) => x.powf(*y),
        ("mod", [x, y]) => x % y,
        ("remainder", [x, y]) => remainder(*x, *y),
        ("copysign", [x, y]) => x.copysign(*y),
        ("gamma", [x]) => gamma(*x),
        ("acos", [x]) => x.acos(),
        ("asin", [x]) => x.asin(),
        ("atan", [x]) => x.atan(),
        ("atan2", [y, x]) => y.atan2(*x),
        ("cos", [x]) => x.cos(),
        ("hypot", [x, y]) => x.hypot(*y),
        ("sin", [x]) => x.sin(),
        ("tan", [x]) => x.tan(),
        ("degrees", [x]) => x * 360.0 / TAU,
        ("radians", [x]) => x * TAU / 360.0,
        ("acosh", [x]) => x.acosh(),
        ("asinh", [x]) => x.asinh(),
        ("atanh", [x]) => x.atanh(),
        ("cosh", [x]) => x.cosh(),
        ("sinh", [x]) => x.sinh(),
        ("tanh", [x]) => x.tanh(),
        _ => return None,
    })
}

/// The difference to the nearest multiple of `y`, as IEEE 754 defines it.
fn remainder(x: f64, y: f64) -> f64 {
    if x.is_nan() || y.is_nan() || x.is_infinite() || y == 0.0 {
        return f64::NAN;
    }
    if y.is_infinite() {
        return x;
    }
    let (y, mut rest) = (y.abs(), x.abs());
    // Within two multiples, `%` is exact, and so are the differences below.
    if y <= f64::MAX / 2.0 {
        rest %= y + y;
    }
    let is_above_half = |rest: f64, or_equal: bool| {
        let half = y / 2.0;
        // The half of the smallest numbers is not exact.
        let (a, b) = if y < 4.0 * f64::MIN_POSITIVE { (rest + rest, y) } else { (rest, half) };
        a > b || (or_equal && a == b)
    };
    if is_above_half(rest, false) {
        rest -= y;
        if is_above_half(rest, true) {
            rest -= y;
        }
    }
    if x.is_sign_negative() { -rest } else { rest }
}

/// A polynomial; the coefficient of the highest power is first.
fn polynomial(x: f64, coefficients: &[f64]) -> f64 {
    coefficients.iter().fold(0.0, |sum, it| sum * x + it)
}

/// The gamma function: the rational approximation of the Cephes library between two and three, and Stirling's formula for large
/// numbers. Compat: the same approximation as in Go, so that digits agree.
fn gamma(x: f64) -> f64 {
    const P: [f64; 7] = [
        1.601_195_224_767_518_6e-4,
        1.191_351_470_065_863_8e-3,
        1.042_137_975_617_615_7e-2,
        4.763_678_004_571_372e-2,
        2.074_482_276_484_359_8e-1,
        4.942_148_268_014_971e-1,
        1.0,
    ];
    const Q: [f64; 8] = [
        -2.315_818_733_241_201_4e-5,
        5.396_055_804_933_034e-4,
        -4.456_419_138_517_973e-3,
        1.181_397_852_220_604_3e-2,
        3.582_363_986_054_986_5e-2,
        -2.345_917_957_182_433_5e-1,
        7.143_049_170_302_73e-2,
        1.0,
    ];
    if x.is_nan() || x == f64::NEG_INFINITY || (x < 0.0 && x.fract() == 0.0) {
        return f64::NAN;
    }
    if x == f64::INFINITY {
        return x;
    }
    if x == 0.0 {
        return f64::INFINITY.copysign(x);
    }
    let absolute = x.abs();
    if absolute > 33.0 {
        return if x > 0.0 { stirling(x) } else { reflected(absolute) };
    }
    // Shifts the argument into the interval.
    let (mut x, mut factor) = (x, 1.0);
    while x >= 3.0 {
        x -= 1.0;
        factor *= x;
    }
    while x < 2.0 {
        if x.abs() < 1e-9 {
            return match x == 0.0 {
                true => f64::INFINITY,
                false => factor / ((1.0 + 0.577_215_664_901_532_9 * x) * x),
            };
        }
        factor /= x;
        x += 1.0;
    }
    if x == 2.0 {
        return factor;
    }
    x -= 2.0;
    factor * polynomial(x, &P) / polynomial(x, &Q)
}

/// Gamma of a negative number with a large absolute value.
fn reflected(absolute: f64) -> f64 {
    let whole = absolute.floor();
    let sign = if whole % 2.0 == 0.0 { -1.0 } else { 1.0 };
    let mut rest = absolute - whole;
    if rest > 0.5 {
        rest = absolute - (whole + 1.0);
    }
    let sine = absolute * (PI * rest).sin();
    if sine == 0.0 {
        return f64::INFINITY * sign;
    }
    let stirling = stirling(absolute);
    if stirling.is_infinite() { 0.0 * sign } else { sign * PI / (sine.abs() * stirling) }
}

fn stirling(x: f64) -> f64 {
    const COEFFICIENTS: [f64; 5] = [
        7.873_113_957_930_937e-4,
        -2.295_499_616_133_781_3e-4,
        -2.681_326_178_057_812_4e-3,
        3.472_222_216_054_586_6e-3,
        8.333_333_333_334_823e-2,
    ];
    if x > 200.0 {
        return f64::INFINITY;
    }
    let w = 1.0 / x;
    let series = 1.0 + w * polynomial(w, &COEFFICIENTS);
    let exponential = x.exp();
    // The power overflows before the quotient does.
    let quotient = match x > 143.01608 {
        true => {
            let power = x.powf(0.5 * x - 0.25);
            power * (power / exponential)
        }
        false => x.powf(x - 0.5) / exponential,
    };
    TAU.sqrt() * quotient * series
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn remainder_is_exact() {
        for (x, y, expected) in [
            (5.0, 3.0, -1.0),
            (7.0, 4.0, -1.0),
            (-7.0, 4.0, 1.0),
            (5.5, 2.0, -0.5),
            (2.5, 1.0, 0.5),
            (3.0, 2.0, -1.0),
            (1e17, 3.0, 1.0),
            (1.0, f64::INFINITY, 1.0),
        ] {
            assert_eq!(remainder(x, y), expected, "{x} {y}");
        }
        assert!(remainder(1.0, 0.0).is_nan());
    }

    #[test]
    fn gamma_of_integers_is_the_factorial() {
        for (x, expected) in [(1.0, 1.0), (5.0, 24.0), (11.0, 3_628_800.0)] {
            assert_eq!(gamma(x), expected);
        }
        assert!(gamma(-1.0).is_nan());
        assert_eq!(gamma(200.5), f64::INFINITY);
        assert!((gamma(0.5) - PI.sqrt()).abs() < 1e-14);
    }
}
