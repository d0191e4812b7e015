"""Looks at a report in headless Chromium as a reader would, and fails on what is wrong.

    apt-get install chromium && pip install -r scripts/requirements-report.txt
    cargo run -p foxhunt-report --example sample_report -- report.html
    python scripts/report_check.py report.html [FOLDER FOR PICTURES]

At 1280 and 390 px, light and dark, with and without JavaScript: console errors, any request but the file, sideways overflow, tables cut at
1280 px, labels of a chart that overlap or leave it, text contrast below WCAG AA (4.5, or 3 for large text), sections that are missing. Then what the
script does: values under the pointer, a legend's item that hides its line, zoom by drag and by two fingers with reset, another member's
details, sorting. Last a PDF in A4.
"""

import os
import pathlib
import shutil
import sys

from playwright.sync_api import sync_playwright

SECTIONS = "summary figures uncertainty equity rolling positions distribution costs drawdowns trades assumptions run".split()

OVERLAPS = """() => {
  const found = [];
  for (const svg of document.querySelectorAll('svg.chart')) {
    if (!svg.getBoundingClientRect().width) continue;
    const frame = svg.getBoundingClientRect();
    const texts = [...svg.querySelectorAll('text')].filter(t => getComputedStyle(t).display !== 'none');
    const boxes = texts.map(t => t.getBoundingClientRect());
    boxes.forEach((b, i) => {
      if (b.left < frame.left - 1 || b.right > frame.right + 1 || b.top < frame.top - 1 || b.bottom > frame.bottom + 1)
        found.push(`${svg.getAttribute('aria-label')}: "${texts[i].textContent}" leaves the chart`);
      for (let j = i + 1; j < boxes.length; j++) {
        const c = boxes[j];
        const w = Math.min(b.right, c.right) - Math.max(b.left, c.left), h = Math.min(b.bottom, c.bottom) - Math.max(b.top, c.top);
        if (w > 1 && h > 3) found.push(`${svg.getAttribute('aria-label')}: "${texts[i].textContent}" over "${texts[j].textContent}"`);
      }
    });
  }
  return found;
}"""

CONTRAST = """() => {
  const parse = c => { const n = c.match(/[\\d.]+/g).map(Number); return { r: n[0], g: n[1], b: n[2], a: n.length > 3 ? n[3] : 1 }; };
  const over = (t, u) => ({ r: t.r * t.a + u.r * (1 - t.a), g: t.g * t.a + u.g * (1 - t.a), b: t.b * t.a + u.b * (1 - t.a), a: 1 });
  const light = c => { const f = v => { v /= 255; return v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4; };
    return 0.2126 * f(c.r) + 0.7152 * f(c.g) + 0.0722 * f(c.b); };
  const behind = e => { const all = []; for (let n = e; n; n = n.parentElement) all.push(parse(getComputedStyle(n).backgroundColor));
    return all.reverse().reduce((u, t) => over(t, u), { r: 255, g: 255, b: 255, a: 1 }); };
  const found = new Set();
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walk.nextNode()) {
    const e = walk.currentNode.parentElement;
    if (!walk.currentNode.textContent.trim() || !e.getClientRects().length || ['SCRIPT', 'STYLE'].includes(e.tagName.toUpperCase())) continue;
    const s = getComputedStyle(e), u = behind(e), size = parseFloat(s.fontSize);
    const ink = parse(e instanceof SVGElement ? s.fill : s.color), t = over(ink, u);
    const [a, b] = [light(t), light(u)], ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    const need = size >= 24 || (size >= 18.66 && parseInt(s.fontWeight) >= 700) ? 3 : 4.5;
    if (ratio < need) found.add(`contrast ${ratio.toFixed(2)} of ${e.tagName}.${e.getAttribute('class') || ''} "${walk.currentNode.textContent.trim().slice(0, 30)}"`);
  }
  return [...found];
}"""

OVERFLOW = """() => {
  const wide = document.documentElement.scrollWidth - document.documentElement.clientWidth;
  return wide > 0 ? [`the page is ${wide} px wider than its window`] : [];
}"""

# Of a wide window: a narrow one's tables move in their boxes.
CUT = """() => innerWidth < 1200 ? [] : [...document.querySelectorAll('.scroll')].filter(e => e.getClientRects().length)
  .map(e => [e, e.scrollWidth - e.clientWidth]).filter(([, wide]) => wide > 0)
  .map(([e, wide]) => `a table of ${e.closest('section').id} is ${wide} px wider than its box`)"""

UNRESOLVED = """() => [...document.querySelectorAll('[href],[src],[aria-labelledby]')].map(e => e.outerHTML.slice(0, 80))
  .filter(t => !t.includes('"#'))"""


def still(page, name, faults):
    for check in (OVERFLOW, CUT, OVERLAPS, CONTRAST, UNRESOLVED):
        faults += [f"{name}: {found}" for found in page.evaluate(check)]
    there = page.evaluate("() => [...document.querySelectorAll('section[id]')].map(s => s.id)")
    faults += [f"{name}: section {part} is missing" for part in SECTIONS if part not in there]


