"""A pair of malloc and free in a loop of Python, below some frames of Python, for counts of instructions.

usage: python_pairs.py DEPTH SHAPE COUNT     SHAPE: same, lines, calls or codes
"""
import sys

depth, shape, count = int(sys.argv[1]), sys.argv[2], int(sys.argv[3])


def same():
    for _ in range(count):
        bytearray(1000)


def lines():
    for _ in range(count // 2):
        bytearray(1000)
        bytearray(1000)


def take():
    bytearray(1000)


def calls():
    for _ in range(count):
        take()


def codes():  # of 64 functions, each is another than the one before
    functions = []
    for number in range(64):
        made = {}
        exec(compile(f"def take_{number}():\n    bytearray(1000)\n", f"made_{number}.py", "exec"), made)
        functions.append(made[f"take_{number}"])
    for number in range(count):
        functions[number & 63]()


def below(frames):
    if frames == 0:
        globals()[shape]()
    else:
        below(frames - 1)


below(depth)
