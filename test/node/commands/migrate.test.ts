// plexusctl migrate --check with a scripted API server. test/cluster/multus-migration.test.ts has a real one.

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { command, missing } from "../../lab/requires.ts";
import { type ScriptedApiServer, startScriptedApiServer } from "../../../host/cluster/testing/scripted-api-server.ts";
import { runCommandLine } from "../../../host/programs/plexusctl/run-command-line.ts";

const config = (name: string): string => JSON.stringify({ cniVersion: "1.0.0", name, type: "bridge" });
const needed = missing("a scripted API server", command("openssl", "version"));

describe.skipIf(needed)("plexusctl migrate --check", () => {
  let server: ScriptedApiServer;
  let directory: string;
  beforeAll(async () => {
    server = await startScriptedApiServer();
    directory = mkdtempSync(join(tmpdir(), "plexus-migrate-"));
    const credentials = await server.credentials();
    const found = credentials.ok ? credentials.value : undefined;
    const authority = Buffer.from(found?.authority ?? "").toString("base64");
    const kubeconfig = {
      "current-context": "test",
      contexts: [{ name: "test", context: { cluster: "test", user: "test" } }],
      clusters: [{ name: "test", cluster: { server: found?.server, "certificate-authority-data": authority } }],
      users: [{ name: "test", user: { token: found?.token } }],
    };
    writeFileSync(at("kubeconfig"), JSON.stringify(kubeconfig));
    writeFileSync(at("00-multus.conf"), JSON.stringify({ type: "multus-shim", name: "multus-cni-network" }));
  });
  afterAll(async () => {
    await server?.dispose();
    rmSync(directory, { recursive: true });
  });

  const at = (name: string): string => join(directory, name);
  const check = (...more: readonly string[]) => runCommandLine(["migrate", "--check", ...more, at("00-multus.conf")], false);

  /** Lets the server have these definitions, and these pods, each on a page of its own. */
  function serve(definitions: readonly string[], pods: readonly (readonly [name: string, networks: string])[]): void {
    const objects = [
      definitions.map((name) => ({ metadata: { namespace: "shop", name }, spec: { config: config(name) } })),
      pods.map(([name, networks]) => ({
        metadata: { namespace: "shop", name, annotations: { "k8s.v1.cni.cncf.io/networks": networks } },
      })),
    ] as const;
    server.script = ({ path, query }, response) => {
      const all = objects[path.startsWith("/api/v1/pods?") ? 1 : 0];
      const index = Number(query.get("continue") ?? 0);
      const metadata = { resourceVersion: "7", ...(index + 1 < all.length ? { continue: String(index + 1) } : {}) };
      response.end(JSON.stringify({ kind: "List", metadata, items: all.slice(index, index + 1) }));
    };
  }

  test("lists the cluster's definitions and pods page by page, and names what differs", async () => {
    serve(
      ["a", "b"],
      [
        ["one", "a,b"],
        ["two", "missing"],
      ],
    );
    const { stdout, status } = await check("--kubeconfig", at("kubeconfig"));
    expect(stdout).toMatch(/^2 definitions and 2 pods with networks: 1 differences\nPod shop\/two fails: .*shop\/missing/u);
    expect(status).toBe(1);
    expect(server.requests.every(({ headers }) => headers["authorization"] === "Bearer secret")).toBe(true);
  });

  test("names the refusal of the API", async () => {
    server.script = (_request, response) => void response.writeHead(403).end(JSON.stringify({ message: "not allowed" }));
    const { stderr, status } = await check("--kubeconfig", at("kubeconfig"));
    expect(stderr).toMatch(/^GET \/apis\/k8s\.cni\.cncf\.io\/v1\/network-attachment-definitions: HTTP 403.*not allowed/u);
    expect(status).toBe(1);
  });

  test("needs one source of objects", async () => {
    for (const sources of [[], ["--kubeconfig", "a", "--objects", "b"]])
      expect(await check(...sources)).toMatchObject({
        status: 2,
        stderr: expect.stringContaining("either --kubeconfig or --objects"),
      });
  });
});
