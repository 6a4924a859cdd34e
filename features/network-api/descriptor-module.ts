// Generates features/network-api/server/generated/descriptor.ts from deploy/proto (`npm run docs`): programs read no .proto file at run time. A test checks
// that the module is current.

import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import protobuf from "protobufjs";

/** The .proto files, from the repository's root. */
export const protoFiles = ["deploy/proto/network.proto", "deploy/proto/google-rpc.proto"] as const;

/** The module's path from the repository's root. */
export const descriptorPath = "features/network-api/server/generated/descriptor.ts";

/** The messages and services of the .proto files, as protobufjs reads them with the files' own names of fields. */
export function protoRoot(root = "."): protobuf.Root {
  const parsed = new protobuf.Root();
  for (const file of protoFiles) {
    protobuf.parse(readFileSync(join(root, file), "utf8"), parsed, { keepCase: true, alternateCommentMode: true });
  }
  parsed.resolveAll();
  return parsed;
}

/** The module's text. */
export function descriptorModule(root = "."): string {
  const lines = JSON.stringify(protoRoot(root).toJSON(), undefined, 1)
    .split("\n")
    .map((line) => line.trim());
  return `// Generated from deploy/proto by features/network-api/descriptor-module.ts.

/** The messages and services of the CRI Network API: the JSON form of protobufjs. */
export const networkApiDescriptor = \`
${lines.join("\n")}
\`;
`;
}

if (import.meta.main) {
  mkdirSync(dirname(descriptorPath), { recursive: true });
  writeFileSync(descriptorPath, descriptorModule());
}
