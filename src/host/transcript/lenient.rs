//! JSON values of any type, of which only some types count.

use serde::de::{IgnoredAny, MapAccess, SeqAccess, Visitor};
use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

/// A type that is built from some types of JSON values; it has its default for all others.
pub(super) trait Lenient<'de>: Default {
    fn from_text(_: Cow<'de, str>) -> Self {
        Self::default()
    }

    fn from_flag(_: bool) -> Self {
        Self::default()
    }

    fn from_list<A: SeqAccess<'de>>(list: A) -> Result<Self, A::Error> {
        IgnoredAny.visit_seq(list).map(|_| Self::default())
    }

    fn from_object<A: MapAccess<'de>>(object: A) -> Result<Self, A::Error> {
        IgnoredAny.visit_map(object).map(|_| Self::default())
    }
}

pub(super) struct LenientVisitor<T>(pub PhantomData<T>);

impl<'de, T: Lenient<'de>> Visitor<'de> for LenientVisitor<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("any value")
    }

    fn visit_unit<E>(self) -> Result<T, E> {
        Ok(T::default())
    }

    fn visit_bool<E>(self, flag: bool) -> Result<T, E> {
        Ok(T::from_flag(flag))
    }

    fn visit_i64<E>(self, _: i64) -> Result<T, E> {
        Ok(T::default())
    }

    fn visit_u64<E>(self, _: u64) -> Result<T, E> {
        Ok(T::default())
    }

    fn visit_f64<E>(self, _: f64) -> Result<T, E> {
        Ok(T::default())
    }

    fn visit_str<E>(self, text: &str) -> Result<T, E> {
        Ok(T::from_text(Cow::Owned(text.to_owned())))
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<T, E> {
        Ok(T::from_text(Cow::Borrowed(text)))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<T, A::Error> {
        T::from_list(list)
    }

    fn visit_map<A: MapAccess<'de>>(self, object: A) -> Result<T, A::Error> {
        T::from_object(object)
    }
}

/// Implements `Deserialize` for types that are [`Lenient`].
macro_rules! deserialize_leniently {
    ($($name:ident $(<$a:lifetime>)?)*) => { $(
        impl<'de $(: $a, $a)?> serde::Deserialize<'de> for $name $(<$a>)? {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                deserializer.deserialize_any($crate::host::transcript::lenient::LenientVisitor(std::marker::PhantomData))
            }
        }
    )* };
}

pub(super) use deserialize_leniently;
