use std::collections::{HashMap, HashSet, VecDeque};

use crate::queue::MinQueue;

/// A planned trip.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Route {
    pub stops: Vec<String>,
    pub minutes: u32,
}

/// Depots joined by roads with a driving time.
#[derive(Debug, Default)]
pub struct Network {
    roads: HashMap<String, Vec<(String, u32)>>,
}

impl Network {
    /// Add a road that can be driven both ways.
    pub fn connect(&mut self, a: &str, b: &str, minutes: u32) {
        self.roads.entry(a.to_owned()).or_default().push((b.to_owned(), minutes));
        self.roads.entry(b.to_owned()).or_default().push((a.to_owned(), minutes));
    }

    fn neighbours(&self, depot: &str) -> &[(String, u32)] {
        self.roads.get(depot).map_or(&[], Vec::as_slice)
    }

    /// Find the trip with the least driving time (Dijkstra's algorithm).
    pub fn shortest_route(&self, from: &str, to: &str) -> Option<Route> {
        let mut best: HashMap<&str, u32> = HashMap::from([(from, 0)]);
        let mut came_from: HashMap<&str, &str> = HashMap::new();
        let mut queue = MinQueue::new();
        queue.push(0, from);

        while let Some((minutes, depot)) = queue.pop() {
            if depot == to {
                return Some(Route { stops: unwind(&came_from, to), minutes });
            }
            if minutes > best[depot] {
                continue;
            }
            for (next, cost) in self.neighbours(depot) {
                let candidate = minutes + cost;
                if best.get(next.as_str()).map_or(true, |&known| candidate < known) {
                    best.insert(next, candidate);
                    came_from.insert(next, depot);
                    queue.push(candidate, next.as_str());
                }
            }
        }
        None
    }

    /// Count the legs of the trip with the fewest transfers, ignoring how
    /// long each leg takes (breadth-first search).
    pub fn fewest_hops(&self, from: &str, to: &str) -> Option<usize> {
        let mut seen = HashSet::from([from]);
        let mut line = VecDeque::from([(from, 0)]);
        while let Some((depot, hops)) = line.pop_front() {
            if depot == to {
                return Some(hops);
            }
            for (next, _) in self.neighbours(depot) {
                if seen.insert(next.as_str()) {
                    line.push_back((next.as_str(), hops + 1));
                }
            }
        }
        None
    }

    /// Depots that cannot be reached from the given one.
    pub fn stranded(&self, hub: &str) -> Vec<&str> {
        let mut lost: Vec<&str> = self
            .roads
            .keys()
            .map(String::as_str)
            .filter(|depot| self.fewest_hops(hub, depot).is_none())
            .collect();
        lost.sort_unstable();
        lost
    }
}

/// Walk the predecessor links backwards and turn them into a list of stops.
fn unwind(came_from: &HashMap<&str, &str>, end: &str) -> Vec<String> {
    let mut stops = vec![end.to_owned()];
    let mut current = end;
    while let Some(&previous) = came_from.get(current) {
        stops.push(previous.to_owned());
        current = previous;
    }
    stops.reverse();
    stops
}
