//! Boundary conditions: values of an image outside of its extents, each kind around the same row.

use halide::prelude::*;

fn main() -> Result<(), Error> {
    let input = ImageParam::new("input", I32, 1);
    let row = Buffer::from_slice([4], &[1, 2, 3, 4])?;
    let kinds = [
        ("repeat_edge", repeat_edge(&input)),
        ("repeat_image", repeat_image(&input)),
        ("mirror_image", mirror_image(&input)),
        ("mirror_interior", mirror_interior(&input)),
        ("constant_exterior", constant_exterior(&input, 0)),
    ];
    let x = Var::new("x");
    for (name, around) in kinds {
        let mut shown = Func::new("shown");
        shown[x] = around[x];
        let compiled = Pipeline::new([&shown])?.compile(&Schedule::new(), &Target::host())?;
        let out: Buffer<i32> = compiled.inputs().image(&input, &row).realize_region(&Region::of_spans([(-3, 10)]))?;
        println!("{name:>17}: {:?}", out.to_vec());
    }

    // Without one, a read outside is an error, before anything is computed.
    let mut bare = Func::new("bare");
    bare[x] = input[x - 1] + input[x + 1];
    let compiled = Pipeline::new([&bare])?.compile(&Schedule::new(), &Target::host())?;
    let error = compiled.inputs().image(&input, &row).realize::<i32>([4]).unwrap_err();
    println!("{:>17}: {error}", "none");
    Ok(())
}
