//! A part of a compiled mode that is decoded when it is first used: most gates do not match an event.

use serde::de::{DeserializeOwned, Visitor};
use serde::ser::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::cell::RefCell;
use std::fmt;
use std::marker::PhantomData;
use std::mem::ManuallyDrop;
use std::ops::Deref;
use std::sync::{Arc, OnceLock};

/// Bytes that deferred values share while they are decoded.
type SharedBytes = ManuallyDrop<Option<Arc<Vec<u8>>>>;

thread_local! {
    /// Not dropped with the thread: registering that takes six system calls. [`decode_shared`] leaves nothing here.
    static SHARED: RefCell<SharedBytes> = const { RefCell::new(ManuallyDrop::new(None)) };
}

/// A value, or the bytes that it is decoded from.
///
/// Whoever reads the bytes compares their checksum, and whoever writes them decodes them once.
#[derive(Clone)]
pub struct Deferred<T> {
    value: OnceLock<Box<T>>,
    /// Empty if the value was not decoded.
    bytes: SharedPart,
}

/// A part of shared bytes.
#[derive(Clone, Default)]
struct SharedPart {
    whole: Option<Arc<Vec<u8>>>,
    start: u32,
    length: u32,
}

/// Runs `decode` with bytes that deferred values in them share, so that none needs a copy.
pub fn decode_shared<T>(whole: &Arc<Vec<u8>>, decode: impl FnOnce(&[u8]) -> T) -> T {
    let share = |bytes| drop(ManuallyDrop::into_inner(SHARED.replace(ManuallyDrop::new(bytes))));
    share(Some(Arc::clone(whole)));
    let decoded = decode(whole);
    share(None);
    decoded
}

impl SharedPart {
    fn of(bytes: &[u8]) -> Self {
        SHARED.with_borrow(|whole| Self::within(whole.as_ref()?, bytes)).unwrap_or_else(|| Self {
            whole: Some(Arc::new(bytes.to_vec())),
            start: 0,
            length: u32::try_from(bytes.len()).unwrap_or_default(),
        })
    }

    /// The place of `bytes` in `whole`, if it lies there.
    fn within(whole: &Arc<Vec<u8>>, bytes: &[u8]) -> Option<Self> {
        let start = bytes.as_ptr().addr().checked_sub(whole.as_ptr().addr())?;
        let end = start.checked_add(bytes.len()).filter(|end| *end <= whole.len())?;
        let length = u32::try_from(end - start).ok()?;
        Some(Self { whole: Some(Arc::clone(whole)), start: u32::try_from(start).ok()?, length })
    }

    fn get(&self) -> &[u8] {
        let (start, length) = (self.start as usize, self.length as usize);
        self.whole.as_ref().and_then(|whole| whole.get(start..start + length)).unwrap_or_default()
    }
}

impl<T: DeserializeOwned + Default> Deferred<T> {
    /// Changes the value.
    pub fn change(&mut self, change: impl FnOnce(&mut T)) {
        let mut value = self.value.take().unwrap_or_else(|| Box::new(self.decoded()));
        change(&mut value);
        *self = Self { value: value.into(), bytes: SharedPart::default() };
    }

    /// Whether both are decoded from the same bytes.
    pub fn has_bytes_of(&self, other: &Self) -> bool {
        self.bytes.length == other.bytes.length && self.bytes.length > 0 && self.bytes.get() == other.bytes.get()
    }

    fn decoded(&self) -> T {
        postcard::from_bytes(self.bytes.get()).unwrap_or_default()
    }
}

impl<T: DeserializeOwned + Default> Deref for Deferred<T> {
    type Target = T;

    fn deref(&self) -> &T {
        self.value.get_or_init(|| Box::new(self.decoded()))
    }
}

impl<T> From<T> for Deferred<T> {
    fn from(value: T) -> Self {
        Self { value: Box::new(value).into(), bytes: SharedPart::default() }
    }
}

impl<T: Default> Default for Deferred<T> {
    fn default() -> Self {
        T::default().into()
    }
}

impl<T: DeserializeOwned + Default + PartialEq> PartialEq for Deferred<T> {
    fn eq(&self, other: &Self) -> bool {
        self.has_bytes_of(other) || **self == **other
    }
}

impl<T: DeserializeOwned + Default + fmt::Debug> fmt::Debug for Deferred<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<T: DeserializeOwned + Default + Serialize> Serialize for Deferred<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.bytes.length > 0 {
            return serializer.serialize_bytes(self.bytes.get());
        }
        serializer.serialize_bytes(&postcard::to_stdvec(&**self).map_err(S::Error::custom)?)
    }
}

impl<'de, T> Deserialize<'de> for Deferred<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_bytes(EncodedBytes(PhantomData))
    }
}

struct EncodedBytes<T>(PhantomData<T>);

impl<T> Visitor<'_> for EncodedBytes<T> {
    type Value = Deferred<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("bytes")
    }

    fn visit_bytes<E>(self, bytes: &[u8]) -> Result<Deferred<T>, E> {
        Ok(Deferred { value: OnceLock::new(), bytes: SharedPart::of(bytes) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_decoded_when_it_is_used() {
        let value = Deferred::from(vec!["a".to_owned(), "b".to_owned()]);
        let encoded = Arc::new(postcard::to_stdvec(&value).unwrap());
        let read = |bytes: &[u8]| postcard::from_bytes::<Deferred<Vec<String>>>(bytes).unwrap();
        for mut again in [read(&encoded), decode_shared(&encoded, read)] {
            assert!(again.value.get().is_none() && again.has_bytes_of(&read(&encoded)) && !again.has_bytes_of(&value));
            assert_eq!(postcard::to_stdvec(&again).unwrap(), **encoded);
            assert_eq!(again, value);
            again.change(|value| value.push("c".to_owned()));
            assert_eq!(*again, ["a", "b", "c"]);
            assert_ne!(again, value);
        }
    }

    #[test]
    fn bytes_that_cannot_be_decoded_are_a_default_value() {
        let damaged: Deferred<Vec<String>> = postcard::from_bytes(&[2, 9, 9]).unwrap();
        assert!(damaged.is_empty());
    }
}
