import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { once } from "node:events";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, expect, onTestFinished, test } from "vitest";
import { entryText, fileNameOf } from "../../../store/journal/entry-file.ts";
import type { JournalPlan } from "../../../store/journal/entry.ts";
import { networksInUse } from "../../../node/explain/networks-in-use.ts";
import { pageReader } from "./read-page-data.ts";

let directory = "";
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "plexus-ui-"));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  mkdirSync(join(directory, "journal"));
});

const conflist = '{"cniVersion":"1.0.0","name":"pods","plugins":[{"type":"bridge","bridge":"br0"}]}';
const plan: JournalPlan = {
  kind: "plexusJournalV1",
  containerId: "c1",
  network: "cluster",
  ifname: "eth0",
  netns: "/run/netns/a",
  cniArgs: "K8S_POD_NAMESPACE=shop;K8S_POD_NAME=cart-7",
  cniPath: "",
  bootId: "b",
  attachments: [
    { network: "pods", ifname: "eth0", source: "default", conflist, capabilityArgs: {} },
    {
      network: "pods",
      ifname: "net1",
      source: "shop/pods",
      conflist,
      capabilityArgs: {},
      definition: { namespace: "shop", name: "pods" },
    },
    { network: "broken", ifname: "net2", source: "shop/broken", conflist: "{", capabilityArgs: {} },
  ],
};

function writePlan(containerId: string): void {
  const own = { ...plan, containerId };
  writeFileSync(join(directory, "journal", fileNameOf(own)), entryText(own));
}

function reader(statusSocket: string) {
  return pageReader({ statusSocket, stateDir: directory, config: join(directory, "absent"), cniPath: join(directory, "bin") });
}

/** A program at the status socket that is no daemon of this release: it answers as scripted, and 404 to other paths. */
async function serveAnswers(answers: Readonly<Record<string, string>>): Promise<string> {
  const socket = join(directory, "status.sock");
  const server = createServer((request, response) => {
    const body = answers[request.url ?? ""];
    response.writeHead(body === undefined ? 404 : 200).end(body ?? "not found\n");
  });
  server.listen(socket);
  await once(server, "listening");
  onTestFinished(() => void server.close());
  return socket;
}

test("without a daemon shows the state directory's attachments, links and plugins, and says what is not known", async () => {
  writePlan("c1");
  const data = await reader(join(directory, "none.sock"))();
  expect(data).toMatchObject({
    daemon: null,
    silence: "the socket does not exist",
    attachments: [{ pod: "shop/cart-7" }, { source: "shop/pods" }, { source: "shop/broken" }],
    calls: null,
    callsUnknown: "the socket does not exist",
  });
  expect(data.networks.find(({ name }) => name === "pods")?.links).toEqual([{ kind: "bridge", name: "br0", type: "bridge" }]);
});

test("a daemon that has no /calls is named as the reason", async () => {
  const daemon = {
    version: "0.1.0",
    pid: 1,
    since: "2026-11-24T00:00:00Z",
    socket: "/s",
    ready: true,
    checks: [],
    queue: { active: 0, waiting: 0, mostActive: 1, mostWaiting: 1 },
    sandboxes: { idle: 0, busy: 0, starting: 0, restarts: 0 },
    information: {},
  };
  const status = { apiVersion: "plexus/v1", kind: "NodeStatus", time: "2026-11-24T00:00:00Z", daemon, nodes: [], failures: [] };
  const data = await reader(await serveAnswers({ "/status": JSON.stringify(status) }))();
  expect(data).toMatchObject({ daemon: { version: "0.1.0" }, calls: null });
  expect(data.callsUnknown).toBe("this daemon does not report its calls (its version is 0.1.0)");
});

test.each([
  ["{}"],
  ["[]"],
  ["nonsense"],
  ['{"apiVersion":"plexus/v1","kind":"RecentCalls","calls":[{}]}'],
  ['{"apiVersion":"plexus/v1","kind":"RecentCalls","calls":7}'],
])("calls of another form are refused: %s", async (answer) => {
  const data = await reader(await serveAnswers({ "/calls": answer }))();
  expect([data.calls, data.callsUnknown]).toEqual([null, expect.stringContaining("cannot read the answer")]);
});

test("finds each network of the journal once, bound by its definition, and skips what is unreadable", () => {
  for (const containerId of ["c1", "c2", "c3"]) writePlan(containerId);
  writeFileSync(join(directory, "journal", "a@b@torn"), "{");
  const networks = networksInUse([directory, join(directory, "absent")], new Set());
  expect(
    networks.map(({ source, list, namespace, binding }) => [source, list.name, namespace, binding?.definition.name]),
  ).toEqual([
    ["default", "pods", undefined, undefined],
    ["shop/pods", "pods", "shop", "pods"],
  ]);
  expect(networksInUse([directory], new Set(["pods"])).map(({ source }) => source)).toEqual(["shop/pods"]);
});
