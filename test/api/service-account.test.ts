// The API client with the service account files of a pod, as a daemon in the cluster has them.

import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { afterAll, beforeAll, describe, expect, test } from "vitest";

import type { Cluster } from "../../host/cluster/cluster.ts";
import { kubeCluster } from "../../host/cluster/api/kube-cluster.ts";
import type { ApiServer, CreatedPod } from "../lab/kube/api-server.ts";
import { sharedApiServer } from "../lab/kube/shared-api-server.ts";
import { kubeApi } from "../lab/kube/binaries.ts";
import { missing, privateNamespaces } from "../lab/requires.ts";
import { systemClock } from "../../host/system/clock.ts";

describe.skipIf(missing("service accounts of a Kubernetes API", privateNamespaces, kubeApi))("a service account's files", () => {
  let api: ApiServer;
  let web: CreatedPod;
  let directory = "";
  const warnings: string[] = [];
  type ClusterClock = Pick<Parameters<typeof kubeCluster>[0], "clock" | "sleep">;
  const realClock: ClusterClock = {
    clock: systemClock,
    sleep: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
  };
  const open = (clock = realClock): Cluster =>
    kubeCluster({
      ...clock,
      credentials: { serviceAccountDirectory: directory, server: api.url },
      budgetMs: 120_000,
      warn: (text) => void warnings.push(text),
    });
  beforeAll(async () => {
    api = await sharedApiServer();
    web = await api.pod("shop", "web", "storage");
    directory = join(api.directory, "service-account");
    mkdirSync(directory);
    writeFileSync(join(directory, "token"), `${await api.token()}\n`);
    writeFileSync(join(directory, "ca.crt"), readFileSync(api.authority.certificate));
  });
  afterAll(() => api?.dispose());

  test("authenticate Plexus at the API server", async () => {
    const cluster = open();
    expect(await cluster.pod("shop", "web", { uid: web.uid })).toMatchObject({ ok: true, value: { uid: web.uid } });
    expect(await cluster.pod("shop", "web", { uid: "other" })).toMatchObject({ ok: false, fault: { kind: "POD_NOT_FOUND" } });
    await cluster.end(0);
  });

  test("A-13 are read again when the server refuses the token, because it may have been rotated", async () => {
    const path = join(directory, "token");
    const fresh = readFileSync(path, "utf8");
    writeFileSync(path, "stale");
    // The token is rotated in the pause after the first refusal. Only pauses make this clock go on.
    let nowMs = 0;
    const sleep = async (ms: number): Promise<void> => {
      nowMs += ms;
      writeFileSync(path, fresh);
    };
    const cluster = open({ clock: { ...systemClock, now: () => nowMs }, sleep });
    expect(await cluster.pod("shop", "web")).toMatchObject({ ok: true });
    expect(warnings).toContainEqual(expect.stringMatching(/worked after \d+ attempts: HTTP 401/));
    await cluster.end(0);
  });

  test.each([
    ["", "web"],
    ["shop", "../../secrets"],
    ["shop/../kube-system", "web"],
    ["shop", "web/status"],
    ["shop", "web?watch=1"],
  ])("are not used for invalid names, which cause no request: %j %j", async (namespace, name) => {
    const cluster = open();
    const before = api.audit().length;
    expect(await cluster.pod(namespace, name)).toMatchObject({ ok: false, fault: { kind: "POD_NOT_FOUND" } });
    expect(await cluster.networkAttachmentDefinition(namespace, name)).toMatchObject({
      ok: false,
      fault: { kind: "NETWORK_NOT_FOUND" },
    });
    expect(
      api
        .audit()
        .slice(before)
        .filter(({ agent }) => agent === "plexus"),
    ).toEqual([]);
    await cluster.end(0);
  });
});
