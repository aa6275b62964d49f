//! Freezing extern stages: those whose results somebody reads.

use super::Freezer;
use crate::error::AlgorithmErrorKind;
use crate::externs::{ExternDef, ExternInput, ExternNeeds, OpenExtern, OpenInput};
use crate::ids::ImageId;
use crate::param::ImageBody;
use crate::types::ScalarType;
use std::collections::BTreeSet;
use std::rc::Rc;

impl Freezer {
    /// The row of an image that stands for the results of a stage: one for each stage, whatever they are called.
    pub(super) fn result_row(&mut self, body: &Rc<ImageBody>) -> Option<ImageId> {
        let (stage, element) = body.external.as_ref()?;
        let same = |(_, known): &&(ImageId, Rc<ImageBody>)| {
            known.external.as_ref().is_some_and(|(s, e)| Rc::ptr_eq(s, stage) && e == element)
        };
        self.image_bodies.iter().find(same).map(|(id, _)| *id)
    }

    /// A row per stage, and names for its results that no other image has.
    pub(super) fn freeze_externs(&mut self) {
        let mut next = 0;
        let mut rows: Vec<*const crate::externs::OpenExtern> = Vec::new();
        while next < self.image_bodies.len() {
            let (id, body) = self.image_bodies[next].clone();
            next += 1;
            let Some((stage, element)) = &body.external else { continue };
            let row = match rows.iter().position(|known| *known == Rc::as_ptr(stage)) {
                Some(row) => row,
                None => {
                    rows.push(Rc::as_ptr(stage));
                    let mut inputs = Vec::new();
                    for input in &stage.inputs {
                        inputs.push(match input {
                            OpenInput::Func(func) => ExternInput::Func(self.funcs[&super::address::address(func)]),
                            OpenInput::Image(image) => ExternInput::Image(self.image(image)),
                        });
                    }
                    self.check_boxes(stage, &inputs);
                    let params = stage.params.iter().map(|param| self.param(param)).collect();
                    self.data.externs.push(ExternDef {
                        name: stage.name.clone(),
                        types: stage.types.clone(),
                        dims: stage.dims,
                        images: vec![None; stage.types.len()],
                        inputs,
                        params,
                        fns: stage.fns.clone(),
                        at: stage.at,
                    });
                    rows.len() - 1
                }
            };
            self.data.externs[row].images[*element] = Some(id);
        }
        self.name_results();
    }

    /// Checks what a stage says of its needs by index expressions.
    fn check_boxes(&mut self, stage: &OpenExtern, inputs: &[ExternInput]) {
        let ExternNeeds::Boxes(boxes) = &stage.fns.needs else { return };
        let name = || stage.name.clone();
        if boxes.len() != inputs.len() {
            let (boxes, inputs) = (boxes.len(), inputs.len());
            return self.mistake(stage.at, AlgorithmErrorKind::ExternBoxes { stage: name(), boxes, inputs });
        }
        let params: Vec<ScalarType> = stage.params.iter().map(|param| param.ty).collect();
        for (input, ends) in inputs.iter().zip(boxes) {
            let (dims, given) = (input.dims(&self.data), ends.len());
            let input = input.name(&self.data).to_string();
            if given != dims {
                let kind = AlgorithmErrorKind::ExternBoxDims { stage: name(), input: input.clone(), dims, given };
                self.mistake(stage.at, kind);
            }
            for (dim, (min, max)) in ends.iter().enumerate() {
                let mistake = [min, max].into_iter().find_map(|end| end.mistake(stage.dims, &params));
                if let Some(mistake) = mistake {
                    let kind = AlgorithmErrorKind::ExternEnd { stage: name(), input: input.clone(), dim, mistake };
                    self.mistake(stage.at, kind);
                }
            }
        }
    }

    fn name_results(&mut self) {
        let results: Vec<ImageId> = self.data.externs.iter().flat_map(|e| e.images.iter().flatten().copied()).collect();
        let others = self.data.images.enumerate().filter(|(id, _)| !results.contains(id));
        let mut taken: BTreeSet<String> = others.map(|(_, image)| image.name.clone()).collect();
        for id in results {
            let base = self.data.images[id].name.clone();
            let numbered = (1..).map(|n| format!("{base}${n}"));
            let name = std::iter::once(base.clone()).chain(numbered).find(|n| !taken.contains(n)).unwrap_or(base);
            taken.insert(name.clone());
            for image in self.data.images.iter_mut().skip(crate::ids::Id::index(id)).take(1) {
                image.name.clone_from(&name);
            }
        }
    }
}
