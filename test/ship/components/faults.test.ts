// Faulty and hostile registries: each fault of a pull is refused with its reason, and nothing is installed.

import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { dist, missingBuild } from "../../lab/plexus.ts";
import { attachBundle, ComponentNode, type Ran, sha256 } from "../../lab/registry/component-node.ts";
import { dsseBundle, makeSigningKey, type SigningKey, signStatement } from "../../lab/registry/cosign-bundle.ts";
import { type FaultProxy, startFaultProxy } from "../../lab/registry/fault-proxy.ts";
import { dockerRegistry } from "../../lab/registry/programs.ts";
import { type Registry, startRegistry } from "../../lab/registry/registry.ts";
import { missing } from "../../lab/requires.ts";
import type { Descriptor } from "../../../src/oci/manifest.ts";

const build = missingBuild({ components: ["tuning"] });
if (build !== undefined) throw new Error(build);

const tuning = join(dist, "delegates", "tuning.wasm");
const manifestType = "application/vnd.oci.image.manifest.v1+json";
const indexType = "application/vnd.oci.image.index.v1+json";
const name = "plexus/tuning";

/** A referrer without a type, which the registry does not have. */
const absentReferrer = (at: number): Descriptor => ({
  mediaType: manifestType,
  digest: `sha256:${String(at).padStart(64, "0")}`,
  size: 300,
});

