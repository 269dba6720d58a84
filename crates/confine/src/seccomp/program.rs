//! From a table to what the kernel runs: a program of its packet filter.

use std::collections::BTreeMap;

use super::{Answer, Entry, SeccompError, When};

#[cfg(target_arch = "x86_64")]
const NATIVE_ARCH: u32 = 0xc000_003e;
#[cfg(target_arch = "aarch64")]
const NATIVE_ARCH: u32 = 0xc000_00b7;
/// Numbers at and above this one are the x32 table of an x86-64 kernel.
#[cfg(target_arch = "x86_64")]
pub(super) const X32_BIT: u32 = 0x4000_0000;

/// Offsets in `struct seccomp_data`.
const OFFSET_NR: u32 = 0;
const OFFSET_ARCH: u32 = 4;
const OFFSET_ARGS: u32 = 16;

const LOAD: u16 = 0x20; // BPF_LD | BPF_W | BPF_ABS
const AND: u16 = 0x54; // BPF_ALU | BPF_AND | BPF_K
const JUMP_EQ: u16 = 0x15; // BPF_JMP | BPF_JEQ | BPF_K
const JUMP_GE: u16 = 0x35; // BPF_JMP | BPF_JGE | BPF_K
const JUMP: u16 = 0x05; // BPF_JMP | BPF_JA
const RETURN: u16 = 0x06; // BPF_RET | BPF_K

const fn op(code: u16, k: u32) -> libc::sock_filter {
    libc::sock_filter {
        code,
        jt: 0,
        jf: 0,
        k,
    }
}

const fn jump(code: u16, k: u32, jt: u8, jf: u8) -> libc::sock_filter {
    libc::sock_filter { code, jt, jf, k }
}

impl Answer {
    const fn word(self) -> u32 {
        match self {
            Self::Allow => libc::SECCOMP_RET_ALLOW,
            Self::Errno(number) => libc::SECCOMP_RET_ERRNO | (number.cast_unsigned() & 0xffff),
            Self::KillProcess => libc::SECCOMP_RET_KILL_PROCESS,
            Self::Notify => libc::SECCOMP_RET_USER_NOTIF,
        }
    }
}

/// The program of a table.
pub(super) fn assemble(
    entries: &[Entry],
    otherwise: Answer,
) -> Result<Vec<libc::sock_filter>, SeccompError> {
    let mut program = vec![
        op(LOAD, OFFSET_ARCH),
        jump(JUMP_EQ, NATIVE_ARCH, 1, 0),
        op(RETURN, Answer::KillProcess.word()),
        op(LOAD, OFFSET_NR),
    ];
    #[cfg(target_arch = "x86_64")]
    program.extend([
        jump(JUMP_GE, X32_BIT, 0, 1),
        op(RETURN, Answer::KillProcess.word()),
    ]);
    // A search tree over the numbers: when a filter is installed the kernel walks it once for
    // every system call there is, and that is most of what installing costs.
    let mut by_number: BTreeMap<u32, Vec<libc::sock_filter>> = BTreeMap::new();
    for entry in entries {
        entry.assemble(by_number.entry(entry.number()?).or_default())?;
    }
    let leaves: Vec<(u32, Vec<libc::sock_filter>)> = by_number.into_iter().collect();
    program.extend(search(&leaves, op(RETURN, otherwise.word())));
    if program.len() > 4096 {
        return Err(SeccompError::TooLong(program.len()));
    }
    Ok(program)
}

/// Code that finds the leaf of the number in the accumulator, and goes through it.
fn search(
    leaves: &[(u32, Vec<libc::sock_filter>)],
    otherwise: libc::sock_filter,
) -> Vec<libc::sock_filter> {
    match leaves {
        [] => vec![otherwise],
        [(number, leaf)] => {
            let mut code = vec![jump(JUMP_EQ, *number, 1, 0), otherwise];
            code.extend(leaf);
            code.push(otherwise);
            code
        }
        _ => {
            let (low, high) = leaves.split_at(leaves.len() / 2);
            let (low_code, high_code) = (search(low, otherwise), search(high, otherwise));
            // Conditional jumps reach 255 instructions, this one reaches all.
            let over = op(JUMP, u32::try_from(low_code.len()).unwrap_or(u32::MAX));
            let mut code = vec![jump(JUMP_GE, high[0].0, 0, 1), over];
            code.extend(low_code);
            code.extend(high_code);
            code
        }
    }
}

impl Entry {
    fn number(&self) -> Result<u32, SeccompError> {
        u32::try_from(self.syscall).map_err(|_| SeccompError::NoSuchCall(self.syscall))
    }

    /// Appends this entry to the leaf of its system call.
    fn assemble(&self, leaf: &mut Vec<libc::sock_filter>) -> Result<(), SeccompError> {
        let answer = op(RETURN, self.answer.word());
        let argument = |arg: u8| {
            if arg < 6 {
                Ok(op(LOAD, OFFSET_ARGS + 8 * u32::from(arg)))
            } else {
                Err(SeccompError::NoSuchArgument {
                    syscall: self.syscall,
                    arg,
                })
            }
        };
        match self.when {
            When::Always => leaf.push(answer),
            When::ArgEq { arg, value } => {
                leaf.extend([argument(arg)?, jump(JUMP_EQ, value, 0, 1), answer]);
            }
            When::ArgMaskedEq { arg, mask, value } => {
                leaf.extend([
                    argument(arg)?,
                    op(AND, mask),
                    jump(JUMP_EQ, value, 0, 1),
                    answer,
                ]);
            }
            When::ArgHasAny { arg, mask } => {
                leaf.extend([
                    argument(arg)?,
                    op(AND, mask),
                    jump(JUMP_EQ, 0, 1, 0),
                    answer,
                ]);
            }
            When::BothMaskedEq([first, second]) => {
                leaf.extend([
                    argument(first.arg)?,
                    op(AND, first.mask),
                    jump(JUMP_EQ, first.value, 0, 4),
                    argument(second.arg)?,
                    op(AND, second.mask),
                    jump(JUMP_EQ, second.value, 0, 1),
                    answer,
                ]);
            }
        }
        Ok(())
    }
}
