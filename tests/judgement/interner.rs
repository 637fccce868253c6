// tests/judgement/interner.rs: what is wrong with it, or not, stands in truth.tsv.
// interner: a service that parses rules and applies them for many clients; names are kept once in a table.
use std::collections::{HashMap, HashSet};
use std::thread::sleep;
use std::time::Duration;

#[derive(Debug, Clone, Copy)]
enum Token {
    Name(&'static str),
    Number(f64),
    Plus,
}

/// Names live as long as the program. Each is stored once.
struct Names {
    known: HashSet<&'static str>,
}

impl Names {
    fn symbol(&mut self, text: &str) -> &'static str {
        if let Some(name) = self.known.get(text) {
            return name;
        }
        let name: &'static str = Box::leak(text.to_string().into_boxed_str());
        self.known.insert(name);
        name
    }
}

fn tokenize(names: &mut Names, rule: &str) -> Vec<Token> {
    rule.split(' ')
        .map(|part| match part.parse::<f64>() {
            Ok(value) => Token::Number(value),
            Err(_) if part == "+" => Token::Plus,
            Err(_) => Token::Name(names.symbol(part)),
        })
        .collect()
}

struct Scope {
    values: HashMap<String, f64>,
    history: Vec<f64>,
}

impl Scope {
    fn new() -> Scope {
        let mut values = HashMap::new();
        for n in 0..400 {
            values.insert(name_of(n), f64::from(n) * 0.5);
        }
        Scope { values, history: vec![1.0; 1_500_000] }
    }
    fn apply(&self, tokens: &[Token]) -> f64 {
        let mut sum = 0.0;
        for token in tokens {
            sum += match token {
                Token::Name(name) => self.values.get(*name).copied().unwrap_or(0.0),
                Token::Number(value) => *value,
                Token::Plus => 0.0,
            };
        }
        sum
    }
    fn note(&mut self, request: usize, result: f64) {
        let n = self.history.len();
        self.history[request * 7919 % n] = result;
    }
}

fn name_of(n: u32) -> String {
    format!("the_discount_for_the_customers_in_the_town_of_the_number_{:03}", n)
}

fn rule_of(request: u32) -> String {
    let mut parts = Vec::new();
    for k in 0..8 {
        parts.push(name_of((request * 31 + k * 7) % 400));
        parts.push("+".to_string());
    }
    parts.push(format!("{}", request % 100));
    parts.join(" ")
}

fn scale() -> u32 {
    let text = std::env::args().nth(1).or_else(|| std::env::var("SCALE").ok());
    text.and_then(|t| t.parse().ok()).unwrap_or(1)
}

fn main() {
    let mut names = Names { known: HashSet::new() };
    let mut scope = Scope::new();
    let rules: Vec<String> = (0..500).map(rule_of).collect();
    let requests = 36_000 * scale();
    let mut sum = 0.0;
    for request in 0..requests {
        let tokens = tokenize(&mut names, &rules[request as usize % 500]);
        let result = scope.apply(&tokens);
        scope.note(request as usize, result);
        sum += result;
        if request % 40 == 0 {
            sleep(Duration::from_millis(2));
        }
    }
    println!("{} requests, {} names, check {:.1}, {}", requests, names.known.len(), sum, scope.history[7919]);
}
