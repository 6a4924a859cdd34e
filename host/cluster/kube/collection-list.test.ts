import { afterEach, beforeEach, expect, test } from "vitest";
import { systemClock } from "../../system/clock.ts";
import { type ScriptedApiServer, startScriptedApiServer } from "../testing/scripted-api-server.ts";
import { CollectionList } from "./collection-list.ts";
import { Connection } from "./connection.ts";

let server: ScriptedApiServer;
let connection: Connection;
beforeEach(async () => {
  server = await startScriptedApiServer();
  connection = new Connection(systemClock);
});
afterEach(async () => {
  connection.close();
  await server.dispose();
});

test("an object that is longer than an answer gets a page of its own, and the pages behind it have their size again", async () => {
  const [count, long] = [300, 150];
  const sizes: number[] = [];
  server.script = ({ query }, response) => {
    const [limit, from] = [Number(query.get("limit")), Number(query.get("continue") ?? "0")];
    sizes.push(limit);
    const end = Math.min(count, from + limit);
    const items = Array.from({ length: end - from }, (_, index) => ({
      number: from + index,
      text: "x".repeat(from + index === long ? 5 * 1024 * 1024 : 1),
    }));
    const metadata = { resourceVersion: "7", ...(end === count ? {} : { continue: String(end) }) };
    response.writeHead(200).end(JSON.stringify({ metadata, items }));
  };
  const list = new CollectionList({
    connection,
    credentials: server.credentials,
    url: (query) => `/api/v1/pods?${new URLSearchParams(query).toString()}`,
    metadataOnly: false,
    consistent: true,
  });
  const taken: unknown[] = [];
  const take = (item: unknown): boolean => taken.push((item as { readonly number: number }).number) > 0;
  expect(await list.all("0", take)).toEqual({ kind: "listed", version: "7" });
  expect(taken).toEqual(Array.from({ length: count }, (_, index) => index));
  expect(sizes).toEqual([100, 100, 25, 100, 25, 100, 25, 6, 1, 4, 16, 64, 100]);
});
