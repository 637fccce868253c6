// tests/unit/symbolize/programs/shapes.rs: as shapes.cc, for rustc's two ways of mangling names.
use std::ffi::c_char;

extern "C" {
    fn record(marker: *const c_char);
}

pub mod shapes {
    use std::ffi::c_char;

    pub trait Measure {
        fn measure(&self) -> i32;
    }

    pub struct Circle<T> {
        pub radius: T,
    }

    #[inline(always)]
    pub fn area(radius: i32) -> i32 {
        unsafe { super::record(c"inlined".as_ptr() as *const c_char) }; // line:rust_area
        std::hint::black_box(radius * radius)
    }

    impl Measure for Circle<i32> {
        #[inline(never)]
        fn measure(&self) -> i32 {
            std::hint::black_box(2 * area(self.radius)) // line:rust_measure
        }
    }

    #[inline(never)]
    pub fn twice<T: Copy + std::ops::Add<Output = T>>(value: T) -> T {
        unsafe { super::record(c"generic".as_ptr() as *const c_char) }; // line:rust_generic
        std::hint::black_box(value + value)
    }
}

fn main() {
    use shapes::Measure;
    let circle = shapes::Circle { radius: 3 };
    std::hint::black_box(circle.measure());
    std::hint::black_box(shapes::twice(4i32));
    let add = |more: i32| {
        unsafe { record(c"closure".as_ptr()) }; // line:rust_closure
        std::hint::black_box(more)
    };
    std::hint::black_box(std::hint::black_box(add)(5));
}
