// Faults between Plexus and the API server, through the installed binary. The API server is real; a proxy in front of it makes the faults.

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";

import { adminClient } from "../lab/kube/admin.ts";
import { type ApiServer, type CreatedPod, plexusUser } from "../lab/kube/api-server.ts";
import { sharedApiServer } from "../lab/kube/shared-api-server.ts";
import { makeAuthority } from "../lab/kube/certificates.ts";
import { type FaultProxy, type ProxyFault, type SeenRequest, startFaultProxy } from "../lab/kube/fault-proxy.ts";
import { apiAddress } from "../lab/kube/address.ts";
import { withGrowingBudget } from "../lab/kube/growing-budget.ts";
import { installRecorder, type RecorderPlugin } from "../lab/recorder.ts";
import type { Answer } from "../lab/plexus.ts";
import { nothing } from "../lab/stage.ts";
import { missingForKube, type Node, openNode } from "../lab/kube/node.ts";

const toPod = ({ method, path }: SeenRequest): boolean => method === "GET" && path.endsWith("/pods/web");
const toStatus = ({ method, path }: SeenRequest): boolean => method === "PATCH" && path.endsWith("/pods/web/status");
const podObject = (metadata: object): string => JSON.stringify({ apiVersion: "v1", kind: "Pod", metadata });
const statusObject = (code: number, message: string): string =>
  JSON.stringify({ kind: "Status", apiVersion: "v1", status: "Failure", message, code });

