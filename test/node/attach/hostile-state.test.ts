// Damaged state and unusual calls. None of them may take a pod's network away, make DEL fail forever, or hide an error.

import { copyFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { afterEach, beforeEach, describe, expect, test } from "vitest";

import { leases } from "../../lab/namespaces.ts";
import { installRecorder } from "../../lab/recorder.ts";
import { manifestsIn } from "../../lab/manifests.ts";
import { bridgeStep, missingForMixed, mixedInstallation, mixedNetwork } from "../../lab/mixed-network.ts";
import { nothing, openStage, type Attaching, type Stage } from "../../lab/stage.ts";

const valid = (...ids: string[]): object => ({
  "cni.dev/valid-attachments": ids.map((containerID) => ({ containerID, ifname: "eth0" })),
});

const ipam = (subnet: string): object => ({ type: "ipam-host-local", ipam: { subnet } });

const hostConfig = (stage: Stage, name: string, manifests: string): object =>
  stage.network([{ type: "recorder" }, ipam("10.14.0.0/24")], { cniVersion: "1.1.0", name, manifests });
/** Writes manifests of two pods with the same secondary network, whose leases a GC of that network could remove. */
const withSecondaryNetwork = (stage: Stage): { readonly manifests: string; args(name: string): string } => {
  installRecorder(stage.plexus.cniPath, "recorder");
  const manifests = manifestsIn(join(stage.plexus.directory, "manifests"));
  writeFileSync(
    join(manifests.directory, "storage.json"),
    JSON.stringify({
      apiVersion: "k8s.cni.cncf.io/v1",
      kind: "NetworkAttachmentDefinition",
      metadata: { name: "storage", namespace: "shop" },
      spec: { config: JSON.stringify({ cniVersion: "1.1.0", name: "storage", plugins: [ipam("10.24.0.0/24")] }) },
    }),
  );
  for (const name of ["a", "b"]) manifests.pod(name, "storage");
  return { manifests: manifests.directory, args: (name) => manifests.argsOf(name) };
};

describe.skipIf(missingForMixed("hostile state"))("hostile state", () => {
  let stage: Stage;
  beforeEach(() => {
    stage = openStage(mixedInstallation);
  });
  afterEach(() => stage.dispose());

  const attaching = (containerId: string): Attaching & { readonly pod: ReturnType<Stage["pod"]> } => ({
    config: mixedNetwork(stage),
    containerId,
    pod: stage.pod(),
  });
  const journalEntry = (name: string): string => join(stage.plexus.state("cni"), "journal", name);

  describe("DEL", () => {
    test("of an interface that was never added keeps the container's other interface", async () => {
      const each = attaching("two");
      await stage.succeed("ADD", each);
      const before = { left: stage.left(), addresses: each.pod.addresses() };
      await stage.succeed("DEL", { ...each, ifname: "eth1" });
      expect({ left: stage.left(), addresses: each.pod.addresses() }).toEqual(before);
      await stage.succeed("DEL", each);
      expect([each.pod.links(), stage.left()]).toEqual([[], nothing]);
    });

    test.each([
      ["empty", ""],
      ["of another program", "another format\n"],
      ["cut", '{"kind":"plexusJournalV1","containerId":"damaged"'],
      [
        "of invalid members",
        '{"kind":"plexusJournalV1","containerId":"damaged","network":"cluster","ifname":"eth0","attachments":[null]}\n',
      ],
    ])("RT-07, MO-08: with a journal entry that is %s undoes the cached results and succeeds", async (_, text) => {
      const each = attaching("damaged");
      await stage.succeed("ADD", each);
      writeFileSync(journalEntry("damaged@cluster@eth0"), text);
      const deleted = await stage.call("DEL", each);
      expect([deleted.status, deleted.stdout, deleted.stderr]).toEqual([
        0,
        "",
        expect.stringMatching(/warning: .*damaged@cluster@eth0/),
      ]);
      expect([each.pod.links(), stage.left()]).toEqual([[], nothing]);
    });

    test("RT-07: of names too long for a file name succeeds, because their ADD was refused", async () => {
      const each = { ...attaching("c".repeat(200)), config: { ...mixedNetwork(stage), name: "n".repeat(100) } };
      expect((await stage.call("ADD", each)).json).toMatchObject({ code: 4 });
      await stage.succeed("DEL", each);
      expect([each.pod.links(), stage.left()]).toEqual([[], nothing]);
    });

    test("of two interfaces succeeds although both journal entries are damaged", async () => {
      const first = attaching("both");
      const second = { ...first, ifname: "eth1", config: stage.network([bridgeStep({ isDefaultGateway: false })]) };
      for (const each of [first, second]) await stage.succeed("ADD", each);
      for (const ifname of ["eth0", "eth1"]) writeFileSync(journalEntry(`both@cluster@${ifname}`), "");
      expect((await stage.call("DEL", first)).status).toBe(0);
      expect([first.pod.links().map((link) => link.name), leases(stage.leases)]).toEqual([["eth1"], [expect.any(String)]]);
      expect((await stage.call("DEL", second)).status).toBe(0);
      expect([first.pod.links(), stage.left()]).toEqual([[], nothing]);
    });

    test.each(["not-there", "/not/there.conflist"])(
      "RT-07: of a pod whose ADD was refused for the absent network %s succeeds",
      async (clusterNetwork) => {
        const each = { config: stage.host({ clusterNetwork }), containerId: "early", pod: stage.pod() };
        expect((await stage.call("ADD", each)).status).toBe(1);
        const deleted = await stage.call("DEL", each);
        expect([deleted.status, deleted.stdout, deleted.stderr]).toEqual([
          0,
          "",
          expect.stringMatching(/warning: nothing was attached.*clusterNetwork/),
        ]);
        expect(stage.left()).toEqual(nothing);
      },
    );

    test("RT-03: that fails names every remaining attachment, without words that go-cni takes for success", async () => {
      const broken = ["one", "two"].map((name) => installRecorder(stage.plexus.cniPath, name));
      const config = stage.host({
        delegates: broken.map(({ name }) => ({ cniVersion: "1.0.0", name: `net-${name}`, plugins: [{ type: name }] })),
      });
      const each = { config, containerId: "stuck", pod: stage.pod() };
      await stage.succeed("ADD", each);
      for (const plugin of broken) {
        plugin.script("DEL", { stdout: `{"code":7,"msg":"link ${plugin.name} not found: no such file or directory"}`, exit: 1 });
      }
      const deleted = await stage.call("DEL", { ...each, pod: "" });
      expect(deleted.json).toMatchObject({ code: 7 });
      for (const { name } of broken) expect(deleted.stdout).toContain(`link ${name}`);
      for (const name of ["default as eth0", "delegates[1] as net1"]) expect(deleted.stdout).toContain(`network ${name}`);
      expect(deleted.stdout).not.toMatch(/not found|no such file or directory/);
    });
  });

  describe("GC", () => {
    const kept = ["pods/10.14.0.2", "pods/10.14.0.3", "storage/10.24.0.2", "storage/10.24.0.3"];

    test("keeps the leases of pods that another configuration attached to the same networks", async () => {
      const { manifests, args } = withSecondaryNetwork(stage);
      const pod = stage.pod();
      await stage.succeed("ADD", { config: hostConfig(stage, "left", manifests), containerId: "a", pod, args: args("a") });
      await stage.succeed("ADD", { config: hostConfig(stage, "right", manifests), containerId: "b", pod, args: args("b") });
      const answer = await stage.request({ verb: "GC", config: { ...hostConfig(stage, "left", manifests), ...valid("a") } });
      expect([answer.status, answer.stdout, leases(stage.leases)]).toEqual([0, "", kept]);
    });

    test.each(["damaged", "gone"])("keeps the leases of a valid pod whose journal entry is %s", async (state) => {
      const { manifests, args } = withSecondaryNetwork(stage);
      const pod = stage.pod();
      for (const containerId of ["a", "b"]) {
        await stage.succeed("ADD", { config: hostConfig(stage, "left", manifests), containerId, pod, args: args(containerId) });
      }
      if (state === "damaged") writeFileSync(journalEntry("b@left@eth0"), "");
      else rmSync(journalEntry("b@left@eth0"));
      await stage.request({ verb: "GC", config: { ...hostConfig(stage, "left", manifests), ...valid("a", "b") } });
      expect(leases(stage.leases)).toEqual(kept);
    });
  });

  test("concurrent STATUS calls all succeed", async () => {
    const recorder = installRecorder(stage.plexus.cniPath, "recorder");
    recorder.script("STATUS", { sleepMs: 300 });
    const config = stage.network([{ type: "recorder" }], { cniVersion: "1.1.0" });
    const answers = await Promise.all([1, 2, 3].map(() => stage.request({ verb: "STATUS", config })));
    expect(answers.map(({ status, stdout }) => [status, stdout])).toEqual([1, 2, 3].map(() => [0, ""]));
    expect(stage.files().run).toEqual([]);
  });

  test("a delegate called `constructor`, a property of every JavaScript object, gets the default grants", async () => {
    copyFileSync(join(stage.plexus.cniPath, "ipam-host-local.wasm"), join(stage.plexus.cniPath, "constructor.wasm"));
    const config = stage.network([{ type: "constructor", ipam: { subnet: "10.15.0.0/24" } }], { wasm: { grants: {} } });
    const each = { config, containerId: "named", pod: stage.pod() };
    expect((await stage.succeed("ADD", each)).json).toMatchObject({
      ips: [{ address: expect.stringMatching(/^10\.15\.0\.\d+\/24$/) }],
    });
    await stage.succeed("DEL", each);
  });

  test("MO-24: a pod's network of type plexus is refused, because its configuration could grant capabilities", async () => {
    const manifests = manifestsIn(join(stage.plexus.directory, "manifests"));
    manifests.network("inner", [{ type: "plexus", trace: join(stage.plexus.directory, "planted"), delegates: [bridgeStep()] }]);
    manifests.pod("web", "inner");
    const config = mixedNetwork(stage, { manifests: manifests.directory });
    const each = { config, containerId: "nested", pod: stage.pod(), args: manifests.argsOf("web") };
    const added = await stage.call("ADD", each);
    expect([added.status, added.json]).toMatchObject([
      1,
      { code: 7, msg: expect.stringMatching(/network shop\/inner: .*plexus/) },
    ]);
    expect([each.pod.links(), stage.left()]).toEqual([[], nothing]);
    await stage.succeed("DEL", each);
  });

  test("MO-24: a pod's network may not name plexus as IPAM or as flannel's delegate either", async () => {
    const { cniPath, directory } = stage.plexus;
    installRecorder(cniPath, "recorder");
    // With components on CNI_PATH, the calling engine itself would answer nested calls. The test needs the path without them.
    for (const file of readdirSync(cniPath)) if (file.endsWith(".wasm")) rmSync(join(cniPath, file));
    const planted = { logFile: join(directory, "planted"), logLevel: "debug", cniDir: join(directory, "planted.d") };
    const hostKeys = { ...planted, delegates: [{ name: "inner", cniVersion: "1.0.0", plugins: [{ type: "recorder" }] }] };
    const manifests = manifestsIn(join(directory, "manifests"));
    const config = stage.network([{ type: "recorder" }], { manifests: manifests.directory });
    for (const plugin of [
      { ...bridgeStep(), ipam: { type: "plexus" } },
      { ...bridgeStep(), ipam: undefined, IPAM: { Type: "plexus" } },
      { type: "flannel", delegate: { ...hostKeys, type: "plexus" } },
    ]) {
      manifests.network("inner", [{ ...hostKeys, ...plugin }]);
      manifests.pod("web", "inner");
      const each = { config, containerId: "nested", pod: stage.pod(), args: manifests.argsOf("web") };
      const added = await stage.call("ADD", each);
      expect([added.status, added.json]).toMatchObject([
        1,
        { code: 7, msg: expect.stringMatching(/network shop\/inner: .*plexus itself/) },
      ]);
      await stage.call("DEL", each);
      expect(readdirSync(directory).filter((name) => name.startsWith("planted"))).toEqual([]);
    }
  });
});
