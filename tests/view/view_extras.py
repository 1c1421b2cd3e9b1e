"""What the soak adds to view_story.py: pictures of the pages to look at, and the rules of axe-core."""

import pathlib

PAGES = ["now", "runs", "studies", "assets", "baselines"]


def addresses(home, study, run):
    runs = [one["id"] for one in home.json("list", "runs", "study=" + study)["runs"]]
    return {
        **{name: "/" if name == "now" else "/" + name for name in PAGES},
        "run": "/run/" + run,
        "study": "/study/" + study,
        "compare": f"/compare?a={runs[0]}&b={runs[1]}",
        "groups": f"/compare?select=study={study}&by=rate",
        "filtered": "/runs?select=recipe%3Dslow%2Closs%3C1&columns=rate,best.loss&sort=loss",
        "nothing": "/run/slow-20200101-000000-aaaaaaaa",
    }


def violations(page, axe):
    page.evaluate(pathlib.Path(axe).read_text())
    found = page.evaluate("axe.run(document, { resultTypes: ['violations'] })")
    return [f"{one['id']}: {one['help']}: {one['nodes'][0]['html'][:120]}" for one in found["violations"]]


def look(browser, server, home, study, run, pictures, axe):
    problems = []
    for scheme in ("light", "dark"):
        for width in (1440, 390, 320):
            context = browser.new_context(color_scheme=scheme, viewport={"width": width, "height": 900}, bypass_csp=True, reduced_motion="reduce")
            page = context.new_page()
            page.goto(server.url + "#t=" + server.token)
            for name, address in addresses(home, study, run).items():
                page.evaluate("to => { location.hash = to; }", address)
                page.wait_for_timeout(1500)
                over = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
                if over > 0:
                    problems.append(f"{name} at {width} px scrolls sideways by {over} px")
                if pictures and width != 320:
                    pathlib.Path(pictures).mkdir(parents=True, exist_ok=True)
                    page.screenshot(path=f"{pictures}/{name}-{scheme}-{width}.png", full_page=True)
                if axe and width == 1440:
                    problems += [f"{name}, {scheme}: {one}" for one in violations(page, axe)]
            context.close()
    assert not problems, "\n".join(problems)
    print("ok: pages at three widths, light and dark")
