//! Text format of the road list: `depot depot minutes`, `#` starts a comment.

use std::fmt;

use crate::graph::Network;

/// What was wrong, and on which line.
#[derive(Debug, PartialEq, Eq)]
pub struct ParseError {
    pub line: usize,
    pub problem: Problem,
}

#[derive(Debug, PartialEq, Eq)]
pub enum Problem {
    MissingField(&'static str),
    BadNumber(String),
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.problem {
            Problem::MissingField(name) => write!(f, "PW-7001: line {}: no {}", self.line, name),
            Problem::BadNumber(text) => write!(f, "PW-7002: line {}: {:?} is no number", self.line, text),
        }
    }
}

impl std::error::Error for ParseError {}

/// Build a network from a road list.
pub fn parse_network(text: &str) -> Result<Network, ParseError> {
    let mut network = Network::default();
    for (index, raw) in text.lines().enumerate() {
        let line = strip_comment(raw);
        if line.is_empty() {
            continue;
        }
        let (a, b, minutes) =
            parse_road(line).map_err(|problem| ParseError { line: index + 1, problem })?;
        network.connect(a, b, minutes);
    }
    Ok(network)
}

fn strip_comment(line: &str) -> &str {
    line.split('#').next().unwrap_or("").trim()
}

fn parse_road(line: &str) -> Result<(&str, &str, u32), Problem> {
    let mut words = line.split_whitespace();
    let a = words.next().ok_or(Problem::MissingField("start"))?;
    let b = words.next().ok_or(Problem::MissingField("end"))?;
    let time = words.next().ok_or(Problem::MissingField("minutes"))?;
    let minutes = time.parse().map_err(|_| Problem::BadNumber(time.to_owned()))?;
    Ok((a, b, minutes))
}
