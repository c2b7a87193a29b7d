//! Numbers as Go prints them, in JSON and as keys.

/// A number as `encoding/json` prints it; none for infinities and NaN.
pub(super) fn json(number: f64) -> Option<String> {
    let size = number.abs();
    if !number.is_finite() {
        return None;
    }
    if size != 0.0 && !(1e-6..1e21).contains(&size) {
        let text = format!("{number:e}");
        return Some(match text.contains("e-") {
            true => text,
            false => text.replace('e', "e+"),
        });
    }
    Some(format!("{number}"))
}

/// A key as `strconv.FormatFloat(number, 'g', -1, 32)` prints it.
///
/// Compat: `sigs.k8s.io/yaml` formats keys with 32 bits, so digits are lost.
pub(super) fn key(number: f64) -> String {
    let short = number as f32;
    if !short.is_finite() {
        let name = if short.is_nan() { ".nan" } else { ".inf" };
        return format!("{}{name}", if short < 0.0 { "-" } else { "" });
    }
    let scientific = format!("{short:e}");
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    if (-4..6).contains(&exponent) {
        return format!("{short}");
    }
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{mantissa}e{sign}{:02}", exponent.abs())
}
