import { expect, test } from "vitest";
import { completed } from "./complete.ts";

const status = JSON.stringify([
  { name: "default", default: true, interface: "eth0" },
  { name: "shop/storage", interface: "net1" },
  { name: "infra/backup", interface: "net2" },
]);
const answers: Readonly<Record<string, string>> = {
  "get pods -o name": "pod/web\npod/db\n",
  "get pods -n shop -o name": "pod/shop-web\n",
  "--context prod get pods -o name": "pod/prod-web\n",
  "get nodes -o name": "node/worker-1\nnode/worker-2\n",
  "get namespaces -o name": "namespace/shop\nnamespace/infra\n",
  "get pod web -n shop -o json": JSON.stringify({ metadata: { annotations: { "k8s.v1.cni.cncf.io/network-status": status } } }),
};
const ask = async (args: readonly string[]): Promise<string> => {
  const answer = answers[args.join(" ")];
  if (answer === undefined) throw new Error(`kubectl ${args.join(" ")}: refused`);
  return answer;
};

test.each([
  [[""], ["probe", "node/", "web", "db"]],
  [["w"], ["web"]],
  [["node/"], ["node/worker-1", "node/worker-2"]],
  [["-n", "s"], ["shop"]],
  [
    ["-n", "shop", ""],
    ["probe", "node/", "shop-web"],
  ],
  [
    ["--context", "prod", "pr"],
    ["probe", "prod-web"],
  ],
  [["--plexus-r"], ["--plexus-release"]],
  [
    ["probe", ""],
    ["web", "db"],
  ],
  [["probe", "-n", "shop", ""], ["shop-web"]],
  [
    ["probe", "shop/web", ""],
    ["shop/storage", "infra/backup"],
  ],
  [["-n", "shop", "probe", "web", "i"], ["infra/backup"]],
  [["probe", "web", "-n", "shop", "s"], ["shop/storage"]],
  [["probe", "pod/web", "-n", "shop", "s"], ["shop/storage"]],
  [["probe", "shop/web", "storage", ""], []],
  [["web", ""], []],
  // kubectl refuses the question.
  [["probe", "gone/web", ""], []],
  [
    ["-n", "gone", ""],
    ["probe", "node/"],
  ],
])("%j", async (words, candidates) => {
  expect(await completed(words, ask)).toBe([...candidates, ":4", ""].join("\n"));
});
