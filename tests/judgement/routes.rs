// tests/judgement/routes.rs: what is wrong with it, or not, stands in truth.tsv.
//! routes: forwards packets with a direct lookup table for the first 24 bits of the address.
use std::collections::HashMap;

#[derive(Clone, Copy)]
struct Route {
    prefix: u32,
    length: u8,
    hop: u16,
}

struct NextHop {
    name: String,
    packets: u64,
    bytes: u64,
}

struct Fib {
    /// next hop for each /24, or OVERFLOW | index of a 256-entry block
    base: Vec<u16>,
    blocks: Vec<[u16; 256]>,
    hops: Vec<NextHop>,
}

const OVERFLOW: u16 = 0x8000;

struct Rng(u64);

impl Rng {
    fn next(&mut self) -> u32 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 32) as u32
    }
}

fn receive_routes(rng: &mut Rng) -> Vec<Route> {
    let mut routes = vec![Route { prefix: 0, length: 0, hop: 1 }];
    for _ in 0..160_000 {
        let length = match rng.next() % 20 {
            0 => 12 + (rng.next() % 4) as u8,
            1 => 25 + (rng.next() % 6) as u8,
            _ => 18 + (rng.next() % 7) as u8,
        };
        let prefix = rng.next() & (u32::MAX << (32 - length));
        routes.push(Route { prefix, length, hop: (rng.next() % 60) as u16 });
    }
    routes.sort_by_key(|r| r.length);
    routes
}

impl Fib {
    fn new(hop_count: usize) -> Self {
        let hops = (0..hop_count)
            .map(|i| NextHop { name: format!("peer{i}.ix.example"), packets: 0, bytes: 0 })
            .collect();
        Fib { base: vec![0; 1 << 24], blocks: Vec::new(), hops }
    }

    fn install(&mut self, r: &Route) {
        if r.length <= 24 {
            let first = (r.prefix >> 8) as usize;
            let count = 1usize << (24 - r.length);
            self.base[first..first + count].fill(r.hop);
            return;
        }
        let slot = (r.prefix >> 8) as usize;
        if self.base[slot] & OVERFLOW == 0 {
            self.blocks.push([self.base[slot]; 256]);
            self.base[slot] = OVERFLOW | (self.blocks.len() - 1) as u16;
        }
        let block = &mut self.blocks[(self.base[slot] & !OVERFLOW) as usize];
        let first = (r.prefix & 255) as usize;
        let count = 1usize << (32 - r.length);
        block[first..first + count].fill(r.hop);
    }

    fn lookup(&self, address: u32) -> u16 {
        let v = self.base[(address >> 8) as usize];
        if v & OVERFLOW == 0 {
            v
        } else {
            self.blocks[(v & !OVERFLOW) as usize][(address & 255) as usize]
        }
    }

    fn forward(&mut self, address: u32, bytes: u64) {
        let hop = self.lookup(address) as usize;
        self.hops[hop].packets += 1;
        self.hops[hop].bytes += bytes;
    }
}

fn main() {
    let mut rng = Rng(41);
    let mut fib = Fib::new(64);
    let routes = receive_routes(&mut rng);
    for r in &routes {
        fib.install(r);
    }
    drop(routes);
    let mut sizes: HashMap<u64, u64> = HashMap::new();
    for _ in 0..12_000_000 {
        let address = rng.next();
        let bytes = 64 + u64::from(rng.next() % 1400);
        fib.forward(address, bytes);
        *sizes.entry(bytes / 128).or_default() += 1;
    }
    let busiest = fib.hops.iter().max_by_key(|h| h.bytes).expect("there are hops");
    println!("{} blocks, {} size classes, busiest {} with {} packets", fib.blocks.len(), sizes.len(), busiest.name, busiest.packets);
}
