from __future__ import annotations

from pipelines.discover.parsing.nesting import Frame, Nesting


def frame(outer: Frame, end: int, name: str) -> Frame:
    return Frame(outer, end, (*outer.parts, name), False, None, False)


def opened(*spans: tuple[int, int, str]) -> Nesting:
    """Open frames in the order in which the walker meets them."""
    nesting = Nesting(Frame(None, 100, (), False, None, False))
    for start, end, name in spans:
        nesting.close_until(start)
        nesting.open(start, frame(nesting.top, end, name))
    return nesting


def names(nesting: Nesting, *places: int) -> list[str]:
    return [".".join(nesting.at(place).parts) for place in places]


def test_each_place_is_in_the_innermost_frame_that_is_open_there() -> None:
    nesting = opened((10, 50, "a"), (20, 30, "b"), (60, 70, "c")).finished()
    places = (0, 9, 10, 19, 20, 29, 30, 49, 50, 59, 60, 69, 70, 99)
    assert names(nesting, *places) == ["", "", "a", "a", "a.b", "a.b", "a", "a", "", "", "c", "c", "", ""]


def test_frames_that_start_together_are_one_inside_the_other() -> None:
    assert names(opened((0, 50, "a"), (0, 20, "b")).finished(), 0, 20, 50) == ["a.b", "a", ""]


def test_a_frame_that_reaches_over_its_outer_one_closes_before_it() -> None:
    nesting = opened((10, 20, "a"), (15, 40, "b"))
    assert names(nesting.finished(), 19, 25, 39, 40) == ["a.b", "a.b", "a.b", ""]


def test_a_frame_can_be_closed_before_its_end() -> None:
    nesting = opened((10, 90, "a"))
    nesting.close(40)
    nesting.open(40, frame(nesting.top, 90, "b"))
    assert names(nesting.finished(), 39, 40, 90) == ["a", "b", ""]


def test_the_file_itself_never_closes() -> None:
    nesting = opened()
    nesting.close(10)
    nesting.close_until(1_000)
    assert names(nesting.finished(), 0, 1_000) == ["", ""]
