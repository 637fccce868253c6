// tests/judgement/stream.rs: what is wrong with it, or not, stands in truth.tsv.
//! stream: takes sensor readings in, enriches them and writes them to the archive.
use std::collections::{HashMap, VecDeque};
use std::fs::File;
use std::io::{BufWriter, Write};

struct Reading {
    sensor: u32,
    at: u64,
    unit: String,
    values: Vec<f64>,
}

struct Rng(u64);

impl Rng {
    fn next(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) % limit
    }
}

struct Gateway {
    rng: Rng,
    units: [&'static str; 4],
}

impl Gateway {
    fn poll(&mut self, at: u64) -> Vec<Reading> {
        let burst = 5 + self.rng.next(5) as usize;
        let mut batch = Vec::with_capacity(burst);
        for _ in 0..burst {
            let sensor = self.rng.next(2000) as u32;
            let base = self.rng.next(1000) as f64;
            batch.push(Reading {
                sensor,
                at,
                unit: self.units[sensor as usize % 4].to_string(),
                values: (0..24).map(|k| base + k as f64 / 10.0).collect(),
            });
        }
        batch
    }
}

#[derive(Default)]
struct Calibration {
    offset: HashMap<u32, f64>,
}

impl Calibration {
    fn load() -> Self {
        let mut offset = HashMap::with_capacity(2000);
        for id in 0..2000u32 {
            offset.insert(id, f64::from(id % 17) / 100.0);
        }
        Calibration { offset }
    }

    fn apply(&self, r: &mut Reading) {
        let off = self.offset.get(&r.sensor).copied().unwrap_or(0.0);
        for v in &mut r.values {
            *v = (*v + off) * 1.0003;
        }
    }
}

struct Archive {
    out: BufWriter<File>,
    written: u64,
    checksum: f64,
}

impl Archive {
    fn create(path: &std::path::Path) -> std::io::Result<Self> {
        Ok(Archive { out: BufWriter::new(File::create(path)?), written: 0, checksum: 0.0 })
    }

    fn store(&mut self, r: &Reading) -> std::io::Result<()> {
        write!(self.out, "{} {} {}", r.sensor, r.at, r.unit)?;
        for v in r.values.iter().step_by(4) {
            write!(self.out, " {v:.3}")?;
        }
        self.out.write_all(b"\n")?;
        self.written += 1;
        self.checksum += r.values[0];
        Ok(())
    }
}

struct Pipeline {
    pending: VecDeque<Reading>,
    calibration: Calibration,
    longest: usize,
}

impl Pipeline {
    fn accept(&mut self, batch: Vec<Reading>) {
        self.pending.extend(batch);
        self.longest = self.longest.max(self.pending.len());
    }

    fn archive_some(&mut self, archive: &mut Archive, limit: usize) -> std::io::Result<()> {
        for _ in 0..limit {
            let Some(mut reading) = self.pending.pop_front() else { break };
            self.calibration.apply(&mut reading);
            archive.store(&reading)?;
        }
        Ok(())
    }
}

fn main() -> std::io::Result<()> {
    let path = std::env::temp_dir().join(format!("archive-{}.txt", std::process::id()));
    let mut gateway = Gateway { rng: Rng(3), units: ["degrees celsius", "pascal", "lux", "millimetres per second"] };
    let mut pipeline = Pipeline { pending: VecDeque::new(), calibration: Calibration::load(), longest: 0 };
    let mut archive = Archive::create(&path)?;
    for tick in 0..80_000u64 {
        let batch = gateway.poll(tick);
        pipeline.accept(batch);
        pipeline.archive_some(&mut archive, 4)?;
    }
    while !pipeline.pending.is_empty() {
        pipeline.archive_some(&mut archive, 4)?;
    }
    archive.out.flush()?;
    println!("{} readings, up to {} waiting, checksum {:.1}", archive.written, pipeline.longest, archive.checksum);
    std::fs::remove_file(&path)
}
