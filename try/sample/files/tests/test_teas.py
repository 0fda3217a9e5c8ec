import unittest

from kettle import teas


class Table(unittest.TestCase):
    def test_every_tea_can_be_brewed(self):
        for tea in teas.load().values():
            self.assertIn(tea.celsius, range(60, 101), tea.name)
            self.assertGreater(tea.seconds, 0, tea.name)

    def test_the_second_cup_takes_longer(self):
        oolong = teas.load()["oolong"]
        self.assertEqual(oolong.steep(2), 195)

    def test_stronger(self):
        assam = teas.load()["assam"]
        self.assertEqual(assam.steep(strength=1.25), 300)

    def test_there_is_no_steep_before_the_first(self):
        with self.assertRaises(ValueError):
            teas.load()["sencha"].steep(0)


if __name__ == "__main__":
    unittest.main()
