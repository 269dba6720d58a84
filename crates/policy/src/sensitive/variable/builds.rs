//! What compilers and build tools load or run.

use super::{
    Passing::{Dropped, WithAll},
    Project::{MayNotSet, MaySet},
    Setting::{Asked, Unknown},
    VariableRow,
};

#[rustfmt::skip]
pub(super) const TABLE: &[VariableRow] = &[
    VariableRow { setting: Asked, passing: WithAll, project: MayNotSet,
        reason: "it names a program that builds run, by the user's own choice", names: "
        CC CXX CPP LD AR AS NM RANLIB STRIP OBJCOPY OBJDUMP FC F77 HOSTCC HOSTCXX BUILD_CC CC_FOR_BUILD RUSTC RUSTDOC RUSTFMT CARGO LEX YACC MAKE CMAKE NINJA PKG_CONFIG LLVM_CONFIG PROTOC" },
    VariableRow { setting: Unknown, passing: WithAll, project: MayNotSet,
        reason: "options of compilers, which builds need and of which some load plug-ins", names: "
        CFLAGS CXXFLAGS CPPFLAGS LDFLAGS FFLAGS LDLIBS RUSTFLAGS RUSTDOCFLAGS CARGO_ENCODED_RUSTFLAGS CARGO_ENCODED_RUSTDOCFLAGS CGO_CFLAGS CGO_CPPFLAGS CGO_CXXFLAGS CGO_LDFLAGS CGO_ENABLED
        PKG_CONFIG_PATH PKG_CONFIG_LIBDIR PKG_CONFIG_SYSROOT_DIR CMAKE_PREFIX_PATH CPATH C_INCLUDE_PATH CPLUS_INCLUDE_PATH LIBRARY_PATH SDKROOT MACOSX_DEPLOYMENT_TARGET" },
    VariableRow { setting: Unknown, passing: WithAll, project: MaySet,
        reason: "where a build puts what it makes, and for which machine", names: "CARGO_TARGET_DIR CARGO_BUILD_TARGET CARGO_BUILD_TARGET_DIR" },
    VariableRow { setting: Asked, passing: Dropped, project: MayNotSet,
        reason: "every call of a compiler goes through what it names", names: "
        RUSTC_WRAPPER RUSTC_WORKSPACE_WRAPPER RUSTC_LINKER CARGO_BUILD_* CARGO_TARGET_* CARGO_HOST_* CARGO_ALIAS_* CARGO_SOURCE_* CARGO_REGISTRIES_* CARGO_REGISTRY_* CARGO_PATCH_*
        CARGO_CREDENTIAL_* CARGO_UNSTABLE_* CARGO_PROFILE_* RUSTUP_DIST_SERVER RUSTUP_UPDATE_ROOT CCACHE_PREFIX CCACHE_PREFIX_CPP CCACHE_COMPILER CCACHE_CONFIGPATH CCACHE_PATH
        SCCACHE_CONF SCCACHE_SERVER_UDS DISTCC_* ICECC_* CMAKE_C_COMPILER_LAUNCHER CMAKE_CXX_COMPILER_LAUNCHER CMAKE_CUDA_COMPILER_LAUNCHER CMAKE_TOOLCHAIN_FILE CMAKE_PROJECT_INCLUDE*
        CMAKE_GENERATOR_INSTANCE" },
    VariableRow { setting: Asked, passing: Dropped, project: MayNotSet,
        reason: "a compiler finds its own parts elsewhere", names: "COMPILER_PATH GCC_EXEC_PREFIX GCC_COMPARE_DEBUG CCC_OVERRIDE_OPTIONS QA_OVERRIDE_GCC3_OPTIONS CLANG_MODULE_CACHE_PATH NVCC_PREPEND_FLAGS NVCC_APPEND_FLAGS" },
    VariableRow { setting: Asked, passing: Dropped, project: MayNotSet,
        reason: "a build tool reads more rules, or runs another shell", names: "
        MAKEFLAGS MAKEFILES GNUMAKEFLAGS MFLAGS MAKEOVERRIDES CONFIG_SITE CONFIG_SHELL ACLOCAL ACLOCAL_PATH AUTOCONF AUTOMAKE AUTOHEADER AUTOM4TE M4 M4PATH SCONSFLAGS BAZEL_SH BAZELISK_BASE_URL
        BAZELISK_HOME USE_BAZEL_VERSION BAZEL_REAL NINJAFLAGS GOFLAGS GOENV GOTOOLDIR GOCACHEPROG GOAUTH GCCGO GOEXPERIMENT GOTMPDIR GO111MODULE GOWORK" },
];
