"""Flame graphs as flamegraph.pl and inferno draw them, from folded stacks.

Source of the layout: FlameGraph, flamegraph.pl (sub flow, and the loop over its nodes); inferno,
src/flamegraph/mod.rs.
"""

import random
import re
from html import escape

WIDTH, PAD, ROW, LEAST = 1200, 10, 16, 0.1
HEAD = """<?xml version="1.0" standalone="no"?>
<!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN" "http://www.w3.org/Graphics/SVG/1.1/DTD/svg11.dtd">
<svg version="1.1" width="1200" height="726" onload="init(evt)" viewBox="0 0 1200 726" \
xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" xmlns:fg="x">
<defs><linearGradient id="background"><stop offset="5%" /></linearGradient></defs>
<script type="text/ecmascript"><![CDATA[ if (a < b && "<title>x (1 samples, 1%)") {} ]]></script>
<rect x="0.0" y="0" width="1200.0" height="726.0" fill="url(#background)"  />
<text id="title" x="600.00" y="24" >Flame Graph</text>
<text id="details" x="10.00" y="709" > </text>
<text id="unzoom" x="10.00" y="24" class="hide">Reset Zoom</text>
<text id="search" x="1090.00" y="24" >Search</text>
<text id="matched" x="1090.00" y="709" > </text>
"""


class Node:
    def __init__(self, name):
        self.name, self.samples, self.children = name, 0, {}


def tree(stacks):
    root = Node("all")
    for stack, samples in stacks.items():
        root.samples += samples
        node = root
        for name in stack.split(";"):
            node = node.children.setdefault(name, Node(name))
            node.samples += samples
    return root


def frames(node, start=0, depth=0):
    """Yield the frames with their first sample and depth, those of a parent in order of names."""
    yield node, start, depth
    for name in sorted(node.children):
        yield from frames(node.children[name], start, depth + 1)
        start += node.children[name].samples


def wide_enough(stacks, width=WIDTH):
    """Return the stacks that a picture has: frames that are too narrow are their parents'."""
    root = tree(stacks)
    least = LEAST / ((width - 2 * PAD) / root.samples)
    kept = {}

    def visit(node, path):
        large = [child for child in node.children.values() if child.samples >= least]
        if own := node.samples - sum(child.samples for child in large):
            kept[";".join(path) or "[not drawn]"] = own
        for child in large:
            visit(child, [*path, child.name])

    visit(root, [])
    return kept


def oldest(stacks):
    """Return the picture of the first flamegraph.pl: the titles stand in the rectangles alone."""
    drawn = flamegraph_pl(stacks).replace("<title>all (", "<title>all samples (")
    hovered = r"""<rect onmouseover="s('\1')" onmouseout="c()\""""
    moved = re.sub(r"<title>([^<]*)</title>\s*<rect", hovered, drawn)
    return re.sub(r"</?g[^>]*>\n?", "", moved)


def flamegraph_pl(stacks, *, inverted=False, old=False, width=WIDTH, delta=False, unit="samples"):
    root = tree(stacks)
    scale = (width - 2 * PAD) / root.samples
    drawn = [each for each in frames(root) if each[0].samples >= LEAST / scale]
    deepest = max(depth for _, _, depth in drawn)
    # Perl has its nodes in a hash, whose order is any.
    random.Random(7).shuffle(drawn)
    groups = []
    for node, start, depth in drawn:
        left, right = (
            float(f"{PAD + place * scale:.1f}") for place in (start, start + node.samples)
        )
        y = 33 + ROW * (depth if inverted else deepest - depth)
        percent = "100" if node is root else f"{100 * node.samples / root.samples:.2f}"
        change = "; -0.12" if delta and node is not root else ""
        sign = "%" if change else ""
        title = escape(f"{node.name} ({node.samples:,} {unit}, {percent}%{change}{sign})")
        mouse = f' class="func_g" onmouseover="s(\'{title}\')" onmouseout="c()"' if old else " "
        text = escape(node.name[: int((right - left) / 7)] + "..") if right - left > 21 else ""
        groups.append(
            f"<g{mouse}>\n<title>{title}</title>"
            f'<rect x="{left:.1f}" y="{y}" width="{right - left:.1f}" height="15.0" '
            f'fill="rgb(1,2,3)" rx="2" ry="2" />\n'
            f'<text  x="{left + 3:.2f}" y="{y + 10.5}" >{text}</text>\n</g>\n'
        )
    return f'{HEAD}<g id="frames">\n{"".join(groups)}</g>\n</svg>\n'


def inferno(stacks, *, inverted=False):
    root = tree(stacks)
    drawn = [each for each in frames(root) if 100 * each[0].samples / root.samples >= 0.01]
    deepest = max(depth for _, _, depth in drawn)
    groups = []
    for node, start, depth in drawn:
        left, right = (
            f"{100 * place / root.samples:.4f}" for place in (start, start + node.samples)
        )
        y = 36 + ROW * (depth if inverted else deepest - depth)
        percent = f"{100 * node.samples / root.samples:.2f}"
        title = escape(f"{node.name} ({node.samples:,} samples, {percent}%)")
        groups.append(
            f'<g><title>{title}</title><rect x="{left}%" y="{y}" '
            f'width="{float(right) - float(left):.4f}%" height="15" fill="rgb(1,2,3)" '
            f'fg:x="{start}" fg:w="{node.samples}"/><text x="{float(left) + 0.25:.4f}%" '
            f'y="{y + 10.5}"></text></g>'
        )
    body = "".join(groups)
    return f'{HEAD}<svg id="frames" x="10" width="1180" total_samples="1">{body}</svg></svg>'
