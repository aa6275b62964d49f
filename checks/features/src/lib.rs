//! Features of crates that others share, united.
//!
//! Cargo unites the features of a crate over all packages that it builds at once. A build of one package alone
//! therefore makes crates anew that a build of the workspace has made with more features. Packages that tests build
//! alone have this crate as a dev-dependency, so that both builds ask for the same. It has no code.
