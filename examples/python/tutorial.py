"""What the tutorials share: where the examples are, where pictures go, and a short form for tests."""

import argparse
import pathlib

EXAMPLES = pathlib.Path(__file__).resolve().parents[1]


def parse_arguments(description: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("out"), help="folder for the pictures")
    parser.add_argument("--quick", action="store_true", help="the short form that the tests run")
    return parser.parse_args()


def save(figure, folder: pathlib.Path, name: str) -> None:
    """Save a figure as SVG with the same bytes every time, and close it."""
    import matplotlib
    import matplotlib.pyplot as pyplot

    matplotlib.rcParams["svg.hashsalt"] = "interim"
    folder.mkdir(parents=True, exist_ok=True)
    figure.savefig(folder / f"{name}.svg", metadata={"Date": None, "Creator": None})
    pyplot.close(figure)
    print(f"wrote {folder / name}.svg")
