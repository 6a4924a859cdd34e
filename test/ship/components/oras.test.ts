// Components that oras (CNCF's client for OCI artifacts) pushed are pulled here, and the other way round.

import { copyFileSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, expect, test } from "vitest";
import { dist, missingBuild } from "../../lab/plexus.ts";
import { type Ran, runProgram, sha256 } from "../../lab/registry/component-node.ts";
import { dsseBundle, makeSigningKey, signStatement } from "../../lab/registry/cosign-bundle.ts";
import { withEachRegistry } from "../../lab/registry/each-registry.ts";
import { goBuilt, goProgram } from "../../lab/registry/programs.ts";

const build = missingBuild({ components: ["tuning"] });
if (build !== undefined) throw new Error(build);

const tuning = join(dist, "delegates", "tuning.wasm");
const digest = sha256(readFileSync(tuning));
const configType = "application/vnd.wasm.config.v0+json";
const bundleType = "application/vnd.dev.sigstore.bundle.v0.3+json";

withEachRegistry("oras and plexusctl", [goBuilt("oras")], (at) => {
  beforeEach(() => copyFileSync(tuning, join(at.node.directory, "tuning.wasm")));

  function oras(...args: readonly string[]): Promise<Ran> {
    return runProgram(goProgram("oras") ?? "", [...args, "--plain-http"], {
      cwd: at.node.directory,
      env: { HOME: at.node.directory, PATH: "" },
    });
  }

  test("E-13: plexusctl installs what oras pushed and signed", async () => {
    const reference = `${at.registry.host}/oras/tuning:1`;
    at.node.file("config.json", { architecture: "wasm", os: "wasip2", layerDigests: [digest] });
    const pushed = await oras("push", reference, "--config", `config.json:${configType}`, "tuning.wasm:application/wasm");
    expect(pushed).toMatchObject({ status: 0 });
    const { stdout } = await oras("manifest", "fetch", reference);
    const key = makeSigningKey();
    at.node.file("bundle.json", dsseBundle(key, signStatement(sha256(stdout))));
    const attached = await oras("attach", reference, "--artifact-type", bundleType, `bundle.json:${bundleType}`);
    expect(attached).toMatchObject({ status: 0 });
    const pulled = await at.node.pull(reference, "--key", at.node.file("release.pub", key.pem), ...at.plain);
    expect(pulled).toMatchObject({ status: 0, stderr: "" });
    expect(sha256(at.node.read("tuning.wasm"))).toBe(digest);
  });

  test("E-13: oras pulls what plexusctl pushed, and finds its signatures after save and load", async () => {
    const reference = `${at.registry.host}/plexus/tuning:1`;
    const { manifestDigest } = await at.push(tuning, "plexus/tuning:1");
    const fetched = await oras("blob", "fetch", "--output", "pulled.wasm", `${at.registry.host}/plexus/tuning@${digest}`);
    expect(fetched).toMatchObject({ status: 0 });
    expect(sha256(readFileSync(join(at.node.directory, "pulled.wasm")))).toBe(digest);
    mkdirSync(join(at.node.directory, "out"));
    expect(await oras("pull", "--output", "out", reference)).toMatchObject({ status: 0 });

    at.node.file("bundle.json", dsseBundle(makeSigningKey(), signStatement(manifestDigest)));
    expect(await oras("attach", reference, "--artifact-type", bundleType, `bundle.json:${bundleType}`)).toMatchObject({
      status: 0,
    });
    const layout = join(at.node.directory, "layout");
    expect(await at.node.run("save", reference, layout, ...at.plain)).toMatchObject({ status: 0 });
    const target = `${at.registry.host}/loaded/tuning:1`;
    expect(await at.node.run("load", layout, target, ...at.plain)).toMatchObject({ status: 0 });
    for (const args of [[target], ["--oci-layout", `${layout}:1`]]) {
      const program = goProgram("oras") ?? "";
      const options = { cwd: at.node.directory, env: { HOME: at.node.directory, PATH: "" } };
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
    const reference = `${at.registry.host}/oras/text:1`;
    at.node.file("hello.txt", "hello");
    expect(await oras("push", reference, "hello.txt:text/plain")).toMatchObject({ status: 0 });
    const { status, stderr } = await at.node.pull(reference, "--type", "text", ...at.plain);
    expect(status).toBe(1);
    expect(stderr).toContain("the artifact is not a component");
    expect(at.node.files()).toEqual([]);
  });
});