def moves(page, name, faults):
    """What the script does; each is also seen to change something."""

    def expect(holds, what):
        if not holds:
            faults.append(f"{name}: {what}")

    if page.locator("#equity .tip").count() == 0:
        faults.append(f"{name}: the script did not run")
        return
    chart = page.locator("#equity .plot svg:visible").first
    chart.scroll_into_view_if_needed()
    box = chart.bounding_box()
    page.mouse.move(box["x"] + box["width"] * 0.6, box["y"] + box["height"] * 0.3)
    tip = page.locator("#equity .tip")
    expect(tip.is_visible() and any(c.isdigit() for c in tip.inner_text()), "the pointer shows no values")
    inside = tip.bounding_box()
    expect(inside and inside["x"] >= 0 and inside["x"] + inside["width"] <= page.viewport_size["width"], "the values leave the page")
    line = page.locator("#equity svg:visible path.agent").first
    item = page.locator("#equity [data-key=key-agent]")
    item.click()
    expect(not line.is_visible(), "a legend's item does not hide its line")
    item.click()
    expect(line.is_visible(), "a legend's item does not bring its line back")
    before = line.get_attribute("d")
    chart.scroll_into_view_if_needed()
    box = chart.bounding_box()
    y = box["y"] + box["height"] * 0.3
    page.mouse.move(box["x"] + box["width"] * 0.4, y)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] * 0.6, y, steps=4)
    page.mouse.up()
    zoomed = line.get_attribute("d")
    expect(zoomed != before and "NaN" not in zoomed, "dragging does not zoom")
    faults += [f"{name}, zoomed: {found}" for found in page.evaluate(OVERLAPS)]
    if len(sys.argv) > 2:
        page.locator("#equity").screenshot(path=f"{sys.argv[2]}/{name}-zoomed.png")
    page.locator("#equity .reset").click()
    expect(line.get_attribute("d") == before, "the reset does not restore the chart")
    touch = page.context.new_cdp_session(page)
    fingers = lambda kind, *xs: touch.send(  # noqa: E731
        "Input.dispatchTouchEvent", {"type": kind, "touchPoints": [{"x": box["x"] + box["width"] * x, "y": y, "id": i} for i, x in enumerate(xs)]}
    )
    fingers("touchStart", 0.45)
    fingers("touchStart", 0.45, 0.55)
    fingers("touchMove", 0.35, 0.65)
    page.wait_for_timeout(400)
    fingers("touchEnd")
    pinched = line.get_attribute("d")
    # An account that was ruined earlier has no line in either stretch.
    expect(pinched != before and (pinched != zoomed or not zoomed) and "NaN" not in pinched, "two fingers do not zoom")
    page.locator("#equity .reset").click()
    expect(line.get_attribute("d") == before, "the reset does not restore the chart after two fingers")
    pick = page.locator("select#member")
    if pick.count():
        own = pick.input_value()
        options = pick.locator("option")
        other = next(v for v in (options.nth(k).get_attribute("value") for k in range(options.count())) if v != own)
        pick.select_option(other)
        shown = page.locator("div[data-member]:visible")
        expect({e.get_attribute("data-member") for e in shown.all()} == {other}, "picking a member does not show its details")
        for check in (OVERFLOW, OVERLAPS, CONTRAST):
            faults += [f"{name}, member {other}: {found}" for found in page.evaluate(check)]
        if len(sys.argv) > 2:
            page.locator("#equity").screenshot(path=f"{sys.argv[2]}/{name}-picked.png")
        pick.select_option(own)
        expect({e.get_attribute("data-member") for e in shown.all()} == {own}, "picking does not go back")
    rows = page.locator("#drawdowns table[data-sort] tbody tr")
    if rows.count() > 1:
        head = page.locator("#drawdowns table[data-sort] thead th").first
        first = rows.first.inner_text()
        head.click()
        head.click()
        expect(rows.first.inner_text() != first, "a table does not sort")


def main():
    file = pathlib.Path(sys.argv[1]).resolve()
    pictures = pathlib.Path(sys.argv[2]) if len(sys.argv) > 2 else None
    if pictures:
        pictures.mkdir(parents=True, exist_ok=True)
    program = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
    if not program:
        sys.exit("no Chromium: apt-get install chromium, or set CHROMIUM")
    faults = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        for width in (1280, 390):
            for scheme in ("light", "dark"):
                for script in (True, False):
                    name = f"{width}-{scheme}" + ("" if script else "-without-script")
                    page = browser.new_page(
                        viewport={"width": width, "height": 900}, color_scheme=scheme, java_script_enabled=script
                    )
                    page.on("console", lambda m, n=name: m.type in ("error", "warning") and faults.append(f"{n}: {m.text}"))
                    page.on("pageerror", lambda e, n=name: faults.append(f"{n}: {e}"))
                    page.on("request", lambda r, n=name: r.url != file.as_uri() and faults.append(f"{n}: asks for {r.url}"))
                    page.goto(file.as_uri())
                    if script:
                        still(page, name, faults)
                        moves(page, name, faults)
                        page.mouse.move(0, 0)
                    elif page.locator("svg:visible path.agent").count() == 0:
                        faults.append(f"{name}: no chart is shown")
                    if pictures and script:
                        page.screenshot(path=pictures / f"{name}.png", full_page=True)
                    if pictures and script and (width, scheme) == (1280, "light"):
                        page.pdf(path=pictures / "report.pdf", format="A4", margin={k: "12mm" for k in ("top", "bottom", "left", "right")})
                    page.close()
        browser.close()
    for fault in faults:
        print(fault)
    print(f"{file.name}: {len(faults)} faults, {file.stat().st_size:,} bytes")
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
