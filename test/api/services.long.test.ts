// Cluster addresses of Services on further networks, whole: plexus-controller's part, a daemon with an agent, and connections of pods.

import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { servicesPart } from "../../features/services/controller/part.ts";
import { root } from "../lab/compiled.ts";
import { selectNetworks } from "../lab/kube/annotate.ts";
import { applyObjects, outcome } from "../lab/kube/apply.ts";
import { missingForKube } from "../lab/kube/node.ts";
import { policyRequests, policyRights } from "../lab/kube/policy-objects.ts";
import { serviceRequests, serviceRights } from "../lab/kube/service-requests.ts";
import { command, missing } from "../lab/requires.ts";
import { nothing } from "../lab/stage.ts";
import { addressOf, FollowingNode, type PodOnNode } from "../lab/kube/following-node.ts";

const patience = { timeout: 60_000, interval: 50 };
const echo = join(import.meta.dirname, "..", "node", "services", "testing", "echo.mjs");
const services = "/api/v1/namespaces/shop/services";
/** Equal in all calls: the daemon keeps a changed configuration some seconds later. */
const features = { hotPlug: true, services: true, probes: true, policies: {} };

const tableOf = ({ call }: PodOnNode): string => call.pod.exec(["nft", "list", "table", "inet", "plexus-services"]).stdout;
const entering = ({ call }: PodOnNode): string[] => [`--net=${call.pod.path}`, "--", process.execPath, echo];

/**
 * The distinct answers to so many connections: the endpoint and the client's address as the endpoint saw it, or an error. The test's event loop goes on
 * meanwhile: plexus-controller's part is on it.
 */
async function ask(
  from: PodOnNode,
  protocol: "tcp" | "udp",
  address: string,
  port: number,
  count = 1,
): Promise<readonly string[]> {
  const client = spawn("nsenter", [...entering(from), "ask", protocol, address, String(port), String(count)]);
  const answers = await text(client.stdout);
  return [...new Set(answers.trim().split("\n"))].toSorted();
}