describe.skipIf(missing("a faulty registry", dockerRegistry))("a faulty registry", () => {
  let registry: Registry;
  let proxy: FaultProxy;
  let elsewhere: FaultProxy;
  let home: ComponentNode;
  let node: ComponentNode;
  let manifestDigest: string;
  let manifest: string;
  const key = makeSigningKey();
  const layer = sha256(readFileSync(tuning));

  beforeAll(async () => {
    home = new ComponentNode();
    registry = await startRegistry({ directory: home.directory });
    const pushed = await home.run("push", tuning, `${registry.host}/${name}:1`, "--plain-http", registry.host, "-o", "json");
    ({ manifestDigest } = JSON.parse(pushed.stdout));
    const answer = await fetch(`http://${registry.host}/v2/${name}/manifests/1`, { headers: { Accept: manifestType } });
    manifest = await answer.text();
    await attachBundle(registry.host, name, dsseBundle(key, signStatement(manifestDigest)), manifest);
    proxy = await startFaultProxy(registry.host);
    elsewhere = await startFaultProxy(registry.host);
  });
  afterAll(async () => {
    await proxy?.dispose();
    await elsewhere?.dispose();
    await registry?.dispose();
    home?.dispose();
  });
  beforeEach(() => {
    node = new ComponentNode();
    proxy.script(() => undefined);
    elsewhere.script(() => undefined);
  });
  afterEach(() => node.dispose());

  function pull(...args: readonly string[]): Promise<Ran> {
    const plain = ["--plain-http", proxy.host, "--plain-http", elsewhere.host];
    return node.pull(`${proxy.host}/${name}:1`, "--key", node.file("release.pub", key.pem), ...plain, ...args);
  }

  const signedBy = (): readonly string[] => ["--key", node.file("release.pub", key.pem)];

  function expectRefused({ status, stdout, stderr }: Ran, ...texts: readonly string[]): void {
    expect({ status, stdout }).toEqual({ status: 1, stdout: "" });
    for (const text of texts) expect(stderr).toContain(text);
    expect(node.files()).toEqual([]);
    expect(existsSync(node.lock)).toBe(false);
  }

  test("without a fault the component is installed through the proxy", async () => {
    expect(await pull()).toMatchObject({ status: 0, stderr: "" });
    expect(sha256(node.read("tuning.wasm"))).toBe(layer);
  });

  test("a host without TLS in upper case is the same host", async () => {
    const [, port = ""] = proxy.host.split(":");
    const publicKey = node.file("release.pub", key.pem);
    const pulled = await node.pull(`LOCALHOST:${port}/${name}:1`, "--key", publicKey, "--plain-http", `LOCALHOST:${port}`);
    expect(pulled).toMatchObject({ status: 0, stderr: "" });
  });

  test("a redirect of a small blob with a longer text is followed", async () => {
    proxy.script(({ path }) =>
      path.includes("/blobs/")
        ? { kind: "answer", status: 307, headers: { Location: `http://${elsewhere.host}${path}` }, body: "x".repeat(2000) }
        : undefined,
    );
    expect(await pull()).toMatchObject({ status: 0, stderr: "" });
  });

  test("a digest that the registry does not have", async () => {
    const reference = `${proxy.host}/${name}@sha256:${"1".repeat(64)}`;
    expectRefused(await node.pull(reference, "--plain-http", proxy.host), "[ARTIFACT_NOT_FOUND]");
  });

  test("another manifest under the digest", async () => {
    proxy.script(({ path }) =>
      path.includes("/manifests/") ? { kind: "change", body: ({ body }) => Buffer.from(`${body.toString()} `) } : undefined,
    );
    const reference = `${proxy.host}/${name}@${manifestDigest}`;
    const refused = await node.pull(reference, "--plain-http", proxy.host);
    expectRefused(refused, "[COMPONENT_DIGEST_DIFFERS]", manifestDigest);
  });

  test("another manifest under the tag, which the key has not signed", async () => {
    proxy.script(({ path }) =>
      path.endsWith("/manifests/1") ? { kind: "change", body: ({ body }) => Buffer.from(`${body.toString()} `) } : undefined,
    );
    expectRefused(await pull(), "[SIGNATURE_MISSING]");
  });

  test("another manifest under the tag, with the true manifest's signatures", async () => {
    const digest = sha256(`${manifest} `);
    proxy.script(({ path }) => {
      if (path.endsWith("/manifests/1")) return { kind: "change", body: ({ body }) => Buffer.from(`${body.toString()} `) };
      // The fallback tag of the other manifest leads to the signatures, whose subject is rewritten.
      if (path.includes(digest.replace(":", "-")))
        return {
          kind: "answer",
          status: 307,
          headers: { Location: `/v2/${name}/manifests/${manifestDigest.replace(":", "-")}` },
        };
      return undefined;
    });
    expectRefused(await pull(), "[SIGNATURE_MISSING]");
  });

  test("the true manifest's bundle as the signature of another manifest", async () => {
    const bundle = dsseBundle(key, signStatement(manifestDigest));
    const other = `${manifest} `;
    const put = { method: "PUT", body: other, headers: { "Content-Type": manifestType } };
    expect((await fetch(`http://${registry.host}/v2/${name}/manifests/other`, put)).status).toBe(201);
    await attachBundle(registry.host, name, bundle, other);
    const refused = await node.pull(
      `${proxy.host}/${name}:other`,
      "--key",
      node.file("release.pub", key.pem),
      "--plain-http",
      proxy.host,
    );
    expectRefused(refused, "[SIGNATURE_INVALID]", `it signs ${manifestDigest}, not ${sha256(other)}`);
  });

  describe("with referrers of others than its author", () => {
    const repository = "plexus/crowded";
    const pullCrowded = (...args: readonly string[]): Promise<Ran> =>
      node.pull(`${proxy.host}/${repository}:1`, "--type", "tuning", "--plain-http", proxy.host, ...args);
    let foreign: readonly string[];
    let right: string;

    beforeAll(async () => {
      await home.run("push", tuning, `${registry.host}/${repository}:1`, "--plain-http", registry.host);
      const answer = await fetch(`http://${registry.host}/v2/${repository}/manifests/1`, { headers: { Accept: manifestType } });
      const subject = await answer.text();
      const attach = (by: SigningKey): Promise<string> =>
        attachBundle(registry.host, repository, dsseBundle(by, signStatement(sha256(subject))), subject);
      const all: string[] = [];
      for (let each = 0; each < 20; each++) all.push(await attach(makeSigningKey()));
      foreign = all;
      right = await attach(key);
    });

    test("more signatures than the file of signatures has keep nobody from the component", async () => {
      expect(await pullCrowded()).toMatchObject({ status: 0, stderr: "" });
      expect(await pullCrowded(...signedBy())).toMatchObject({ status: 0, stderr: "" });
      const file = JSON.parse(node.read("tuning.wasm.signatures.json").toString());
      expect(file.manifests[0].bundles).toHaveLength(16);
    });

    test("a referrer that is gone or damaged keeps nobody from the component", async () => {
      proxy.script(({ path }) => {
        if (path.endsWith(foreign[0] ?? "")) return { kind: "answer", status: 404, headers: {}, body: "" };
        return path.endsWith(foreign[1] ?? "") ? { kind: "change", body: ({ body }) => body.subarray(1) } : undefined;
      });
      expect(await pullCrowded(...signedBy())).toMatchObject({ status: 0, stderr: "" });
    });

    test("the demanded signature that is gone is missed, with its reason", async () => {
      proxy.script(({ path }) =>
        [...foreign, right].some((each) => path.endsWith(each))
          ? { kind: "answer", status: 404, headers: {}, body: "" }
          : undefined,
      );
      expectRefused(await pullCrowded(...signedBy()), "[ARTIFACT_NOT_FOUND]");
      expect(await pullCrowded()).toMatchObject({ status: 0, stderr: "" });
    });

    test("thousands of referrers without a type are not all fetched", async () => {
      const unreadable = { ...absentReferrer(0), digest: `sha512:${"0".repeat(128)}` };
      const manifests = [unreadable, ...Array.from({ length: 2000 }, (_, at) => absentReferrer(at))];
      const body = JSON.stringify({ schemaVersion: 2, mediaType: indexType, manifests });
      proxy.script(({ path }) =>
        path.includes("/referrers/") || path.includes("/manifests/sha256-")
          ? { kind: "answer", status: 200, headers: { "Content-Type": indexType }, body }
          : undefined,
      );
      const before = proxy.seen.length;
      expect(await pullCrowded()).toMatchObject({ status: 0, stderr: "" });
      expect(proxy.seen.length - before).toBeLessThan(100);
    });
  });

  test("a lock file that cannot be written: a component without an entry would count as an administrator's for ever", async () => {
    mkdirSync(join(node.directory, "etc", ".components.lock.json.new", "full"), { recursive: true });
    expectRefused(await pull(), "[STORE_FAILED]");
  });

  test("a layer with one other byte", async () => {
    proxy.script(({ path }) =>
      path.endsWith(layer)
        ? {
            kind: "change",
            body: ({ body }) => {
              const changed = Buffer.from(body);
              changed[changed.length - 1] = (changed[changed.length - 1] ?? 0) ^ 1;
              return changed;
            },
          }
        : undefined,
    );
    expectRefused(await pull(), "[COMPONENT_DIGEST_DIFFERS]", layer);
  });

  // The second one is cut off while it is read.
  test.each([
    [1, "but its manifest says"],
    [100_000, "more than"],
  ])("a layer with more bytes than the manifest says: %i", async (more, why) => {
    proxy.script(({ path }) =>
      path.endsWith(layer) ? { kind: "change", body: ({ body }) => Buffer.concat([body, Buffer.alloc(more)]) } : undefined,
    );
    expectRefused(await pull(), "[ARTIFACT_INVALID]", why);
  });

  test("a download that breaks off each time", async () => {
    proxy.script(({ path }) => (path.endsWith(layer) ? { kind: "truncate" } : undefined));
    expectRefused(await pull(), "[REGISTRY_UNREACHABLE]");
    expect(proxy.seen.filter(({ path }) => path.endsWith(layer)).length).toBeGreaterThanOrEqual(3);
  });

  test("a download that breaks off once is repeated", async () => {
    let broken = 0;
    proxy.script(({ path }) => (path.endsWith(layer) && broken++ === 0 ? { kind: "truncate" } : undefined));
    expect(await pull()).toMatchObject({ status: 0, stderr: "" });
  });

  test("a signature that was changed", async () => {
    proxy.script(({ path }) =>
      path.includes("/blobs/") && !path.endsWith(layer)
        ? { kind: "change", body: ({ body }) => Buffer.from(body.toString().replace('"sig":"ME', '"sig":"MF')) }
        : undefined,
    );
    expectRefused(await pull(), "[COMPONENT_DIGEST_DIFFERS]");
  });

  test("a key that has not signed", async () => {
    const other = node.file("other.pub", makeSigningKey().pem);
    expectRefused(
      await node.pull(`${proxy.host}/${name}:1`, "--key", other, "--plain-http", proxy.host),
      "[SIGNATURE_INVALID]",
      "other",
    );
  });

  test("signatures that are hidden", async () => {
    proxy.script(({ path }) => (path.includes("/manifests/sha256-") ? { kind: "answer", status: 404 } : undefined));
    expectRefused(await pull(), "[SIGNATURE_MISSING]");
  });

  test("a manifest of more than 4 MiB", async () => {
    const body = Buffer.alloc(4 * 1024 * 1024 + 1, " ");
    proxy.script(({ path }) => (path.endsWith("/manifests/1") ? { kind: "answer", status: 200, body } : undefined));
    expectRefused(await pull(), "[ARTIFACT_INVALID]", "4194304");
  });

  test("a manifest whose layer is larger than any component", async () => {
    const large = manifest.replace(/("mediaType":"application\/wasm","digest":"[^"]+","size":)\d+/, "$14294967296");
    expect(large).not.toBe(manifest);
    proxy.script(({ path }) => (path.endsWith("/manifests/1") ? { kind: "answer", status: 200, body: large } : undefined));
    expectRefused(await pull(), "[ARTIFACT_INVALID]", "4294967296 bytes (at most 32505856)");
  });

  test("redirects without an end", async () => {
    proxy.script(({ path }) => (path.endsWith(layer) ? { kind: "answer", status: 307, headers: { Location: path } } : undefined));
    expectRefused(await pull(), "[REGISTRY_REFUSED]", "more than 3 redirects");
  });

  test("a redirect to a host without TLS that the administrator did not name", async () => {
    proxy.script(({ path }) =>
      path.endsWith(layer) ? { kind: "answer", status: 307, headers: { Location: `http://${registry.host}${path}` } } : undefined,
    );
    expectRefused(await pull(), "[REGISTRY_REFUSED]", "has no TLS");
  });

  test("a redirect to a URL with credentials in it", async () => {
    proxy.script(({ path }) =>
      path.endsWith(layer)
        ? { kind: "answer", status: 307, headers: { Location: `http://user:secret@${elsewhere.host}${path}` } }
        : undefined,
    );
    const refused = await pull();
    expectRefused(refused, "[REGISTRY_REFUSED]", "contains credentials");
    expect(refused.stderr).not.toContain("secret");
  });

  describe("with credentials", () => {
    const authorization = `Basic ${Buffer.from("robot:opensesame").toString("base64")}`;

    /** The proxy demands the credentials, and sends the layer's requests elsewhere. */
    function demandCredentials(): readonly string[] {
      proxy.script(({ path, headers }) => {
        if (headers.authorization !== authorization)
          return { kind: "answer", status: 401, headers: { "WWW-Authenticate": 'Basic realm="test"' } };
        return path.endsWith(layer)
          ? { kind: "answer", status: 307, headers: { Location: `http://${elsewhere.host}${path}` } }
          : undefined;
      });
      const auths = { [proxy.host]: { username: "robot", password: "opensesame" } };
      return ["--credentials", node.file("config.json", { auths })];
    }

    test("a redirect to another host is followed without them", async () => {
      const seen = elsewhere.seen.length;
      expect(await pull(...demandCredentials())).toMatchObject({ status: 0, stderr: "" });
      const redirected = elsewhere.seen.slice(seen);
      expect(redirected.map(({ path }) => path)).toEqual([`/v2/${name}/blobs/${layer}`]);
      expect(redirected[0]?.headers.authorization).toBeUndefined();
    });

    test("another host that asks for them does not get them", async () => {
      const seen = elsewhere.seen.length;
      elsewhere.script(() => ({ kind: "answer", status: 401, headers: { "WWW-Authenticate": 'Basic realm="test"' } }));
      const refused = await pull(...demandCredentials());
      expectRefused(refused, "[REGISTRY_UNAUTHORIZED]", `${elsewhere.host} asks for credentials`, "go to no other host");
      expect(elsewhere.seen.slice(seen).map(({ headers }) => headers.authorization)).toEqual([undefined]);
    });
  });
});
