//! The inputs of a run, by name, and the checks that every engine makes before it starts.

use super::bound::{Bound, PartlyBound};
use super::error::RunError;
use super::promises;
use crate::buffer::AnyBuffer;
use crate::externs::{ExternDef, ExternFault};
use crate::ids::{IdVec, ImageId};
use crate::ops::BinOp;
use crate::pipeline::{ImageDef, ParamDef, PipelineData};
use crate::value::{Scalar, binary};
use std::collections::BTreeMap;

/// Images and parameters by name.
#[derive(Clone, Debug, Default)]
pub struct Inputs {
    images: BTreeMap<String, AnyBuffer>,
    params: BTreeMap<String, Scalar>,
}

impl Inputs {
    /// Inputs without images and parameters.
    pub fn new() -> Inputs {
        Inputs::default()
    }
    /// Gives an image; a second one of the name replaces the first.
    pub fn image(mut self, name: impl Into<String>, buffer: impl Into<AnyBuffer>) -> Inputs {
        self.images.insert(name.into(), buffer.into());
        self
    }
    /// Gives a parameter; a second one of the name replaces the first.
    pub fn param(mut self, name: impl Into<String>, value: impl Into<Scalar>) -> Inputs {
        self.params.insert(name.into(), value.into());
        self
    }
    /// Checks that there is a right buffer for every image and a legal value for every parameter, and nothing else.
    ///
    /// # Errors
    /// The first that is missing, unknown, of another type or dimensions, or outside its range or promise; or every
    /// rule that a buffer breaks.
    pub fn bind(&self, pipeline: &PipelineData) -> Result<Bound, RunError> {
        self.check_names(pipeline)?;
        let images: IdVec<_, _> =
            pipeline.images.ids().map(|id| self.bind_image(pipeline, id)).collect::<Result<_, _>>()?;
        promises::check(pipeline, &|id| Some(&images[id]))?;
        let params = pipeline.params.iter().map(|def| self.bind_param(def)).collect::<Result<_, _>>()?;
        let bound = Bound { images, params };
        bound.check_inputs(pipeline)?;
        Ok(bound)
    }

    /// The image given under this name.
    pub fn get(&self, image: &str) -> Option<&AnyBuffer> {
        self.images.get(image)
    }
    /// The parameter given under this name.
    pub fn get_param(&self, param: &str) -> Option<Scalar> {
        self.params.get(param).copied()
    }
    /// The names of the images given.
    pub fn image_names(&self) -> impl Iterator<Item = &str> {
        self.images.keys().map(String::as_str)
    }
    /// The names of the parameters given.
    pub fn param_names(&self) -> impl Iterator<Item = &str> {
        self.params.keys().map(String::as_str)
    }
    /// The parameters alone.
    pub fn without_images(&self) -> Inputs {
        self.without(|_| true)
    }
    /// The inputs but for the images whose names `is_left_out` says.
    pub fn without(&self, is_left_out: impl Fn(&str) -> bool) -> Inputs {
        let (mut images, params) = (self.images.clone(), self.params.clone());
        images.retain(|name, _| !is_left_out(name));
        Inputs { images, params }
    }
    /// The inputs that the pipeline reads.
    pub fn restricted(&self, pipeline: &PipelineData) -> Inputs {
        let (mut images, mut params) = (self.images.clone(), self.params.clone());
        images.retain(|name, _| pipeline.images.iter().any(|i| i.name == *name));
        params.retain(|name, _| pipeline.params.iter().any(|p| p.name == *name));
        Inputs { images, params }
    }

    /// Checks that the pipeline reads all that was given.
    ///
    /// # Errors
    /// The first name that is not one of an image or a parameter.
    pub fn check_names(&self, pipeline: &PipelineData) -> Result<(), RunError> {
        let is_given = |(id, i): &(ImageId, &ImageDef)| !pipeline.is_result(*id) || self.images.contains_key(&i.name);
        let given = pipeline.images.enumerate().filter(is_given);
        let known_images: Vec<String> = given.map(|(_, i)| i.name.clone()).collect();
        if let Some(image) = self.images.keys().find(|name| !known_images.contains(name)) {
            return Err(RunError::UnknownImage { image: image.clone(), known: known_images });
        }
        let known_params: Vec<String> = pipeline.params.iter().map(|p| p.name.clone()).collect();
        if let Some(param) = self.params.keys().find(|name| !known_params.contains(name)) {
            return Err(RunError::UnknownParam { param: param.clone(), known: known_params });
        }
        Ok(())
    }

    /// The images that were given, and a legal value for every parameter. Images may be missing, but not wrong.
    ///
    /// # Errors
    /// As for [`Inputs::bind`], but for images that were not given; rules are not checked.
    pub fn bind_partly(&self, pipeline: &PipelineData) -> Result<PartlyBound, RunError> {
        self.check_names(pipeline)?;
        let bind = |id: ImageId| match self.images.contains_key(&pipeline.images[id].name) {
            true => self.bind_image(pipeline, id).map(Some),
            false => Ok(None),
        };
        let images: IdVec<_, Option<AnyBuffer>> = pipeline.images.ids().map(bind).collect::<Result<_, _>>()?;
        promises::check(pipeline, &|id| images[id].as_ref())?;
        let params = pipeline.params.iter().map(|def| self.bind_param(def)).collect::<Result<_, _>>()?;
        Ok(PartlyBound { images, params })
    }

    fn bind_image(&self, pipeline: &PipelineData, id: ImageId) -> Result<AnyBuffer, RunError> {
        let def = &pipeline.images[id];
        let image = def.name.clone();
        let Some(buffer) = self.images.get(&image) else {
            let results = |e: &&ExternDef| e.images.contains(&Some(id));
            let stage = pipeline.externs.iter().find(results);
            return Err(stage.map_or(RunError::MissingImage { image }, |e| e.fault(ExternFault::Alone)));
        };
        if buffer.ty() != def.ty {
            return Err(RunError::ImageType { image, expected: def.ty, found: buffer.ty() });
        }
        if buffer.dims().len() != def.dims {
            return Err(RunError::ImageDims { image, expected: def.dims, found: buffer.dims().len() });
        }
        Ok(buffer.clone())
    }

    fn bind_param(&self, def: &ParamDef) -> Result<Scalar, RunError> {
        let param = def.name.clone();
        let Some(value) = self.params.get(&param).copied().or(def.default) else {
            return Err(RunError::MissingParam { param });
        };
        if value.ty() != def.ty {
            return Err(RunError::ParamType { param, expected: def.ty, found: value.ty() });
        }
        // A NaN is within no range, so ask what must hold.
        let holds = |op, bound: Option<Scalar>| bound.is_none_or(|b| binary(op, value, b).as_bool());
        if !holds(BinOp::Ge, def.min) || !holds(BinOp::Le, def.max) {
            return Err(RunError::ParamRange { param, value, min: def.min, max: def.max });
        }
        Ok(value)
    }
}
