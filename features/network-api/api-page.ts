// Generates docs/reference/network-api.md from deploy/proto/network.proto (`npm run docs`). A test checks that the page is current.

import { readFileSync, writeFileSync } from "node:fs";
import protobuf from "protobufjs";
import { grpcCode, grpcCodes } from "./rules/grpc-status.ts";
import { catalogue, type FaultKind } from "../../src/fault/catalogue.ts";
import { protoRoot } from "./descriptor-module.ts";

/** The page's path from the repository's root. */
export const networkApiPagePath = "docs/reference/network-api.md";

const source = "deploy/proto/network.proto";
const packageName = "plexus.network.v1alpha1";

/** The page's text. */
export function networkApiPage(): string {
  const root = protoRoot().lookup(packageName);
  if (!(root instanceof protobuf.Namespace)) throw new Error(`${source} has no package ${packageName}`);
  const parts = root.nestedArray.flatMap(sectionOf);
  return `# The CRI Network API

For: authors of clients. The page has the services and messages of [${source}](../../${source}), package \`${packageName}\`.
[How to](../how-to/cri-network-api.md) has the commands for administrators.

${introduction()}

## Errors

An error has one of gRPC's status codes, and in \`grpc-status-details-bin\` a \`google.rpc.Status\` with an \`ErrorInfo\`: its domain is \`plexus.dev\`, its reason the kind of
[Errors](errors.md), and its metadata have \`cni_code\` and \`details\` with the remedy.

| status | kinds |
|---|---|
${errorRows()}

${parts.join("\n")}
## Limits

| limit | beyond it |
|---|---|
| 64 connections, each with 16 requests at once | the connection that is idle for the longest time ends; a connection is refused if all have requests |
| 32 clients that watch | RESOURCE_EXHAUSTED |
| 128 KiB and 16,384 fields for a request, 8 KiB for its headers | RESOURCE_EXHAUSTED, INVALID_ARGUMENT, or a reset |
| 4 MiB for all requests that are not complete | RESOURCE_EXHAUSTED |
| 10 s until a request is complete, and 10 s until its answer is read | the request is reset |
| 4 MiB of events that a client has not read, 16 MiB of answers and events for all clients | RESOURCE_EXHAUSTED |
| 4 calls of STATUS at once, 10 s for a list | the network is listed as not ready, with this reason |

All networks fit into one answer of 4 MiB, which clients of gRPC read by default.

## Server

The daemon serves the API by \`node:http2\` and protobufjs, loaded only with \`--network-socket\`. Measured 2026-11-24, an idle daemon (Node 26.10.0, 2 shared cores, three starts of
each; resident memory in MiB, minimum to maximum; the time from the start of the process to "listens"):

| | memory | of these, not shared with files | code, not minified | start |
|---|---|---|---|---|
| without the API | 66.3 to 67.9 | 20.6 to 22.3 | | 0.53 to 0.85 s |
| \`node:http2\` and protobufjs | 72.5 to 72.8 | 25.6 to 25.7 | 272 KB | 0.49 to 0.87 s |
| \`@grpc/grpc-js\` 1.14 | 80.5 to 85.7 | 33.2 | 919 KB | 0.87 to 1.3 s |

The daemon's bound is 120 MiB, and a large cluster takes 108 of them (\`daemon-rss-large\` in [Performance](performance.md)): \`@grpc/grpc-js\` would break the bound. With the API
and the most networks a node may have, the same cluster takes 114 of them (\`network-api-rss\`). The tests call the API
by \`@grpc/grpc-js\`, and by \`google.golang.org/grpc\` in Go.
`;
}

/** The comment at the beginning of the file, without its last line breaks. */
function introduction(): string {
  const lines = readFileSync(source, "utf8").split("\n");
  const end = lines.findIndex((line) => !line.startsWith("//"));
  return lines
    .slice(0, end)
    .map((line) => line.slice(3))
    .join("\n")
    .replace(/(?<!\n)\n(?=- )/, "\n\n")
    .replace(/(?<=\n- [^\n]+)\n(?!- )/, "\n\n");
}

function errorRows(): string {
  const kinds = Object.keys(catalogue).filter(isKind);
  return Object.entries(grpcCodes)
    .map(([name, code]) => {
      const own =
        name === "INTERNAL" ? ["all others"] : kinds.filter((kind) => grpcCode(kind) === code).map((kind) => `\`${kind}\``);
      return `| ${name} (${code}) | ${own.join(", ")} |`;
    })
    .join("\n");
}

function isKind(name: string): name is FaultKind {
  return name in catalogue;
}

function sectionOf(object: protobuf.ReflectionObject): readonly string[] {
  const comment = object.comment === null ? "" : `${object.comment}\n\n`;
  if (object instanceof protobuf.Service) {
    const rows = object.methodsArray.map(
      ({ name, requestType, responseType, responseStream, comment: about }) =>
        `| \`${name}\` | \`${requestType}\` | ${responseStream === true ? "stream of " : ""}\`${responseType}\` | ${oneLine(about)} |`,
    );
    return [
      `## Service ${object.name}\n\n${comment}| method | request | answer | meaning |\n|---|---|---|---|\n${rows.join("\n")}\n`,
    ];
  }
  if (object instanceof protobuf.Enum) return [enumText(object, comment)];
  if (!(object instanceof protobuf.Type)) return [];
  const rows = object.fieldsArray.map(
    (field) => `| ${field.id} | \`${field.name}\` | ${typeOf(field)} | ${oneLine(field.comment)} |`,
  );
  const table =
    rows.length === 0 ? "No fields.\n" : `| number | field | type | meaning |\n|---|---|---|---|\n${rows.join("\n")}\n`;
  return [`### ${object.name}\n\n${comment}${table}`, ...object.nestedArray.flatMap(sectionOf)];
}

function enumText({ name, values, comments }: protobuf.Enum, comment: string): string {
  const rows = Object.entries(values).map(([value, number]) => `| ${number} | \`${value}\` | ${oneLine(comments[value])} |`);
  return `### ${name}\n\n${comment}| number | value | meaning |\n|---|---|---|\n${rows.join("\n")}\n`;
}

function typeOf(field: protobuf.Field): string {
  if (field instanceof protobuf.MapField) return `map from \`${field.keyType}\` to \`${field.type}\``;
  return `${field.repeated ? "list of " : ""}\`${field.type}\``;
}

function oneLine(comment: string | null | undefined): string {
  return (comment ?? "").replaceAll("\n", " ").replaceAll("|", "\\|");
}

if (import.meta.main) writeFileSync(networkApiPagePath, networkApiPage());
