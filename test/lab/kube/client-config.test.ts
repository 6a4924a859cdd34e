// The tests' client keeps on when a connection breaks, because a test on a busy machine must fail for its own subject only.

import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import type { IncomingMessage, ServerResponse } from "node:http";
import { createServer, type Server } from "node:https";
import type { AddressInfo, Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { CoreV1Api } from "@kubernetes/client-node";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { missing } from "../requires.ts";
import { openssl } from "./binaries.ts";
import { makeAuthority } from "./certificates.ts";
import { tokenConfig } from "./client-config.ts";

const send = (response: ServerResponse, status: number, body: object): void => {
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
};

describe.skipIf(missing("the tests' client", openssl))("the tests' client", () => {
  let directory: string;
  let server: Server;
  let core: CoreV1Api;
  const seen: string[] = [];
  const sockets = new Set<Socket>();
  let answer: (request: IncomingMessage, response: ServerResponse) => void;
  beforeAll(async () => {
    directory = mkdtempSync(join(tmpdir(), "plexus-client-"));
    const authority = makeAuthority(directory, "authority");
    const { certificate, key } = authority.issue("server", { commonName: "server", alternativeNames: ["IP:127.0.0.1"] });
    server = createServer({ cert: readFileSync(certificate), key: readFileSync(key) }, (request, response) => {
      seen.push(`${request.method} ${request.url}`);
      sockets.add(request.socket);
      request.resume().once("end", () => answer(request, response));
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
    core = tokenConfig(url, authority.certificate, "token").makeApiClient(CoreV1Api);
  });
  afterAll(() => {
    server.closeAllConnections();
    server.close();
    rmSync(directory, { recursive: true, force: true });
  });
  beforeEach(() => {
    seen.length = 0;
    sockets.clear();
  });
  const create = (): ReturnType<CoreV1Api["createNamespace"]> => core.createNamespace({ body: { metadata: { name: "shop" } } });

  test("reads the object that a request whose answer was lost has made", async () => {
    answer = ({ method, socket }, response) => {
      if (seen.length === 1) socket.destroy();
      else if (method === "POST") send(response, 409, { reason: "AlreadyExists" });
      else send(response, 200, { metadata: { name: "shop", uid: "u1" } });
    };
    expect((await create()).metadata?.uid).toBe("u1");
    expect(seen).toEqual(["POST /api/v1/namespaces", "POST /api/v1/namespaces", "GET /api/v1/namespaces/shop"]);
  });

  test("gives up after three broken connections, and repeats no answer", async () => {
    answer = ({ socket }) => socket.destroy();
    await expect(create()).rejects.toThrow("fetch failed");
    expect(seen).toHaveLength(3);
    answer = (_, response) => send(response, 409, { reason: "AlreadyExists" });
    await expect(create()).rejects.toMatchObject({ code: 409 });
    expect(seen).toHaveLength(4);
  });

  test("sends requests on connections that are open", async () => {
    answer = (_, response) => send(response, 200, { metadata: { name: "shop" } });
    for (let request = 0; request < 10; request++) await core.readNamespace({ name: "shop" });
    expect(sockets.size).toBeLessThan(5);
  });
});
