//! What is known about commands of `cmd` and `PowerShell`.

use crate::{
    classify::{
        Class,
        Class::{Dangerous, ReadOnly, Safe, Suspicious, Unknown},
        table::{Operands, Tool, tool},
    },
    facts::Word,
};

#[rustfmt::skip]
pub(crate) const CMD: &[Tool] = &[
    tool(ReadOnly, "dir type echo cd chdir where whoami hostname ver vol tree find findstr fc more sort tasklist systeminfo", "it only looks").operands(Operands::Ignored),
    tool(Safe, "mkdir md git npm cargo go python node dotnet", "it changes the workspace").operands(Operands::Ignored),
    tool(Unknown, "copy move ren rename xcopy robocopy set", "it changes files").operands(Operands::Ignored),
    tool(Suspicious, "del erase rd rmdir reg schtasks sc net netsh taskkill attrib icacls takeown start call wmic powershell pwsh cmd mshta rundll32 regsvr32 cscript wscript certutil bitsadmin", "it deletes, changes the machine or runs something else").operands(Operands::Ignored),
    tool(Dangerous, "format diskpart vssadmin bcdedit cipher wevtutil shutdown", "it destroys, or tampers with logs").operands(Operands::Ignored),
];

#[rustfmt::skip]
pub(crate) const POWERSHELL: &[Tool] = &[
    tool(ReadOnly, "get-childitem gci ls dir get-content gc cat type get-location gl pwd get-item gi get-process gps ps get-date get-command gcm get-help help get-member gm select-string sls select-object select sort-object sort measure-object measure where-object format-table ft format-list fl group-object group compare-object test-path resolve-path rvpa write-output echo write-host out-string get-service get-variable set-location sl cd split-path join-path convertto-json convertfrom-json get-filehash", "it only looks").operands(Operands::Ignored),
    tool(Safe, "new-item ni mkdir git npm cargo go python node dotnet", "it changes the workspace").operands(Operands::Ignored),
    tool(Unknown, "copy-item cp copy move-item mv move rename-item ren set-content sc add-content ac out-file tee-object", "it changes files").operands(Operands::Ignored),
    tool(Suspicious, "remove-item rm ri del rd rmdir erase clear-content start-process saps start invoke-webrequest iwr curl wget invoke-restmethod irm set-executionpolicy new-service set-itemproperty sp register-scheduledtask new-object import-module stop-process kill add-type invoke-command icm enter-pssession cmd powershell pwsh reg net netsh", "it deletes, changes the machine or runs something else").operands(Operands::Ignored),
    tool(Dangerous, "invoke-expression iex format-volume clear-disk initialize-disk remove-partition clear-eventlog clear-history remove-eventlog stop-computer restart-computer set-mppreference", "it destroys, tampers with logs or runs what it is given").operands(Operands::Ignored),
];

/// Whether a deletion takes a whole drive or a home folder.
pub(crate) fn destroys(name: &str, words: &[Word]) -> Option<Class> {
    let deletes = matches!(
        name,
        "del" | "erase" | "rd" | "rmdir" | "rm" | "ri" | "remove-item"
    );
    let root = words.iter().skip(1).filter_map(Word::literal).any(|word| {
        let lower = word.to_ascii_lowercase().replace('/', "\\");
        let bare = lower.trim_end_matches(['\\', '*', '.']);
        let drive = bare.len() == 2 && bare.ends_with(':');
        let system = ["\\windows", "\\users", "\\program files"]
            .iter()
            .any(|s| bare.get(2..) == Some(s));
        drive || system || lower == "\\" || lower == "~" || lower == "\\*"
    });
    (deletes && root).then_some(Dangerous)
}
