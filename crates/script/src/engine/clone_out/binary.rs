//! Binary data on its way out: buffers, and the typed arrays and views that look at them.

use std::rc::Rc;

use super::super::clone_fault::CloneFault;
use super::super::quickjs::{Kind, Val};
use super::{Out, Outcome};
use crate::value::ViewKind;
use crate::value::wire::Tag;

impl Out<'_> {
    pub(super) fn buffer(&mut self, value: &Val) -> Outcome {
        self.writer.tag(Tag::Buffer)?;
        let writer = &mut self.writer;
        let written = value.with_buffer(|bytes| writer.block(bytes));
        Ok(written
            .map_err(|_| CloneFault::refused("a detached ArrayBuffer cannot leave the script"))??)
    }

    pub(super) fn typed_array(&mut self, value: &Val, kind: u8, depth: usize) -> Outcome {
        let detached = |_| CloneFault::refused("a detached typed array cannot leave the script");
        let (buffer, offset, _) = value.typed_array_buffer().map_err(detached)?;
        // The engine's own word for the length is that from before the buffer was resized.
        let length = size(
            &self
                .primordials
                .array_length
                .call(value, &[])
                .map_err(detached)?,
        )?;
        self.view(kind, &buffer, offset, length, depth)
    }

    pub(super) fn data_view(&mut self, value: &Val, depth: usize) -> Outcome {
        let primordials = Rc::clone(&self.primordials);
        let detached = |_| CloneFault::refused("a detached DataView cannot leave the script");
        let buffer = primordials.view_buffer.call(value, &[]).map_err(detached)?;
        let number = |getter: &Val| size(&getter.call(value, &[]).map_err(detached)?);
        let offset = number(&primordials.view_offset)?;
        let length = number(&primordials.view_length)?;
        self.view(ViewKind::DataView as u8, &buffer, offset, length, depth)
    }

    fn view(
        &mut self,
        kind: u8,
        buffer: &Val,
        offset: usize,
        length: usize,
        depth: usize,
    ) -> Outcome {
        self.writer.tag(Tag::View)?;
        self.writer.byte(kind)?;
        self.writer.uint(offset as u64)?;
        self.writer.uint(length as u64)?;
        self.object(buffer, depth + 1)
    }
}

/// A number of bytes.
fn size(number: &Val) -> Result<usize, CloneFault> {
    match number.kind() {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a length"
        )]
        Kind::Number(number) => Ok(number as usize),
        _ => Err(CloneFault::refused("a broken view")),
    }
}
