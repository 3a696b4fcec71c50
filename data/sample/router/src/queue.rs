//! Priority queue that hands out the cheapest item first.

/// Binary min-heap over (cost, item) pairs.
#[derive(Debug, Default)]
pub struct MinQueue<T> {
    heap: Vec<(u32, T)>,
}

impl<T> MinQueue<T> {
    pub fn new() -> Self {
        MinQueue { heap: Vec::new() }
    }

    pub fn push(&mut self, cost: u32, item: T) {
        self.heap.push((cost, item));
        self.sift_up(self.heap.len() - 1);
    }

    /// Remove and return the entry with the lowest cost.
    pub fn pop(&mut self) -> Option<(u32, T)> {
        if self.heap.is_empty() {
            return None;
        }
        let entry = self.heap.swap_remove(0);
        self.sift_down(0);
        Some(entry)
    }

    /// Let a light entry rise until its parent is no heavier.
    fn sift_up(&mut self, mut index: usize) {
        while index > 0 {
            let parent = (index - 1) / 2;
            if self.heap[parent].0 <= self.heap[index].0 {
                break;
            }
            self.heap.swap(parent, index);
            index = parent;
        }
    }

    fn sift_down(&mut self, mut index: usize) {
        loop {
            let left = 2 * index + 1;
            let right = left + 1;
            let mut smallest = index;
            for child in [left, right] {
                if child < self.heap.len() && self.heap[child].0 < self.heap[smallest].0 {
                    smallest = child;
                }
            }
            if smallest == index {
                return;
            }
            self.heap.swap(index, smallest);
            index = smallest;
        }
    }
}
