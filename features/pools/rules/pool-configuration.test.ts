import { expect, test } from "vitest";
import { parseDocument } from "../../../src/json/document.ts";
import { completedBy, withPoolRanges } from "./pool-configuration.ts";
import { poolOf } from "./testing/read-pool.ts";

const pool = poolOf({
  ranges: [
    { subnet: "10.50.0.0/24" },
    { subnet: "fd00:50::/64" },
    { subnet: "10.51.0.0/24", first: "10.51.0.9", gateway: "10.51.0.254" },
  ],
});

function completed(text: string): string {
  const document = parseDocument(text, { what: "configuration" });
  if (!document.ok) throw new Error(document.fault.msg);
  const result = withPoolRanges(document.value, pool);
  return result.ok ? result.value : result.fault.msg;
}

test("a configuration without ranges gets the pool's, a set for each family, and keeps its other bytes", () => {
  expect(completed('{ "a": 1e2, "ipam": {"pool":"storage"} }')).toBe(
    '{ "a": 1e2, "ipam": {"pool":"storage","ranges":[[' +
      '{"subnet":"10.50.0.0/24","rangeStart":"10.50.0.1","rangeEnd":"10.50.0.254","gateway":"10.50.0.1"},' +
      '{"subnet":"10.51.0.0/24","rangeStart":"10.51.0.9","rangeEnd":"10.51.0.254","gateway":"10.51.0.254"}],[' +
      '{"subnet":"fd00:50::/64","rangeStart":"fd00:50::1","rangeEnd":"fd00:50::ffff:ffff:ffff:ffff","gateway":"fd00:50::1"}]]} }',
  );
});

test.each(['{"ipam":{"pool":"storage","Ranges":[]}}', '{"ipam":{"pool":"storage","subnet":"10.50.0.0/25"}}'])(
  "%s keeps its ranges",
  (text) => {
    expect(completed(text)).toBe(text);
  },
);

test.each([
  ['{"ipam":{"type":"x","pool":"storage"}}', '{"ipam":{"type":"x","pool":"storage","conflictDetection":{"probes":3}}}'],
  ['{"ipam":{"pool":"storage","ConflictDetection":{}}}', '{"ipam":{"pool":"storage","ConflictDetection":{}}}'],
  ['{"type":"macvlan"}', '{"type":"macvlan"}'],
])("a main plugin's configuration gets the pool's conflictDetection, and keeps its own: %s", (text, expected) => {
  const probing = poolOf({ ranges: [{ subnet: "10.50.0.0/24" }], conflictDetection: { probes: 3 } });
  expect([completedBy(probing, text, "main"), completedBy(pool, text, "main")]).toEqual([
    { ok: true, value: expected },
    { ok: true, value: text },
  ]);
});
