// Components as OCI artifacts against Debian's docker-registry, which has no referrers API: push, sign, verify, pull, save and load.

import { copyFileSync, existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { dist, missingBuild } from "../../harness/plexus.ts";
import { attachBundle, ComponentNode, sha256 } from "../../harness/registry/component-node.ts";
import { dsseBundle, makeSigningKey, messageBundle, signStatement } from "../../harness/registry/cosign-bundle.ts";
import { dockerRegistry, goBuilt } from "../../harness/registry/programs.ts";
import { type Registry, startReferrersRegistry, startRegistry } from "../../harness/registry/registry.ts";
import { missing } from "../../harness/requires.ts";

const build = missingBuild({ components: ["tuning", "loopback"] });
if (build !== undefined) throw new Error(build);

const tuning = join(dist, "delegates", "tuning.wasm");
const loopback = join(dist, "delegates", "loopback.wasm");
const manifestType = "application/vnd.oci.image.manifest.v1+json";

describe.each(["docker-registry", "crane"] as const)("components in %s", (kind) => {
  const requirement = kind === "docker-registry" ? dockerRegistry : goBuilt("crane");
  describe.skipIf(missing(`components in ${kind}`, requirement))("a registry", () => {
    let registry: Registry;
    let home: ComponentNode;
    let node: ComponentNode;
    let plain: readonly string[];
    const key = makeSigningKey();

    beforeAll(async () => {
      home = new ComponentNode();
      registry =
        kind === "crane" ? await startReferrersRegistry(home.directory) : await startRegistry({ directory: home.directory });
      plain = ["--plain-http", registry.host];
    });
    afterAll(async () => {
      await registry?.dispose();
      home?.dispose();
    });
    beforeEach(() => {
      node = new ComponentNode();
    });
    afterEach(() => node.dispose());

    async function push(
      file: string,
      name: string,
    ): Promise<{ readonly reference: string; readonly manifestDigest: string; readonly digest: string }> {
      const { status, stdout, stderr } = await node.run("push", file, `${registry.host}/${name}`, ...plain, "-o", "json");
      expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
      return JSON.parse(stdout);
    }

    async function get(path: string): Promise<string> {
      const answer = await fetch(`http://${registry.host}/v2/${path}`, { headers: { Accept: manifestType } });
      expect(answer.status).toBe(200);
      return answer.text();
    }

    /** Pushes and signs `file` under a name of its own. */
    async function signed(
      name: string,
      file = tuning,
      signer = key,
    ): Promise<{ readonly reference: string; readonly manifestDigest: string; readonly digest: string }> {
      const pushed = await push(file, `${name}:1`);
      const manifest = await get(`${name}/manifests/${pushed.manifestDigest}`);
      await attachBundle(registry.host, name, dsseBundle(signer, signStatement(pushed.manifestDigest)), manifest);
      return pushed;
    }

    test("E-13: push writes the CNCF TAG Runtime's format, and the same digest each time", async () => {
      const first = await push(tuning, "format/tuning:1");
      const second = await push(tuning, "format/tuning:2");
      expect(second.manifestDigest).toBe(first.manifestDigest);
      const text = await get("format/tuning/manifests/1");
      expect(sha256(text)).toBe(first.manifestDigest);
      const manifest = JSON.parse(text);
      const bytes = readFileSync(tuning);
      expect(manifest).toMatchObject({
        schemaVersion: 2,
        mediaType: manifestType,
        config: { mediaType: "application/vnd.wasm.config.v0+json" },
        layers: [{ mediaType: "application/wasm", digest: sha256(bytes), size: bytes.length }],
      });
      expect(JSON.parse(await get(`format/tuning/blobs/${manifest.config.digest}`))).toEqual({
        created: "1970-01-01T00:00:00Z",
        architecture: "wasm",
        os: "wasip2",
        layerDigests: [sha256(bytes)],
        component: {
          exports: ["cni:delegate/plugin@0.1.0"],
          imports: expect.arrayContaining(["cni:delegate/sysctl@0.1.0"]),
          target: "cni:delegate/delegate@0.1.0",
        },
      });
    });

    test("push refuses a file that is no delegate", async () => {
      const { status, stderr } = await node.run("push", node.file("a.wasm", "no component"), `${registry.host}/a/b:1`, ...plain);
      expect(status).toBe(1);
      expect(stderr).toContain("component refused");
    });

    test("E-14: pull installs a component that the key has signed, with its signatures and an entry in the lock file", async () => {
      const { reference, manifestDigest, digest } = await signed("signed/tuning");
      const cosignPub = node.file("cosign.pub", key.pem);
      expect(await node.pull(reference, "--key", cosignPub, ...plain)).toMatchObject({ status: 0, stderr: "" });
      expect(node.files()).toEqual(["tuning.wasm", "tuning.wasm.signatures.json"]);
      expect(sha256(node.read("tuning.wasm"))).toBe(digest);
      expect(statSync(join(node.bin, "tuning.wasm")).mode & 0o777).toBe(0o644);
      expect(JSON.parse(readFileSync(node.lock, "utf8"))).toEqual({
        apiVersion: "plexus/v1",
        kind: "ComponentLock",
        components: [
          { type: "tuning", file: join(node.bin, "tuning.wasm"), digest, manifestDigest, source: reference, signer: "cosign" },
        ],
      });
    });

    test("E-14: a signature of the manifest's own bytes counts, one of another key does not", async () => {
      const other = makeSigningKey();
      const { manifestDigest } = await push(tuning, "message/tuning:1");
      const manifest = await get(`message/tuning/manifests/${manifestDigest}`);
      const reference = `${registry.host}/message/tuning:1`;
      const [right, wrong] = [node.file("right.pub", key.pem), node.file("wrong.pub", other.pem)];
      await attachBundle(registry.host, "message/tuning", messageBundle(key, manifest), manifest);
      expect(await node.run("verify", "--key", right, reference, ...plain)).toMatchObject({
        status: 0,
        stdout: expect.stringContaining("signed by right"),
      });
      const refused = await node.run("verify", "--key", wrong, reference, ...plain);
      expect(refused).toMatchObject({ status: 1, stdout: "" });
      expect(refused.stderr).toContain("[SIGNATURE_INVALID]");
    });

    test("save and load carry a component with its signatures over a directory, without a change of a digest", async () => {
      const { manifestDigest } = await signed("carried/tuning");
      const layout = join(node.directory, "layout");
      const cosignPub = node.file("cosign.pub", key.pem);
      expect(await node.run("save", `${registry.host}/carried/tuning:1`, layout, ...plain)).toMatchObject({
        status: 0,
        stdout: expect.stringContaining("with 1 signature"),
      });
      expect(JSON.parse(readFileSync(join(layout, "oci-layout"), "utf8"))).toEqual({ imageLayoutVersion: "1.0.0" });
      const target = `${registry.host}/arrived/tuning:1`;
      expect(await node.run("load", layout, target, ...plain)).toMatchObject({ status: 0 });
      for (const reference of [`oci-layout:${layout}:1`, target]) {
        const { stdout } = await node.run("verify", "--key", cosignPub, reference, ...plain, "-o", "json");
        expect(JSON.parse(stdout)).toMatchObject({ manifestDigest, signers: ["cosign"] });
      }
      // A node without a registry installs from the directory.
      expect(await node.pull(`oci-layout:${layout}:1`, "--type", "tuning", "--key", cosignPub)).toMatchObject({ status: 0 });
      expect(node.files()).toContain("tuning.wasm");
    });

    test("a list is installed as a whole, keeps what is right without the registry, and removes what is no longer listed", async () => {
      const first = await signed("list/tuning");
      const second = await signed("list/loopback", loopback);
      const list = (components: readonly object[]): string =>
        node.file("components.json", { keys: { release: key.pem }, components });
      const listed = [
        { type: "tuning", reference: first.reference },
        { type: "lo", reference: `${registry.host}/list/loopback:1`, signedBy: "release" },
      ];
      expect(await node.pull("--list", list(listed), ...plain)).toMatchObject({ status: 0, stderr: "" });
      expect(node.files().filter((name) => name.endsWith(".wasm"))).toEqual(["lo.wasm", "tuning.wasm"]);
      const before = statSync(join(node.bin, "tuning.wasm")).mtimeMs;
      // Nothing listens at this port: the pinned component needs no registry, and the signed one stays with a warning.
      const elsewhere = listed.map((each) => ({ ...each, reference: each.reference.replace(registry.host, "127.0.0.1:1") }));
      const lock = JSON.parse(readFileSync(node.lock, "utf8"));
      writeFileSync(node.lock, JSON.stringify(lock).replaceAll(registry.host, "127.0.0.1:1"));
      const offline = await node.pull("--list", list(elsewhere), "--plain-http", "127.0.0.1:1");
      expect(offline).toMatchObject({ status: 0, stderr: "" });
      expect(offline.stdout).toContain("warning: lo: the installed component stays");
      expect(statSync(join(node.bin, "tuning.wasm")).mtimeMs).toBe(before);
      // A component that the administrator replaced by another digest does not stay because its registry is away.
      const repinned = elsewhere.map((each) => (each.type === "lo" ? { ...each, digest: `sha256:${"1".repeat(64)}` } : each));
      const refused = await node.pull("--list", list(repinned), "--plain-http", "127.0.0.1:1");
      expect(refused).toMatchObject({ status: 1, stderr: expect.stringContaining("[REGISTRY_UNREACHABLE]") });
      expect(await node.pull("--list", list([{ type: "lo", reference: second.reference }]), ...plain)).toMatchObject({
        status: 0,
      });
      expect(node.files()).toEqual(["lo.wasm", "lo.wasm.signatures.json"]);
      const ls = await node.run("ls", "--cni-path", node.bin, "--lock", node.lock, "--config", node.directory, "-o", "json");
      expect(JSON.parse(ls.stdout)).toMatchObject([
        { type: "lo", digest: second.digest, source: second.reference, delegate: "loopback 0.1.0" },
      ]);
    });

    test("a component that Plexus did not install is replaced with --force only", async () => {
      const { reference } = await push(tuning, "foreign/tuning:1");
      copyFileSync(loopback, join(node.bin, "tuning.wasm"));
      const refused = await node.pull(reference, ...plain);
      expect(refused.status).toBe(1);
      expect(refused.stderr).toContain("[COMPONENT_OCCUPIED]");
      expect(sha256(node.read("tuning.wasm"))).toBe(sha256(readFileSync(loopback)));
      expect(existsSync(node.lock)).toBe(false);
      expect(await node.pull(reference, "--force", ...plain)).toMatchObject({ status: 0 });
      expect(sha256(node.read("tuning.wasm"))).toBe(sha256(readFileSync(tuning)));
    });

    test("a list with one wrong component changes nothing", async () => {
      const good = await push(tuning, "half/tuning:1");
      const list = node.file("components.json", {
        components: [
          { type: "tuning", reference: good.reference },
          { type: "gone", reference: `${registry.host}/half/gone@sha256:${"0".repeat(64)}` },
        ],
      });
      const refused = await node.pull("--list", list, ...plain);
      expect(refused.status).toBe(1);
      expect(refused.stderr).toContain("gone: ");
      expect(refused.stderr).toContain("[ARTIFACT_NOT_FOUND]");
      expect(node.files()).toEqual([]);
      expect(existsSync(node.lock)).toBe(false);
    });
  });
});
