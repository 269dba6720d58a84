//! Commands of Windows shells.

use crate::{
    classify::{Class, Findings, path, tables},
    facts::SimpleCommand,
    shell::ShellKind,
};

/// Windows shells: network paths are refused, few programs are known.
pub(super) fn judge_windows(
    command: &SimpleCommand,
    kind: ShellKind,
    text: &str,
    findings: &mut Findings,
) {
    if command.words.iter().any(path::is_unc) {
        return findings.whole(Class::Dangerous, text, "it uses a Windows network path");
    }
    let Some(program) = command.program() else {
        return;
    };
    let lower = program.to_ascii_lowercase();
    let name = lower.rsplit(['/', '\\']).next().unwrap_or(&lower);
    let name = name.strip_suffix(".exe").unwrap_or(name);
    let table = if kind == ShellKind::Cmd {
        tables::windows::CMD
    } else {
        tables::windows::POWERSHELL
    };
    match table.iter().find(|tool| tool.is_named(name)) {
        Some(tool) => {
            let class = tables::windows::destroys(name, &command.words).unwrap_or(tool.class);
            findings.add(class, text, tool.why);
        }
        None => findings.add(
            Class::Unknown,
            text,
            format!("`{name}` is not a program that is known"),
        ),
    }
}
