// tests/targets/malloc/rust/boxes.rs: a Rust program that leaks three boxes and frees a vector; main is a closure's grandchild.
struct Page {
    bytes: [u8; 1235],
}

#[inline(never)]
fn leak_pages(count: usize) -> u64 {
    let mut sum = 0;
    for i in 0..count {
        let page: &'static mut Page = Box::leak(Box::new(Page { bytes: [i as u8; 1235] }));
        sum += std::hint::black_box(page).bytes[7] as u64;
    }
    sum
}

#[inline(never)]
fn fill_numbers() -> Vec<u64> {
    let mut numbers: Vec<u64> = Vec::with_capacity(1237);
    numbers.push(std::hint::black_box(7));
    numbers
}

fn main() {
    let sum = leak_pages(3);
    let numbers = fill_numbers();
    if sum + numbers[0] == 12345 {
        std::process::exit(1);
    }
}
