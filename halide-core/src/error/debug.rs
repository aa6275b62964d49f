//! `Debug` of errors: the text of their `Display`.

/// Implements `Debug` of the given types as what their `Display` writes.
///
/// Rust prints the `Debug` of an error that `main` returns or that `unwrap` meets. A reader needs the message there.
#[macro_export]
macro_rules! debug_is_display {
    ($($error:ty),+ $(,)?) => {$(
        impl ::std::fmt::Debug for $error {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                ::std::fmt::Display::fmt(self, f)
            }
        }
    )+};
}

pub(crate) use debug_is_display;
