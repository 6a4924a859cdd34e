// `digest` and `signedBy` of wasm.grants, and wasm.require, in the installed programs: calls run only the component that the administrator demands.

import { spawnSync } from "node:child_process";
import { copyFileSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { componentManifest } from "../../../src/oci/manifest.ts";
import { wasmConfigType, wasmLayerType } from "../../../src/oci/media-types.ts";
import { signaturesText } from "../../../src/oci/signatures-file.ts";
import { type TestDaemon, startDaemon } from "../../lab/daemon.ts";
import { dist } from "../../lab/plexus.ts";
import { sha256 } from "../../lab/registry/component-node.ts";
import { dsseBundle, makeSigningKey, type SigningKey, signStatement } from "../../lab/registry/cosign-bundle.ts";
import { iproute2, missing, privateNamespaces } from "../../lab/requires.ts";
import { openStage, type Stage } from "../../lab/stage.ts";

const loopback = join(dist, "delegates", "loopback.wasm");
const other = join(dist, "delegates", "tuning.wasm");
const digest = sha256(readFileSync(loopback));
const key = makeSigningKey();

/** The content of TYPE.wasm.signatures.json for a component's file. */
function signatures(file: string, by: SigningKey = key): string {
  const bytes = readFileSync(file);
  const config = { mediaType: wasmConfigType, digest: sha256("{}"), size: 2 };
  const manifest = componentManifest(config, { mediaType: wasmLayerType, digest: sha256(bytes), size: bytes.length });
  return signaturesText([{ manifest, bundles: [dsseBundle(by, signStatement(sha256(manifest)))] }]);
}

describe.each(["one-shot engines", "a daemon"] as const)("demands on components, with %s", (engine) => {
  describe.skipIf(missing("demands on components", privateNamespaces, iproute2))("calls", () => {
    let stage: Stage;
    let daemon: TestDaemon | undefined;
    let component: string;
    beforeEach(async () => {
      stage = openStage({ components: ["loopback"] });
      component = join(stage.plexus.cniPath, "loopback.wasm");
      const socket = join(stage.plexus.directory, "daemon", "plexus.sock");
      daemon = engine === "a daemon" ? await startDaemon({ socket }) : undefined;
    });
    afterEach(async () => {
      await daemon?.stop();
      stage.dispose();
    });

    function config(demand: object, require?: object): object {
      const grants = { loopback: { links: {}, log: {}, ...demand } };
      const wasm = { keys: { release: key.pem }, grants, ...(require === undefined ? {} : { require }) };
      return stage.network([{ type: "loopback" }], { wasm });
    }

    /** Adds a pod and deletes it; answers "0", or code and message of the ADD. */
    async function add(demand: object, require?: object): Promise<string> {
      const pod = stage.pod();
      const env = { PLEXUS_SOCKET: daemon === undefined ? "/nonexistent" : daemon.socket };
      const call = {
        containerId: `pod-${Math.random().toString(36).slice(2)}`,
        netns: pod.path,
        ifname: "lo",
        config: config(demand, require),
        env,
      };
      const answer = await stage.request({ verb: "ADD", ...call });
      const deleted = await stage.request({ verb: "DEL", ...call });
      const isRight = answer.status !== 0 || deleted.status === 0;
      expect({ isRight, deleted }).toEqual({ isRight: true, deleted });
      pod.dispose();
      return answer.status === 0
        ? "0"
        : `${String(answer.json?.["code"])} ${String(answer.json?.["msg"])} ${String(answer.json?.["details"])}`;
    }

    test("E-14: the component of the digest runs, another one is refused with both digests and the remedy", async () => {
      expect(await add({ digest })).toBe("0");
      expect(await add({ digest })).toBe("0");
      const wanted = sha256("another component");
      const refused = await add({ digest: wanted });
      expect(refused).toMatch(/^7 .*loopback\.wasm: the component's digest is sha256:/);
      expect(refused).toContain(digest);
      expect(refused).toContain(wanted);
      expect(refused).toContain("[COMPONENT_DIGEST_DIFFERS]");
      copyFileSync(other, component);
      expect(await add({ digest })).toContain("[COMPONENT_DIGEST_DIFFERS]");
      copyFileSync(loopback, component);
      expect(await add({ digest })).toBe("0");
    });

    test("E-14: only a component that the key has signed runs; a signature counts as soon as it is there", async () => {
      const file = `${component}.signatures.json`;
      const demand = { signedBy: "release" };
      expect(await add(demand)).toMatch(/^7 .*must be signed by release, but has no signature.*\[SIGNATURE_MISSING\]/s);
      writeFileSync(file, signatures(loopback, makeSigningKey()));
      expect(await add(demand)).toMatch(/^7 .*is one by release: signature verification failed.*\[SIGNATURE_INVALID\]/s);
      writeFileSync(file, "no JSON");
      expect(await add(demand)).toContain("[SIGNATURE_INVALID]");
      writeFileSync(file, signatures(loopback));
      expect(await add(demand)).toBe("0");
      expect(await add({ ...demand, digest })).toBe("0");
      // The other component has no signature: that of the former does not count for it.
      copyFileSync(other, component);
      expect(await add(demand)).toContain("[SIGNATURE_MISSING]");
      copyFileSync(loopback, component);
      rmSync(file);
      writeFileSync(file, signatures(other));
      // A daemon has verified these bytes before, and does not verify them in each call.
      expect(await add(demand)).toMatch(engine === "a daemon" ? /^0$/ : /SIGNATURE_MISSING/);
    });

    test("E-14: wasm.require holds for every component, unless the type's grants say otherwise", async () => {
      const required = { signedBy: ["release"], digests: [sha256("another component")] };
      expect(await add({}, required)).toMatch(
        /^7 .*loopback\.wasm: wasm\.require does not list .*must be signed by release, but has no signature.*\[COMPONENT_REQUIREMENT_UNMET\]/s,
      );
      expect(await add({}, { digests: [digest] })).toBe("0");
      // A component that met another requirement does not meet this one.
      expect(await add({}, required)).toContain("[COMPONENT_REQUIREMENT_UNMET]");
      expect(await add({ require: false }, required)).toBe("0");
      expect(await add({ digest }, required)).toBe("0");
      expect(await add({ digest: sha256("x") }, { digests: [digest] })).toContain("[COMPONENT_DIGEST_DIFFERS]");
      writeFileSync(`${component}.signatures.json`, signatures(loopback, makeSigningKey()));
      expect(await add({}, required)).toMatch(/COMPONENT_REQUIREMENT_UNMET/);
      writeFileSync(`${component}.signatures.json`, signatures(loopback));
      expect(await add({}, required)).toBe("0");
    });

    test.skipIf(engine !== "a daemon")("status says what every component must have", async () => {
      await add({}, { digests: [digest] });
      const command = [
        join(dist, "plexusctl.cjs"),
        "status",
        "--status-socket",
        join(dirname(daemon?.socket ?? ""), "status.sock"),
      ];
      await expect
        .poll(() => spawnSync(process.execPath, command, { encoding: "utf8" }).stdout.replaceAll(/\s+/g, " "))
        .toContain("every component must have the digest listed");
    });

    /** Runs plexusctl with this plugin as the node's configuration. */
    function plexusctl(plugin: object, ...args: readonly string[]) {
      const directory = stage.plexus.state("net.d");
      const list = { cniVersion: "1.0.0", name: "cluster", plugins: [plugin] };
      writeFileSync(join(directory, "10-plexus.conflist"), JSON.stringify(list));
      const places = ["--config", directory, "--cni-path", stage.plexus.cniPath];
      return spawnSync(process.execPath, [join(dist, "plexusctl.cjs"), ...args, ...places], { encoding: "utf8" });
    }

    test("explain and component ls report what wasm.require refuses", () => {
      const plugin = config({}, { signedBy: ["release"], digests: [sha256("x")] });
      const ls = ["component", "ls", "--lock", join(stage.plexus.directory, "components.lock.json"), "-o", "json"];
      const refused = plexusctl(plugin, "explain");
      expect(refused.status).toBe(1);
      expect(refused.stdout.replaceAll(/\s+/g, " ")).toContain(
        "Demanded by wasm.require: a signature by release, or the digest listed; NOT met.",
      );
      expect(refused.stdout).toContain("COMPONENT_REQUIREMENT_UNMET");
      const listed = plexusctl(plugin, ...ls);
      expect([listed.status, JSON.parse(listed.stdout)]).toMatchObject([
        1,
        [{ type: "loopback", problem: expect.stringContaining("wasm.require does not list") }],
      ]);
      writeFileSync(`${component}.signatures.json`, signatures(loopback));
      const met = plexusctl(plugin, "explain", "-o", "json");
      const demand = { digest: null, signedBy: null, anyOf: { signedBy: ["release"], digests: [sha256("x")] }, isMet: true };
      expect(JSON.parse(met.stdout)).toMatchObject({ loads: true, networks: [{ steps: [{ demand, problem: null }] }] });
      expect(plexusctl(plugin, ...ls).status).toBe(0);
    });

    test("explain reports the refusals of a call", () => {
      const plugin = config({ signedBy: "release" });
      const refused = plexusctl(plugin, "explain");
      expect(refused.status).toBe(1);
      expect(refused.stdout).toContain("Demanded: a signature by release; NOT met.");
      expect(refused.stdout).toContain("SIGNATURE_MISSING");
      writeFileSync(`${component}.signatures.json`, signatures(loopback));
      const met = plexusctl(plugin, "explain", "-o", "json");
      expect(met.status).toBe(0);
      expect(JSON.parse(met.stdout)).toMatchObject({
        loads: true,
        networks: [{ steps: [{ type: "loopback", demand: { digest: null, signedBy: "release", isMet: true }, problem: null }] }],
      });
    });
  });
});
