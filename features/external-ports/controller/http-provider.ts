// A provider out of process, over HTTP: docs/how-to/write-a-provider.md.

import { readFile } from "node:fs/promises";
import { readProvidedPort } from "../rules/provided-port.ts";
import { type JsonAnswer, maxListBytes, requestJson, retryAfter } from "./json-client.ts";
import { failure, isOwnedPort, type PortProvider, type ProviderFailure, type ProviderResult } from "./provider.ts";

/** Maximum size of the token's file in bytes. */
const maxTokenBytes = 16 * 1024;

/** The reason of a failure by HTTP status. Every other status means `unavailable`. */
const reasons: Readonly<Record<number, ProviderFailure["reason"]>> = {
  400: "invalid",
  422: "invalid",
  403: "refused",
  404: "refused",
  409: "refused",
  413: "quota",
  507: "quota",
};

/**
 * Makes the provider. `url`: base of the four paths. `owner`: this cluster's name at the provider. `tokenFile`: a file with a bearer token,
 * read for each request, so that it can be rotated.
 */
export function httpProvider(url: string, owner: string, tokenFile?: string): PortProvider {
  const base = url.replace(/\/$/, "");
  const post = async (
    operation: string,
    body: object,
    maxBytes?: number,
  ): Promise<ProviderResult<Readonly<Record<string, unknown>>>> => {
    const token = tokenFile === undefined ? undefined : await readToken(tokenFile);
    if (token?.ok === false) return token;
    const headers = token === undefined ? {} : { authorization: `Bearer ${token.value}` };
    const bound = maxBytes === undefined ? {} : { maxBytes };
    const target = { method: "POST", url: `${base}/v1/${operation}` } as const;
    return outcomeOf(await requestJson({ ...target, headers, body: { owner, ...body }, ...bound }));
  };
  return {
    ensure: async (request) => {
      const answer = await post("ensure", { request });
      if (!answer.ok) return answer;
      const port = readProvidedPort(answer.value["port"]);
      return port.ok ? { ok: true, value: port.value } : failure("refused", `the provider's answer: port: ${port.problem}`);
    },
    release: async (port) => {
      const answer = await post("release", { port });
      return answer.ok ? { ok: true, value: undefined } : answer;
    },
    list: async () => {
      const answer = await post("list", {}, maxListBytes);
      if (!answer.ok) return answer;
      const ports = answer.value["ports"];
      if (!Array.isArray(ports) || !ports.every(isOwnedPort)) {
        return failure("refused", "the provider's answer: ports must be a list of objects with key and providerId");
      }
      return { ok: true, value: ports };
    },
    active: async (port) => {
      const answer = await post("active", { port });
      if (!answer.ok) return answer;
      const active = answer.value["active"];
      return typeof active === "boolean"
        ? { ok: true, value: active }
        : failure("refused", "the provider's answer: active must be true or false");
    },
  };
}

/** The token in the file. A header with another character would be refused by an error that shows the token. */
async function readToken(file: string): Promise<ProviderResult<string>> {
  let text: string;
  try {
    text = (await readFile(file, "utf8")).trim();
  } catch (error) {
    return failure(
      "unavailable",
      `the provider's token cannot be read: ${error instanceof Error ? error.message : String(error)}`,
    );
  }
  if (text.length <= maxTokenBytes && /^[!-~]+$/.test(text)) return { ok: true, value: text };
  return failure("unavailable", `the file ${file} with the provider's token needs one line of ASCII characters without a space`);
}

function outcomeOf(answer: JsonAnswer): ProviderResult<Readonly<Record<string, unknown>>> {
  if (answer.kind === "none") return failure("unavailable", answer.why);
  const { status, headers, body } = answer;
  if (status >= 200 && status < 300) return { ok: true, value: body };
  const message = typeof body["message"] === "string" ? `: ${body["message"].slice(0, 500)}` : "";
  return failure(reasons[status] ?? "unavailable", `the provider answers HTTP ${status}${message}`, retryAfter(headers));
}