describe.skipIf(missingForKube("Services of pods") || missing("Services of pods", command("nft", "--version")))(
  "Services of pods",
  () => {
    let shop: FollowingNode;
    const servers: ChildProcessWithoutNullStreams[] = [];

    /** A Service as the admission policy leaves it. Answers its cluster address. */
    const service = async (name: string, network: string, app: string, spec: object = {}): Promise<string> => {
      const made = await shop.create({
        apiVersion: "v1",
        kind: "Service",
        metadata: {
          namespace: "shop",
          name,
          annotations: { "plexus.dev/network": network, "plexus.dev/selector": `app=${app}` },
        },
        spec: {
          ports: [
            { name: "http", port: 80, targetPort: 8080 },
            { name: "dns", protocol: "UDP", port: 53, targetPort: 5353 },
          ],
          ...spec,
        },
      });
      return (made as { readonly spec: { readonly clusterIP: string } }).spec.clusterIP;
    };
    const ready = async (pod: PodOnNode, status: "True" | "False"): Promise<void> => {
      const conditions = [{ type: "Ready", status }];
      const patched = outcome(
        await shop.objects.patch(`/api/v1/namespaces/shop/pods/${pod.name}/status`, { status: { conditions } }),
      );
      if (typeof patched === "string") throw new Error(patched);
    };

    beforeAll(async () => {
      shop = await FollowingNode.open({
        alsoAllowed: [...serviceRequests, ...policyRequests],
        prepare: async (api, objects) => {
          for (const object of [...serviceRights, ...policyRights]) await api.admin.create(object);
          // A pod whose node is gone is no endpoint.
          await api.admin.create({ apiVersion: "v1", kind: "Node", metadata: { name: "node" } });
          for (const file of ["policies.yaml", "multi-network-policies.yaml"])
            await applyObjects(objects, `deploy/helm/plexus/files/${file}`, "CustomResourceDefinition");
        },
        part: servicesPart(),
        networks: { red: "10.20.0.0/24", blue: "10.30.0.0/24", green: "10.40.0.0/24" },
        configuration: features,
      });
      shop.startAgent();
    });
    afterAll(async () => {
      for (const server of servers) server.kill("SIGKILL");
      await shop?.dispose();
    });

    /** A running pod whose default route is on the cluster's network, as a Service's client needs it. */
    async function running(name: string, app: string, selection = "red"): Promise<PodOnNode> {
      const pod = await shop.createPod(name, { app }, selection);
      const { node, kubeconfig } = shop;
      const cluster = { ...node.bridge("pods", "10.10.0.0/24"), isDefaultGateway: true };
      const config = node.network([cluster], { kubeconfig, ...features });
      return shop.add({ ...pod, call: { ...pod.call, config } });
    }
    /** A ready pod that answers on its address of the network red. */
    async function serving(name: string, app: string): Promise<PodOnNode> {
      const pod = await running(name, app);
      const server = spawn("nsenter", [...entering(pod), "serve", addressOf(pod)]);
      servers.push(server);
      for await (const line of createInterface({ input: server.stdout })) if (line === "ready") break;
      await ready(pod, "True");
      return pod;
    }
    test("SV-06 SV-07: cluster addresses lead to endpoints of the network; a Service without endpoints refuses; a DEL leaves nothing", async () => {
      const web = await service("web", "red", "web");
      const sticky = await service("sticky", "red", "web", { sessionAffinity: "ClientIP" });
      const one = await serving("one", "web");
      const two = await serving("two", "web");
      const client = await running("client", "other");
      // Without a wait: the runtime has just been answered, and the controller had written a slice of each Service.
      expect(tableOf(client)).toContain(web);
      const from = addressOf(client);
      const both = [one, two].map((each) => `${addressOf(each)} ${from}`).toSorted();
      // All 20 connections at one of two endpoints have a probability of 2 in 2^20.
      await expect.poll(() => ask(client, "tcp", web, 80, 20), patience).toEqual(both);
      expect(await ask(client, "udp", web, 53, 20)).toEqual(both);
      expect(await ask(client, "tcp", web, 81)).toEqual(["ECONNREFUSED"]);
      const [chosen = ""] = await ask(client, "tcp", sticky, 80, 20);
      expect(both).toContain(chosen);
      expect(await ask(client, "tcp", sticky, 80, 20)).toEqual([chosen]);

      // A UDP flow, whose socket goes on when its endpoint is no longer ready.
      const talking = spawn("nsenter", [...entering(client), "talk", sticky, "53"]);
      servers.push(talking);
      const lines = createInterface({ input: talking.stdout })[Symbol.asyncIterator]();
      const talk = async (): Promise<unknown> => {
        talking.stdin.write("\n");
        return (await lines.next()).value;
      };
      const first = await talk();
      expect(both).toContain(first);
      const [gone, left] = first === `${addressOf(one)} ${from}` ? [one, two] : [two, one];
      await ready(gone, "False");
      await expect.poll(talk, patience).toBe(`${addressOf(left)} ${from}`);
      await expect.poll(() => ask(client, "tcp", web, 80, 20), patience).toEqual([`${addressOf(left)} ${from}`]);
      await ready(left, "False");
      await expect.poll(() => ask(client, "tcp", web, 80), patience).toEqual(["ECONNREFUSED"]);
      await ready(gone, "True");
      await expect.poll(() => ask(client, "tcp", web, 80), patience).toEqual([`${addressOf(gone)} ${from}`]);

      outcome(await shop.objects.remove(`${services}/web`));
      outcome(await shop.objects.remove(`${services}/sticky`));
      // No endpoint controller and no garbage collector run here: plexus-controller removes the slices.
      await expect.poll(() => tableOf(client), patience).toBe("");
      talking.stdin.end();
      await shop.removePods(one, two, client);
      expect(shop.node.left().links).toEqual(nothing.links);
    });

    test("SV-06 SV-07: pods of two nodes follow the readiness of an endpoint, each by its own daemon", async () => {
      const web = await service("both", "red", "both");
      const far = await shop.beside("far");
      try {
        far.startAgent();
        const server = await running("server", "both");
        const near = await running("near", "other");
        const away = await far.runPod("away", { app: "other" });
        const endpoint = `${addressOf(server)}:8080`;
        const haveIt = (): readonly boolean[] => [near, away].map((pod) => tableOf(pod).includes(endpoint));
        expect([near, away].map((pod) => tableOf(pod).includes(web))).toEqual([true, true]);
        for (const status of ["True", "False", "True"] as const) {
          await ready(server, status);
          await expect.poll(haveIt, patience).toEqual([status === "True", status === "True"]);
        }
        outcome(await shop.objects.remove(`${services}/both`));
        await expect.poll(() => [near, away].map(tableOf), patience).toEqual(["", ""]);
        await far.removePods(away);
        await shop.removePods(server, near);
      } finally {
        await far.dispose();
      }
    });

    test("SV-11: the Services, the reason for a missing endpoint, and the node's tables are shown", async () => {
      const web = await service("shown", "red", "shown");
      const client = await running("client", "other");
      const pod = await running("shown", "shown");
      const from = addressOf(pod);
      await expect
        .poll(async () => (await shop.inCluster("services", "explain", "shop/shown")).stdout, patience)
        .toContain(`shop/shown on shop/red, ${web}; addresses in its slices: 1`);
      const { stdout, status } = await shop.inCluster("services", "explain", "shop/shown", "-o", "wide");
      expect(status).toBe(1);
      expect(stdout).toContain(`is not ready: its condition Ready is not True, with ${from}`);
      expect((await shop.inCluster("services", "show", "shop")).stdout).toMatch(/^shop +shown +shop\/red +[\d.]+ +0\/1$/mu);
      await ready(pod, "True");
      await expect.poll(async () => (await shop.inCluster("services", "explain", "shop/shown")).status, patience).toBe(0);
      await expect
        .poll(async () => (await shop.inCluster("services", "show", "shop")).stdout, patience)
        .toMatch(/^shop +shown +shop\/red +[\d.]+ +1\/1$/mu);
      await expect
        .poll(async () => (await shop.onNode("services", "tables", "shop/client", "-o", "wide")).stdout, patience)
        .toMatch(new RegExp(`^shop/client +shop/shown +${web} +80/TCP +${from} 8080$`, "mu"));
      expect(await shop.metrics()).toMatch(/^plexus_service_tables 2$/mu);
      outcome(await shop.objects.remove(`${services}/shown`));
      await shop.removePods(client, pod);
    });

    test("PR-05 PR-06 SV-09: a probe of a Service asks its endpoints: what answers, what a policy forbids, what is lost, and a smaller MTU", async () => {
      const address = await service("probed", "red", "probed");
      const spec = { podSelector: { matchLabels: { mode: "closed" } }, policyTypes: ["Ingress"] };
      await vi.waitFor(() => shop.allow("closed", spec), patience);
      const client = await running("client", "other", "red");
      await expect.poll(() => tableOf(client), patience).toContain(address);
      /** The results of the Service's rows, by endpoint. */
      const probed = async (): Promise<Readonly<Record<string, string>>> => {
        const { stdout } = await shop.onNode("probe", "shop/client", "red", address, "-o", "wide");
        const rows = stdout.matchAll(
          new RegExp(`^Service shop/probed at ${address} +([\\d.]+) +(?:(?:[\\da-f]{2}:){5}[\\da-f]{2})? +(.+)$`, "gmu"),
        );
        return Object.fromEntries([...rows].map(([, endpoint = "", result = ""]) => [endpoint, result]));
      };
      expect(await probed()).toEqual({ [address]: "the Service has no endpoint on this network: connections are refused" });

      const pods = new Map<string, PodOnNode>();
      for (const name of ["open", "narrow", "silent", "closed", "down"]) {
        const pod = await running(name, "probed", "red");
        pods.set(addressOf(pod), pod);
        await ready(pod, "True");
      }
      const [open = "", narrow = "", silent = "", closed = "", down = ""] = pods.keys();
      const inPod = (endpoint: string, ...line: readonly [string, ...string[]]): void => {
        expect(pods.get(endpoint)?.call.pod.exec(line)).toMatchObject({ status: 0 });
      };
      inPod(narrow, "ip", "link", "set", "net1", "mtu", "1400");
      inPod(
        silent,
        "nft",
        "add table inet silent; add chain inet silent in { type filter hook input priority 0; ip protocol icmp drop; }",
      );
      inPod(down, "ip", "link", "set", "net1", "down");
      await shop.label("closed", { mode: "closed" });
      await expect.poll(probed, patience).toEqual({
        [open]: "answers packets of 1500 bytes",
        [narrow]: "answers packets of 64 bytes, and full ones are lost: a link on the way has a smaller MTU",
        [silent]: expect.stringMatching(/^a neighbour has the address, and no echo came back: lost/u),
        [closed]: "no answer: forbidden by shop/closed (ingress of shop/closed)",
        [down]: "no neighbour has answered for it",
      });
      await shop.forbid("closed");
      outcome(await shop.objects.remove(`${services}/probed`));
      await shop.removePods(client, ...pods.values());
    });

    test("SV-11: the commands of the page about names on a network work as they stand", async () => {
      const page = readFileSync(join(root, "docs", "how-to", "reach-pods-by-name.md"), "utf8");
      const commands = [...page.matchAll(/^plexusctl ([^#\n]+)/gmu)].map(([, words = ""]) => words.trim().split(/ +/u));
      expect(commands.map((words) => words.slice(0, 2).join(" "))).toEqual([
        "services show",
        "services explain",
        "services tables",
        "status",
      ]);
      await service("db", "red", "db");
      const web = await running("web", "web");
      await expect.poll(async () => (await shop.onNode("services", "tables", "shop/web")).stdout, patience).toContain("shop/db");
      for (const words of commands) {
        const isOfCluster = ["show", "explain"].includes(words[1] ?? "");
        const { stdout, status } = await (isOfCluster ? shop.inCluster(...words) : shop.onNode(...words));
        expect([words, status, stdout]).toEqual([words, expect.toBeOneOf([0, 1]), expect.stringMatching(/shop|services/u)]);
      }
      outcome(await shop.objects.remove(`${services}/db`));
      await shop.removePods(web);
    });

    test("SV-08: a pod has the Services of a network that it gets later, and of no other; without the API those last seen hold", async () => {
      const [red, blue] = [await service("red", "red", "none"), await service("blue", "shop/blue", "none")];
      const client = await running("client", "other");
      await expect.poll(() => tableOf(client), patience).toContain(red);
      expect(tableOf(client)).not.toContain(blue);
      await selectNetworks(shop.api, client, "red,blue");
      await expect.poll(() => tableOf(client), patience).toContain(blue);
      await vi.waitFor(() => expect(client.call.pod.links().map(({ name }) => name)).toContain("net2"), patience);
      await selectNetworks(shop.api, client, "red");
      await expect.poll(() => tableOf(client), patience).not.toContain(blue);
      expect(tableOf(client)).toContain(red);

      // An API that gives no slices: those last seen hold, and a pod of a network new to the node starts without its Services.
      const green = await service("green", "green", "none");
      shop.proxy.script(({ path }) => (path.includes("endpointslices") ? { answer: { status: 403 } } : undefined));
      shop.proxy.cut();
      const unknown = await running("unknown", "other", "green");
      expect(tableOf(unknown)).toBe("");
      const known = await running("known", "other");
      expect(tableOf(known)).toContain(red);
      shop.proxy.script(() => undefined);
      await expect.poll(() => tableOf(unknown), patience).toContain(green);
      await shop.removePods(client, unknown, known);
    });
  },
);