describe.skipIf(missingForKube("faults of a Kubernetes API"))("faults of a Kubernetes API", () => {
  let api: ApiServer;
  let proxy: FaultProxy;
  let kubeconfig: string;
  beforeAll(async () => {
    api = await sharedApiServer();
    proxy = await startFaultProxy(api);
    kubeconfig = await proxy.kubeconfig();
  });
  afterAll(async () => {
    await proxy?.dispose();
    await api?.dispose();
  });

  let node: Node;
  let web: CreatedPod;
  let recorder: RecorderPlugin;
  beforeEach(async () => {
    node = openNode(api);
    recorder = installRecorder(node.plexus.cniPath, "main");
    await api.network("shop", "storage", [{ type: "main" }]);
    web = await api.pod("shop", "web", "storage");
    proxy.script(() => undefined);
  });
  afterEach(async () => {
    proxy.script(() => undefined);
    node.dispose();
    await api.deletePod("shop", "web");
  });

  /** Whether a request has been repeated since the first `count` requests. Events have one path. */
  const isRepeated = (count: number): boolean => {
    const requests = proxy.seen.slice(count).filter(({ method }) => method !== "POST");
    return new Set(requests.map(({ method, path }) => `${method} ${path}`)).size < requests.length;
  };
  const beforeStatus = (act: () => Promise<unknown>): void =>
    proxy.script((request) => (toStatus(request) && request.earlier === 0 ? { first: act } : undefined));
  /** Sends ADD through the proxy, or with another kubeconfig. */
  const add = (more: { readonly kubeconfig?: string; readonly kubernetes?: object } = {}): Promise<Answer> =>
    node.call("ADD", { ...node.attaching(web), config: node.network([{ type: "main" }], { kubeconfig, ...more }) });
  const expectAttached = async (answer: Answer): Promise<void> => {
    expect({ status: answer.status, error: answer.status === 0 ? "" : answer.stdout }).toEqual({ status: 0, error: "" });
    expect(await api.statusOf("shop", "web")).toMatchObject([{ interface: "eth0" }, { name: "shop/storage" }]);
  };
  const expectRefused = (answer: Answer, code: number, msg: RegExp, details = /./): void => {
    expect([answer.status, answer.json]).toMatchObject([
      1,
      { code, msg: expect.stringMatching(msg), details: expect.stringMatching(details) },
    ]);
    expect([recorder.calls(), node.left()]).toEqual([[], nothing]);
  };

  describe("MO-01", () => {
    test.each([400, 2_000, 8_000])("ADD waits for a server that answers after %i ms", async (delayMs) => {
      proxy.script((request) => (toPod(request) ? { delayMs } : undefined));
      const answer = await add({ kubernetes: { budgetMs: 100_000 } });
      await expectAttached(answer);
      expect(answer.ms).toBeGreaterThan(delayMs);
    });

    test("ADD fails after kubernetes.budgetMs, and the fault names this key", async () => {
      proxy.script(() => ({ delayMs: 300_000 }));
      const msg =
        /^GET \/api\/v1\/namespaces\/shop\/pods\/web of https:.*no answer after \d+ ms \(waiting for the answer\).*tried 2 times/;
      const refused = await withGrowingBudget((budgetMs) => add({ kubernetes: { budgetMs } }), msg);
      expectRefused(refused, 11, msg, /kubernetes\.budgetMs.*API_UNREACHABLE/);
    });
  });

  describe("MO-02 A-13 transient failures are retried:", () => {
    test.each<[string, ProxyFault]>([
      ["500", { answer: { status: 500, body: statusObject(500, "etcdserver: leader changed") } }],
      ["502 that isn't JSON", { answer: { status: 502, headers: { "Content-Type": "text/html" }, body: "<h1>Bad Gateway" } }],
      ["503", { answer: { status: 503 } }],
      ["504", { answer: { status: 504, body: statusObject(504, "request did not complete") } }],
      ["a reset connection", { reset: true }],
    ])("%s", async (_, fault) => {
      proxy.script((request) => (request.earlier < 2 ? fault : undefined));
      const answer = await add({ kubernetes: { budgetMs: 60_000 } });
      await expectAttached(answer);
      expect(answer.stderr).toMatch(/pods\/web worked after 3 attempts/);
    });

    test("429, after the delay of Retry-After", async () => {
      const body = statusObject(429, "too many requests");
      const first = proxy.seen.length;
      proxy.script((request) =>
        toPod(request) && request.earlier === 0 ? { answer: { status: 429, headers: { "Retry-After": "2" }, body } } : undefined,
      );
      await expectAttached(await add());
      const [one, two] = proxy.seen.slice(first).filter(toPod);
      expect((two?.at ?? 0) - (one?.at ?? 0)).toBeGreaterThanOrEqual(1_990);
    });

    test("429 of the API server's flow control", async () => {
      const flow = { apiVersion: "flowcontrol.apiserver.k8s.io/v1", metadata: { name: "nobody" } };
      const level = {
        ...flow,
        kind: "PriorityLevelConfiguration",
        spec: {
          type: "Limited",
          limited: { nominalConcurrencyShares: 0, borrowingLimitPercent: 0, limitResponse: { type: "Reject" } },
        },
      };
      const subject = { kind: "ServiceAccount", serviceAccount: { name: "plexus", namespace: "kube-system" } };
      const everything = { verbs: ["*"], apiGroups: ["*"], resources: ["*"], namespaces: ["*"], clusterScope: true };
      const schema = {
        ...flow,
        kind: "FlowSchema",
        spec: {
          matchingPrecedence: 2,
          priorityLevelConfiguration: { name: "nobody" },
          rules: [{ subjects: [subject], resourceRules: [everything] }],
        },
      };
      await api.admin.create(level);
      await api.admin.create(schema);
      // A priority level without shares still serves one request at a time. These requests occupy that seat.
      const otherClient = adminClient(api.plexus);
      const occupySeat = async (isOver: () => boolean): Promise<void> => {
        const one = async (): Promise<void> => {
          while (!isOver()) await otherClient.core.readNamespacedPod(web).catch(() => undefined);
        };
        await Promise.all(Array.from({ length: 24 }, one));
      };
      const config = node.network([{ type: "main" }], { kubeconfig, kubernetes: { budgetMs: 60_000 } });
      const attaching = { ...node.attaching(web), config };
      let stderrText = "";
      try {
        for (let calls = 0; calls < 60 && !stderrText.includes("HTTP 429"); calls++) {
          const first = proxy.seen.length;
          let isAnswered = false;
          const adding = node.call("ADD", attaching).finally(() => (isAnswered = true));
          const [added] = await Promise.all([adding, occupySeat(() => isAnswered || isRepeated(first))]);
          expect([added.status, added.json]).toEqual([0, expect.objectContaining({ interfaces: expect.anything() })]);
          stderrText += added.stderr;
          await node.succeed("DEL", attaching);
        }
      } finally {
        await api.admin.delete(schema);
        await api.admin.delete(level);
      }
      expect(stderrText).toMatch(/worked after \d+ attempts: HTTP 429/);
    });

    test("MA-08 repeated conflicts of the status patch", async () => {
      proxy.script((request) =>
        toStatus(request) && request.earlier < 4
          ? { answer: { status: 409, body: statusObject(409, "the object has been modified") } }
          : undefined,
      );
      await expectAttached(await add({ kubernetes: { budgetMs: 60_000 } }));
    });
  });

  describe("A-13 credentials:", () => {
    test("MC-14 a refused token is read again, and the rotated token is used", async () => {
      const file = join(api.directory, "token");
      writeFileSync(file, "stale");
      const fresh = await api.token();
      proxy.script((request) => {
        if (request.earlier > 0) writeFileSync(file, fresh);
        return undefined;
      });
      const rotating = await proxy.kubeconfig({ tokenFile: "token" });
      const before = proxy.seen.length;
      await expectAttached(await add({ kubeconfig: rotating }));
      expect(proxy.seen.slice(before).filter(toPod).length).toBeGreaterThan(1);
      // The file has the rotated token, with which the next call starts.
      expect(readFileSync(file, "utf8")).toBe(fresh);
    });

    test("a token that is always refused", async () => {
      expectRefused(
        await add({ kubeconfig: await proxy.kubeconfig({ token: "stale" }) }),
        11,
        /pods\/web of https.*HTTP 401: "Unauthorized"; the credentials are those of .*through-proxy-\d+\.kubeconfig/,
        /Renew the token.*API_UNAUTHENTICATED/,
      );
    });

    test("a user without rights", async () => {
      expectRefused(
        await add({ kubeconfig: api.kubeconfig("nobody") }),
        11,
        /HTTP 403: "pods \\"web\\" is forbidden: User \\"nobody\\" cannot get resource/,
        /deploy\/rbac\.yaml.*API_FORBIDDEN/,
      );
    });

    test("a certificate authority that did not sign the server's certificate", async () => {
      const other = makeAuthority(join(api.directory, "other"), "another authority");
      const wrong = api.kubeconfig(plexusUser, [], {
        cluster: { "certificate-authority-data": undefined, "certificate-authority": other.certificate },
      });
      expectRefused(await add({ kubeconfig: wrong }), 11, /unable to|certificate/, /certificate-authority.*API_UNTRUSTED/);
    });

    test.each<[string, readonly [number, number], RegExp]>([
      ["is no longer valid", [-9, -1], /CERT_HAS_EXPIRED\); this node's clock says 20/],
      ["is not valid yet", [1, 9], /CERT_NOT_YET_VALID\); this node's clock says 20/],
    ])("a node's clock by which the server's certificate %s", async (_, validDays, msg) => {
      const alternativeNames = [`IP:${apiAddress}`];
      const certificate = api.authority.issue(`skewed${validDays[0]}`, { commonName: "skewed", alternativeNames, validDays });
      const skewed = await startFaultProxy(api, certificate);
      try {
        expectRefused(await add({ kubeconfig: await skewed.kubeconfig() }), 11, msg, /clock.*API_UNTRUSTED/);
      } finally {
        await skewed.dispose();
      }
    });

    test("a certificate for another name, unless tls-server-name expects it", async () => {
      const certificate = api.authority.issue("named", { commonName: "named", alternativeNames: ["DNS:api.example"] });
      const named = await startFaultProxy(api, certificate);
      try {
        const path = await named.kubeconfig();
        expectRefused(await add({ kubeconfig: path }), 11, /ERR_TLS_CERT_ALTNAME_INVALID/, /API_UNTRUSTED/);
        writeFileSync(path, readFileSync(path, "utf8").replace('"server":', '"tls-server-name": "api.example", "server":'));
        await expectAttached(await add({ kubeconfig: path }));
      } finally {
        await named.dispose();
      }
    });

    test.each<[string, Readonly<Record<string, unknown>>, number, RegExp]>([
      ["an exec credential plugin", { exec: { command: "aws" } }, 7, /user: exec would start a program/],
      [
        "an invalid client certificate",
        { "client-certificate-data": btoa("-----BEGIN x"), "client-key-data": btoa("-----BEGIN y") },
        7,
        /kubeconfig|credentials of/,
      ],
      ["an absent token file", { tokenFile: "absent" }, 11, /token of kubeconfig .*absent: ENOENT/],
    ])("%s", async (_, user, code, msg) => {
      expectRefused(await add({ kubeconfig: await proxy.kubeconfig(user) }), code, msg);
    });

    test("a connection without verification, unless the administrator allows it", async () => {
      const insecure = api.kubeconfig(plexusUser, [], {
        cluster: { "certificate-authority-data": undefined, "insecure-skip-tls-verify": true },
      });
      expectRefused(await add({ kubeconfig: insecure }), 7, /insecure-skip-tls-verify is not accepted/);
      await expectAttached(await add({ kubeconfig: insecure, kubernetes: { allowInsecure: true } }));
    });

    test("an absent kubeconfig", async () => {
      expectRefused(await add({ kubeconfig: "/nonexistent/plexus.kubeconfig" }), 11, /ENOENT/, /CREDENTIALS_UNREADABLE/);
    });
  });

  describe("A-13 invalid answers:", () => {
    test.each<[string, ProxyFault, number, RegExp]>([
      ["a body that never ends", { dripMs: 20 }, 11, /no answer after \d+ ms \(reading the answer\)/],
      ["a body of 5 MiB", { answer: { status: 200, body: " ".repeat(5 * 1024 * 1024) } }, 999, /more than 4194304 bytes/],
      ["a body that isn't JSON", { answer: { status: 200, body: "<html>" } }, 999, /answer for pod shop\/web is not JSON/],
      ["a body that is nested too deeply", { answer: { status: 200, body: "[".repeat(5_000) } }, 999, /is nested deeper/],
      [
        "another pod",
        { answer: { status: 200, body: podObject({ namespace: "shop", name: "db" }) } },
        999,
        /answered with shop\/db/,
      ],
      [
        "an annotation that is not a string",
        { answer: { status: 200, body: podObject({ namespace: "shop", name: "web", annotations: { a: 5 } }) } },
        11,
        /the annotation "a" must be a string/,
      ],
      ["a redirect", { answer: { status: 302, headers: { Location: "https://example.invalid/" } } }, 999, /HTTP 302/],
    ])("%s", async (_, fault, code, msg) => {
      proxy.script((request) => (toPod(request) ? fault : undefined));
      expectRefused(await withGrowingBudget((budgetMs) => add({ kubernetes: { budgetMs } }), msg), code, msg);
    });
  });

  describe("between the attachments and the status", () => {
    test("A-15 a recreated pod does not get the earlier pod's status", async () => {
      beforeStatus(async () => {
        await api.deletePod("shop", "web");
        await api.pod("shop", "web", "storage");
      });
      const answer = await add();
      expect([answer.status, answer.stderr]).toEqual([
        0,
        expect.stringMatching(/pod shop\/web was recreated: its network status is not published/),
      ]);
      expect(await api.statusOf("shop", "web")).toBe(undefined);
    });

    test("MA-09 a deleted pod does not fail ADD", async () => {
      beforeStatus(() => api.deletePod("shop", "web"));
      const answer = await add();
      expect([answer.status, answer.stderr]).toEqual([
        0,
        expect.stringMatching(/pod shop\/web no longer exists: its network status is not published/),
      ]);
      await api.pod("shop", "web");
    });

    test("a failure to publish the status undoes the attachments", async () => {
      proxy.script((request) => (toStatus(request) ? { answer: { status: 503 } } : undefined));
      const msg = /^PATCH .*HTTP 503/;
      const answer = await withGrowingBudget((budgetMs) => {
        recorder.clear();
        return add({ kubernetes: { budgetMs } });
      }, msg);
      expect([answer.status, answer.json]).toMatchObject([1, { code: 11, msg: expect.stringMatching(msg) }]);
      expect(recorder.calls().map(({ env }) => `${env["CNI_COMMAND"]} ${env["CNI_IFNAME"]}`)).toEqual([
        "ADD eth0",
        "ADD net1",
        "DEL net1",
        "DEL eth0",
      ]);
      expect(node.left()).toEqual(nothing);
    });

    test("MA-06 delayed events do not delay the call", async () => {
      const answered = Promise.withResolvers<void>();
      proxy.script(({ path }) => (path.endsWith("/events") ? { first: () => answered.promise } : undefined));
      try {
        const answer = await add();
        await expectAttached(answer);
        expect(answer.stderr).toBe("");
      } finally {
        answered.resolve();
      }
    });
  });
});
