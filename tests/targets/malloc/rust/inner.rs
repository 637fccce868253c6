// tests/targets/malloc/rust/inner.rs: a global allocator that is linked into the program: jemalloc, under the names that
// Rust's crates give it.
use std::alloc::{GlobalAlloc, Layout};

extern "C" {
    fn _rjem_malloc(size: usize) -> *mut u8;
    fn _rjem_calloc(count: usize, size: usize) -> *mut u8;
    fn _rjem_mallocx(size: usize, flags: i32) -> *mut u8;
    fn _rjem_realloc(block: *mut u8, size: usize) -> *mut u8;
    fn _rjem_sdallocx(block: *mut u8, size: usize, flags: i32);
}

struct Jemalloc;

fn flags(layout: &Layout) -> i32 {
    if layout.align() <= 16 { 0 } else { layout.align().trailing_zeros() as i32 }
}

unsafe impl GlobalAlloc for Jemalloc {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if flags(&layout) == 0 { _rjem_malloc(layout.size()) } else { _rjem_mallocx(layout.size(), flags(&layout)) }
    }
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        _rjem_calloc(1, layout.size())
    }
    unsafe fn realloc(&self, block: *mut u8, _: Layout, size: usize) -> *mut u8 {
        _rjem_realloc(block, size)
    }
    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        _rjem_sdallocx(block, layout.size(), flags(&layout))
    }
}

#[global_allocator]
static GLOBAL: Jemalloc = Jemalloc;

#[repr(align(64))]
struct Line([u8; 1216]);

#[inline(never)]
fn leak_pages() {
    for i in 0..3u8 {
        Box::leak(Box::new([i; 1235]));
    }
}

#[inline(never)]
fn leak_lines() {
    for i in 0..3u8 {
        Box::leak(Box::new(Line([i; 1216])));
    }
}

#[inline(never)]
fn fill_numbers() -> usize {
    let mut numbers = Vec::with_capacity(100);
    for i in 0..801u32 {
        numbers.push(i); // 400 bytes, moved to 800, 1600, 3200, 6400
    }
    numbers.len()
}

fn main() {
    leak_pages();
    leak_lines();
    std::process::exit(fill_numbers() as i32 - 801);
}
