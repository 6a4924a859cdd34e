// Components that oras (CNCF's client for OCI artifacts) pushed are pulled here, and the other way round.

import { copyFileSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { dist, missingBuild } from "../../harness/plexus.ts";
import { ComponentNode, type Ran, runProgram, sha256 } from "../../harness/registry/component-node.ts";
import { dsseBundle, makeSigningKey, signStatement } from "../../harness/registry/cosign-bundle.ts";
import { dockerRegistry, goBuilt, goProgram } from "../../harness/registry/programs.ts";
import { type Registry, startReferrersRegistry, startRegistry } from "../../harness/registry/registry.ts";
import { missing } from "../../harness/requires.ts";

const build = missingBuild({ components: ["tuning"] });
if (build !== undefined) throw new Error(build);

const tuning = join(dist, "delegates", "tuning.wasm");
const digest = sha256(readFileSync(tuning));
const configType = "application/vnd.wasm.config.v0+json";
const bundleType = "application/vnd.dev.sigstore.bundle.v0.3+json";

describe.each(["docker-registry", "crane"] as const)("oras and plexusctl with %s", (kind) => {
  const requirements = [goBuilt("oras"), kind === "crane" ? goBuilt("crane") : dockerRegistry];
  describe.skipIf(missing(`oras and plexusctl with ${kind}`, ...requirements))("a registry", () => {
    let registry: Registry;
    let home: ComponentNode;
    let node: ComponentNode;
    let plain: readonly string[];

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
      copyFileSync(tuning, join(node.directory, "tuning.wasm"));
    });
    afterEach(() => node.dispose());

    function oras(...args: readonly string[]): Promise<Ran> {
      return runProgram(goProgram("oras") ?? "", [...args, "--plain-http"], {
        cwd: node.directory,
        env: { HOME: node.directory, PATH: "" },
      });
    }

    test("E-13: plexusctl installs what oras pushed and signed", async () => {
      const reference = `${registry.host}/oras/tuning:1`;
      node.file("config.json", { architecture: "wasm", os: "wasip2", layerDigests: [digest] });
      const pushed = await oras("push", reference, "--config", `config.json:${configType}`, "tuning.wasm:application/wasm");
      expect(pushed).toMatchObject({ status: 0 });
      const { stdout } = await oras("manifest", "fetch", reference);
      const key = makeSigningKey();
      node.file("bundle.json", dsseBundle(key, signStatement(sha256(stdout))));
      const attached = await oras("attach", reference, "--artifact-type", bundleType, `bundle.json:${bundleType}`);
      expect(attached).toMatchObject({ status: 0 });
      const pulled = await node.pull(reference, "--key", node.file("release.pub", key.pem), ...plain);
      expect(pulled).toMatchObject({ status: 0, stderr: "" });
      expect(sha256(node.read("tuning.wasm"))).toBe(digest);
    });

    test("E-13: oras pulls what plexusctl pushed, and finds its signatures after save and load", async () => {
      const reference = `${registry.host}/plexus/tuning:1`;
      const { stdout } = await node.run("push", tuning, reference, ...plain, "-o", "json");
      const { manifestDigest } = JSON.parse(stdout);
      const fetched = await oras("blob", "fetch", "--output", "pulled.wasm", `${registry.host}/plexus/tuning@${digest}`);
      expect(fetched).toMatchObject({ status: 0 });
      expect(sha256(readFileSync(join(node.directory, "pulled.wasm")))).toBe(digest);
      mkdirSync(join(node.directory, "out"));
      expect(await oras("pull", "--output", "out", reference)).toMatchObject({ status: 0 });

      node.file("bundle.json", dsseBundle(makeSigningKey(), signStatement(manifestDigest)));
      expect(await oras("attach", reference, "--artifact-type", bundleType, `bundle.json:${bundleType}`)).toMatchObject({
        status: 0,
      });
      const layout = join(node.directory, "layout");
      expect(await node.run("save", reference, layout, ...plain)).toMatchObject({ status: 0 });
      const target = `${registry.host}/loaded/tuning:1`;
      expect(await node.run("load", layout, target, ...plain)).toMatchObject({ status: 0 });
      for (const args of [[target], ["--oci-layout", `${layout}:1`]]) {
        const program = goProgram("oras") ?? "";
        const options = { cwd: node.directory, env: { HOME: node.directory, PATH: "" } };
        const found = await runProgram(
          program,
          ["discover", "--format", "json", ...args, ...(args.length === 1 ? ["--plain-http"] : [])],
          options,
        );
        expect(found).toMatchObject({ status: 0 });
        expect(JSON.parse(found.stdout)).toMatchObject({ digest: manifestDigest, referrers: [{ artifactType: bundleType }] });
      }
    });

    test("what oras pushed and is no component is refused by name", async () => {
      const reference = `${registry.host}/oras/text:1`;
      node.file("hello.txt", "hello");
      expect(await oras("push", reference, "hello.txt:text/plain")).toMatchObject({ status: 0 });
      const { status, stderr } = await node.pull(reference, "--type", "text", ...plain);
      expect(status).toBe(1);
      expect(stderr).toContain("the artifact is not a component");
      expect(node.files()).toEqual([]);
    });
  });
});
