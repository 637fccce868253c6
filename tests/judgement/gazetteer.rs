// tests/judgement/gazetteer.rs: what is wrong with it, or not, stands in truth.tsv.
//! gazetteer: loads a place list and answers nearest-place queries from a grid.
use std::fs;
use std::io::{BufRead, BufReader, BufWriter, Write};
use std::path::Path;

struct RawRecord {
    fields: Vec<String>,
}

#[derive(Clone, Copy)]
struct Place {
    id: u32,
    lat: f32,
    lon: f32,
    population: u32,
}

struct Gazetteer {
    records: Vec<RawRecord>,
    places: Vec<Place>,
    grid: Vec<Vec<u32>>,
}

fn mix(a: u64) -> u64 {
    let x = a.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (x ^ (x >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 20
}

fn write_sample(path: &Path, count: u64) -> std::io::Result<()> {
    let mut out = BufWriter::new(fs::File::create(path)?);
    for id in 0..count {
        let h = mix(id + 1);
        writeln!(
            out,
            "{id}\tPlace {h:x}\tRegion {}\tDistrict of number {}\t{:.4}\t{:.4}\t{}\tEurope/Berlin",
            h % 16,
            h % 411,
            (h % 180_000) as f64 / 1000.0 - 90.0,
            (h / 7 % 360_000) as f64 / 1000.0 - 180.0,
            h % 90_000
        )?;
    }
    out.flush()
}

impl Gazetteer {
    fn load(path: &Path) -> std::io::Result<Self> {
        let mut g = Gazetteer { records: Vec::new(), places: Vec::new(), grid: vec![Vec::new(); 180 * 360] };
        for line in BufReader::new(fs::File::open(path)?).lines() {
            let line = line?;
            let fields = line.split('\t').map(str::to_string).collect();
            g.records.push(RawRecord { fields });
        }
        g.build_places();
        g.build_grid();
        Ok(g)
    }

    fn build_places(&mut self) {
        self.places.reserve_exact(self.records.len());
        for r in &self.records {
            if r.fields.len() < 8 {
                continue;
            }
            self.places.push(Place {
                id: r.fields[0].parse().unwrap_or(0),
                lat: r.fields[4].parse().unwrap_or(0.0),
                lon: r.fields[5].parse().unwrap_or(0.0),
                population: r.fields[6].parse().unwrap_or(0),
            });
        }
    }

    fn build_grid(&mut self) {
        for (i, p) in self.places.iter().enumerate() {
            self.grid[Self::cell(p.lat, p.lon)].push(i as u32);
        }
    }

    fn cell(lat: f32, lon: f32) -> usize {
        let row = ((lat + 90.0) as usize).min(179);
        let col = ((lon + 180.0) as usize).min(359);
        row * 360 + col
    }

    fn nearest(&self, lat: f32, lon: f32) -> Option<Place> {
        let centre = Self::cell(lat, lon) as i64;
        let mut best: Option<(f32, Place)> = None;
        for dr in -2..=2i64 {
            for dc in -2..=2i64 {
                let c = centre + dr * 360 + dc;
                if c < 0 || c >= self.grid.len() as i64 {
                    continue;
                }
                for &i in &self.grid[c as usize] {
                    let p = self.places[i as usize];
                    let d = (p.lat - lat).powi(2) + (p.lon - lon).powi(2);
                    if best.map_or(true, |(b, _)| d < b) {
                        best = Some((d, p));
                    }
                }
            }
        }
        best.map(|(_, p)| p)
    }
}

fn main() -> std::io::Result<()> {
    let path = std::env::temp_dir().join(format!("places-{}.tsv", std::process::id()));
    write_sample(&path, 260_000)?;
    let gazetteer = Gazetteer::load(&path)?;
    fs::remove_file(&path)?;
    let (mut people, mut ids) = (0u64, 0u64);
    for q in 0..1_500_000u64 {
        let h = mix(q + 77);
        let lat = (h % 1700) as f32 / 10.0 - 85.0;
        let lon = (h / 11 % 3500) as f32 / 10.0 - 175.0;
        if let Some(p) = gazetteer.nearest(lat, lon) {
            people += u64::from(p.population);
            ids ^= u64::from(p.id);
        }
    }
    println!("{} places, {people} people, ids {ids:x}", gazetteer.places.len());
    Ok(())
}
