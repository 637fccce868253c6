// tests/judgement/outline.rs: what is wrong with it, or not, stands in truth.tsv.
// outline: makes the table of contents of many documents; each heading knows the heading above it.
use std::cell::RefCell;
use std::rc::Rc;
use std::thread::sleep;
use std::time::Duration;

struct Heading {
    title: String,
    text: Vec<u8>,
    above: Option<Rc<RefCell<Heading>>>,
    below: Vec<Rc<RefCell<Heading>>>,
}

type Link = Rc<RefCell<Heading>>;

fn heading(title: String, text: usize) -> Link {
    let text = vec![title.len() as u8; text];
    Rc::new(RefCell::new(Heading { title, text, above: None, below: Vec::new() }))
}

fn attach(parent: &Link, child: Link) {
    child.borrow_mut().above = Some(Rc::clone(parent));
    parent.borrow_mut().below.push(child);
}

fn read_document(number: u32) -> Link {
    let root = heading(format!("document {}", number), 200);
    for chapter in 0..12 {
        let part = heading(format!("chapter {}", chapter), 1000);
        for section in 0..10 {
            attach(&part, heading(format!("section {}.{}", chapter, section), 4000));
        }
        attach(&root, part);
    }
    root
}

fn path(link: &Link) -> String {
    let node = link.borrow();
    match &node.above {
        Some(above) => format!("{} / {}", path(above), node.title),
        None => node.title.clone(),
    }
}

fn contents(link: &Link, lines: &mut Vec<String>) -> usize {
    lines.push(path(link));
    let node = link.borrow();
    let mut bytes = node.text.iter().filter(|b| **b > 8).count();
    for below in &node.below {
        bytes += contents(below, lines);
    }
    bytes
}

fn handle(number: u32) -> usize {
    let document = read_document(number);
    let mut lines = Vec::new();
    let bytes = contents(&document, &mut lines);
    sleep(Duration::from_millis(12));
    bytes + lines.len()
}

fn scale() -> u32 {
    let text = std::env::args().nth(1).or_else(|| std::env::var("SCALE").ok());
    text.and_then(|t| t.parse().ok()).unwrap_or(1)
}

fn main() {
    let documents = 120 * scale();
    let mut sum = 0;
    for number in 0..documents {
        sum += handle(number);
    }
    println!("{} documents, check {}", documents, sum);
}
