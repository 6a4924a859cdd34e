// Fuzzes the launch server's reader of the configuration that a daemon asks it to write.

import { join } from "node:path";
import { root } from "../../lab/compiled.ts";
import { describeFuzzing } from "./fuzz-target.ts";

const members = String.raw`"logFile":"/var/log/plexus.log","wasm":{"grants":[{"a":1.5e3},"\"}",null,true]}`;
const templates = [
  "{}",
  `{"name":"plexus",${members}}`,
  `{"name":"plexus","plugins":[{"type":"plexus",${members}}]}`,
  `{"LogFile":"/x" ,"plugins":[`,
  "[{",
];
const lists = [
  `{"cniVersion":"1.1.0","name":"plexus","plugins":[{${members},"type":"plexus","clusterNetwork":"/a"}, {"type":"istio-cni"}]}`,
  '{"name":"plexus","plugins":[{"type":"plexus","kubeconfig":"/run/plexus/kubeconfig"}],"writtenBy":"plexusd"}',
  String.raw`{"name":"a\"}`,
  '{"name":"n","plugins":[{"type":"plexus","x":[[[[{"a":{"b":[',
  "",
];

describeFuzzing({
  title: "the launch server's reader of configurations",
  target: "configuration-fuzz.c",
  folder: join(root, "host/sandbox/launcher"),
  sources: ["json-text.c", "steps.c", "template.c"],
  seeds: () =>
    new Map(
      templates.flatMap((template, index) =>
        lists.map((list, number): [string, Uint8Array] => [`${index}-${number}`, Buffer.from(`${template}\0${list}`)]),
      ),
    ),
  checks: {
    source: "json-text.c",
    without: {
      "text->at == text->end || *text->at != wanted": "*text->at != wanted",
      "text->at < text->end && *text->at != '\"'": "*text->at != '\"'",
      "text->at == text->end || depth == DEPTH_MAX": "depth == DEPTH_MAX",
      "if (byte == '\\\\' && ++text->at == text->end) return false;": "if (byte == '\\\\') ++text->at;",
    },
  },
});
