// The real cosign: plexusctl accepts its signatures, and cosign accepts those that the other tests make in its form.

import { join } from "node:path";
import { expect, test } from "vitest";
import { dist, missingBuild } from "../../lab/plexus.ts";
import { type Ran, runProgram } from "../../lab/registry/component-node.ts";
import { dsseBundle, makeSigningKey, signStatement } from "../../lab/registry/cosign-bundle.ts";
import { withEachRegistry } from "../../lab/registry/each-registry.ts";
import { goBuilt, goProgram } from "../../lab/registry/programs.ts";

const build = missingBuild({ components: ["tuning"] });
if (build !== undefined) throw new Error(build);

const tuning = join(dist, "delegates", "tuning.wasm");

withEachRegistry("cosign and plexusctl", [goBuilt("cosign")], (at) => {
  function cosign(...args: readonly string[]): Promise<Ran> {
    const env = { HOME: at.node.directory, COSIGN_PASSWORD: "", PATH: "" };
    return runProgram(goProgram("cosign") ?? "", args, { cwd: at.node.directory, env });
  }

  test("E-14: plexusctl installs what cosign signed, also after save and load, and refuses another key", async () => {
    const { manifestDigest: digest } = await at.push(tuning, "cosign/tuning:1");
    expect(await cosign("generate-key-pair")).toMatchObject({ status: 0 });
    const offline = ["--use-signing-config=false", "--tlog-upload=false", "--yes", "--allow-http-registry"];
    const signed = await cosign("sign", "--key", "cosign.key", ...offline, `${at.registry.host}/cosign/tuning@${digest}`);
    expect(signed).toMatchObject({ status: 0 });
    const key = join(at.node.directory, "cosign.pub");
    expect(await at.node.pull(`${at.registry.host}/cosign/tuning:1`, "--key", key, ...at.plain)).toMatchObject({
      status: 0,
      stderr: "",
    });
    const layout = join(at.node.directory, "layout");
    expect(await at.node.run("save", `${at.registry.host}/cosign/tuning:1`, layout, ...at.plain)).toMatchObject({ status: 0 });
    const loaded = `${at.registry.host}/cosign-loaded/tuning:1`;
    expect(await at.node.run("load", layout, loaded, ...at.plain)).toMatchObject({ status: 0 });
    const verified = await cosign("verify", "--key", "cosign.pub", "--insecure-ignore-tlog", "--allow-http-registry", loaded);
    expect(verified).toMatchObject({ status: 0 });
    const other = at.node.file("other.pub", makeSigningKey().pem);
    expect((await at.node.run("verify", "--key", other, loaded, ...at.plain)).stderr).toContain("[SIGNATURE_INVALID]");
  });

  test("E-14: cosign accepts the signatures that the other tests make", async () => {
    const { manifestDigest } = await at.push(tuning, "form/tuning:1");
    const key = makeSigningKey();
    await at.attach("form/tuning", dsseBundle(key, signStatement(manifestDigest)), "1");
    at.node.file("release.pub", key.pem);
    const reference = `${at.registry.host}/form/tuning:1`;
    const verified = await cosign("verify", "--key", "release.pub", "--insecure-ignore-tlog", "--allow-http-registry", reference);
    expect(verified).toMatchObject({ status: 0 });
    at.node.file("other.pub", makeSigningKey().pem);
    const refused = await cosign("verify", "--key", "other.pub", "--insecure-ignore-tlog", "--allow-http-registry", reference);
    expect(refused.status).not.toBe(0);
  });
});
