// tests/judgement/contour.rs: what is wrong with it, or not, stands in truth.tsv.
//! contour: traces the contour lines of a height model, scales them to the page and writes SVG paths.
use std::fs::File;
use std::io::{BufWriter, Write};

#[derive(Clone, Copy)]
struct Point {
    x: f64,
    y: f64,
}

struct Line {
    level: i32,
    points: Vec<Point>,
}

struct Drawing {
    lines: Vec<Line>,
}

struct Bounds {
    min: Point,
    max: Point,
}

const SIZE: usize = 1200;

fn height(x: f64, y: f64) -> f64 {
    60.0 + 25.0 * (x / 61.0).sin() * (y / 47.0).cos() + 14.0 * ((x + y) / 23.0).sin() + 6.0 * (x / 9.0).cos()
}

fn load_model() -> Vec<f64> {
    let mut model = Vec::with_capacity(SIZE * SIZE);
    for row in 0..SIZE {
        for col in 0..SIZE {
            model.push(height(col as f64, row as f64));
        }
    }
    model
}

impl Drawing {
    fn trace_level(&mut self, model: &[f64], level: i32) {
        let l = f64::from(level);
        for row in 0..SIZE {
            let mut points: Vec<Point> = Vec::new();
            for col in 0..SIZE - 1 {
                let a = model[row * SIZE + col];
                let b = model[row * SIZE + col + 1];
                if (a - l) * (b - l) < 0.0 {
                    let t = (l - a) / (b - a);
                    points.push(Point { x: col as f64 + t, y: row as f64 });
                    points.push(Point { x: col as f64 + t, y: row as f64 + 0.5 });
                }
            }
            if !points.is_empty() {
                points.shrink_to_fit();
                self.lines.push(Line { level, points });
            }
        }
    }

    fn bounds(&self) -> Bounds {
        let mut b = Bounds { min: Point { x: f64::MAX, y: f64::MAX }, max: Point { x: f64::MIN, y: f64::MIN } };
        for p in self.lines.iter().flat_map(|l| &l.points) {
            b.min.x = b.min.x.min(p.x);
            b.min.y = b.min.y.min(p.y);
            b.max.x = b.max.x.max(p.x);
            b.max.y = b.max.y.max(p.y);
        }
        b
    }

    fn fit_to_page(&mut self, width: f64, height: f64) {
        let b = self.bounds();
        let scale = (width / (b.max.x - b.min.x)).min(height / (b.max.y - b.min.y));
        for p in self.lines.iter_mut().flat_map(|l| &mut l.points) {
            p.x = (p.x - b.min.x) * scale;
            p.y = (p.y - b.min.y) * scale;
        }
    }

    fn write_svg(&self, out: &mut impl Write) -> std::io::Result<usize> {
        let mut count = 0;
        writeln!(out, "<svg xmlns=\"http://www.w3.org/2000/svg\">")?;
        for line in &self.lines {
            write!(out, "<path class=\"level{}\" d=\"M", line.level)?;
            for p in &line.points {
                write!(out, "{} {} ", (p.x * 100.0) as i64, (p.y * 100.0) as i64)?;
                count += 1;
            }
            writeln!(out, "\"/>")?;
        }
        writeln!(out, "</svg>")?;
        Ok(count)
    }
}

fn main() -> std::io::Result<()> {
    let path = std::env::temp_dir().join(format!("contour-{}.svg", std::process::id()));
    let model = load_model();
    let mut drawing = Drawing { lines: Vec::new() };
    for level in (10..110).step_by(1) {
        drawing.trace_level(&model, level);
    }
    drop(model);
    drawing.fit_to_page(2970.0, 2100.0);
    let mut out = BufWriter::new(File::create(&path)?);
    let points = drawing.write_svg(&mut out)?;
    out.flush()?;
    println!("{} lines, {points} points", drawing.lines.len());
    std::fs::remove_file(&path)
}
