//! Route planning between depots.
//!
//! `parse` reads the road list, `graph` answers the questions.

pub mod graph;
pub mod parse;
pub mod queue;

pub use graph::{Network, Route};
pub use parse::{parse_network, ParseError};

/// Read a road list and plan a single trip in one go.
pub fn plan(text: &str, from: &str, to: &str) -> Result<Option<Route>, ParseError> {
    let network = parse_network(text)?;
    Ok(network.shortest_route(from, to))
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROADS: &str = "leeds york 40\nyork hull 60\nleeds hull 130 # toll\n";

    #[test]
    fn prefers_less_driving_over_fewer_stops() {
        let route = plan(ROADS, "leeds", "hull").unwrap().unwrap();
        assert_eq!(route.minutes, 100);
        assert_eq!(route.stops, ["leeds", "york", "hull"]);
    }

    #[test]
    fn unknown_depot_has_no_route() {
        assert!(plan(ROADS, "leeds", "oslo").unwrap().is_none());
    }
}
