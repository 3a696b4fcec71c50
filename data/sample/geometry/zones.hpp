#pragma once

#include <algorithm>
#include <cstddef>
#include <stdexcept>
#include <utility>
#include <vector>

namespace parcelworks::geometry {

struct Point {
    double x = 0.0;
    double y = 0.0;
};

/// Limit a value to the range between two bounds.
template <typename T>
constexpr T clamp_to(T value, T low, T high)
{
    return std::min(std::max(value, low), high);
}

/// Table of fixed size in which each cell covers a square of the map.
template <typename Cell>
class Grid {
public:
    Grid(std::size_t columns, std::size_t rows) : columns_(columns), cells_(columns * rows) {}

    Cell& at(std::size_t column, std::size_t row)
    {
        const std::size_t index = row * columns_ + column;
        if (column >= columns_ || index >= cells_.size()) {
            throw std::out_of_range("PW-9001: cell outside the grid");
        }
        return cells_[index];
    }

    /// Call a function for every cell, row by row.
    template <typename Visitor>
    void for_each(Visitor&& visit)
    {
        for (Cell& cell : cells_) {
            visit(cell);
        }
    }

private:
    std::size_t columns_;
    std::vector<Cell> cells_;
};

/// The area one courier is responsible for.
class Zone {
public:
    explicit Zone(std::vector<Point> corners);

    double area() const;
    bool contains(const Point& point) const;
    double distance_to_border(const Point& point) const;

private:
    std::vector<Point> corners_;
};

double distance(const Point& a, const Point& b);

/// Order the stops of a tour by always driving to the closest one left.
std::vector<Point> nearest_neighbour_tour(Point start, std::vector<Point> stops);

}  // namespace parcelworks::geometry
