#include "zones.hpp"

#include <cmath>
#include <limits>

namespace parcelworks::geometry {

namespace {

// Cross product of two corner vectors; its sign tells left turns from right.
double cross(const Point& a, const Point& b)
{
    return a.x * b.y - a.y * b.x;
}

double distance_to_segment(const Point& p, const Point& a, const Point& b)
{
    const double dx = b.x - a.x;
    const double dy = b.y - a.y;
    const double length2 = dx * dx + dy * dy;
    if (length2 == 0.0) {
        return distance(p, a);
    }
    const double along = clamp_to(((p.x - a.x) * dx + (p.y - a.y) * dy) / length2, 0.0, 1.0);
    return distance(p, Point{a.x + along * dx, a.y + along * dy});
}

}  // namespace

Zone::Zone(std::vector<Point> corners) : corners_(std::move(corners))
{
    if (corners_.size() < 3) {
        throw std::invalid_argument("a zone needs three corners");
    }
}

/// Surface by the shoelace formula; the direction of the corners is ignored.
double Zone::area() const
{
    double twice = 0.0;
    for (std::size_t i = 0; i < corners_.size(); ++i) {
        twice += cross(corners_[i], corners_[(i + 1) % corners_.size()]);
    }
    return std::abs(twice) / 2.0;
}

/// Whether a point lies inside: cast a ray to the right and count how many
/// edges it crosses. An odd number means inside.
bool Zone::contains(const Point& point) const
{
    bool inside = false;
    for (std::size_t i = 0, j = corners_.size() - 1; i < corners_.size(); j = i++) {
        const Point& a = corners_[i];
        const Point& b = corners_[j];
        const bool spans = (a.y > point.y) != (b.y > point.y);
        if (spans && point.x < (b.x - a.x) * (point.y - a.y) / (b.y - a.y) + a.x) {
            inside = !inside;
        }
    }
    return inside;
}

double Zone::distance_to_border(const Point& point) const
{
    double best = std::numeric_limits<double>::infinity();
    for (std::size_t i = 0; i < corners_.size(); ++i) {
        const Point& next = corners_[(i + 1) % corners_.size()];
        best = std::min(best, distance_to_segment(point, corners_[i], next));
    }
    return best;
}

double distance(const Point& a, const Point& b)
{
    return std::hypot(a.x - b.x, a.y - b.y);
}

std::vector<Point> nearest_neighbour_tour(Point start, std::vector<Point> stops)
{
    std::vector<Point> tour;
    while (!stops.empty()) {
        const auto closest = std::min_element(
            stops.begin(), stops.end(), [&start](const Point& a, const Point& b) {
                return distance(start, a) < distance(start, b);
            });
        start = *closest;
        tour.push_back(start);
        stops.erase(closest);
    }
    return tour;
}

}  // namespace parcelworks::geometry
