//! What clients of clouds, clusters, containers, databases and package managers run, and whom they obey.

use super::{Passing::Dropped, Project::MayNotSet, Setting::Asked, VariableRow};

#[rustfmt::skip]
pub(super) const TABLE: &[VariableRow] = &[
    VariableRow { setting: Asked, passing: Dropped, project: MayNotSet,
        reason: "it leads to an engine that runs programs on this machine", names: "
        DOCKER_HOST DOCKER_CONTEXT DOCKER_CONFIG DOCKER_CERT_PATH DOCKER_TLS* DOCKER_BUILDKIT_HOST BUILDKIT_HOST BUILDX_CONFIG CONTAINER_HOST CONTAINER_CONNECTION CONTAINERS_CONF* CONTAINERS_STORAGE_CONF
        CONTAINERS_REGISTRIES_CONF CONTAINERD_ADDRESS REGISTRY_AUTH_FILE COMPOSE_FILE LIBVIRT_DEFAULT_URI LIBPOD_* VAGRANT_*" },
    VariableRow { setting: Asked, passing: Dropped, project: MayNotSet,
        reason: "a client of a cluster or a cloud runs plug-ins, or programs that fetch credentials", names: "
        KUBECONFIG KUBE_EDITOR KUBECTL_EXTERNAL_DIFF KUBECTL_PLUGINS_PATH KREW_ROOT HELM_PLUGINS HELM_CONFIG_HOME HELM_DATA_HOME KUSTOMIZE_PLUGIN_HOME AWS_CONFIG_FILE
        AWS_SHARED_CREDENTIALS_FILE AWS_CONTAINER_CREDENTIALS_FULL_URI AWS_DATA_PATH CLOUDSDK_CONFIG CLOUDSDK_PYTHON* BOTO_CONFIG BOTO_PATH AZURE_CONFIG_DIR AZURE_EXTENSION_DIR
        GOOGLE_EXTERNAL_ACCOUNT_ALLOW_EXECUTABLES PULUMI_HOME" },
    VariableRow { setting: Asked, passing: Dropped, project: MayNotSet,
        reason: "a tool for set-ups reads other settings or plug-ins", names: "
        ANSIBLE_* TF_CLI_* TF_PLUGIN_CACHE_DIR TF_REATTACH_PROVIDERS TF_DATA_DIR TERRAFORM_CONFIG TERRAGRUNT_* PACKER_CONFIG PACKER_PLUGIN_PATH" },
    VariableRow { setting: Asked, passing: Dropped, project: MayNotSet,
        reason: "a client of a database reads other settings, or loads libraries", names: "
        PGSERVICEFILE PGSYSCONFDIR PSQLRC PSQL_EDITOR PSQL_HISTORY MYSQL_HOME MYSQL_TEST_LOGIN_FILE LIBMYSQL_PLUGINS LIBMYSQL_PLUGIN_DIR REDISCLI_RCFILE ODBCINI ODBCSYSINI ODBCINSTINI TNS_ADMIN ORACLE_HOME" },
    VariableRow { setting: Asked, passing: Dropped, project: MayNotSet,
        reason: "a package manager of the system reads other settings, which run programs", names: "
        APT_CONFIG DPKG_ROOT DPKG_ADMINDIR DPKG_HOOK_ACTION DEBCONF_* RPM_CONFIGDIR HOMEBREW_* NIX_PATH NIX_CONFIG NIX_USER_CONF_FILES NIX_CONF_DIR NIX_REMOTE NIXPKGS_CONFIG GUIX_PACKAGE_PATH" },
];
