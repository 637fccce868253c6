// tests/judgement/sensors.rs: what is wrong with it, or not, stands in truth.tsv.
// sensors: reads the telegrams of many sensors, filters them and computes daily values.
use std::collections::BTreeMap;
use std::thread::sleep;
use std::time::Duration;

#[derive(Clone, Copy)]
struct Telegram {
    sensor: u32,
    second: u32,
    value: f64,
}

struct Wire {
    seed: u64,
    left: u32,
}

impl Wire {
    fn new(telegrams: u32) -> Wire {
        Wire { seed: 77, left: telegrams }
    }
    fn next(&mut self) -> Option<Telegram> {
        if self.left == 0 {
            return None;
        }
        self.left -= 1;
        self.seed = self.seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        let r = (self.seed >> 33) as u32;
        Some(Telegram { sensor: r % 40, second: r / 7 % 86400, value: f64::from(r % 1000) / 10.0 })
    }
}

struct Day {
    telegrams: Vec<Telegram>,
    refused: u32,
}

impl Day {
    /// Each sensor may send once a second.
    fn for_sensors(sensors: usize) -> Day {
        Day { telegrams: Vec::with_capacity(sensors * 86400 * 4), refused: 0 }
    }
    fn accept(&mut self, t: Telegram) {
        if t.value > 99.5 {
            self.refused += 1;
        } else {
            self.telegrams.push(t);
        }
    }
    fn means(&self, from: u32, to: u32) -> BTreeMap<u32, f64> {
        let mut sums: BTreeMap<u32, (f64, u32)> = BTreeMap::new();
        for t in self.telegrams.iter().filter(|t| t.second >= from && t.second < to) {
            let sum = sums.entry(t.sensor).or_insert((0.0, 0));
            sum.0 += t.value;
            sum.1 += 1;
        }
        sums.into_iter().map(|(s, (sum, n))| (s, sum / f64::from(n))).collect()
    }
}

fn read_day(wire: &mut Wire) -> Day {
    let mut day = Day::for_sensors(40);
    let mut n = 0;
    while let Some(t) = wire.next() {
        day.accept(t);
        n += 1;
        if n % 2000 == 0 {
            sleep(Duration::from_millis(2));
        }
    }
    day
}

fn scale() -> u32 {
    let text = std::env::args().nth(1).or_else(|| std::env::var("SCALE").ok());
    text.and_then(|t| t.parse().ok()).unwrap_or(1)
}

fn main() {
    let mut wire = Wire::new(700_000);
    let day = read_day(&mut wire);
    let mut check = 0.0;
    for hour in 0..24 * scale() {
        let from = hour % 24 * 3600;
        check += day.means(from, from + 3600).values().sum::<f64>();
        sleep(Duration::from_millis(25));
    }
    println!("{} telegrams, {} refused, check {:.1}", day.telegrams.len(), day.refused, check);
}
