// A list of components from an OCI image layout, as a node without a registry has it: removals that fail, and manifests of other tools.

import { mkdirSync, readFileSync, rmdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { dist, missingBuild } from "../../lab/plexus.ts";
import { ComponentNode, type Ran, sha256 } from "../../lab/registry/component-node.ts";

const build = missingBuild({ components: ["tuning"] });
if (build !== undefined) throw new Error(build);

const manifestType = "application/vnd.oci.image.manifest.v1+json";

describe("a list of components from a layout", () => {
  let node: ComponentNode;
  let layout: string;
  let reference: string;
  beforeEach(async () => {
    node = new ComponentNode();
    layout = join(node.directory, "layout");
    const pushed = await node.run("push", join(dist, "delegates", "tuning.wasm"), `oci-layout:${layout}:1`, "-o", "json");
    ({ reference } = JSON.parse(pushed.stdout));
  });
  afterEach(() => node.dispose());

  async function pull(...components: readonly object[]): Promise<Ran> {
    return node.pull("--list", node.file("components.json", { components }));
  }

  /** The types in the lock file. */
  function locked(): readonly string[] {
    return JSON.parse(readFileSync(node.lock, "utf8")).components.map(({ type }: { readonly type: string }) => type);
  }

  test("a component that could not be removed stays in the lock file, and the next pull removes it", async () => {
    expect(await pull({ type: "tuning", reference })).toMatchObject({ status: 0, stderr: "" });
    const signatures = join(node.bin, "tuning.wasm.signatures.json");
    // The kernel refuses to unlink a directory, for root too.
    rmSync(signatures);
    mkdirSync(signatures);
    const failed = await pull();
    expect(failed).toMatchObject({ status: 0, stdout: expect.stringContaining("tuning.wasm is not in the list, but stays: ") });
    expect(failed.stdout).not.toContain("was changed");
    expect(locked()).toEqual(["tuning"]);
    rmdirSync(signatures);
    expect(await pull()).toMatchObject({ status: 0, stdout: expect.stringContaining("removed") });
    expect({ locked: locked(), files: node.files() }).toEqual({ locked: [], files: [] });
  });

  test("a component that others changed is left to them", async () => {
    await pull({ type: "tuning", reference });
    writeFileSync(join(node.bin, "tuning.wasm"), "changed");
    expect(await pull()).toMatchObject({ status: 0, stdout: expect.stringContaining("was changed: it stays") });
    expect(locked()).toEqual([]);
  });

  test("a manifest of another tool in the layout does not hide the component", async () => {
    const foreign = JSON.stringify({ schemaVersion: 1, mediaType: manifestType });
    writeFileSync(join(layout, "blobs", "sha256", sha256(foreign).slice("sha256:".length)), foreign);
    const index = JSON.parse(readFileSync(join(layout, "index.json"), "utf8"));
    index.manifests.push({ mediaType: manifestType, digest: sha256(foreign), size: foreign.length });
    writeFileSync(join(layout, "index.json"), JSON.stringify(index));
    expect(await pull({ type: "tuning", reference })).toMatchObject({ status: 0, stderr: "" });
  });
});
