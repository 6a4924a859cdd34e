// DEL as a whole call: with an entry, without an entry, with a damaged entry, and with repeated failures.

import { mkdirSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { ShimGone } from "../../protocol/shim.ts";
import { CallStage, type StagedAnswer } from "../testing/call-stage.ts";
import { attaching, failing, gone } from "../testing/scripted-shim.ts";

let stage: CallStage;
beforeEach(() => {
  stage = new CallStage();
  stage.shim.install("bridge", attaching("10.0.0.2/24"));
  stage.shim.install("portmap", attaching("10.0.0.2/24"));
  stage.shim.install("macvlan", attaching("10.1.0.2/24"));
  stage.shim.install("ipvlan", attaching("10.2.0.2/24"));
  stage.delegates = [
    { name: "pods", cniVersion: "1.1.0", plugins: [{ type: "bridge" }, { type: "portmap" }] },
    { name: "storage", cniVersion: "1.0.0", plugins: [{ type: "macvlan" }] },
    { name: "backup", cniVersion: "0.3.1", plugins: [{ type: "ipvlan" }] },
  ];
});
afterEach(() => stage.dispose());

const steps = ({ log }: StagedAnswer): readonly string[] => log.filter((line) => /^[A-Z]/.test(line));
/** A DEL of container c1. */
function del(netns = "/run/netns/a"): Promise<StagedAnswer> {
  return stage.call({ verb: "DEL", netns });
}

/** The plan of an entry without its records, as another boot wrote it. */
function planOfEarlierBoot(text: string): string {
  return `${text.split("\n")[0]?.replace(/"bootId":"[^"]*"/, '"bootId":"earlier"')}\n`;
}

const everything = ["DEL ipvlan net2", "DEL macvlan net1", "DEL portmap eth0", "DEL bridge eth0"];
const journal = "journal/c1@cluster@eth0";
const broken = failing(105, "the backend is gone");

describe("DEL with a journal entry", () => {
  test("undoes attachments and their plugins in reverse, then removes cache and entry", async () => {
    await stage.succeed({ verb: "ADD" });
    const deleted = await stage.succeed({ verb: "DEL" });
    expect(deleted.stdout).toBe("");
    expect(deleted.log.filter((line) => !line.startsWith("find"))).toEqual([
      "DEL ipvlan net2",
      "remove results/backup-c1-net2",
      "DEL macvlan net1",
      "remove results/storage-c1-net1",
      "DEL portmap eth0",
      "DEL bridge eth0",
      "remove results/pods-c1-eth0",
      `remove ${journal}`,
    ]);
    expect(stage.stateFiles()).toEqual([]);
  });

  test("gives plugins the final result of their attachment from version 0.4.0 on, and none before", async () => {
    await stage.succeed({ verb: "ADD" });
    await stage.succeed({ verb: "DEL" });
    const results = stage.shim.calls
      .slice(4)
      .map(({ type, configuration: { cniVersion, prevResult } }) => [type, cniVersion, Object(prevResult)["ips"]?.[0]?.address]);
    expect(results).toEqual([
      ["ipvlan", "0.3.1", undefined],
      ["macvlan", "1.0.0", "10.1.0.2/24"],
      ["portmap", "1.1.0", "10.0.0.2/24"],
      ["bridge", "1.1.0", "10.0.0.2/24"],
    ]);
  });

  test("uses the journalled configuration and arguments, not the current ones", async () => {
    await stage.succeed({ verb: "ADD", args: "A=1;B=x=y" });
    stage.delegates = [{ name: "other", cniVersion: "1.1.0", plugins: [{ type: "nothing" }] }];
    const deleted = await stage.succeed({ verb: "DEL", args: "A=2" });
    expect(steps(deleted)).toEqual(everything);
    expect(new Set(stage.shim.calls.slice(4).map(({ args }) => args))).toEqual(new Set(["A=1;B=x=y"]));
  });

  test("passes the runtime's current CNI_NETNS on, also an empty one", async () => {
    await stage.succeed({ verb: "ADD" });
    await stage.succeed({ verb: "DEL", netns: "" });
    expect(new Set(stage.shim.calls.slice(4).map(({ netns }) => netns))).toEqual(new Set([""]));
  });

  test("stops a chain at its failure, goes on with the other attachments, and names the failed ones", async () => {
    await stage.succeed({ verb: "ADD" });
    stage.shim.on("macvlan", "DEL", broken);
    stage.shim.on("portmap", "DEL", failing(106, "no iptables"));
    const deleted = await stage.call({ verb: "DEL" });
    expect(steps(deleted)).toEqual(["DEL ipvlan net2", "DEL macvlan net1", "DEL portmap eth0"]);
    expect([deleted.json["code"], deleted.json["msg"]]).toEqual([
      105,
      'network delegates[1] as net1: plugin type="macvlan" failed (delete): the backend is gone',
    ]);
    expect(deleted.json["details"]).toContain(
      'also: network default as eth0: plugin type="portmap" failed (delete): no iptables',
    );
    expect(stage.stateFiles()).toEqual([journal, "results/pods-c1-eth0", "results/storage-c1-net1"]);
  });

  // host-local's leases may be in /run, and a DEL may end after its address is free: `firewall` would then remove another pod's rules.
  test.each<[string, () => unknown]>([
    ["an earlier DEL that failed", async () => (stage.shim.on("bridge", "DEL", broken), await del())],
    ["another boot", () => stage.edit(journal, (text) => text.replace(/"bootId":"[^"]*"/, '"bootId":"earlier"'))],
    ["another process, which may have been killed in a DEL", () => (stage.startedAt = new Date(Date.now() + 60_000))],
    ["a DEL of a time that the entry does not tell", () => stage.edit(journal, (text) => text.replace(/,"begun":"[^"]*"/, ""))],
    ["a removal of a network that broke off", () => stage.edit(journal, (text) => `${text}{"detaching":0}\n`)],
  ])("gives plugins no result with an address of another container after %s", async (_, happen) => {
    stage.delegates = stage.delegates.slice(0, 1);
    await stage.succeed({ verb: "ADD" });
    await stage.succeed({ verb: "ADD", containerId: "c2" });
    await happen();
    const before = stage.shim.calls.length;
    stage.shim.removeScript("bridge", "DEL");
    await stage.succeed({ verb: "DEL" });
    const given = stage.shim.calls.slice(before).map(({ type, configuration: { prevResult } }) => [type, prevResult]);
    expect(given).toEqual([
      ["portmap", undefined],
      ["bridge", undefined],
    ]);
    // The other container's own DEL has its result again, because nobody else has the address.
    await stage.succeed({ verb: "DEL", containerId: "c2" });
    expect(stage.shim.calls.at(-1)?.configuration["prevResult"]).toBeDefined();
  });

  test("gives plugins no result with an address of another container once another attachment is undone", async () => {
    stage.delegates = stage.delegates.slice(0, 2);
    await stage.succeed({ verb: "ADD" });
    await stage.succeed({ verb: "ADD", containerId: "c2" });
    stage.edit(journal, (text) => `${text}{"undone":1}\n`);
    const before = stage.shim.calls.length;
    await stage.succeed({ verb: "DEL" });
    const given = stage.shim.calls.slice(before).map(({ type, configuration: { prevResult } }) => [type, prevResult]);
    expect(given).toEqual([
      ["portmap", undefined],
      ["bridge", undefined],
    ]);
  });

  test("gives plugins their result where nothing can have freed an address, and reads no other entry for that", async () => {
    stage.delegates = stage.delegates.slice(0, 1);
    await stage.succeed({ verb: "ADD" });
    await stage.succeed({ verb: "ADD", containerId: "c2" });
    const before = stage.shim.calls.length;
    await stage.succeed({ verb: "DEL" });
    const given = stage.shim.calls.slice(before).map(({ type, configuration: { prevResult } }) => [type, prevResult]);
    expect(given).toEqual([
      ["portmap", expect.objectContaining({ ips: [expect.objectContaining({ address: "10.0.0.2/24" })] })],
      ["bridge", expect.anything()],
    ]);
  });

  test("undoes only the attachments that an earlier DEL left", async () => {
    await stage.succeed({ verb: "ADD" });
    stage.shim.on("macvlan", "DEL", broken);
    await stage.call({ verb: "DEL" });
    expect(stage.entry().filter((line) => "undone" in line)).toEqual([{ undone: 2 }, { undone: 0 }]);
    stage.shim.removeScript("macvlan", "DEL");
    expect(steps(await stage.succeed({ verb: "DEL" }))).toEqual(["DEL macvlan net1"]);
    expect(stage.stateFiles()).toEqual([]);
  });

  test("that breaks off because the shim ended is finished by the next DEL", async () => {
    await stage.succeed({ verb: "ADD" });
    stage.shim.on("portmap", "DEL", gone);
    await expect(stage.call({ verb: "DEL" })).rejects.toThrow(ShimGone);
    // The record of an undone attachment is written before the next one begins.
    expect(stage.entry().filter((line) => "undone" in line)).toEqual([{ undone: 2 }, { undone: 1 }]);
    stage.shim.removeScript("portmap", "DEL");
    expect(steps(await stage.succeed({ verb: "DEL" }))).toEqual(["DEL portmap eth0", "DEL bridge eth0"]);
  });

  test("after a reboot undoes the whole plan, also attachments without a record", async () => {
    await stage.succeed({ verb: "ADD" });
    stage.edit(journal, planOfEarlierBoot);
    const deleted = await stage.succeed({ verb: "DEL" });
    expect(steps(deleted)).toEqual(everything);
    expect(stage.shim.calls.at(-1)?.configuration["prevResult"]).toBeUndefined();
  });

  test("runs no plugins of an attachment that was never attempted", async () => {
    await stage.succeed({ verb: "ADD" });
    stage.edit(journal, (text) => `${text.split("\n").slice(0, 2).join("\n")}\n`);
    expect(steps(await stage.succeed({ verb: "DEL" }))).toEqual(["DEL portmap eth0", "DEL bridge eth0"]);
  });

  test("with an unreadable result runs the plugins without prevResult", async () => {
    await stage.succeed({ verb: "ADD" });
    stage.edit(journal, (text) => text.replace(/("attached":1,"result":)"[^\n]*"/, '$1"nonsense"'));
    await stage.succeed({ verb: "DEL" });
    expect(stage.shim.calls.find(({ type, verb }) => type === "macvlan" && verb === "DEL")?.configuration["prevResult"]).toBe(
      undefined,
    );
    expect(stage.stateFiles()).toEqual([]);
  });

  test("fails if its entry cannot be removed, and the next DEL succeeds without a step", async () => {
    await stage.succeed({ verb: "ADD" });
    stage.writeFails = (line) => line === `remove ${journal}`;
    const deleted = await stage.call({ verb: "DEL" });
    expect([deleted.status, deleted.json["msg"]]).toEqual([1, expect.stringContaining("ENOSPC")]);
    // The last attachment's record is written only in this case, so that no attachment is undone again.
    expect(stage.entry().filter((line) => "undone" in line)).toEqual([{ undone: 2 }, { undone: 1 }, { undone: 0 }]);
    stage.writeFails = () => false;
    expect(steps(await stage.succeed({ verb: "DEL" }))).toEqual([]);
    expect(stage.stateFiles()).toEqual([]);
  });

  test("ignores the output of a successful plugin", async () => {
    await stage.succeed({ verb: "ADD" });
    stage.shim.on("bridge", "DEL", () => ({ stdout: "nonsense" }));
    expect((await stage.succeed({ verb: "DEL" })).stdout).toBe("");
  });

  test("rewrites error texts that a runtime takes for success", async () => {
    await stage.succeed({ verb: "ADD" });
    stage.shim.on("bridge", "DEL", failing(1, "link not found: no such file or directory"));
    const { json } = await stage.call({ verb: "DEL" });
    expect(json["msg"]).toContain("link not-found: no-such-file-or-directory");
  });

  test("MO-14: passes no code 3 of a plugin on: the runtime would not repeat the DEL", async () => {
    await stage.succeed({ verb: "ADD" });
    stage.shim.on("bridge", "DEL", failing(3, "no such container"));
    const { json } = await stage.call({ verb: "DEL" });
    expect([json["code"], json["details"]]).toEqual([999, expect.stringContaining("The plugin's code is 3")]);
  });
});

/** The default network with steps of these types. */
function pods(...types: readonly string[]): object {
  return { name: "pods", cniVersion: "1.1.0", plugins: types.map((type) => ({ type })) };
}

describe("DEL of a step that its network has lost since the ADD, as by the uninstallation of a service mesh", () => {
  const further = [{ name: "storage", cniVersion: "1.0.0", plugins: [{ type: "macvlan" }] }];
  beforeEach(async () => {
    stage.shim.install("istio-cni", attaching("10.0.0.2/24"));
    stage.delegates = [pods("bridge", "istio-cni", "portmap"), ...further];
    await stage.succeed({ verb: "ADD" });
  });

  test("FI-34: a step whose plugin is gone and that today's list lacks is left out, as a runtime leaves it out", async () => {
    stage.shim.uninstall("istio-cni");
    stage.delegates = [pods("bridge", "portmap"), ...further];
    const deleted = await stage.succeed({ verb: "DEL" });
    expect(steps(deleted)).toEqual(["DEL macvlan net1", "DEL portmap eth0", "DEL bridge eth0"]);
    expect(deleted.warnings).toEqual([
      expect.stringMatching(/^network default as eth0: the step istio-cni is left out: .*no longer in the list of pods/u),
    ]);
    expect(stage.stateFiles()).toEqual([]);
  });

  test("FI-34: CHECK leaves the same step out", async () => {
    stage.shim.uninstall("istio-cni");
    stage.delegates = [pods("bridge", "portmap"), ...further];
    const checked = await stage.succeed({ verb: "CHECK" });
    expect(steps(checked)).toEqual(["CHECK bridge eth0", "CHECK portmap eth0", "CHECK macvlan net1"]);
  });

  test("the step runs as long as its plugin is installed", async () => {
    stage.delegates = [pods("bridge", "portmap"), ...further];
    expect(steps(await stage.succeed({ verb: "DEL" }))).toContain("DEL istio-cni eth0");
  });

  test.each([
    { case: "today's list has the step", today: ["bridge", "istio-cni", "portmap"], gone: "istio-cni" },
    { case: "the step is the first one, which made the interface", today: ["ptp", "portmap"], gone: "bridge" },
  ])("the missing plugin is a failure if $case", async ({ today, gone: type }) => {
    stage.shim.uninstall(type);
    stage.delegates = [pods(...today), ...further];
    const { json } = await stage.call({ verb: "DEL" });
    expect(json["msg"]).toContain(`failed to find plugin "${type}"`);
  });
});

describe("DEL without an entry", () => {
  test("runs the default network's own DEL without a result, as often as it is called", async () => {
    for (let times = 0; times < 2; times++) {
      const deleted = await stage.succeed({ verb: "DEL" });
      expect(steps(deleted)).toEqual(["DEL portmap eth0", "DEL bridge eth0"]);
    }
    expect(stage.shim.calls.every(({ configuration }) => configuration["prevResult"] === undefined)).toBe(true);
    expect(stage.stateFiles()).toEqual([]);
  });

  test("undoes cached attachments in reverse, the default network last, each with its result", async () => {
    await stage.succeed({ verb: "ADD", args: "A=1" });
    rmSync(join(stage.stateDirectory, journal));
    stage.shim.calls.length = 0;
    const deleted = await stage.succeed({ verb: "DEL" });
    expect(steps(deleted).toSorted()).toEqual(everything.toSorted());
    expect(steps(deleted).slice(-2)).toEqual(["DEL portmap eth0", "DEL bridge eth0"]);
    const results = stage.shim.calls.map(({ type, args, configuration: { prevResult } }) => [
      type,
      args,
      Object(prevResult)["ips"]?.[0]?.address,
    ]);
    expect(results).toContainEqual(["bridge", "A=1", "10.0.0.2/24"]);
    expect(results).toContainEqual(["macvlan", "A=1", "10.1.0.2/24"]);
    expect(stage.stateFiles()).toEqual([]);
  });

  test("leaves attachments alone that the journal has under another call of the container", async () => {
    await stage.succeed({ verb: "ADD", ifname: "eth1" });
    const deleted = await stage.succeed({ verb: "DEL" });
    expect(steps(deleted)).toEqual(["DEL portmap eth0", "DEL bridge eth0"]);
    expect(stage.stateFiles()).toHaveLength(4);
  });

  test("leaves all cached attachments alone while another call's entry is unreadable", async () => {
    await stage.succeed({ verb: "ADD", ifname: "eth1" });
    stage.edit("journal/c1@cluster@eth1", () => "nonsense\n");
    const deleted = await stage.succeed({ verb: "DEL" });
    expect(steps(deleted)).toEqual(["DEL portmap eth0", "DEL bridge eth0"]);
  });

  test("with a missing default network succeeds with a warning", async () => {
    const deleted = await stage.succeed({ verb: "DEL", config: { clusterNetwork: "missing", delegates: undefined } });
    expect(steps(deleted)).toEqual([]);
    expect(deleted.warnings).toEqual([
      expect.stringMatching(/^nothing was attached, and the default network's DEL can't be run: /),
    ]);
  });

  test("is given up after the configured number of failures, without a minimum time", async () => {
    stage.shim.on("bridge", "DEL", broken);
    const config = { del: { tries: 3, seconds: 3600 } };
    const first = await stage.call({ verb: "DEL", config });
    expect(first.json["details"]).toMatch(
      /DEL failed 1 times since .*; no attachment of the container is known, so DEL is given up after 3 failures/,
    );
    const [plan] = stage.entry();
    expect(plan).toMatchObject({ assumed: true, attachments: [{ conflist: "", source: "default" }] });
    expect((await stage.call({ verb: "DEL", config })).status).toBe(1);
    const last = await stage.call({ verb: "DEL", config });
    expect([last.status, last.warnings]).toEqual([
      0,
      [
        expect.stringMatching(
          /^DEL of container c1 failed 3 times since .*the backend is gone\. No attachment of this container is known/,
        ),
      ],
    ]);
    expect(stage.stateFiles()).toEqual([]);
  });

  test("is repeated with the current configuration after a failure", async () => {
    stage.shim.on("bridge", "DEL", broken);
    await stage.call({ verb: "DEL" });
    stage.delegates = [{ name: "mended", cniVersion: "1.1.0", plugins: [{ type: "macvlan" }] }];
    expect(steps(await stage.succeed({ verb: "DEL" }))).toEqual(["DEL macvlan eth0"]);
    expect(stage.stateFiles()).toEqual([]);
  });

  test("with names that are too long for a journal entry succeeds, with the plugin's error as a warning", async () => {
    stage.shim.on("bridge", "DEL", broken);
    const deleted = await stage.call({ verb: "DEL", containerId: "c".repeat(250) });
    expect([deleted.status, deleted.warnings]).toEqual([
      0,
      [
        expect.stringMatching(
          /^the default network's DEL failed: .*backend is gone\. DEL succeeds nevertheless: the names are too long/,
        ),
      ],
    ]);
    expect(stage.stateFiles()).toEqual([]);
  });
});

describe("DEL with a damaged entry", () => {
  beforeEach(async () => {
    await stage.succeed({ verb: "ADD" });
    stage.edit(journal, () => "nonsense\n");
  });

  test("undoes cached attachments, and removes the entry", async () => {
    const deleted = await stage.succeed({ verb: "DEL" });
    expect(steps(deleted).toSorted()).toEqual(everything.toSorted());
    expect(deleted.warnings).toEqual([
      expect.stringMatching(/the attachments in the result cache and the configuration are undone/),
    ]);
    expect(stage.stateFiles()).toEqual([]);
  });

  test("abandons the entry if the cache has no attachment either, and undoes the default network", async () => {
    for (const name of readdirSync(join(stage.stateDirectory, "results"))) stage.edit(`results/${name}`, () => "nonsense");
    const deleted = await stage.succeed({ verb: "DEL" });
    expect(steps(deleted)).toEqual(["DEL portmap eth0", "DEL bridge eth0"]);
    expect(deleted.warnings[1]).toMatch(
      /^ABANDONED: the attachments of container c1 are unknown; its damaged journal entry is kept as .*abandoned\/1@c1@cluster@eth0$/,
    );
    expect(stage.stateFiles()).toContain("abandoned/1@c1@cluster@eth0");
    expect(stage.stateFiles()).not.toContain(journal);
  });

  test("writes a new entry with the remaining attachments and one failure, if a plugin fails", async () => {
    stage.shim.on("macvlan", "DEL", broken);
    const deleted = await stage.call({ verb: "DEL" });
    expect(deleted.json["code"]).toBe(105);
    const [plan, ...records] = stage.entry();
    expect(plan).not.toHaveProperty("assumed");
    expect(plan?.["attachments"]).toHaveLength(3);
    expect(records.at(-1)).toMatchObject({ why: expect.stringContaining("the backend is gone") });
    expect(stage.stateFiles()).toContain("abandoned/1@c1@cluster@eth0");
    stage.shim.removeScript("macvlan", "DEL");
    expect(steps(await stage.succeed({ verb: "DEL" }))).toEqual(["DEL macvlan net1"]);
  });
});

describe("RT-07: DEL that fails again and again", () => {
  const terms = { del: { tries: 3, seconds: 100 } };
  beforeEach(async () => {
    stage.config = terms;
    await stage.succeed({ verb: "ADD" });
    stage.shim.on("macvlan", "DEL", broken);
  });

  test("is given up after the configured number of failures and time", async () => {
    const [first, second, third] = [await del(), await del(), await del()];
    expect(first.json["details"]).toMatch(/DEL failed 1 times since \d{4}-.*; DEL is given up after 3 failures and 100 s/);
    expect(second.json["details"]).toContain("DEL failed 2 times since");
    // Three failures, but less than 100 s.
    expect([third.status, third.json["details"]]).toEqual([1, expect.stringContaining("DEL failed 3 times since")]);
    stage.aheadMs = 101_000;
    const fourth = await del();
    expect([fourth.status, fourth.stdout]).toEqual([0, ""]);
    expect(fourth.warnings).toEqual([
      expect.stringMatching(
        /^ABANDONED: DEL of container c1, network cluster, eth0 failed 4 times since .* may have leaked: delegates\[1\] as net1 10\.1\.0\.2\/24 link host-net1\. The last reason: .*the backend is gone\..*abandoned\/1@c1@cluster@eth0$/s,
      ),
    ]);
    expect(stage.stateFiles()).toEqual(["abandoned/1@c1@cluster@eth0"]);
  });

  test("is not given up before the configured number of failures, whatever time has passed", async () => {
    stage.aheadMs = 3_600_000;
    expect((await del()).status).toBe(1);
    stage.aheadMs = 7_200_000;
    expect((await del()).status).toBe(1);
    stage.aheadMs = 7_200_001;
    expect((await del()).status).toBe(0);
  });

  test.each([
    ["the runtime names no namespace", ""],
    ["the namespace's path does not exist", "/run/netns/gone"],
  ])("is given up without a minimum time if %s", async (_what, netns) => {
    expect([(await del(netns)).status, (await del(netns)).status, (await del(netns)).status]).toEqual([1, 1, 0]);
  });

  test("is given up without a minimum time after a reboot", async () => {
    stage.edit(journal, (text) => text.replace(/"bootId":"[^"]*"/, '"bootId":"earlier"'));
    expect([(await del()).status, (await del()).status, (await del()).status]).toEqual([1, 1, 0]);
  });

  test("keeps at most 300 characters of each reason", async () => {
    stage.shim.on("macvlan", "DEL", failing(105, "x".repeat(1000)));
    await del();
    expect(String(stage.entry().at(-1)?.["why"])).toHaveLength(300);
  });

  test("is tried again by a further DEL, which succeeds even if that fails", async () => {
    stage.config = { del: { tries: 1, seconds: 1 } };
    expect((await del("")).status).toBe(0);
    const vain = await stage.succeed({ verb: "DEL" });
    // CNI_NETNS is empty, because the path may be another pod's.
    expect([steps(vain), stage.shim.calls.at(-1)?.netns]).toEqual([["DEL macvlan net1"], ""]);
    expect(vain.warnings).toEqual([expect.stringMatching(/^still abandoned: .*1@c1@cluster@eth0: .*the backend is gone/)]);
    stage.shim.removeScript("macvlan", "DEL");
    const done = await stage.succeed({ verb: "DEL" });
    expect([steps(done), done.warnings, stage.stateFiles()]).toEqual([["DEL macvlan net1"], [], []]);
  });

  test("is tried again by the next ADD of the same container", async () => {
    stage.config = { del: { tries: 1, seconds: 1 } };
    await del("");
    stage.shim.removeScript("macvlan", "DEL");
    const added = await stage.succeed({ verb: "ADD" });
    expect(steps(added)).toEqual([
      "DEL macvlan net1",
      "ADD bridge eth0",
      "ADD portmap eth0",
      "ADD macvlan net1",
      "ADD ipvlan net2",
    ]);
    expect(stage.stateFiles().filter((name) => name.startsWith("abandoned"))).toEqual([]);
  });

  test("is tried again without a result whose address another pod has meanwhile", async () => {
    stage.config = { del: { tries: 1, seconds: 1 } };
    await del("");
    await stage.succeed({ verb: "ADD", containerId: "c2" });
    stage.shim.removeScript("macvlan", "DEL");
    await stage.succeed({ verb: "DEL" });
    const last = stage.shim.calls.at(-1);
    // Without a result, a plugin that undoes by address leaves the other pod alone.
    expect([last?.type, last?.containerId, last?.configuration["prevResult"]]).toEqual(["macvlan", "c1", undefined]);
  });

  test("fails with both reasons if the entry cannot be moved to the abandoned attachments", async () => {
    stage.config = { del: { tries: 1, seconds: 1 } };
    stage.edit("abandoned", () => "a file in the place of the directory");
    const deleted = await del("");
    expect([deleted.status, deleted.json["msg"]]).toEqual([1, expect.stringContaining("the backend is gone")]);
    expect(deleted.json["details"]).toMatch(/also: (?:listing|moving the abandoned entry) .*abandoned/);
  });

  test("numbers a second record of the same container", async () => {
    stage.config = { del: { tries: 1, seconds: 1 } };
    await del("");
    mkdirSync(join(stage.stateDirectory, "journal"), { recursive: true });
    await stage.succeed({ verb: "ADD" });
    await del("");
    expect(stage.stateFiles().filter((name) => name.startsWith("abandoned"))).toEqual([
      "abandoned/1@c1@cluster@eth0",
      "abandoned/2@c1@cluster@eth0",
    ]);
  });
});

describe("the order of calls", () => {
  test("DEL waits for the lock of its container within its own deadline", async () => {
    const { containerByte } = await import("../call/call-locks.ts");
    stage.holdLock({ byte: containerByte({ containerId: "c1", network: "cluster", ifname: "eth0" }), shared: false });
    const deleted = await stage.call({ verb: "DEL", config: { callTimeoutMs: 200 } });
    expect([deleted.json["code"], steps(deleted)]).toEqual([11, []]);
    expect(steps(await stage.succeed({ verb: "DEL", containerId: "c2" }))).toEqual(["DEL portmap eth0", "DEL bridge eth0"]);
  });
});
