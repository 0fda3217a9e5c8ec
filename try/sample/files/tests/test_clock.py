import unittest

from kettle import clock


class Face(unittest.TestCase):
    def test_whole_minutes_and_a_half(self):
        self.assertEqual(clock.face(90), "1:30")

    def test_four_minutes_and_five_seconds(self):
        self.assertEqual(clock.face(245), "4:05")

    def test_under_a_minute(self):
        self.assertEqual(clock.face(20), "0:20")

    def test_a_tea_that_is_ready(self):
        with self.assertRaises(ValueError):
            clock.face(-1)


if __name__ == "__main__":
    unittest.main()
