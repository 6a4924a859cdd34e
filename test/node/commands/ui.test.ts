// The page of the built `plexusctl ui` about a node with real pods, seen and clicked in a real Chromium.

import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import type { Browser, Locator, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { PageData } from "../../../host/programs/plexusctl/ui/page-data.ts";
import { nodePage } from "../../../host/programs/plexusctl/ui/page-html.ts";
import { chromiumBrowser, startBrowser } from "../../lab/browser.ts";
import { startDaemon, type TestDaemon } from "../../lab/daemon.ts";
import { type Answer, dist } from "../../lab/plexus.ts";
import { installHostile } from "../../lab/recorder.ts";
import { missing } from "../../lab/requires.ts";
import { bridgeStep, missingForMixed, mixedInstallation, shaperStep } from "../../lab/mixed-network.ts";
import { openStage, type Stage } from "../../lab/stage.ts";

const suite = "the page of plexusctl ui";
const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const hostileName = '<img src="x" onerror="globalThis.hacked=1">';
const parts = () => ({
  script: readFileSync(join(dist, "engine", "page.js"), "utf8"),
  style: readFileSync(join(dist, "engine", "page.css"), "utf8"),
});

describe.skipIf(missingForMixed(suite) || missing(suite, chromiumBrowser))("the page of plexusctl ui", () => {
  let stage: Stage;
  let daemon: TestDaemon;
  let browser: Browser;
  let ui: ChildProcess;
  let url = "";
  let daemonRuns = true;
  const socket = (): string => join(stage.plexus.directory, "daemon", "plexus.sock");
  const places = (): string[] => [
    `--status-socket=${join(dirname(socket()), "status.sock")}`,
    `--state-dir=${join(stage.plexus.directory, "state", "cni")}`,
    `--config=${join(stage.plexus.directory, "10-plexus.conf")}`,
    `--cni-path=${stage.plexus.cniPath}`,
  ];
  const call = async (verb: string, name: string, config: object, pod = stage.pod().path): Promise<Answer> => {
    const args = `IgnoreUnknown=1;K8S_POD_NAMESPACE=shop;K8S_POD_NAME=${name}`;
    const env = { PLEXUS_SOCKET: socket() };
    const containerId = `c-${name.replaceAll(/\W/g, "-")}`;
    return stage.request({ verb, containerId, netns: pod, ifname: "eth0", config, args, env });
  };
  const shop = (more: object = {}) =>
    stage.network([bridgeStep({ ipam: { type: "ipam-host-local", subnet: "10.10.0.0/28" } }), shaperStep], more);
  const storage = () => {
    const ipam = { type: "host-local", subnet: "10.20.0.0/29", dataDir: stage.leases };
    return stage.host({
      chainTrace: { calls: "all", pods: ["shop/db-0"] },
      delegates: [
        {
          cniVersion: "1.0.0",
          name: "pods",
          plugins: [bridgeStep({ ipam: { type: "ipam-host-local", subnet: "10.10.0.0/28" } })],
        },
        { cniVersion: "1.0.0", name: "storage", plugins: [{ type: "bridge", bridge: "br1", ipam }] },
      ],
    });
  };
  const failing = () =>
    stage.network([bridgeStep({ ipam: { type: "ipam-host-local", subnet: "10.10.0.0/28" } }), { type: "fails-with-code" }]);

  /** A call before the tests. Throws unless it ends with this status. */
  const prepare = async (status: number, ...made: Parameters<typeof call>): Promise<void> => {
    const ended = await call(...made);
    if (ended.status !== status) throw new Error(`${made[0]} of ${made[1]} ended with status ${ended.status}: ${ended.stdout}`);
  };
  beforeAll(async () => {
    stage = openStage(mixedInstallation);
    writeFileSync(join(stage.plexus.directory, "10-plexus.conf"), JSON.stringify(shop()));
    installHostile(stage.plexus.cniPath, "fails-with-code");
    installHostile(stage.plexus.cniPath, "fails-on-stderr", ["DEL"]);
    const state = join(stage.plexus.directory, "state", "cni");
    daemon = await startDaemon({ socket: socket(), args: ["--state-dir", state, "--sandboxes", "2"] });
    for (const name of ["cart-1", "cart-2"]) await prepare(0, "ADD", name, shop());
    await prepare(0, "ADD", "db-0", storage());
    await prepare(1, "ADD", hostileName, shop());
    for (const _ of [1, 2]) await prepare(1, "ADD", "broken-1", failing());
    const stuck = stage.network([
      bridgeStep({ ipam: { type: "ipam-host-local", subnet: "10.10.0.0/28" } }),
      { type: "fails-on-stderr" },
    ]);
    const pod = stage.pod().path;
    await prepare(0, "ADD", "stuck-3", stuck, pod);
    await prepare(1, "DEL", "stuck-3", stuck, pod);
    ui = spawn(process.execPath, [join(dist, "plexusctl.cjs"), "ui", ...places()], { stdio: ["ignore", "pipe", "inherit"] });
    const [line] = ui.stdout === null ? [""] : await once(ui.stdout, "data");
    url = String(line).trim();
    browser = await startBrowser();
  });
  afterAll(async () => {
    await browser.close();
    ui.kill();
    if (daemonRuns) await daemon.stop();
    stage.dispose();
  });

  /** Opens an address in a new window. `asked` gets the address of each request, `errors` each error of the browser's console. */
  async function open(address: string, theme: "light" | "dark" = "light") {
    const context = await browser.newContext({
      colorScheme: theme,
      reducedMotion: "reduce",
      viewport: { width: 1280, height: 860 },
      // Playwright's own functions and axe need it. The policy has a test of its own.
      bypassCSP: true,
    });
    context.setDefaultTimeout(120_000);
    const page = await context.newPage();
    const asked: string[] = [];
    const errors: string[] = [];
    page.on("request", (request) => asked.push(request.url()));
    page.on("console", (message) => message.type() === "error" && errors.push(message.text()));
    page.on("pageerror", (error) => errors.push(error.message));
    await page.goto(address);
    return { page, asked, errors, close: () => context.close() };
  }

  test("shows pods beside their bridge beside its address pool, and follows a pod that is chosen by mouse or keyboard", async () => {
    const { page, errors, close } = await open(url);
    const [pod, bridge, pool] = await Promise.all([
      boxOf(pictureBox(page, /^pod cart-1 \(shop\) eth0 10\.10\.0\.2\/28/)),
      boxOf(pictureBox(page, /^br0 \(bridge\) pods default bridge\/ipam-host-local/)),
      boxOf(pictureBox(page, /^pool pods \(address pool\) 4 of 13 used/)),
    ]);
    expect(pod.right).toBeLessThan(bridge.x);
    expect(bridge.right).toBeLessThan(pool.x);
    expect(await pictureBox(page, /^Needs attention: pod stuck-3/).count()).toBe(1);
    await pictureBox(page, /^pod cart-1/).click();
    expect(await page.locator(".description").innerText()).toMatch(
      /cart-1[\s\S]*eth0[\s\S]*network pods[\s\S]*10\.10\.0\.2\/28, attached/,
    );
    // The pool of another network is not on the pod's way.
    expect(await pictureBox(page, /^pool storage/).getAttribute("class")).toContain("dim");
    await pictureBox(page, /^pod db-0/).focus();
    await page.keyboard.press("Enter");
    await page.locator(".description").filter({ hasText: "db-0" }).waitFor();
    expect(await page.locator(".description").innerText()).toMatch(/db-0[\s\S]*net1[\s\S]*network storage/);
    expect(await pictureBox(page, /^pod db-0/).getAttribute("aria-pressed")).toBe("true");
    expect(errors).toEqual([]);
    await close();
  });

  test("a call's waterfall has each step's bar within the call's time, and a called plugin's bar within its caller's", async () => {
    const { page, close } = await open(url);
    const opened = page.locator("details.call").filter({ hasText: "shop/cart-1" });
    await opened.locator("summary").click();
    const rows = opened.getByRole("row");
    expect(await rows.nth(1).innerText()).toMatch(/bridge[\s\S]*eth0 pods[\s\S]*native[\s\S]*ms[\s\S]*✓ ok/);
    expect(await rows.nth(2).innerText()).toMatch(/ipam-host-local[\s\S]*component[\s\S]*✓ ok/);
    expect(await rows.nth(3).innerText()).toMatch(/status-shaper[\s\S]*component/);
    const [axis, outer, inner, next] = await Promise.all([
      boxOf(opened.locator("td.track").first()),
      ...[0, 1, 2].map((row) => boxOf(opened.locator("td.track .bar").nth(row))),
    ]);
    if (outer === undefined || inner === undefined || next === undefined) throw new Error("a bar is missing");
    for (const bar of [outer, inner, next]) {
      expect(bar.width).toBeGreaterThan(1);
      expect(bar.x).toBeGreaterThanOrEqual(axis.x - 1);
      expect(bar.right).toBeLessThanOrEqual(axis.right + 1);
    }
    expect(inner.x).toBeGreaterThanOrEqual(outer.x - 1);
    expect(inner.right).toBeLessThanOrEqual(outer.right + 1);
    expect(next.x).toBeGreaterThanOrEqual(outer.right - 1);
    await close();
  });

  test("a recorded call shows what each step changed in the result", async () => {
    const { page, close } = await open(url);
    const opened = page.locator("details.call").filter({ hasText: "shop/db-0" });
    await opened.locator("summary").first().click();
    const changes = opened.locator("details.changes").first();
    expect(await changes.locator("li").first().isVisible()).toBe(false);
    await changes.getByText(/^\d+ changes? of the result/).click();
    expect(await changes.innerText()).toMatch(/\/ips[\s\S]*\+ [\s\S]*10\.10\.0\.4\/28/);
    expect(await opened.locator(".identity").innerText()).toMatch(/recorded as \S+_ADD_\S+\.json/);
    await close();
  });

  test("a failed call shows its error and remedy, a pool its fill, and a component its grants", async () => {
    const { page, close } = await open(url);
    const failure = page.locator("#failures li").filter({ hasText: "shop/broken-1" });
    expect(await failure.innerText()).toMatch(/ADD[\s\S]*2 times[\s\S]*fails-with-code[\s\S]*PLUGIN_FAILED[\s\S]*To do: \S+/);
    const meter = page.getByRole("meter", { name: /pods$/ });
    expect(await meter.getAttribute("aria-valuenow")).toBe(String(Math.round((4 / 13) * 100)));
    const component = page.locator("#plugins li").filter({ hasText: "ipam-host-local" }).first();
    const leases = await component.getByRole("row", { name: /^leases/ }).innerText();
    expect(leases).toContain(`✓ within {"directories":["${stage.leases}"]}`);
    expect(await component.getByRole("row", { name: /^log/ }).innerText()).toMatch(/✓ yes$/);
    await page.getByRole("checkbox", { name: "Only failed calls" }).check();
    expect(await page.locator("details.call").count()).toBe(4);
    await close();
  });

  test("shows a new call and its pod without a reload, and keeps what the reader has opened, chosen and typed", async () => {
    const { page, asked, errors, close } = await open(url);
    const opened = page.locator("details.call").filter({ hasText: "shop/cart-2" });
    await opened.locator("summary").click();
    await pictureBox(page, /^pod cart-2/).click();
    const search = page.getByRole("searchbox", { name: /^Filter/ });
    await search.fill("cart");
    expect(await pictureBox(page, /^pod db-0/).count()).toBe(0);
    const pod = stage.pod().path;
    expect((await call("ADD", "cart-9", shop(), pod)).status).toBe(0);
    await page.locator("details.call").filter({ hasText: "shop/cart-9" }).waitFor();
    await pictureBox(page, /^pod cart-9/).waitFor();
    expect(await opened.getAttribute("open")).not.toBeNull();
    expect(await search.inputValue()).toBe("cart");
    expect(await pictureBox(page, /^pod cart-2/).getAttribute("aria-pressed")).toBe("true");
    await page.getByRole("button", { name: "Pause" }).click();
    expect(await page.getByRole("status").innerText()).toBe("Paused");
    expect((await call("DEL", "cart-9", shop(), pod)).status).toBe(0);
    const before = asked.length;
    await page.waitForTimeout(1500);
    expect([asked.length - before, await pictureBox(page, /^pod cart-9/).count()]).toEqual([0, 1]);
    await page.getByRole("button", { name: "Resume" }).click();
    await pictureBox(page, /^pod cart-9/).waitFor({ state: "detached" });
    expect([...new Set(asked)].toSorted()).toEqual([url, `${url}data.json`]);
    expect(errors).toEqual([]);
    await close();
  });

  test.each(["light", "dark"] as const)(
    "has no violation of accessibility rules that axe finds, contrast included: %s",
    async (theme) => {
      const { page, close } = await open(url, theme);
      for (const summary of await page.locator("details > summary").all()) await summary.click();
      await pictureBox(page, /^pod cart-1/).click();
      await page.evaluate(axe);
      const { violations } = await page.evaluate<{
        violations: { id: string; nodes: { html: string; failureSummary: string }[] }[];
      }>(theme === "light" ? "axe.run(document)" : "axe.run(document, { runOnly: ['color-contrast'] })"); // Only the contrast depends on the theme.
      expect(
        violations.map(({ id, nodes }) => [id, nodes.slice(0, 2).map(({ html, failureSummary }) => `${html} ${failureSummary}`)]),
      ).toEqual([]);
      expect(await page.evaluate("getComputedStyle(document.querySelector('.edge')).transitionDuration")).toMatch(/^0s/);
      await close();
    },
  );

  test("the browser refuses each way from a text to HTML, a foreign script and a foreign request", async () => {
    const context = await browser.newContext();
    const page = await context.newPage();
    await page.goto(url);
    const refused = (code: string): Promise<unknown> =>
      page.evaluate(`(async () => { try { ${code}; return "done"; } catch (error) { return error.name; } })()`);
    expect(await refused("document.body.innerHTML = '<p>x</p>'")).toBe("TypeError");
    expect(await refused("document.createElement('script').text = 'globalThis.hacked = 1'")).toBe("TypeError");
    expect(await refused("await fetch('http://127.0.0.1:9/')")).toBe("TypeError");
    await context.close();
  });

  test("names and messages are text, whatever they contain", async () => {
    const answer = await fetch(`${url}data.json`);
    const data = (await answer.json()) as PageData;
    const nasty = [
      hostileName,
      "\u001b[31mred\u001b[0m",
      "\u202egpj.exe",
      "\u200f\u0627\u0644\u0639",
      "x".repeat(10_000),
      "</script><script>hacked=1</script>",
    ];
    const hostile = hostileCopy(data, nasty);
    const { html } = nodePage(hostile, parts(), false);
    const context = await browser.newContext({ viewport: { width: 1280, height: 860 } });
    const page = await context.newPage();
    const errors: string[] = [];
    page.on("console", (message) => message.type() === "error" && errors.push(message.text()));
    page.on("pageerror", (error) => errors.push(error.message));
    await page.route("http://page.example/", (route) => route.fulfill({ contentType: "text/html; charset=utf-8", body: html }));
    await page.goto("http://page.example/");
    for (const summary of await page.locator("details > summary").all()) await summary.click();
    expect(await page.evaluate("[globalThis.hacked ?? 0, document.images.length, document.scripts.length]")).toEqual([0, 0, 2]);
    expect(await page.locator("#attachments").innerText()).toContain(hostileName);
    // No text makes the page wider than the window.
    expect(await page.evaluate("document.documentElement.scrollWidth - window.innerWidth")).toBeLessThanOrEqual(0);
    expect(errors).toEqual([]);
    // The same name, which a runtime gave to a real daemon.
    const live = await open(url);
    expect(await live.page.locator("#failures").innerText()).toContain(`shop/${hostileName}`);
    expect(await live.page.evaluate("[globalThis.hacked ?? 0, document.images.length]")).toEqual([0, 0]);
    await Promise.all([context.close(), live.close()]);
  });

  test("--html writes one file that shows the same without a server and without any request", async () => {
    const file = join(stage.plexus.directory, "node.html");
    const written = spawnSync(process.execPath, [join(dist, "plexusctl.cjs"), "ui", "--html", file, ...places()], {
      encoding: "utf8",
    });
    expect([written.status, written.stderr]).toEqual([0, ""]);
    const { page, asked, errors, close } = await open(`file://${file}`);
    expect(await page.getByRole("status").innerText()).toBe("Saved state");
    expect(await pictureBox(page, /^pod cart-1 \(shop\)/).count()).toBe(1);
    await page.locator("details.call").filter({ hasText: "shop/broken-1" }).first().locator("summary").click();
    expect(await page.getByRole("button", { name: "Pause" }).count()).toBe(0);
    await page.waitForTimeout(1300);
    expect([asked, errors]).toEqual([[`file://${file}`], []]);
    await close();
    expect((statSync(file).mode & 0o777).toString(8)).toBe("600");
    const link = join(stage.plexus.directory, "link.html");
    symlinkSync(file, link);
    const refused = spawnSync(process.execPath, [join(dist, "plexusctl.cjs"), "ui", "--html", link, ...places()], {
      encoding: "utf8",
    });
    expect([refused.status, refused.stderr]).toEqual([
      1,
      expect.stringContaining("a link, a directory or another special file is there"),
    ]);
    const taken = spawnSync(process.execPath, [join(dist, "plexusctl.cjs"), "ui", "--port", new URL(url).port, ...places()], {
      encoding: "utf8",
    });
    expect([taken.status, taken.stderr]).toEqual([
      1,
      expect.stringMatching(/^plexusctl: --port \d+: .*EADDRINUSE.*Choose another port/),
    ]);
    const printed = spawnSync(process.execPath, [join(dist, "plexusctl.cjs"), "ui", "--html", "-", ...places()], {
      encoding: "utf8",
    });
    expect(printed.stdout).toMatch(/^<!doctype html>\n/);
  });

  // Last: it ends the daemon and the server.
  test("says that the daemon is gone, then that the server is gone", async () => {
    const { page, close } = await open(url);
    const pictures = process.env["PLEXUS_TEST_PICTURES"];
    if (pictures !== undefined) await takePictures(pictures);
    daemonRuns = false;
    expect(await daemon.stop()).toBe(0);
    await page.getByText("✕ No daemon answers").waitFor();
    expect(await pictureBox(page, /^pod cart-1/).count()).toBe(1);
    expect(await page.locator("#calls").innerText()).toContain("Only the recorded calls are known: the socket does not exist");
    ui.kill("SIGTERM");
    expect(await once(ui, "exit")).toEqual([0, null]);
    await expect.poll(() => page.getByRole("status").innerText()).toMatch(/^No newer data/);
    await close();
  });

  /** The pictures of the documentation, with a name that does not depend on the machine. */
  async function takePictures(directory: string): Promise<void> {
    const answer = await fetch(`${url}data.json`);
    const data = { ...((await answer.json()) as PageData), node: "worker-1" };
    const tidy = JSON.parse(
      JSON.stringify(data).replaceAll(stage.plexus.directory, "").replaceAll(JSON.stringify(hostileName).slice(1, -1), "web-4"),
    );
    const { html } = nodePage(tidy, parts(), false);
    for (const theme of ["light", "dark"] as const) {
      const context = await browser.newContext({ colorScheme: theme, viewport: { width: 1180, height: 1900 } });
      const page = await context.newPage();
      await page.route("http://page.example/", (route) => route.fulfill({ contentType: "text/html; charset=utf-8", body: html }));
      await page.goto("http://page.example/");
      await page.screenshot({ path: join(directory, `page-node-${theme}.png`), clip: { x: 0, y: 0, width: 1180, height: 730 } });
      await page.locator("details.call").filter({ hasText: "shop/db-0" }).first().locator("summary").first().click();
      await page.locator("details.changes summary").nth(1).click();
      const { x, y, width, height } = await boxOf(page.locator("#calls"));
      const clip = { x: x - 24, y: y - 16, width: width + 48, height: height + 32 };
      await page.screenshot({ path: join(directory, `page-calls-${theme}.png`), clip });
      await context.close();
    }
  }
});

/** The data with hostile texts in the places of names, messages and addresses. */
function hostileCopy(data: PageData, nasty: readonly string[]): PageData {
  let next = 0;
  const kept = new Set(["kind", "verb", "state", "time", "since", "links", "source", "network", "name"]);
  return JSON.parse(JSON.stringify(data), (key, value: unknown) =>
    typeof value === "string" && !kept.has(key) ? nasty[next++ % nasty.length] : value,
  ) as PageData;
}

/** The place of a shown element. */
async function boxOf(locator: Locator) {
  const box = await locator.boundingBox();
  if (box === null) throw new Error("the element is not shown");
  return { ...box, right: box.x + box.width, bottom: box.y + box.height };
}

/** A box of the node's picture, by its accessible name. */
function pictureBox(page: Page, name: RegExp): Locator {
  return page.getByRole("group", { name: "Picture of the node" }).getByRole("button", { name });
}
