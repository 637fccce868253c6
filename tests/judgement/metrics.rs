// tests/judgement/metrics.rs: what is wrong with it, or not, stands in truth.tsv.
//! metrics: keeps a sliding window of samples for each series and raises alerts on it.
use std::collections::{BTreeMap, VecDeque};

const WINDOW: u64 = 1200;

struct Sample {
    at: u64,
    value: f64,
}

#[derive(Default)]
struct Series {
    window: VecDeque<Sample>,
    sum: f64,
    alerts: u32,
}

struct Store {
    series: BTreeMap<String, Series>,
}

fn noise(a: u64) -> f64 {
    let x = a.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let x = (x ^ (x >> 31)).wrapping_mul(0x94d0_49bb_1331_11eb);
    ((x >> 40) as f64) / 16_777_216.0
}

impl Series {
    fn push(&mut self, at: u64, value: f64) {
        self.window.push_back(Sample { at, value });
        self.sum += value;
    }

    fn expire(&mut self, now: u64) {
        while let Some(first) = self.window.front() {
            if first.at + WINDOW > now {
                break;
            }
            self.sum -= first.value;
            self.window.pop_front();
        }
    }

    fn check(&mut self, value: f64) {
        let mean = self.sum / self.window.len() as f64;
        if self.window.len() > 60 && value > mean * 1.37 {
            self.alerts += 1;
        }
    }
}

impl Store {
    fn record(&mut self, name: &str, at: u64, value: f64) {
        if !self.series.contains_key(name) {
            self.series.insert(name.to_string(), Series::default());
        }
        if let Some(s) = self.series.get_mut(name) {
            s.push(at, value);
            s.expire(at);
            s.check(value);
        }
    }

    fn busiest(&self) -> Option<(&String, &Series)> {
        self.series.iter().max_by_key(|(_, s)| s.alerts)
    }
}

fn main() {
    let mut store = Store { series: BTreeMap::new() };
    let names: Vec<String> = (0..2400)
        .map(|i| format!("datacentre{}/host{:03}/metric{}", i % 3, i / 8, i % 8))
        .collect();
    for now in 0..2600u64 {
        for (i, name) in names.iter().enumerate() {
            // a third of the series report every second, the others every third one
            if i % 3 != 0 && (now + i as u64) % 3 != 0 {
                continue;
            }
            let value = 40.0 + 50.0 * noise(now * 4096 + i as u64);
            store.record(name, now, value);
        }
    }
    let samples: usize = store.series.values().map(|s| s.window.len()).sum();
    if let Some((name, s)) = store.busiest() {
        println!("{samples} samples in the windows, most alerts: {name} ({})", s.alerts);
    }
}
