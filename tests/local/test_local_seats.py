"""The queue in front of the engine."""

from __future__ import annotations

import threading

import pytest

from llm_tools.integrations.local.seats import Seats


class Impatient(Exception):
    pass


def leave() -> None:
    raise Impatient


def stay() -> None:
    pass


def test_first_come_first_served() -> None:
    """Places are handed on in order of arrival; nobody who comes later overtakes."""
    seats = Seats(1)
    order: list[int] = []

    def work(number: int) -> None:
        with seats.take(stay):
            order.append(number)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(6)]
    with seats.take(stay):
        for number, thread in enumerate(threads):
            thread.start()
            while len(seats._line) <= number:
                pass
    for thread in threads:
        thread.join()
    assert order == [0, 1, 2, 3, 4, 5]


def test_as_many_at_once_as_there_are_seats() -> None:
    """Two seats work together, and both are free again afterwards."""
    seats = Seats(2)
    for _ in range(3):
        with (
            seats.take(leave),
            seats.take(leave),
            pytest.raises(Impatient),
            seats.take(leave),
        ):
            raise AssertionError("there is no third seat")


def test_who_leaves_the_line_holds_nobody_up() -> None:
    """A waiting client that goes away gives up its place in the line, not a seat."""
    seats = Seats(1)
    with seats.take(stay):
        with pytest.raises(Impatient), seats.take(leave):
            raise AssertionError("the seat is taken")
        assert not seats._line
    with seats.take(leave):
        pass


def test_a_seat_given_to_who_just_left_goes_on() -> None:
    """A place handed over at the very moment its owner gives up is free for the next."""
    seats = Seats(1)
    first = seats.take(stay)
    first.__enter__()

    def hand_over_and_leave() -> None:
        first.__exit__(None, None, None)
        raise Impatient

    with pytest.raises(Impatient), seats.take(hand_over_and_leave):
        raise AssertionError("it was given up")
    with seats.take(leave):
        pass
