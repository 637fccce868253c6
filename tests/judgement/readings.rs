// tests/judgement/readings.rs: what is wrong with it, or not, stands in truth.tsv.
// readings: reads the counters of all houses of a town, checks them and computes what each street used.
use std::collections::BTreeMap;
use std::thread::sleep;
use std::time::Duration;

#[derive(Clone, Copy)]
struct Reading {
    street: u32,
    hour: u32,
    value: f64,
}

struct Meters {
    seed: u64,
    left: u32,
}

impl Meters {
    fn new(readings: u32) -> Meters {
        Meters { seed: 78, left: readings }
    }
    fn announced(&self) -> usize {
        self.left as usize
    }
    fn next(&mut self) -> Option<Reading> {
        if self.left == 0 {
            return None;
        }
        self.left -= 1;
        self.seed = self.seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        let r = (self.seed >> 33) as u32;
        Some(Reading { street: r % 60, hour: r / 7 % 8760, value: f64::from(r % 1000) / 10.0 })
    }
}

struct Year {
    readings: Vec<Reading>,
    refused: u32,
}

impl Year {
    fn for_readings(readings: usize) -> Year {
        Year { readings: Vec::with_capacity(readings), refused: 0 }
    }
    fn accept(&mut self, r: Reading) {
        if r.value > 99.5 {
            self.refused += 1;
        } else {
            self.readings.push(r);
        }
    }
    fn used(&self, from: u32, to: u32) -> BTreeMap<u32, f64> {
        let mut sums = BTreeMap::new();
        for r in self.readings.iter().filter(|r| r.hour >= from && r.hour < to) {
            *sums.entry(r.street).or_insert(0.0) += r.value;
        }
        sums
    }
}

fn read_year(meters: &mut Meters) -> Year {
    let mut year = Year::for_readings(meters.announced());
    let mut n = 0;
    while let Some(r) = meters.next() {
        year.accept(r);
        n += 1;
        if n % 20_000 == 0 {
            sleep(Duration::from_millis(3));
        }
    }
    year
}

fn scale() -> u32 {
    let text = std::env::args().nth(1).or_else(|| std::env::var("SCALE").ok());
    text.and_then(|t| t.parse().ok()).unwrap_or(1)
}

fn main() {
    let mut meters = Meters::new(6_000_000);
    let year = read_year(&mut meters);
    let mut check = 0.0;
    for month in 0..12 * scale() {
        let from = month % 12 * 730;
        check += year.used(from, from + 730).values().sum::<f64>();
        sleep(Duration::from_millis(25));
    }
    println!("{} readings, {} refused, check {:.1}", year.readings.len(), year.refused, check);
}
