// Components that wkg (the Bytecode Alliance's client for components) pushed are pulled here, and the other way round.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { dist, missingBuild } from "../../lab/plexus.ts";
import { type Ran, runProgram, sha256 } from "../../lab/registry/component-node.ts";
import { dsseBundle, makeSigningKey, signStatement } from "../../lab/registry/cosign-bundle.ts";
import { withEachRegistry } from "../../lab/registry/each-registry.ts";
import { wkg, wkgProgram } from "../../lab/registry/programs.ts";
import { missing } from "../../lab/requires.ts";

const build = missingBuild({ components: ["tuning"] });
if (build !== undefined) throw new Error(build);

const tuning = join(dist, "delegates", "tuning.wasm");
const digest = sha256(readFileSync(tuning));

withEachRegistry("wkg and plexusctl", [wkg], (at) => {
  function run(...args: readonly string[]): Promise<Ran> {
    const options = { cwd: at.node.directory, env: { HOME: at.node.directory, PATH: "" } };
    return runProgram(wkgProgram() ?? "", ["oci", ...args, "--insecure", at.registry.host], options);
  }

  const noLocation = missing(`wkg's pushes to ${at.kind}`, () =>
    at.kind === "crane" ? "crane's registry answers an upload without the header Location, which wkg needs" : undefined,
  );

  test.skipIf(noLocation)("E-13: plexusctl installs what wkg pushed, also with a signature", async () => {
    const reference = `${at.registry.host}/wkg/tuning:1`;
    expect(await run("push", reference, tuning)).toMatchObject({ status: 0 });
    const manifestDigest = sha256(await at.get("wkg/tuning/manifests/1"));
    const pinned = await at.node.pull(`${at.registry.host}/wkg/tuning@${manifestDigest}`, ...at.plain);
    expect(pinned).toMatchObject({ status: 0, stderr: "" });
    expect(sha256(at.node.read("tuning.wasm"))).toBe(digest);
    const key = makeSigningKey();
    await at.attach("wkg/tuning", dsseBundle(key, signStatement(manifestDigest)), "1");
    const signed = await at.node.pull(reference, "--key", at.node.file("release.pub", key.pem), ...at.plain);
    expect(signed).toMatchObject({ status: 0, stderr: "" });
  });

  test("E-13: wkg pulls what plexusctl pushed", async () => {
    await at.push(tuning, "plexus/tuning:1");
    const pulled = await run("pull", `${at.registry.host}/plexus/tuning:1`, "--output", "pulled.wasm");
    expect(pulled).toMatchObject({ status: 0 });
    expect(sha256(readFileSync(join(at.node.directory, "pulled.wasm")))).toBe(digest);
  });

  test.skipIf(noLocation)("what wkg pushed and is no delegate is refused by name", async () => {
    // The smallest component.
    const empty = at.node.file("empty.wasm", Buffer.from([0, 0x61, 0x73, 0x6d, 0x0d, 0, 1, 0]));
    expect(await run("push", `${at.registry.host}/wkg/empty:1`, empty)).toMatchObject({ status: 0 });
    const { status, stderr } = await at.node.pull(`${at.registry.host}/wkg/empty:1`, ...at.plain);
    expect([status, stderr.includes("[COMPONENT_REFUSED]")]).toEqual([1, true]);
    expect(at.node.files()).toEqual([]);
  });
});
