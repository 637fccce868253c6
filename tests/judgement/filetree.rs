// tests/judgement/filetree.rs: what is wrong with it, or not, stands in truth.tsv.
// filetree: walks through the trees of many archives; each entry knows the folder above it.
use std::cell::RefCell;
use std::rc::{Rc, Weak};
use std::thread::sleep;
use std::time::Duration;

struct Entry {
    name: String,
    data: Vec<u8>,
    above: Option<Weak<RefCell<Entry>>>,
    below: Vec<Rc<RefCell<Entry>>>,
}

type Link = Rc<RefCell<Entry>>;

fn entry(name: String, data: usize) -> Link {
    let data = vec![name.len() as u8; data];
    Rc::new(RefCell::new(Entry { name, data, above: None, below: Vec::new() }))
}

fn attach(parent: &Link, child: Link) {
    child.borrow_mut().above = Some(Rc::downgrade(parent));
    parent.borrow_mut().below.push(child);
}

fn read_archive(number: u32) -> Link {
    let root = entry(format!("archive {}", number), 200);
    for folder in 0..200 {
        let part = entry(format!("folder {}", folder), 1000);
        for file in 0..20 {
            attach(&part, entry(format!("file {}.{}", folder, file), 4000));
        }
        attach(&root, part);
    }
    root
}

fn path(link: &Link) -> String {
    let node = link.borrow();
    match node.above.as_ref().and_then(|above| above.upgrade()) {
        Some(above) => format!("{} / {}", path(&above), node.name),
        None => node.name.clone(),
    }
}

fn list(link: &Link, lines: &mut Vec<String>) -> usize {
    lines.push(path(link));
    let node = link.borrow();
    let mut bytes = node.data.iter().filter(|b| **b > 8).count();
    for below in &node.below {
        bytes += list(below, lines);
    }
    bytes
}

fn handle(number: u32) -> usize {
    let archive = read_archive(number);
    let mut lines = Vec::new();
    let bytes = list(&archive, &mut lines);
    sleep(Duration::from_millis(50));
    bytes + lines.len()
}

fn scale() -> u32 {
    let text = std::env::args().nth(1).or_else(|| std::env::var("SCALE").ok());
    text.and_then(|t| t.parse().ok()).unwrap_or(1)
}

fn main() {
    let archives = 16 * scale();
    let mut sum = 0;
    for number in 0..archives {
        sum += handle(number);
    }
    println!("{} archives, check {}", archives, sum);
}
