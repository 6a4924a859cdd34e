// Runs a suite with Debian's docker-registry, which has no referrers API, and with go-containerregistry's, which has it.
// The tests of the suite use `at`:
//
//     const { manifestDigest } = await at.push(file, "team/tuning:1");
//     await at.attach("team/tuning", dsseBundle(key, signStatement(manifestDigest)), "1");
//     await at.node.pull(`${at.registry.host}/team/tuning:1`, ...at.plain);

import { afterAll, afterEach, beforeAll, beforeEach, describe } from "vitest";

import { missing, type Requirement } from "../requires.ts";
import { attachBundle, ComponentNode } from "./component-node.ts";
import { dockerRegistry, goBuilt } from "./programs.ts";
import { type Registry, startReferrersRegistry, startRegistry } from "./registry.ts";

/** The output of `plexusctl component push -o json`. */
export interface PushedComponent {
  readonly reference: string;
  readonly manifestDigest: string;
  /** Digest of the component's bytes. */
  readonly digest: string;
}

/** The registry of a suite and the node of a test. */
export interface AtRegistry {
  readonly kind: "docker-registry" | "crane";
  readonly registry: Registry;
  /** A node for one test. */
  readonly node: ComponentNode;
  /** The options by which plexusctl reaches the registry. */
  readonly plain: readonly string[];
  /** Pushes a component's file as `name` (`REPOSITORY:TAG`). Throws if plexusctl prints a warning or fails. */
  push(file: string, name: string): Promise<PushedComponent>;
  /** The text below `/v2/`, such as a manifest. Throws unless the registry has it. */
  get(path: string): Promise<string>;
  /** Stores a signature of the manifest with this tag or digest, as cosign does. */
  attach(repository: string, bundle: string, manifest: string): Promise<void>;
}

const manifestType = "application/vnd.oci.image.manifest.v1+json";

/** Defines the suite for each kind of registry. A kind whose program is missing is skipped with its reason. */
export function withEachRegistry(title: string, requirements: readonly Requirement[], suite: (at: AtRegistry) => void): void {
  describe.each(["docker-registry", "crane"] as const)(`${title} with %s`, (kind) => {
    const program = kind === "crane" ? goBuilt("crane") : dockerRegistry;
    describe.skipIf(missing(`${title} with ${kind}`, ...requirements, program))("a registry", () => {
      let registry: Registry;
      let home: ComponentNode;
      let node: ComponentNode;

      beforeAll(async () => {
        home = new ComponentNode();
        const { directory } = home;
        registry = kind === "crane" ? await startReferrersRegistry(directory) : await startRegistry({ directory });
      });
      afterAll(async () => {
        await registry?.dispose();
        home?.dispose();
      });
      beforeEach(() => {
        node = new ComponentNode();
      });
      afterEach(() => node.dispose());

      const get = async (path: string): Promise<string> => {
        const answer = await fetch(`http://${registry.host}/v2/${path}`, { headers: { Accept: manifestType } });
        if (answer.status !== 200) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
        return answer.text();
      };

      suite({
        kind,
        get registry() {
          return registry;
        },
        get node() {
          return node;
        },
        get plain() {
          return ["--plain-http", registry.host];
        },
        async push(file, name) {
          const options = ["--plain-http", registry.host, "-o", "json"];
          const { status, stdout, stderr } = await node.run("push", file, `${registry.host}/${name}`, ...options);
          if (status !== 0 || stderr !== "") throw new Error(`push ended with status ${status}: ${stderr}`);
          return JSON.parse(stdout);
        },
        get,
        async attach(repository, bundle, manifest) {
          await attachBundle(registry.host, repository, bundle, await get(`${repository}/manifests/${manifest}`));
        },
      });
    });
  });
}
