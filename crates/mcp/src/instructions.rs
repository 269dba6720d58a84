//! What a model is told about these tools as a whole. Short: it is part of every conversation.

/// When to use which tool. Below 800 tokens; a test counts.
pub(crate) const INSTRUCTIONS: &str = "\
These tools run commands and scripts on the user's machine, inside a fence. Commands may write in the workspace and \
their own /tmp only; the network is off unless the user opened it; keys and credentials cannot be read.

Choosing a tool
- bash: one command, or several joined with && and pipes. The first choice.
- bash with run_in_background: servers, watchers, long builds. It returns a task id at once; a server it starts answers \
on localhost in later calls. Wait with bash_task_output (waitMs, with waitFor or a pattern) instead of sleeping or \
asking again and again. End it with bash_task_stop.
- exec_command, then write_stdin: programs that ask or are typed to (a REPL, a debugger, an installer). They run on a \
terminal; \"\\u0003\" interrupts; ask for the screen of full-screen programs.
- apply_patch: change files; all of the patch is applied, or nothing. Prefer it to sed and here-documents.
- file_search: find files by a part of their path.
- run_script: several steps whose results you need not read one by one: loops, filters, many calls at once. It is the \
body of an async function in TypeScript: `const r = await tools.exec({command: [\"git\", \"diff\", \"--stat\"]}); return \
r.stdout.split(\"\\n\").length;` `tools.search(\"words\")` finds what else there is. Return only what you need.
- run_code: pure computation in JavaScript or TypeScript, without files or network.

When something is refused
- A reply with `denials` says what the fence refused and what would allow it. Find a way inside the fence, or tell the \
user what is needed. Trying the same in other words does not help: other spellings are judged alike.
- An error that says a person was asked, or could not be asked, names a rule and the command with which the user can \
allow it. Show that to the user and go on with something else.
- A command that exits with another code than 0 is a result, not an error: read its output.

Long output is cut in the middle; the whole is a resource (ringfence://output/NAME, readable in ranges) and a file that \
later commands can read.";

#[cfg(test)]
mod tests {
    use super::INSTRUCTIONS;

    /// Tokenisers make about a token of four letters of English; this counts each word's pieces and each sign.
    #[test]
    fn they_are_short() {
        let words = INSTRUCTIONS.split(|c: char| !c.is_alphanumeric());
        let pieces: usize = words.map(|word| word.len().div_ceil(6)).sum();
        let signs = INSTRUCTIONS
            .chars()
            .filter(|c| !c.is_alphanumeric() && !c.is_whitespace())
            .count();
        assert!(pieces + signs < 800, "{pieces} and {signs}");
    }
}
