//! Freezing what the caller gives: parameters and images, each known by its name.

use super::Freezer;
use crate::error::AlgorithmErrorKind;
use crate::ids::{ImageId, ParamId};
use crate::ops::BinOp;
use crate::param::{ImageBody, ParamData};
use crate::pipeline::{ImageDef, ParamDef};
use crate::promise::{CoordinatePromise, ValuePromise};
use crate::tuning::MAX_DIMS;
use crate::value::{Scalar, binary};
use std::rc::Rc;

impl Freezer {
    pub(super) fn image(&mut self, body: &Rc<ImageBody>) -> ImageId {
        if let Some(id) = self.result_row(body) {
            return id;
        }
        let id = self.image_row(body);
        if !self.image_bodies.iter().any(|(_, known)| Rc::ptr_eq(known, body)) {
            self.image_bodies.push((id, body.clone()));
        }
        id
    }

    fn image_row(&mut self, body: &ImageBody) -> ImageId {
        if let Some(&id) = self.images.get(&body.name).filter(|_| body.external.is_none()) {
            let known = &self.data.images[id];
            if (known.ty, known.dims) != (body.ty, body.dims) {
                self.mistake(body.at, AlgorithmErrorKind::ImageConflict { image: body.name.clone() });
            }
            self.promise(id, body);
            return id;
        }
        if body.dims > MAX_DIMS {
            let kind = AlgorithmErrorKind::TooManyDims { name: body.name.clone(), dims: body.dims };
            self.mistake(body.at, kind);
        }
        let values = ValuePromise::default();
        let (name, coordinates) = (body.name.clone(), Vec::new());
        let def = ImageDef { name, ty: body.ty, dims: body.dims, values, coordinates, at: body.at };
        let id = self.data.images.push(def);
        if body.external.is_none() {
            self.images.insert(body.name.clone(), id);
        }
        self.promise(id, body);
        id
    }

    /// Notes what is promised of an image's elements.
    fn promise(&mut self, id: ImageId, body: &ImageBody) {
        let promise = body.promise.get();
        let what = match promise {
            _ if promise.is_nothing() => return,
            _ if !body.ty.is_int() => format!("its elements are {}, and promises are of integers", body.ty),
            ValuePromise { grows: Some(dim), .. } if dim >= body.dims => format!("it has no dimension {dim}"),
            ValuePromise { range: Some((min, max)), .. } if min > max => format!("no element is in {min} to {max}"),
            _ => {
                let all = self.data.images[id].values.and(promise);
                self.data.images[id].values = all;
                return;
            }
        };
        self.mistake(body.at, AlgorithmErrorKind::Promise { image: body.name.clone(), what });
    }

    /// Notes the images that others hold coordinates of, among those that are read.
    pub(super) fn freeze_coordinates(&mut self) {
        for (id, body) in self.image_bodies.clone() {
            for (of, dim) in body.coordinates.borrow().iter() {
                let Some(&image) = self.images.get(of) else { continue };
                let what = match self.data.images[image].dims {
                    _ if !body.ty.is_int() => format!("its elements are {}, and promises are of integers", body.ty),
                    dims if *dim >= dims => format!("`{of}` has no dimension {dim}"),
                    _ => {
                        let (promise, all) = (CoordinatePromise { image, dim: *dim }, &mut self.data.images[id]);
                        if !all.coordinates.contains(&promise) {
                            all.coordinates.push(promise);
                        }
                        continue;
                    }
                };
                self.mistake(body.at, AlgorithmErrorKind::Promise { image: body.name.clone(), what });
            }
        }
    }

    pub(super) fn param(&mut self, data: &ParamData) -> ParamId {
        let name = data.name.to_string();
        let known = self.data.params.enumerate().find(|(_, p)| p.name == name).map(|(id, p)| (id, p.clone()));
        if let Some((id, known)) = known {
            if (known.ty, known.default, known.min, known.max) != (data.ty, data.default, data.min, data.max) {
                self.mistake(data.at, AlgorithmErrorKind::ParamConflict { param: name });
            }
            return id;
        }
        let def = ParamDef { name, ty: data.ty, default: data.default, min: data.min, max: data.max, at: data.at };
        self.check_param(&def);
        self.data.params.push(def)
    }

    fn check_param(&mut self, def: &ParamDef) {
        let in_order = |a: Option<Scalar>, b: Option<Scalar>| match (a, b) {
            (Some(a), Some(b)) => binary(BinOp::Le, a, b).as_bool(),
            _ => true,
        };
        let mut wrong = |what: String| {
            self.mistake(def.at, AlgorithmErrorKind::ParamRange { param: def.name.clone(), what });
        };
        if !in_order(def.min, def.max) {
            let (Some(low), Some(high)) = (def.min, def.max) else { return };
            wrong(format!("an empty range, {low} to {high}"));
        } else if let Some(value) = def.default
            && !(in_order(def.min, def.default) && in_order(def.default, def.max))
        {
            wrong(format!("a default outside its range, {value}"));
        }
    }
}
