// The real cosign: plexusctl accepts its signatures, and cosign accepts those that the other tests make in its form.

import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { dist, missingBuild } from "../../harness/plexus.ts";
import { attachBundle, ComponentNode, type Ran, runProgram } from "../../harness/registry/component-node.ts";
import { dsseBundle, makeSigningKey, signStatement } from "../../harness/registry/cosign-bundle.ts";
import { dockerRegistry, goBuilt, goProgram } from "../../harness/registry/programs.ts";
import { type Registry, startReferrersRegistry, startRegistry } from "../../harness/registry/registry.ts";
import { missing } from "../../harness/requires.ts";

const build = missingBuild({ components: ["tuning"] });
if (build !== undefined) throw new Error(build);

const tuning = join(dist, "delegates", "tuning.wasm");
const manifestType = "application/vnd.oci.image.manifest.v1+json";

describe.each(["docker-registry", "crane"] as const)("cosign and plexusctl with %s", (kind) => {
  const requirements = [goBuilt("cosign"), kind === "crane" ? goBuilt("crane") : dockerRegistry];
  describe.skipIf(missing(`cosign and plexusctl with ${kind}`, ...requirements))("a registry", () => {
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
    });
    afterEach(() => node.dispose());

    function cosign(...args: readonly string[]): Promise<Ran> {
      const env = { HOME: node.directory, COSIGN_PASSWORD: "", PATH: "" };
      return runProgram(goProgram("cosign") ?? "", args, { cwd: node.directory, env });
    }

    async function push(name: string): Promise<string> {
      const { stdout } = await node.run("push", tuning, `${registry.host}/${name}:1`, ...plain, "-o", "json");
      return JSON.parse(stdout).manifestDigest;
    }

    test("E-14: plexusctl installs what cosign signed, also after save and load, and refuses another key", async () => {
      const digest = await push("cosign/tuning");
      expect(await cosign("generate-key-pair")).toMatchObject({ status: 0 });
      const offline = ["--use-signing-config=false", "--tlog-upload=false", "--yes", "--allow-http-registry"];
      const signed = await cosign("sign", "--key", "cosign.key", ...offline, `${registry.host}/cosign/tuning@${digest}`);
      expect(signed).toMatchObject({ status: 0 });
      const key = join(node.directory, "cosign.pub");
      expect(await node.pull(`${registry.host}/cosign/tuning:1`, "--key", key, ...plain)).toMatchObject({
        status: 0,
        stderr: "",
      });
      const layout = join(node.directory, "layout");
      expect(await node.run("save", `${registry.host}/cosign/tuning:1`, layout, ...plain)).toMatchObject({ status: 0 });
      const loaded = `${registry.host}/cosign-loaded/tuning:1`;
      expect(await node.run("load", layout, loaded, ...plain)).toMatchObject({ status: 0 });
      const verified = await cosign("verify", "--key", "cosign.pub", "--insecure-ignore-tlog", "--allow-http-registry", loaded);
      expect(verified).toMatchObject({ status: 0 });
      const other = node.file("other.pub", makeSigningKey().pem);
      expect((await node.run("verify", "--key", other, loaded, ...plain)).stderr).toContain("[SIGNATURE_INVALID]");
    });

    test("E-14: cosign accepts the signatures that the other tests make", async () => {
      const digest = await push("form/tuning");
      const answer = await fetch(`http://${registry.host}/v2/form/tuning/manifests/1`, { headers: { Accept: manifestType } });
      const key = makeSigningKey();
      await attachBundle(registry.host, "form/tuning", dsseBundle(key, signStatement(digest)), await answer.text());
      node.file("release.pub", key.pem);
      const reference = `${registry.host}/form/tuning:1`;
      const verified = await cosign(
        "verify",
        "--key",
        "release.pub",
        "--insecure-ignore-tlog",
        "--allow-http-registry",
        reference,
      );
      expect(verified).toMatchObject({ status: 0 });
      node.file("other.pub", makeSigningKey().pem);
      const refused = await cosign("verify", "--key", "other.pub", "--insecure-ignore-tlog", "--allow-http-registry", reference);
      expect(refused.status).not.toBe(0);
    });
  });
});
