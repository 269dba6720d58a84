//! Containers. Whoever may talk to their daemon may do anything on the machine.

use crate::classify::{
    Class::{Suspicious, Unknown},
    table::{Operands, Tool, mark, tool},
};

#[rustfmt::skip]
pub(super) const TABLE: &[Tool] = &[
    tool(Unknown, "docker podman nerdctl", "it steers containers").alone(crate::classify::Class::ReadOnly)
        .first("-H: -c: -D -l: -v --host= --context= --config= --debug --log-level= --tls --tlsverify --version --help")
        .marks(&[mark(Suspicious, "-H -c --host --context --config", "it talks to another daemon")])
        .subcommands(&[
            tool(Unknown, "ps images logs inspect version info stats top port diff history search events context system network volume image container compose build pull tag start stop restart wait rename pause unpause create rm rmi kill buildx manifest", "it steers containers").operands(Operands::Ignored).marks(PRIVILEGED),
            tool(Unknown, "run exec", "it runs a program in a container").operands(Operands::Ignored).marks(PRIVILEGED),
            tool(Suspicious, "push login logout cp export save load import commit swarm service stack secret config plugin node trust update attach", "it moves data, publishes or handles credentials").operands(Operands::Ignored),
        ]),
    tool(Unknown, "docker-compose podman-compose", "it steers containers").operands(Operands::Ignored),
    tool(Suspicious, "runc crun containerd ctr crictl lxc lxd machinectl virsh qemu-system-x86_64 kind minikube k3s", "it steers containers or virtual machines").operands(Operands::Ignored),
];

#[rustfmt::skip]
const PRIVILEGED: &[crate::classify::table::Mark] = &[
    mark(Suspicious, "-v --volume --mount --volumes-from --device", "it gives the container a part of this machine"),
    mark(Suspicious, "--privileged --cap-add --pid --ipc --userns --security-opt --net --network --uts --cgroupns", "it takes the container's walls away"),
];
