//! The rules and presets about hosts that the configuration stands for.

use ringfence_policy::preset::Preset;
use ringfence_policy::rule::{Decision, HostPattern, Layer, Rule, Selector, Source};

use crate::config::NetworkConfig;

/// The rules that the configuration's lists of hosts stand for.
pub(crate) fn rules_of(config: &NetworkConfig) -> Vec<Rule> {
    let lists = [
        (&config.allow, Decision::Allow, "network.allow"),
        (&config.deny, Decision::Deny, "network.deny"),
    ];
    // The configuration has made sure that each can be read.
    let parse = |host: &String| HostPattern::parse(host).ok();
    let lists = lists.map(|(hosts, decision, key)| {
        let patterns: Vec<HostPattern> = hosts.iter().filter_map(parse).collect();
        (patterns, decision, key.to_owned())
    });
    let presets = presets_of(config).into_iter().map(|preset| {
        let key = format!("network.presets ({preset})");
        (preset.patterns().collect(), Decision::Allow, key)
    });
    let mut rules = Vec::new();
    for (patterns, decision, key) in lists.into_iter().chain(presets) {
        rules.extend(patterns.into_iter().enumerate().map(|(index, pattern)| {
            let source = Source {
                layer: Layer::User,
                file: key.clone(),
                line: index + 1,
            };
            Rule::new(Selector::Host(pattern), decision, source)
        }));
    }
    rules
}

/// The presets that the configuration names.
pub(crate) fn presets_of(config: &NetworkConfig) -> Vec<&'static Preset> {
    // The configuration has made sure that each is there.
    let named = config.presets.iter();
    named.filter_map(|name| Preset::of(name)).collect()
}
