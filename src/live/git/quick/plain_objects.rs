//! Reads objects without the risk of blocking: gix opens whatever has the right name, even a pipe.

#![expect(clippy::disallowed_methods, reason = "does I/O")]

use std::cell::{OnceCell, RefCell};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use gix::objs::{Data, Find, Kind, decode};
use gix::zlib::{Inflate, Status};
use gix::{error, hash, oid};

use crate::disk;

/// The largest header of an object.
const HEADER: usize = 64;

/// The objects in the folder of a repository.
pub(super) struct PlainObjects {
    folder: PathBuf,
    inflate: RefCell<Inflate>,
    packs: OnceCell<ObjectPacks>,
}

/// Where objects are that have no file of their own.
enum ObjectPacks {
    /// Nowhere.
    Missing,
    /// In packs, all of them files.
    Packs(Box<gix::odb::Handle>),
    /// Somewhere unusual.
    Unusual,
}

impl PlainObjects {
    /// The objects of the repository in the folder `common`.
    pub(super) fn of(common: &Path) -> Self {
        Self { folder: common.join("objects"), inflate: RefCell::default(), packs: OnceCell::new() }
    }

    fn packs(&self) -> &ObjectPacks {
        self.packs.get_or_init(|| {
            let names = ["alternates", "http-alternates"].map(|name| self.folder.join("info").join(name));
            if names.iter().any(|path| path.symlink_metadata().is_ok()) {
                return ObjectPacks::Unusual;
            }
            let Ok(packs) = self.folder.join("pack").read_dir() else { return ObjectPacks::Unusual };
            let mut is_empty = true;
            for entry in packs {
                is_empty = false;
                if !entry.and_then(|entry| entry.file_type()).is_ok_and(|kind| kind.is_file()) {
                    return ObjectPacks::Unusual;
                }
            }
            if is_empty {
                return ObjectPacks::Missing;
            }
            let packs = gix::odb::at(&self.folder, hash::Kind::Sha1);
            packs.map_or(ObjectPacks::Unusual, |packs| ObjectPacks::Packs(Box::new(packs)))
        })
    }

    /// Inflates a loose object.
    fn inflated(&self, bytes: &[u8], buffer: &mut Vec<u8>) -> gix::Result<Kind> {
        let mut inflate = self.inflate.borrow_mut();
        inflate.reset();
        let mut start = [0; HEADER];
        let (status, read, written) = inflate.prefix(bytes, &mut start)?;
        let start = start.get(..written).unwrap_or_default();
        let (kind, size, header) = decode::loose_header(start)?;
        let size = usize::try_from(size).ok().filter(|size| *size as u64 <= disk::LARGEST);
        let size = size.ok_or_else(|| error::message("an object is too large"))?;
        let body = start.get(header..).unwrap_or_default();
        if status == Status::StreamEnd {
            buffer.clear();
            buffer.extend_from_slice(body);
        } else if body.len() <= size {
            inflate.rest(bytes.get(read..).unwrap_or_default(), start, header, buffer, size)?;
        }
        if buffer.len() == size { Ok(kind) } else { Err(error::message("an object has the wrong size").into()) }
    }
}

impl Find for PlainObjects {
    fn try_find<'a>(&self, id: &oid, buffer: &'a mut Vec<u8>) -> gix::Result<Option<Data<'a>>> {
        let name = id.to_hex().to_string();
        let (folder, file) = name.split_at(2);
        match disk::read(&self.folder.join(folder).join(file), disk::LARGEST) {
            Ok(bytes) => {
                let kind = self.inflated(&bytes, buffer)?;
                Ok(Some(Data { kind, object_hash: id.kind(), data: buffer }))
            }
            Err(error) if error.kind() == ErrorKind::NotFound => match self.packs() {
                ObjectPacks::Missing => Ok(None),
                ObjectPacks::Packs(packs) => packs.try_find(id, buffer),
                ObjectPacks::Unusual => Err(error::message("objects are in an unusual place").into()),
            },
            Err(_) => Err(error::message("an object cannot be read").into()),
        }
    }
}
