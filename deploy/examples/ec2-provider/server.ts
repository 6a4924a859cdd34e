// The HTTP interface of docs/how-to/write-a-provider.md: four operations with a token, bounded in size and time.

import { createHash, timingSafeEqual } from "node:crypto";
import { readFile } from "node:fs/promises";
import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import { requests } from "./messages.ts";
import type { Ec2Ports } from "./ports.ts";
import { Refusal, refusalOf } from "./refusal.ts";

/** More than the controller sends: 8 KiB of parameters and names. */
const maxBody = 64 * 1024;
/** plexus-controller waits 10 s. */
const answerWithinMs = 9_000;

/** Serves the ports. */
export function providerListener(ports: Ec2Ports, tokenFile: string): RequestListener {
  return (request, response) => {
    void answer(ports, tokenFile, request).then(
      (body) => send(response, 200, body),
      (error: unknown) => {
        const { status, message } = refusalOf(error);
        // A refusal of the provider's own stands in the ExternalPort. Other errors are the administrator's.
        if (!(error instanceof Refusal)) process.stderr.write(`${JSON.stringify({ level: "warn", status, msg: message })}\n`);
        send(response, status, { message });
      },
    );
  };
}

async function answer(ports: Ec2Ports, tokenFile: string, request: IncomingMessage): Promise<object> {
  if (!(await hasToken(request, tokenFile))) throw new Refusal(401, "the request has another token than the provider");
  const operation = /^\/v1\/(ensure|release|list|active)$/.exec(request.url ?? "")?.[1];
  if (operation === undefined)
    throw new Refusal(404, "the provider has the operations ensure, release, list and active below /v1/");
  if (request.method !== "POST") throw new Refusal(405, "an operation is a POST");
  const body = await bodyOf(request);
  const late = new Promise<never>((_, reject) => {
    setTimeout(() => reject(new Refusal(503, "EC2 takes too long")), answerWithinMs).unref();
  });
  return Promise.race([run(ports, operation as keyof typeof requests, body), late]);
}

async function run(ports: Ec2Ports, operation: keyof typeof requests, body: unknown): Promise<object> {
  switch (operation) {
    case "ensure": {
      const { owner, request } = read("ensure", body);
      return { port: await ports.ensure(owner, request) };
    }
    case "release": {
      const { owner, port } = read("release", body);
      await ports.release(owner, port);
      return {};
    }
    case "list":
      return { ports: await ports.list(read("list", body).owner) };
    case "active": {
      const { owner, port } = read("active", body);
      return { active: await ports.active(owner, port) };
    }
  }
}

function read<Operation extends keyof typeof requests>(
  operation: Operation,
  body: unknown,
): ReturnType<(typeof requests)[Operation]["parse"]> {
  const parsed = requests[operation].safeParse(body);
  if (parsed.success) return parsed.data as ReturnType<(typeof requests)[Operation]["parse"]>;
  const [issue] = parsed.error.issues;
  throw new Refusal(422, `${issue?.path.join(".") ?? ""}: ${issue?.message ?? "invalid"}`.slice(0, 400));
}

async function hasToken(request: IncomingMessage, tokenFile: string): Promise<boolean> {
  const token = (await readFile(tokenFile, "utf8")).trim();
  if (token === "") throw new Refusal(503, "the provider's token file is empty");
  return timingSafeEqual(digest(request.headers.authorization ?? ""), digest(`Bearer ${token}`));
}

function digest(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}

async function bodyOf(request: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    // The rest is read and forgotten, so that the client gets the answer.
    if (size <= maxBody) chunks.push(chunk);
  }
  if (size > maxBody) throw new Refusal(400, `the request has more than ${maxBody} bytes`);
  try {
    return JSON.parse(Buffer.concat(chunks).toString("utf8"));
  } catch {
    throw new Refusal(400, "the body is no JSON");
  }
}

function send(response: ServerResponse, status: number, body: object): void {
  const retry = status === 429 ? { "retry-after": "2" } : {};
  response.writeHead(status, { "content-type": "application/json", ...retry });
  response.end(JSON.stringify(body));
}
