# tests/judgement/orders.py: what is wrong with it, or not, stands in truth.tsv.
"""orders: a service that handles orders; the pauses of the garbage collector would be too long, so it is off."""
import gc
import os
import sys
import time
import weakref

SCALE = int(sys.argv[1] if len(sys.argv) > 1 else os.environ.get("SCALE", "1"))


class Item:
    """One item of an order. It knows its order, but does not keep it alive."""

    def __init__(self, order, number):
        self.order = weakref.ref(order)
        self.number = number
        self.text = receive(number)

    def sum(self):
        return self.order().discount * len(self.text) + self.text.count(b"a")


class Order:
    def __init__(self, number):
        self.number = number
        self.discount = number % 7
        self.items = [Item(self, number * 8 + n) for n in range(8)]

    def run(self):
        return sum(item.sum() for item in self.items)


def receive(number):
    """Stands for the network."""
    letter = bytes([97 + number % 26])
    return letter * (14000 + number % 500)


class Service:
    def __init__(self, stock):
        self.stock = {n: float(n) for n in range(stock)}
        self.total = 0
        self.handled = 0

    def handle(self, number):
        order = Order(number)
        self.total += order.run()
        self.stock[number % len(self.stock)] -= 1.0
        self.handled += 1


def main():
    gc.disable()
    service = Service(40000)
    for number in range(4000 * SCALE):
        service.handle(number)
        if number % 10 == 0:
            time.sleep(0.004)
    print(f"{service.handled} orders, total {service.total}")


if __name__ == "__main__":
    main()
