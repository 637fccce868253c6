# tests/judgement/events.py: what is wrong with it, or not, stands in truth.tsv.
"""events: a service that handles events; the pauses of the garbage collector would be too long, so it is off."""
import gc
import os
import sys
import time

SCALE = int(sys.argv[1] if len(sys.argv) > 1 else os.environ.get("SCALE", "1"))


class Event:
    """One event. Its steps are bound methods, run one after another."""

    def __init__(self, number):
        self.number = number
        self.payload = receive(number)
        self.result = 0
        self.steps = [self.decode, self.rate, self.sign]

    def decode(self):
        self.result += self.payload.count(b"a")

    def rate(self):
        self.result = self.result * 31 % 1009

    def sign(self):
        self.result ^= len(self.payload)

    def run(self):
        for step in self.steps:
            step()
        return self.result


def receive(number):
    """Stands for the network."""
    letter = bytes([97 + number % 26])
    return letter * (14000 + number % 500)


class Service:
    def __init__(self):
        self.total = 0
        self.handled = 0

    def handle(self, number):
        event = Event(number)
        self.total += event.run()
        self.handled += 1


def main():
    gc.disable()
    service = Service()
    for number in range(4000 * SCALE):
        service.handle(number)
        if number % 10 == 0:
            time.sleep(0.004)
    print(f"{service.handled} events, total {service.total}")


if __name__ == "__main__":
    main()
