//! Flags for the limits of functions.

use std::time::Duration;

use krm_run::Limits;

/// What a function may use.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Limits of a function")]
pub(crate) struct LimitFlags {
    /// Time limit of each function: 30s, 5m [default: 5m]
    #[arg(long, value_name = "TIME", value_parser = time)]
    timeout: Option<Duration>,

    /// Memory limit of containers, Wasm modules, scripts and policies: 512m, 2g [default: 2g]
    #[arg(long, value_name = "SIZE", value_parser = size)]
    memory: Option<u64>,

    /// Maximum number of processes in a container [default: 512]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pids: Option<u32>,
}

impl LimitFlags {
    pub(crate) fn limits(&self) -> Limits {
        let default = Limits::default();
        Limits {
            time: self.timeout.unwrap_or(default.time),
            memory: self.memory.unwrap_or(default.memory),
            processes: self.pids.unwrap_or(default.processes),
            ..default
        }
    }
}

/// `30s`, `5m`, `1h`, `500ms`; a number alone is seconds.
pub(crate) fn time(text: &str) -> Result<Duration, String> {
    let (number, unit) = parts(text);
    let scale = match unit {
        "" | "s" => 1.0,
        "ms" => 0.001,
        "m" => 60.0,
        "h" => 3600.0,
        _ => return Err("expected a duration such as 30s or 5m".to_owned()),
    };
    let seconds = number.parse::<f64>().ok().map(|number| number * scale);
    let time = seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    time.filter(|time| !time.is_zero())
        .ok_or_else(|| "expected a duration such as 30s or 5m".to_owned())
}

/// `512m`, `2g`, `1Gi`; a number alone is bytes.
pub(crate) fn size(text: &str) -> Result<u64, String> {
    let invalid = || "expected a size such as 512m or 2g".to_owned();
    let (number, unit) = parts(text);
    let unit = unit.to_ascii_lowercase();
    let shift = match unit.trim_end_matches("ib").trim_end_matches(['i', 'b']) {
        "" => 0,
        "k" => 10,
        "m" => 20,
        "g" => 30,
        _ => return Err(invalid()),
    };
    let number: u64 = number.parse().map_err(|_| invalid())?;
    number.checked_mul(1 << shift).filter(|size| *size > 0).ok_or_else(invalid)
}

fn parts(text: &str) -> (&str, &str) {
    let end = text.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(text.len());
    text.split_at(end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_and_sizes_have_units() {
        assert_eq!(time("30"), Ok(Duration::from_secs(30)));
        assert_eq!(time("1.5m"), Ok(Duration::from_secs(90)));
        assert_eq!(time("500ms"), Ok(Duration::from_millis(500)));
        assert_eq!(size("512m"), Ok(512 << 20));
        assert_eq!(size("2GiB"), Ok(2 << 30));
        assert_eq!(size("1Ki"), Ok(1 << 10));
        for text in ["", "0", "-1", "x", "5y", "1e400"] {
            assert!(time(text).is_err() && size(text).is_err(), "{text}");
        }
    }
}
