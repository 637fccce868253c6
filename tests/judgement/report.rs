// tests/judgement/report.rs: what is wrong with it, or not, stands in truth.tsv.
// report: writes the yearly report of a library as one text, book by book.
use std::collections::BTreeMap;
use std::thread::sleep;
use std::time::Duration;

struct Book {
    title: String,
    shelf: u32,
    loans: Vec<u32>,
}

struct Library {
    books: Vec<Book>,
}

impl Library {
    fn open(books: u32) -> Library {
        let mut list = Vec::with_capacity(books as usize);
        for n in 0..books {
            let loans = (0..250).map(|day| n.wrapping_mul(2654435761) >> 8 ^ day).collect();
            list.push(Book { title: format!("the history of the year {}", n), shelf: n % 37, loans });
        }
        Library { books: list }
    }
    fn by_shelf(&self) -> BTreeMap<u32, Vec<&Book>> {
        let mut shelves: BTreeMap<u32, Vec<&Book>> = BTreeMap::new();
        for book in &self.books {
            shelves.entry(book.shelf).or_default().push(book);
        }
        shelves
    }
}

fn book_line(book: &Book) -> String {
    let often = book.loans.iter().filter(|l| **l % 11 == 0).count();
    format!("  {:<40} shelf {:>3} lent {:>5} times\n", book.title, book.shelf, often)
}

fn write_shelf(text: String, shelf: u32, books: &[&Book]) -> String {
    let mut text = format!("{}shelf {}\n", text, shelf);
    for book in books {
        text = format!("{}{}", text, book_line(book));
    }
    text
}

fn write_report(library: &Library) -> String {
    let mut text = String::from("yearly report\n");
    for (shelf, books) in library.by_shelf() {
        text = write_shelf(text, shelf, &books);
    }
    text
}

fn check(text: &str) -> u64 {
    text.bytes().fold(0u64, |sum, b| sum.wrapping_mul(31).wrapping_add(u64::from(b)))
}

fn scale() -> u32 {
    let text = std::env::args().nth(1).or_else(|| std::env::var("SCALE").ok());
    text.and_then(|t| t.parse().ok()).unwrap_or(1)
}

fn main() {
    let library = Library::open(9_000);
    let mut sum = 0u64;
    let mut size = 0;
    for _ in 0..scale() {
        let text = write_report(&library);
        sum ^= check(&text);
        size = text.len();
        sleep(Duration::from_millis(100));
    }
    println!("{} books, {} bytes, check {:x}", library.books.len(), size, sum);
}
