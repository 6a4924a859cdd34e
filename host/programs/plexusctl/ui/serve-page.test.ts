import { createHash } from "node:crypto";
import { request } from "node:http";
import { afterEach, expect, test } from "vitest";
import type { PageData } from "./page-data.ts";
import { nodePage } from "./page-html.ts";
import { hostNames, type PageServer, servePage } from "./serve-page.ts";

const parts = { script: "let script = 1;", style: "body { margin: 0 }" };
const data: PageData = {
  time: "2026-11-24T00:00:00.000Z",
  node: 'n</title><script>alert("1")</script>',
  daemon: null,
  silence: "none",
  attachments: [],
  moreAttachments: 0,
  networks: [],
  pools: [],
  failures: [],
  calls: null,
  callsUnknown: "none",
  plugins: null,
  pluginsUnknown: "</script><!--",
  problems: [],
};

const servers: PageServer[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});

async function serve(read: () => Promise<PageData> = async () => data): Promise<URL> {
  const server = await servePage(0, parts, read);
  servers.push(server);
  return new URL(server.url);
}

interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly body: string;
}

function ask({
  port,
  path,
  method = "GET",
  headers = {},
}: {
  port: string;
  path: string;
  method?: string;
  headers?: object;
}): Promise<Answer> {
  const { promise, resolve, reject } = Promise.withResolvers<Answer>();
  const asked = request({ host: "127.0.0.1", port, path, method, headers: { ...headers } }, (response) => {
    let body = "";
    response.on("data", (chunk: Buffer) => (body += chunk.toString()));
    response.on("end", () => resolve({ status: response.statusCode ?? 0, headers: response.headers, body }));
  });
  asked.on("error", reject);
  asked.end();
  return promise;
}

test("the address has a token of 24 random bytes, and is another one at each start", async () => {
  const [one, other] = [await serve(), await serve()];
  for (const { hostname, pathname } of [one, other]) {
    expect(hostname).toBe("127.0.0.1");
    expect(pathname).toMatch(/^\/[\w-]{32}\/$/);
  }
  expect(one.pathname).not.toBe(other.pathname);
});

test("serves the page and its data below the token only", async () => {
  const { port, pathname } = await serve();
  const page = await ask({ port, path: pathname });
  expect([page.status, page.headers["content-type"]]).toEqual([200, "text/html; charset=utf-8"]);
  expect(page.headers).toMatchObject({
    "cache-control": "no-store",
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-resource-policy": "same-origin",
  });
  expect(JSON.parse((await ask({ port, path: `${pathname}data.json` })).body)).toEqual(data);
  const wrong = pathname.replace(/.\/$/, "!/");
  for (const path of [
    "/",
    "/data.json",
    wrong,
    `${wrong}data.json`,
    `${pathname}other`,
    `${pathname}data.json/x`,
    `${pathname}../`,
    "//",
  ]) {
    const refused = await ask({ port, path });
    expect([path, refused.status]).toEqual([path, 404]);
    expect(refused.body).not.toContain(pathname.slice(1, 20));
  }
});

test("a name that was rebound to 127.0.0.1 gets nothing, and neither does another site", async () => {
  const { port, pathname } = await serve();
  const status = async (headers: object): Promise<number> => (await ask({ port, path: pathname, headers })).status;
  for (const host of [
    "evil.example",
    `evil.example:${port}`,
    "127.0.0.1",
    `127.0.0.1:1`,
    `[::1]:${port}`,
    `127.0.0.1:${port}.evil.example`,
  ])
    expect([host, await status({ host })]).toEqual([host, 421]);
  expect(await status({ host: `localhost:${port}` })).toBe(200);
  for (const site of ["cross-site", "same-site"]) expect(await status({ "sec-fetch-site": site })).toBe(403);
  for (const site of ["none", "same-origin"]) expect(await status({ "sec-fetch-site": site })).toBe(200);
});

test("on port 80, a browser sends the name without a port", async () => {
  expect(hostNames(80)).toEqual(["127.0.0.1", "127.0.0.1:80", "localhost", "localhost:80"]);
  expect(hostNames(8080)).toEqual(["127.0.0.1:8080", "localhost:8080"]);
});

test("is read-only", async () => {
  const { port, pathname } = await serve();
  for (const method of ["POST", "PUT", "DELETE", "PATCH", "OPTIONS"])
    expect([method, (await ask({ port, path: pathname, method })).status]).toEqual([method, 405]);
  expect(await ask({ port, path: pathname, method: "HEAD" })).toMatchObject({ status: 200, body: "" });
});

test("several windows cost one reading", async () => {
  let readings = 0;
  const { port, pathname } = await serve(async () => {
    readings += 1;
    return data;
  });
  await Promise.all(Array.from({ length: 20 }, () => ask({ port, path: `${pathname}data.json` })));
  expect(readings).toBeLessThan(5);
});

function hash(text: string): string {
  return `'sha256-${createHash("sha256").update(text).digest("base64")}'`;
}

test("the policy allows exactly the page's own script and style, and no connection from a saved page", () => {
  const { html, policy } = nodePage(data, parts, false);
  const [, style = ""] = /<style>([\s\S]*?)<\/style>/.exec(html) ?? [];
  const [, script = ""] = /<script>([\s\S]*?)<\/script>/.exec(html) ?? [];
  expect(policy.split("; ")).toEqual([
    "default-src 'none'",
    `script-src ${hash(script)}`,
    `style-src ${hash(style)}`,
    "img-src data:",
    "connect-src 'none'",
    "base-uri 'none'",
    "form-action 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ]);
  expect(html).toContain(`content="${policy}"`);
  expect(nodePage(data, parts, true).policy).toContain("connect-src 'self'");
});

test("the data cannot end its element, and a node's name cannot end the title", () => {
  const { html } = nodePage(data, parts, false);
  expect(html.match(/<script\b/g)).toHaveLength(2);
  expect(html.match(/<\/title>/g)).toHaveLength(1);
  expect(html).not.toContain("<!--");
  const [, json = ""] = /id="data"[^>]*>([^<]*)</.exec(html) ?? [];
  expect(JSON.parse(json)).toEqual(data);
});
