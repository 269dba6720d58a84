//! Programs that change the machine.

use crate::classify::{
    Class::{Dangerous, ReadOnly, Suspicious, Unknown},
    table::{Operands, Tool, mark, output, tool},
};

#[rustfmt::skip]
pub(super) const TABLE: &[Tool] = &[
    tool(Dangerous, "mkfs mke2fs mkswap mkdosfs mkntfs newfs", "it makes a file system, which destroys what was there").operands(Operands::Ignored),
    tool(Dangerous, "wipefs blkdiscard sgdisk sfdisk fdisk gdisk cfdisk parted partprobe hdparm nvme badblocks cryptsetup lvremove vgremove pvremove mdadm zpool", "it changes disks").operands(Operands::Ignored),
    tool(Suspicious, "diskutil hdiutil losetup zfs btrfs lvcreate vgcreate pvcreate tune2fs fsck e2fsck resize2fs xfs_repair", "it changes file systems").operands(Operands::Ignored),
    tool(Suspicious, "mount umount swapon swapoff fusermount fusermount3 pivot_root switch_root", "it changes what is mounted").operands(Operands::Ignored).alone(ReadOnly),
    tool(Dangerous, "shutdown reboot halt poweroff init telinit", "it stops the machine").operands(Operands::Ignored),
    tool(Suspicious, "systemctl service launchctl rc-service initctl", "it steers the machine's services").operands(Operands::Ignored).alone(ReadOnly).first("-a -l -q -t: --all --failed --full --no-legend --no-pager --plain --quiet --system --type= --user --help --version").subcommands(&[
        tool(ReadOnly, "status list-units list-unit-files list-timers list-sockets is-active is-enabled is-failed show cat", "it lists services").operands(Operands::Ignored).only("-a -l -n: -o: -p: -q -t: --all --failed --full --lines= --no-legend --no-pager --output= --plain --property= --quiet --state= --system --type= --user --value -H: --host= -M: --machine=").marks(&[mark(Suspicious, "-H --host -M --machine", "it talks to another machine")]),
        tool(Dangerous, "poweroff reboot halt kexec suspend hibernate emergency rescue isolate soft-reboot", "it stops the machine").operands(Operands::Ignored),
        tool(Suspicious, "start stop restart reload enable disable mask unmask edit daemon-reload set-property kill revert link", "it steers the machine's services").operands(Operands::Ignored),
    ]),
    tool(ReadOnly, "journalctl", "it shows the system's log").operands(Operands::Ignored).only("-a -b? -c: -e -f -F: -g: -k -l -m -n? -N -o: -p: -q -r -S: -t: -u: -U: -x --all --after-cursor= --boot=? --case-sensitive=? --catalog --cursor= --disk-usage --dmesg --facility= --field= --fields --follow --full --grep= --header --identifier= --lines=? --list-boots --local --merge --no-full --no-hostname --no-pager --no-tail --output= --output-fields= --pager-end --priority= --quiet --reverse --show-cursor --since= --system --unit= --until= --user --user-unit= --utc --verify --help --version --vacuum-size= --vacuum-time= --vacuum-files= --rotate --flush --relinquish-var --smart-relinquish-var --setup-keys --update-catalog --root= --image= -M: --machine= --cursor-file=").marks(&[
        mark(Dangerous, "--vacuum-size --vacuum-time --vacuum-files --rotate --flush --relinquish-var --smart-relinquish-var", "it tampers with the system's logs"),
        mark(Unknown, "--setup-keys --update-catalog --root --image -M --machine --cursor-file", "it changes something, or reads elsewhere"),
    ]),
    tool(Dangerous, "auditctl auditd logrotate", "it tampers with the system's logs").operands(Operands::Ignored),
    tool(Suspicious, "logger", "it writes to the system's log").operands(Operands::Ignored),
    tool(Dangerous, "insmod rmmod modprobe kexec", "it changes the running kernel").operands(Operands::Ignored),
    tool(Suspicious, "sysctl", "it changes the running kernel").operands(Operands::Ignored).first("-a -n -e -N --all --values --names -w -p? --write --load=?").alone(ReadOnly),
    tool(ReadOnly, "lsmod modinfo", "it lists modules of the kernel").operands(Operands::Ignored).only("-0 -a -d -F: -k: -l -n -p --author --description --field= --filename --license --parameters"),
    tool(Dangerous, "setenforce aa-disable aa-teardown apparmor_parser semanage setsebool", "it takes down the machine's protection").operands(Operands::Ignored),
    tool(Dangerous, "ringfence", "a command in the fence may not steer the fence").operands(Operands::Ignored).alone(ReadOnly).first("--help --version").subcommands(&[
        tool(ReadOnly, "check doctor version help --version --help", "it asks the fence").operands(Operands::Ignored).only("--json --approval= --sandbox= --shell= --cwd= -C: --no-rules --help"),
    ]),
    tool(Suspicious, "useradd userdel usermod groupadd groupdel groupmod adduser deluser addgroup passwd chpasswd chage chsh chfn visudo vipw newgrp gpasswd dscl", "it changes who may use the machine").operands(Operands::Ignored),
    tool(Suspicious, "crontab at batch atd anacron", "it makes something run later").operands(Operands::Ignored).marks(&[]),
    tool(Unknown, "kill", "it stops processes").operands(Operands::Ignored),
    tool(Suspicious, "pkill killall killall5 skill xkill", "it stops processes by name").operands(Operands::Ignored),
    tool(Suspicious, "setcap prlimit renice", "it changes the rights of programs or processes").operands(Operands::Ignored),
    tool(ReadOnly, "getcap", "it prints the rights of programs").operands(Operands::Named).only("-h -n -r -v"),
    tool(Suspicious, "update-alternatives ldconfig update-initramfs update-grub grub-install dracut efibootmgr mokutil dpkg-reconfigure timedatectl hwclock localectl hostnamectl loginctl", "it changes the machine's settings").operands(Operands::Ignored),
    tool(Suspicious, "xdg-open open xdotool ydotool wmctrl xclip xsel pbcopy pbpaste wl-copy wl-paste", "it steers the desktop").operands(Operands::Ignored),
    tool(Unknown, "tmux screen dtach abduco zellij", "it keeps programs running in the background").operands(Operands::Ignored),
    tool(Suspicious, "gcore ptrace process_vm_readv reptyr injcode", "it reaches into other processes").operands(Operands::Ignored),
    tool(Unknown, "ffmpeg convert magick pandoc pdftotext gs wkhtmltopdf", "it converts files and can write anywhere").operands(Operands::Ignored).marks(&[output("-o --output")]),
];
