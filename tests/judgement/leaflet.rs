// tests/judgement/leaflet.rs: what is wrong with it, or not, stands in truth.tsv.
// leaflet: writes the programme of a festival as one text, concert by concert.
use std::collections::BTreeMap;
use std::thread::sleep;
use std::time::Duration;

struct Concert {
    title: String,
    hall: u32,
    visitors: Vec<u32>,
}

struct Festival {
    concerts: Vec<Concert>,
}

impl Festival {
    fn open(concerts: u32) -> Festival {
        let mut list = Vec::with_capacity(concerts as usize);
        for n in 0..concerts {
            let visitors = (0..250).map(|day| n.wrapping_mul(2654435761) >> 8 ^ day).collect();
            list.push(Concert { title: format!("the symphony of number {}", n), hall: n % 37, visitors });
        }
        Festival { concerts: list }
    }
    fn by_hall(&self) -> BTreeMap<u32, Vec<&Concert>> {
        let mut halls: BTreeMap<u32, Vec<&Concert>> = BTreeMap::new();
        for concert in &self.concerts {
            halls.entry(concert.hall).or_default().push(concert);
        }
        halls
    }
}

fn concert_line(concert: &Concert) -> String {
    let regular = concert.visitors.iter().filter(|v| **v % 11 == 0).count();
    format!("  {:<40} hall {:>3} has {:>5} guests\n", concert.title, concert.hall, regular)
}

fn write_hall(text: String, hall: u32, concerts: &[&Concert]) -> String {
    let mut text = text + &format!("hall {}\n", hall);
    for concert in concerts {
        text = text + &concert_line(concert);
    }
    text
}

fn write_leaflet(festival: &Festival) -> String {
    let mut text = String::from("programme\n");
    for (hall, concerts) in festival.by_hall() {
        text = write_hall(text, hall, &concerts);
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
    let festival = Festival::open(11_000);
    let mut sum = 0u64;
    let mut size = 0;
    for _ in 0..25 * scale() {
        let text = write_leaflet(&festival);
        sum = sum.wrapping_add(check(&text));
        size = text.len();
        sleep(Duration::from_millis(35));
    }
    println!("{} concerts, {} bytes, check {:x}", festival.concerts.len(), size, sum);
}
