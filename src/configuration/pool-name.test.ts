import { expect, test } from "vitest";
import { poolNameIn } from "./pool-name.ts";

test.each([
  ['{"ipam":{"pool":"storage"}}', "storage"],
  ['{"IPAM":{"Pool":"storage"}}', "storage"],
  ['{"ipam":{"\\u0070ool":"storage"}}', "storage"],
  ['{"ipam":{"type":"host-local"},"pool":"storage"}', undefined],
  ['{"ipam":"pool"}', undefined],
])("the pool that %s names is %s", (text, name) => {
  expect(poolNameIn(JSON.parse(text))).toEqual({ ok: true, value: name });
});

test.each(["", "../x", "UPPER", "a".repeat(41), 7, null])("ipam.pool %j is refused", (name) => {
  expect(poolNameIn({ ipam: { pool: name } })).toMatchObject({ ok: false, fault: { kind: "CONFIG_INVALID" } });
});
