"""workbooks.py: workbooks as they come back from a bad disk or a bad program."""
import io
import zipfile

import traces

_book = []


def good_book(lab):
    if not _book:
        lab.write("small.json", traces.small())
        lab.run(["report", "small.json", "-o", "good.xlsx"], outputs=["good.xlsx"], statuses=(0,))
        _book.append(lab.path("good.xlsx").read_bytes())
    lab.write("good.xlsx", _book[0])
    return _book[0]


def damaged_workbooks(lab):
    data = good_book(lab)
    kind = lab.random.randrange(4)
    if kind == 0:
        bad = data[:lab.random.randrange(len(data))]
    elif kind == 1:
        bad = bytearray(data)
        for _ in range(lab.random.choice((1, 8, 64))):
            bad[lab.random.randrange(len(bad))] ^= 1 << lab.random.randrange(8)
    else:  # a good archive of bad parts
        out = io.BytesIO()
        with zipfile.ZipFile(io.BytesIO(data)) as book, zipfile.ZipFile(out, "w") as copy:
            victim = lab.random.choice(book.namelist())
            for name in book.namelist():
                part = bytearray(book.read(name))
                if name == victim and kind == 2:
                    del part[lab.random.randrange(len(part)):]
                elif name == victim:
                    for _ in range(lab.random.choice((1, 8, 64))):
                        part[lab.random.randrange(len(part))] ^= 1 << lab.random.randrange(8)
                copy.writestr(name, bytes(part))
        bad = out.getvalue()
    lab.write("bad.xlsx", bytes(bad))
    order = ["good.xlsx", "bad.xlsx"]
    lab.random.shuffle(order)
    lab.run(["compare", *order, "-o", "out.json"], outputs=["out.json"])
