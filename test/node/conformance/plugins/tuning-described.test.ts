// The cases of the reference tuning's tests, run by the delegate through the installed binary and a daemon.

import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { inNamespace } from "../../../lab/namespaces.ts";
import { iproute2, linkType, missing, privateNamespaces, referencePlugins } from "../../../lab/requires.ts";
import type { LinkFacts } from "./namespace-state.ts";
import { runDelegateOnly, type Outcome, comparableAnswer } from "./run-configurations.ts";
import { type Configuration, patience, SideBySide } from "./side-by-side.ts";
import { described as tuningDescribed } from "./tuning-described.ts";

const succeeded = { status: 0, stdout: "" };

const somaxconn = "/proc/sys/net/core/somaxconn";

const fresh = (more: Partial<Configuration>): Configuration => ({
  name: "fresh",
  step: {},
  ifname: "fresh0",
  pod: 0,
  before: { interfaces: [{ name: "fresh0", sandbox: "NETNS" }], dns: {} },
  ...more,
});

describe.skipIf(
  missing("the cases of the reference tuning's tests", privateNamespaces, iproute2, linkType("veth"), referencePlugins("tuning")),
)("the delegate tuning", () => {
  let side: SideBySide;
  let outcomes: ReadonlyMap<string, Outcome>;
  let before: ReadonlyMap<string, LinkFacts>;
  const all = tuningDescribed.flatMap(({ configurations }) => configurations);
  const directories = (): readonly [string, string] => [join(side.state, "tuning"), join(side.state, "elsewhere")];
  const keys = ["net/core/*", "net/ipv4/conf/all/log_martians", "net/ipv4/conf/IFNAME/*", "net/ipv6/conf/IFNAME/*"];
  const grant = (allowlist?: string): object => ({
    log: {},
    links: {},
    sysctl: { keys, ...(allowlist === undefined ? {} : { allowlist }) },
    state: { directories: directories() },
  });
  const call = (verb: string, configuration: Configuration): ReturnType<SideBySide["call"]> =>
    side.call(verb, configuration, side.prepare(configuration)("wasm", "wasm"), "wasm");

  beforeAll(async () => {
    side = await SideBySide.open({ type: "tuning", pods: 2, settings: ["ipv4/conf", "ipv6/conf"], grants: {}, lanes: 6 });
    for (const directory of directories()) mkdirSync(directory, { recursive: true });
    const pod = `netns ${side.pod("wasm", 0)}`;
    await side.ip(
      [...all.map(({ ifname }) => ifname), "fresh0"].map(
        (name, at) => `link add ${name} ${pod} type veth peer name q${at} ${pod}`,
      ),
    );
    before = await side.links("wasm");
    const [defaultDirectory, elsewhere] = directories();
    const configurations = all.map((each) => ({
      ...each,
      grants: { tuning: grant() },
      step: { ...each.step, dataDir: each.step["dataDir"] === undefined ? defaultDirectory : elsewhere },
    }));
    outcomes = await runDelegateOnly(side, configurations);
  }, patience);
  afterAll(() => side.close(), patience);

  test.each(tuningDescribed)("$title, in old and new versions", ({ configurations, made, settings = {} }) => {
    for (const configuration of configurations) {
      const { added, made: facts, checked = succeeded, deleted, left } = outcomes.get(configuration.name) ?? {};
      const linkBefore = before.get(`0 ${configuration.ifname}`);
      expect([added?.stdout, added?.status, checked, deleted]).toMatchObject([
        expect.stringContaining(configuration.cniVersion ?? ""),
        0,
        succeeded,
        succeeded,
      ]);
      expect(facts).toMatchObject({
        link: { ...linkBefore?.link, ...made, promiscuity: expect.any(Number), allmulti: expect.any(Number) },
        settings,
      });
      expect(left?.link).toEqual(linkBefore?.link);
      // The result is the preceding step's, with the new MAC if the configuration has one.
      const expectedAnswer = { status: 0, stdout: "", json: { cniVersion: configuration.cniVersion, ...configuration.before } };
      const expectedText = JSON.stringify(
        comparableAnswer(side, configuration, "wasm", { ...expectedAnswer, stdout: JSON.stringify(expectedAnswer.json) }),
      );
      const mac = made["mac"];
      const changed = typeof mac === "string" ? expectedText.replace("0a:58:0a:01:00:02", mac) : expectedText;
      expect(added === undefined ? "" : JSON.stringify(comparableAnswer(side, configuration, "wasm", added))).toBe(changed);
    }
    expect(directories().flatMap((directory) => readdirSync(directory))).toEqual([]);
  });

  test("does not allow sysctls that are not on the allow-list, and allows those that are", async () => {
    const allowlist = join(side.state, "allowlist.conf");
    const configuration = fresh({
      step: { sysctl: { "net.ipv4.conf.all.log_martians": "0" } },
      grants: { tuning: grant(allowlist) },
    });
    writeFileSync(allowlist, "^net\\.ipv4\\.conf\\.other\\.[a-z_]*$\n");
    const refused = await call("ADD", configuration);
    expect(refused.json).toMatchObject({ code: 7, msg: expect.stringContaining("matches no line of") });
    writeFileSync(allowlist, "^net\\.ipv4\\.conf\\.all\\.[a-z_]*$\n");
    expect(await call("ADD", configuration)).toMatchObject({ status: 0 });
    expect(await call("DEL", configuration)).toMatchObject(succeeded);
  });

  test("does not allow duplicated sysctl values", async () => {
    const configuration = fresh({ step: { sysctl: { "net.core.somaxconn": "1" } }, grants: { tuning: grant() } });
    const text = JSON.stringify(side.prepare(configuration)("wasm", "wasm"));
    const twice = text.replace('"net.core.somaxconn":"1"', '"net.core.somaxconn":"1","net.core.somaxconn":"2"');
    const refused = await side.lanes.call(
      join(side.plexus.cniPath, "plexus"),
      { verb: "ADD", containerId: "twice", netns: side.path("wasm", 0), ifname: "fresh0", stdin: twice },
      side.plexus.cniPath,
    );
    expect(refused.json).toMatchObject({ code: 6, msg: expect.stringContaining("twice in one object") });
    const spelled = fresh({
      step: { sysctl: { "net.core.somaxconn": "1", "net/core/somaxconn": "2" } },
      grants: { tuning: grant() },
    });
    expect((await call("ADD", spelled)).json).toMatchObject({ code: 7, msg: expect.stringContaining("which another key sets") });
  });

  test("does not allow ifname with path separator", async () => {
    const refused = await call("ADD", fresh({ ifname: "eth/0", grants: { tuning: grant() } }));
    expect(refused).toMatchObject({ status: 1, json: { code: 4, msg: expect.stringContaining("eth/0") } });
  });

  test("refuses a sysctl that is not granted, and the error names the grant's key", async () => {
    const refused = await call("ADD", fresh({ step: { sysctl: { "net.ipv4.ip_forward": "1" } }, grants: { tuning: grant() } }));
    expect(refused.json).toMatchObject({ msg: expect.stringContaining("wasm.grants.tuning.sysctl.keys") });
  });

  test("deletes its backup on DEL if the namespace no longer exists", async () => {
    const configuration = fresh({ pod: 1, step: { mtu: 1400, dataDir: directories()[0] }, grants: { tuning: grant() } });
    await side.ip([`link add fresh0 netns ${side.pod("wasm", 1)} type veth peer name q0 netns ${side.pod("wasm", 1)}`]);
    expect(await call("ADD", configuration)).toMatchObject({ status: 0 });
    expect(readdirSync(directories()[0])).toEqual([`wasm-fresh_fresh0.json`]);
    await side.ip([`netns delete ${side.pod("wasm", 1)}`]);
    expect(await call("DEL", configuration)).toMatchObject(succeeded);
    expect(readdirSync(directories()[0])).toEqual([]);
    await side.ip([`netns add ${side.pod("wasm", 1)}`]);
  });

  test("undoes its changes if the interface cannot be changed", async () => {
    const step = { sysctl: { "net.core.somaxconn": "321" }, mac: "01:00:5e:00:00:01" };
    const configuration = fresh({ step: { ...step, dataDir: directories()[0] }, grants: { tuning: grant() } });
    const { exec } = inNamespace(side.path("wasm", 0));
    const linkBefore = exec(["cat", somaxconn]);
    expect(await call("ADD", configuration)).toMatchObject({ status: 1 });
    expect([exec(["cat", somaxconn]), readdirSync(directories()[0])]).toEqual([linkBefore, []]);
  });
});
