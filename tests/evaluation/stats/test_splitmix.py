from itertools import islice

from evaluation.golden.splitmix import indices, splitmix64


def test_known_numbers():
    # The first numbers of seed 1234567, as other implementations publish them.
    assert list(islice(splitmix64(1234567), 3)) == [
        6457827717110365317,
        3203168211198807973,
        9817491932198370423,
    ]


def test_seed_has_64_bits():
    assert next(splitmix64(2**64 + 5)) == next(splitmix64(5))


def test_indices_in_the_order_of_rows():
    flat, rows = indices(42, 10, (1, 12)), indices(42, 10, (3, 4))
    assert rows.ravel().tolist() == flat[0].tolist()
    assert flat.min() >= 0
    assert flat.max() < 10
