// Components as OCI artifacts in a registry: push, sign, verify, pull, save and load.

import { copyFileSync, existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { dist, missingBuild } from "../../lab/plexus.ts";
import { sha256 } from "../../lab/registry/component-node.ts";
import { dsseBundle, makeSigningKey, messageBundle, signStatement } from "../../lab/registry/cosign-bundle.ts";
import { type PushedComponent, withEachRegistry } from "../../lab/registry/each-registry.ts";

const build = missingBuild({ components: ["tuning", "loopback"] });
if (build !== undefined) throw new Error(build);

const tuning = join(dist, "delegates", "tuning.wasm");
const loopback = join(dist, "delegates", "loopback.wasm");
const manifestType = "application/vnd.oci.image.manifest.v1+json";

withEachRegistry("components", [], (at) => {
  const key = makeSigningKey();

  /** Pushes and signs `file` under a name of its own. */
  async function signed(name: string, file = tuning): Promise<PushedComponent> {
    const pushed = await at.push(file, `${name}:1`);
    await at.attach(name, dsseBundle(key, signStatement(pushed.manifestDigest)), pushed.manifestDigest);
    return pushed;
  }

  test("E-13: push writes the CNCF TAG Runtime's format, and the same digest each time", async () => {
    const first = await at.push(tuning, "format/tuning:1");
    const second = await at.push(tuning, "format/tuning:2");
    expect(second.manifestDigest).toBe(first.manifestDigest);
    const text = await at.get("format/tuning/manifests/1");
    expect(sha256(text)).toBe(first.manifestDigest);
    const manifest = JSON.parse(text);
    const bytes = readFileSync(tuning);
    expect(manifest).toMatchObject({
      schemaVersion: 2,
      mediaType: manifestType,
      config: { mediaType: "application/vnd.wasm.config.v0+json" },
      layers: [{ mediaType: "application/wasm", digest: sha256(bytes), size: bytes.length }],
    });
    expect(JSON.parse(await at.get(`format/tuning/blobs/${manifest.config.digest}`))).toEqual({
      created: "1970-01-01T00:00:00Z",
      architecture: "wasm",
      os: "wasip2",
      layerDigests: [sha256(bytes)],
      component: {
        exports: ["cni:delegate/plugin@1.0.0"],
        imports: expect.arrayContaining(["cni:delegate/sysctl@1.0.0"]),
        target: "cni:delegate/delegate@1.0.0",
      },
    });
  });

  test("push refuses a file that is no delegate", async () => {
    const { status, stderr } = await at.node.run(
      "push",
      at.node.file("a.wasm", "no component"),
      `${at.registry.host}/a/b:1`,
      ...at.plain,
    );
    expect(status).toBe(1);
    expect(stderr).toContain("component refused");
  });

  test("E-14: pull installs a component that the key has signed, with its signatures and an entry in the lock file", async () => {
    const { reference, manifestDigest, digest } = await signed("signed/tuning");
    const cosignPub = at.node.file("cosign.pub", key.pem);
    expect(await at.node.pull(reference, "--key", cosignPub, ...at.plain)).toMatchObject({ status: 0, stderr: "" });
    expect(at.node.files()).toEqual(["tuning.wasm", "tuning.wasm.signatures.json"]);
    expect(sha256(at.node.read("tuning.wasm"))).toBe(digest);
    expect(statSync(join(at.node.bin, "tuning.wasm")).mode & 0o777).toBe(0o644);
    expect(JSON.parse(readFileSync(at.node.lock, "utf8"))).toEqual({
      apiVersion: "plexus/v1",
      kind: "ComponentLock",
      components: [
        { type: "tuning", file: join(at.node.bin, "tuning.wasm"), digest, manifestDigest, source: reference, signer: "cosign" },
      ],
    });
  });

  test("E-14: a signature of the manifest's own bytes counts, one of another key does not", async () => {
    const other = makeSigningKey();
    const { manifestDigest } = await at.push(tuning, "message/tuning:1");
    const manifest = await at.get(`message/tuning/manifests/${manifestDigest}`);
    const reference = `${at.registry.host}/message/tuning:1`;
    const [right, wrong] = [at.node.file("right.pub", key.pem), at.node.file("wrong.pub", other.pem)];
    await at.attach("message/tuning", messageBundle(key, manifest), manifestDigest);
    expect(await at.node.run("verify", "--key", right, reference, ...at.plain)).toMatchObject({
      status: 0,
      stdout: expect.stringContaining("signed by right"),
    });
    const refused = await at.node.run("verify", "--key", wrong, reference, ...at.plain);
    expect(refused).toMatchObject({ status: 1, stdout: "" });
    expect(refused.stderr).toContain("[SIGNATURE_INVALID]");
  });

  test("save and load carry a component with its signatures over a directory, without a change of a digest", async () => {
    const { manifestDigest } = await signed("carried/tuning");
    const layout = join(at.node.directory, "layout");
    const cosignPub = at.node.file("cosign.pub", key.pem);
    expect(await at.node.run("save", `${at.registry.host}/carried/tuning:1`, layout, ...at.plain)).toMatchObject({
      status: 0,
      stdout: expect.stringContaining("with 1 signature"),
    });
    expect(JSON.parse(readFileSync(join(layout, "oci-layout"), "utf8"))).toEqual({ imageLayoutVersion: "1.0.0" });
    const target = `${at.registry.host}/arrived/tuning:1`;
    expect(await at.node.run("load", layout, target, ...at.plain)).toMatchObject({ status: 0 });
    for (const reference of [`oci-layout:${layout}:1`, target]) {
      const { stdout } = await at.node.run("verify", "--key", cosignPub, reference, ...at.plain, "-o", "json");
      expect(JSON.parse(stdout)).toMatchObject({ manifestDigest, signers: ["cosign"] });
    }
    // A node without a registry installs from the directory.
    expect(await at.node.pull(`oci-layout:${layout}:1`, "--type", "tuning", "--key", cosignPub)).toMatchObject({ status: 0 });
    expect(at.node.files()).toContain("tuning.wasm");
  });

  test("a list is installed as a whole, keeps what is right without the registry, and removes what is no longer listed", async () => {
    const first = await signed("list/tuning");
    const second = await signed("list/loopback", loopback);
    const list = (components: readonly object[]): string =>
      at.node.file("components.json", { keys: { release: key.pem }, components });
    const listed = [
      { type: "tuning", reference: first.reference },
      { type: "lo", reference: `${at.registry.host}/list/loopback:1`, signedBy: "release" },
    ];
    expect(await at.node.pull("--list", list(listed), ...at.plain)).toMatchObject({ status: 0, stderr: "" });
    expect(at.node.files().filter((name) => name.endsWith(".wasm"))).toEqual(["lo.wasm", "tuning.wasm"]);
    const before = statSync(join(at.node.bin, "tuning.wasm")).mtimeMs;
    // Nothing listens at this port: the pinned component needs no registry, and the signed one stays with a warning.
    const elsewhere = listed.map((each) => ({ ...each, reference: each.reference.replace(at.registry.host, "127.0.0.1:1") }));
    const lock = JSON.parse(readFileSync(at.node.lock, "utf8"));
    writeFileSync(at.node.lock, JSON.stringify(lock).replaceAll(at.registry.host, "127.0.0.1:1"));
    const offline = await at.node.pull("--list", list(elsewhere), "--plain-http", "127.0.0.1:1");
    expect(offline).toMatchObject({ status: 0, stderr: "" });
    expect(offline.stdout).toContain("warning: lo: the installed component stays");
    expect(statSync(join(at.node.bin, "tuning.wasm")).mtimeMs).toBe(before);
    // A component that the administrator replaced by another digest does not stay because its registry is away.
    const repinned = elsewhere.map((each) => (each.type === "lo" ? { ...each, digest: `sha256:${"1".repeat(64)}` } : each));
    const refused = await at.node.pull("--list", list(repinned), "--plain-http", "127.0.0.1:1");
    expect(refused).toMatchObject({ status: 1, stderr: expect.stringContaining("[REGISTRY_UNREACHABLE]") });
    expect(await at.node.pull("--list", list([{ type: "lo", reference: second.reference }]), ...at.plain)).toMatchObject({
      status: 0,
    });
    expect(at.node.files()).toEqual(["lo.wasm", "lo.wasm.signatures.json"]);
    const ls = await at.node.run(
      "ls",
      "--cni-path",
      at.node.bin,
      "--lock",
      at.node.lock,
      "--config",
      at.node.directory,
      "-o",
      "json",
    );
    expect(JSON.parse(ls.stdout)).toMatchObject([
      { type: "lo", digest: second.digest, source: second.reference, delegate: "loopback 0.1.0" },
    ]);
  });

  test("a component that Plexus did not install is replaced with --force only", async () => {
    const { reference } = await at.push(tuning, "foreign/tuning:1");
    copyFileSync(loopback, join(at.node.bin, "tuning.wasm"));
    const refused = await at.node.pull(reference, ...at.plain);
    expect(refused.status).toBe(1);
    expect(refused.stderr).toContain("[COMPONENT_OCCUPIED]");
    expect(sha256(at.node.read("tuning.wasm"))).toBe(sha256(readFileSync(loopback)));
    expect(existsSync(at.node.lock)).toBe(false);
    expect(await at.node.pull(reference, "--force", ...at.plain)).toMatchObject({ status: 0 });
    expect(sha256(at.node.read("tuning.wasm"))).toBe(sha256(readFileSync(tuning)));
  });

  test("a list with one wrong component changes nothing", async () => {
    const good = await at.push(tuning, "half/tuning:1");
    const list = at.node.file("components.json", {
      components: [
        { type: "tuning", reference: good.reference },
        { type: "gone", reference: `${at.registry.host}/half/gone@sha256:${"0".repeat(64)}` },
      ],
    });
    const refused = await at.node.pull("--list", list, ...at.plain);
    expect(refused.status).toBe(1);
    expect(refused.stderr).toContain("gone: ");
    expect(refused.stderr).toContain("[ARTIFACT_NOT_FOUND]");
    expect(at.node.files()).toEqual([]);
    expect(existsSync(at.node.lock)).toBe(false);
  });
});
