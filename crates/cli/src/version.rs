//! Which program this is: version, commit, target and features.

use std::process::ExitCode;

use crate::paint;

/// What was built in.
const FEATURES: &[(&str, bool)] = &[("telemetry", cfg!(feature = "telemetry"))];

/// Prints it, in one line or with everything.
pub(crate) fn print(verbose: bool) -> ExitCode {
    paint::line(concat!("ringfence ", env!("CARGO_PKG_VERSION")));
    if verbose {
        let features: Vec<&str> = FEATURES
            .iter()
            .filter_map(|(name, is_on)| is_on.then_some(*name))
            .collect();
        let features = match features.as_slice() {
            [] => "none".to_owned(),
            some => some.join(" "),
        };
        for (name, value) in [
            ("commit", env!("BUILT_COMMIT")),
            ("target", env!("BUILT_TARGET")),
            ("profile", env!("BUILT_PROFILE")),
            ("features", &features),
        ] {
            paint::line(&format!("{name}: {value}"));
        }
    }
    ExitCode::SUCCESS
}
